#include "engine/model/splines.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static_assert((int)PL_SPLINE_POINTS_MAX == (int)PL_SPLINE_KNOTS_MAX, "a knot a point");

/* A spline by its knots x, ascending, and its second derivatives m there; constant outside. */
typedef struct knots {
    int32_t count;
    double x[PL_SPLINE_KNOTS_MAX], m[PL_SPLINE_KNOTS_MAX];
    double slope; /* f'(1) */
} knots;

static void write_spline(const knots *k, double *out)
{
    memset(out, 0, PL_SPLINE_NUMBERS * sizeof *out);
    out[0] = k->count;
    out[2] = k->slope;
    if (k->count == 0)
        return;
    out[3] = k->m[0];
    double rise = 0;
    for (int32_t i = 0; i < k->count; i++) {
        const bool last = i + 1 == k->count;
        const double next = last ? 0 : (k->m[i + 1] - k->m[i]) / (k->x[i + 1] - k->x[i]);
        const double e = next - rise, past = fmax(1 - k->x[i], 0);
        out[4 + 2 * i] = k->x[i];
        out[5 + 2 * i] = e;
        out[1] -= e * past * past * past / 6;
        out[2] -= e * past * past / 2;
        rise = next;
    }
}

/* The integral from x_0 to x of the second derivative. */
static double turned(const knots *k, double x)
{
    double sum = fmin(x - k->x[0], 0) * k->m[0];
    for (int32_t i = 0; i + 1 < k->count && x > k->x[i]; i++) {
        const double h = k->x[i + 1] - k->x[i], to = fmin(x - k->x[i], h);
        sum += to * (k->m[i] + (k->m[i + 1] - k->m[i]) * to / (2 * h));
    }
    return sum + fmax(x - k->x[k->count - 1], 0) * k->m[k->count - 1];
}

/* The natural spline through points: h_(i-1) m_(i-1) + 2 (h_(i-1) + h_i) m_i + h_i m_(i+1) is six times the change
 * of slope of the chords at i, and m is 0 at the ends. Thomas' algorithm. */
static knots through_points(const double (*point)[2], int32_t count)
{
    knots k = {.count = count};
    double upper[PL_SPLINE_KNOTS_MAX] = {0};
    if (count < 2)
        return (knots){0};
    for (int32_t i = 0; i < count; i++)
        k.x[i] = point[i][0];
    for (int32_t i = 1; i + 1 < count; i++) {
        const double h = k.x[i] - k.x[i - 1], next = k.x[i + 1] - k.x[i];
        const double chords = (point[i + 1][1] - point[i][1]) / next -
                              (point[i][1] - point[i - 1][1]) / h;
        const double pivot = 2 * (h + next) - h * upper[i - 1];
        upper[i] = next / pivot;
        k.m[i] = (6 * chords - h * k.m[i - 1]) / pivot;
    }
    k.m[count - 1] = 0;
    for (int32_t i = count - 2; i > 0; i--)
        k.m[i] -= upper[i] * k.m[i + 1];
    const double h = k.x[1] - k.x[0];
    const double first = (point[1][1] - point[0][1]) / h - h * (2 * k.m[0] + k.m[1]) / 6;
    k.slope = first + turned(&k, 1);
    return k;
}

/* Solves the n x n system M y = r for a positive definite M, both overwritten; y in r. */
static void solve(int n, double M[PL_SPLINE_KNOTS_MAX][PL_SPLINE_KNOTS_MAX], double *r)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const double f = M[j][i] / M[i][i];
            for (int c = i; c < n; c++)
                M[j][c] -= f * M[i][c];
            r[j] -= f * r[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int c = i + 1; c < n; c++)
            r[i] -= M[i][c] * r[c];
        r[i] /= M[i][i];
    }
}

/* a'(x), the integral of m from 1, is the least-squares fit to the curve's stresses; the least second differences
 * of m determine what the curve leaves open. b = c = 0, so the sides of a pulled bar stay in place and a' is its
 * stress. */
