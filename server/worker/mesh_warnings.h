/* mesh_warnings.h - bodies whose linear tetrahedra are too few, or too incompressible, to bend as they should. */
#ifndef PLIANT_SERVER_WORKER_MESH_WARNINGS_H
#define PLIANT_SERVER_WORKER_MESH_WARNINGS_H

#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"
#include "protocol/log/warnings.h"

/* Append one for each such body, with the stiffness that is predicted. meshes [body_count], before their
 * transform. PL_OK or PL_NO_MEMORY. */
pl_status pl_mesh_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out);

#endif
