/* branch_point.h - the data from which a frame of a session can be recomputed: the newest checkpoint not after it, or
 * the session's beginning, and the controls that took effect on the way. Branches begin with one; a snapshot is one
 * that is kept.
 */
#ifndef PLIANT_SERVER_SESSIONS_BRANCH_POINT_H
#define PLIANT_SERVER_SESSIONS_BRANCH_POINT_H

#include "protocol/log/checkpoint.h"
#include "server/http/http.h"
#include "server/sessions/session.h"

/* A branch of a branch ... includes the beginning of each ancestor; this is the most ancestors. */
enum { PL_ORIGIN_DEPTH_MAX = 8 };

typedef struct pl_branch_point {
    int64_t frame;
    int64_t begins;           /* frames of ancestors before the session's own frame 0 */
    pl_checkpoint checkpoint; /* frame -1: none; computed from the beginning */
    int state_fd;             /* of the state directory */
    char pin[64];             /* path below state_fd of a link to the checkpoint; "": none */
    char *start;              /* start.json (server/worker/branch.h) */
} pl_branch_point;

/* Find the branch point for a frame (-1: the newest); s's directory is dir_fd. The checkpoint is linked below
 * incoming/, so that it survives the worker's next checkpoints. False after replying: 404 if there is no such frame,
 * 409 if the way to it is no longer known. */
bool pl_branch_point_find(pl_request *r, int state_fd, const pl_session *s, int dir_fd,
                          int64_t frame, pl_branch_point *out);
/* Release it, and its link. */
void pl_branch_point_clear(pl_branch_point *branch_point);

/* Number of ancestors' frames before frame 0 of a directory's session; 0 unless it is a branch. */
int64_t pl_branch_point_begins(int dir_fd);
/* Link the ancestors of a session that began at another one's frame: create `to`/parent from `from`/parent, including
 * its own parents, `depth` of them. False with errno. */
bool pl_branch_point_link_parents(int from, int to, int depth);
/* Link meshes/ of one directory into another. False with errno. */
bool pl_branch_point_link_meshes(int from, int to);

#endif
