/* schedule.h - who runs next, where and with how much: a pure function of what it was told. No clock, lock, database
 * or session in it: time is an argument (s, on any clock that never goes back), a job is a plain struct.
 *
 * The caller tells what happened (pl_schedule_arrive, _end, ...) and asks for actions (pl_schedule_decide), which are
 * already in the books when they are returned.
 *
 * Who is next. A user's place is their usage in a group (core-seconds, which halve every `half_life`, and what runs
 * now) divided by their share; the group's usage by its share goes before it. The least is next. Priorities sort the jobs of one user; one above 0,
 * which only administrators may give, goes before every other user's jobs as well.
 *
 * What fits behind a job that does not fit is started, so that no core is idle. A job that was overtaken so holds a
 * reservation once it has waited for `patience` since: nothing is started then that would delay it, as far as lengths
 * are known. When it has not begun a patience after the start that it was promised, lengths are not believed any more,
 * and what becomes free is kept for it. Hence the wait of a job that was overtaken is bounded: by two patiences, the
 * longest length that was believed and the longest job that runs then, once more for each older reservation.
 *
 * A job with a range of cores takes more while cores are idle: each job with a range as many as the others, as far as
 * ranges and limits allow. It gives back what exceeds its least where a job waits that would start with it, before any
 * job is preempted. Cores that are given back stay in use until the caller says that they are free.
 *
 * For the job whose turn it is (and for the next one that needs a GPU, or none, where it does not) preemptible jobs are
 * stopped: of its own user, or of everybody where its priority is above 0, at once; else those of a user who has used
 * more once they have run for 30 s. Only where that is enough and no older reservation would be delayed, youngest
 * first; for a GPU on the device that would have most room. Until that job starts, no job starts that it would have
 * stopped at once. Jobs beside others (pl_schedule_beside) are not stopped.
 */
#ifndef PLIANT_SERVER_SCHEDULE_SCHEDULE_H
#define PLIANT_SERVER_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_SCHEDULE_DEVICES = 64 };

/* What a job asks for. Copied. */
typedef struct pl_job_wish {
    uint64_t key; /* its own, never 0 */
    const char *user, *group;
    int64_t priority;
    int32_t cores_least, cores_most;
    double memory;     /* bytes */
    double gpu_memory; /* bytes of one device; 0: none */
    double length;     /* s that it is expected to run; 0: not known */
    bool preemptible;  /* may be stopped at a checkpoint for another */
    bool interactive;  /* may use the cores that are kept for such */
    bool shares;       /* may share another's worker and cores (pl_schedule_beside) */
    const uint64_t
        *after; /* [after_count] keys of jobs that have not ended: it waits for all of them */
    size_t after_count;
    void *tag; /* the caller's */
} pl_job_wish;

typedef enum pl_job_state {
    PL_JOB_WAITING, /* for its turn */
    PL_JOB_ASIDE,   /* held, after others, or until a time: it has no turn yet */
    PL_JOB_RUNNING
} pl_job_state;

typedef struct pl_account pl_account;

/* Read by the caller, written by this room alone. What a decision asks of each waiting job comes first. */
typedef struct pl_job {
    pl_job_state state;
    int32_t cores_least;
    pl_account *user;
    int64_t priority;
    double memory, gpu_memory, length;
    int32_t cores_most;
    bool preemptible, interactive, shares;
    bool rigid; /* its cores cannot change while it runs */
    uint64_t key;
    int64_t order;
    int32_t cores;     /* while it runs: given; 0 beside another */
    int32_t wanted;    /* while it runs: what `cores` is to become; smaller while it gives back */
    double gpu_charge; /* bytes counted on its device while it runs */
    bool held;
    bool preempting; /* it was told to stop */
    bool beside;
    double due; /* not before */
    uint64_t *after;
    size_t after_count;
    int32_t device; /* -1: none */
    double arrived, started;
    double overtaken; /* since when others have gone before it; < 0: never */
    double promised;  /* the first start that its reservation gave; < 0: it had none */
    double blocked;   /* what a claim by preemption waits for; < 0: none */
    int64_t position; /* in the forecast, from 1; 0: it has no turn yet */
    double start;     /* forecast; INFINITY: unknown */
    void *tag;
    size_t at; /* in the list of its state */
} pl_job;

