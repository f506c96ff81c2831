#include "server/http/dispatch.h"

#include "server/base/clock.h"
#include "server/base/pool.h"

static void run_in_pool(void *context)
{
    pl_request *r = context;
    r->begin = NULL;
    pl_logf_about(&r->subject);
    (r->next ? r->next : r->route->handler)(r);
    pl_logf_about(NULL);
    if (r->begin) {
        r->begin(r->begin_context); /* from here on it belongs to another thread */
    } else {
        pl_request_finish(r);
    }
}

static pl_pool *pool_of(const pl_request *r)
{
    return r->route->run == PL_RUN_FILES ? pl_http_setup_of(r->http)->files
                                         : pl_http_setup_of(r->http)->checks;
}

/* Checks of one user compete with another's, so they take turns. 0: no lane. */
static uint64_t lane_of(const pl_request *r)
{
    uint64_t lane = 14695981039346656037u; /* FNV-1a */
    for (const char *at = r->principal ? r->principal->user : ""; *at; at++) {
        lane = (lane ^ (unsigned char)*at) * 1099511628211u;
    }
    return r->route->run == PL_RUN_CHECKS ? lane | 1 : 0;
}

void pl_request_await(pl_request *r, void (*begin)(void *context), void *context)
{
    r->begin = begin;
    r->begin_context = context;
}

void pl_request_continue(pl_request *r, void (*next)(pl_request *r))
{
    r->next = next;
    pl_pool *pool = r->route->run == PL_RUN_CHECKS ? pl_http_setup_of(r->http)->commits
                                                   : pool_of(r);
    if (!pl_pool_go_on(pool, lane_of(r), run_in_pool, r)) {
        run_in_pool(r);
    }
}

static void refuse_turn(pl_request *r, pl_pool_answer answer)
{
    if (answer == PL_POOL_LANE_FULL) {
        pl_reply_problem(r, 429, "too_many_checks", "Too many checks",
                         "your requests wait for the checks of earlier ones: send fewer at once",
                         NULL);
    } else {
        pl_reply_problem(r, 503, "busy", "Busy", "too many requests wait for the same work", NULL);
    }
    pl_reply_header(r, "Retry-After", "2");
    pl_request_finish(r);
}

/* A user with too many waiting requests gets the error at once, without queueing. */
static bool has_room(pl_request *r)
{
    const pl_http_policy *policy = &pl_http_setup_of(r->http)->policy;
    return r->route->run != PL_RUN_CHECKS || r->route->takes != PL_TAKES_JSON ||
           policy->has_room(r, r->route, (int64_t)pl_pool_waiting(pool_of(r), lane_of(r)));
}

void pl_request_dispatch(pl_request *r)
{
    if (r->route->run == PL_RUN_HERE) {
        r->route->handler(r);
        return;
    }
    r->arrived_ms = pl_monotonic_ms();
    if (!has_room(r)) {
        return;
    }
    pl_request_park(r);
    pl_pool_answer answer = pl_pool_submit_in_turn(pool_of(r), lane_of(r), run_in_pool, r);
    if (answer != PL_POOL_TAKEN) {
        refuse_turn(r, answer);
    }
}
