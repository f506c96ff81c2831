#include "server/run/branch.h"

#include "protocol/scene/branch_json.h"
#include "protocol/log/checkpoint.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params.h"
#include "server/sessions/access.h"
#include "server/sessions/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory ---- */

static int open_session(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool pl_branch_stage(const pl_branch *b, int dir_fd)
{
    int from = open_session(b->session), to = -1, state_fd = b->daemon->state_fd;
    const pl_branch_point *o = &b->branch_point;
    bool good = from >= 0 && mkdirat(dir_fd, "parent", 0700) == 0;
    to = good ? openat(dir_fd, "parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    good = to >= 0 && pl_branch_point_link_meshes(from, to) &&
           pl_file_replace(to, "scene.json", b->before, b->before_size, false) == PL_OK &&
           pl_file_replace(to, "start.json", o->start, strlen(o->start), false) == PL_OK &&
           (!o->pin[0] || linkat(state_fd, o->pin, to, pl_checkpoint_name(0), 0) == 0) &&
           pl_branch_point_link_parents(from, to, PL_ORIGIN_DEPTH_MAX - 1) && fsync(to) == 0;
    int error = errno;
    if (to >= 0) {
        close(to);
    }
    if (from >= 0) {
        close(from);
    }
    errno = error;
    return good;
}

/* ---- the request ---- */

static bool reply_refused(pl_request *r, pl_decode_outcome outcome, const pl_faults *faults)
{
    if (outcome == PL_DECODE_SYNTAX) {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", faults);
    } else if (outcome == PL_DECODE_INVALID) {
        pl_reply_problem(r, 422, "invalid_branch", "There can be no such branch",
                         "every fault that was found is listed", faults);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    return false;
}

/* Who may only look at the session does not get its webhook by branching it. */
static bool hide(pl_branch *b)
{
    char *shown = pl_notes_scene_shown(b->before, b->before_size, &b->before_size);
    free(b->before);
    b->before = shown;
    return shown;
}

static bool prepare(pl_request *r, pl_branch *b)
{
    bool manages = pl_sessions_access(pl_request_daemon(r)->sessions, pl_request_principal(r),
                                      b->session) >= PL_ACCESS_MANAGE;
    size_t length;
    const char *body = pl_request_body(r, &length);
    int dir_fd = open_session(b->session);
    bool read = dir_fd >= 0 &&
                pl_file_read(dir_fd, "scene.json", PL_SCENE_BYTES_MAX, &b->before,
                             &b->before_size) == PL_OK &&
                (manages || hide(b));
    bool good = read;
    if (!read) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "scene.json can not be read", NULL);
    } else {
        pl_faults faults = {0};
        pl_branch_request q;
        pl_decode_outcome outcome = pl_branch_decode(body, length, b->before, b->before_size, &q,
                                                     &faults);
        b->scene = q.scene;
        if (outcome != PL_DECODE_OK) {
            good = reply_refused(r, outcome, &faults);
        } else if (q.snapshot) {
            good = pl_snapshot_find(r, dir_fd, q.snapshot, &b->branch_point);
        } else {
            good = pl_branch_point_find(r, b->session, dir_fd, q.frame, &b->branch_point);
        }
        free(q.snapshot);
        pl_faults_clear(&faults);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return good;
}

void pl_handle_branch(pl_request *r)
{
    pl_branch b = {.session = pl_request_session(r, PL_ACCESS_VIEW),
                   .daemon = pl_request_daemon(r)};
    if (b.session && prepare(r, &b)) {
        pl_admission_branch(r, &b);
    } else {
        pl_request_finish(r);
    }
    free(b.scene);
    free(b.before);
    pl_branch_point_clear(b.daemon, &b.branch_point);
    if (b.session) {
        pl_session_release(b.session);
    }
}
