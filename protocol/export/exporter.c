#include "protocol/export/exporter.h"

#include "protocol/log/log_index.h"
#include "protocol/log/session_file.h"
#include "protocol/text/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)1 << 30)

static const pl_export_kind *const kinds[PL_EXPORT_FORMATS] = {
#define DO(KIND, name, doc) [PL_EXPORT_##KIND] = &pl_export_kind_##name,
    PL_EXPORT_EACH(DO)
#undef DO
};

const pl_export_kind *pl_export_kind_of(const pl_export *e)
{
    return kinds[e->order.format];
}

const pl_export_about *pl_export_describe(pl_export_format format)
{
    return &kinds[format]->about;
}

bool pl_export_format_parse(const char *name, pl_export_format *out)
{
    for (int k = 0; k < PL_EXPORT_FORMATS; k++)
        if (strcmp(name, kinds[k]->about.name) == 0) {
            *out = (pl_export_format)k;
            return true;
        }
    return false;
}

int64_t pl_export_count(const pl_export *e)
{
    return e->count;
}

int64_t pl_export_first(const pl_export *e)
{
    return e->frames[0];
}

int64_t pl_export_last(const pl_export *e)
{
    return e->frames[e->count - 1];
}

/* Frames that are there stay as they are, so their numbers tell what they hold. */
bool pl_export_identity(const pl_export *e, char out[65])
{
    const pl_export_order *o = &e->order;
    bool named = pl_export_kind_of(e)->about.series && !o->plain; /* its files have the name */
    pl_sha256 *s = pl_sha256_create();
    uint64_t numbers[] = {
        (uint64_t)o->format, (uint64_t)o->every, (uint64_t)o->plain, (uint64_t)o->surface,
        o->body != NULL,     e->start != NULL,   (uint64_t)e->count, e->wide};
    if (!s)
        return false;
    pl_sha256_update(s, PLIANT_VERSION, sizeof PLIANT_VERSION);
    pl_sha256_update(s, numbers, sizeof numbers);
    if (named)
        pl_sha256_update(s, o->name, strlen(o->name) + 1);
    if (o->body)
        pl_sha256_update(s, o->body, strlen(o->body) + 1);
    pl_sha256_update(s, e->frames, (size_t)e->count * sizeof *e->frames);
    pl_sha256_finish(s, out);
    return out[0] != '-';
}

/* ---- what went wrong ---- */

bool pl_export_fail(pl_export *e, pl_export_why why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    e->fault->why = why;
    vsnprintf(e->fault->text, sizeof e->fault->text, format, arguments);
    va_end(arguments);
    return false;
}

bool pl_export_no_memory(pl_export *e)
{
    return pl_export_fail(e, PL_EXPORT_NO_MEMORY, "out of memory");
}

bool pl_export_going(pl_export *e)
{
    return !e->out.stopped || pl_export_fail(e, PL_EXPORT_STOPPED, "the export was rejected");
}

/* ---- files ---- */

bool pl_export_put_file(pl_export *e, const char *name, const pl_span *spans, int count)
{
    if (e->order.plain) {
        for (int i = 0; i < count; i++)
            pl_outlet_put(&e->out, spans[i].data, spans[i].size);
    } else if (!e->sink->file) {
        pl_zip_add(&e->zip, name, spans, count);
        if (e->zip.failed)
            return pl_export_no_memory(e);
    } else if (!e->sink->file(e->sink->context, name, spans, count)) {
        return pl_export_fail(e, PL_EXPORT_STOPPED, "%s was rejected", name);
    }
    return pl_export_going(e);
}

bool pl_export_put_numbered(pl_export *e, const pl_export_frame *frame, const pl_text *text)
{
    char *name = NULL;
    if (asprintf(&name, "%s_%06" PRId64 ".%s", e->order.name, frame->frame,
                 pl_export_kind_of(e)->about.name) < 0)
        return pl_export_no_memory(e);
    pl_span span = {text->text, text->length, NULL};
    bool good = pl_export_put_file(e, name, &span, 1);
    free(name);
    return good;
}

/* ---- choosing the frames ---- */

/* A frame's time, and whether it can be had; of a table of metrics the latter alone. */
static pl_log_outcome look_at(pl_export *e, int64_t frame, pl_frame_header *h)
{
    pl_log_range range;
    unsigned char bytes[PL_FRAME_HEADER];
    bool table = pl_export_kind_of(e)->metrics;
    pl_log_outcome outcome = pl_log_find(e->reader, frame, table ? PL_LOG_METRICS : PL_LOG_FRAME,
                                         &range);
    if (outcome != PL_LOG_OK || table)
        return outcome;
    if (range.record.length < sizeof bytes ||
        !pl_read_range(range.fd, bytes, sizeof bytes, range.offset + PL_RECORD_HEADER) ||
        !pl_frame_header_decode(bytes, range.record.length, h))
        return PL_LOG_CORRUPT;
    return PL_LOG_OK;
}

static bool note_damaged(pl_export *e, int64_t frame)
{
    int64_t *grown = realloc(e->damaged, (size_t)(e->damaged_count + 1) * sizeof *grown);
    if (!grown)
        return pl_export_no_memory(e);
    e->damaged = grown;
    e->damaged[e->damaged_count++] = frame;
    return true;
}

