/* probes.h - the numbers that output.probes asks for, of each frame: from the state and from what was
 * measured of it, in double precision whatever is stored.
 */
#ifndef PLIANT_SERVER_WORKER_PROBES_H
#define PLIANT_SERVER_WORKER_PROBES_H

#include "server/worker/session_scene.h"

typedef struct pl_probes {
    const pl_scene *scene; /* borrowed */
    int32_t count;
    int64_t **vertex;      /* [count]: of the model, where it looks at vertices; else NULL */
    int64_t *vertex_count; /* [count] */
    double **first;        /* [count][vertex_count][3]: places in frame 0, of displacements */
    const char **names;    /* [count] */
    double *values;        /* [count], of the last measuring */
} pl_probes;

/* Of a scene whose meshes are there, with a state of frame 0. PL_INVALID with
 * faults where a selection matches nothing. What was made is the probes', whatever comes of it. */
pl_status pl_probes_init(pl_probes *p, const pl_session_scene *s, const pl_state *state,
                         pl_faults *faults);
void pl_probes_clear(pl_probes *p);

/* Measure the state, and let the metrics, which are of it, tell. */
void pl_probes_measure(pl_probes *p, const pl_state *state, pl_metrics *metrics);

#endif
