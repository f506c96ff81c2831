#include "server/worker/frame_writer.h"

#include "protocol/log/frame_contacts.h"
#include "protocol/log/metrics_json.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PL_OUTPUT_VELOCITY == (int)PL_FIELD_VELOCITY &&
                   (int)PL_OUTPUT_STRESS == (int)PL_FIELD_STRESS &&
                   (int)PL_OUTPUT_ELEMENT_STRESS == (int)PL_FIELD_ELEMENT_STRESS &&
                   (int)PL_OUTPUT_CONTACTS == (int)PL_FIELD_CONTACTS,
               "a scene's bits are a record's");

/* Bytes per stored number. */
static size_t width_of(const pl_frame_writer *w)
{
    return w->single ? sizeof(float) : sizeof(double);
}

/* Bytes of the numbers of vertices and elements. */
static size_t bytes_of(const pl_frame_writer *w)
{
    return (size_t)w->values * width_of(w);
}

/* Make room for a whole frame with so many bytes of points; false: out of memory. */
static bool make_room(pl_frame_writer *w, size_t points)
{
    if (w->whole && bytes_of(w) + points <= w->room)
        return true;
    unsigned char *larger = realloc(w->whole, bytes_of(w) + 2 * points + 1);
    if (!larger)
        return false;
    w->whole = larger;
    w->room = bytes_of(w) + 2 * points + 1;
    return true;
}

pl_status pl_frame_writer_init(pl_frame_writer *w, pl_log_writer *log, const pl_scene *scene,
                               const pl_model *model)
{
    const uint32_t fields = (uint32_t)scene->output.fields;
    bool has_stress = fields & PL_FIELD_STRESS, has_elements = fields & PL_FIELD_ELEMENT_STRESS;
    *w = (pl_frame_writer){.log = log,
                           .scene = scene,
                           .vertices = pl_model_vertex_count(model),
                           .elements = has_elements ? pl_model_element_count(model) : 0,
                           .has_contacts = fields & PL_FIELD_CONTACTS,
                           .ms_output = NAN};
    const pl_frame_header h = {.fields = fields};
    w->values = 3 * ((int64_t)pl_frame_fields(&h) * w->vertices + w->elements);
    size_t stress = 3 * (size_t)w->vertices * sizeof *w->stress;
    size_t elements = 3 * (size_t)w->elements * sizeof *w->element_stress;
    w->stress = has_stress ? malloc(stress + 1) : NULL;
    w->element_stress = has_elements ? malloc(elements + 1) : NULL;
    w->single = scene->output.precision == PL_OUTPUT_SINGLE;
    bool any = has_stress || has_elements || w->has_contacts;
    if ((any && !make_room(w, 0)) || (has_stress && !w->stress) ||
        (has_elements && !w->element_stress)) {
        pl_frame_writer_clear(w);
        return PL_NO_MEMORY;
    }
    return PL_OK;
}

void pl_frame_writer_clear(pl_frame_writer *w)
{
    free(w->begun.metrics);
    free(w->whole);
    free(w->stress);
    free(w->element_stress);
    *w = (pl_frame_writer){0};
}

/* Index of the first of n numbers that is not finite, or -1. Without an early exit the loop vectorises, and only the
 * good case matters. */
#define FIND_BAD(type, magnitude, most)                                                            \
    static int64_t find_bad_##type(const type *x, int64_t n)                                       \
    {                                                                                              \
        int bad = 0;                                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            bad |= !(magnitude(x[i]) <= most);                                                     \
        for (int64_t i = 0; bad && i < n; i++)                                                     \
            if (!(magnitude(x[i]) <= most))                                                        \
                return i;                                                                          \
        return -1;                                                                                 \
    }
FIND_BAD(float, fabsf, FLT_MAX)
FIND_BAD(double, fabs, DBL_MAX)

/* Store `n` numbers after the first `at` of the frame, in the output precision; returns the position after them. */
static int64_t put_numbers(pl_frame_writer *w, int64_t at, const double *numbers, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (w->single)
            ((float *)(void *)w->whole)[at + i] = (float)numbers[i];
        else
            ((double *)(void *)w->whole)[at + i] = numbers[i];
    }
    return at + n;
}

/* Put the stresses after the fetched fields, before the points. */
static const void *make_whole(pl_frame_writer *w, const void *fetched)
{
    int64_t at = w->values - 3 * ((w->stress ? w->vertices : 0) + w->elements);
    memcpy(w->whole, fetched, (size_t)at * width_of(w));
    if (w->stress)
        at = put_numbers(w, at, w->stress, 3 * w->vertices);
    if (w->element_stress)
        put_numbers(w, at, w->element_stress, 3 * w->elements);
    return w->whole;
}

/* The stored form of the begun frame, [values] in the output precision. NULL: its numbers have not arrived, or
 * (*bad_vertex >= 0) one of them is not finite. */
static const void *stored_values(pl_frame_writer *w, bool wait, int64_t *bad_vertex)
{
    const void *values = pl_state_fetched(w->begun.state, wait);
    *bad_vertex = -1;
    if (!values)
        return NULL;
    if (w->whole)
        values = make_whole(w, values);
    int64_t bad = w->single ? find_bad_float(values, w->values)
                            : find_bad_double(values, w->values);
    if (bad >= 0)
        *bad_vertex = bad / 3 % w->vertices;
    return bad >= 0 ? NULL : values;
}

