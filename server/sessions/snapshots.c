#include "server/sessions/snapshots.h"

#include "protocol/text/json.h"
#include "protocol/log/snapshot.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/tenants/auth.h"
#include "server/http/body.h"
#include "server/http/principal.h"
#include "server/sessions/quota.h"
#include "server/sessions/session_view.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Held while a folder of snapshots changes; nothing else is taken under it. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static int open_session(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void close_session(int dir_fd)
{
    if (dir_fd >= 0) {
        close(dir_fd);
    }
}

/* ---- replies ---- */

static void put_snapshot(pl_json_writer *w, const pl_snapshot *s, const char *session)
{
    char created[32];
    pl_time_view(s->created, created);
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", s->name);
    pl_json_set_string(w, "session", session);
    pl_json_set_integer(w, "frame", s->frame);
    if (s->checkpoint >= 0) {
        pl_json_set_integer(w, "checkpoint", s->checkpoint);
    } else {
        pl_json_set_null(w, "checkpoint");
    }
    pl_json_set_integer(w, "bytes", s->bytes);
    pl_json_set_string(w, "class", s->numerics);
    pl_json_set_string(w, "created", created);
    pl_json_end_object(w);
}

static void reply_one(pl_request *r, int status, const pl_snapshot *s, const char *session)
{
    pl_json_writer w = {0};
    put_snapshot(&w, s, session);
    pl_reply_json(r, status, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
    if (status == 201) {
        pl_reply_header(r, "Location", "/v1/sessions/%s/snapshots/%s", session, s->name);
    }
}

static void reply_missing(pl_request *r)
{
    pl_reply_problem(r, 404, "no_such_snapshot", "No such snapshot",
                     "the session has no snapshot of this name", NULL);
}

/* Read one by a name given by the client; false after replying. */
static bool read_one(pl_request *r, int dir_fd, const char *name, pl_snapshot *out)
{
    if (!pl_name_well_formed(name)) {
        reply_missing(r);
        return false;
    }
    pl_status status = pl_snapshot_read(dir_fd, name, out);
    if (status == PL_IO && errno == ENOENT) {
        reply_missing(r);
    } else if (status == PL_IO && errno == EBADMSG) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "the snapshot is damaged; it can be deleted",
                         NULL);
    } else if (status != PL_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the snapshot cannot be read", NULL);
    }
    return status == PL_OK;
}

/* ---- making one ---- */

static void reply_not_kept(pl_request *r, int error, const char *name)
{
    if (error == EEXIST) {
        pl_reply_problemf(r, 409, "exists", "Snapshot exists",
                          "the session already has a snapshot '%s'", name);
    } else if (error == EMFILE) {
        pl_reply_problemf(r, 403, "too_many", "Too many snapshots",
                          "the session has %d snapshots, the maximum", PL_SNAPSHOTS_MAX);
    } else if (!pl_reply_shortage(r, error)) {
        pl_reply_problemf(r, 500, "internal", "The snapshot could not be kept", "%s",
                          strerror(error));
    }
}

/* 0 or errno, EMFILE if there are too many. */
static int keep(int dir_fd, const pl_snapshot *s, const pl_branch_point *o)
{
    char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1];
    pthread_mutex_lock(&writing);
    bool room = pl_snapshot_names(dir_fd, true, names) < PL_SNAPSHOTS_MAX;
    errno = ENOMEM;
    pl_status status = room ? pl_snapshot_write(dir_fd, s, o->state_fd, o->pin) : PL_OK;
    int error = !room ? EMFILE : status != PL_OK ? errno : 0;
    pthread_mutex_unlock(&writing);
    return error;
}

static void make(pl_request *r, pl_session *s, int dir_fd, const char *name, int64_t frame)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_branch_point o;
    if (!pl_branch_point_find(r, d->state_fd, s, dir_fd, frame, &o)) {
        return;
    }
    const pl_checkpoint *c = &o.checkpoint;
    pl_snapshot made = {.frame = o.frame,
                        .checkpoint = c->frame,
                        .bytes = c->frame < 0 ? 0 : pl_checkpoint_file_size(c),
                        .created = time(NULL),
                        .start = o.start};
    snprintf(made.name, sizeof made.name, "%s", name);
    snprintf(made.numerics, sizeof made.numerics, "%s", c->numerics);
    if (pl_quota_allows_bytes(r, d->tenants, d->sessions, s->owner, made.bytes)) {
        int error = keep(dir_fd, &made, &o);
        atomic_store(&s->bytes_ms, 0); /* to be counted again */
        if (error) {
            reply_not_kept(r, error, name);
        } else {
            reply_one(r, 201, &made, s->id);
        }
    }
    pl_branch_point_clear(&o);
}

