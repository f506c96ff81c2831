/* dispatcher_inside.h - the dispatcher's inside, for its own files.
 */
#ifndef PLIANT_SERVER_RUN_DISPATCHER_INSIDE_H
#define PLIANT_SERVER_RUN_DISPATCHER_INSIDE_H

#include "server/base/limits.h"
#include "server/run/cpus.h"
#include "server/schedule/schedule.h"
#include "server/sessions/sessions.h"

typedef struct pl_dispatcher {
    pl_sessions *sessions;
    pl_schedule *schedule; /* under the table's mutex, as all below */
    pl_schedule *batch;    /* of sessions for the batch system: when each is submitted */
    bool has_batch;        /* false: they wait for a daemon that has one */
    struct pl_gpus *gpus;
    int64_t changes, forecast_changes, forecast_ms;
    int64_t gpu_waits; /* sessions that wait and want a GPU */
    struct pl_disk *disk;
    struct pl_store *store;
    pl_limits (*limits_of)(void *context, const char *name, bool group);
    pl_cpus *cpus;
    int64_t repins; /* sessions whose worker is on more CPUs than it has */
    void (*changed)(void *context, pl_session *ended);
    void *context;
} pl_dispatcher;

/* On the clock of schedules, s. */
double pl_dispatcher_now(void);
/* The one that the session is in. */
pl_schedule *pl_dispatcher_schedule_of(const pl_dispatcher *dispatcher, const pl_session *session);
/* Where a session stands: pl_session_queue's. */
void pl_dispatcher_place(void *context, const pl_session *session, pl_queue_place *out);

#endif
