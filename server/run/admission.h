/* admission.h - from a posted scene to a session: decode, find its meshes, check it in a sandboxed child, publish its
 * directory, commit, reply. A rejected scene leaves nothing behind.
 */
#ifndef PLIANT_SERVER_RUN_ADMISSION_H
#define PLIANT_SERVER_RUN_ADMISSION_H

#include "server/http/http.h"
#include "server/run/branch.h"

void pl_handle_create(pl_request *r); /* POST /v1/sessions; PL_RUN_CHECKS */

/* Admit a session that begins at another session's frame (branch.h): as pl_handle_create, with this branch's scene. */
void pl_admission_branch(pl_request *r, const pl_branch *branch);

/* Admit a session for the scene in the request's body without waiting for its check: replies 201 with the session in
 * `checking`, or an error as pl_handle_create does. `group`: NULL: none. `id` becomes the session's id, or "". */
void pl_admission_unchecked(pl_request *r, const char *group, char id[33]);

/* has_room of pl_http_policy. True with an Idempotency-Key, whose reply may be stored. */
bool pl_admission_has_room(pl_request *r, const pl_route *route, int64_t ahead);

#endif