void pl_handle_snapshot_create(pl_request *r)
{
    static const char *const keys[] = {"name", "frame", NULL};
    pl_body b;
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (s && pl_body_open(r, keys, &b)) {
        int64_t frame = -1;
        const char *name = pl_body_string(&b, "name", PL_SNAPSHOT_NAME, true);
        pl_body_integer(&b, "frame", 0, INT64_MAX / 4, -2, &frame);
        if (name && !pl_name_well_formed(name)) {
            pl_body_fault(&b, "name", "invalid_name", name,
                          "at most 64 letters and digits; . _ - are allowed after the first", "");
        }
        if (pl_body_good(&b)) {
            int dir_fd = open_session(s);
            if (dir_fd >= 0) {
                make(r, s, dir_fd, name, frame);
            } else {
                reply_not_kept(r, errno, name);
            }
            close_session(dir_fd);
        }
        pl_body_close(&b);
    }
    pl_session_release(s);
}

/* ---- listing and removing ---- */

void pl_handle_snapshots(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1];
    pl_json_writer w = {0};
    int dir_fd = open_session(s), count = pl_snapshot_names(dir_fd, false, names);
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    for (int i = 0; i < count; i++) {
        pl_snapshot one;
        if (pl_snapshot_read(dir_fd, names[i], &one) == PL_OK) {
            put_snapshot(&w, &one, s->id);
            pl_snapshot_clear(&one);
        }
    }
    pl_json_end_array(&w);
    pl_json_set_null(&w, "next");
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
    close_session(dir_fd);
    pl_session_release(s);
}

void pl_handle_snapshot(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (s) {
        pl_snapshot one;
        int dir_fd = open_session(s);
        if (read_one(r, dir_fd, pl_request_param(r, 1), &one)) {
            reply_one(r, 200, &one, s->id);
            pl_snapshot_clear(&one);
        }
        close_session(dir_fd);
        pl_session_release(s);
    }
}

void pl_handle_snapshot_delete(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    const char *name = pl_request_param(r, 1);
    int dir_fd = open_session(s);
    pthread_mutex_lock(&writing);
    bool named = pl_name_well_formed(name);
    pl_status status = named ? pl_snapshot_remove(dir_fd, name) : PL_IO;
    int error = errno;
    pthread_mutex_unlock(&writing);
    atomic_store(&s->bytes_ms, 0);
    if (status == PL_OK) {
        pl_reply_empty(r, 204);
    } else if (!named || error == ENOENT) {
        reply_missing(r);
    } else {
        pl_reply_problemf(r, 500, "internal", "The snapshot was not removed", "%s",
                          strerror(error));
    }
    close_session(dir_fd);
    pl_session_release(s);
}

/* ---- branching ---- */

bool pl_snapshot_find(pl_request *r, int state_fd, int dir_fd, const char *name,
                      pl_branch_point *out)
{
    pl_snapshot s;
    char path[PL_SNAPSHOT_NAME + 20], id[33];
    *out = (pl_branch_point){.state_fd = state_fd, .checkpoint = {.frame = -1}};
    if (!read_one(r, dir_fd, name, &s)) {
        return false;
    }
    pl_snapshot_file(s.name, path);
    bool good = true;
    if (s.checkpoint >= 0) {
        good = pl_random_id(id) == 0;
        snprintf(out->pin, sizeof out->pin, "incoming/pin-%s", good ? id : "");
        good = good && linkat(dir_fd, path, state_fd, out->pin, 0) == 0;
        if (!good) {
            out->pin[0] = 0;
        }
        good = good && pl_checkpoint_peek_file(state_fd, out->pin, &out->checkpoint) == PL_OK &&
               out->checkpoint.frame == s.checkpoint;
    }
    out->frame = s.frame;
    out->begins = pl_branch_point_begins(dir_fd);
    out->start = s.start;
    s.start = NULL;
    pl_snapshot_clear(&s);
    if (!good) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "the snapshot's checkpoint is damaged",
                         NULL);
        pl_branch_point_clear(out);
    }
    return good;
}
