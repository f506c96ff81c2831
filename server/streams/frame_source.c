#include "server/streams/frame_source.h"

#include "protocol/text/json.h"
#include "protocol/log/frame_contacts.h"
#include "protocol/log/session_file.h"
#include "server/sessions/sessions.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NPY_HEADER = 128 }; /* of surface.npy, which preflight writes */
#define SURFACE_LIMIT ((size_t)1 << 31)

/* Lifetime: one look-up. */
typedef struct making {
    pl_frame_cache *cache;
    pl_session *session;
    pl_log_reader **reader; /* opened when needed */
    const pl_frame_key *key;
} making;

/* ---- the surface map ---- */

static char *make_surface(void *context, size_t *size)
{
    const making *m = context;
    char *bytes;
    size_t length;
    int dir_fd = open(m->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return NULL;
    }
    pl_status status = pl_session_file_read(dir_fd, PL_FILE_SURFACE, SURFACE_LIMIT, &bytes,
                                            &length);
    int error = errno;
    close(dir_fd);
    errno = status == PL_NO_MEMORY ? ENOMEM : error;
    if (status != PL_OK) {
        return NULL;
    }
    if (length < NPY_HEADER) {
        free(bytes);
        errno = EBADMSG;
        return NULL;
    }
    *size = length - NPY_HEADER;
    memmove(bytes, bytes + NPY_HEADER, *size);
    return bytes;
}

static const pl_blob *get_surface(pl_frame_cache *cache, pl_session *session)
{
    pl_frame_key key = {.form = PL_FRAME_SURFACE};
    memcpy(key.session, session->id, sizeof session->id);
    making m = {cache, session, NULL, &key};
    return pl_frame_cache_get(cache, &key, make_surface, &m);
}

/* ---- one frame ---- */

static void put_vector(pl_json_writer *w, const char *key, const double v[3])
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int c = 0; c < 3; c++) {
        pl_json_put_number(w, v[c], 9);
    }
    pl_json_end_array(w);
}

