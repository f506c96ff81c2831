/* branch_point.h - what a frame of a session can be computed from once more: the newest checkpoint that is not after
 * it, else the session's beginning, and the controls that took effect on the way. Branches begin with one, and a
 * snapshot is one that is kept.
 */
#ifndef PLIANT_SERVER_SESSIONS_BRANCH_POINT_H
#define PLIANT_SERVER_SESSIONS_BRANCH_POINT_H

#include "protocol/log/checkpoint.h"
#include "server/http/http.h"
#include "server/sessions/session.h"

/* A branch of a branch of a branch ... brings along how each of them began, so many at most. */
enum { PL_ORIGIN_DEPTH_MAX = 8 };

typedef struct pl_branch_point {
    int64_t frame;
    int64_t begins;           /* frames of others before the session's own frame 0 */
    pl_checkpoint checkpoint; /* frame -1: none, from the beginning */
    int state_fd;             /* of the state directory, */
    char pin[64];             /* below which this is a link to it; "" for none */
    char *start;              /* start.json (server/worker/branch.h) */
} pl_branch_point;

/* Find it for a frame, -1 for the newest; s's directory is dir_fd. The checkpoint is linked below incoming/, so
 * that a worker which writes its next one takes nothing away. False after replying: 404 where there is no such
 * frame, 409 where what led to it is not known any more. */
bool pl_branch_point_find(pl_request *r, int state_fd, const pl_session *s, int dir_fd,
                          int64_t frame, pl_branch_point *out);
/* Release it, and its link. */
void pl_branch_point_clear(pl_branch_point *branch_point);

/* How many frames of others are before frame 0 of a directory's session: 0 unless it is a branch. */
int64_t pl_branch_point_begins(int dir_fd);
/* How the session of a directory began, where it began at another one's frame: `to`/parent is made of
 * `from`/parent, that of its own included, `depth` of them. False with errno. */
bool pl_branch_point_link_parents(int from, int to, int depth);
/* Link meshes/ of one directory into another. False with errno. */
bool pl_branch_point_link_meshes(int from, int to);

#endif
