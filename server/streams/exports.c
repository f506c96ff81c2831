#include "server/streams/exports.h"

#include "protocol/export/export.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/streams/export_ask.h"
#include "server/streams/frame.h"
#include "server/http/pipe.h"
#include "server/base/logger.h"
#include "server/streams/stream_hub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_S = 5 };

/* One download, held by its thread and by its reply's source. */
typedef struct download {
    pl_ticker ticker; /* of the source, like the watcher */
    pl_watcher watcher;
    pl_stream_hub *hub;
    pl_exports *exports;
    pl_request *request; /* until it is answered */
    pl_session *session;
    pl_principal *principal;
    _Atomic int64_t regroups;
    pl_export_ask ask;
    char tag[36]; /* its ETag */
    bool settled; /* its session had ended before the export was opened */
    pl_pipe *pipe;
    _Atomic int references;
} download;

/* ---- a download ---- */

static void release(download *d)
{
    if (atomic_fetch_sub(&d->references, 1) == 1) {
        pl_session_release(d->session);
        pl_principal_release(d->principal);
        free(d);
    }
}

static ssize_t read_download(void *context, char *out, size_t room)
{
    download *d = context;
    if (!pl_sessions_may_follow(d->hub->sessions, d->principal, d->session, &d->regroups)) {
        return PL_SOURCE_ERROR;
    }
    ssize_t n = pl_pipe_read(d->pipe, out, room);
    if (n > 0) {
        atomic_fetch_add_explicit(&d->hub->counters->export_bytes, n, memory_order_relaxed);
    }
    return n;
}

static void close_download(void *context)
{
    download *d = context;
    pl_pipe *pipe = d->pipe;
    pl_session_unwatch(d->session, &d->watcher);
    pl_tickers_delist(d->hub->tickers, &d->ticker);
    pl_pipe_leave(pipe);
    pl_pipe_release(pipe);
    release(d);
}

static const pl_source download_source = {read_download, close_download};

static bool is_over(const download *d)
{
    return atomic_load(&d->hub->stopping) || atomic_load(&d->session->deleted);
}

/* Needed because its thread may wait for a reader that takes nothing, and not check for long. */
static void stop_if_over(download *d)
{
    if (is_over(d)) {
        pl_pipe_stop(d->pipe);
    }
}

static void tick(pl_ticker *ticker, int64_t now_ms)
{
    stop_if_over((download *)((char *)ticker - offsetof(download, ticker)));
}

static void session_changed(pl_watcher *watcher)
{
    stop_if_over((download *)((char *)watcher - offsetof(download, watcher)));
}

/* ---- the reply's head ---- */

/* A hash of the session and of the exported part; false if out of memory. */
static bool make_tag(download *d, const pl_export *export)
{
    char identity[65];
    bool good = pl_export_identity(export, identity);
    if (good) {
        snprintf(d->tag, sizeof d->tag, "\"%.8s-%.24s\"", d->session->id, identity);
    }
    return good;
}

/* True if this export is the one of which the reader has the beginning. */
static bool is_the_same(const download *d)
{
    const char *wanted = pl_request_header(d->request, "If-Match");
    if (!wanted || pl_etag_listed(wanted, d->tag, true)) {
        return true;
    }
    pl_reply_problemf(d->request, 412, "changed_meanwhile", "Changed meanwhile",
                      "If-Match is %.60s, but the export is now %s: its frames, the requested "
                      "options or the daemon's version differ; start again",
                      wanted, d->tag);
    pl_reply_header(d->request, "ETag", "%s", d->tag);
    return false;
}

/* Partial replies are not cached. A proxy caches only what it buffers. */
static void put_caching(download *d)
{
    pl_request *r = d->request;
    bool kept = d->settled && !d->ask.offset;
    if (!kept) {
        pl_reply_header(r, "Cache-Control", "no-store");
    }
    if (!kept || !pl_reply_settled(r)) {
        pl_reply_header(r, "X-Accel-Buffering", "no");
    }
}

/* True if the reader already has this export; replies 304 then. */
static bool is_known(download *d)
{
    const char *known = pl_request_header(d->request, "If-None-Match");
    if (!known || !pl_etag_listed(known, d->tag, false)) {
        return false;
    }
    pl_reply_header(d->request, "ETag", "%s", d->tag);
    put_caching(d);
    pl_reply_empty(d->request, 304);
    return true;
}

static void put_head(download *d, const pl_export *export)
{
    pl_request *r = d->request;
    const pl_export_about *format = pl_export_describe(d->ask.order.format);
    bool archive = format->series && !d->ask.order.plain;
    char name[PL_EXPORT_NAME_SHOWN + 1], number[32] = "";
    pl_export_plain_name(d->ask.name, "session", name);
    if (d->ask.order.plain) {
        snprintf(number, sizeof number, "_%06lld", (long long)pl_export_first(export));
    }
    pl_reply_source(r, archive ? "application/zip" : format->media_type, &download_source, d);
    pl_reply_header(r, "Content-Disposition", "attachment; filename=\"%s%s.%s\"", name, number,
                    archive ? "zip" : format->name);
    pl_reply_header(r, "ETag", "%s", d->tag);
    pl_reply_header(r, "Pliant-Frames", "%lld", (long long)pl_export_count(export));
    pl_reply_header(r, "Pliant-Last-Frame", "%lld", (long long)pl_export_last(export));
    put_caching(d);
}

