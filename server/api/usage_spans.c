/* Who used the machine when: the data for a Gantt chart of cores and devices. */
#include "server/api/usage.h"

#include "protocol/text/json.h"
#include "server/base/clock.h"
#include "server/base/daemon.h"
#include "server/run/dispatcher.h"
#include "server/run/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS_MAX = 5000 };

typedef struct span {
    char session[33], user[PL_NAME_MAX + 1], group[PL_NAME_MAX + 1];
    char *name, *gpu; /* or NULL */
    int64_t from_ms, to_ms, cores;
    bool runs;
} span;

/* Lifetime: one request. */
typedef struct chart {
    pl_store *store;
    pl_sessions *sessions;
    pl_dispatcher *dispatcher;
    pl_gpus *gpus;
    const pl_principal *principal;
    int64_t from_ms, to_ms;
    span *spans; /* [count] */
    size_t count, capacity;
    bool failed; /* out of memory */
    bool cut;    /* older ones are missing */
} chart;

/* ---- gathering ---- */

static void add(chart *c, const pl_usage_span *s, const char *name, bool runs)
{
    if (s->from_ms >= c->to_ms || (s->to_ms <= c->from_ms && !runs)) {
        return;
    }
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 256;
        span *grown = realloc(c->spans, capacity * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return;
        }
        c->spans = grown;
        c->capacity = capacity;
    }
    span *one = &c->spans[c->count++];
    *one = (span){.name = name ? strdup(name) : NULL,
                  .gpu = s->gpu ? strdup(s->gpu) : NULL,
                  .from_ms = s->from_ms,
                  .to_ms = s->to_ms,
                  .cores = s->cores,
                  .runs = runs};
    snprintf(one->session, sizeof one->session, "%s", s->session);
    snprintf(one->user, sizeof one->user, "%s", s->user);
    snprintf(one->group, sizeof one->group, "%s", s->group);
}

static void see_running(void *context, const pl_usage_span *s, const pl_session *session)
{
    add(context, s, session->name, true);
}

/* session, user, grp, from_ms, to_ms, cores, gpu */
static void see_stored(void *context, const char *const *columns)
{
    chart *c = context;
    if (c->count >= SPANS_MAX) {
        c->cut = true;
        return;
    }
    pl_usage_span s = {.session = columns[0],
                       .user = columns[1],
                       .group = columns[2],
                       .from_ms = strtoll(columns[3], NULL, 10),
                       .to_ms = strtoll(columns[4], NULL, 10),
                       .cores = strtoll(columns[5], NULL, 10),
                       .gpu = columns[6]};
    add(c, &s, NULL, false);
}

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->from_ms != y->from_ms ? (x->from_ms < y->from_ms ? -1 : 1)
                                    : strcmp(x->session, y->session);
}

static bool gather(chart *c)
{
    pl_store_digits from = pl_store_number(c->from_ms), to = pl_store_number(c->to_ms);
    pl_store_digits before = pl_store_number(c->from_ms - PL_USAGE_DAY_MS);
    pl_store_digits most = pl_store_number(SPANS_MAX + 1);
    pl_statement s = {"SELECT session, user, grp, from_ms, to_ms, cores, gpu FROM usage_spans"
                      " WHERE from_ms>=?1 AND from_ms<?2 AND to_ms>?3 ORDER BY from_ms DESC"
                      " LIMIT ?4",
                      {before.text, to.text, from.text, most.text},
                      4};
    pl_store_flush(c->store); /* runs that have just ended */
    pl_dispatcher_each_running(c->dispatcher, see_running, c);
    bool good = pl_store_read(c->store, &s, see_stored, c) && !c->failed;
    if (c->count) {
        qsort(c->spans, c->count, sizeof *c->spans, by_begin);
    }
    return good;
}

static void clear(chart *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->spans[i].name);
        free(c->spans[i].gpu);
    }
    free(c->spans);
}

static bool is_seen(const chart *c, const span *s)
{
    return pl_principal_access(c->principal, s->session, s->user, s->group) != PL_ACCESS_NONE;
}

/* ---- what the reader may see ---- */

static void set_time(pl_json_writer *w, const char *key, int64_t ms)
{
    char text[32];
    pl_time_view(ms / 1000, text);
    pl_json_set_string(w, key, text);
}

static void put_span(pl_json_writer *w, const chart *c, const span *s)
{
    char *stored = s->name ? NULL : pl_sessions_name(c->sessions, c->principal, s->session);
    pl_json_begin_object(w);
    pl_json_set_string(w, "session", s->session);
    pl_json_set_string(w, "name", s->name ? s->name : stored);
    pl_json_set_string(w, "user", s->user);
    pl_json_set_string(w, "group", *s->group ? s->group : NULL);
    set_time(w, "from", s->from_ms);
    set_time(w, "to", s->to_ms);
    pl_json_set_boolean(w, "running", s->runs);
    pl_json_set_integer(w, "cores", s->cores);
    pl_json_set_string(w, "gpu", s->gpu);
    pl_json_end_object(w);
    free(stored);
}

