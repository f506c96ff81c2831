#include "server/run/branch_request.h"

#include "protocol/log/session_dir.h"
#include "protocol/scene/branch_json.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params.h"
#include "server/base/daemon.h"
#include "server/run/admission.h"
#include "server/sessions/access.h"
#include "server/sessions/snapshots.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool reply_refused(pl_request *r, pl_decode_outcome outcome, const pl_faults *faults)
{
    if (outcome == PL_DECODE_SYNTAX) {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", faults);
    } else if (outcome == PL_DECODE_INVALID) {
        pl_reply_problem(r, 422, "invalid_branch", "Branch not possible",
                         "every fault found is listed", faults);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    return false;
}

/* Users with view access to a session must not get its webhook by branching it. */
static bool hide(pl_branch *b)
{
    char *shown = pl_notes_scene_shown(b->before, b->before_size, &b->before_size);
    free(b->before);
    b->before = shown;
    return shown;
}

static bool prepare(pl_request *r, pl_branch *b)
{
    pl_daemon *d = pl_request_daemon(r);
    bool manages = pl_sessions_access(d->sessions, pl_request_principal(r), b->session) >=
                   PL_ACCESS_MANAGE;
    size_t length;
    const char *body = pl_request_body(r, &length);
    int dir_fd = open(b->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool read = dir_fd >= 0 &&
                pl_file_read(dir_fd, "scene.json", PL_SCENE_BYTES_MAX, &b->before,
                             &b->before_size) == PL_OK &&
                (manages || hide(b));
    bool good = read;
    if (!read) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "scene.json cannot be read", NULL);
    } else {
        pl_faults faults = {0};
        pl_branch_request q;
        pl_decode_outcome outcome = pl_branch_decode(body, length, b->before, b->before_size, &q,
                                                     &faults);
        b->scene = q.scene;
        if (outcome != PL_DECODE_OK) {
            good = reply_refused(r, outcome, &faults);
        } else if (q.snapshot) {
            good = pl_snapshot_find(r, d->state_fd, dir_fd, q.snapshot, &b->branch_point);
        } else {
            good = pl_branch_point_find(r, d->state_fd, b->session, dir_fd, q.frame,
                                        &b->branch_point);
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
    pl_branch b = {.session = pl_request_session(r, PL_ACCESS_VIEW)};
    if (b.session && prepare(r, &b)) {
        pl_admission_branch(r, &b);
    }
    free(b.scene);
    free(b.before);
    pl_branch_point_clear(&b.branch_point);
    if (b.session) {
        pl_session_release(b.session);
    }
}
