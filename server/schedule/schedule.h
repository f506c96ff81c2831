/* schedule.h - decides which job runs next, where and with how many cores: a pure function of its inputs. It has no
 * clock, lock, database or session: time is an argument (s, on any clock that never goes back), and a job is a plain
 * struct.
 *
 * The caller reports what happened (pl_schedule_arrive, _end, ...) and asks for actions (pl_schedule_decide). An action
 * is already recorded in the books when it is returned.
 *
 * Order. A user's key is their usage in a group (core-seconds, halved every `half_life`, plus running jobs) divided by
 * their share. The group's usage divided by its share is compared first. The lowest key is next. Priorities order the
 * jobs of one user; a priority above 0, which only administrators may give, also goes before every other user's jobs.
 *
 * Backfilling. A job that fits behind one that does not fit is started, so that no core is idle. A job that has been
 * overtaken this way for longer than `patience` gets a reservation: nothing is then started that would delay it, as far
 * as lengths are known. If it has not begun `patience` after its promised start, lengths are no longer trusted, and
 * freed resources are kept for it. So the wait of an overtaken job is bounded: by two patiences, the longest length
 * that was trusted, and the longest job that runs then, once more for each older reservation.
 *
 * Elastic jobs. A job with a range of cores takes more while cores are idle; all such jobs get equal numbers, as far as
 * ranges and limits allow. It gives back cores above its minimum when a waiting job would start with them, before any
 * job is preempted. Cores being given back stay in use until the caller reports that they are free.
 *
 * Preemption. For the job whose turn it is, preemptible jobs are stopped: at once if they are its own user's, or
 * anybody's if its priority is above 0; otherwise those of a user with more usage, once they have run for 30 s. The
 * same applies to the next job that needs a GPU if the first does not, or to the next one that needs none. Jobs are
 * stopped only if that frees enough and delays no older reservation, youngest first; for a GPU, on the device that
 * would have the most room. Until that job starts, no job starts that it would have stopped at once. Jobs that share a
 * worker (pl_schedule_beside) are not stopped.
 */
#ifndef PLIANT_SERVER_SCHEDULE_SCHEDULE_H
#define PLIANT_SERVER_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_SCHEDULE_DEVICES = 64 };

/* A job's requirements. Copied. */
typedef struct pl_job_wish {
    uint64_t key; /* unique, never 0 */
    const char *user, *group;
    int64_t priority;
    int32_t cores_least, cores_most;
    double memory;     /* bytes */
    double gpu_memory; /* bytes of one device; 0: none */
    double length;     /* expected running time, s; 0: unknown */
    bool preemptible;  /* may be stopped at a checkpoint for another */
    bool interactive;  /* may use the cores reserved for interactive jobs */
    bool shares;       /* may share another's worker and cores (pl_schedule_beside) */
    const uint64_t
        *after; /* [after_count] keys of jobs that have not ended: it waits for all of them */
    size_t after_count;
    void *tag; /* the caller's */
} pl_job_wish;

typedef enum pl_job_state {
    PL_JOB_WAITING, /* ready, waiting for its turn */
    PL_JOB_ASIDE,   /* held, after other jobs, or delayed: it has no turn yet */
    PL_JOB_RUNNING
} pl_job_state;

typedef struct pl_account pl_account;

/* The caller reads it; only this room writes it. Members that decisions read for each waiting job come first. */
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
    int32_t cores;     /* while running: cores in use; 0 if it shares another's */
    int32_t wanted;    /* while running: target of `cores`; smaller while it gives cores back */
    double gpu_charge; /* bytes counted on its device while it runs */
    bool held;
    bool preempting; /* told to stop */
    bool beside;
    double due; /* earliest start */
    uint64_t *after;
    size_t after_count;
    int32_t device; /* -1: none */
    double arrived, started;
    double overtaken; /* first time that another job overtook it; < 0: never */
    double promised;  /* the first start that its reservation promised; < 0: no reservation */
    double blocked;   /* the resource that a claim by preemption waits for; < 0: none */
    int64_t position; /* in the forecast, from 1; 0: no turn yet */
    double start;     /* forecast; INFINITY: unknown */
    void *tag;
    size_t at; /* index in the list of its state */
} pl_job;

