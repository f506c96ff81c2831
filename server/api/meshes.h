/* meshes.h - uploaded mesh files: STATE/meshes/xx/HASH, named by their content. A hash is no
 * capability: only who has sent the whole file may read it or name it in a scene.
 */
#ifndef PLIANT_SERVER_API_MESHES_H
#define PLIANT_SERVER_API_MESHES_H

#include "server/http/http.h"
#include "server/store/store.h"

/* The body of a PUT goes to a temporary file while it is hashed. */
extern const pl_sink pl_mesh_sink;
void pl_handle_mesh_put(pl_request *r); /* PL_RUN_CHECKS */
void pl_handle_mesh_get(pl_request *r); /* PL_RUN_FILES; HEAD too */

/* Remove meshes that nobody used for a day and no session refers to. */
void pl_meshes_sweep(pl_store *store, int state_fd);

#endif
