#include "server/streams/exports.h"

#include "protocol/export/export.h"
#include "server/sessions/access.h"
#include "server/streams/frame.h"
#include "server/http/pipe.h"
#include "server/base/pool.h"
#include "server/base/logger.h"
#include "server/streams/stream_hub.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 200, NAME_SHOWN = 60, RETRY_S = 5 };

struct pl_exports {
    pl_daemon *daemon;
    pl_pool *pool;
    int most;
    pthread_mutex_t mutex; /* guards the rest; innermost */
    int running;
    char users[PL_EXPORTS_MAX][PL_NAME_MAX + 1]; /* of those that run */
};

/* One download. Its thread holds it, and its reply's source. */
typedef struct download {
    pl_ticker ticker; /* of the source, as is the watcher */
    pl_watcher watcher;
    pl_daemon *daemon;
    pl_request *request; /* until it is answered */
    pl_session *session;
    pl_principal *principal;
    _Atomic int64_t regroups;
    pl_export_order order;
    int64_t offset;                /* bytes of it that its reader has */
    char name[NAME_MAX_BYTES + 1]; /* what files are called */
    char body[NAME_MAX_BYTES + 1];
    char tag[36]; /* its ETag */
    pl_pipe *pipe;
    _Atomic int references;
} download;

/* ---- how many ---- */

pl_exports *pl_exports_create(pl_daemon *daemon, int most)
{
    pl_exports *x = calloc(1, sizeof *x);
    if (!x) {
        return NULL;
    }
    x->daemon = daemon;
    x->most = most;
    pthread_mutex_init(&x->mutex, NULL);
    x->pool = pl_pool_create("exports", most, (size_t)most);
    if (!x->pool) {
        pl_exports_destroy(x);
        return NULL;
    }
    return x;
}

void pl_exports_stop(pl_exports *x)
{
    if (x) {
        pl_pool_stop(x->pool);
    }
}

void pl_exports_destroy(pl_exports *x)
{
    if (x) {
        pl_pool_destroy(x->pool);
        pthread_mutex_destroy(&x->mutex);
        free(x);
    }
}

typedef enum admission { ADMITTED, ALL_BUSY, YOURS_BUSY } admission;

static admission admit(pl_exports *x, const char *user)
{
    int theirs = 0;
    pthread_mutex_lock(&x->mutex);
    for (int i = 0; i < x->running; i++) {
        theirs += strcmp(x->users[i], user) == 0;
    }
    admission outcome = x->running >= x->most         ? ALL_BUSY
                        : theirs >= (x->most + 1) / 2 ? YOURS_BUSY
                                                      : ADMITTED;
    if (outcome == ADMITTED) {
        strcpy(x->users[x->running++], user);
    }
    pthread_mutex_unlock(&x->mutex);
    if (outcome == ADMITTED) {
        atomic_fetch_add(&x->daemon->counters.exports_open, 1);
        atomic_fetch_add(&x->daemon->counters.exports_total, 1);
    }
    return outcome;
}

static void dismiss(pl_exports *x, const char *user)
{
    pthread_mutex_lock(&x->mutex);
    for (int i = 0; i < x->running; i++) {
        if (strcmp(x->users[i], user) == 0) {
            memmove(x->users[i], x->users[--x->running], sizeof x->users[i]);
            break;
        }
    }
    pthread_mutex_unlock(&x->mutex);
    atomic_fetch_sub(&x->daemon->counters.exports_open, 1);
}

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
    if (!pl_sessions_may_follow(d->daemon->sessions, d->principal, d->session, &d->regroups)) {
        return PL_SOURCE_ERROR;
    }
    ssize_t n = pl_pipe_read(d->pipe, out, room);
    if (n > 0) {
        atomic_fetch_add_explicit(&d->daemon->counters.export_bytes, n, memory_order_relaxed);
    }
    return n;
}

static void close_download(void *context)
{
    download *d = context;
    pl_pipe *pipe = d->pipe;
    pl_session_unwatch(d->session, &d->watcher);
    pl_stream_hub_delist(d->daemon->streams, &d->ticker);
    pl_pipe_leave(pipe);
    pl_pipe_release(pipe);
    release(d);
}

