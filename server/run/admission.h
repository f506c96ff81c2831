/* admission.h - from a posted scene to a session: decode, look up its meshes, let a sandboxed
 * child check it, publish its directory, commit, answer. Nothing of a refused scene stays.
 */
#ifndef PLIANT_SERVER_RUN_ADMISSION_H
#define PLIANT_SERVER_RUN_ADMISSION_H

#include "server/http/http.h"
#include "server/run/branch.h"

void pl_handle_create(pl_request *r); /* POST /v1/sessions; PL_RUN_CHECKS */

/* A session that begins where another one was (branch.h): as pl_handle_create, of this scene. */
void pl_admission_branch(pl_request *r, const pl_branch *branch);

/* A session of the scene in the request's body, without waiting for its check: replies 201 with it in `checking`, or as
 * pl_handle_create. `group`: NULL: none. The session's id, or "". */
void pl_admission_unchecked(pl_request *r, const char *group, char id[33]);

/* A pl_http_policy's has_room. True with an Idempotency-Key, whose reply may be kept. */
bool pl_admission_has_room(pl_request *r, const pl_route *route, int64_t ahead);

#endif
