#include "engine/linear/spectrum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Maximum number of products; how much the least Ritz value may still have fallen over the last quarter of them,
 * and the margin subtracted for it. */
enum { STEPS = 400, FIRST_LOOK = 16 };
static const double SETTLED = 0.02, OFF = 0.9, OFF_UNSETTLED = 0.5;
static const double LEAST = PL_SPECTRUM_LEAST;

/* The largest row sum of |D^-1/2 A D^-1/2|, which no eigenvalue exceeds (Gershgorin). */
static double largest_row(const pl_sparse *a, const double *scale, double *sum)
{
    double most = 0;
    for (int64_t i = 0; i < a->n; i++)
        sum[i] = 0;
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t e = a->column[j]; e < a->column[j + 1]; e++) {
            int32_t i = a->row[e];
            double value = fabs(a->value[e]) * scale[i] * scale[j];
            sum[i] += value;
            if (i != j)
                sum[j] += value;
        }
    for (int64_t i = 0; i < a->n; i++)
        most = fmax(most, sum[i]);
    return most;
}

/* True if the tridiagonal matrix has an eigenvalue below `at`: a negative pivot of T - at. */
static bool any_below(const double *alpha, const double *beta, int32_t count, double at)
{
    double pivot = alpha[0] - at;
    for (int32_t k = 1; k < count && pivot > 0; k++)
        pivot = alpha[k] - at - beta[k - 1] * beta[k - 1] / pivot;
    return !(pivot > 0);
}

double pl_spectrum_least_of(const double *alpha, const double *beta, int32_t count, double most)
{
    double low = LEAST, high = most;
    while (high > 1.001 * low) {
        double middle = sqrt(low * high);
        *(any_below(alpha, beta, count, middle) ? &high : &low) = middle;
    }
    return low;
}

/* One Lanczos step: v_old, v become v, v_new; its alpha and beta. w: scratch. */
static void take_step(const pl_sparse *a, const double *scale, double *v_old, double *v, double *w,
                      double beta_old, double *alpha, double *beta)
{
    double dot = 0, square = 0;
    for (int64_t i = 0; i < a->n; i++)
        w[i] = scale[i] * v[i];
    double *product = w + a->n;
    pl_sparse_multiply(a, w, product, 1);
    for (int64_t i = 0; i < a->n; i++) {
        product[i] = scale[i] * product[i] - beta_old * v_old[i];
        dot += product[i] * v[i];
    }
    for (int64_t i = 0; i < a->n; i++) {
        product[i] -= dot * v[i];
        square += product[i] * product[i];
    }
    double norm = sqrt(square), inverse = norm > 0 ? 1 / norm : 0;
    for (int64_t i = 0; i < a->n; i++) {
        v_old[i] = v[i];
        v[i] = inverse * product[i];
    }
    *alpha = dot;
    *beta = norm;
}

/* A start with components of every eigenvector, the same every time. */
static void fill_start(double *v, int64_t n)
{
    uint64_t state = 1;
    double square = 0;
    for (int64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        v[i] = 1 + ldexp((double)(state >> 11), -53); /* also of the smooth ones */
        square += v[i] * v[i];
    }
    for (int64_t i = 0; i < n; i++)
        v[i] /= sqrt(square);
}

static double find_least(const pl_sparse *a, const double *scale, double most, double *work)
{
    double alpha[STEPS], beta[STEPS], last = INFINITY;
    double *v_old = work, *v = work + a->n, *w = work + 2 * a->n;
    fill_start(v, a->n);
    int32_t steps = a->n < STEPS ? (int32_t)a->n : STEPS, look = FIRST_LOOK;
    for (int64_t i = 0; i < a->n; i++)
        v_old[i] = 0;
    for (int32_t k = 0; k < steps; k++) {
        take_step(a, scale, v_old, v, w, k > 0 ? beta[k - 1] : 0, &alpha[k], &beta[k]);
        bool end = k + 1 == steps || beta[k] <= LEAST * most;
        if (k + 1 < look && !end)
            continue;
        double found = pl_spectrum_least_of(alpha, beta, k + 1, most);
        if (beta[k] <= LEAST * most || found >= (1 - SETTLED) * last)
            return OFF * found;
        last = found;
        look = k + 1 + (k + 1) / 4;
    }
    return (a->n <= STEPS ? OFF : OFF_UNSETTLED) * last;
}

pl_status pl_spectrum_find(const pl_sparse *a, double floor, pl_spectrum *out)
{
    *out = (pl_spectrum){1, 1};
    double *work = malloc((size_t)(5 * a->n + 1) * sizeof *work);
    if (!work)
        return PL_NO_MEMORY;
    double *scale = work + 4 * a->n;
    for (int64_t i = 0; i < a->n; i++)
        scale[i] = 1 / sqrt(a->value[a->column[i]]);
    if (a->n > 0) {
        double most = largest_row(a, scale, work);
        double least = find_least(a, scale, most, work);
        *out = (pl_spectrum){fmin(fmax(least, floor), most), most};
    }
    free(work);
    return PL_OK;
}
