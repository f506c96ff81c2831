#include "server/api/usage.h"

#include "protocol/text/json.h"
#include "server/base/clock.h"
#include "server/base/daemon.h"
#include "server/run/dispatcher.h"
#include "server/sessions/quota.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAYS = 30, DAYS_MAX = 3660, FRESH_MS = 5000 };

/* ---- bytes ---- */

void pl_usage_sample_bytes(pl_store *store, pl_sessions *sessions, int64_t fresh_ms)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int64_t sampled_ms;
    int64_t now = pl_clock_us() / 1000;
    pthread_mutex_lock(&mutex);
    bool same_day = sampled_ms / PL_USAGE_DAY_MS == now / PL_USAGE_DAY_MS;
    if (!sampled_ms || !same_day || now - sampled_ms >= fresh_ms) {
        char *bytes = pl_quota_bytes_of_all(sessions);
        if (bytes && pl_usage_sample(store, bytes, now)) {
            sampled_ms = now;
        }
        free(bytes);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- the query ---- */

/* False for an invalid date such as 2026-02-30. */
static bool parse_time(const char *text, int64_t *out)
{
    struct tm tm = {0}, given;
    const char *end = strptime(text, "%Y-%m-%d", &tm);
    if (end && *end == 'T') {
        end = strptime(end, "T%H:%M:%SZ", &tm);
    }
    given = tm;
    time_t seconds = timegm(&tm);
    *out = (int64_t)seconds * 1000;
    return end && !*end && given.tm_mday == tm.tm_mday && given.tm_mon == tm.tm_mon && seconds >= 0;
}

bool pl_usage_time(pl_request *r, const char *key, int64_t fallback, int64_t *out)
{
    const char *text = pl_request_query(r, key);
    *out = fallback;
    if (text && !parse_time(text, out)) {
        pl_reply_bad_query(r, key, text,
                           "a day such as 2026-01-31, or a time such as "
                           "2026-01-31T12:00:00Z");
        return false;
    }
    return true;
}

/* The parsed query. Strings belong to the request. */
typedef struct report {
    const char *by;         /* "user", "group", "day"; NULL: no report */
    const char *user;       /* whose limits are shown */
    const char *of, *group; /* what the report counts; NULL: all */
    int64_t first, last;    /* days since 1970, both included */
    bool csv;
    char *running; /* JSON: pieces of what runs now */
} report;

/* Access: a user's own usage; for a group's managers, what its members used in it; for administrators, anybody's. False
 * after replying. */
static bool read_whose(pl_request *r, report *q)
{
    const pl_principal *p = pl_request_principal(r);
    const char *user = pl_request_query(r, "user");
    bool admin = pl_principal_has(p, PL_SCOPE_ADMIN), own = !user || strcmp(user, p->user) == 0;
    q->group = pl_request_query(r, "group");
    bool manages = q->by && q->group && pl_principal_manages(p, q->group);
    q->user = user && admin ? user : p->user;
    q->of = admin || manages ? user : p->user;
    if (!admin && !manages && !own) {
        pl_reply_problem(r, 403, "missing_scope", "Not allowed",
                         "only administrators can read another user's usage, and with ?group= "
                         "managers of that group",
                         NULL);
        return false;
    }
    return true;
}

static bool read_days(pl_request *r, report *q)
{
    int64_t now = pl_clock_us() / 1000, from, to;
    if (!pl_usage_time(r, "to", now, &to)) {
        return false;
    }
    q->last = to / PL_USAGE_DAY_MS;
    if (!pl_usage_time(r, "from", (q->last - DAYS + 1) * PL_USAGE_DAY_MS, &from)) {
        return false;
    }
    q->first = from / PL_USAGE_DAY_MS;
    if (q->first > q->last || q->last - q->first >= DAYS_MAX) {
        pl_reply_bad_query(r, "from", pl_request_query(r, "from"),
                           "a day up to ten years before `to`");
        return false;
    }
    return true;
}

static bool read_form(pl_request *r, report *q)
{
    static const char *const types[] = {"application/json", "text/csv", NULL};
    const char *format = pl_request_query(r, "format");
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0) {
        pl_reply_bad_query(r, "format", format, "json or csv");
        return false;
    }
    int form = format ? strcmp(format, "csv") == 0 : pl_request_accept(r, types);
    q->csv = form == 1;
    return form >= 0;
}

