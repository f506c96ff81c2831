/* overlap_warnings.h - warnings about bodies that overlap at the start, that start closer than contact allows, or that
 * may meet later without contact between them. */
#ifndef PLIANT_SERVER_WORKER_OVERLAP_WARNINGS_H
#define PLIANT_SERVER_WORKER_OVERLAP_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append a warning for each such pair, except for attached pairs and pairs that the scene's contact.pairs exempts from
 * touching. meshes [body_count], before their transform. Bodies with an `initial` shape are skipped. PL_OK or
 * PL_NO_MEMORY. */
pl_status pl_overlap_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
