/* meshes.h - uploaded mesh files: STATE/meshes/xx/HASH, named by their content. Knowing a hash gives no access: only a
 * user who has uploaded the whole file may read it or name it in a scene.
 */
#ifndef PLIANT_SERVER_API_MESHES_H
#define PLIANT_SERVER_API_MESHES_H

#include "server/http/http.h"
#include "server/store/store.h"

/* Writes the body of a PUT to a temporary file and hashes it meanwhile. */
extern const pl_sink pl_mesh_sink;
void pl_handle_mesh_put(pl_request *r); /* PL_RUN_CHECKS */
void pl_handle_mesh_get(pl_request *r); /* PL_RUN_FILES; HEAD too */

/* Remove meshes that were not used for a day and that no session refers to. */
void pl_meshes_sweep(pl_store *store, int state_fd);

#endif