static bool read_report(pl_request *r, report *q)
{
    static const char *const only_report[] = {"group", "from", "to", "format"};
    q->by = pl_request_query(r, "by");
    for (size_t i = 0; !q->by && i < sizeof only_report / sizeof *only_report; i++) {
        if (pl_request_query(r, only_report[i])) {
            pl_reply_bad_query(r, "by", "", "user, group or day");
            return false;
        }
    }
    if (q->by && strcmp(q->by, "user") != 0 && strcmp(q->by, "group") != 0 &&
        strcmp(q->by, "day") != 0) {
        pl_reply_bad_query(r, "by", q->by, "user, group or day");
        return false;
    }
    return read_whose(r, q) && (!q->by || (read_days(r, q) && read_form(r, q)));
}

/* ---- the rows ---- */

/* Pieces of the running spans, each within one day, as rows of usage_days without bytes. */
static void add_running(void *context, const pl_usage_span *span, const pl_session *session)
{
    pl_json_writer *w = context;
    for (int64_t from = span->from_ms, first = 1; from < span->to_ms || first; first = 0) {
        int64_t midnight = (from / PL_USAGE_DAY_MS + 1) * PL_USAGE_DAY_MS;
        int64_t to = midnight < span->to_ms ? midnight : span->to_ms;
        pl_json_begin_array(w);
        pl_json_put_integer(w, from / PL_USAGE_DAY_MS);
        pl_json_put_string(w, span->user);
        pl_json_put_string(w, span->group);
        pl_json_put_integer(w, span->cores * (to - from));
        pl_json_put_integer(w, span->gpu ? to - from : 0);
        pl_json_put_integer(w, first);
        pl_json_end_array(w);
        from = to;
    }
}

static char *encode_running(pl_dispatcher *dispatcher)
{
    pl_json_writer w = {0};
    pl_json_begin_array(&w);
    pl_dispatcher_each_running(dispatcher, add_running, &w);
    pl_json_end_array(&w);
    return pl_json_finish(&w, NULL);
}

/* ?1 and ?2: days; ?3 and ?4: user and group, or NULL; ?5: running spans. Bytes are those of the last day that has
 * some, or of each day. */
#define REPORT(key, bytes, order)                                                                  \
    "SELECT " key ", sum(core_ms), sum(gpu_ms), sum(runs), sum(" bytes ") FROM"                    \
    " (SELECT day, user, grp, core_ms, gpu_ms, runs, bytes FROM usage_days UNION ALL"              \
    " SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),"                            \
    " json_extract(value, '$[2]'), json_extract(value, '$[3]'), json_extract(value, '$[4]'),"      \
    " json_extract(value, '$[5]'), NULL FROM json_each(?5))"                                       \
    " WHERE day BETWEEN CAST(?1 AS INTEGER) AND CAST(?2 AS INTEGER)"                               \
    " AND (?3 IS NULL OR user=?3) AND (?4 IS NULL OR grp=?4) " order
#define LAST_BYTES                                                                                 \
    "CASE WHEN day=(SELECT max(day) FROM usage_days WHERE bytes IS NOT NULL"                       \
    " AND day<=CAST(?2 AS INTEGER)) THEN bytes END"

static const char *statement_of(const report *q)
{
    return strcmp(q->by, "user") == 0
               ? REPORT("user", LAST_BYTES, "GROUP BY user ORDER BY 2 DESC, 1")
           : strcmp(q->by, "group") == 0
               ? REPORT("grp", LAST_BYTES, "GROUP BY grp ORDER BY 2 DESC, 1")
               : REPORT("date(day*86400, 'unixepoch')", "bytes", "GROUP BY day ORDER BY day");
}

static const char *const sum_names[] = {"core_seconds", "gpu_seconds", "runs", "bytes"};

/* Milliseconds become seconds; counts are unchanged. */
static void put_sums(pl_json_writer *w, const char *const *columns)
{
    for (int i = 0; i < 4; i++) {
        int64_t sum = columns[i] ? strtoll(columns[i], NULL, 10) : 0;
        if (i < 2) {
            pl_json_set_number(w, sum_names[i], 1e-3 * (double)sum);
        } else {
            pl_json_set_integer(w, sum_names[i], sum);
        }
    }
}

