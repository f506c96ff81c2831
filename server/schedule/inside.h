/* inside.h - the internals of a schedule. Private to this room. */
#ifndef PLIANT_SERVER_SCHEDULE_INSIDE_H
#define PLIANT_SERVER_SCHEDULE_INSIDE_H

#include "server/schedule/schedule.h"

typedef struct pl_job_list {
    pl_job **jobs;
    size_t count, capacity;
} pl_job_list;

/* A waiting job, with what a decision reads of every one side by side: most are then passed over without being read
 * from all over the memory. */
typedef struct pl_waiting {
    pl_job *job;
    double memory, gpu_memory, length;
    int32_t cores_least;
    bool interactive;
    bool marked; /* it has been overtaken, or others were stopped for it */
} pl_waiting;
typedef struct pl_waiting_list {
    pl_waiting *jobs;
    size_t count, capacity;
} pl_waiting_list;

/* One of three: a user in one group, which queues the user's jobs of that group; a user across all groups (a person);
 * or a group. Each has its usage; the last two have limits and shares. */
struct pl_account {
    /* what a decision reads of each comes first */
    double share; /* of a person or a group */
    int64_t running, cores, gpus;
    pl_account_limits limits;
    double usage, seen;         /* usage at that time */
    pl_account *group, *person; /* of a user in a group; else NULL */
    double key;                 /* (usage and running jobs) / share, at the last decision */
    pl_waiting_list waiting;    /* of a user: next first */
    double parts;               /* of a group: its share, at the last decision */
    double planned;             /* the key in the forecast */
    size_t next;                /* in the forecast: of waiting */
    size_t jobs;                /* of a user: all of them, in any state */
    char *name;
};

typedef struct pl_accounts {
    pl_account **list;
    size_t count, capacity;
} pl_accounts;

/* What orders users, side by side for sorting. */
typedef struct pl_rank {
    int64_t express; /* priority of the user's first job, if above 0 */
    double group, own, oldest;
    pl_account *user;
} pl_rank;

/* Resources that become free (or, if negative, are taken) at a time. */
typedef struct pl_change {
    double time, memory;
    int32_t cores;
} pl_change;

/* Free resources over time, from now on. */
typedef struct pl_profile {
    pl_change *changes; /* [count] by time */
    size_t count, capacity;
    double now, memory;
    int32_t cores; /* free now, without those that are kept for interactive jobs */
} pl_profile;

enum { RESERVATIONS = 16 };

/* A job that has not started yet, and for which others were stopped. */
typedef struct pl_claim {
    const pl_job *job;
    bool cores; /* needs cores now: it needs no device, or one has or will have room */
} pl_claim;

struct pl_schedule {
    pl_schedule_setup setup;
    int32_t cores_used, interactive_used;
    double memory_used;
    bool draining;
    pl_device devices[PL_SCHEDULE_DEVICES];
    int32_t device_count;
    double device_held[PL_SCHEDULE_DEVICES];          /* reserved at this decision */
    const pl_job *device_holder[PL_SCHEDULE_DEVICES]; /* the job that it is reserved for */
    pl_accounts users, persons, groups;               /* users: each in one group */
    pl_rank *ranks;                                   /* [ranked_capacity] */
    pl_account **ranked; /* [ranked_count] users with waiting jobs, least key first */
    size_t ranked_count, ranked_capacity;
    pl_job_list aside, running, order;
    size_t waiting, express, preemptible; /* express: waiting jobs with priority above 0 */
    int64_t newest, oldest;               /* orders given */
    double mean_length;
    pl_job *reserved[RESERVATIONS]; /* overtaken jobs, longest first */
    size_t reserved_count;
    pl_claim claims[RESERVATIONS]; /* of those, at the last decision */
    size_t claim_count;
    size_t read; /* waiting jobs read as a whole in the last decision */
    pl_profile profile;
};

