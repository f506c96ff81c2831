/* distance.h - what shape.h promises, as text for the host and for devices. */
#ifndef PLIANT_ENGINE_OBSTACLES_DISTANCE_H
#define PLIANT_ENGINE_OBSTACLES_DISTANCE_H

#include "engine/obstacles/primitives.h"

/* Least number of steps along a way; most short steps for a thin shape. */
enum { PL_SHAPE_PLACES = 256, PL_SHAPE_MOST = 4096 };

/* out = R in R^T. */
PL_EVERYWHERE void pl_turn_matrix(const double *R, double *H)
{
    double T[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[3 * i + j] = R[i] * H[j] + R[i + 3] * H[3 + j] + R[i + 6] * H[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] = T[3 * i] * R[j] + T[3 * i + 1] * R[j + 3] + T[3 * i + 2] * R[j + 6];
}

/* On a device it is called: kernels have it in several places, which took nvcc most of its time. */
#ifdef __CUDACC__
#define PL_CALLED static __host__ __device__ __noinline__
#else
#define PL_CALLED PL_EVERYWHERE
#endif

/* Distance and normal and, where H is not NULL, the Hessian of the distance, symmetric [3][3]. It is 0 across and
 * finite along the surface; where p is as near to a curve or a point that the shape is rounded about as rounding
 * allows, it is 0. The surface is known to be `within` that distance of p, or INFINITY: that changes no bit, and
 * takes less of a mesh. */
PL_CALLED double pl_shape_measure_within(const pl_shape *s, const double p[3], double within,
                                         double normal[3], double *H)
{
    double d[3], own[3], n[3];
    for (int c = 0; c < 3; c++)
        d[c] = p[c] - s->center[c];
    for (int e = 0; H && e < 9; e++)
        H[e] = 0;
    double distance;
    if (s->turned) {
        for (int i = 0; i < 3; i++)
            own[i] = pl_vector_dot(s->R + 3 * i, d);
        distance = pl_measure_own(s, own, within, n, H);
        for (int i = 0; i < 3; i++)
            normal[i] = s->R[i] * n[0] + s->R[i + 3] * n[1] + s->R[i + 6] * n[2];
        if (H)
            pl_turn_matrix(s->R, H);
    } else {
        distance = pl_measure_own(s, d, within, normal, H);
    }
    if (!s->inside)
        return distance;
    for (int c = 0; c < 3; c++)
        normal[c] = -normal[c];
    for (int e = 0; H && e < 9; e++)
        H[e] = -H[e];
    return -distance;
}

PL_EVERYWHERE double pl_shape_measure(const pl_shape *s, const double p[3], double normal[3],
                                      double *H)
{
    return pl_shape_measure_within(s, p, INFINITY, normal, H);
}

/* What contacts hold vertices out of: the surface moved by the margin towards the free side. Its normal and its
 * Hessian are those of the distance itself. */
PL_EVERYWHERE double pl_shape_measure_held(const pl_shape *s, const double p[3], double normal[3],
                                           double *H)
{
    return pl_shape_measure(s, p, normal, H) - s->margin;
}

/* Where a way begins, and the surface that contacts hold to as it is seen from there. */
typedef struct pl_shape_start {
    double at[3], distance, normal[3];
} pl_shape_start;

PL_EVERYWHERE pl_shape_start pl_shape_start_at(const pl_shape *s, const double at[3])
{
    pl_shape_start start;
    for (int c = 0; c < 3; c++)
        start.at[c] = at[c];
    start.distance = pl_shape_measure_held(s, at, start.normal, NULL);
    return start;
}

PL_EVERYWHERE double pl_shape_way(const pl_shape_start *start, const double to[3])
{
    double d[3] = {to[0] - start->at[0], to[1] - start->at[1], to[2] - start->at[2]};
    return sqrt(pl_vector_dot(d, d));
}

/* Whether `to` is outside for certain, as nothing is so near to where it came from. */
PL_EVERYWHERE bool pl_shape_is_clear(const pl_shape_start *start, const double to[3])
{
    return pl_shape_way(start, to) < (1 - 1e-9) * start->distance;
}

/* Whether the straight way to a point outside passes through the shape: sphere tracing, as the surface is nowhere
 * nearer than the distance. Near the surface the step is at most half of the shape's thickness, which can only miss
 * a cut across an edge. */
PL_EVERYWHERE bool pl_passes_through(const pl_shape *s, const pl_shape_start *start,
                                     const double to[3], double way)
{
    double least = way / (double)PL_SHAPE_PLACES, gone = 0, distance = start->distance;
    for (int k = 0; gone < way; k++) {
        double step = k < PL_SHAPE_MOST && s->thin > 0 ? fmin(least, s->thin / 2) : least;
        double p[3], n[3];
        if (k > 0) {
            for (int c = 0; c < 3; c++)
                p[c] = start->at[c] + gone / way * (to[c] - start->at[c]);
            distance = pl_shape_measure_held(s, p, n, NULL);
        }
        if (distance < 0)
            return true;
        gone += fmax(distance, step);
    }
    return false;
}

/* The signed distance of `to`, less the margin, for something that went there straight from a start: as
 * above, unless it went through a thin part and is nearer to the far side, in the shape or beyond it. Then the
 * distance is that from the tangent plane at the nearest point to the start, so that what follows from
 * it brings the point back to the side it came from; or, where the start was inside already, to the
 * side that was nearest. A way through is looked for in steps of half of a shape's least extent, of which there
 * may be 4096; of a mesh or a heightfield in at least 256, so that parts thinner than a 256th of the way may be
 * missed. */
PL_EVERYWHERE double pl_shape_measure_since(const pl_shape *s, const pl_shape_start *start,
                                            const double to[3], double normal[3], double *H)
{
    double way = pl_shape_way(start, to), within = fabs(start->distance + s->margin) + way;
    double distance = pl_shape_measure_within(s, to, within, normal, H) - s->margin;
    if (s->one_sided || distance > way) /* the surface is not within reach */
        return distance;
    if (pl_vector_dot(start->normal, normal) >= 0)
        return distance;
    if (distance >= 0 && start->distance >= 0 && !pl_passes_through(s, start, to, way))
        return distance;
    double along = 0;
    for (int c = 0; c < 3; c++) {
        normal[c] = start->normal[c];
        along += (to[c] - start->at[c]) * normal[c];
    }
    for (int e = 0; H && e < 9; e++)
        H[e] = 0;
    return start->distance + along;
}

PL_EVERYWHERE double pl_shape_measure_from(const pl_shape *s, const double from[3],
                                           const double to[3], double normal[3], double *H)
{
    const pl_shape_start start = pl_shape_start_at(s, from);
    return pl_shape_measure_since(s, &start, to, normal, H);
}

#endif