typedef struct table {
    pl_json_writer w;
    const char *by;
    FILE *csv;
} table;

static void see_item(void *context, const char *const *columns)
{
    table *t = context;
    const char *key = columns[0] && *columns[0] ? columns[0] : NULL;
    pl_json_begin_object(&t->w);
    pl_json_set_string(&t->w, t->by, key);
    put_sums(&t->w, columns + 1);
    pl_json_end_object(&t->w);
}

static void see_machine(void *context, const char *const *columns)
{
    table *t = context;
    pl_json_begin_object(&t->w);
    put_sums(&t->w, columns + 1);
    pl_json_end_object(&t->w);
}

static void see_csv(void *context, const char *const *columns)
{
    table *t = context;
    fputs(columns[0] ? columns[0] : "", t->csv);
    for (int i = 0; i < 4; i++) {
        int64_t sum = columns[1 + i] ? strtoll(columns[1 + i], NULL, 10) : 0;
        if (i < 2) {
            fprintf(t->csv, ",%.3f", 1e-3 * (double)sum);
        } else {
            fprintf(t->csv, ",%lld", (long long)sum);
        }
    }
    fputc('\n', t->csv);
}

static bool read_rows(pl_store *store, const report *q, const char *sql, bool all, pl_store_see see,
                      table *t)
{
    pl_store_digits first = pl_store_number(q->first), last = pl_store_number(q->last);
    pl_statement s = {sql,
                      {first.text, last.text, all ? NULL : q->of, all ? NULL : q->group,
                       q->running ? q->running : "[]"},
                      5};
    return pl_store_read(store, &s, see, t);
}

static void set_day(pl_json_writer *w, const char *key, int64_t day)
{
    char text[32];
    pl_time_view(day * (PL_USAGE_DAY_MS / 1000), text);
    text[10] = 0;
    pl_json_set_string(w, key, text);
}

static bool put_report(pl_json_writer *w, pl_store *store, const report *q)
{
    table t = {.w = *w, .by = q->by};
    pl_json_set_string(&t.w, "by", q->by);
    set_day(&t.w, "from", q->first);
    set_day(&t.w, "to", q->last);
    pl_json_key(&t.w, "items");
    pl_json_begin_array(&t.w);
    bool good = read_rows(store, q, statement_of(q), false, see_item, &t);
    pl_json_end_array(&t.w);
    pl_json_key(&t.w, "machine");
    good = read_rows(store, q, REPORT("NULL", LAST_BYTES, ""), true, see_machine, &t) && good;
    *w = t.w;
    return good;
}

/* ---- replies ---- */

static void reply_broken(pl_request *r)
{
    pl_reply_problem(r, 500, "internal", "Internal error", "the database cannot be read", NULL);
}

static void reply_csv(pl_request *r, pl_store *store, const report *q)
{
    char *text = NULL;
    size_t size = 0;
    table t = {.csv = open_memstream(&text, &size)};
    bool good = t.csv;
    if (good) {
        fprintf(t.csv, "%s,core_seconds,gpu_seconds,runs,bytes\n", q->by);
        good = read_rows(store, q, statement_of(q), false, see_csv, &t) && !ferror(t.csv);
        good = fclose(t.csv) == 0 && good;
    }
    if (!good) {
        free(text);
        reply_broken(r);
        return;
    }
    pl_reply_header(r, "Content-Disposition", "attachment; filename=\"usage-by-%s.csv\"", q->by);
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_text(r, 200, "text/csv", text, size);
}

static void reply_json(pl_request *r, pl_store *store, const report *q)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_quota_put(r, q->user, &w);
    bool good = !q->by || put_report(&w, store, q);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (!good) {
        free(text);
        reply_broken(r);
        return;
    }
    pl_reply_json(r, 200, text);
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_usage(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    report q = {0};
    if (!read_report(r, &q)) {
        return;
    }
    if (q.by && q.last >= pl_clock_us() / 1000 / PL_USAGE_DAY_MS) {
        pl_usage_sample_bytes(d->store, d->sessions, FRESH_MS);
    }
    if (q.by) {
        pl_store_flush(d->store); /* runs that have just ended */
        q.running = encode_running(d->dispatcher);
    }
    if (q.csv) {
        reply_csv(r, d->store, &q);
    } else {
        reply_json(r, d->store, &q);
    }
    free(q.running);
}
