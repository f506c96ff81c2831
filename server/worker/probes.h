/* probes.h - the values of output.probes for each frame: from the state and its measurements, in double precision
 * regardless of the stored precision.
 */
#ifndef PLIANT_SERVER_WORKER_PROBES_H
#define PLIANT_SERVER_WORKER_PROBES_H

#include "server/worker/session_scene.h"

typedef struct pl_probes {
    const pl_scene *scene; /* borrowed */
    int32_t count;
    int64_t **vertex;      /* [count]: indices in the model if the probe uses vertices; else NULL */
    int64_t *vertex_count; /* [count] */
    double **first;        /* [count][vertex_count][3]: positions in frame 0, for displacements */
    const char **names;    /* [count] */
    double *values;        /* [count], as last measured */
} pl_probes;

/* For a scene with loaded meshes, and a state at frame 0. PL_INVALID with faults if a selection has no match. The
 * caller clears the probes, also after an error. */
pl_status pl_probes_init(pl_probes *p, const pl_session_scene *s, const pl_state *state,
                         pl_faults *faults);
void pl_probes_clear(pl_probes *p);

/* Measure the state and add the values to its metrics. */
void pl_probes_measure(pl_probes *p, const pl_state *state, pl_metrics *metrics);

#endif