static knots fitted_to_curve(const double (*curve)[2], int32_t count)
{
    knots k = {.count = count + 1 < 8 ? count + 1 : 8};
    const double low = fmin(curve[0][0], 1), high = fmax(curve[count - 1][0], 1);
    const int n = k.count;
    double M[PL_SPLINE_KNOTS_MAX][PL_SPLINE_KNOTS_MAX] = {{0}};
    for (int i = 0; i < n; i++)
        k.x[i] = low + (high - low) * i / (n - 1);
    double trace = 0, r[PL_SPLINE_KNOTS_MAX] = {0};
    for (int32_t d = 0; d < count; d++) {
        double phi[PL_SPLINE_KNOTS_MAX];
        for (int i = 0; i < n; i++) {
            knots hat = k;
            memset(hat.m, 0, sizeof hat.m);
            hat.m[i] = 1;
            phi[i] = turned(&hat, curve[d][0]) - turned(&hat, 1);
        }
        for (int i = 0; i < n; i++) {
            r[i] += phi[i] * curve[d][1];
            trace += phi[i] * phi[i];
            for (int j = 0; j < n; j++)
                M[i][j] += phi[i] * phi[j];
        }
    }
    static const double difference[3] = {1, -2, 1};
    for (int first = 0; first + 2 < n; first++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                M[first + i][first + j] += 1e-7 * trace * difference[i] * difference[j];
    for (int i = 0; i < n; i++)
        M[i][i] += 1e-13 * trace;
    solve(n, M, r);
    memcpy(k.m, r, sizeof r);
    return k;
}

/* Liu 2017, figure 6: "a modified neo-Hookean material with stronger resistance to compression", A, "to tension",
 * B. a = mu/2 (x^2 - 1) with a curvature that grows to thirty times mu within three quarters of rest; c = lambda/2
 * (log J)^2 - mu log J through nine knots. Small strain matches Lame's constants, whose second derivatives are
 * knots. */
static void modified_neo_hookean(bool tension, pl_lame_constants lame, knots *a, knots *c)
{
    static const double volumes[] = {0.25, 0.4, 0.6, 0.8, 1, 1.25, 1.6, 2, 3};
    const double away = tension ? 1 : -1, mu = lame.mu;
    const double grown[3] = {1, 4, 30}, at[3] = {0, 0.25, 0.75};
    *a = (knots){.count = 3, .slope = mu};
    for (int i = 0; i < 3; i++) {
        const int to = tension ? i : 2 - i;
        a->x[to] = 1 + away * at[i];
        a->m[to] = grown[i] * mu;
    }
    *c = (knots){.count = 9, .slope = -mu};
    for (int i = 0; i < 9; i++) {
        const double J = volumes[i];
        c->x[i] = J;
        c->m[i] = fmax((mu + lame.lambda * (1 - log(J))) / (J * J), 0.1 * mu);
    }
}

static double curvature_at_rest(const knots *k)
{
    double m = k->count ? k->m[0] : 0;
    for (int32_t i = 0; i + 1 < k->count && k->x[i] <= 1; i++) {
        const double t = fmin((1 - k->x[i]) / (k->x[i + 1] - k->x[i]), 1);
        m = k->m[i] + t * (k->m[i + 1] - k->m[i]);
    }
    return m;
}

double pl_splines_make(const pl_splines *splines, pl_lame_constants lame, double *shared)
{
    knots f[3] = {{0}};
    switch (splines->kind) {
    case PL_SPLINES_NONE: /* as for A */
    case PL_SPLINES_A:
    case PL_SPLINES_B:
        modified_neo_hookean(splines->kind == PL_SPLINES_B, lame, &f[0], &f[2]);
        break;
    case PL_SPLINES_POINTS:
        for (int i = 0; i < 3; i++)
            f[i] = through_points(splines->points[i], splines->count[i]);
        break;
    case PL_SPLINES_CURVE:
        f[0] = fitted_to_curve(splines->curve, splines->curve_count);
        break;
    }
    f[0].slope = -2 * f[1].slope - f[2].slope;
    for (int i = 0; i < 3; i++)
        write_spline(&f[i], shared + i * PL_SPLINE_NUMBERS);
    return (curvature_at_rest(&f[0]) + curvature_at_rest(&f[1]) - f[1].slope - f[2].slope) / 2;
}

/* Outside its knots a spline is a parabola, or a line if its curvature is negligible. */
bool pl_spline_is_bounded(const double *spline)
{
    const int n = (int)spline[0];
    double largest = fabs(spline[3]), bend = spline[3], slope = spline[2] - spline[3];
    const double low = n ? spline[4] : 1, high = n ? spline[4 + 2 * (n - 1)] : 1;
    const double left = slope + spline[3] * low;
    slope += spline[3] * high;
    for (int k = 0; k < n; k++) {
        const double past = high - spline[4 + 2 * k], e = spline[5 + 2 * k];
        bend += e * past;
        slope += e * past * past / 2;
        largest = fmax(largest, fabs(e) * (high - low));
    }
    const double none = 1e-9 * largest, level = none * fmax(high - low, 1);
    return (spline[3] > none || (spline[3] >= -none && left <= level)) &&
           (bend > none || (bend >= -none && slope >= -level));
}
