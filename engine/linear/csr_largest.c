/* The largest eigenvalue of D^-1 A, by Lanczos' process on D^-1/2 A D^-1/2. */
#include "engine/linear/csr.h"
#include "engine/linear/spectrum.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 12 };
static const double MARGIN = 1.05;

/* scale = D^-1/2, and the largest row sum of |D^-1 A|. */
static double set_scale(const pl_csr *a, double *scale)
{
    double most = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double diagonal = pl_csr_diagonal(a, i), sum = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            sum += fabs(a->value[e]);
        if (!(diagonal > 0) || !isfinite(sum))
            return INFINITY;
        scale[i] = 1 / sqrt(diagonal);
        most = fmax(most, sum / diagonal);
    }
    return most;
}

/* A start of every sign and size, the same every time; normed. */
static void fill_start(double *v, int64_t n)
{
    uint64_t state = 1;
    double square = 0;
    for (int64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        v[i] = ldexp((double)(state >> 11), -52) - 1;
        square += v[i] * v[i];
    }
    for (int64_t i = 0; i < n; i++)
        v[i] /= sqrt(square);
}

/* One step: v_old, v become v, v_new; its alpha; returns its beta. w: scratch. */
static double take_step(const pl_csr *a, const double *scale, double *v_old, double *v, double *w,
                        double beta_old, double *alpha)
{
    double dot = 0, square = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            sum += a->value[e] * scale[a->column[e]] * v[a->column[e]];
        w[i] = scale[i] * sum - beta_old * v_old[i];
        dot += w[i] * v[i];
    }
    for (int64_t i = 0; i < a->rows; i++) {
        w[i] -= dot * v[i];
        square += w[i] * w[i];
    }
    double beta = sqrt(square), inverse = beta > 0 ? 1 / beta : 0;
    for (int64_t i = 0; i < a->rows; i++) {
        v_old[i] = v[i];
        v[i] = inverse * w[i];
    }
    *alpha = dot;
    return beta;
}

pl_status pl_csr_largest(const pl_csr *a, double *out)
{
    double *scale = calloc((size_t)(4 * a->rows + 1), sizeof *scale), beside[STEPS], down[STEPS];
    if (!scale)
        return PL_NO_MEMORY;
    double *v_old = scale + a->rows, *v = v_old + a->rows, *w = v + a->rows, beta = 0;
    const double most = set_scale(a, scale);
    int32_t count = 0;
    fill_start(v, a->rows);
    /* The largest eigenvalue of T is most less the least one of most - T. */
    while (isfinite(most) && count < STEPS && count < a->rows) {
        double alpha;
        beta = take_step(a, scale, v_old, v, w, beta, &alpha);
        down[count] = most - alpha;
        beside[count++] = beta;
        if (!(beta > PL_SPECTRUM_LEAST * most))
            break;
    }
    free(scale);
    *out = most;
    if (count > 0)
        *out = fmin(most, MARGIN * (most - pl_spectrum_least_of(down, beside, count, most)));
    return PL_OK;
}
