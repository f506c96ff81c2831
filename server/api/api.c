#include "server/api/api.h"

#include "protocol/log/log.h"
#include "protocol/scene/notes.h"
#include "protocol/text/problem.h"
#include "protocol/log/session_file.h"
#include "server/base/daemon.h"
#include "server/base/disk.h"
#include "server/sessions/access.h"
#include "server/run/lifecycle.h"
#include "server/api/patch.h"
#include "server/sessions/removal.h"
#include "server/sessions/sessions.h"
#include "server/streams/stream_hub.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- list ---- */

static bool take_labels(pl_request *r, pl_label_filter *out)
{
    const char *text = pl_request_query(r, "label");
    if (!text || pl_label_filter_parse(text, out)) {
        return true;
    }
    pl_faults faults = {0};
    pl_faults_add(&faults, "/query/label", "bad_query_value", text,
                  "key=value or key, at most 8, joined by commas", "");
    pl_reply_problem(r, 400, "bad_query", "Bad query", "a query value is invalid", &faults);
    pl_faults_clear(&faults);
    return false;
}

void pl_handle_list(pl_request *r)
{
    pl_list_query q = {
        .principal = pl_request_principal(r), .name = pl_request_query(r, "name"), .state = -1};
    const char *state = pl_request_query(r, "state");
    pl_session_state parsed;
    if (state && !pl_state_parse(state, &parsed)) {
        const char *names[PL_STATE_COUNT];
        for (int i = 0; i < PL_STATE_COUNT; i++) {
            names[i] = pl_state_name((pl_session_state)i);
        }
        const char *near = pl_nearest(state, names, PL_STATE_COUNT);
        pl_reply_problemf(r, 400, "bad_query", "Bad query", "'%.60s' is not a state%s%s%s", state,
                          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return;
    }
    q.state = state ? (int)parsed : -1;
    q.whose = pl_request_query(r, "owner");
    if (!take_labels(r, &q.labels)) {
        return;
    }
    if (pl_request_integer(r, "limit", 1, 500, 50, &q.limit) &&
        pl_request_integer(r, "cursor", 0, INT64_MAX, INT64_MAX, &q.before)) {
        pl_reply_json(r, 200, pl_sessions_list(pl_request_daemon(r)->sessions, &q));
        pl_reply_header(r, "Cache-Control", "no-store");
    }
    pl_label_filter_clear(&q.labels);
}

/* ---- show, and wait ---- */

typedef struct waiting {
    pl_watcher watcher;
    pl_ticker ticker;
    pl_request *request;
    pl_stream_hub *streams;
    pl_session *session;
    int state; /* when it began to wait */
    int64_t frame;
    int64_t deadline_ms;
    pthread_mutex_t mutex;
    bool resumed; /* under the mutex: a request is resumed once */
} waiting;

static void resume_once(waiting *w)
{
    pthread_mutex_lock(&w->mutex);
    if (!w->resumed) {
        w->resumed = true;
        pl_request_finish(w->request);
    }
    pthread_mutex_unlock(&w->mutex);
}

static void session_changed(pl_watcher *watcher)
{
    waiting *w = (waiting *)((char *)watcher - offsetof(waiting, watcher));
    if (w->session->state != w->state || w->session->frame != w->frame || w->session->deleted) {
        resume_once(w);
    }
}

static void time_passed(pl_ticker *ticker, int64_t now_ms)
{
    waiting *w = (waiting *)((char *)ticker - offsetof(waiting, ticker));
    if (now_ms >= w->deadline_ms || atomic_load(&w->streams->stopping)) {
        resume_once(w);
    }
}

static void waiting_release(void *context)
{
    waiting *w = context;
    pl_session_unwatch(w->session, &w->watcher);
    pl_tickers_delist(w->streams->tickers, &w->ticker);
    pl_session_release(w->session);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

static bool begin_waiting(pl_request *r, pl_session *s, int64_t seconds)
{
    waiting *w = calloc(1, sizeof *w);
    if (!w) {
        return false;
    }
    *w = (waiting){.watcher.wake = session_changed,
                   .ticker.tick = time_passed,
                   .request = r,
                   .streams = pl_request_daemon(r)->streams,
                   .session = s,
                   .state = s->state,
                   .frame = s->frame,
                   .deadline_ms = pl_monotonic_ms() + 1000 * seconds};
    pthread_mutex_init(&w->mutex, NULL);
    pl_session_acquire(s);
    pl_request_attach(r, w, waiting_release);
    pl_request_park(r);
    pl_session_watch(s, &w->watcher);
    pl_tickers_enlist(w->streams->tickers, &w->ticker);
    session_changed(&w->watcher); /* it may have changed before the watcher was added */
    return true;
}

void pl_handle_show(pl_request *r)
{
    int64_t seconds;
    if (!pl_request_integer(r, "wait", 0, 60, 0, &seconds)) {
        return;
    }
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    bool wait = seconds > 0 && !pl_request_attached(r) &&
                !pl_state_terminal((pl_session_state)s->state) &&
                !atomic_load(&pl_request_daemon(r)->draining);
    if (!wait || !begin_waiting(r, s, seconds)) {
        pl_reply_session(r, 200, s);
    }
    pl_session_release(s);
}

/* ---- cancel, pause, resume and delete ---- */

static void reply_untold(pl_request *r, int error)
{
    if (!pl_reply_shortage(r, error)) {
        pl_reply_problemf(r, 500, "internal", "The worker could not be notified", "control.log: %s",
                          strerror(error));
    }
}

void pl_handle_cancel(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_daemon *d = pl_request_daemon(r);
    int error = pl_lifecycle_cancel(d->sessions, d->executor, s);
    if (error && error != EALREADY) {
        reply_untold(r, error);
    } else {
        pl_reply_session(r, 202, s);
    }
    pl_session_release(s);
}

static void handle_wish(pl_request *r, int (*ask)(pl_sessions *, pl_executor *, pl_session *),
                        const char *verb)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_daemon *d = pl_request_daemon(r);
    int error = ask(d->sessions, d->executor, s);
    if (error == EALREADY) {
        pl_reply_session_over(r, s, verb);
    } else if (error) {
        reply_untold(r, error);
    } else {
        pl_reply_session(r, 202, s);
    }
    pl_session_release(s);
}

void pl_handle_pause(pl_request *r)
{
    handle_wish(r, pl_lifecycle_pause, "paused");
}

void pl_handle_resume(pl_request *r)
{
    handle_wish(r, pl_lifecycle_resume, "resumed");
}

void pl_handle_delete(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_sessions_set_desired(d->sessions, s, "deleted");
    int error = pl_lifecycle_cancel(d->sessions, d->executor, s);
    if (error && error != EALREADY) {
        reply_untold(r, error);
    } else if (!pl_state_terminal((pl_session_state)s->state)) {
        pl_reply_session(r, 202, s); /* removed after the worker has ended */
    } else if (pl_removal_run(d->sessions, s)) {
        pl_reply_empty(r, 204);
    } else if (!pl_reply_shortage(r, pl_disk_error(d->disk))) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the database rejected the change",
                         NULL);
    }
    pl_session_release(s);
}