/* Limits of a user or a group; INT64_MAX: none. */
typedef struct pl_account_limits {
    int64_t running, cores, gpus;
} pl_account_limits;

typedef struct pl_device {
    double memory; /* bytes */
    double others; /* used by other programs */
    double used;   /* by jobs */
    bool up, drained;
} pl_device;

typedef struct pl_schedule_setup {
    int32_t cores;
    double memory;
    int32_t interactive_cores; /* of `cores`, reserved for interactive jobs */
    double half_life;          /* s; 0: a day */
    double patience;           /* s; 0: a minute */
} pl_schedule_setup;

typedef struct pl_schedule pl_schedule;
pl_schedule *pl_schedule_create(const pl_schedule_setup *setup); /* NULL: out of memory */
void pl_schedule_destroy(pl_schedule *schedule);

/* ---- what happens ---- */

/* A job starts to wait, last of its priority, or first if it had its turn before. The schedule owns the job until
 * pl_schedule_end; NULL: out of memory. */
pl_job *pl_schedule_arrive(pl_schedule *s, const pl_job_wish *wish, double now, bool first);
/* The job already runs, with so many cores and that much of the device's memory; the machine may become overcommitted.
 * `beside`: it uses another job's cores. */
void pl_schedule_adopt(pl_schedule *s, pl_job *job, int32_t cores, int32_t device,
                       double gpu_memory, bool beside, double now);
/* The job cannot be stopped for another after all. */
void pl_schedule_keep(pl_schedule *s, pl_job *job);
/* The job has given cores back: it now has this many, at most what it had. */
void pl_schedule_resized(pl_schedule *s, pl_job *job, int32_t cores, double now);
/* The job's cores cannot be changed after all: it keeps this many, and is not asked again. */
void pl_schedule_fix(pl_schedule *s, pl_job *job, int32_t cores, double now);
/* The job is gone: it ended, crashed, was cancelled, paused or preempted. Its resources become free, and the job is
 * freed. */
void pl_schedule_end(pl_schedule *s, pl_job *job, double now);
/* The job with that key has ended for good: jobs after it need not wait for it. */
void pl_schedule_satisfy(pl_schedule *s, uint64_t key, double now);
void pl_schedule_hold(pl_schedule *s, pl_job *job, bool held, double now);
void pl_schedule_delay(pl_schedule *s, pl_job *job, double due, double now); /* earliest start */
void pl_schedule_prioritise(pl_schedule *s, pl_job *job, int64_t priority, double now);
/* Stop starting jobs, or start them again. */
void pl_schedule_drain(pl_schedule *s, bool draining);
/* Add a device or update it; `used` is ignored. */
void pl_schedule_set_device(pl_schedule *s, int32_t device, const pl_device *now);
void pl_schedule_set_cores(pl_schedule *s, int32_t cores);
/* Set a user's share among users of a group, or a group's share; 1 by default. A user's limits apply to their jobs in
 * all groups together. Jobs without a group belong to the group "", in which each user with a job counts as one share.
 * False: out of memory. */
bool pl_schedule_set_user(pl_schedule *s, const char *user, double share, pl_account_limits limits);
bool pl_schedule_set_group(pl_schedule *s, const char *group, double share,
                           pl_account_limits limits);
/* The k-th known user or group, or NULL; and functions that set its share and limits. */
const char *pl_schedule_user(const pl_schedule *s, size_t k);
const char *pl_schedule_group(const pl_schedule *s, size_t k);
void pl_schedule_limit_user(pl_schedule *s, size_t k, double share, pl_account_limits limits);
void pl_schedule_limit_group(pl_schedule *s, size_t k, double share, pl_account_limits limits);
/* Add usage from before this schedule: core-seconds and GPU-seconds, decayed until now. False: out of memory. */
bool pl_schedule_remember(pl_schedule *s, const char *user, const char *group, double core_seconds,
                          double gpu_seconds, double now);
