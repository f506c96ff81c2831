#include "server/sweeps/sweep_values.h"

#include "protocol/log/frame_variant.h"
#include "protocol/log/log.h"
#include "protocol/log/small_file.h"
#include "protocol/scene/expect.h"
#include "server/sweeps/fit_curves.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOCUMENT_MAX = 512 << 20 };

/* Lifetime: one run. */
typedef struct gathering {
    const pl_sweep *plan;
    int dir_fd;
    pl_log_reader *reader;
    int64_t frames;
    pl_sample *samples;    /* one for each result */
    double *last;          /* one for each result, from the newest frame */
    pl_expect *expect;     /* NULL: not requested, or cannot be judged */
    pl_fit_curves *curves; /* for a fit */
} gathering;

/* ---- metrics ---- */

static void take_metrics(gathering *g, const char *text, size_t length)
{
    pl_json *metrics = pl_json_parse(text, length, NULL);
    for (int32_t k = 0; metrics && k < g->plan->result_count; k++) {
        const pl_sweep_result *r = &g->plan->results[k];
        double value = pl_metrics_number(metrics, r->metric, r->probe);
        g->last[k] = value;
        if (!isnan(value)) {
            pl_sample_add(&g->samples[k], value);
        }
    }
    if (metrics && g->curves) {
        pl_fit_curves_take(g->curves, metrics);
    }
    if (metrics && g->expect) {
        pl_expect_metrics(g->expect, text, length);
    }
    pl_json_free(metrics);
}

static double metric_value(const gathering *g, int32_t k)
{
    const pl_sample *s = &g->samples[k];
    switch (g->plan->results[k].at) {
    case PL_AT_LAST:
        return g->last[k];
    case PL_AT_MIN:
        return s->count ? s->least : NAN;
    case PL_AT_MAX:
        return s->count ? s->most : NAN;
    default:
        return s->count ? s->sum / (double)s->count : NAN;
    }
}

/* ---- expectations ---- */

static void open_expect(gathering *g)
{
    char *scene = NULL, *topology = NULL;
    size_t scene_size, topology_size;
    pl_faults faults = {0};
    if (pl_file_read(g->dir_fd, "scene.json", DOCUMENT_MAX, &scene, &scene_size) == PL_OK &&
        pl_file_read(g->dir_fd, "topology.json", DOCUMENT_MAX, &topology, &topology_size) ==
            PL_OK &&
        pl_expect_open(scene, scene_size, topology, topology_size, g->frames, &g->expect,
                       &faults) != PL_OK) {
        g->expect = NULL;
    }
    pl_faults_clear(&faults);
    free(scene);
    free(topology);
}

/* Positions at the start of a frame's payload; malloc'ed, or NULL. */
static double *positions_of(const char *payload, uint64_t length, pl_frame_header *h)
{
    if (!pl_frame_header_decode((const unsigned char *)payload, length, h)) {
        return NULL;
    }
    double *x = malloc((3 * (size_t)h->count + 1) * sizeof *x);
    float *single = malloc((3 * (size_t)h->count + 1) * sizeof *single);
    bool wide = h->dtype == PL_DTYPE_F64 && h->fields & PL_FIELD_POSITION;
    bool good = x && single && (wide || pl_frame_values(h, payload, PL_FIELD_POSITION, single));
    if (good && wide) {
        memcpy(x, payload + PL_FRAME_HEADER, 3 * (size_t)h->count * sizeof *x);
    }
    for (size_t i = 0; good && !wide && i < 3 * (size_t)h->count; i++) {
        x[i] = (double)single[i];
    }
    free(single);
    if (!good) {
        free(x);
        x = NULL;
    }
    return x;
}

static void take_frames(gathering *g)
{
    for (int64_t k = 0; k < g->frames; k++) {
        char *payload;
        uint64_t length;
        if (pl_log_read(g->reader, k, PL_LOG_FRAME, &payload, &length) == PL_LOG_OK) {
            pl_frame_header h;
            double *x = positions_of(payload, length, &h);
            if (x) {
                pl_expect_frame(g->expect, k, (int64_t)h.count, x);
            }
            free(x);
            free(payload);
        }
    }
}

/* 1 if the expectation holds (with the name "": if all hold), else 0. NaN if no expectation has that name. */
static double expect_value(const pl_expect *e, const char *name)
{
    double holds = NAN;
    for (int32_t i = 0; e && i < pl_expect_count(e); i++) {
        pl_expect_outcome v;
        pl_expect_evaluate(e, i, &v);
        if (!*name || strcmp(name, v.name) == 0) {
            holds = v.passed && !(holds == 0) ? 1 : 0;
        }
    }
    return holds;
}

/* ---- a fit's misfit ---- */

static double misfit_value(const gathering *g)
{
    double *values = g->curves ? pl_fit_curves_values(g->curves) : NULL;
    double misfit = values ? pl_fit_misfit(g->plan->fit, values) : NAN;
    free(values);
    return misfit;
}

/* ---- all of them ---- */

static double value_of(const gathering *g, int32_t k)
{
    const pl_sweep_result *r = &g->plan->results[k];
    return r->misfit   ? misfit_value(g)
           : r->expect ? expect_value(g->expect, r->expect)
                       : metric_value(g, k);
}

/* True if more than the newest frame's metrics is needed; sets *expect. */
static bool wants_all(const pl_sweep *plan, bool *expect)
{
    bool all = false;
    *expect = false;
    for (int32_t k = 0; k < plan->result_count; k++) {
        *expect |= plan->results[k].expect != NULL;
        all |= plan->results[k].at != PL_AT_LAST || plan->results[k].expect ||
               plan->results[k].misfit;
    }
    return all;
}

static void gather(gathering *g)
{
    bool expect, all = wants_all(g->plan, &expect);
    if (expect) {
        open_expect(g);
    }
    if (g->plan->fit) {
        g->curves = pl_fit_curves_create(g->plan->fit);
    }
    for (int64_t k = all || g->frames == 0 ? 0 : g->frames - 1; k < g->frames; k++) {
        char *text;
        uint64_t length;
        if (pl_log_read(g->reader, k, PL_LOG_METRICS, &text, &length) == PL_LOG_OK) {
            take_metrics(g, text, (size_t)length);
            free(text);
        }
    }
    if (g->expect && pl_expect_wants_frames(g->expect)) {
        take_frames(g);
    }
}

double *pl_sweep_values(const pl_sweep *plan, const char *directory)
{
    size_t n = (size_t)plan->result_count;
    gathering g = {.plan = plan, .samples = calloc(n + 1, sizeof *g.samples)};
    double *out = malloc((n + 1) * sizeof *out);
    g.last = malloc((n + 1) * sizeof *g.last);
    bool memory = g.samples && g.last && out;
    for (size_t k = 0; memory && k < n; k++) {
        g.samples[k] = pl_sample_begin();
        g.last[k] = NAN;
    }
    g.dir_fd = memory && n ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (g.dir_fd >= 0 && pl_log_reader_open(g.dir_fd, &g.reader) == PL_OK) {
        g.frames = pl_log_reader_refresh(g.reader);
        gather(&g);
    }
    for (size_t k = 0; memory && k < n; k++) {
        out[k] = value_of(&g, (int32_t)k);
    }
    pl_expect_close(g.expect);
    pl_fit_curves_destroy(g.curves);
    pl_log_reader_close(g.reader);
    if (g.dir_fd >= 0) {
        close(g.dir_fd);
    }
    free(g.samples);
    free(g.last);
    if (!memory) {
        free(out);
        out = NULL;
    }
    return out;
}
