/* start_warnings.h - how a scene begins that users do not mean: bodies within obstacles, of an odd size, or so
 * fast that a step takes them through something thin. */
#ifndef PLIANT_SERVER_WORKER_START_WARNINGS_H
#define PLIANT_SERVER_WORKER_START_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append each to `out`. meshes [body_count], as they are before their transform. Bodies with a shape of their
 * own in `initial` are looked at for their speed and size alone. PL_OK or PL_NO_MEMORY. */
pl_status pl_start_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
