#include "server/worker/frame_writer.h"

#include "protocol/metrics_json.h"
#include "server/worker/worker_log.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

pl_status pl_frame_writer_init(pl_frame_writer *w, pl_log_writer *log, const pl_scene *scene,
                               int64_t vertices)
{
    *w = (pl_frame_writer){.log = log, .scene = scene, .vertices = vertices, .ms_output = NAN};
    w->pin_names = calloc((size_t)scene->pin_count + 1, sizeof *w->pin_names);
    w->obstacle_names = calloc((size_t)scene->obstacle_count + 1, sizeof *w->obstacle_names);
    if (scene->output.precision == PL_OUTPUT_SINGLE)
        w->single = malloc((size_t)vertices * 3 * sizeof *w->single);
    if (!w->pin_names || !w->obstacle_names ||
        (!w->single && scene->output.precision == PL_OUTPUT_SINGLE)) {
        pl_frame_writer_clear(w);
        return PL_NO_MEMORY;
    }
    for (int32_t i = 0; i < scene->pin_count; i++)
        w->pin_names[i] = scene->pins[i].name;
    for (int32_t i = 0; i < scene->obstacle_count; i++)
        w->obstacle_names[i] = scene->obstacles[i].name;
    return PL_OK;
}

void pl_frame_writer_clear(pl_frame_writer *w)
{
    free(w->single);
    free(w->pin_names);
    free(w->obstacle_names);
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

pl_status pl_frame_writer_append(pl_frame_writer *w, int64_t frame, const pl_state *state,
                                 pl_metrics *metrics, int64_t *bad_vertex)
{
    double begin = pl_worker_clock();
    const double *x = pl_state_positions(state);
    int64_t n = 3 * w->vertices;
    if (w->single ? !narrow(x, w->single, n) : !all_finite(x, n)) {
        *bad_vertex = first_bad_vertex(x, w->vertices, w->single ? (double)FLT_MAX : DBL_MAX);
        return PL_FAILED;
    }
    metrics->frame = frame;
    metrics->ms_output = w->ms_output;
    size_t length = 0;
    char *json = pl_metrics_encode(metrics, w->pin_names, w->scene->pin_count, w->obstacle_names,
                                   w->scene->obstacle_count, &length);
    if (!json)
        return PL_NO_MEMORY;
    pl_frame_header header = {
        .dtype = w->single ? PL_DTYPE_F32 : PL_DTYPE_F64,
        .fields = PL_FIELD_POSITION,
        .count = (uint64_t)w->vertices,
        .time = pl_state_time(state),
        .step = (uint64_t)pl_state_step(state),
    };
    const void *values = w->single ? (const void *)w->single : (const void *)x;
    pl_status status = pl_log_append(w->log, frame, &header, values, json, length);
    free(json);
    w->ms_output = 1e3 * (pl_worker_clock() - begin);
    return status;
}
