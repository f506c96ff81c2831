/* start_warnings.h - warnings about starts that users rarely intend: bodies inside obstacles, of an unusual size, or so
 * fast that they move many times the thickness of an obstacle in a step. */
#ifndef PLIANT_SERVER_WORKER_START_WARNINGS_H
#define PLIANT_SERVER_WORKER_START_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append the warnings to `out`. meshes [body_count], before their transform. For bodies with an `initial` shape
 * only speed and size are checked. PL_OK or PL_NO_MEMORY. */
pl_status pl_start_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
