#include "server/streams/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pl_stream_put_json(pl_stream *s, pl_record_type type, const char *event, int64_t frame,
                        char *json, size_t length)
{
    free(s->text);
    s->text = NULL;
    s->text_at = s->text_size = 0;
    if (!json) {
        return false;
    }
    int n = -1;
    if (s->form == PL_FORM_RECORDS) {
        pl_record r = {.type = (uint16_t)type,
                       .seq = frame < 0 ? 0 : (uint64_t)frame,
                       .frame = frame < 0 ? 0 : (uint64_t)frame,
                       .length = length,
                       .payload_crc = pl_crc32c(0, json, length)};
        s->text = calloc(1, pl_record_size(length));
        if (s->text) {
            pl_record_encode(&r, (unsigned char *)s->text);
            memcpy(s->text + PL_RECORD_HEADER, json, length);
            n = (int)pl_record_size(length);
        }
    } else if (s->form == PL_FORM_NDJSON) {
        n = asprintf(&s->text, "%.*s\n", (int)length, json);
    } else if (frame >= 0) {
        n = asprintf(&s->text, "event: %s\nid: %lld\ndata: %.*s\n\n", event, (long long)frame,
                     (int)length, json);
    } else {
        n = asprintf(&s->text, "event: %s\ndata: %.*s\n\n", event, (int)length, json);
    }
    free(json);
    s->text = n < 0 ? NULL : s->text;
    s->text_size = n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

/* In an NDJSON stream, lines that are neither metrics nor frames have the key "event". */
static void begin_event(const pl_stream *s, pl_json_writer *w, const char *event)
{
    pl_json_begin_object(w);
    if (s->form == PL_FORM_NDJSON) {
        pl_json_set_string(w, "event", event);
    }
}

static bool put_event(pl_stream *s, pl_record_type type, const char *event, int64_t frame,
                      pl_json_writer *w)
{
    size_t length = 0;
    pl_json_end_object(w);
    char *json = pl_json_finish(w, &length);
    return pl_stream_put_json(s, type, event, frame, json, length);
}

bool pl_stream_put_heartbeat(pl_stream *s)
{
    pl_json_writer w = {0};
    if (s->form == PL_FORM_RECORDS) {
        return pl_stream_put_json(s, PL_RECORD_HEARTBEAT, NULL, -1, strdup(""), 0);
    }
    pl_row row = pl_session_row(s->hub->sessions, s->session);
    begin_event(s, &w, "heartbeat");
    pl_json_set_string(&w, "state", pl_state_name((pl_session_state)s->session->state));
    if (row.message) {
        pl_json_set_string(&w, "message", row.message);
    }
    pl_row_clear(&row);
    return put_event(s, PL_RECORD_HEARTBEAT, "heartbeat", -1, &w);
}

bool pl_stream_put_gap(pl_stream *s, int64_t from, int64_t to, const char *reason)
{
    pl_json_writer w = {0};
    begin_event(s, &w, "gap");
    pl_json_set_integer(&w, "from", from);
    pl_json_set_integer(&w, "to", to);
    pl_json_set_string(&w, "reason", reason);
    return put_event(s, PL_RECORD_GAP, "gap", to, &w);
}

bool pl_stream_put_state(pl_stream *s)
{
    char *view = pl_sessions_encode(s->hub->sessions, s->session, s->principal);
    return pl_stream_put_json(s, PL_RECORD_STATE, "state", -1, view, view ? strlen(view) : 0);
}

bool pl_stream_put_end(pl_stream *s, const char *reason)
{
    pl_json_writer w = {0};
    begin_event(s, &w, "end");
    pl_json_set_string(&w, "reason", reason);
    pl_json_set_string(&w, "state", pl_state_name((pl_session_state)s->session->state));
    if (s->committed > 0) {
        pl_json_set_integer(&w, "frame", s->committed - 1);
    } else {
        pl_json_set_null(&w, "frame");
    }
    s->ended = true;
    return put_event(s, PL_RECORD_END, "end", -1, &w);
}

/* ---- the hello ---- */

/* The layout of a frame: what a viewer needs besides the topology. */
static void put_view(pl_json_writer *w, const pl_frame_view *view)
{
    pl_json_set_string(w, "dtype", pl_dtype_name(view->variant.dtype));
    pl_json_key(w, "fields");
    pl_json_begin_array(w);
    for (uint32_t field = 1; field <= PL_FIELDS_SENT; field <<= 1) {
        if (view->variant.fields & field) {
            pl_json_put_string(w, pl_field_name(field));
        }
    }
    pl_json_end_array(w);
    pl_json_set_string(w, "select", view->variant.surface ? "surface" : "all");
    pl_json_set_integer(w, "vertices", view->vertices);
}

bool pl_stream_put_hello(pl_stream *s)
{
    if (s->form == PL_FORM_SSE) {
        s->text = strdup("retry: 1000\n\n");
        s->text_size = s->text ? strlen(s->text) : 0;
        return s->text;
    }
    pl_row row = pl_session_row(s->hub->sessions, s->session);
    if (!row.id[0]) {
        return false;
    }
    char topology[96];
    snprintf(topology, sizeof topology, "/v1/sessions/%s/topology", row.id);
    pl_json_writer w = {0};
    begin_event(s, &w, "hello");
    pl_json_set_integer(&w, "format", 1);
    pl_json_set_string(&w, "session", row.id);
    pl_json_set_string(&w, "topology", topology);
    put_view(&w, &s->view);
    if (row.frames >= 0) {
        pl_json_set_integer(&w, "frames", row.frames);
    } else {
        pl_json_set_null(&w, "frames");
    }
    pl_json_set_integer(&w, "from", s->next);
    pl_row_clear(&row);
    return put_event(s, PL_RECORD_HELLO, "hello", -1, &w);
}
