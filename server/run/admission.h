/* admission.h - from a posted scene to a session: decode, look up its meshes, let a sandboxed
 * child check it, publish its directory, commit, answer. Nothing of a refused scene stays.
 */
#ifndef PLIANT_SERVER_RUN_ADMISSION_H
#define PLIANT_SERVER_RUN_ADMISSION_H

#include "protocol/log/session_dir.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"

void pl_handle_create(pl_request *r);   /* POST /v1/sessions; PL_RUN_CHECKS_DETACHED */
void pl_handle_validate(pl_request *r); /* POST /v1/validate */

/* A session that begins where another one was (branch.h): as pl_handle_create, of this scene. */
typedef struct pl_branch pl_branch;
void pl_admission_branch(pl_request *r, const pl_branch *branch);

/* Check again a session that an earlier daemon left in `checking`. */
void pl_admission_resume(pl_daemon *daemon, pl_session *session);

/* Bytes that a session's worker may use: what the scene asks for, else four times the estimate and
 * 1 GiB; 0 while there is no estimate yet. */
double pl_admission_memory_limit(double asked, double estimate);
/* Bytes of a GPU's memory that are kept for a session; 0: it runs on the CPU. */
double pl_admission_gpu_memory(const pl_preflight *report);

#endif
