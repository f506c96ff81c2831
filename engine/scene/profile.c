#include "engine/scene/profile.h"

#include <math.h>
#include <stdbool.h>

static const struct {
    const char *name;
    pl_profile_counting counting;
} PHASES[PL_PROFILE_PHASES] = {
#define PL_PHASE(kind, name, counting) {#name, PL_PROFILE_##counting},
    PL_EACH_PROFILE_PHASE(PL_PHASE)
#undef PL_PHASE
};

static const int32_t THREADS[PL_PROFILE_WIDTHS] = {2, 4, 8, 16, 32, 64, 0};

void pl_profile_init(pl_profile *p)
{
    *p = (pl_profile){.threads = 1};
    for (int k = 0; k < PL_PROFILE_PHASES; k++)
        p->row[k].counting = PHASES[k].counting;
}

const char *pl_profile_phase_name(pl_profile_phase phase)
{
    return PHASES[phase].name;
}

const char *pl_profile_counting_name(pl_profile_counting counting)
{
    static const char *const names[] = {"counted", "serial", "measured"};
    return names[counting];
}

int32_t pl_profile_threads(int32_t width)
{
    return THREADS[width];
}

int32_t pl_profile_team(int64_t frame)
{
    int64_t turn = frame % 4;
    return turn == 1 || turn == 2 ? 2 : 1;
}

void pl_profile_end_frame(pl_profile *p, double seconds, double output)
{
    const int t = p->threads - 1;
    double other = seconds - output - p->own;
    for (int k = 0; k < PL_PROFILE_PHASES; k++)
        other -= p->row[k].current;
    p->row[PL_PROFILE_OTHER].current = fmax(other, 0);
    p->row[PL_PROFILE_OTHER].calls++;
    p->row[PL_PROFILE_OUTPUT].current = output;
    p->row[PL_PROFILE_OUTPUT].calls++;
    for (int k = 0; k < PL_PROFILE_PHASES; k++) {
        p->row[k].seconds[t] += p->row[k].current;
        p->row[k].current = 0;
    }
    p->frames[t]++;
    p->seconds[t] += seconds - p->own;
    p->own = 0;
}

void pl_profile_loop(pl_profile_row *row, double work, int64_t chunks, int64_t most)
{
    if (chunks < 1)
        return;
    row->work += work;
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++) {
        int64_t threads = k == PL_PROFILE_CHAIN ? chunks : THREADS[k] < most ? THREADS[k] : most;
        threads = threads < 1 ? 1 : threads;
        row->longest[k] += work * (double)((chunks + threads - 1) / threads) / (double)chunks;
    }
}

double pl_profile_seconds(const pl_profile *p, pl_profile_phase phase, int32_t threads)
{
    int64_t frames = p->frames[threads - 1];
    return frames > 0 ? p->row[phase].seconds[threads - 1] / (double)frames : NAN;
}

/* 2 t2 = t1 (1 + s) gives the serial part s; 1 without times on two threads. */
static double serial_part(const pl_profile *p, pl_profile_phase phase)
{
    double one = pl_profile_seconds(p, phase, 1), two = pl_profile_seconds(p, phase, 2);
    double s = one > 0 ? 2 * two / one - 1 : 1;
    return isfinite(s) ? fmin(fmax(s, 0), 1) : 1;
}

double pl_profile_share(const pl_profile *p, pl_profile_phase phase, int32_t width)
{
    const pl_profile_row *row = &p->row[phase];
    double s;
    switch (row->counting) {
    case PL_PROFILE_SERIAL:
        return 1;
    case PL_PROFILE_MEASURED:
        s = serial_part(p, phase);
        return width == PL_PROFILE_CHAIN ? s : s + (1 - s) / THREADS[width];
    case PL_PROFILE_COUNTED:
        break;
    }
    return row->work > 0 ? row->longest[width] / row->work : 1;
}

double pl_profile_speedup(const pl_profile *p, int32_t width)
{
    double one = 0, least = 0;
    for (int k = 0; k < PL_PROFILE_PHASES; k++) {
        double seconds = pl_profile_seconds(p, (pl_profile_phase)k, 1);
        one += seconds;
        least += seconds * pl_profile_share(p, (pl_profile_phase)k, width);
    }
    return one / least;
}
