/* closest.h - closest points of two features; the same source for the host and for devices.
 *
 * Positions are double[3]. Features may be degenerate: a side without length is treated as a point, a triangle
 * without area as its sides. One number for each side and each corner of a feature decides where a closest point
 * lies (a face, a side, a corner). Every triangle that shares a side computes the same number, provided that
 * corners are passed in one order (pl_contact_surface keeps them ascending). So two triangles never both claim, or
 * both reject, a point above their common side.
 */
#ifndef PLIANT_ENGINE_CONTACT_CLOSEST_H
#define PLIANT_ENGINE_CONTACT_CLOSEST_H

#include "engine/vectors.h"

#include <math.h>
#include <stdbool.h>

/* A point closer to the end of a side than this fraction of its length counts as on the corner; a point closer to a
 * side than this fraction of the triangle's height counts as on the side. */
#define PL_CLOSEST_SNAP 1e-9
/* A triangle is degenerate if its height is below 1e-10 of its sides; two lines are parallel by the same measure.
 * The constants are squares. */
#define PL_CLOSEST_FLAT 1e-20

/* Part of a triangle on which the closest point lies. Side k joins corners 01, 02, 12. */
typedef enum pl_closest_place {
    PL_CLOSEST_FACE,
    PL_CLOSEST_SIDE,                         /* + k */
    PL_CLOSEST_CORNER = PL_CLOSEST_SIDE + 3, /* + k */
} pl_closest_place;

typedef struct pl_closest {
    double square; /* squared distance, m^2 */
    double b[3];   /* weights of the closest point of the second feature; sum 1 */
    int place;     /* for a triangle, a pl_closest_place; for an edge, 0 inside, 1 or 2 at an end */
} pl_closest;

/* Parameter, on the line from a to b, of the point closest to p: 0 at a, 1 at b, not clamped. */
PL_EVERYWHERE double pl_closest_on_line(const double *p, const double *a, const double *b)
{
    double e[3], r[3];
    pl_vector_subtract(b, a, e);
    pl_vector_subtract(p, a, r);
    double square = pl_vector_dot(e, e);
    return square > 0 ? pl_vector_dot(r, e) / square : 0;
}

PL_EVERYWHERE double pl_closest_snapped(double t)
{
    return t > PL_CLOSEST_SNAP ? (t < 1 - PL_CLOSEST_SNAP ? t : 1) : 0;
}

/* Vertex and edge. */
PL_EVERYWHERE pl_closest pl_closest_edge(const double *p, const double *a, const double *b)
{
    double t = pl_closest_snapped(pl_closest_on_line(p, a, b)), square = 0;
    for (int c = 0; c < 3; c++) {
        double d = p[c] - a[c] - t * (b[c] - a[c]);
        square += d * d;
    }
    return (pl_closest){square, {1 - t, t, 0}, t <= 0 ? 1 : t >= 1 ? 2 : 0};
}

/* Barycentric weight of corner `o` at the projection of p into the plane of triangle a, b, o: at most 0 beyond the
 * side ab, 1 at o. Degenerate triangles have no inside: -1. */
PL_EVERYWHERE double pl_closest_inside(const double *p, const double *a, const double *b,
                                       const double *o)
{
    double e[3], h[3], r[3];
    pl_vector_subtract(b, a, e);
    pl_vector_subtract(o, a, h);
    pl_vector_subtract(p, a, r);
    double side = pl_vector_dot(e, e), other = pl_vector_dot(h, h);
    double along = side > 0 ? pl_vector_dot(h, e) / side : 0;
    for (int c = 0; c < 3; c++)
        h[c] -= along * e[c];
    double height = pl_vector_dot(h, h);
    if (!(height > PL_CLOSEST_FLAT * (side > other ? side : other)))
        return -1;
    return pl_vector_dot(r, h) / height;
}

PL_EVERYWHERE pl_closest pl_closest_face(const double *p, const double *const x[3],
                                         const double w[3])
{
    double sum = w[0] + w[1] + w[2], square = 0;
    pl_closest out = {0, {1 - (w[1] / sum + w[2] / sum), w[1] / sum, w[2] / sum}, PL_CLOSEST_FACE};
    for (int c = 0; c < 3; c++) {
        double d = p[c] - x[0][c] - out.b[1] * (x[1][c] - x[0][c]) - out.b[2] * (x[2][c] - x[0][c]);
        square += d * d;
    }
    out.square = square;
    return out;
}