static const pl_source download_source = {read_download, close_download};

static bool is_over(const download *d)
{
    return atomic_load(&d->daemon->streams->stopping) || atomic_load(&d->session->deleted);
}

/* Its thread may wait for a reader that takes nothing, and not look for long. */
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

/* A name that every file system and header takes: letters, digits, '.', '_' and '-'. */
static void make_plain(const char *name, const char *instead, char out[NAME_SHOWN + 1])
{
    size_t n = 0;
    for (; *name && n < NAME_SHOWN; name++) {
        bool plain = isalnum((unsigned char)*name) || strchr("._-", *name);
        if (plain && !(n == 0 && *name == '.')) {
            out[n++] = *name;
        } else if (n > 0 && out[n - 1] != '_') {
            out[n++] = '_';
        }
    }
    while (n > 0 && strchr("._", out[n - 1])) {
        n--;
    }
    out[n] = 0;
    if (n == 0) {
        snprintf(out, NAME_SHOWN + 1, "%s", instead);
    }
}

/* Of the session and of what of it comes; false without memory. */
static bool make_tag(download *d, const pl_export *export)
{
    char identity[65];
    bool good = pl_export_identity(export, identity);
    if (good) {
        snprintf(d->tag, sizeof d->tag, "\"%.8s-%.24s\"", d->session->id, identity);
    }
    return good;
}

/* Whether the export is the one that its reader has the beginning of. */
static bool is_the_same(const download *d)
{
    const char *wanted = pl_request_header(d->request, "If-Match");
    if (!wanted || pl_etag_listed(wanted, d->tag, true)) {
        return true;
    }
    pl_reply_problemf(d->request, 412, "changed_meanwhile", "Changed meanwhile",
                      "If-Match is %.60s, and the export is now %s: its frames, what was asked for "
                      "or the daemon's version are others; begin again",
                      wanted, d->tag);
    pl_reply_header(d->request, "ETag", "%s", d->tag);
    return false;
}

