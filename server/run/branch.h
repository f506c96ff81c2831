/* branch.h - POST /v1/sessions/{id}/branch: a session of its own that begins where another one was at a
 * frame, with an edited scene. What the worker needs to come to that frame once more is put into
 * DIR/parent (server/worker/branch.h), so that the two have nothing in common afterwards.
 */
#ifndef PLIANT_SERVER_RUN_BRANCH_H
#define PLIANT_SERVER_RUN_BRANCH_H

#include "server/sessions/sessions.h"
#include "server/sessions/branch_point.h"

typedef struct pl_branch {
    pl_session *session;          /* the other one */
    pl_branch_point branch_point; /* where it begins */
    char *scene;                  /* the edited one */
    char *before;                 /* the other's */
    size_t before_size;
} pl_branch;

/* Fill DIR/parent of the session that is being made; false with errno. */
bool pl_branch_stage(const pl_branch *branch, int dir_fd);

#endif
