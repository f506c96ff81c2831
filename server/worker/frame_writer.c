#include "server/worker/frame_writer.h"

#include "protocol/metrics_json.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PL_OUTPUT_VELOCITY == (int)PL_FIELD_VELOCITY &&
                   (int)PL_OUTPUT_STRESS == (int)PL_FIELD_STRESS &&
                   (int)PL_OUTPUT_ELEMENT_STRESS == (int)PL_FIELD_ELEMENT_STRESS,
               "a scene's bits are a record's");

pl_status pl_frame_writer_init(pl_frame_writer *w, pl_log_writer *log, const pl_scene *scene,
                               const pl_model *model)
{
    bool has_stress = scene->output.fields & PL_OUTPUT_STRESS;
    bool has_elements = scene->output.fields & PL_OUTPUT_ELEMENT_STRESS;
    int fields = __builtin_popcount((unsigned)scene->output.fields) - has_elements;
    *w = (pl_frame_writer){.log = log,
                           .scene = scene,
                           .vertices = pl_model_vertex_count(model),
                           .elements = has_elements ? pl_model_element_count(model) : 0,
                           .ms_output = NAN};
    w->values = 3 * (fields * w->vertices + w->elements);
    w->pin_names = calloc((size_t)scene->pin_count + 1, sizeof *w->pin_names);
    w->force_names = calloc((size_t)scene->force_count + 1, sizeof *w->force_names);
    w->obstacle_names = calloc((size_t)scene->obstacle_count + 1, sizeof *w->obstacle_names);
    size_t stress = 3 * (size_t)w->vertices * sizeof *w->stress;
    size_t elements = 3 * (size_t)w->elements * sizeof *w->element_stress;
    w->stress = has_stress ? malloc(stress + 1) : NULL;
    w->element_stress = has_elements ? malloc(elements + 1) : NULL;
    bool is_single = scene->output.precision == PL_OUTPUT_SINGLE;
    bool together = !is_single && (fields > 1 || has_elements);
    if (is_single)
        w->single = malloc((size_t)w->values * sizeof *w->single + 1);
    else if (together)
        w->both = malloc((size_t)w->values * sizeof *w->both + 1);
    if (!w->pin_names || !w->obstacle_names || !w->force_names || (is_single && !w->single) ||
        (together && !w->both) || (has_stress && !w->stress) ||
        (has_elements && !w->element_stress)) {
        pl_frame_writer_clear(w);
        return PL_NO_MEMORY;
    }
    for (int32_t i = 0; i < scene->pin_count; i++)
        w->pin_names[i] = scene->pins[i].name;
    for (int32_t i = 0; i < scene->obstacle_count; i++)
        w->obstacle_names[i] = scene->obstacles[i].name;
    for (int32_t i = 0; i < scene->force_count; i++)
        w->force_names[i] = scene->forces[i].name;
    return PL_OK;
}

void pl_frame_writer_clear(pl_frame_writer *w)
{
    free(w->single);
    free(w->both);
    free(w->stress);
    free(w->element_stress);
    free(w->pin_names);
    free(w->obstacle_names);
    free(w->force_names);
    *w = (pl_frame_writer){0};
}

/* out = (float)x; false where one of n values leaves the range of a float. No early exit: the loop
 * vectorises, and the good case is the only one that counts. */
static bool narrow(const double *x, float *out, int64_t n)
{
    int bad = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = (float)x[i];
        bad |= !(fabsf(out[i]) <= FLT_MAX);
    }
    return !bad;
}

static bool all_finite(const double *x, int64_t n)
{
    int bad = 0;
    for (int64_t i = 0; i < n; i++)
        bad |= !(fabs(x[i]) <= DBL_MAX);
    return !bad;
}

static int64_t first_bad_vertex(const double *x, int64_t vertices, double limit)
{
    for (int64_t i = 0; i < 3 * vertices; i++)
        if (!(fabs(x[i]) <= limit))
            return i / 3;
    return -1;
}

/* A frame's records, before they are records. */
typedef struct encoded_frame {
    pl_frame_header header;
    const void *values; /* borrowed of the writer or the state */
    char *metrics;      /* malloc'ed, NULL where none were given */
    size_t metrics_length;
} encoded_frame;

/* What is stored of the state, in the output precision; NULL with *bad_vertex where a number of it is
 * not finite there. */
