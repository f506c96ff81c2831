/* resolve.h - parts of the layout: the targets of a scene's forces, and whether statics has a solution. Private to
 * engine/model. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_RESOLVE_H
#define PLIANT_ENGINE_MODEL_BUILD_RESOLVE_H

#include "engine/model/build/layout.h"

/* Writes the vertices of point loads to out->forces; checks that pressure has a closed surface. */
pl_status pl_resolve_forces(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                            pl_faults *faults);

/* Checks that every connected piece of a body is held along every axis; otherwise faults at /bodies/K. */
pl_status pl_check_statics(const pl_scene *scene, const pl_layout *layout, pl_faults *faults);

#endif