/* [{"bodies": [first, second], "position", "force", "gap"}, ...] */
static void put_contacts(pl_json_writer *w, const pl_frame_header *h, const char *payload)
{
    const unsigned char *at = pl_frame_contacts_at(h, (const unsigned char *)payload);
    pl_json_key(w, "contacts");
    pl_json_begin_array(w);
    for (uint64_t i = 0; i < h->contacts; i++) {
        pl_contact_point p;
        pl_frame_contacts_decode(h, at + i * pl_frame_point_bytes(h), 1, &p);
        pl_json_begin_object(w);
        pl_json_key(w, "bodies");
        pl_json_begin_array(w);
        for (int k = 0; k < 2; k++) {
            pl_json_put_integer(w, p.body[k]);
        }
        pl_json_end_array(w);
        put_vector(w, "position", p.place);
        put_vector(w, "force", p.newton);
        pl_json_set_number(w, "gap", p.gap);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

/* Convert a record to {"frame", "time", "step", "position": [x, y, z, x, ...], ...} and a newline. */
static char *make_line(char *record, size_t *size)
{
    pl_frame_header h;
    pl_record head;
    pl_json_writer w = {0};
    const char *payload = record + PL_RECORD_HEADER;
    float *values = NULL;
    if (pl_record_decode((unsigned char *)record, *size, &head) == PL_RECORD_GOOD &&
        pl_frame_header_decode((const unsigned char *)payload, head.length, &h)) {
        values = malloc((size_t)h.count * 3 * sizeof *values + 1);
    }
    if (!values) {
        free(record);
        return NULL;
    }
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "frame", (int64_t)head.frame);
    pl_json_set_number(&w, "time", h.time);
    pl_json_set_integer(&w, "step", (int64_t)h.step);
    for (uint32_t field = 1; field <= PL_FIELDS_KNOWN; field <<= 1) {
        if (!pl_frame_values(&h, payload, field, values)) {
            continue;
        }
        pl_json_key(&w, pl_field_name(field));
        pl_json_begin_array(&w);
        for (uint64_t i = 0; i < 3 * h.count; i++) {
            pl_json_put_number(&w, (double)values[i], 9);
        }
        pl_json_end_array(&w);
    }
    if (h.fields & PL_FIELD_CONTACTS) {
        put_contacts(&w, &h, payload);
    }
    pl_json_end_object(&w);
    free(values);
    free(record);
    size_t length;
    char *text = pl_json_finish(&w, &length);
    if (text) { /* its NUL becomes the newline */
        text[length] = '\n';
        *size = length + 1;
    }
    return text;
}

static int errno_of(pl_log_outcome outcome)
{
    return outcome == PL_LOG_NOT_YET   ? EAGAIN
           : outcome == PL_LOG_CORRUPT ? EBADMSG
           : outcome == PL_LOG_PRUNED  ? ENODATA
                                       : errno;
}

/* A stored record's head and payload (malloc'ed, its CRC checked); false with errno. */
static bool read_stored(const making *m, pl_log_part part, pl_record *record, char **payload)
{
    pl_log_range range;
    uint64_t length;
    int64_t frame = m->key->frame;
    if (frame == atomic_load(&m->session->frame) &&
        pl_tail_read(m->session, frame, part, record, payload) == PL_LOG_OK) {
        return true;
    }
    if (!pl_session_log_open(m->session, m->reader)) {
        return false;
    }
    pl_log_outcome outcome = pl_log_find(*m->reader, frame, part, &range);
    if (outcome == PL_LOG_NOT_YET) {
        pl_log_reader_refresh(*m->reader);
        outcome = pl_log_find(*m->reader, frame, part, &range);
    }
    if (outcome == PL_LOG_OK) {
        *record = range.record;
        outcome = pl_log_read(*m->reader, frame, part, payload, &length);
    }
    errno = outcome == PL_LOG_OK ? 0 : errno_of(outcome);
    return outcome == PL_LOG_OK;
}

static char *make_metrics(void *context, size_t *size)
{
    const making *m = context;
    pl_record record;
    char *payload;
    if (!read_stored(m, PL_LOG_METRICS, &record, &payload)) {
        return NULL;
    }
    *size = (size_t)pl_record_size(record.length);
    char *bytes = calloc(1, *size);
    if (bytes) {
        pl_record_encode(&record, (unsigned char *)bytes);
        memcpy(bytes + PL_RECORD_HEADER, payload, (size_t)record.length);
    }
    free(payload);
    errno = ENOMEM; /* if nothing else set it */
    return bytes;
}

/* Convert the stored frame to the requested form. */
static char *make_frame(void *context, size_t *size)
{
    const making *m = context;
    const pl_frame_key *key = m->key;
    pl_frame_variant variant = {key->dtype, key->fields, key->surface};
    pl_record stored;
    char *payload, *record = NULL;
    if (!read_stored(m, PL_LOG_FRAME, &stored, &payload)) {
        return NULL;
    }
    const pl_blob *map = key->surface ? get_surface(m->cache, m->session) : NULL;
    if (map || !key->surface) {
        pl_status status = pl_frame_variant_encode(
            &variant, &stored, payload, map ? (const int32_t *)(const void *)map->bytes : NULL,
            map ? (int64_t)(map->size / sizeof(int32_t)) : 0, &record, size);
        errno = status == PL_INVALID ? EINVAL : ENOMEM;
    }
    if (map) {
        pl_frame_cache_put(m->cache, map);
    }
    free(payload);
    return record && key->form == PL_FRAME_LINE ? make_line(record, size) : record;
}

pl_frame_key pl_frame_view_key(const pl_frame_view *view, const pl_session *session, int64_t frame)
{
    pl_frame_key key = {.frame = frame,
                        .dtype = view->variant.dtype,
                        .fields = view->variant.fields,
                        .surface = view->variant.surface,
                        .form = view->form};
    memcpy(key.session, session->id, sizeof session->id);
    return key;
}

const pl_blob *pl_frame_source_get(pl_frame_cache *cache, pl_session *session,
                                   pl_log_reader **reader, const pl_frame_key *key)
{
    making m = {cache, session, reader, key};
    return pl_frame_cache_get(cache, key, key->form == PL_FRAME_METRICS ? make_metrics : make_frame,
                              &m);
}

/* ---- the request ---- */

/* Vertices of the whole session; -1: out of memory. */
static int64_t vertices_of_session(pl_sessions *sessions, pl_session *session)
{
    pl_row row = pl_session_row(sessions, session);
    pl_json *list = row.bodies ? pl_json_parse(row.bodies, strlen(row.bodies), NULL) : NULL;
    int64_t n = !row.id[0] || (row.bodies && !list && errno == ENOMEM) ? -1 : 0;
    for (size_t i = 0; i < pl_json_count(list); i++) {
        n += pl_json_integer(pl_json_item(list, i), "vertices", 0);
    }
    pl_json_free(list);
    pl_row_clear(&row);
    return n;
}

static uint32_t fields_of(const pl_json *names)
{
    uint32_t fields = 0;
    for (size_t i = 0; i < pl_json_count(names); i++) {
        fields |= pl_field_parse(pl_json_string(pl_json_item(names, i), "", ""));
    }
    return fields;
}

/* The contents of the frames: from the newest frame, or from the scene before the first frame. */
static pl_frame_header stored_header(const pl_session *session, pl_log_reader *reader)
{
    pl_log_range range;
    pl_frame_header header = {.dtype = PL_DTYPE_F32, .fields = PL_FIELD_POSITION};
    unsigned char bytes[PL_FRAME_HEADER];
    int64_t frames = pl_log_reader_refresh(reader);
    if (frames > 0 && pl_log_find(reader, frames - 1, PL_LOG_FRAME, &range) == PL_LOG_OK &&
        pread(range.fd, bytes, sizeof bytes, (off_t)(range.offset + PL_RECORD_HEADER)) ==
            (ssize_t)sizeof bytes &&
        pl_frame_header_decode(bytes, range.record.length, &header)) {
        return header;
    }
    char *text;
    size_t size;
    int dir_fd = open(session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd >= 0 &&
        pl_session_file_read(dir_fd, PL_FILE_EFFECTIVE, (size_t)1 << 28, &text, &size) == PL_OK) {
        pl_json *scene = pl_json_parse(text, size, NULL);
        bool is_double = strcmp(pl_json_string(scene, "output/precision", ""), "double") == 0;
        header.dtype = is_double ? PL_DTYPE_F64 : PL_DTYPE_F32;
        header.fields |= fields_of(pl_json_at(scene, "output/fields"));
        pl_json_free(scene);
        free(text);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return header;
}

static void refuse(pl_request *r, const char *pointer, const char *code, const char *got,
                   const char *expected, const char *hint)
{
    pl_faults faults = {0};
    pl_faults_add(&faults, pointer, code, got, expected, hint);
    pl_reply_problem(r, 400, "bad_query", "Bad query", "a query value is invalid", &faults);
    pl_faults_clear(&faults);
}

/* Reject fields that the session does not store, naming the last of them. */
static void refuse_missing(pl_request *r, uint32_t missing)
{
    const char *name = "";
    char hint[128];
    for (uint32_t field = 1; field <= PL_FIELDS_SENT; field <<= 1) {
        name = missing & field ? pl_field_name(field) : name;
    }
    snprintf(hint, sizeof hint,
             "Request it in the scene: \"output\": {\"fields\": [\"position\", \"%s\"]}.", name);
    refuse(r, "/query/fields", "not_stored", name, "fields the session stores", hint);
}

/* Parse the keys. */
static bool parse(pl_request *r, pl_frame_variant *v)
{
    const char *dtype = pl_request_query(r, "dtype"), *fields = pl_request_query(r, "fields");
    const char *wrong;
    if (dtype && !pl_dtype_parse(dtype, &v->dtype)) {
        refuse(r, "/query/dtype", "bad_query_value", dtype, "f32, f64 or u16", "");
        return false;
    }
    if (fields && !pl_fields_parse(fields, &v->fields, &wrong)) {
        refuse(r, "/query/fields", "bad_query_value", fields,
               "position, velocity, stress, contacts, or several separated by commas", "");
        return false;
    }
    return pl_request_surface(r, &v->surface);
}

/* Number of all vertices, or -1 after replying. */
static int64_t count_all(pl_request *r, pl_sessions *sessions, pl_session *session)
{
    int64_t count = vertices_of_session(sessions, session);
    if (count < 0) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    return count;
}

/* Number of surface vertices, or -1 after replying. */
static int64_t count_surface(pl_request *r, pl_frame_cache *cache, pl_session *session)
{
    const pl_blob *map = get_surface(cache, session);
    if (map) {
        int64_t count = (int64_t)(map->size / sizeof(int32_t));
        pl_frame_cache_put(cache, map);
        return count;
    }
    bool checking = atomic_load(&session->state) == PL_STATE_CHECKING;
    if (errno == ENOENT) {
        pl_reply_problem(r, 404, checking ? "not_yet" : "no_such_file",
                         checking ? "Not yet" : "Not found",
                         checking ? "the session's surface is known after its check"
                                  : "this session was checked by a version that did not write the "
                                    "surface; ask for vertices=all",
                         NULL);
    } else if (errno == EBADMSG) {
        pl_reply_problem(r, 500, "damaged", "Damaged",
                         "surface.npy is damaged; ask for vertices=all", NULL);
    } else {
        pl_reply_problemf(r, 500, "internal", "Internal error", "surface.npy cannot be read: %s",
                          strerror(errno));
    }
    return -1;
}

bool pl_frame_view_parse(pl_request *r, const pl_stream_hub *hub, pl_session *session,
                         pl_log_reader *reader, pl_frame_form form, pl_frame_view *out)
{
    pl_frame_view view = {.form = form};
    if (!parse(r, &view.variant)) {
        return false;
    }
    pl_frame_header stored = stored_header(session, reader);
    if (view.variant.fields & ~stored.fields) {
        refuse_missing(r, view.variant.fields & ~stored.fields);
        return false;
    }
    view.as_stored = pl_frame_variant_settle(&view.variant, &stored) && form == PL_FRAME_RECORD;
    view.vertices = view.variant.surface ? count_surface(r, hub->cache, session)
                                         : count_all(r, hub->sessions, session);
    if (view.vertices < 0) {
        return false;
    }
    if (form == PL_FRAME_LINE && view.vertices > PL_LINE_VERTICES_MAX &&
        view.variant.fields & PL_FIELDS_KNOWN) {
        pl_reply_problemf(r, 406, "not_acceptable", "Not acceptable",
                          "a frame of %lld vertices is too large for a line of JSON, at most %d; "
                          "ask for application/vnd.pliant.frames",
                          (long long)view.vertices, PL_LINE_VERTICES_MAX);
        return false;
    }
    *out = view;
    return true;
}
