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

/* A pl_http_policy's has_room. True with an Idempotency-Key, whose reply may be kept. */
bool pl_admission_has_room(pl_request *r, const pl_route *route, int64_t ahead);

#endif