static bool list_frames(pl_export *e, int64_t first, int64_t last)
{
    int64_t most = (last - first) / e->order.every + 1;
    e->frames = malloc((size_t)most * sizeof *e->frames);
    e->times = malloc((size_t)most * sizeof *e->times);
    if (!e->frames || !e->times)
        return pl_export_no_memory(e);
    for (int64_t k = first; k <= last; k += e->order.every) {
        pl_frame_header h = {0};
        pl_log_outcome outcome = look_at(e, k, &h);
        if (outcome == PL_LOG_ERROR)
            return pl_export_fail_frame(e, k, outcome);
        if (outcome == PL_LOG_CORRUPT && !note_damaged(e, k))
            return false;
        if (outcome != PL_LOG_OK)
            continue;
        if (e->count == 0)
            e->fields = h.fields;
        e->wide |= h.dtype == PL_DTYPE_F64 && pl_export_kind_of(e)->doubles;
        e->frames[e->count] = k;
        e->times[e->count++] = h.time;
        if (e->order.plain)
            break;
    }
    return e->count > 0 ||
           pl_export_fail(e, PL_EXPORT_NO_SUCH, "no frame to export: none of them is stored");
}

static bool choose_frames(pl_export *e)
{
    int64_t frames = pl_log_reader_refresh(e->reader), kept = pl_log_reader_first(e->reader);
    int64_t first = e->order.from >= 0 ? e->order.from : kept, last = e->order.to;
    last = last < frames - 1 ? last : frames - 1;
    if (frames < 1)
        return pl_export_fail(e, PL_EXPORT_NO_FRAMES, "no frame yet");
    if (first > last)
        return pl_export_fail(e, PL_EXPORT_NO_SUCH, "no frame to export: there are %" PRId64,
                              frames);
    if (first < kept) {
        e->fault->first_available = kept;
        return pl_export_fail(e, PL_EXPORT_PRUNED,
                              "frame %" PRId64 " was not kept (output.retention of the scene); the "
                              "next stored frame is frame %" PRId64,
                              first, kept);
    }
    return list_frames(e, first, last);
}

/* ---- the session's documents ---- */

static bool read_document(pl_export *e, pl_session_file file, char **text, size_t *size)
{
    const char *name = pl_session_file_name(file);
    pl_status status = pl_session_file_read(e->dir_fd, file, DOCUMENT_MAX, text, size);
    if (status == PL_OK)
        return true;
    if (status == PL_NO_MEMORY)
        return pl_export_no_memory(e);
    return pl_export_fail(e,
                          errno == ENOENT    ? PL_EXPORT_NO_SHAPE
                          : errno == EBADMSG ? PL_EXPORT_DAMAGED
                                             : PL_EXPORT_UNREADABLE,
                          "%s: %s", name,
                          errno == EBADMSG ? "it is damaged: its checksum does not match"
                                           : strerror(errno));
}

/* Which body is asked for, -1 for all. */
static bool find_body(pl_export *e, const pl_json *topology, int32_t *out)
{
    const pl_json *bodies = pl_json_at(topology, "bodies");
    pl_text names = {0};
    *out = -1;
    if (!e->order.body)
        return true;
    for (size_t b = 0; b < pl_json_count(bodies); b++) {
        const char *name = pl_json_string(pl_json_item(bodies, b), "name", "");
        if (strcmp(name, e->order.body) == 0) {
            free(names.text);
            *out = (int32_t)b;
            return true;
        }
        pl_text_printf(&names, "%s\"%s\"", b ? ", " : "", name);
    }
    if (names.failed)
        pl_export_no_memory(e);
    else
        pl_export_fail(e, PL_EXPORT_NO_BODY, "no body is called \"%.60s\"; there is %s",
                       e->order.body, names.text ? names.text : "none");
    free(names.text);
    return false;
}

static bool read_bodies(pl_export *e, int32_t *body)
{
    char *text, error[160];
    const char *why = error;
    size_t size;
    if (!read_document(e, PL_FILE_TOPOLOGY, &text, &size))
        return false;
    pl_json *topology = pl_json_parse(text, size, error);
    pl_status status = topology          ? pl_shape_read(topology, &e->shape, &why)
                       : errno == ENOMEM ? PL_NO_MEMORY
                                         : PL_INVALID;
    free(text);
    bool good = status == PL_OK ||
                (status == PL_NO_MEMORY ? pl_export_no_memory(e)
                                        : pl_export_fail(e, PL_EXPORT_DAMAGED, "%s", why));
    e->stored = e->shape.vertices;
    good = good && find_body(e, topology, body);
    pl_json_free(topology);
    return good;
}

static bool read_tets(pl_export *e)
{
    char *bytes;
    const char *why;
    size_t size;
    if (!read_document(e, PL_FILE_TETS, &bytes, &size))
        return false;
    pl_status status = pl_shape_read_tets(bytes, size, &e->shape, &why);
    free(bytes);
    return status == PL_OK ||
           (status == PL_NO_MEMORY ? pl_export_no_memory(e)
                                   : pl_export_fail(e, PL_EXPORT_DAMAGED, "%s", why));
}

