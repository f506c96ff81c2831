/* session_scene.h - a session directory's scene and meshes, read by both preflight and worker: scene.json decoded, then
 * a mesh for each body and a surface for each obstacle, uploads from meshes/HASH.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_SCENE_H
#define PLIANT_SERVER_WORKER_SESSION_SCENE_H

#include "engine/step/pliant.h"
#include "protocol/log/session_dir.h"

/* Largest size of a file. A scene has at most 100 k inline mesh numbers, which fit easily. */
#define PL_SCENE_FILE_MAX ((size_t)32 << 20)
#define PL_MESH_FILE_MAX  ((size_t)1 << 30)

/* Limits of one body's mesh, whatever its source. */
extern const pl_mesh_limits pl_worker_mesh_limits;

/* Zero-initialise; pl_session_scene_clear releases everything. */
typedef struct pl_session_scene {
    pl_scene scene;
    pl_file_sum sum; /* of scene.json's bytes; unset until they are read */
    pl_mesh *meshes; /* [scene.body_count], NULL before pl_session_scene_load */
} pl_session_scene;

/* Read and decode DIR/scene.json. PL_INVALID with faults; PL_IO with errno. */
pl_status pl_session_scene_read(int directory, pl_session_scene *out, pl_faults *faults);

/* False if preflight.json describes another scene.json than the one that was read: it was damaged or changed after it
 * was accepted. */
bool pl_session_scene_accepted(int directory, const pl_session_scene *s);

/* Load every body's mesh and every obstacle's surface, checking that an upload matches its hash; continues after an
 * error so that all faults are found. PL_INVALID if any failed. */
pl_status pl_session_scene_load(int directory, pl_session_scene *s, pl_faults *faults);
/* Load the bodies only. */
pl_status pl_session_scene_load_bodies(int directory, pl_session_scene *s, pl_faults *faults);
/* Load the obstacles only, for another scene with the same bodies. */
pl_status pl_session_scene_load_obstacles(int directory, pl_scene *scene, pl_faults *faults);

/* Release the meshes only: a model keeps no reference to them. */
void pl_session_scene_free_meshes(pl_session_scene *s);
void pl_session_scene_clear(pl_session_scene *s);

#endif
