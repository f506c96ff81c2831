/* session_scene.h - a session directory's scene and meshes, as preflight and worker both read them:
 * scene.json decoded, then a mesh for each body and a surface for each obstacle, uploads from
 * meshes/HASH.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_SCENE_H
#define PLIANT_SERVER_WORKER_SESSION_SCENE_H

#include "engine/step/pliant.h"
#include "protocol/log/session_dir.h"

/* The largest files that are read. A scene carries at most 100 k mesh numbers, which fit well. */
#define PL_SCENE_FILE_MAX ((size_t)32 << 20)
#define PL_MESH_FILE_MAX  ((size_t)1 << 30)

/* What one body's mesh may hold, wherever it comes from. */
extern const pl_mesh_limits pl_worker_mesh_limits;

/* Zero-initialise; pl_session_scene_clear releases everything. */
typedef struct pl_session_scene {
    pl_scene scene;
    pl_file_sum sum; /* of scene.json's bytes; not known before they were read */
    pl_mesh *meshes; /* [scene.body_count], NULL before pl_session_scene_load */
} pl_session_scene;

/* Read and decode DIR/scene.json. PL_INVALID: the faults say why; PL_IO: errno. */
pl_status pl_session_scene_read(int directory, pl_session_scene *out, pl_faults *faults);

/* False where preflight.json tells of another scene.json than the one that was read: a bit of it
 * flipped, or somebody wrote to it, since it was accepted. */
bool pl_session_scene_accepted(int directory, const pl_session_scene *s);

/* Load every body's mesh and every obstacle's surface, checking that an upload is the file that its
 * hash names; goes on after a bad one so that all faults are found. PL_INVALID where any failed. */
pl_status pl_session_scene_load(int directory, pl_session_scene *s, pl_faults *faults);
/* The bodies' part of it. */
pl_status pl_session_scene_load_bodies(int directory, pl_session_scene *s, pl_faults *faults);
/* The obstacles' part of it, for another scene with the same bodies. */
pl_status pl_session_scene_load_obstacles(int directory, pl_scene *scene, pl_faults *faults);

/* Release the meshes only: a model keeps nothing of them. */
void pl_session_scene_free_meshes(pl_session_scene *s);
void pl_session_scene_clear(pl_session_scene *s);

#endif
