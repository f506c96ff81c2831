#include "server/store/usage.h"

#include "server/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_ROWS "200000"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- writing ---- */

static bool note_piece(pl_store *store, const pl_usage_span *span, int64_t from, int64_t to)
{
    pl_store_digits begin = pl_store_number(from), end = pl_store_number(to);
    pl_store_digits cores = pl_store_number(span->cores);
    bool run = from == span->from_ms && !span->shared;
    pl_statement s = {"INSERT INTO usage_spans(session, user, grp, from_ms, to_ms, cores, gpu,"
                      " runs) SELECT ?1,?2,?3,?4,?5,?6,?7,?8 WHERE NOT EXISTS(SELECT 1 FROM"
                      " usage_spans WHERE session=?1 AND from_ms=?4 AND cores=?6)",
                      {span->session, span->user, span->group, begin.text, end.text, cores.text,
                       span->gpu, run ? "1" : "0"},
                      8};
    return pl_store_note(store, &s);
}

bool pl_usage_note(pl_store *store, const pl_usage_span *span)
{
    int64_t from = span->from_ms;
    bool good = true;
    do {
        int64_t midnight = (from / PL_USAGE_DAY_MS + 1) * PL_USAGE_DAY_MS;
        int64_t to = least(midnight, span->to_ms > from ? span->to_ms : from);
        good = note_piece(store, span, from, to) && good;
        from = to;
    } while (from < span->to_ms);
    return good;
}

bool pl_usage_sample(pl_store *store, const char *bytes, int64_t now_ms)
{
    pl_store_digits day = pl_store_number(now_ms / PL_USAGE_DAY_MS);
    const pl_statement all[] = {
        {"UPDATE usage_days SET bytes=NULL WHERE day=?", {day.text}, 1},
        {"INSERT INTO usage_days(day, user, grp, bytes) SELECT CAST(?1 AS INTEGER),"
         " json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')"
         " FROM json_each(?2) WHERE true"
         " ON CONFLICT(day, user, grp) DO UPDATE SET bytes=excluded.bytes",
         {day.text, bytes},
         2},
    };
    return pl_store_change(store, all, 2) >= 0;
}

void pl_usage_sweep(pl_store *store)
{
    pl_store_digits before =
        pl_store_number(pl_clock_us() / 1000 - (int64_t)PL_USAGE_KEPT_DAYS * PL_USAGE_DAY_MS);
    pl_statement s = {"DELETE FROM usage_spans WHERE from_ms < max(CAST(?1 AS INTEGER),"
                      " ifnull((SELECT from_ms FROM usage_spans ORDER BY from_ms DESC"
                      " LIMIT 1 OFFSET " KEPT_ROWS "), 0))",
                      {before.text},
                      1};
    pl_store_change(store, &s, 1);
}

/* ---- decay ---- */

double pl_usage_decayed(int64_t from_ms, int64_t to_ms, int64_t now_ms, double half_life_s)
{
    double begin = 1e-3 * (double)(now_ms - from_ms), end = 1e-3 * (double)(now_ms - to_ms);
    end = fmax(end, 0);
    begin = fmax(begin, end);
    return half_life_s / M_LN2 * (exp2(-end / half_life_s) - exp2(-begin / half_life_s));
}

/* Sums of one user in one group; rows come in that order. */
typedef struct sums {
    char *user, *group;
    double cores, gpus, half_life;
    int64_t now_ms;
    pl_usage_see see;
    void *context;
} sums;

static void hand_over(sums *s)
{
    if (s->user && s->group) {
        s->see(s->context, s->user, s->group, s->cores, s->gpus);
    }
    free(s->user);
    free(s->group);
    s->user = s->group = NULL;
    s->cores = s->gpus = 0;
}

/* user, grp, from_ms, to_ms, cores, gpus */
static void see_span(void *context, const char *const *columns)
{
    sums *s = context;
    const char *user = columns[0] ? columns[0] : "", *group = columns[1] ? columns[1] : "";
    if (!s->user || !s->group || strcmp(s->user, user) != 0 || strcmp(s->group, group) != 0) {
        hand_over(s);
        s->user = strdup(user);
        s->group = strdup(group);
    }
    double seconds = pl_usage_decayed(strtoll(columns[2], NULL, 10), strtoll(columns[3], NULL, 10),
                                      s->now_ms, s->half_life);
    s->cores += seconds * (double)strtoll(columns[4], NULL, 10);
    s->gpus += seconds * (double)strtoll(columns[5], NULL, 10);
}

bool pl_usage_recall(pl_store *store, int64_t now_ms, double half_life_s, pl_usage_see see,
                     void *context)
{
    sums s = {.half_life = half_life_s, .now_ms = now_ms, .see = see, .context = context};
    pl_statement rows = {
        .sql = "SELECT user, grp, from_ms, to_ms, cores, gpu IS NOT NULL FROM usage_spans"
               " ORDER BY user, grp"};
    bool good = pl_store_read(store, &rows, see_span, &s);
    hand_over(&s);
    return good;
}
