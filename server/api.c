#include "server/api.h"

#include "protocol/log.h"
#include "protocol/problem.h"
#include "protocol/session_file.h"
#include "server/access.h"
#include "server/lifecycle.h"
#include "server/patch.h"
#include "server/removal.h"
#include "server/sessions.h"
#include "server/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void reply_session(pl_request *r, int status, pl_session *s)
{
    pl_daemon *d = pl_request_daemon(r);
    /* The revision first: a document that is newer than its tag costs a client one more read, the
     * other way round it would lose a change. */
    int64_t revision = s->revision;
    pl_reply_json(r, status, pl_sessions_encode(d->sessions, s));
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_revision(r, revision);
}

/* ---- list --------------------------------------------------------------------------------------
 */

static bool take_labels(pl_request *r, pl_label_filter *out)
{
    const char *text = pl_request_query(r, "label");
    if (!text || pl_label_filter_parse(text, out)) {
        return true;
    }
    pl_faults faults = {0};
    pl_faults_add(&faults, "/query/label", "bad_query_value", text,
                  "key=value or key, at most 8 of them joined by commas", "");
    pl_reply_problem(r, 400, "bad_query", "Bad query", "a query value can not be used", &faults);
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
        pl_reply_problemf(r, 400, "bad_query", "Bad query", "'%.60s' is no state%s%s%s", state,
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

/* ---- show, and wait ----------------------------------------------------------------------------
 */

typedef struct waiting {
    pl_watcher watcher;
    pl_ticker ticker;
    pl_request *request;
    pl_daemon *daemon;
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
    if (now_ms >= w->deadline_ms || atomic_load(&w->daemon->streams->stopping)) {
        resume_once(w);
    }
}

static void waiting_release(void *context)
{
    waiting *w = context;
    pl_session_unwatch(w->session, &w->watcher);
    pl_streams_delist(w->daemon->streams, &w->ticker);
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
                   .daemon = pl_request_daemon(r),
                   .session = s,
                   .state = s->state,
                   .frame = s->frame,
                   .deadline_ms = pl_monotonic_ms() + 1000 * seconds};
    pthread_mutex_init(&w->mutex, NULL);
    pl_session_acquire(s);
    pl_request_attach(r, w, waiting_release);
    pl_request_park(r);
    pl_session_watch(s, &w->watcher);
    pl_streams_enlist(w->daemon->streams, &w->ticker);
    session_changed(&w->watcher); /* it may have changed before it was watched */
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
        reply_session(r, 200, s);
    }
    pl_session_release(s);
}

/* ---- cancel, pause, resume and delete ----------------------------------------------------------
 */

static void reply_untold(pl_request *r, int error)
{
    pl_reply_problemf(r, 500, "internal", "The worker could not be told", "control.log: %s",
                      strerror(error));
}

void pl_handle_cancel(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    int error = pl_lifecycle_cancel(pl_request_daemon(r), s);
    if (error && error != EALREADY) {
        reply_untold(r, error);
    } else {
        reply_session(r, 202, s);
    }
    pl_session_release(s);
}

static void reply_over(pl_request *r, pl_session *s, const char *verb)
{
    pl_session_state state = (pl_session_state)atomic_load(&s->state);
    if (pl_state_terminal(state)) {
        pl_reply_problemf(r, 409, "session_over", "The session is over",
                          "it is %s: only a session that has not ended can be %s",
                          pl_state_name(state), verb);
    } else {
        pl_reply_problemf(r, 409, "session_ending", "The session is ending",
                          "it is being cancelled or deleted and can not be %s", verb);
    }
}

static void handle_wish(pl_request *r, int (*ask)(pl_daemon *, pl_session *), const char *verb)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    int error = ask(pl_request_daemon(r), s);
    if (error == EALREADY) {
        reply_over(r, s, verb);
    } else if (error) {
        reply_untold(r, error);
    } else {
        reply_session(r, 202, s);
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
    int error = pl_lifecycle_cancel(d, s);
    if (error && error != EALREADY) {
        reply_untold(r, error);
    } else if (!pl_state_terminal((pl_session_state)s->state)) {
        reply_session(r, 202, s); /* removed when the worker has ended */
    } else if (pl_removal_run(d, s)) {
        pl_reply_empty(r, 204);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error", "the database refused", NULL);
    }
    pl_session_release(s);
}

/* ---- files of the directory --------------------------------------------------------------------
 */

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

/* Whether an open file has the bytes that preflight.json vouches for. */
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

/* A file of the session's directory; `final` where it never changes once it is there. */
static void reply_session_file(pl_request *r, const char *name, const char *type, bool final)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    char path[PATH_MAX + 80];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", s->directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        reply_not_yet(r, s, name);
    } else if (final && pl_reply_unchanged(r, "%s-%s", s->id, name)) {
        close(fd);
    } else if (final && !is_intact(s, name, fd)) {
        close(fd);
        pl_reply_problemf(r, 500, "damaged", "Damaged",
                          "%s is not as it was written: its checksum is another; the session's "
                          "other files are not concerned",
                          name);
    } else {
        if (!final) {
            pl_reply_header(r, "Cache-Control", "no-store");
        }
        pl_reply_file(r, type, fd, 0, (uint64_t)st.st_size, NULL, 0);
    }
    pl_session_release(s);
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
    } else {
        pl_reply_problem(r, 400, "bad_query", "Bad query", "array is triangles or tets", NULL);
    }
}

