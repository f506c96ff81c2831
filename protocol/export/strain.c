#include "protocol/export/strain.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

typedef struct edges {
    double e[3][3]; /* e[k]: from corner 0 to corner k + 1 */
} edges;

static edges edges_of(int corners, const int32_t *corner, const float *x)
{
    edges out = {{{0}}};
    for (int k = 0; k + 1 < corners; k++)
        for (int i = 0; i < 3; i++)
            out.e[k][i] = (double)x[3 * (int64_t)corner[k + 1] + i] -
                          (double)x[3 * (int64_t)corner[0] + i];
    return out;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The inner products of the edges: D^T D. */
static void gram(int n, const edges *d, double g[3][3])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            g[i][j] = dot(d->e[i], d->e[j]);
}

/* The lower triangle L of L L^T = g; false if g is not positive definite. */
static int factor(int n, double g[3][3])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++)
                g[i][j] -= g[i][k] * g[j][k];
        if (!(g[j][j] > 0))
            return 0;
        double pivot = sqrt(g[j][j]);
        for (int i = j; i < n; i++)
            g[i][j] /= pivot;
    }
    return 1;
}

/* L^-1 s L^-T, whose eigenvalues are those of F^T F: F^T F = D0^-T (D^T D) D0^-1 and L L^T = D0^T D0. */
static void reduce(int n, double l[3][3], double s[3][3])
{
    for (int side = 0; side < 2; side++)
        for (int column = 0; column < n; column++)
            for (int i = 0; i < n; i++) {
                double *at = side ? &s[column][i] : &s[i][column];
                for (int k = 0; k < i; k++)
                    *at -= l[i][k] * (side ? s[column][k] : s[k][column]);
                *at /= l[i][i];
            }
}

double pl_strain_of_element(int corners, const int32_t *corner, const float *x, const float *rest,
                            double c[3][3])
{
    int n = corners - 1;
    edges d0 = edges_of(corners, corner, rest), d = edges_of(corners, corner, x);
    double l[3][3] = {{0}}, size = 1;
    gram(n, &d0, l);
    if (!factor(n, l))
        return 0;
    for (int k = 0; k < n; k++)
        size *= l[k][k];
    gram(n, &d, c);
    reduce(n, l, c);
    return size;
}

/* The largest eigenvalue of a symmetric matrix of 1 or 2 rows. */
static double largest(int n, double s[3][3])
{
    if (n == 1)
        return s[0][0];
    double mean = (s[0][0] + s[1][1]) / 2, half = (s[0][0] - s[1][1]) / 2;
    return mean + hypot(half, s[0][1]);
}

static void measure_one(int corners, const int32_t *corner, const float *x, const float *rest,
                        float *volume_ratio, float *stretch)
{
    int n = corners - 1;
    edges d0 = edges_of(corners, corner, rest), d = edges_of(corners, corner, x);
    double l[3][3] = {{0}}, s[3][3] = {{0}}, size0 = 1;
    gram(n, &d0, l);
    gram(n, &d, s);
    double g[3][3] = {{s[0][0], s[0][1]}, {s[1][0], s[1][1]}};
    if (!factor(n, l)) {
        *volume_ratio = *stretch = NAN;
        return;
    }
    for (int k = 0; k < n; k++)
        size0 *= l[k][k];
    double size = n == 2 ? g[0][0] * g[1][1] - g[0][1] * g[0][1] : g[0][0];
    reduce(n, l, s);
    *volume_ratio = (float)(sqrt(fmax(size, 0)) / size0);
    *stretch = (float)sqrt(fmax(largest(n, s), 0));
}

/* ---- tetrahedra ---- */
/* Most elements are tetrahedra, so several are done at a time, without a branch. */

enum { LANES = 16 };

/* Corners of several tetrahedra at rest and in the frame: [corner][coordinate][lane]. */
typedef struct block {
    float rest[4][3][LANES], now[4][3][LANES];
    float ratio[LANES], stretch[LANES];
} block;

static void gather(block *b, int count, const int32_t *corner, const float *x, const float *rest)
{
    for (int l = 0; l < LANES; l++) {
        const int32_t *c = corner + 4 * (int64_t)(l < count ? l : count - 1);
        for (int k = 0; k < 4; k++) {
            const float *xk = x + 3 * (int64_t)c[k], *rk = rest + 3 * (int64_t)c[k];
            b->now[k][0][l] = xk[0];
            b->now[k][1][l] = xk[1];
            b->now[k][2][l] = xk[2];
            b->rest[k][0][l] = rk[0];
            b->rest[k][1][l] = rk[1];
            b->rest[k][2][l] = rk[2];
        }
    }
}

/* 2 cos(acos(r) / 3) for r from -1 to 1, to 2e-10. With s = cos(acos(r) / 2) it is 2 cos(2 acos(s) / 3), which is
 * smooth from 0 to 1, as a polynomial in 2 s - 1. */
__attribute__((always_inline)) static inline double third_of_angle(double r)
{
    double t = 2 * sqrt(0.5 * (1 + r)) - 1, y = -4.146575091699543e-07;
    y = y * t + 1.4245480427096561e-06;
    y = y * t - 3.957999716428436e-06;
    y = y * t + 1.4770220159240887e-05;
    y = y * t - 5.790053127277722e-05;
    y = y * t + 0.00023299095116701446;
    y = y * t - 0.0010082349220047553;
    y = y * t + 0.00493268022890658;
    y = y * t - 0.031018378126618115;
    y = y * t + 0.4948181339291284;
    y = y * t + 1.5320888862555118;
    return y;
}