/* Limits of a user or a group; INT64_MAX: none. */
typedef struct pl_account_limits {
    int64_t running, cores, gpus;
} pl_account_limits;

typedef struct pl_device {
    double memory; /* bytes */
    double others; /* taken by strangers */
    double used;   /* by jobs */
    bool up, drained;
} pl_device;

typedef struct pl_schedule_setup {
    int32_t cores;
    double memory;
    int32_t interactive_cores; /* of `cores`, kept for interactive jobs */
    double half_life;          /* s; 0: a day */
    double patience;           /* s; 0: a minute */
} pl_schedule_setup;

typedef struct pl_schedule pl_schedule;
pl_schedule *pl_schedule_create(const pl_schedule_setup *setup); /* NULL: out of memory */
void pl_schedule_destroy(pl_schedule *schedule);

/* ---- what happens ---- */

/* A job waits from now on, last of its priority, or first where it had its turn before. The job is this room's until
 * pl_schedule_end; NULL: out of memory. */
pl_job *pl_schedule_arrive(pl_schedule *s, const pl_job_wish *wish, double now, bool first);
/* One that runs already, with so many cores and that much of the device's memory; it may be over-committed. `beside`:
 * its cores are another's. */
void pl_schedule_adopt(pl_schedule *s, pl_job *job, int32_t cores, int32_t device,
                       double gpu_memory, bool beside, double now);
/* It cannot be stopped for another after all. */
void pl_schedule_keep(pl_schedule *s, pl_job *job);
/* It has given back what it was told to: it has so many cores now, at most those that it had. */
void pl_schedule_resized(pl_schedule *s, pl_job *job, int32_t cores, double now);
/* Its cores cannot be changed after all: it keeps so many, and is not asked again. */
void pl_schedule_fix(pl_schedule *s, pl_job *job, int32_t cores, double now);
/* It is gone: it ended, crashed, was cancelled, paused or preempted. What it held is free, and the job is freed. */
void pl_schedule_end(pl_schedule *s, pl_job *job, double now);
/* The job of that key has ended for good: those after it need not wait for it. */
void pl_schedule_satisfy(pl_schedule *s, uint64_t key, double now);
void pl_schedule_hold(pl_schedule *s, pl_job *job, bool held, double now);
void pl_schedule_delay(pl_schedule *s, pl_job *job, double due, double now); /* not before */
void pl_schedule_prioritise(pl_schedule *s, pl_job *job, int64_t priority, double now);
/* Nothing is started, or things are again. */
void pl_schedule_drain(pl_schedule *s, bool draining);
/* A device is there, or as it is now; `used` of it is not read. */
void pl_schedule_set_device(pl_schedule *s, int32_t device, const pl_device *now);
void pl_schedule_set_cores(pl_schedule *s, int32_t cores);
/* A user's share among users of a group, or a group's; 1 at first. A user's limits hold for their jobs of all groups
 * together. Jobs without a group belong to the group "", in which each user with a job counts as one share.
 * False: out of memory. */
bool pl_schedule_set_user(pl_schedule *s, const char *user, double share, pl_account_limits limits);
bool pl_schedule_set_group(pl_schedule *s, const char *group, double share,
                           pl_account_limits limits);
/* The k-th user or group that it knows, or NULL, and another share and other limits for it. */
const char *pl_schedule_user(const pl_schedule *s, size_t k);
const char *pl_schedule_group(const pl_schedule *s, size_t k);
void pl_schedule_limit_user(pl_schedule *s, size_t k, double share, pl_account_limits limits);
void pl_schedule_limit_group(pl_schedule *s, size_t k, double share, pl_account_limits limits);
/* Usage of a time before this schedule: core-seconds and GPU-seconds, decayed until now. False: out of memory. */
bool pl_schedule_remember(pl_schedule *s, const char *user, const char *group, double core_seconds,
                          double gpu_seconds, double now);
