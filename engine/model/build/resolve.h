/* resolve.h - parts of the layout: what a scene's forces act on, and whether statics has an answer.
 * Private to engine/model. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_RESOLVE_H
#define PLIANT_ENGINE_MODEL_BUILD_RESOLVE_H

#include "engine/model/build/layout.h"

/* The vertices of point loads into out->forces; pressure needs a closed surface. */
pl_status pl_resolve_forces(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                            pl_faults *faults);

/* Every connected piece of a body is held along every axis; else faults at /bodies/K. */
pl_status pl_check_statics(const pl_scene *scene, const pl_layout *layout, pl_faults *faults);

#endif
