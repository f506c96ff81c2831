/* dispatcher_view.c - the dispatcher's state for readers: waiting sessions with reason and expected start, running
 * sessions, and resources in use. */
#include "server/base/clock.h"
#include "server/run/disk_pause.h"
#include "server/run/dispatcher.h"
#include "server/run/dispatcher_inside.h"
#include "server/run/gpus.h"
#include "server/run/queue_reason.h"
#include "server/run/session_job.h"
#include "server/sessions/sessions_locked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 500, STALE_MS = 500, OLD_MS = 1000 }; /* of forecasts */

double pl_dispatcher_now(void)
{
    return 1e-3 * (double)pl_monotonic_ms();
}

/* Skips sessions whose job has not begun. */
static void see_all(pl_job *const *running, size_t count, pl_dispatcher_see see, void *context)
{
    for (size_t i = 0; i < count; i++) {
        const pl_session *s = running[i]->tag;
        if (s->state == PL_STATE_RUNNING) {
            pl_usage_span span = pl_session_span(s);
            see(context, &span, s);
        }
    }
}

void pl_dispatcher_each_running(pl_dispatcher *d, pl_dispatcher_see see, void *context)
{
    size_t count;
    pl_sessions_lock(d->sessions);
    pl_job *const *running = pl_schedule_running(d->schedule, &count);
    see_all(running, count, see, context);
    running = pl_schedule_running(d->batch, &count);
    see_all(running, count, see, context);
    pl_sessions_unlock(d->sessions);
}

pl_load pl_dispatcher_load(pl_dispatcher *d)
{
    pl_sessions_lock(d->sessions);
    pl_schedule_load s = pl_schedule_get_load(d->schedule);
    pl_load load = {s.cores, s.cores_used, s.memory, s.memory_used, s.draining};
    pl_sessions_unlock(d->sessions);
    return load;
}

void pl_dispatcher_drain(pl_dispatcher *d, bool draining)
{
    pl_sessions_lock(d->sessions);
    pl_schedule_drain(d->schedule, draining);
    pl_schedule_drain(d->batch, draining);
    d->changes++;
    pl_sessions_unlock(d->sessions);
    d->changed(d->context, NULL);
}

/* All waiting sessions, malloc'ed: for this machine, then in the batch system, then not yet submitted to it. */
static const pl_session **list_waiting(pl_dispatcher *d, size_t *count)
{
    size_t n[3], total = 0;
    pl_job *const *parts[3] = {pl_schedule_order(d->schedule, &n[0]),
                               pl_schedule_running(d->batch, &n[1]),
                               pl_schedule_order(d->batch, &n[2])};
    const pl_session **all = malloc((n[0] + n[1] + n[2] + 1) * sizeof *all);
    for (int part = 0; all && part < 3; part++) {
        for (size_t i = 0; i < n[part]; i++) {
            const pl_session *s = parts[part][i]->tag;
            if (s->state != PL_STATE_RUNNING) {
                all[total++] = s;
            }
        }
    }
    *count = total;
    return all;
}

static void forecast(pl_dispatcher *d)
{
    pl_schedule_forecast(d->schedule, pl_dispatcher_now());
    pl_schedule_forecast(d->batch, pl_dispatcher_now());
    d->forecast_changes = d->changes;
    d->forecast_ms = pl_monotonic_ms();
}

/* Renew the forecast for all sessions: immediately for a queue of some hundreds, otherwise twice a second. */
static void look_ahead(pl_dispatcher *d)
{
    int64_t age = pl_monotonic_ms() - d->forecast_ms;
    bool large =
        pl_schedule_get_load(d->schedule).waiting + pl_schedule_get_load(d->batch).waiting > SMALL;
    if (d->changes != d->forecast_changes ? !large || age >= STALE_MS : age >= OLD_MS) {
        forecast(d);
    }
}

/* Fills in the place of a session whose job exists or is being submitted. */
static void place_in_batch(const pl_session *s, pl_queue_place *out)
{
    out->position = s->batch.position;
    out->start = s->batch.start;
    out->code = "batch";
    snprintf(out->reason, sizeof out->reason, "%s: %s", s->executor,
             s->batch.reason ? s->batch.reason : "its job is being submitted");
}

void pl_dispatcher_place(void *context, const pl_session *s, pl_queue_place *out)
{
    pl_dispatcher *d = context;
    const pl_job *job = s->job;
    if (job && s->executor && job->state == PL_JOB_RUNNING && s->state == PL_STATE_QUEUED) {
        place_in_batch(s, out);
        return;
    }
    if (!job || job->state == PL_JOB_RUNNING || pl_disk_pause_place(d->disk, out)) {
        return;
    }
    look_ahead(d);
    double now = pl_dispatcher_now();
    pl_schedule *schedule = pl_dispatcher_schedule_of(d, s);
    pl_wait wait = pl_schedule_wait(schedule, job, now);
    out->position = job->position;
    out->code = pl_wait_name(wait.reason);
    if (!isinf(job->start)) {
        out->start = pl_clock_us() / 1000000 + llround(fmax(job->start - now, 0));
    }
    pl_schedule_load load = pl_schedule_get_load(schedule);
    pl_queue_reason(s, &wait, &load, pl_gpus_count(d->gpus) ? NULL : pl_gpus_reason(d->gpus),
                    out->reason, sizeof out->reason);
    if (s->executor && !d->has_batch) {
        out->code = "batch";
        out->start = -1;
        snprintf(out->reason, sizeof out->reason,
                 "waits for the batch system %s, which is not configured in this daemon (--batch)",
                 s->executor);
    }
}

void pl_dispatcher_queue_view(pl_dispatcher *d, const pl_principal *principal, const char *after,
                              int64_t limit, pl_json_writer *w, char next_id[33])
{
    size_t count, from = 0;
    const pl_session *last = NULL;
    *next_id = 0;
    pl_sessions_lock(d->sessions);
    forecast(d);
    const pl_session **order = list_waiting(d, &count);
    for (size_t i = 0; after && i < count && from == 0; i++) {
        from = strcmp(order[i]->id, after) == 0 ? i + 1 : 0;
    }
    for (size_t i = from; i < count && !*next_id; i++) {
        const pl_session *s = order[i];
        if (pl_principal_access(principal, s->id, s->owner, s->group) == PL_ACCESS_NONE) {
            continue;
        }
        if (limit == 0) {
            snprintf(next_id, 33, "%s", last->id);
        } else {
            pl_sessions_encode_locked(d->sessions, s, 0, w);
            last = s;
            limit--;
        }
    }
    pl_sessions_unlock(d->sessions);
    free(order);
}