static void refuse(download *d, const pl_export_fault *fault)
{
    static const struct {
        int status;
        const char *code, *title;
    } replies[] = {
        [PL_EXPORT_NO_FRAMES] = {409, "no_frames", "No frames"},
        [PL_EXPORT_NO_SUCH] = {404, "no_such_frame", "No such frame"},
        [PL_EXPORT_UNEVEN] = {409, "not_exportable", "Not exportable"},
        [PL_EXPORT_NO_SURFACE] = {409, "not_exportable", "Not exportable"},
        [PL_EXPORT_NO_BODY] = {404, "no_such_body", "No such body"},
        [PL_EXPORT_TOO_LARGE] = {409, "not_exportable", "Not exportable"},
        [PL_EXPORT_NO_SHAPE] = {404, "no_such_file", "Not found"},
        [PL_EXPORT_DAMAGED] = {500, "damaged", "Damaged"},
        [PL_EXPORT_UNREADABLE] = {500, "internal", "Unreadable"},
        [PL_EXPORT_NO_MEMORY] = {503, "busy", "Busy"},
        [PL_EXPORT_STOPPED] = {503, "shutdown", "Shutting down"},
    };
    pl_request *r = d->request;
    if (fault->why == PL_EXPORT_PRUNED) {
        pl_reply_pruned(r, d->ask.order.from, fault->first_available);
        return;
    }
    int status = replies[fault->why].status;
    const char *code = replies[fault->why].code;
    if (fault->why == PL_EXPORT_NO_SUCH &&
        !pl_state_terminal((pl_session_state)atomic_load(&d->session->state))) {
        code = "not_yet";
    }
    pl_reply_problem(r, status, code, replies[fault->why].title, fault->text, NULL);
    if (status == 503) {
        pl_reply_header(r, "Retry-After", "%d", RETRY_S);
    }
}

/* ---- writing it ---- */

/* While the skipped bytes pass by, no reply has begun and nobody reads; then it is known whether there are enough
 * bytes. */
typedef struct outflow {
    download *download;
    const pl_export *export;
    pl_pipe *pipe;
    uint64_t skip, made; /* bytes of the beginning still to skip; written so far */
    bool begun, head;    /* head: of a reply without a body */
} outflow;

/* From here on there is a reader, which may leave at any time; the pipe then reports it. */
static void begin(outflow *o)
{
    download *d = o->download;
    o->begun = true;
    d->pipe = o->pipe;
    atomic_fetch_add(&d->references, 1);
    put_head(d, o->export);
    pl_tickers_enlist(d->hub->tickers, &d->ticker);
    pl_session_watch(d->session, &d->watcher);
    stop_if_over(d); /* if everything ended meanwhile */
    pl_request_finish(d->request);
}

static bool go_on(void *context, int64_t done, int64_t count)
{
    const outflow *o = context;
    return o->begun ? !o->head && pl_pipe_wanted(o->pipe) : !is_over(o->download);
}

static bool take(void *context, const void *data, size_t size)
{
    outflow *o = context;
    size_t left_out = o->skip < size ? (size_t)o->skip : size;
    o->skip -= left_out;
    o->made += size;
    if (left_out == size) {
        return go_on(o, 0, 0);
    }
    if (!o->begun) {
        begin(o);
    }
    return !o->head && pl_pipe_write(o->pipe, (const char *)data + left_out, size - left_out);
}

static pl_export *open_export(download *d)
{
    pl_export_fault fault = {.why = PL_EXPORT_STOPPED, .text = "the daemon is shutting down"};
    pl_export *export = NULL;
    if (!atomic_load(&d->hub->stopping)) {
        int dir_fd = open(d->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd >= 0) {
            pl_export_open(dir_fd, &d->ask.order, &export, &fault);
            close(dir_fd);
        } else if (errno == ENOENT) {
            pl_reply_problem(d->request, 410, "storage_lost", "Gone",
                             "the session's directory is missing", NULL);
            return NULL;
        } else {
            fault = (pl_export_fault){.why = PL_EXPORT_NO_MEMORY, .text = "too many open files"};
        }
    }
    if (export && !make_tag(d, export)) {
        fault = (pl_export_fault){.why = PL_EXPORT_NO_MEMORY, .text = "out of memory"};
        pl_export_close(export);
        export = NULL;
    }
    if (!export) {
        refuse(d, &fault);
    } else if (!is_the_same(d) || is_known(d)) {
        pl_export_close(export);
        return NULL;
    }
    return export;
}