static const void *stored_values(pl_frame_writer *w, const pl_state *state, int64_t *bad_vertex)
{
    const double *x = pl_state_positions(state);
    const double *parts[] = {
        x, w->scene->output.fields & PL_OUTPUT_VELOCITY ? pl_state_velocities(state) : NULL,
        w->stress, w->element_stress};
    int64_t at = 0;
    for (int k = 0; k < 4; k++) {
        int64_t n = 3 * (k < 3 ? w->vertices : w->elements);
        if (!parts[k])
            continue;
        if (w->single ? !narrow(parts[k], w->single + at, n) : !all_finite(parts[k], n)) {
            *bad_vertex = first_bad_vertex(parts[k], n / 3, w->single ? (double)FLT_MAX : DBL_MAX);
            return NULL;
        }
        if (w->both)
            memcpy(w->both + at, parts[k], (size_t)n * sizeof *w->both);
        at += n;
    }
    return w->single ? (const void *)w->single : w->both ? (const void *)w->both : x;
}

static pl_status encode(pl_frame_writer *w, int64_t frame, const pl_state *state,
                        pl_metrics *metrics, int64_t *bad_vertex, encoded_frame *out)
{
    if ((w->stress || w->element_stress) &&
        pl_state_stress(state, w->stress, w->element_stress) != PL_OK)
        return PL_NO_MEMORY;
    const void *values = stored_values(w, state, bad_vertex);
    if (!values)
        return PL_FAILED;
    *out =
        (encoded_frame){.values = values,
                        .header = {.dtype = w->single ? PL_DTYPE_F32 : PL_DTYPE_F64,
                                   .fields = (uint32_t)w->scene->output.fields, /* the same bits */
                                   .count = (uint64_t)w->vertices,
                                   .elements = (uint64_t)w->elements,
                                   .time = pl_state_time(state),
                                   .step = (uint64_t)pl_state_step(state)}};
    if (!metrics)
        return PL_OK;
    metrics->frame = frame;
    metrics->ms_output = w->ms_output;
    out->metrics = pl_metrics_encode(metrics, w->pin_names, w->scene->pin_count, w->obstacle_names,
                                     w->scene->obstacle_count, w->force_names,
                                     w->scene->force_count, &out->metrics_length);
    return out->metrics ? PL_OK : PL_NO_MEMORY;
}

pl_status pl_frame_writer_append(pl_frame_writer *w, int64_t frame, const pl_state *state,
                                 pl_metrics *metrics, int64_t *bad_vertex)
{
    double begin = pl_worker_clock();
    encoded_frame f;
    pl_status status = encode(w, frame, state, metrics, bad_vertex, &f);
    if (status != PL_OK)
        return status;
    status = pl_log_append(w->log, frame, &f.header, f.values, f.metrics, f.metrics_length);
    free(f.metrics);
    w->ms_output = 1e3 * (pl_worker_clock() - begin);
    return status;
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

/* The payload's CRC in the stored record's header stands for its bytes: whether those still fit it
 * is a reader's question. */
static pl_frame_verdict compare_values(const pl_frame_writer *w, pl_log_reader *stored,
                                       int64_t frame, const encoded_frame *f)
{
    unsigned char header[PL_FRAME_HEADER];
    pl_log_range range;
    if (pl_log_find(stored, frame, PL_LOG_FRAME, &range) != PL_LOG_OK)
        return PL_FRAME_UNREADABLE;
    size_t size = (size_t)w->values / 3 * pl_frame_value_bytes(&f->header);
    pl_frame_header_encode(&f->header, header);
    uint32_t crc = pl_crc32c(pl_crc32c(0, header, sizeof header), f->values, size);
    return range.record.length == sizeof header + size && range.record.payload_crc == crc
               ? PL_FRAME_SAME
               : PL_FRAME_MOVED;
}

static pl_status compare_metrics(pl_log_reader *stored, int64_t frame, const encoded_frame *f,
                                 pl_frame_verdict *verdict)
{
    char *text;
    uint64_t length;
    *verdict = PL_FRAME_UNREADABLE;
    if (pl_log_read(stored, frame, PL_LOG_METRICS, &text, &length) != PL_LOG_OK)
        return PL_OK;
    bool same = pl_metrics_same(text, (size_t)length, f->metrics, f->metrics_length);
    pl_status status = !same && errno == ENOMEM ? PL_NO_MEMORY : PL_OK;
    free(text);
    *verdict = same ? PL_FRAME_SAME : PL_FRAME_MEASURED;
    return status;
}

pl_status pl_frame_writer_compare(pl_frame_writer *w, pl_log_reader *stored, int64_t frame,
                                  const pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                                  pl_frame_verdict *verdict)
{
    encoded_frame f;
    pl_status status = encode(w, frame, state, metrics, bad_vertex, &f);
    if (status != PL_OK)
        return status;
    *verdict = compare_values(w, stored, frame, &f);
    if (metrics && (*verdict == PL_FRAME_SAME || *verdict == PL_FRAME_UNREADABLE)) {
        pl_frame_verdict measured;
        status = compare_metrics(stored, frame, &f, &measured);
        if (measured == PL_FRAME_MEASURED || *verdict == PL_FRAME_SAME)
            *verdict = measured;
    }
    free(f.metrics);
    return status;
}
