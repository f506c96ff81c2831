/* pace.h - the wall clock of a run at real time. Frame k is begun when it is due, one frame's simulated time after
 * frame k - 1 was due, so that nothing is shown ahead of the clock. If a frame is begun later than its own duration,
 * all following frames are shifted: lost time is not caught up, so a delayed run does not race.
 */
#ifndef PLIANT_SERVER_WORKER_PACE_H
#define PLIANT_SERVER_WORKER_PACE_H

#include "engine/step/pliant.h"

typedef struct pl_pace_keeper {
    bool on;
    double frame; /* s from one frame to the next */
    double due;   /* of the next frame, on pl_worker_clock; 0: none yet */
    double behind;
    double since, simulated; /* start of measuring the rate: wall and simulated time, s */
    double rate;             /* NaN: unknown */
} pl_pace_keeper;

void pl_pace_init(pl_pace_keeper *p, const pl_scene *scene);
/* Wait until the next frame, after simulated time `time`, is due; false as soon as `stop` says so, which is asked every
 * 20 ms. Recomputed frames need no waiting. */
bool pl_pace_wait(pl_pace_keeper *p, double time, pl_stop stop, void *context);
/* Put the rate and delay into the metrics. */
void pl_pace_measure(const pl_pace_keeper *p, pl_metrics *metrics);

#endif
