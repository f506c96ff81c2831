#include "server/tenants/audit.h"

#include "protocol/text/json.h"
#include "server/base/daemon.h"
#include "server/store/listing.h"
#include "server/http/request.h"
#include "server/base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT_S    "15552000" /* 180 days */
#define KEPT_ROWS "200000"

static const char insert[] = "INSERT INTO audit(at, user, by, credential, action, target, status,"
                             " address) VALUES(?,?,?,?,?,?,?,?)";

/* The target of a request: the path's parameters, or the id of the created object. */
static void target_of(const pl_request *r, char out[256])
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < PL_PATH_PARAMS && r->params[i][0]; i++) {
        at += (size_t)snprintf(out + at, 256 - at, "%s%s", i ? "/" : "", r->params[i]);
    }
    for (int i = 0; i < r->reply.header_count && !out[0]; i++) {
        const char *slash = strrchr(r->reply.values[i], '/');
        if (strcmp(r->reply.names[i], "Location") == 0 && slash) {
            snprintf(out, 256, "%s", slash + 1);
        }
    }
}

/* ---- requests ---- */

enum { WATCHED = 1024, WINDOW_S = 60, REFUSED_WHOLE = 20 };

/* Rejected requests of a user in this minute; another user may replace it in the table. */
typedef struct refusals {
    uint64_t user; /* pl_principal_key; 0: nobody's */
    char name[PL_NAME_MAX + 1];
    int64_t window, count;
} refusals;

struct pl_audit {
    pl_store *store;
    pl_counters *counters;
    pthread_mutex_t mutex; /* guards all below */
    refusals watched[WATCHED];
};

pl_audit *pl_audit_create(pl_store *store, pl_counters *counters)
{
    pl_audit *a = calloc(1, sizeof *a);
    if (a) {
        a->store = store;
        a->counters = counters;
        pthread_mutex_init(&a->mutex, NULL);
    }
    return a;
}

static void note(pl_audit *a, const pl_statement *s)
{
    if (!pl_store_note(a->store, s)) {
        atomic_fetch_add(&a->counters->audit_dropped, 1);
    }
}

/* Record the number of requests without a row of their own; the mutex is held. */
static void sum_up(pl_audit *a, refusals *of)
{
    if (of->user && of->count > REFUSED_WHOLE) {
        char at[24], target[64];
        snprintf(at, sizeof at, "%lld", (long long)(of->window * WINDOW_S + WINDOW_S - 1));
        snprintf(target, sizeof target, "%lld more in this minute",
                 (long long)(of->count - REFUSED_WHOLE));
        note(a, &(pl_statement){
                    insert, {at, of->name, "daemon", "", "refused requests", target, "0", ""}, 8});
    }
    of->count = 0;
}

/* True if a rejected request gets its own row: only the first ones of each minute. */
static bool is_noted(pl_audit *a, const pl_principal *p, int64_t now)
{
    uint64_t user = pl_principal_key(p);
    pthread_mutex_lock(&a->mutex);
    refusals *of = &a->watched[user % WATCHED];
    if (of->user != user || of->window != now / WINDOW_S) {
        sum_up(a, of);
        of->user = user;
        of->window = now / WINDOW_S;
        snprintf(of->name, sizeof of->name, "%s", p->user);
    }
    bool noted = of->count++ < REFUSED_WHOLE;
    pthread_mutex_unlock(&a->mutex);
    return noted;
}

/* Record the totals of past minutes. */
static void sum_all_up(pl_audit *a, int64_t window)
{
    pthread_mutex_lock(&a->mutex);
    for (int i = 0; i < WATCHED; i++) {
        if (a->watched[i].window != window) {
            sum_up(a, &a->watched[i]);
        }
    }
    pthread_mutex_unlock(&a->mutex);
}

void pl_audit_destroy(pl_audit *a)
{
    if (a) {
        sum_all_up(a, -1);
        pthread_mutex_destroy(&a->mutex);
        free(a);
    }
}

void pl_audit_request(void *audit, pl_request *r)
{
    pl_audit *a = audit;
    int64_t at = time(NULL);
    if (!r->route || !r->principal || strcmp(r->route->method, "GET") == 0 ||
        (r->reply.status >= 400 && !is_noted(a, r->principal, at))) {
        return;
    }
    char now[24], status[16], action[160], target[256], address[64];
    snprintf(now, sizeof now, "%lld", (long long)at);
    snprintf(status, sizeof status, "%d", r->reply.status);
    snprintf(action, sizeof action, "%s %s", r->route->method, r->route->path);
    target_of(r, target);
    pl_request_address(r, address);
    note(a, &(pl_statement){insert,
                            {now, r->principal->user, pl_came_name(r->principal->came),
                             r->principal->credential, action, target, status, address},
                            8});
}

void pl_audit_command(pl_store *store, const char *action, const char *target)
{
    char now[24], who[32];
    snprintf(now, sizeof now, "%lld", (long long)time(NULL));
    snprintf(who, sizeof who, "uid %ld", (long)getuid());
    pl_statement s = {insert, {now, who, "command", "", action, target, "0", ""}, 8};
    pl_store_change(store, &s, 1);
}

/* If there are too many rows, each user keeps the newest, up to an equal share. */
void pl_audit_sweep(pl_audit *a)
{
    char now[24];
    int64_t at = time(NULL);
    sum_all_up(a, at / WINDOW_S);
    snprintf(now, sizeof now, "%lld", (long long)at);
    pl_statement s = {
        "DELETE FROM audit WHERE at < ?1 - " KEPT_S " OR seq IN (SELECT seq FROM"
        " (SELECT seq, row_number() OVER (PARTITION BY user ORDER BY seq DESC) AS place"
        " FROM audit) WHERE place >"
        " " KEPT_ROWS " / (SELECT count(DISTINCT user) FROM audit)"
        " AND (SELECT count(*) FROM audit) > " KEPT_ROWS ")",
        {now},
        1};
    pl_store_change(a->store, &s, 1);
}

static void view(pl_json_writer *w, const char *const *columns)
{
    static const char *const names[] = {"user", "by", "credential", "action", "target"};
    char at[32];
    pl_time_view(columns[1] ? strtoll(columns[1], NULL, 10) : 0, at);
    pl_json_begin_object(w);
    pl_json_set_integer(w, "seq", strtoll(columns[0], NULL, 10));
    pl_json_set_string(w, "at", at);
    for (int i = 0; i < 5; i++) {
        pl_json_set_string(w, names[i], columns[2 + i]);
    }
    pl_json_set_integer(w, "status", columns[7] ? strtoll(columns[7], NULL, 10) : 0);
    pl_json_set_string(w, "address", columns[8]);
    pl_json_end_object(w);
}

void pl_handle_audit(pl_request *r)
{
    const pl_principal *p = pl_request_principal(r);
    bool admin = pl_principal_has(p, PL_SCOPE_ADMIN);
    const char *user = pl_request_query(r, "user"), *target = pl_request_query(r, "target");
    if (user && !admin && strcmp(user, p->user) != 0) {
        pl_reply_problem(r, 403, "missing_scope", "Not allowed",
                         "only administrators can see changes of other users", NULL);
        return;
    }
    pl_statement s = {"SELECT seq, at, user, by, credential, action, target, status, address FROM"
                      " audit WHERE (?1 IS NULL OR user=?1) AND (?2 IS NULL OR target=?2)"
                      " AND seq<?3 ORDER BY seq DESC LIMIT ?4",
                      {user || admin ? user : p->user, target},
                      2};
    pl_listing_reply(r, pl_request_daemon(r)->store, &s, "9223372036854775807", view);
}
