#include "server/run/admission_state.h"

#include "server/base/daemon.h"
#include "server/batch/batch_system.h"
#include "server/base/logger.h"
#include "server/http/shortage.h"
#include "server/run/check_result.h"
#include "server/sessions/removal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pl_admission *pl_admission_create(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_admission *a = calloc(1, sizeof *a);
    if (!a) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
        return NULL;
    }
    a->request = r;
    a->sessions = d->sessions;
    a->store = d->store;
    a->state_path = d->state;
    a->state_fd = d->state_fd;
    a->machine = (pl_machine){.cores = d->options.cores,
                              .memory = d->machine_memory,
                              .gpus = d->gpus,
                              .batch = d->batch ? pl_batch_system_name(d->batch) : NULL,
                              .batch_default = d->options.batch_default,
                              .batch_cores = d->options.batch_cores,
                              .learning = d->learning};
    a->counters = &d->counters;
    a->checks = d->check_queue;
    a->checks_most = d->options.max_checks;
    a->owner = pl_request_owner(r);
    a->text = pl_request_body(r, &a->length);
    return a;
}

void pl_admission_destroy(pl_admission *a)
{
    if (a->staged) {
        pl_remove_tree(a->state_fd, a->incoming);
    }
    pl_quota_release(&a->hold);
    pl_outline_clear(&a->outline);
    pl_faults_clear(&a->faults);
    pl_faults_clear(&a->ticket.faults);
    pl_preflight_clear(&a->preflight);
    free(a);
}

bool pl_admission_reject(pl_admission *a)
{
    pl_reply_problem(a->request, 422, "invalid_scene", "The scene cannot be run",
                     "every fault found is listed", &a->faults);
    return false;
}

bool pl_admission_fail(pl_admission *a, const char *what)
{
    int error = errno;
    pl_logf(PL_LEVEL_ERROR, "a session could not be created: %s: %s", what, strerror(error));
    if (!pl_reply_shortage(a->request, error)) {
        pl_reply_problem(a->request, 500, "internal", "Internal error",
                         "the session could not be created; the daemon's log says why", NULL);
    }
    return false;
}

pl_row pl_admission_row(const pl_admission *a)
{
    const pl_outline *o = &a->outline;
    pl_row row = {.owner = (char *)a->owner,
                  .group_name = (char *)a->group,
                  .name = o->notes->name,
                  .labels = o->notes->labels,
                  .metadata = o->notes->metadata,
                  .webhook = o->notes->webhook,
                  .priority = o->notes->priority,
                  .created_us = a->created_us,
                  .frames = o->frames,
                  .frame = -1,
                  .cores = o->cores > 0 ? o->cores : 1,
                  .cores_least = o->cores > 0 ? o->cores : 1,
                  .cores_most = o->cores_given ? o->cores_most : PL_CORES_OPEN,
                  .preemptible = o->preemptible,
                  .interactive = o->interactive,
                  .executor = (char *)a->executor,
                  .after = *a->after ? (char *)a->after : NULL,
                  .desired = o->hold ? (char *)"paused" : NULL,
                  .checkpoint = -1,
                  .keep_days = o->keep_days,
                  .keep_last = o->keep_last,
                  .keep_every = o->keep_every,
                  .time_limit = o->time_limit};
    memcpy(row.id, a->id, sizeof row.id);
    return row;
}

bool pl_admission_may_check(pl_admission *a)
{
    return pl_check_queue_takes(a->checks, a->request, 0, a->checks_most);
}

/* The end of the admission frees objects attached to the request. */
static void leave(void *attached) {}

static void ask(void *context)
{
    pl_admission *a = context;
    pl_check_queue_ask(a->checks, &a->ticket);
}

static void go_on(void *context)
{
    pl_admission *a = context;
    pl_request_continue(a->request, a->next);
}

pl_admission *pl_admission_of(pl_request *r)
{
    return pl_request_attached(r);
}

void pl_admission_check(pl_admission *a, int64_t until_ms, void (*next)(pl_request *r))
{
    a->next = next;
    a->text = NULL;
    a->branch = NULL;
    a->ticket = (pl_check_ticket){.owner = a->owner,
                                  .order = a->created_us,
                                  .option = a->preview ? "--preview" : "--session",
                                  .until_ms = until_ms,
                                  .done = go_on,
                                  .context = a};
    snprintf(a->ticket.path, sizeof a->ticket.path, "%s/%s", a->state_path, a->incoming);
    pl_request_attach(a->request, a, leave);
    pl_request_await(a->request, ask, a);
}

bool pl_admission_accepts(pl_admission *a)
{
    pl_preflight_outcome outcome = a->ticket.outcome;
    char directory[PATH_MAX + 112];
    snprintf(directory, sizeof directory, "%s/%s", a->state_path, a->incoming);
    if (a->ticket.begun) {
        pl_preflight_end(&a->ticket.run);
    }
    if (outcome == PL_PREFLIGHT_STOPPED) {
        pl_reply_problem(a->request, 503, "shutdown", "Shutting down",
                         "the daemon is shutting down", NULL);
        pl_reply_header(a->request, "Retry-After", "5");
        return false;
    }
    if (outcome == PL_PREFLIGHT_BROKEN || outcome == PL_PREFLIGHT_BUSY ||
        !pl_check_read(&a->machine, directory, outcome, &a->preflight, &a->ticket.faults)) {
        errno = outcome == PL_PREFLIGHT_BUSY ? EAGAIN : EPROTO;
        return pl_admission_fail(a, "the check");
    }
    if (a->ticket.faults.total) {
        pl_faults_clear(&a->faults);
        a->faults = a->ticket.faults;
        a->ticket.faults = (pl_faults){0};
        return pl_admission_reject(a);
    }
    return true;
}