/* ---- files of the directory ---- */

static void reply_not_yet(pl_request *r, const pl_session *s, const char *what)
{
    if (pl_state_terminal((pl_session_state)s->state)) {
        pl_reply_problemf(r, 404, "no_such_file", "Not found", "this session has no %s", what);
    } else {
        pl_reply_problemf(r, 404, "not_yet", "Not yet", "this session has no %s yet; it is %s",
                          what, pl_state_name((pl_session_state)s->state));
        pl_reply_header(r, "Retry-After", "1");
    }
}

/* True if an open file has the bytes that preflight.json records. */
static bool is_intact(const pl_session *s, const char *name, int fd)
{
    pl_file_sum sum;
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool intact = dir_fd < 0 || (pl_file_sum_read(fd, &sum) == PL_OK &&
                                 pl_session_file_fits(dir_fd, pl_session_file_named(name), &sum));
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return intact;
}

/* Open a file of the session's directory, or -1 after replying. `final`: it never changes once it exists, and is served
 * under this tag. */
static int open_session_file(pl_request *r, const pl_session *s, const char *name, bool final,
                             const char *tag, size_t *size)
{
    char path[PATH_MAX + 80];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", s->directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        reply_not_yet(r, s, name);
    } else if (final && pl_reply_unchanged(r, "%s-%s", s->id, tag)) {
        /* replied */
    } else if (final && !is_intact(s, name, fd)) {
        pl_reply_problemf(
            r, 500, "damaged", "Damaged",
            "%s is damaged: its checksum does not match; the session's other files are unaffected",
            name);
    } else {
        *size = (size_t)st.st_size;
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static void reply_session_file(pl_request *r, const char *name, const char *type, bool final)
{
    size_t size;
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    int fd = s ? open_session_file(r, s, name, final, name, &size) : -1;
    if (fd >= 0) {
        if (!final) {
            pl_reply_header(r, "Cache-Control", "no-store");
        }
        pl_reply_file(r, type, fd, 0, size, NULL, 0);
    }
    if (s) {
        pl_session_release(s);
    }
}

void pl_handle_topology(pl_request *r)
{
    const char *array = pl_request_query(r, "array");
    if (!array) {
        reply_session_file(r, "topology.json", "application/json", true);
    } else if (strcmp(array, "triangles") == 0) {
        reply_session_file(r, "triangles.npy", "application/x-npy", true);
    } else if (strcmp(array, "tets") == 0) {
        reply_session_file(r, "tets.npy", "application/x-npy", true);
    } else if (strcmp(array, "surface") == 0) {
        reply_session_file(r, "surface.npy", "application/x-npy", true);
    } else {
        pl_reply_problem(r, 400, "bad_query", "Bad query", "array is triangles, tets or surface",
                         NULL);
    }
}

/* The scene as posted, without its webhook. */
static void reply_shown_scene(pl_request *r, const pl_session *s)
{
    size_t size, got = 0;
    int fd = open_session_file(r, s, "scene.json", true, "scene.json-shown", &size);
    if (fd < 0) {
        return;
    }
    char *text = malloc(size + 1), *shown = NULL;
    for (ssize_t n = 1; text && n > 0 && got<size; got += n> 0 ? (size_t)n : 0) {
        n = pread(fd, text + got, size - got, (off_t)got);
    }
    close(fd);
    if (text && got == size) {
        shown = pl_notes_scene_shown(text, size, &size);
    }
    free(text);
    pl_reply_text(r, 200, "application/json", shown, size);
}

static void reply_scene(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    if (pl_sessions_access(pl_request_daemon(r)->sessions, pl_request_principal(r), s) <
        PL_ACCESS_MANAGE) {
        reply_shown_scene(r, s);
    } else {
        reply_session_file(r, "scene.json", "application/json", true);
    }
    pl_session_release(s);
}

void pl_handle_scene(pl_request *r)
{
    const char *form = pl_request_query(r, "form");
    if (!form || strcmp(form, "posted") == 0) {
        reply_scene(r);
    } else if (strcmp(form, "effective") == 0) {
        reply_session_file(r, "effective.json", "application/json", true);
    } else {
        pl_reply_problem(r, 400, "bad_query", "Bad query", "form is posted or effective", NULL);
    }
}

void pl_handle_log(pl_request *r)
{
    reply_session_file(r, "worker.log", "text/plain; charset=utf-8", false);
}
