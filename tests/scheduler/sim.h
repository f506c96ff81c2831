/* sim.h - a machine that does not exist: simulated days of sessions under a scheduler, by events, with no clock. After
 * each event the properties of checks.c are looked at, by the simulator's own books and not the scheduler's.
 */
#ifndef PLIANT_TESTS_SCHEDULER_SIM_H
#define PLIANT_TESTS_SCHEDULER_SIM_H

#include "server/schedule/schedule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_USERS = 24, SIM_GROUPS = 4, SIM_DEVICES = 4 };

typedef enum sim_policy {
    SIM_FAIR, /* ours */
    SIM_FIRST_COME,
    SIM_BACKFILL /* first come, first served with one reservation (EASY) */
} sim_policy;

typedef enum sim_state {
    SIM_TO_COME,
    SIM_WAITING,
    SIM_RUNNING,
    SIM_ENDED,
    SIM_CANCELLED
} sim_state;

typedef struct sim_job {
    /* what it is */
    double arrives, work; /* s; work in core-seconds, to be done completely */
    double estimate;      /* s on its fewest cores, as its owner estimates; 0: no estimate */
    double memory, gpu_memory;
    double cancelled_at, held_until; /* s after its arrival; 0: never */
    double crash_at;                 /* core-seconds into it; 0: it does not crash */
    int32_t user, cores_least, cores_most;
    int64_t priority;
    int64_t after; /* index of a job before it; -1: none */
    bool preemptible, interactive;
    /* what became of it */
    sim_state state;
    pl_job *job;        /* the scheduler's, while it waits or runs */
    double done, spent; /* core-seconds: kept, and spent */
    double since, started, first_start, ended;
    double behind_own; /* the last time that a job of its user with a higher priority waited */
    double promised;   /* its first estimated start; < 0: none */
    int32_t cores, device, version;
    int32_t told;   /* cores that it was told to have and does not have yet; 0: none */
    double answers; /* s that it takes to give back cores: a frame */
    bool stopping, rigid;
    int preemptions, crashes;
} sim_job;

typedef struct sim_setup {
    sim_policy policy;
    int32_t cores, interactive_cores, devices, users, groups;
    double memory, device_memory, half_life, patience;
    double share[SIM_USERS];  /* 0: 1 */
    pl_account_limits limits; /* of each user; zeros: none */
    bool device_faults;
    bool promises; /* ask for an estimate as each job arrives */
    double until;  /* s; 0: until all have ended */
} sim_setup;

typedef struct sim_result {
    char fault[256]; /* the first property that did not hold; "": all did */
    double end, used[SIM_USERS], utilisation;
    double longest_overtaken; /* s that a job waited after it was first overtaken */
    size_t events, starts, preemptions, gpu_preemptions, grown, shrunk;
} sim_result;

/* Jobs in order of arrival; their outcomes are written into them. */
sim_result sim_run(const sim_setup *setup, sim_job *jobs, size_t count);

/* ---- the inside, for checks.c and baselines.c ---- */

typedef struct sim_event {
    double time;
    int kind;
    int64_t job;
    int32_t version;
} sim_event;

typedef struct sim {
    sim_setup setup;
    sim_job *jobs;
    size_t count;
    pl_schedule *schedule;
    double now;
    int64_t *waiting, *running; /* indices */
    size_t waiting_count, running_count;
    int32_t cores_used;
    double memory_used, device_used[SIM_DEVICES];
    bool device_up[SIM_DEVICES];
    sim_event *heap;
    size_t heap_count, heap_capacity;
    double longest, longest_believed; /* job's length, and estimate, so far met, s */
    sim_result result;
} sim;

void sim_fault(sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_check_start(sim *s, const sim_job *started);
void sim_check_preempt(sim *s, const sim_job *victim);
void sim_check_resize(sim *s, const sim_job *resized, int32_t cores);
void sim_check_all(sim *s);
/* The next job that a baseline starts; -1: none. */
int64_t sim_baseline_next(const sim *s);

/* ---- workloads ---- */

/* Deterministic: the same numbers of the same seed on every machine. */
typedef struct sim_random {
    uint64_t state;
} sim_random;
double sim_uniform(sim_random *r); /* [0, 1) */

/* `count` jobs over `days`, with everything that a job can have; malloc'ed. */
sim_job *sim_workload(uint64_t seed, const sim_setup *setup, size_t count, double days);
/* Many jobs of all users, all there from the start: the machine is never idle. */
sim_job *sim_saturation(uint64_t seed, const sim_setup *setup, size_t count);
/* A trace in the Standard Workload Format (version 2.2): jobs of the fields 2 (submitted), 4 (run time), 5 and 8
 * (processors), 9 (requested time), 10 (memory, KB a processor), 12 (user). malloc'ed; NULL with `fault` if it cannot
 * be read. */
sim_job *sim_read_swf(const char *path, int32_t cores, size_t *count, char fault[160]);

#endif
