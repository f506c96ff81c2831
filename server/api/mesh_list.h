/* mesh_list.h - lists the meshes that the caller holds, and releases one. */
#ifndef PLIANT_SERVER_API_MESH_LIST_H
#define PLIANT_SERVER_API_MESH_LIST_H

#include "server/http/http.h"

void pl_handle_meshes(pl_request *r);      /* PL_RUN_FILES */
void pl_handle_mesh_delete(pl_request *r); /* PL_RUN_FILES */

#endif