/* Store the contacts of the state's bodies, after all values. */
static pl_status put_contacts(pl_frame_writer *w)
{
    pl_frame_header *h = &w->begun.header;
    int64_t count;
    const pl_contact_point *points = pl_state_contacts(w->begun.state, &count);
    h->contacts = (uint64_t)count;
    if (!make_room(w, (size_t)(h->contacts * pl_frame_point_bytes(h))))
        return PL_NO_MEMORY;
    pl_frame_contacts_encode(h, points, count, w->whole + bytes_of(w));
    return PL_OK;
}

/* The frame is finished. */
static void end(pl_frame_writer *w)
{
    free(w->begun.metrics);
    w->begun = (pl_begun_frame){.state = NULL};
}

pl_status pl_frame_writer_begin(pl_frame_writer *w, int64_t frame, pl_state *state,
                                pl_metrics *metrics)
{
    double begin = pl_worker_clock();
    int32_t fields = w->scene->output.fields;
    bool stressed = w->stress || w->element_stress;
    if ((stressed && pl_state_stress(state, w->stress, w->element_stress) != PL_OK) ||
        pl_state_fetch(state, w->single, fields & PL_OUTPUT_VELOCITY) != PL_OK)
        return PL_NO_MEMORY;
    w->begun = (pl_begun_frame){.state = state,
                                .frame = frame,
                                .header = {.dtype = w->single ? PL_DTYPE_F32 : PL_DTYPE_F64,
                                           .fields = (uint32_t)fields, /* same bits */
                                           .count = (uint64_t)w->vertices,
                                           .elements = (uint64_t)w->elements,
                                           .time = pl_state_time(state),
                                           .step = (uint64_t)pl_state_step(state)}};
    if (w->has_contacts && put_contacts(w) != PL_OK) {
        end(w);
        return PL_NO_MEMORY;
    }
    if (metrics) {
        metrics->frame = frame;
        metrics->ms_output = w->ms_output;
        w->begun.metrics = pl_metrics_encode(metrics, w->scene, &w->begun.metrics_length);
        if (!w->begun.metrics) {
            end(w);
            return PL_NO_MEMORY;
        }
    }
    w->begun.ms = 1e3 * (pl_worker_clock() - begin);
    return PL_OK;
}

pl_status pl_frame_writer_append(pl_frame_writer *w, bool wait, int64_t *frame, int64_t *bad_vertex)
{
    *frame = -1;
    if (!w->begun.state)
        return PL_OK;
    double begin = pl_worker_clock();
    const void *values = stored_values(w, wait, bad_vertex);
    if (!values && *bad_vertex < 0) {
        w->begun.ms += 1e3 * (pl_worker_clock() - begin);
        return PL_OK;
    }
    pl_status status = PL_FAILED;
    if (values)
        status = pl_log_append(w->log, w->begun.frame, &w->begun.header, values, w->begun.metrics,
                               w->begun.metrics_length);
    if (status == PL_OK) {
        *frame = w->begun.frame;
        w->ms_output = w->begun.ms + 1e3 * (pl_worker_clock() - begin);
    }
    int error = errno;
    end(w);
    errno = error;
    return status;
}

/* ---- comparing ---- */

/* The payload's CRC in the stored record's header represents its bytes; only a reader can say whether the bytes still
 * match it. */
static pl_frame_outcome compare_values(const pl_frame_writer *w, pl_log_reader *stored,
                                       int64_t frame, const void *values)
{
    const pl_begun_frame *f = &w->begun;
    unsigned char header[PL_FRAME_HEADER];
    pl_log_range range;
    if (pl_log_find(stored, frame, PL_LOG_FRAME, &range) != PL_LOG_OK)
        return PL_FRAME_UNREADABLE;
    size_t size = (size_t)pl_frame_body_bytes(&f->header);
    pl_frame_header_encode(&f->header, header);
    uint32_t crc = pl_crc32c(pl_crc32c(0, header, sizeof header), values, size);
    return range.record.length == sizeof header + size && range.record.payload_crc == crc
               ? PL_FRAME_SAME
               : PL_FRAME_MOVED;
}

static pl_status compare_metrics(pl_log_reader *stored, int64_t frame, const pl_begun_frame *f,
                                 pl_frame_outcome *outcome)
{
    char *text;
    uint64_t length;
    *outcome = PL_FRAME_UNREADABLE;
    if (pl_log_read(stored, frame, PL_LOG_METRICS, &text, &length) != PL_LOG_OK)
        return PL_OK;
    bool same = pl_metrics_same(text, (size_t)length, f->metrics, f->metrics_length);
    pl_status status = !same && errno == ENOMEM ? PL_NO_MEMORY : PL_OK;
    free(text);
    *outcome = same ? PL_FRAME_SAME : PL_FRAME_MEASURED;
    return status;
}

pl_status pl_frame_writer_compare(pl_frame_writer *w, pl_log_reader *stored, int64_t frame,
                                  pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                                  pl_frame_outcome *outcome)
{
    pl_status status = pl_frame_writer_begin(w, frame, state, metrics);
    if (status != PL_OK)
        return status;
    const void *values = stored_values(w, true, bad_vertex);
    if (!values) {
        end(w);
        return PL_FAILED;
    }
    *outcome = compare_values(w, stored, frame, values);
    if (metrics && (*outcome == PL_FRAME_SAME || *outcome == PL_FRAME_UNREADABLE)) {
        pl_frame_outcome measured;
        status = compare_metrics(stored, frame, &w->begun, &measured);
        if (measured == PL_FRAME_MEASURED || *outcome == PL_FRAME_SAME)
            *outcome = measured;
    }
    end(w);
    return status;
}