static void put_seen(pl_json_writer *w, const chart *c)
{
    pl_json_key(w, "items");
    pl_json_begin_array(w);
    for (size_t i = 0; i < c->count; i++) {
        if (is_seen(c, &c->spans[i])) {
            put_span(w, c, &c->spans[i]);
        }
    }
    pl_json_end_array(w);
}

/* ---- all others together ---- */

/* An increase from that time on. */
typedef struct step {
    int64_t time_s, cores, gpus;
} step;

static int by_time(const void *a, const void *b)
{
    const step *x = a, *y = b;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

static int64_t clip_s(const chart *c, int64_t ms)
{
    int64_t inside = ms < c->from_ms ? c->from_ms : ms > c->to_ms ? c->to_ms : ms;
    return inside / 1000;
}

static void put_step(pl_json_writer *w, const step *level, int64_t to_s)
{
    if (to_s > level->time_s && (level->cores || level->gpus)) {
        pl_json_begin_object(w);
        set_time(w, "from", level->time_s * 1000);
        set_time(w, "to", to_s * 1000);
        pl_json_set_integer(w, "cores", level->cores);
        pl_json_set_integer(w, "gpus", level->gpus);
        pl_json_end_object(w);
    }
}

static bool put_others(pl_json_writer *w, const chart *c)
{
    step *steps = malloc((2 * c->count + 1) * sizeof *steps);
    size_t n = 0;
    for (size_t i = 0; steps && i < c->count; i++) {
        const span *s = &c->spans[i];
        int64_t gpus = s->gpu != NULL;
        if (!is_seen(c, s)) {
            steps[n++] = (step){clip_s(c, s->from_ms), s->cores, gpus};
            steps[n++] = (step){clip_s(c, s->to_ms), -s->cores, -gpus};
        }
    }
    if (n) {
        qsort(steps, n, sizeof *steps, by_time);
    }
    step level = {0};
    pl_json_key(w, "others");
    pl_json_begin_array(w);
    for (size_t i = 0; i < n;) {
        int64_t at = steps[i].time_s, cores = level.cores, gpus = level.gpus;
        for (; i < n && steps[i].time_s == at; i++) {
            cores += steps[i].cores;
            gpus += steps[i].gpus;
        }
        if (cores != level.cores || gpus != level.gpus) {
            put_step(w, &level, at);
            level = (step){at, cores, gpus};
        }
    }
    pl_json_end_array(w);
    free(steps);
    return steps;
}

/* ---- the reply ---- */

static void put_devices(pl_json_writer *w, pl_gpus *gpus)
{
    pl_json_key(w, "devices");
    pl_json_begin_array(w);
    for (int i = 0; i < pl_gpus_count(gpus); i++) {
        pl_gpu_load gpu = pl_gpus_load(gpus, i);
        pl_json_begin_object(w);
        pl_json_set_string(w, "uuid", gpu.uuid);
        pl_json_set_string(w, "name", gpu.name);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

static char *encode(const chart *c)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    set_time(&w, "from", c->from_ms);
    set_time(&w, "to", c->to_ms);
    pl_json_set_integer(&w, "cores", pl_dispatcher_load(c->dispatcher).cores);
    put_devices(&w, c->gpus);
    put_seen(&w, c);
    bool good = put_others(&w, c);
    pl_json_set_boolean(&w, "truncated", c->cut);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (!good) {
        free(text);
        text = NULL;
    }
    return text;
}

void pl_handle_usage_spans(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    int64_t now = pl_clock_us() / 1000;
    chart c = {.store = d->store,
               .sessions = d->sessions,
               .dispatcher = d->dispatcher,
               .gpus = d->gpus,
               .principal = pl_request_principal(r)};
    if (!pl_usage_time(r, "to", now, &c.to_ms) ||
        !pl_usage_time(r, "from", c.to_ms - PL_USAGE_DAY_MS, &c.from_ms)) {
        return;
    }
    if (c.from_ms >= c.to_ms ||
        c.to_ms - c.from_ms > (int64_t)PL_USAGE_KEPT_DAYS * PL_USAGE_DAY_MS) {
        pl_reply_bad_query(r, "from", pl_request_query(r, "from"),
                           "a time up to 31 days before `to`");
        return;
    }
    bool good = gather(&c);
    char *text = good ? encode(&c) : NULL;
    clear(&c);
    pl_reply_json(r, 200, text);
    pl_reply_header(r, "Cache-Control", "no-store");
}
