/* profile.h - what a run's frames spent on each phase, and how far more threads could shorten them. Plain numbers: the
 * engine's phases (backends/profile.h) and the worker fill them, protocol/ writes them.
 *
 * Frames are computed on one and on two threads in turns, in the order 1 2 2 1, so that a load that grows or shrinks
 * over the run falls on both alike. The number of threads changes no bit.
 *
 * The work of a phase is counted in operations, and so is its longest share: what the busiest of p threads does, as the
 * program divides the work, and the longest chain of operations that wait for each other, for any number of threads. A
 * loop over n equal chunks with work w has a longest share of w ceil(n / p) / n and a chain of w / n; a serial part
 * counts in full. So a phase takes at least longest / work of its time on one thread.
 */
#ifndef PLIANT_ENGINE_SCENE_PROFILE_H
#define PLIANT_ENGINE_SCENE_PROFILE_H

#include <stdint.h>

/* How the longest share of a phase is known. COUNTED: above. SERIAL: it runs on one thread. MEASURED: it has threads
 * whose work is not counted; Amdahl's law, with the serial part that explains its times on one and two threads. */
#define PL_EACH_PROFILE_PHASE(X)                                                                   \
    X(DETECTION, detection, MEASURED)                                                              \
    X(ASSEMBLY, assembly, COUNTED)                                                                 \
    X(FACTOR, factor, SERIAL)                                                                      \
    X(LOCAL_STEP, local_step, COUNTED)                                                             \
    X(CONTACT_PROX, contact_prox, COUNTED)                                                         \
    X(ACCELERATION, acceleration, COUNTED)                                                         \
    X(GATHER, gather, COUNTED)                                                                     \
    X(GLOBAL_SOLVE, global_solve, COUNTED)                                                         \
    X(LINE_SEARCH, line_search, COUNTED)                                                           \
    X(HISTORY, history, COUNTED)                                                                   \
    X(PRECONDITIONER, preconditioner, COUNTED)                                                     \
    X(VECTORS, vectors, COUNTED)                                                                   \
    X(SUMS, sums, COUNTED)                                                                         \
    X(OBJECTIVE, objective, COUNTED)                                                               \
    X(MEASURES, measures, COUNTED)                                                                 \
    X(OTHER, other, SERIAL)                                                                        \
    X(OUTPUT, output, SERIAL)

typedef enum pl_profile_phase {
#define PL_PHASE(kind, name, counting) PL_PROFILE_##kind,
    PL_EACH_PROFILE_PHASE(PL_PHASE)
#undef PL_PHASE
        PL_PROFILE_PHASES
} pl_profile_phase;

typedef enum pl_profile_counting {
    PL_PROFILE_COUNTED,
    PL_PROFILE_SERIAL,
    PL_PROFILE_MEASURED
} pl_profile_counting;

/* Numbers of threads: measured on 1 and 2, bounded for 2, 4, ... 64 and, last, for any number. */
enum { PL_PROFILE_TEAMS = 2, PL_PROFILE_WIDTHS = 7, PL_PROFILE_CHAIN = PL_PROFILE_WIDTHS - 1 };

typedef struct pl_profile_row {
    int64_t calls;
    double seconds[PL_PROFILE_TEAMS]; /* of whole frames */
    double current;                   /* s, in the current frame */
    double work;                      /* operations */
    double
        longest[PL_PROFILE_WIDTHS]; /* operations of the busiest thread; last: the longest chain */
    pl_profile_counting counting;
} pl_profile_row;

typedef struct pl_profile {
    int64_t frames[PL_PROFILE_TEAMS]; /* computed on 1 and on 2 threads */
    double seconds[PL_PROFILE_TEAMS]; /* of these frames */
    double setup;                     /* s, for the model and its factor */
    pl_profile_row row[PL_PROFILE_PHASES];
    int32_t threads; /* of the current frame, 1 or 2 */
    int32_t depth;   /* phases that are running inside each other */
    double own;      /* s, spent on counting in the current frame */
} pl_profile;

/* All zero, with each phase's counting. */
void pl_profile_init(pl_profile *p);

/* "local_step", ... */
const char *pl_profile_phase_name(pl_profile_phase phase);
/* "counted", "serial", "measured" */
const char *pl_profile_counting_name(pl_profile_counting counting);
/* 2, 4, ... 64; 0 for any number. */
int32_t pl_profile_threads(int32_t width);

/* Threads of frame number `frame` of the run, which begins at 0: 1 2 2 1 1 2 2 1 ... */
int32_t pl_profile_team(int64_t frame);
/* Ends a frame that took `seconds` in all, `output` of them after its step: what no phase accounts for is OTHER. */
void pl_profile_end_frame(pl_profile *p, double seconds, double output);

/* Adds a loop of `chunks` equal chunks to a phase's counts, on at most `most` threads. */
void pl_profile_loop(pl_profile_row *row, double work, int64_t chunks, int64_t most);
static inline void pl_profile_serial(pl_profile_row *row, double work)
{
    pl_profile_loop(row, work, 1, 1);
}

/* Seconds per frame on `threads` (1 or 2); NaN if no frame was computed so. */
double pl_profile_seconds(const pl_profile *p, pl_profile_phase phase, int32_t threads);
/* Least share of its time on one thread that a phase needs; 1 at most. */
double pl_profile_share(const pl_profile *p, pl_profile_phase phase, int32_t width);
/* The most that the whole frame can gain: the sum of the phases' seconds on one thread over that of their shares. */
double pl_profile_speedup(const pl_profile *p, int32_t width);

#endif
