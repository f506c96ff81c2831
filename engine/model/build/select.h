/* select.h - the vertices of a placed body that a selection names. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_SELECT_H
#define PLIANT_ENGINE_MODEL_BUILD_SELECT_H

#include "engine/scene/fault.h"
#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"

/* The vertices of `mesh`, placed at x [vertex_count][3] at rest, that `s` names: *out is malloc'ed, ascending,
 * *count long. A selection that matches nothing, an index out of range or a tag that the mesh lacks is a fault at
 * `pointer`. */
pl_status pl_select_vertices(const pl_selection *s, const pl_mesh *mesh, const double *x,
                             const char *pointer, int32_t **out, int64_t *count, pl_faults *faults);

#endif
