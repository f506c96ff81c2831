#include "server/worker/run_profile.h"

#include "engine/backends/profile.h"
#include "protocol/log/small_file.h"
#include "protocol/text/json.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, DIGITS = 6 };

void pl_run_profile_init(pl_run_profile *p, bool on)
{
    *p = (pl_run_profile){.on = on};
    if (!on)
        return;
    pl_profile_init(&p->sums);
    pl_profile_begin(&p->sums);
}

void pl_run_profile_built(pl_run_profile *p, double seconds)
{
    if (!p->on)
        return;
    pl_profile_init(&p->sums);
    p->sums.setup = seconds;
}

void pl_run_profile_begin(pl_run_profile *p, pl_state *state)
{
    if (!p->on)
        return;
    int32_t threads = pl_profile_team(p->sums.frames[0] + p->sums.frames[1]);
    if (pl_state_set_threads(state, threads) == PL_OK)
        p->sums.threads = threads;
    p->began = pl_worker_clock();
}

void pl_run_profile_stepped(pl_run_profile *p)
{
    if (p->on)
        p->stepped = pl_worker_clock();
}

void pl_run_profile_end(pl_run_profile *p)
{
    double now = pl_worker_clock();
    if (p->on)
        pl_profile_end_frame(&p->sums, now - p->began, now - p->stepped);
}

/* ---- profile.json ---- */

static void put_speedups(pl_json_writer *w, const double *share)
{
    pl_json_key(w, "speedup");
    pl_json_begin_array(w);
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++)
        pl_json_put_number(w, 1 / share[k], DIGITS);
    pl_json_end_array(w);
}

static void put_seconds(pl_json_writer *w, double one, double two)
{
    pl_json_key(w, "seconds");
    pl_json_begin_array(w);
    pl_json_put_number(w, one, DIGITS);
    pl_json_put_number(w, two, DIGITS);
    pl_json_end_array(w);
}

static void put_phase(pl_json_writer *w, const pl_profile *p, pl_profile_phase phase)
{
    const pl_profile_row *row = &p->row[phase];
    double frames = (double)(p->frames[0] + p->frames[1]), share[PL_PROFILE_WIDTHS];
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++)
        share[k] = pl_profile_share(p, phase, k);
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", pl_profile_phase_name(phase));
    pl_json_set_string(w, "counting", pl_profile_counting_name(row->counting));
    pl_json_key(w, "calls");
    pl_json_put_number(w, (double)row->calls / frames, DIGITS);
    put_seconds(w, pl_profile_seconds(p, phase, 1), pl_profile_seconds(p, phase, 2));
    pl_json_key(w, "work");
    pl_json_put_number(w, row->work > 0 ? row->work / frames : NAN, DIGITS);
    put_speedups(w, share);
    pl_json_end_object(w);
}

static void put_frame(pl_json_writer *w, const pl_profile *p)
{
    double share[PL_PROFILE_WIDTHS], seconds[PL_PROFILE_TEAMS];
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++)
        share[k] = 1 / pl_profile_speedup(p, k);
    for (int t = 0; t < PL_PROFILE_TEAMS; t++)
        seconds[t] = p->frames[t] > 0 ? p->seconds[t] / (double)p->frames[t] : NAN;
    pl_json_key(w, "frame");
    pl_json_begin_object(w);
    put_seconds(w, seconds[0], seconds[1]);
    put_speedups(w, share);
    pl_json_end_object(w);
}

static char *encode(const pl_profile *p, size_t *length)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_key(&w, "frames");
    pl_json_begin_array(&w);
    for (int t = 0; t < PL_PROFILE_TEAMS; t++)
        pl_json_put_integer(&w, p->frames[t]);
    pl_json_end_array(&w);
    pl_json_set_number(&w, "setup_seconds", p->setup);
    pl_json_key(&w, "threads");
    pl_json_begin_array(&w);
    for (int k = 0; k < PL_PROFILE_CHAIN; k++)
        pl_json_put_integer(&w, pl_profile_threads(k));
    pl_json_put_null(&w);
    pl_json_end_array(&w);
    pl_json_key(&w, "phases");
    pl_json_begin_array(&w);
    for (int k = 0; k < PL_PROFILE_PHASES; k++)
        if (p->row[k].seconds[0] + p->row[k].seconds[1] > 0)
            put_phase(&w, p, (pl_profile_phase)k);
    pl_json_end_array(&w);
    put_frame(&w, p);
    pl_json_end_object(&w);
    return pl_json_finish(&w, length);
}

void pl_run_profile_write(const pl_run_profile *p, int directory)
{
    size_t length;
    if (!p->on || p->sums.frames[0] == 0)
        return;
    char *text = encode(&p->sums, &length);
    if (!text)
        pl_worker_logf("out of memory for profile.json");
    else if (pl_file_replace(directory, "profile.json", text, length, false) != PL_OK)
        pl_worker_logf("profile.json could not be written: %s", strerror(errno));
    free(text);
}