void pl_handle_scene(pl_request *r)
{
    const char *form = pl_request_query(r, "form");
    if (!form || strcmp(form, "posted") == 0) {
        reply_session_file(r, "scene.json", "application/json", true);
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

/* ---- one frame ---------------------------------------------------------------------------------
 */

/* An NPY 1.0 header of float32 (n, 3); the whole is a multiple of 64. Returns its size. */
static size_t npy_header(uint64_t count, char out[128])
{
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = snprintf(out + 10, 118,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu, 3), }",
                     (unsigned long long)count);
    out[10 + n] = ' ';
    out[127] = '\n';
    return 128;
}

/* Positions in double, made single. */
static void reply_narrowed(pl_request *r, const char *values, uint64_t count)
{
    char header[128];
    size_t head = npy_header(count, header), size = head + count * 3 * sizeof(float);
    char *text = malloc(size);
    if (text) {
        memcpy(text, header, head);
        for (uint64_t i = 0; i < 3 * count; i++) {
            double wide;
            memcpy(&wide, values + i * sizeof wide, sizeof wide);
            float narrow = (float)wide;
            memcpy(text + head + i * sizeof narrow, &narrow, sizeof narrow);
        }
    }
    pl_reply_text(r, 200, "application/x-npy", text, size);
}

static void reply_npy(pl_request *r, pl_log_reader *reader, int64_t k, const pl_log_range *range)
{
    char *payload = NULL;
    uint64_t length = 0;
    pl_frame_header h;
    /* Read whole for its CRC: an npy file carries none for the client to check. */
    pl_log_verdict verdict = pl_log_read(reader, k, PL_LOG_FRAME, &payload, &length);
    if (verdict != PL_LOG_OK || !pl_frame_header_decode((unsigned char *)payload, length, &h) ||
        length < PL_FRAME_HEADER + h.count * 3 * (h.dtype == PL_DTYPE_F64 ? 8 : 4)) {
        free(payload);
        pl_reply_problemf(r, 500, "corrupt", "Damaged frame",
                          "frame %lld is damaged on disk; the others can be read", (long long)k);
        return;
    }
    pl_reply_header(r, "Pliant-Time", "%.17g", h.time);
    if (h.dtype == PL_DTYPE_F64) {
        reply_narrowed(r, payload + PL_FRAME_HEADER, h.count);
    } else {
        char header[128];
        size_t size = npy_header(h.count, header);
        pl_log_range again;
        int fd = pl_log_find(reader, k, PL_LOG_FRAME, &again) == PL_LOG_OK
                     ? fcntl(again.fd, F_DUPFD_CLOEXEC, 3)
                     : -1;
        if (fd >= 0) {
            pl_reply_file(r, "application/x-npy", fd,
                          again.offset + PL_RECORD_HEADER + PL_FRAME_HEADER, h.count * 12, header,
                          size);
        } else {
            pl_reply_empty(r, 503);
        }
    }
    free(payload);
}

static void reply_frame(pl_request *r, pl_session *s, pl_log_reader *reader, int64_t k, int form)
{
    pl_log_range range;
    pl_log_verdict verdict = pl_log_find(reader, k, PL_LOG_FRAME, &range);
    if (verdict != PL_LOG_OK) {
        pl_reply_problemf(r, 500, "corrupt", "Damaged frame",
                          "frame %lld can not be read; the others can", (long long)k);
        return;
    }
    pl_reply_header(r, "Pliant-Frame", "%lld", (long long)k);
    bool latest = strcmp(pl_request_param(r, 1), "latest") == 0;
    if (latest) {
        pl_reply_header(r, "Cache-Control", "no-store");
    } else if (pl_reply_unchanged(r, "%s-%lld-%s", s->id, (long long)k, form ? "npy" : "record")) {
        return;
    }
    pl_reply_header(r, "Vary", "Accept");
    if (form == 1) {
        reply_npy(r, reader, k, &range);
        return;
    }
    int fd = fcntl(range.fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        pl_reply_empty(r, 503);
        return;
    }
    pl_reply_file(r, "application/vnd.pliant.frames", fd, range.offset, range.size, NULL, 0);
}

/* The number asked for, or -1 after replying. */
static int64_t parse_frame(pl_request *r, const pl_session *s, int64_t committed)
{
    const char *text = pl_request_param(r, 1);
    int64_t k = committed - 1;
    if (strcmp(text, "latest") != 0) {
        if (strlen(text) > 18 || strspn(text, "0123456789") != strlen(text)) {
            pl_reply_problem(r, 400, "bad_frame", "Bad frame",
                             "a frame is a number from 0, or latest", NULL);
            return -1;
        }
        k = strtoll(text, NULL, 10);
    }
    if (k < 0 || k >= committed) {
        bool never = k > s->frames || pl_state_terminal((pl_session_state)s->state);
        pl_reply_problemf(r, 404, never ? "no_such_frame" : "not_yet",
                          never ? "No such frame" : "Not yet",
                          "frames 0 to %lld are there; the last will be %lld",
                          (long long)(committed - 1), (long long)s->frames);
        return -1;
    }
    return k;
}

void pl_handle_frame(pl_request *r)
{
    static const char *const types[] = {"application/vnd.pliant.frames", "application/x-npy", NULL};
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    int form = pl_request_accept(r, types);
    int dir_fd = form < 0 ? -1 : open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_log_reader *reader = NULL;
    if (dir_fd >= 0 && pl_log_reader_open(dir_fd, &reader) == PL_OK) {
        int64_t k = parse_frame(r, s, pl_log_reader_refresh(reader));
        if (k >= 0) {
            reply_frame(r, s, reader, k, form);
        }
        pl_log_reader_close(reader);
    } else if (form >= 0) {
        pl_reply_problem(r, 410, "storage_lost", "Gone", "the session's log can not be opened",
                         NULL);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    pl_session_release(s);
}