/* Move a waiting job to another group (NULL: none). False: out of memory. */
bool pl_schedule_regroup(pl_schedule *s, pl_job *job, const char *group);
/* The group that a job counts towards; "": none. */
const char *pl_job_group(const pl_job *job);
/* Detach resources that a job holds for others too: its cores no longer belong to it, and stay in use until given
 * back. */
int32_t pl_schedule_transfer(pl_schedule *s, pl_job *job, double gpu_memory, double now);
void pl_schedule_give_back(pl_schedule *s, const char *user, const char *group, int32_t cores,
                           int32_t device, double gpu_memory, double now);

/* ---- what is to be done ---- */

typedef enum pl_action_kind {
    PL_ACTION_START,   /* with job->cores on job->device; it is running in the books */
    PL_ACTION_PREEMPT, /* stop it at a checkpoint, then pl_schedule_end, then arrive first */
    /* Compute with job->wanted cores. If more, they are the job's already; if fewer, the caller must call
     * pl_schedule_resized. */
    PL_ACTION_RESIZE
} pl_action_kind;
typedef struct pl_action {
    pl_action_kind kind;
    pl_job *job;
} pl_action;
/* Return up to `most` actions, and their number. Fewer than `most`: nothing more to do until something happens. */
int pl_schedule_decide(pl_schedule *s, double now, pl_action *out, int most);
/* The next job of the host's user if it may share the host's worker: started on the host's device, without cores, with
 * gpu_memory less `context` counted. NULL: none. */
pl_job *pl_schedule_beside(pl_schedule *s, pl_job *host, double context, double now);
/* The next time at which something happens by the clock alone: a delay ends, or a reservation takes effect. INFINITY:
 * never. */
double pl_schedule_next_due(const pl_schedule *s, double now);

/* ---- what can be said ---- */

typedef enum pl_wait_reason {
    PL_WAIT_NONE, /* starts at the next decision */
    PL_WAIT_DRAINING,
    PL_WAIT_HELD,
    PL_WAIT_AFTER,      /* amount: number of jobs it waits for */
    PL_WAIT_DUE,        /* amount: s left */
    PL_WAIT_USER_CORES, /* amount: used, of: limit */
    PL_WAIT_USER_RUNNING,
    PL_WAIT_USER_GPUS,
    PL_WAIT_GROUP,      /* its group is at a limit; `within` names it as for a user */
    PL_WAIT_NO_GPU,     /* the machine has none */
    PL_WAIT_GPU_MEMORY, /* amount: needed, of: most free on one */
    PL_WAIT_TURN,       /* amount: jobs before it */
    PL_WAIT_CORES,      /* amount: needed, of: free */
    PL_WAIT_MEMORY,
    PL_WAIT_RESERVED /* it would fit, but would delay a job that has waited longer */
} pl_wait_reason;
typedef struct pl_wait {
    pl_wait_reason reason;
    double amount, of;
    pl_wait_reason within;
} pl_wait;
/* Compute positions and starts of all waiting jobs and store them in the jobs. O(jobs x cores). */
void pl_schedule_forecast(pl_schedule *s, double now);
/* Why a job waits, according to the last forecast. */
pl_wait pl_schedule_wait(pl_schedule *s, const pl_job *job, double now);
/* Waiting jobs in the forecast's order; the array belongs to the schedule and is valid until the next call. */
pl_job *const *pl_schedule_order(const pl_schedule *s, size_t *count);

typedef struct pl_schedule_load {
    int32_t cores, cores_used;
    double memory, memory_used;
    size_t waiting, aside, running;
    bool draining;
    size_t
        read; /* waiting jobs that the last decision read as a whole; it reads little of the others */
} pl_schedule_load;
pl_schedule_load pl_schedule_get_load(const pl_schedule *s);
pl_job *const *pl_schedule_running(const pl_schedule *s, size_t *count);
pl_device pl_schedule_device(const pl_schedule *s, int32_t device);
/* Core-seconds of a user, decayed; 0 for an unknown user. */
double pl_schedule_usage(pl_schedule *s, const char *user, double now);
/* The length assumed when unknown: the mean of the jobs that have ended, s. */
double pl_schedule_mean_length(const pl_schedule *s);
const char *pl_wait_name(pl_wait_reason reason); /* "cores", "reserved", ... */

#endif