/* One tetrahedron: F = D D0^-1, whose rows are F_i = sum_k D_ik (D0^-1)_k, then det F = det D / det D0 and the
 * largest eigenvalue of C = F^T F (Smith 1961). */
__attribute__((always_inline)) static inline void measure_lane(block *b, int l)
{
    /* Edges. */
    double a00 = (double)b->rest[1][0][l] - (double)b->rest[0][0][l],
           a01 = (double)b->rest[1][1][l] - (double)b->rest[0][1][l],
           a02 = (double)b->rest[1][2][l] - (double)b->rest[0][2][l];
    double a10 = (double)b->rest[2][0][l] - (double)b->rest[0][0][l],
           a11 = (double)b->rest[2][1][l] - (double)b->rest[0][1][l],
           a12 = (double)b->rest[2][2][l] - (double)b->rest[0][2][l];
    double a20 = (double)b->rest[3][0][l] - (double)b->rest[0][0][l],
           a21 = (double)b->rest[3][1][l] - (double)b->rest[0][1][l],
           a22 = (double)b->rest[3][2][l] - (double)b->rest[0][2][l];
    double d00 = (double)b->now[1][0][l] - (double)b->now[0][0][l],
           d01 = (double)b->now[1][1][l] - (double)b->now[0][1][l],
           d02 = (double)b->now[1][2][l] - (double)b->now[0][2][l];
    double d10 = (double)b->now[2][0][l] - (double)b->now[0][0][l],
           d11 = (double)b->now[2][1][l] - (double)b->now[0][1][l],
           d12 = (double)b->now[2][2][l] - (double)b->now[0][2][l];
    double d20 = (double)b->now[3][0][l] - (double)b->now[0][0][l],
           d21 = (double)b->now[3][1][l] - (double)b->now[0][1][l],
           d22 = (double)b->now[3][2][l] - (double)b->now[0][2][l];
    /* The adjugate's rows: cross products of the edges. */
    double u0 = a11 * a22 - a12 * a21, u1 = a12 * a20 - a10 * a22, u2 = a10 * a21 - a11 * a20;
    double v0 = a21 * a02 - a22 * a01, v1 = a22 * a00 - a20 * a02, v2 = a20 * a01 - a21 * a00;
    double w0 = a01 * a12 - a02 * a11, w1 = a02 * a10 - a00 * a12, w2 = a00 * a11 - a01 * a10;
    double det0 = a00 * u0 + a01 * u1 + a02 * u2, scale = 1 / det0;
    double x0 = d00 * u0 + d10 * v0 + d20 * w0, x1 = d00 * u1 + d10 * v1 + d20 * w1,
           x2 = d00 * u2 + d10 * v2 + d20 * w2;
    double y0 = d01 * u0 + d11 * v0 + d21 * w0, y1 = d01 * u1 + d11 * v1 + d21 * w1,
           y2 = d01 * u2 + d11 * v2 + d21 * w2;
    double z0 = d02 * u0 + d12 * v0 + d22 * w0, z1 = d02 * u1 + d12 * v1 + d22 * w1,
           z2 = d02 * u2 + d12 * v2 + d22 * w2;

    double detF = (x0 * (y1 * z2 - y2 * z1) + x1 * (y2 * z0 - y0 * z2) + x2 * (y0 * z1 - y1 * z0)) *
                  (scale * scale * scale);
    double s = scale * scale;
    double c00 = s * (x0 * x0 + y0 * y0 + z0 * z0), c11 = s * (x1 * x1 + y1 * y1 + z1 * z1),
           c22 = s * (x2 * x2 + y2 * y2 + z2 * z2), c01 = s * (x0 * x1 + y0 * y1 + z0 * z1),
           c02 = s * (x0 * x2 + y0 * y2 + z0 * z2), c12 = s * (x1 * x2 + y1 * y2 + z1 * z2);
    double q = (c00 + c11 + c22) * (1.0 / 3);
    double a = c00 - q, bb = c11 - q, c = c22 - q;
    double p2 = (a * a + bb * bb + c * c + 2 * (c01 * c01 + c02 * c02 + c12 * c12)) * (1.0 / 6);
    double p = sqrt(p2), det = a * (bb * c - c12 * c12) - c01 * (c01 * c - c12 * c02) +
                               c02 * (c01 * c12 - bb * c02);
    double r = det / (2 * p2 * p + 1e-300);
    r = r < -1 ? -1 : r > 1 ? 1 : r;
    double largest_square = q + p * third_of_angle(r);
    b->ratio[l] = (float)detF;
    b->stretch[l] = (float)sqrt(largest_square > 0 ? largest_square : 0);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void
measure_block(block *b)
{
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        measure_lane(b, l);
}

static void measure_tets(int64_t count, const int32_t *corner, const float *x, const float *rest,
                         float *volume_ratio, float *stretch)
{
    block b;
    for (int64_t i = 0; i < count; i += LANES) {
        int n = count - i < LANES ? (int)(count - i) : LANES;
        gather(&b, n, corner + 4 * i, x, rest);
        measure_block(&b);
        for (int l = 0; l < n; l++) {
            bool flat = !(fabsf(b.ratio[l]) <= FLT_MAX);
            volume_ratio[i + l] = flat ? NAN : b.ratio[l];
            stretch[i + l] = flat ? NAN : b.stretch[l];
        }
    }
}

void pl_strain_of_cells(int corners, int64_t count, const int32_t *corner, const float *x,
                        const float *rest, float *volume_ratio, float *stretch)
{
    if (corners == 4) {
        measure_tets(count, corner, x, rest, volume_ratio, stretch);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        measure_one(corners, corner + i * corners, x, rest, &volume_ratio[i], &stretch[i]);
}