/* Vertex and triangle: the face if p projects inside all sides, else the nearest side. */
PL_EVERYWHERE pl_closest pl_closest_triangle(const double *p, const double *const x[3])
{
    const double w[3] = {pl_closest_inside(p, x[1], x[2], x[0]),
                         pl_closest_inside(p, x[0], x[2], x[1]),
                         pl_closest_inside(p, x[0], x[1], x[2])};
    if (w[0] > PL_CLOSEST_SNAP && w[1] > PL_CLOSEST_SNAP && w[2] > PL_CLOSEST_SNAP)
        return pl_closest_face(p, x, w);
    pl_closest best = {0};
    for (int k = 0; k < 3; k++) {
        int i = k == 2, j = k == 0 ? 1 : 2; /* sides 01, 02, 12 */
        pl_closest one = pl_closest_edge(p, x[i], x[j]);
        if (k > 0 && !(one.square < best.square))
            continue;
        double s = one.b[0], t = one.b[1];
        best.square = one.square;
        best.b[0] = best.b[1] = best.b[2] = 0;
        best.b[i] = s;
        best.b[j] = t;
        best.place = one.place == 0   ? PL_CLOSEST_SIDE + k
                     : one.place == 1 ? PL_CLOSEST_CORNER + i
                                      : PL_CLOSEST_CORNER + j;
    }
    return best;
}

/* Two edges a0 a1 and b0 b1: the closest points are a0 + s (a1 - a0) and b0 + t (b1 - b0). */
typedef struct pl_closest_pair {
    double square, s, t;
    bool inside; /* both points lie inside their edges, and the edges are not parallel */
} pl_closest_pair;

PL_EVERYWHERE pl_closest_pair pl_closest_at(const double *a0, const double *a1, const double *b0,
                                            const double *b1, double s, double t)
{
    pl_closest_pair out = {0, s, t, false};
    for (int c = 0; c < 3; c++) {
        double d = a0[c] - b0[c] + s * (a1[c] - a0[c]) - t * (b1[c] - b0[c]);
        out.square += d * d;
    }
    return out;
}

/* The nearest of the four end points to the other edge. */
PL_EVERYWHERE pl_closest_pair pl_closest_of_ends(const double *a0, const double *a1,
                                                 const double *b0, const double *b1)
{
    pl_closest_pair best = {0};
    for (int k = 0; k < 4; k++) {
        double s = k, t = k - 2;
        if (k < 2)
            t = pl_closest_snapped(pl_closest_on_line(k ? a1 : a0, b0, b1));
        else
            s = pl_closest_snapped(pl_closest_on_line(k == 3 ? b1 : b0, a0, a1));
        pl_closest_pair one = pl_closest_at(a0, a1, b0, b1, s, t);
        if (k == 0 || one.square < best.square)
            best = one;
    }
    return best;
}

/* Where the lines of two edges come closest: with n = ea x eb at s = ((b0 - a0) x eb) . n / n^2, and t likewise.
 * False unless both points lie inside their edges. */
PL_EVERYWHERE bool pl_closest_inside_edges(const double *a0, const double *a1, const double *b0,
                                           const double *b1, pl_closest_pair *out)
{
    double ea[3], eb[3], r[3], n[3], m[3];
    pl_vector_subtract(a1, a0, ea);
    pl_vector_subtract(b1, b0, eb);
    pl_vector_subtract(b0, a0, r);
    pl_vector_cross(ea, eb, n);
    double square = pl_vector_dot(n, n), least = PL_CLOSEST_SNAP * square;
    if (!(square > PL_CLOSEST_FLAT * (pl_vector_dot(ea, ea) * pl_vector_dot(eb, eb))))
        return false;
    pl_vector_cross(r, eb, m);
    double s = pl_vector_dot(m, n);
    if (!(s > least && s < square - least))
        return false;
    pl_vector_cross(r, ea, m);
    double t = pl_vector_dot(m, n);
    if (!(t > least && t < square - least))
        return false;
    *out = pl_closest_at(a0, a1, b0, b1, s / square, t / square);
    out->inside = true;
    return true;
}

PL_EVERYWHERE pl_closest_pair pl_closest_edges(const double *a0, const double *a1, const double *b0,
                                               const double *b1)
{
    pl_closest_pair out;
    if (pl_closest_inside_edges(a0, a1, b0, b1, &out))
        return out;
    return pl_closest_of_ends(a0, a1, b0, b1);
}

#endif
