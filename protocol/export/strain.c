#include "protocol/export/strain.h"

#include <math.h>

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

static double determinant(const edges *d)
{
    const double *a = d->e[0], *b = d->e[1], *c = d->e[2];
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* The edges' inner products: D^T D. */
static void gram(int n, const edges *d, double g[3][3])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            g[i][j] = dot(d->e[i], d->e[j]);
}

/* The lower triangle L of L L^T = g; false where g is not positive definite. */
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

/* The largest eigenvalue of a symmetric matrix, by the cosine formula (Smith 1961). */
static double largest(int n, double s[3][3])
{
    if (n == 1)
        return s[0][0];
    if (n == 2) {
        double mean = (s[0][0] + s[1][1]) / 2, half = (s[0][0] - s[1][1]) / 2;
        return mean + hypot(half, s[0][1]);
    }
    double q = (s[0][0] + s[1][1] + s[2][2]) / 3;
    double off = s[0][1] * s[0][1] + s[0][2] * s[0][2] + s[1][2] * s[1][2];
    double a = s[0][0] - q, b = s[1][1] - q, c = s[2][2] - q;
    double p = sqrt((a * a + b * b + c * c + 2 * off) / 6);
    if (p == 0)
        return q;
    double det = a * (b * c - s[1][2] * s[1][2]) - s[0][1] * (s[0][1] * c - s[1][2] * s[0][2]) +
                 s[0][2] * (s[0][1] * s[1][2] - b * s[0][2]);
    double r = det / (2 * p * p * p);
    return q + 2 * p * cos(acos(r < -1 ? -1 : r > 1 ? 1 : r) / 3);
}

void pl_strain_of_cells(int corners, int64_t count, const int32_t *corner, const float *x,
                        const float *rest, float *volume_ratio, float *stretch)
{
    int n = corners - 1;
    for (int64_t i = 0; i < count; i++) {
        edges d0 = edges_of(corners, corner + i * corners, rest),
              d = edges_of(corners, corner + i * corners, x);
        double l[3][3] = {{0}}, s[3][3] = {{0}}, size = 1, size0 = 1;
        gram(n, &d0, l);
        gram(n, &d, s);
        double g[3][3] = {
            {s[0][0], s[0][1], s[0][2]}, {s[1][0], s[1][1], s[1][2]}, {s[2][0], s[2][1], s[2][2]}};
        if (!factor(n, l)) {
            volume_ratio[i] = stretch[i] = NAN;
            continue;
        }
        for (int k = 0; k < n; k++)
            size0 *= l[k][k];
        if (n == 3)
            size = determinant(&d) / (determinant(&d0) < 0 ? -size0 : size0);
        else
            size = sqrt(fmax(n == 2 ? g[0][0] * g[1][1] - g[0][1] * g[0][1] : g[0][0], 0)) / size0;
        reduce(n, l, s);
        volume_ratio[i] = (float)size;
        stretch[i] = (float)sqrt(fmax(largest(n, s), 0));
    }
}