/* A job that waits is of another group (NULL: none) from now on; false: out of memory. */
bool pl_schedule_regroup(pl_schedule *s, pl_job *job, const char *group);
/* The group that a job counts for; "": none. */
const char *pl_job_group(const pl_job *job);
/* What a job holds for others too: its cores are taken off it and stay in use until given back. */
int32_t pl_schedule_transfer(pl_schedule *s, pl_job *job, double gpu_memory, double now);
void pl_schedule_give_back(pl_schedule *s, const char *user, const char *group, int32_t cores,
                           int32_t device, double gpu_memory, double now);

/* ---- what is to be done ---- */

typedef enum pl_action_kind {
    PL_ACTION_START,   /* with job->cores on job->device; it is running in the books */
    PL_ACTION_PREEMPT, /* stop it at a checkpoint, then pl_schedule_end, then arrive first */
    /* Compute with job->wanted cores. More than it had are its own already; fewer: pl_schedule_resized follows. */
    PL_ACTION_RESIZE
} pl_action_kind;
typedef struct pl_action {
    pl_action_kind kind;
    pl_job *job;
} pl_action;
/* At most `most` actions; how many. Fewer than `most`: there is nothing more to do until something happens. */
int pl_schedule_decide(pl_schedule *s, double now, pl_action *out, int most);
/* The next job of the host's user, if it may share the host's worker: started on its device, without cores, with
 * gpu_memory less `context` counted. NULL: none. */
pl_job *pl_schedule_beside(pl_schedule *s, pl_job *host, double context, double now);
/* When something happens by the clock alone: a delay ends, or a reservation begins to hold. INFINITY: never. */
double pl_schedule_next_due(const pl_schedule *s, double now);

/* ---- what can be said ---- */

typedef enum pl_wait_reason {
    PL_WAIT_NONE, /* it starts at the next decision */
    PL_WAIT_DRAINING,
    PL_WAIT_HELD,
    PL_WAIT_AFTER,      /* amount: jobs that it waits for */
    PL_WAIT_DUE,        /* amount: s left */
    PL_WAIT_USER_CORES, /* amount: used, of: limit */
    PL_WAIT_USER_RUNNING,
    PL_WAIT_USER_GPUS,
    PL_WAIT_GROUP,      /* its group is at the limit that `within` names as a user's */
    PL_WAIT_NO_GPU,     /* there is none */
    PL_WAIT_GPU_MEMORY, /* amount: needed, of: most free on one */
    PL_WAIT_TURN,       /* amount: jobs before it */
    PL_WAIT_CORES,      /* amount: needed, of: free */
    PL_WAIT_MEMORY,
    PL_WAIT_RESERVED /* it would fit, but delays one that has waited longer */
} pl_wait_reason;
typedef struct pl_wait {
    pl_wait_reason reason;
    double amount, of;
    pl_wait_reason within;
} pl_wait;
/* Positions and starts of all waiting jobs into them. O(jobs x cores). */
void pl_schedule_forecast(pl_schedule *s, double now);
/* Why a job waits, by the last forecast. */
pl_wait pl_schedule_wait(pl_schedule *s, const pl_job *job, double now);
/* Waiting jobs in the forecast's order, which the schedule owns until the next call. */
pl_job *const *pl_schedule_order(const pl_schedule *s, size_t *count);

typedef struct pl_schedule_load {
    int32_t cores, cores_used;
    double memory, memory_used;
    size_t waiting, aside, running;
    bool draining;
} pl_schedule_load;
pl_schedule_load pl_schedule_get_load(const pl_schedule *s);
pl_job *const *pl_schedule_running(const pl_schedule *s, size_t *count);
pl_device pl_schedule_device(const pl_schedule *s, int32_t device);
/* Core-seconds of a user, decayed; 0 for one that it knows nothing of. */
double pl_schedule_usage(pl_schedule *s, const char *user, double now);
/* What it takes an unknown length for: the mean of those that have ended, s. */
double pl_schedule_mean_length(const pl_schedule *s);
const char *pl_wait_name(pl_wait_reason reason); /* "cores", "reserved", ... */

#endif
