/* overlap_warnings.h - bodies that begin in one another, or whose ways cross: they do not feel each other. */
#ifndef PLIANT_SERVER_WORKER_OVERLAP_WARNINGS_H
#define PLIANT_SERVER_WORKER_OVERLAP_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append one for each such pair. meshes [body_count], before their transform. Bodies with a shape of their own
 * in `initial` are not looked at. PL_OK or PL_NO_MEMORY. */
pl_status pl_overlap_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