static void put_head(download *d, const pl_export *export)
{
    pl_request *r = d->request;
    const pl_export_about *format = pl_export_describe(d->order.format);
    bool archive = format->series && !d->order.plain;
    char name[NAME_SHOWN + 1], number[32] = "";
    make_plain(d->name, "session", name);
    if (d->order.plain) {
        snprintf(number, sizeof number, "_%06lld", (long long)pl_export_first(export));
    }
    pl_reply_source(r, archive ? "application/zip" : format->media_type, &download_source, d);
    pl_reply_header(r, "Content-Disposition", "attachment; filename=\"%s%s.%s\"", name, number,
                    archive ? "zip" : format->name);
    pl_reply_header(r, "ETag", "%s", d->tag);
    pl_reply_header(r, "Pliant-Frames", "%lld", (long long)pl_export_count(export));
    pl_reply_header(r, "Pliant-Last-Frame", "%lld", (long long)pl_export_last(export));
    pl_reply_header(r, "Cache-Control", "no-store");
    pl_reply_header(r, "X-Accel-Buffering", "no");
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
        [PL_EXPORT_STOPPED] = {503, "shutdown", "Ending"},
    };
    pl_request *r = d->request;
    if (fault->why == PL_EXPORT_PRUNED) {
        pl_reply_pruned(r, d->order.from, fault->first_available);
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

/* ---- making it ---- */

/* Until the bytes that are left out have gone by, nothing is said, and nobody reads: whether there are as many
 * is known then. */
typedef struct outflow {
    download *download;
    const pl_export *export;
    pl_pipe *pipe;
    uint64_t skip, made; /* bytes of the beginning to be left out still; made so far */
    bool begun, head;    /* head: of a reply without a body */
} outflow;

/* From here on there is a reader, which may go at any time: the pipe says so. */
static void begin(outflow *o)
{
    download *d = o->download;
    o->begun = true;
    d->pipe = o->pipe;
    atomic_fetch_add(&d->references, 1);
    put_head(d, o->export);
    pl_stream_hub_enlist(d->daemon->streams, &d->ticker);
    pl_session_watch(d->session, &d->watcher);
    stop_if_over(d); /* where everything ended meanwhile */
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
    pl_export_fault fault = {.why = PL_EXPORT_STOPPED, .text = "the daemon is ending"};
    pl_export *export = NULL;
    if (!atomic_load(&d->daemon->streams->stopping)) {
        int dir_fd = open(d->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd >= 0) {
            pl_export_open(dir_fd, &d->order, &export, &fault);
            close(dir_fd);
        } else if (errno == ENOENT) {
            pl_reply_problem(d->request, 410, "storage_lost", "Gone",
                             "the session's directory is gone", NULL);
            return NULL;
        } else {
            fault = (pl_export_fault){.why = PL_EXPORT_NO_MEMORY,
                                      .text = "too many files are open"};
        }
    }
    if (export && !make_tag(d, export)) {
        fault = (pl_export_fault){.why = PL_EXPORT_NO_MEMORY, .text = "out of memory"};
        pl_export_close(export);
        export = NULL;
    }
    if (!export) {
        refuse(d, &fault);
    } else if (!is_the_same(d)) {
        pl_export_close(export);
        return NULL;
    }
    return export;
}

/* Its reader has more than there is. */
static void refuse_offset(download *d, uint64_t bytes)
{
    pl_faults faults = {0};
    char got[32], expected[96];
    snprintf(got, sizeof got, "%lld", (long long)d->offset);
    snprintf(expected, sizeof expected, "a whole number from 0 to %llu, as many bytes as it has",
             (unsigned long long)bytes);
    pl_faults_add(&faults, "/query/offset", "past_the_end", got, expected, "");
    pl_reply_problem(d->request, 416, "past_the_end", "Past the end",
                     "the export ends before this byte", &faults);
    pl_reply_header(d->request, "ETag", "%s", d->tag);
    pl_faults_clear(&faults);
}

/* To its end, or as far as there is a reader. One that leaves nothing out is answered for at once, and so is all of
 * one without a body. */
static void run(download *d, pl_export *export, pl_pipe *pipe)
{
    pl_export_fault fault = {0};
    outflow out = {.download = d,
                   .export = export,
                   .pipe = pipe,
                   .skip = (uint64_t)d->offset,
                   .head = pl_request_is_head(d->request)};
    pl_export_sink sink = {.context = &out, .write = take, .progress = go_on};
    if (!out.skip) {
        begin(&out);
    }
    bool whole = (out.begun && out.head) || pl_export_run(export, &sink, &fault);
    if (!whole && fault.why != PL_EXPORT_STOPPED) {
        pl_logf(PL_LEVEL_WARN, "session %s: an export as %s broke off: %s", d->session->id,
                pl_export_describe(d->order.format)->name, fault.text);
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
        pl_pipe_release(pipe); /* the reader's reference, which nobody has taken */
    }
}

/* In a thread of the pool. */
static void serve(void *context)
{
    download *d = context;
    pl_request *r = d->request;
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
    dismiss(d->daemon->exports, d->principal->user);
    release(d);
}

/* ---- what is asked for ---- */

static bool parse_format(pl_request *r, pl_export_format *out)
{
    const char *format = pl_request_query(r, "format");
    if (format && pl_export_format_parse(format, out)) {
        return true;
    }
    pl_reply_bad_query(r, "format", format ? format : "nothing", PL_EXPORT_NAMES);
    return false;
}

/* A single frame, of a format in which each is a file. */
static bool parse_frame(pl_request *r, const pl_session *s, pl_export_order *order)
{
    const char *text = pl_request_query(r, "frame");
    if (!text) {
        return true;
    }
    if (!pl_export_describe(order->format)->series) {
        pl_reply_bad_query(r, "frame", text,
                           "format=vtu or obj with it; from and to for the others");
        return false;
    }
    order->plain = true;
    if (strcmp(text, "first") == 0) {
        return true;
    }
    if (strcmp(text, "last") == 0) {
        order->from = atomic_load(&s->frame);
    } else if (strlen(text) < 19 && *text && strspn(text, "0123456789") == strlen(text)) {
        order->from = order->to = strtoll(text, NULL, 10);
    } else {
        pl_reply_bad_query(r, "frame", text, "a whole number from 0, first or last");
        return false;
    }
    return true;
}

/* Files of an archive have it, so that it leads to no other folder. */
static bool parse_prefix(pl_request *r, download *d)
{
    const char *name = pl_request_query(r, "prefix");
    char plain[NAME_SHOWN + 1];
    if (!name) {
        pl_row row = pl_session_row(d->daemon->sessions, d->session);
        bool there = row.id[0];
        make_plain(row.name ? row.name : "", "session", plain);
        strcpy(d->name, plain);
        pl_row_clear(&row);
        if (!there) {
            pl_reply_empty(r, 500);
        }
        return there;
    }
    bool good = *name && *name != '.' && strlen(name) <= NAME_MAX_BYTES;
    for (const char *at = name; *at; at++) {
        good &= (unsigned char)*at >= 32 && *at != 127 && !strchr("/\\", *at);
    }
    if (good) {
        strcpy(d->name, name);
        return true;
    }
    pl_reply_bad_query(r, "prefix", name, "1 to 200 bytes of a file's name, with no / or \\");
    return false;
}

/* One body, and its surface; csv is of neither. */
static bool parse_part(pl_request *r, download *d)
{
    const char *body = pl_request_query(r, "body"), *vertices = pl_request_query(r, "vertices");
    bool surface;
    if (!pl_request_surface(r, &surface)) {
        return false;
    }
    if ((body || surface) && !pl_export_describe(d->order.format)->bodies) {
        pl_reply_bad_query(r, body ? "body" : "vertices", body ? body : vertices,
                           "another format with it: the metrics are of the whole session");
        return false;
    }
    if (body && (!*body || strlen(body) > NAME_MAX_BYTES)) {
        pl_reply_bad_query(r, "body", body, "a body's name, 1 to 200 bytes");
        return false;
    }
    if (body) {
        strcpy(d->body, body);
        d->order.body = d->body;
    }
    d->order.surface = surface;
    return true;
}

static bool parse(pl_request *r, download *d)
{
    pl_export_order *o = &d->order;
    *o = (pl_export_order){.from = -1, .to = INT64_MAX, .every = 1, .name = d->name};
    int64_t from;
    if (!parse_format(r, &o->format) || !pl_request_integer(r, "from", 0, INT64_MAX, -1, &from) ||
        !pl_request_integer(r, "to", 0, INT64_MAX, INT64_MAX, &o->to) ||
        !pl_request_integer(r, "every", 1, 1 << 30, 1, &o->every) ||
        !pl_request_integer(r, "offset", 0, INT64_MAX, 0, &d->offset)) {
        return false;
    }
    o->from = from;
    return parse_frame(r, d->session, o) && parse_part(r, d) && parse_prefix(r, d);
}

static bool enter(pl_request *r, download *d)
{
    pl_exports *x = d->daemon->exports;
    admission outcome = admit(x, d->principal->user);
    if (outcome == YOURS_BUSY) {
        pl_reply_problemf(r, 429, "too_many_exports", "Too many exports",
                          "%d exports of yours are being made, which is as many as one may have",
                          (x->most + 1) / 2);
    } else if (outcome == ALL_BUSY) {
        pl_reply_problemf(r, 503, "busy", "Busy",
                          "%d exports are being made, as many as this "
                          "daemon makes at once",
                          x->most);
    }
    if (outcome != ADMITTED) {
        pl_reply_header(r, "Retry-After", "%d", RETRY_S);
    }
    return outcome == ADMITTED;
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
    d->daemon = pl_request_daemon(r);
    d->request = r;
    d->session = session;
    d->principal = pl_principal_acquire(pl_request_principal(r));
    d->ticker.tick = tick;
    d->watcher.wake = session_changed;
    d->references = 1;
    if (!parse(r, d) || !enter(r, d)) {
        release(d);
        return;
    }
    char user[PL_NAME_MAX + 1];
    strcpy(user, d->principal->user);
    pl_request_park(r);
    if (!pl_pool_submit(d->daemon->exports->pool, serve, d)) {
        pl_reply_problem(r, 503, "shutdown", "Ending", "the daemon is ending", NULL);
        pl_reply_header(r, "Retry-After", "%d", RETRY_S);
        dismiss(d->daemon->exports, user);
        release(d);
        pl_request_finish(r);
    }
}
