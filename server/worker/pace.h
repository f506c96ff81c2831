/* pace.h - the wall clock of a run at real time: frame k is begun when it is due, a frame's simulated time
 * after frame k - 1 was, so that nothing is shown ahead of the clock. A frame that is begun more than its
 * own time late moves all that follow: what is lost is not caught up, a run that was held up does not race.
 */
#ifndef PLIANT_SERVER_WORKER_PACE_H
#define PLIANT_SERVER_WORKER_PACE_H

#include "engine/step/pliant.h"

typedef struct pl_pace_keeper {
    bool on;
    double frame; /* s from one frame to the next */
    double due;   /* of the frame that comes next, on pl_worker_clock; 0: none yet */
    double behind;
    double since, simulated; /* the rate is measured from here: wall and simulated time, s */
    double rate;             /* NaN: not known yet */
} pl_pace_keeper;

void pl_pace_init(pl_pace_keeper *p, const pl_scene *scene);
/* Wait until the next frame, after simulated time `time`, is due; false as soon as `stop` says so, which
 * is asked each 20 ms. Frames that are computed again need not be waited for. */
bool pl_pace_wait(pl_pace_keeper *p, double time, pl_stop stop, void *context);
/* What metrics tell of it. */
void pl_pace_measure(const pl_pace_keeper *p, pl_metrics *metrics);

#endif
