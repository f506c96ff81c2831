/* branch.h - POST /v1/sessions/{id}/branch: a new session that begins at a frame of another one, with an edited scene.
 * DIR/parent gets the files that the worker needs to recompute that frame (server/worker/branch.h), so that the two
 * sessions are independent afterwards.
 */
#ifndef PLIANT_SERVER_RUN_BRANCH_H
#define PLIANT_SERVER_RUN_BRANCH_H

#include "server/sessions/sessions.h"
#include "server/sessions/branch_point.h"

typedef struct pl_branch {
    pl_session *session;          /* the parent session */
    pl_branch_point branch_point; /* frame where it begins */
    char *scene;                  /* the edited scene */
    char *before;                 /* the parent's scene */
    size_t before_size;
} pl_branch;

/* Fill DIR/parent of the new session; false with errno. */
bool pl_branch_stage(const pl_branch *branch, int dir_fd);

#endif