static char up_axis(const pl_json *scene)
{
    double y = fabs(pl_json_number(scene, "gravity/1", -9.81));
    return fabs(pl_json_number(scene, "gravity/2", 0)) > y ? 'Z' : 'Y';
}

/* Read the scene's name and which axis is up, for formats that store them. An unreadable scene has no name. */
static bool read_scene(pl_export *e)
{
    e->up_axis = 'Y';
    char *text;
    size_t size;
    pl_status status = pl_session_file_read(e->dir_fd, PL_FILE_SCENE, DOCUMENT_MAX, &text, &size);
    if (status != PL_OK)
        return status != PL_NO_MEMORY || pl_export_no_memory(e);
    pl_json *scene = pl_json_parse(text, size, NULL);
    bool starved = !scene && errno == ENOMEM;
    e->scene_name = starved ? NULL : strdup(pl_json_string(scene, "name", ""));
    e->up_axis = up_axis(scene);
    pl_json_free(scene);
    free(text);
    return e->scene_name || pl_export_no_memory(e);
}

/* ---- from order to end ---- */

/* The topology, or what is asked for of it. */
static bool read_shape(pl_export *e)
{
    if (!read_bodies(e, &e->body) ||
        (pl_export_kind_of(e)->tets && !e->order.surface && !read_tets(e)))
        return false;
    if (e->body < 0 && !e->order.surface)
        return true;
    if (pl_shape_choose(&e->shape, e->body, e->order.surface, &e->chosen) != PL_OK)
        return pl_export_no_memory(e);
    return e->shape.vertices > 0 ||
           pl_export_fail(e, PL_EXPORT_NO_SURFACE, "there is nothing to draw");
}

static bool prepare(pl_export *e)
{
    if (pl_log_reader_open(e->dir_fd, &e->reader) != PL_OK)
        return pl_export_fail(e, PL_EXPORT_UNREADABLE, "its log cannot be opened: %s",
                              strerror(errno));
    const pl_export_kind *kind = pl_export_kind_of(e);
    if (!choose_frames(e) || (kind->about.bodies && !read_shape(e)) ||
        (kind->scene && !read_scene(e)))
        return false;
    return !kind->check || kind->check(e);
}

bool pl_export_open(int dir_fd, const pl_export_order *order, pl_export **out,
                    pl_export_fault *fault)
{
    *fault = (pl_export_fault){.why = PL_EXPORT_NO_MEMORY, .text = "out of memory"};
    pl_export *e = calloc(1, sizeof *e);
    char *name = strdup(order->name ? order->name : "");
    char *body = order->body ? strdup(order->body) : NULL;
    if (!e || !name || (order->body && !body)) {
        free(e);
        free(name);
        free(body);
        return false;
    }
    e->order = *order;
    e->order.name = name;
    e->order.body = body;
    e->body = -1;
    e->fault = fault;
    e->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    fault->why = PL_EXPORT_FINE;
    bool good = e->dir_fd >= 0 ||
                pl_export_fail(e, PL_EXPORT_UNREADABLE, "the directory cannot be opened: %s",
                               strerror(errno));
    good = good && prepare(e);
    if (!good) {
        pl_export_close(e);
        return false;
    }
    *out = e;
    return true;
}

static bool finish(pl_export *e, bool archive)
{
    pl_status status = archive ? pl_zip_finish(&e->zip) : PL_OK;
    if (status == PL_NO_MEMORY)
        return pl_export_no_memory(e);
    if (status != PL_OK)
        return pl_export_fail(e, PL_EXPORT_DAMAGED, "frames do not have the announced size");
    pl_outlet_flush(&e->out);
    return pl_export_going(e);
}

bool pl_export_run(pl_export *e, const pl_export_sink *sink, pl_export_fault *fault)
{
    const pl_export_kind *kind = pl_export_kind_of(e);
    bool archive = kind->archive || (kind->about.series && !e->order.plain && !sink->file);
    *fault = (pl_export_fault){.why = PL_EXPORT_FINE};
    e->fault = fault;
    e->sink = sink;
    e->out.write = sink->write;
    e->out.context = sink->context;
    pl_zip_open(&e->zip, &e->out);
    for (int64_t i = 0; i < e->damaged_count; i++)
        pl_export_tell_left_out(e, e->damaged[i]);
    return kind->run(e) && finish(e, archive);
}

void pl_export_close(pl_export *e)
{
    if (!e)
        return;
    pl_log_reader_close(e->reader);
    if (e->dir_fd >= 0)
        close(e->dir_fd);
    pl_shape_clear(&e->shape);
    pl_zip_clear(&e->zip);
    free((char *)e->order.name);
    free((char *)e->order.body);
    free(e->chosen);
    free(e->scene_name);
    free(e->start);
    free(e->frames);
    free(e->times);
    free(e->damaged);
    free(e->payload);
    for (int k = 0; k < 4; k++)
        free(e->made[k]);
    free(e->contact);
    free(e);
}
