/* dispatcher_inside.h - the dispatcher's internals, for its own files.
 */
#ifndef PLIANT_SERVER_RUN_DISPATCHER_INSIDE_H
#define PLIANT_SERVER_RUN_DISPATCHER_INSIDE_H

#include "server/base/limits.h"
#include "server/run/cpus.h"
#include "server/schedule/schedule.h"
#include "server/sessions/sessions.h"

/* The users and groups of a schedule whose limits it knows. */
typedef struct pl_limits_known {
    int64_t version; /* of the limits */
    size_t users, groups;
} pl_limits_known;

typedef struct pl_dispatcher {
    pl_sessions *sessions;
    pl_schedule *schedule; /* under the table's mutex, like all fields below */
    pl_schedule *batch;    /* decides when sessions are submitted to the batch system */
    bool has_batch;        /* false: such sessions wait for a daemon that has one */
    struct pl_gpus *gpus;
    int64_t changes, forecast_changes, forecast_ms;
    int64_t gpu_waits; /* waiting sessions that need a GPU */
    struct pl_disk *disk;
    struct pl_store *store;
    pl_limits (*limits_of)(void *context, const char *name, bool group);
    int64_t (*limits_version)(void *context);
    pl_limits_known known, batch_known;
    pl_cpus *cpus;
    int64_t repins; /* sessions whose worker runs on more CPUs than they have */
    void (*changed)(void *context, pl_session *ended);
    void *context;
} pl_dispatcher;

/* Time on the schedules' clock, s. */
double pl_dispatcher_now(void);
/* The schedule of a session. */
pl_schedule *pl_dispatcher_schedule_of(const pl_dispatcher *dispatcher, const pl_session *session);
/* The session's place in the queue, for pl_session_queue. */
void pl_dispatcher_place(void *context, const pl_session *session, pl_queue_place *out);

#endif