/* lists */
bool pl_job_list_reserve(pl_job_list *list, size_t more);
void pl_job_list_append(pl_job_list *list, pl_job *job); /* reserved; sets job->at */
void pl_job_list_drop(pl_job_list *list, pl_job *job);   /* order is lost */
/* Add to and remove from the user's queue, ordered by priority and order. */
void pl_schedule_enqueue(pl_schedule *s, pl_job *job);
void pl_schedule_dequeue(pl_schedule *s, pl_job *job);
/* A waiting job was overtaken, or others are stopped for it. */
void pl_schedule_mark(pl_job *job);

/* accounts.c */
pl_account *pl_accounts_find(const pl_accounts *accounts, const char *name);
pl_account *pl_accounts_get(pl_accounts *accounts, const char *name);
/* A user in a group ("": none), created if unknown; NULL: out of memory. */
pl_account *pl_schedule_seat(pl_schedule *s, const char *user, const char *group);
void pl_accounts_clear(pl_accounts *accounts);
double pl_account_used(const pl_schedule *s, const pl_account *account, double now);
/* Apply the beginning or end of a job to its user, in this group and across groups, and to the group. */
void pl_account_change(const pl_schedule *s, pl_account *user, int64_t running, int64_t cores,
                       int64_t gpus, double now);
/* Compute the keys of all users with waiting jobs, and sort these users by key. */
void pl_schedule_rank(pl_schedule *s, double now);
/* A job's weight in cores: a GPU counts as its share of the machine. */
double pl_job_weight(const pl_schedule *s, int64_t cores, int64_t gpus);

/* profile.c */
/* The present state: free cores and memory, and when running jobs are expected to end. */
void pl_profile_begin(pl_schedule *s, double now);
/* Continue as if that running job had ended now. */
void pl_profile_release(pl_schedule *s, const pl_job *job, double now);
void pl_profile_clear(pl_profile *p);
/* True if it fits with so many cores for its whole length, from now on. */
bool pl_job_fits(const pl_schedule *s, const pl_job *job, int32_t cores);
double pl_job_earliest(const pl_schedule *s, const pl_job *job); /* start; INFINITY: never */
void pl_job_reserve(pl_schedule *s, const pl_job *job, double from, double until);
double pl_job_length(const pl_schedule *s, const pl_job *job); /* known, or the mean */
double pl_length_or_mean(const pl_schedule *s, double length); /* the same; 0: unknown */
double pl_job_expected_end(const pl_schedule *s, const pl_job *job, double now);

/* fit.c: what a job lacks, given its limits and the machine's present state */
pl_wait pl_schedule_limit(const pl_schedule *s, const pl_job *job); /* PL_WAIT_NONE: within them */
pl_wait pl_schedule_lack(const pl_schedule *s, const pl_job *job);
int32_t pl_schedule_free_cores(const pl_schedule *s, const pl_job *job);
/* The device with the most room for it, respecting reservations; -1: none, or it needs none. */
int32_t pl_schedule_pick_device(const pl_schedule *s, const pl_job *job);

/* True if all limits except those on cores allow it to run. */
bool pl_schedule_may_run(const pl_job *job);
/* True if a running job yields to `job` without a minimum run time. */
bool pl_job_yields_at_once(const pl_job *victim, const pl_job *job);
/* True if it would take room freed for another job, and be stopped again at once. */
bool pl_schedule_gives_way(const pl_schedule *s, const pl_job *job);
/* Removes the claim of a job that no longer waits. */
void pl_schedule_drop_claim(pl_schedule *s, const pl_job *job);

/* elastic.c */
/* Cores beyond its least that a job has and was not told to give back. */
int32_t pl_job_excess(const pl_job *job);
/* Cores that it was told to give back and still has. */
int32_t pl_job_leaving(const pl_job *job);
bool pl_schedule_any_excess(const pl_schedule *s);
/* The next job whose cores change; its `wanted` is the new number. Reservations are those of the last decision. NULL:
 * none. */
pl_job *pl_schedule_resize(pl_schedule *s, double now);

/* books.c */
void pl_schedule_begin(pl_schedule *s, pl_job *job, int32_t cores, int32_t device, bool beside,
                       double gpu_charge, double now);
/* A running job has so many cores from now on. */
void pl_schedule_give(pl_schedule *s, pl_job *job, int32_t cores, double now);

#endif
