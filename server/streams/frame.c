#include "server/streams/frame.h"

#include "protocol/text/problem.h"
#include "server/base/daemon.h"
#include "server/streams/stream_hub.h"
#include "server/sessions/access.h"
#include "server/streams/frame_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORM_RECORD, FORM_NPY, FORM_LINE }; /* of `types` */

static const char *const types[] = {"application/vnd.pliant.frames", "application/x-npy",
                                    "application/x-ndjson", NULL};

static void reply_damaged(pl_request *r, int64_t k)
{
    pl_reply_problemf(r, 500, "corrupt", "Damaged frame",
                      "frame %lld is damaged on disk; the others can be read", (long long)k);
}

void pl_reply_pruned(pl_request *r, int64_t frame, int64_t first)
{
    char detail[160], *whole = NULL;
    snprintf(
        detail, sizeof detail,
        "frame %lld was not kept (output.retention of the scene); the next stored frame is %lld",
        (long long)frame, (long long)first);
    char *text = pl_problem_encode(410, "pruned", "Not kept", detail, NULL);
    int n = text ? asprintf(&whole, "%.*s,\"first_available\":%lld}", (int)strlen(text) - 1, text,
                            (long long)first)
                 : -1;
    free(text);
    pl_reply_text(r, 410, "application/problem+json", n < 0 ? NULL : whole, n < 0 ? 0 : (size_t)n);
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- npy ---- */

enum { NPY_BLOCK = 64, NPY_HEADER_MOST = 4 * NPY_BLOCK };

/* Write an NPY 1.0 header with this description, padded to a multiple of 64. Returns its size. */
static size_t npy_header(const char *description, char out[NPY_HEADER_MOST])
{
    size_t n = strlen(description), size = (10 + n + NPY_BLOCK) / NPY_BLOCK * NPY_BLOCK;
    size = size < 2 * NPY_BLOCK ? 2 * NPY_BLOCK : size;
    memset(out, ' ', size);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(size - 10);
    out[9] = 0;
    memcpy(out + 10, description, n);
    out[size - 1] = '\n';
    return size;
}

/* (n, 3) for a field of vertices; (n,) with named parts for contacts. */
static size_t describe(const pl_frame_header *h, char out[NPY_HEADER_MOST])
{
    const char *real = h->dtype == PL_DTYPE_F64 ? "<f8" : "<f4";
    char text[NPY_HEADER_MOST - NPY_BLOCK];
    if (h->fields == PL_FIELD_CONTACTS)
        snprintf(text, sizeof text,
                 "{'descr': [('bodies', '<i4', (2,)), ('position', '%s', (3,)), ('force', '%s', "
                 "(3,)), ('gap', '%s')], 'fortran_order': False, 'shape': (%llu,), }",
                 real, real, real, (unsigned long long)h->contacts);
    else
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, 3), }",
                 real, (unsigned long long)h->count);
    return npy_header(text, out);
}

/* An array has one dtype and no box, so u16 is impossible, and only one field fits. */
static bool npy_can_hold(pl_request *r, pl_frame_view *view)
{
    if (!pl_request_query(r, "dtype")) {
        view->variant.dtype = PL_DTYPE_F32;
    }
    if (!pl_request_query(r, "fields")) {
        view->variant.fields = PL_FIELD_POSITION;
    }
    bool single = (view->variant.fields & (view->variant.fields - 1)) == 0;
    if (view->variant.dtype == PL_DTYPE_U16 || !single) {
        pl_reply_problem(r, 400, "bad_query", "Bad query",
                         "an npy array has f32 or f64 numbers of one field; for more, ask for "
                         "application/vnd.pliant.frames",
                         NULL);
        return false;
    }
    return true;
}

static void reply_npy(pl_request *r, int64_t k, const pl_blob *record)
{
    pl_frame_header h;
    const char *payload = record->bytes + PL_RECORD_HEADER;
    pl_record head;
    if (pl_record_decode((unsigned char *)record->bytes, record->size, &head) != PL_RECORD_GOOD ||
        !pl_frame_header_decode((const unsigned char *)payload, head.length, &h)) {
        reply_damaged(r, k);
        return;
    }
    char header[NPY_HEADER_MOST];
    size_t size = describe(&h, header);
    size_t values = (size_t)(head.length - PL_FRAME_HEADER);
    char *text = malloc(size + values);
    if (text) {
        memcpy(text, header, size);
        memcpy(text + size, payload + PL_FRAME_HEADER, values);
    }
    pl_reply_header(r, "Pliant-Time", "%.17g", h.time);
    pl_reply_text(r, 200, "application/x-npy", text, size + values);
}

