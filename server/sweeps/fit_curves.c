#include "server/sweeps/fit_curves.h"

#include "protocol/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct curve {
    double *x, *y;
    int64_t count, room;
} curve;

struct pl_fit_curves {
    const pl_fit *fit;
    curve *curves; /* one for each series */
    bool failed;   /* out of memory */
};

static double probe_of(const pl_json *probes, const char *name)
{
    for (size_t i = 0; i < pl_json_count(probes); i++) {
        const pl_json *value;
        if (strcmp(pl_json_member(probes, i, &value), name) == 0) {
            return pl_json_number(value, "", NAN);
        }
    }
    return NAN;
}

double pl_metrics_number(const pl_json *metrics, const char *metric, const char *probe)
{
    return metric  ? pl_json_number(metrics, metric, NAN)
           : probe ? probe_of(pl_json_at(metrics, "probes"), probe)
                   : NAN;
}

pl_fit_curves *pl_fit_curves_create(const pl_fit *fit)
{
    pl_fit_curves *c = calloc(1, sizeof *c);
    curve *curves = calloc((size_t)fit->count + 1, sizeof *curves);
    if (!c || !curves) {
        free(c);
        free(curves);
        return NULL;
    }
    *c = (pl_fit_curves){.fit = fit, .curves = curves};
    return c;
}

void pl_fit_curves_destroy(pl_fit_curves *c)
{
    for (int32_t k = 0; c && k < c->fit->count; k++) {
        free(c->curves[k].x);
        free(c->curves[k].y);
    }
    if (c) {
        free(c->curves);
    }
    free(c);
}

static bool grow(curve *c)
{
    int64_t room = 2 * c->room + 64;
    double *x = realloc(c->x, (size_t)room * sizeof *x);
    c->x = x ? x : c->x;
    double *y = realloc(c->y, (size_t)room * sizeof *y);
    c->y = y ? y : c->y;
    c->room = x && y ? room : c->room;
    return x && y;
}

void pl_fit_curves_take(pl_fit_curves *c, const pl_json *metrics)
{
    for (int32_t k = 0; k < c->fit->count && !c->failed; k++) {
        const pl_fit_series *s = &c->fit->series[k];
        curve *out = &c->curves[k];
        bool timed = !s->against.metric && !s->against.probe;
        double x = pl_metrics_number(metrics, timed ? "time" : s->against.metric, s->against.probe);
        double y = pl_metrics_number(metrics, s->value.metric, s->value.probe);
        if (isnan(x) || isnan(y)) {
            continue;
        }
        if (out->count == out->room && !grow(out)) {
            c->failed = true;
            return;
        }
        out->x[out->count] = x;
        out->y[out->count++] = y;
    }
}

double *pl_fit_curves_values(const pl_fit_curves *c)
{
    double *values = c->failed ? NULL : malloc((size_t)(c->fit->points + 1) * sizeof *values);
    int64_t at = 0;
    for (int32_t k = 0; values && k < c->fit->count; k++) {
        const curve *of = &c->curves[k];
        pl_fit_values(&c->fit->series[k], of->x, of->y, of->count, values + at);
        at += c->fit->series[k].count;
    }
    return values;
}

static void take_log(pl_fit_curves *c, pl_log_reader *reader)
{
    int64_t frames = pl_log_reader_refresh(reader);
    for (int64_t k = 0; k < frames; k++) {
        char *text;
        uint64_t length;
        if (pl_log_read(reader, k, PL_LOG_METRICS, &text, &length) == PL_LOG_OK) {
            pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
            if (metrics) {
                pl_fit_curves_take(c, metrics);
            }
            pl_json_free(metrics);
            free(text);
        }
    }
}

double *pl_fit_values_of(const pl_fit *fit, const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_log_reader *reader = NULL;
    double *values = NULL;
    pl_fit_curves *c = fd >= 0 ? pl_fit_curves_create(fit) : NULL;
    if (c && pl_log_reader_open(fd, &reader) == PL_OK) {
        take_log(c, reader);
        values = pl_fit_curves_values(c);
    }
    int error = errno;
    pl_fit_curves_destroy(c);
    pl_log_reader_close(reader);
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return values;
}
