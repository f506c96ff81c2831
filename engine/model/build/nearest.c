#include "engine/model/build/nearest.h"

#include <math.h>
#include <string.h>

/* The point of a simplex of n corners nearest to p: the projection to its plane if that is inside, else the nearest
 * on its faces. Barycentric weights; omitted corners have 0. */
static double nearest_of_simplex(const double *const x[4], int n, const double p[3],
                                 double weight[4])
{
    double e[3][3], r[3], G[3][3], y[3], d2 = 0;
    for (int k = 0; k < 3; k++)
        r[k] = p[k] - x[0][k];
    for (int i = 1; i < n; i++)
        for (int k = 0; k < 3; k++)
            e[i - 1][k] = x[i][k] - x[0][k];
    /* Normal equations by elimination, without pivots, because the Gram matrix is positive. */
    int m = n - 1;
    for (int i = 0; i < m; i++) {
        y[i] = e[i][0] * r[0] + e[i][1] * r[1] + e[i][2] * r[2];
        for (int j = 0; j < m; j++)
            G[i][j] = e[i][0] * e[j][0] + e[i][1] * e[j][1] + e[i][2] * e[j][2];
    }
    for (int i = 0; i < m; i++)
        for (int j = i + 1; j < m; j++) {
            double f = G[j][i] / G[i][i];
            for (int k = i; k < m; k++)
                G[j][k] -= f * G[i][k];
            y[j] -= f * y[i];
        }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++)
            y[i] -= G[i][k] * y[k];
        y[i] /= G[i][i];
    }
    double first = 1;
    bool inside = true;
    for (int i = 0; i < m; i++) {
        first -= y[i];
        inside = inside && y[i] >= 0;
    }
    if (inside && first >= 0) {
        weight[0] = first;
        for (int k = 0; k < 3; k++) {
            double q = x[0][k];
            for (int i = 0; i < m; i++)
                q += y[i] * e[i][k];
            d2 += (p[k] - q) * (p[k] - q);
        }
        for (int i = 0; i < m; i++)
            weight[1 + i] = y[i];
        return d2;
    }
    double best = INFINITY;
    for (int out = 0; out < n; out++) {
        const double *face[4];
        double w[4] = {0};
        for (int i = 0, k = 0; i < n; i++)
            if (i != out)
                face[k++] = x[i];
        d2 = nearest_of_simplex(face, n - 1, p, w);
        if (d2 >= best)
            continue;
        best = d2;
        for (int i = 0, k = 0; i < n; i++)
            weight[i] = i == out ? 0 : w[k++];
    }
    return best;
}

/* Squared distance of p from the box around a simplex: at most that from the simplex. */
static double box_distance(const double *const x[4], int n, const double p[3])
{
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
        double lo = x[0][k], hi = lo;
        for (int i = 1; i < n; i++) {
            lo = fmin(lo, x[i][k]);
            hi = fmax(hi, x[i][k]);
        }
        double d = fmax(0, fmax(lo - p[k], p[k] - hi));
        d2 += d * d;
    }
    return d2;
}

pl_nearest pl_nearest_of_body(const pl_layout *layout, int32_t body, const double p[3])
{
    pl_nearest out = {0};
    double best = INFINITY;
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
        const pl_elements *e = &layout->elements[kind];
        for (int64_t t = e->first[body]; t < e->first[body + 1]; t++) {
            const int32_t *corner = e->corner + e->corners * t;
            const double *x[4];
            double weight[4] = {0};
            for (int c = 0; c < e->corners; c++)
                x[c] = layout->rest + 3 * (int64_t)corner[c];
            if (box_distance(x, e->corners, p) >= best)
                continue;
            double d2 = nearest_of_simplex(x, e->corners, p, weight);
            if (d2 >= best)
                continue;
            best = d2;
            out.corners = e->corners;
            memcpy(out.corner, corner, (size_t)e->corners * sizeof *corner);
            memcpy(out.weight, weight, sizeof weight);
        }
    }
    out.distance = sqrt(best);
    return out;
}