/* The reader has more bytes than the export. */
static void refuse_offset(download *d, uint64_t bytes)
{
    pl_faults faults = {0};
    char got[32], expected[96];
    snprintf(got, sizeof got, "%lld", (long long)d->ask.offset);
    snprintf(expected, sizeof expected, "a whole number from 0 to %llu, its size in bytes",
             (unsigned long long)bytes);
    pl_faults_add(&faults, "/query/offset", "past_the_end", got, expected, "");
    pl_reply_problem(d->request, 416, "past_the_end", "Offset past the end",
                     "the export ends before this byte", &faults);
    pl_reply_header(d->request, "ETag", "%s", d->tag);
    pl_faults_clear(&faults);
}

/* Run the export to its end, or until the reader leaves. The reply begins at once if nothing is skipped, or if it has
 * no body. */
static void run(download *d, pl_export *export, pl_pipe *pipe)
{
    pl_export_fault fault = {0};
    outflow out = {.download = d,
                   .export = export,
                   .pipe = pipe,
                   .skip = (uint64_t)d->ask.offset,
                   .head = pl_request_is_head(d->request)};
    pl_export_sink sink = {.context = &out, .write = take, .progress = go_on};
    if (!out.skip) {
        begin(&out);
    }
    bool whole = (out.begun && out.head) || pl_export_run(export, &sink, &fault);
    if (!whole && fault.why != PL_EXPORT_STOPPED) {
        pl_logf(PL_LEVEL_WARN, "session %s: an export as %s was aborted: %s", d->session->id,
                pl_export_describe(d->ask.order.format)->name, fault.text);
    }
    if (whole && !out.begun && !out.skip) {
        begin(&out); /* its reader has all of it */
    }
    if (out.begun) {
        pl_pipe_end(pipe, whole || out.head);
    } else if (whole) {
        refuse_offset(d, out.made);
    } else if (atomic_load(&d->session->deleted)) {
        pl_reply_problem(d->request, 404, "no_such_session", "No such session",
                         "the session was deleted meanwhile", NULL);
    } else {
        refuse(d, &fault);
    }
    if (!out.begun) {
        pl_request_finish(d->request);
        pl_pipe_release(pipe); /* the reader's reference, unused */
    }
}

/* In a thread of the pool. */
static void serve(void *context)
{
    download *d = context;
    pl_request *r = d->request;
    d->settled = pl_state_terminal((pl_session_state)atomic_load(&d->session->state));
    pl_export *export = open_export(d);
    pl_pipe *pipe = export ? pl_pipe_create(r) : NULL;
    if (pipe) {
        run(d, export, pipe);
        pl_pipe_release(pipe);
    } else {
        if (export) {
            pl_reply_empty(r, 500);
        }
        pl_request_finish(r);
    }
    pl_export_close(export);
    pl_exports_leave(d->exports, d->principal->user);
    release(d);
}

/* ---- the request ---- */

static bool enter(pl_request *r, download *d)
{
    pl_exports *x = d->exports;
    pl_export_slot outcome = pl_exports_enter(x, d->principal->user);
    if (outcome == PL_EXPORT_SLOTS_YOURS) {
        pl_reply_problemf(r, 429, "too_many_exports", "Too many exports",
                          "%d of your exports are in progress, the maximum for one user",
                          pl_exports_most_of_one(x));
    } else if (outcome == PL_EXPORT_SLOTS_TAKEN) {
        pl_reply_problemf(r, 503, "busy", "Busy",
                          "%d exports are in progress, the maximum of this daemon",
                          pl_exports_most(x));
    }
    if (outcome != PL_EXPORT_SLOT_FREE) {
        pl_reply_header(r, "Retry-After", "%d", RETRY_S);
    }
    return outcome == PL_EXPORT_SLOT_FREE;
}

void pl_handle_export(pl_request *r)
{
    pl_session *session = pl_request_session(r, PL_ACCESS_VIEW);
    download *d = session ? calloc(1, sizeof *d) : NULL;
    if (!d) {
        if (session) {
            pl_session_release(session);
            pl_reply_empty(r, 500);
        }
        return;
    }
    d->hub = pl_request_daemon(r)->streams;
    d->exports = pl_request_daemon(r)->exports;
    d->request = r;
    d->session = session;
    d->principal = pl_principal_acquire(pl_request_principal(r));
    d->ticker.tick = tick;
    d->watcher.wake = session_changed;
    d->references = 1;
    if (!pl_export_ask_parse(r, d->hub->sessions, session, &d->ask) || !enter(r, d)) {
        release(d);
        return;
    }
    char user[PL_NAME_MAX + 1];
    strcpy(user, d->principal->user);
    pl_request_park(r);
    if (!pl_exports_submit(d->exports, serve, d)) {
        pl_reply_problem(r, 503, "shutdown", "Shutting down", "the daemon is shutting down", NULL);
        pl_reply_header(r, "Retry-After", "%d", RETRY_S);
        pl_exports_leave(d->exports, user);
        release(d);
        pl_request_finish(r);
    }
}
