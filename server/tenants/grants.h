/* grants.h - the meshes that are stored, and whose they are. A grant comes only from a complete PUT of the file's bytes by its holder: a user, or
 * with ?group= also a group ("@NAME" in the table), whose members hold it with them while they are members.
 */
#ifndef PLIANT_SERVER_TENANTS_GRANTS_H
#define PLIANT_SERVER_TENANTS_GRANTS_H

#include "server/store/store.h"

/* Whether the user holds the mesh, by themselves or through a group. */
bool pl_grant_held(pl_store *store, const char *user, const char *hash);
/* A mesh and its owner's grant, or with a NULL owner the mesh alone. This and the others that change something
 * wait for the commit; false where it failed. */
bool pl_grant_add(pl_store *store, const char *owner, const char *hash, int64_t bytes,
                  const char *report);
/* Give a group what its member has uploaded. */
bool pl_grant_to_group(pl_store *store, const char *group, const char *hash);
/* Take the mesh from a user, or (with a NULL user) from a group; one that nobody holds any more goes at the next
 * sweep, but for the sessions that have it. How many grants there were, 0 or 1; -1 where the database failed. */
int pl_grant_remove(pl_store *store, const char *user, const char *group, const char *hash);
/* Bytes of the meshes that a user has uploaded; -1 where the database failed. */
int64_t pl_grant_bytes(pl_store *store, const char *user);

void pl_mesh_use(pl_store *store, const char *hash); /* it is used now; not waited for */
/* Call `forget` for meshes not used for a day; returns how often that was true. */
int pl_meshes_each_stale(pl_store *store, bool (*forget)(void *context, const char *hash),
                         void *context);
/* Remove a mesh and its grants; false where it was used within a day. */
bool pl_mesh_forget(pl_store *store, const char *hash);

#endif