/* ---- the frame ---- */

/* Reply with a converted frame, from the cache. */
static void reply_made(pl_request *r, pl_frame_cache *cache, pl_session *s, pl_log_reader *reader,
                       int64_t k, int form, const pl_frame_view *view)
{
    pl_frame_key key = pl_frame_view_key(view, s, k);
    const pl_blob *blob = pl_frame_source_get(cache, s, &reader, &key);
    if (!blob) {
        reply_damaged(r, k);
        return;
    }
    if (form == FORM_NPY) {
        reply_npy(r, k, blob);
    } else {
        char *text = malloc(blob->size);
        if (text) {
            memcpy(text, blob->bytes, blob->size);
        }
        pl_reply_text(r, 200, types[form], text, blob->size);
    }
    pl_frame_cache_put(cache, blob);
}

static void reply_stored(pl_request *r, const pl_log_range *range)
{
    int fd = fcntl(range->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        pl_reply_empty(r, 503);
        return;
    }
    pl_reply_file(r, types[FORM_RECORD], fd, range->offset, range->size, NULL, 0);
}

/* The next kept frame after a pruned one. */
static int64_t first_kept(pl_log_reader *reader, int64_t k)
{
    int64_t first = pl_log_reader_first(reader);
    pl_log_range range;
    if (k < first) {
        return first;
    }
    while (pl_log_find(reader, k, PL_LOG_FRAME, &range) == PL_LOG_PRUNED) {
        k++;
    }
    return k;
}

static void reply_frame(pl_request *r, pl_frame_cache *cache, pl_session *s, pl_log_reader *reader,
                        int64_t k, int form, const pl_frame_view *view)
{
    static const char *const names[] = {"record", "npy", "line"};
    pl_log_range range;
    pl_log_outcome outcome = pl_log_find(reader, k, PL_LOG_FRAME, &range);
    if (outcome == PL_LOG_PRUNED) {
        pl_reply_pruned(r, k, first_kept(reader, k));
        return;
    }
    if (outcome != PL_LOG_OK) {
        reply_damaged(r, k);
        return;
    }
    pl_reply_header(r, "Pliant-Frame", "%lld", (long long)k);
    if (strcmp(pl_request_param(r, 1), "latest") == 0) {
        pl_reply_header(r, "Cache-Control", "no-store");
        pl_reply_header(r, "Vary", "Accept");
    } else if (pl_reply_unchanged(r, "%s-%lld-%s-%s-%x%s", s->id, (long long)k, names[form],
                                  pl_dtype_name(view->variant.dtype), view->variant.fields,
                                  view->variant.surface ? "-surface" : "")) {
        return;
    }
    if (form == FORM_RECORD && view->as_stored) {
        reply_stored(r, &range);
    } else {
        reply_made(r, cache, s, reader, k, form, view);
    }
}

/* The requested number, or -1 after replying. */
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
        bool never = (s->frames >= 0 && k > s->frames) ||
                     pl_state_terminal((pl_session_state)s->state);
        char last[48] = "the run has no last frame";
        if (s->frames >= 0) {
            snprintf(last, sizeof last, "the last frame will be %lld", (long long)s->frames);
        }
        pl_reply_problemf(r, 404, never ? "no_such_frame" : "not_yet",
                          never ? "No such frame" : "Not yet", "frames 0 to %lld exist; %s",
                          (long long)(committed - 1), last);
        return -1;
    }
    return k;
}

static void handle(pl_request *r, const pl_stream_hub *hub, pl_session *s, int form)
{
    pl_log_reader *reader = NULL;
    pl_frame_view view;
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        pl_reply_problem(r, 410, "storage_lost", "Gone", "the session's log cannot be opened",
                         NULL);
    } else {
        int64_t k = parse_frame(r, s, pl_log_reader_refresh(reader));
        if (k >= 0 &&
            pl_frame_view_parse(r, hub, s, reader,
                                form == FORM_LINE ? PL_FRAME_LINE : PL_FRAME_RECORD, &view) &&
            (form != FORM_NPY || npy_can_hold(r, &view))) {
            reply_frame(r, hub->cache, s, reader, k, form, &view);
        }
    }
    pl_log_reader_close(reader);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
}

void pl_handle_frame(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    int form = s ? pl_request_accept(r, types) : -1;
    if (form >= 0) {
        handle(r, pl_request_daemon(r)->streams, s, form);
    }
    pl_session_release(s);
}
