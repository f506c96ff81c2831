/* mesh_warnings.h - warnings about bodies that bend too stiffly: too few linear tetrahedra, or a Poisson's ratio at
 * which these lock. */
#ifndef PLIANT_SERVER_WORKER_MESH_WARNINGS_H
#define PLIANT_SERVER_WORKER_MESH_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append a warning for each such body, with the predicted stiffness. meshes [body_count], before their
 * transform. PL_OK or PL_NO_MEMORY. */
pl_status pl_mesh_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
