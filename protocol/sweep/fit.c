#include "protocol/sweep/fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *const pl_fit_method_names[] = {"bobyqa",  "cobyla", "nelder_mead",
                                           "subplex", "direct", NULL};

static void clear_quantity(pl_fit_quantity *q)
{
    free(q->metric);
    free(q->probe);
}

void pl_fit_destroy(pl_fit *fit)
{
    for (int32_t i = 0; fit && i < fit->count; i++) {
        clear_quantity(&fit->series[i].value);
        clear_quantity(&fit->series[i].against);
        free(fit->series[i].x);
        free(fit->series[i].y);
    }
    if (fit)
        free(fit->series);
    free(fit);
}

/* ---- a run's values ---- */

static bool spans(const double *x, int64_t k, double at)
{
    return (x[k] <= at && at <= x[k + 1]) || (x[k + 1] <= at && at <= x[k]);
}

/* The first segment from `from` on, wrapping around, that contains `at`; -1: none. */
static int64_t segment_of(const double *x, int64_t n, double at, int64_t from)
{
    for (int64_t k = from; k + 1 < n; k++)
        if (spans(x, k, at))
            return k;
    for (int64_t k = 0; k < from && k + 1 < n; k++)
        if (spans(x, k, at))
            return k;
    return -1;
}

void pl_fit_values(const pl_fit_series *s, const double *x, const double *y, int64_t n,
                   double *values)
{
    int64_t least = 0, most = 0, segment = 0;
    for (int64_t k = 1; k < n; k++) {
        least = x[k] < x[least] ? k : least;
        most = x[k] > x[most] ? k : most;
    }
    for (int64_t i = 0; i < s->count; i++) {
        double at = s->x[i];
        if (n == 0 || at <= x[least] || at >= x[most]) {
            values[i] = n == 0 ? NAN : at <= x[least] ? y[least] : y[most];
            continue;
        }
        segment = segment_of(x, n, at, segment);
        double width = x[segment + 1] - x[segment];
        double part = width != 0 ? (at - x[segment]) / width : 0;
        values[i] = y[segment] + part * (y[segment + 1] - y[segment]);
    }
}

double pl_fit_misfit(const pl_fit *fit, const double *values)
{
    double sum = 0, weights = 0;
    for (int32_t k = 0; k < fit->count; k++) {
        const pl_fit_series *s = &fit->series[k];
        double squares = 0;
        for (int64_t i = 0; i < s->count; i++) {
            double r = (values[i] - s->y[i]) / s->scale;
            squares += r * r;
        }
        sum += s->weight * squares / (double)s->count;
        weights += s->weight;
        values += s->count;
    }
    return sqrt(sum / weights);
}
