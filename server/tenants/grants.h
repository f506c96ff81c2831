/* grants.h - the stored meshes and their holders. A grant is created only by a complete PUT of the file's bytes by its
 * holder: a user, or with ?group= also a group ("@NAME" in the table), whose members share it while they are members.
 */
#ifndef PLIANT_SERVER_TENANTS_GRANTS_H
#define PLIANT_SERVER_TENANTS_GRANTS_H

#include "server/store/store.h"

/* True if the user holds the mesh, directly or through a group. */
bool pl_grant_held(pl_store *store, const char *user, const char *hash);
/* Add a mesh and its owner's grant, or with a NULL owner the mesh alone. This and the other changes wait for the
 * commit; false if it failed. */
bool pl_grant_add(pl_store *store, const char *owner, const char *hash, int64_t bytes,
                  const char *report);
/* Grant a group a mesh that its member has uploaded. */
bool pl_grant_to_group(pl_store *store, const char *group, const char *hash);
/* Remove a grant from a user, or (with a NULL user) from a group; a mesh without holders is removed at the next sweep
 * unless a session uses it. Returns the number of grants removed, 0 or 1; -1 if the database failed. */
int pl_grant_remove(pl_store *store, const char *user, const char *group, const char *hash);
/* Bytes of the meshes that a user has uploaded; -1 if the database failed. */
int64_t pl_grant_bytes(pl_store *store, const char *user);

void pl_mesh_use(pl_store *store, const char *hash); /* record that it is used now; does not wait */
/* Call `forget` for meshes not used for a day; returns how often it returned true. */
int pl_meshes_each_stale(pl_store *store, bool (*forget)(void *context, const char *hash),
                         void *context);
/* Remove a mesh and its grants; false if it was used within a day. */
bool pl_mesh_forget(pl_store *store, const char *hash);

#endif
