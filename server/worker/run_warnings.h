/* run_warnings.h - what a run's frames show that a user should know before trusting them: counted frame by frame
 * from the metrics as they go into the log, and kept in warnings.json.
 */
#ifndef PLIANT_SERVER_WORKER_RUN_WARNINGS_H
#define PLIANT_SERVER_WORKER_RUN_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/metrics.h"
#include "engine/scene/scene.h"
#include "protocol/log/log.h"
#include "protocol/log/warnings.h"

/* What is counted of a frame. */
typedef struct pl_frame_signs {
    int64_t frame, unconverged, inverted, control;
    double energy, kinetic; /* J */
    double depth;           /* m, the deepest */
    int32_t obstacle;       /* in which, -1: none */
} pl_frame_signs;

typedef struct pl_run_warnings {
    int directory;
    const pl_scene *scene;
    double size; /* m, of the smallest body */
    bool closed; /* nothing does work on the bodies but gravity */
    pl_run_totals totals;
    pl_frame_signs begun; /* of the frame that is not yet committed */
    bool changed;         /* a count has, since it was written */
    double written;       /* s, when, monotonic; and what that took */
    double cost;
} pl_run_warnings;

/* meshes [body_count], before their transform. scene and directory are borrowed. */
void pl_run_warnings_init(pl_run_warnings *w, int directory, const pl_scene *scene,
                          const pl_mesh *meshes);
/* Go on where an earlier attempt left off: by warnings.json, and by the log's metrics of what it does not count
 * yet, up to frame `last`. PL_OK, PL_NO_MEMORY; what can not be read is not counted. */
pl_status pl_run_warnings_resume(pl_run_warnings *w, pl_log_reader *log, int64_t last);
/* A frame's metrics, before it is committed. */
void pl_run_warnings_begin(pl_run_warnings *w, const pl_metrics *metrics);
/* It is. */
void pl_run_warnings_commit(pl_run_warnings *w);
/* Whether there is news, and it is time for it: writing takes a hundredth of a run at most. */
bool pl_run_warnings_due(const pl_run_warnings *w);
/* Into warnings.json. PL_OK, PL_NO_MEMORY, PL_IO with errno. */
pl_status pl_run_warnings_keep(pl_run_warnings *w);

#endif
