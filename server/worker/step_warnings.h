/* step_warnings.h - warnings about bodies that meet obstacles and are too stiff for the scene's method at its time
 * step. */
#ifndef PLIANT_SERVER_WORKER_STEP_WARNINGS_H
#define PLIANT_SERVER_WORKER_STEP_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append the warnings to `out`. meshes [body_count], before their transform. PL_OK or PL_NO_MEMORY. */
pl_status pl_step_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
