/* run_warnings.h - counts the questionable frames of a run, from the metrics that go into the log, and stores the
 * counts in warnings.json.
 */
#ifndef PLIANT_SERVER_WORKER_RUN_WARNINGS_H
#define PLIANT_SERVER_WORKER_RUN_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/metrics.h"
#include "engine/scene/scene.h"
#include "protocol/log/log.h"
#include "protocol/log/warnings.h"

/* The numbers of one frame that are counted. */
typedef struct pl_frame_signs {
    int64_t frame, unconverged, inverted, control;
    double energy, kinetic; /* J */
    double depth;           /* m, the deepest penetration */
    int32_t obstacle;       /* index of its obstacle, -1: none */
} pl_frame_signs;

typedef struct pl_run_warnings {
    int directory;
    const pl_scene *scene;
    double size; /* m, of the smallest body */
    bool closed; /* only gravity does work on the bodies */
    pl_run_totals totals;
    pl_frame_signs begun; /* of the frame that is not yet committed */
    bool changed;         /* a count has changed since the last write */
    double written;       /* time of the last write, s, monotonic */
    double cost;          /* duration of the last write, s */
} pl_run_warnings;

/* meshes [body_count], before their transform. scene and directory are borrowed. PL_OK or PL_NO_MEMORY. */
pl_status pl_run_warnings_init(pl_run_warnings *w, int directory, const pl_scene *scene,
                               const pl_mesh *meshes);
/* Continue the counts of an earlier attempt: read warnings.json, then count later frames up to `last` from the
 * log's metrics, or all frames if the file is missing or damaged. Unreadable frames are skipped. PL_OK or
 * PL_NO_MEMORY. */
pl_status pl_run_warnings_resume(pl_run_warnings *w, pl_log_reader *log, int64_t last);
/* Take the metrics of a frame that is not committed yet. */
void pl_run_warnings_begin(pl_run_warnings *w, const pl_metrics *metrics);
/* Count that frame: it is committed. */
void pl_run_warnings_commit(pl_run_warnings *w);
/* True if counts changed and a write is due: writes happen at most once a second, and take at most 1 % of the time. */
bool pl_run_warnings_due(const pl_run_warnings *w);
/* Write warnings.json. PL_OK, PL_NO_MEMORY, or PL_IO with errno. */
pl_status pl_run_warnings_keep(pl_run_warnings *w);

#endif
