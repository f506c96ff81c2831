/* distance.h - the implementation of shape.h, for the host and for devices. */
#ifndef PLIANT_ENGINE_OBSTACLES_DISTANCE_H
#define PLIANT_ENGINE_OBSTACLES_DISTANCE_H

#include "engine/obstacles/primitives.h"

/* Minimum number of steps along a path; maximum number of short steps for a thin shape. */
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

/* On a device it is a call: several places in kernels use it, and inlining cost nvcc most of its time. */
#ifdef __CUDACC__
#define PL_CALLED static __host__ __device__ __noinline__
#else
#define PL_CALLED PL_EVERYWHERE
#endif

/* Distance and normal and, if H is not NULL, the Hessian of the distance, symmetric [3][3]. The Hessian is 0 across
 * and finite along the surface; it is 0 if p is within rounding of a curve or a point about which the shape is
 * rounded. `within`: a known bound of the distance from p to the surface, or INFINITY; it changes no bit, and
 * visits less of a mesh. */
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

/* The surface out of which contacts hold vertices: moved by the margin towards the free side. Its normal and its
 * Hessian are those of the distance itself. */
PL_EVERYWHERE double pl_shape_measure_held(const pl_shape *s, const double p[3], double normal[3],
                                           double *H)
{
    return pl_shape_measure(s, p, normal, H) - s->margin;
}

/* The start of a path, and the surface that contacts use as seen from there. */
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

/* True if `to` is certainly outside, because nothing is that near to its start. */
PL_EVERYWHERE bool pl_shape_is_clear(const pl_shape_start *start, const double to[3])
{
    return pl_shape_way(start, to) < (1 - 1e-9) * start->distance;
}

/* True if the straight path to a point outside passes through the shape. Sphere tracing: the surface is nowhere
 * nearer than the distance. Near the surface, a step is at most half of the shape's thickness, so it can only miss
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

/* The signed distance of `to`, less the margin, after a straight path from a start. It is as above, unless the path
 * went through a thin part and ends nearer to the far side, in the shape or beyond it. Then the distance is that
 * from the tangent plane at the point nearest to the start, so that contact returns the point to its original side;
 * or, if the start was already inside, to the side that was nearest. The search for a passage uses steps of half of
 * a shape's least extent, at most 4096; for a mesh or a heightfield at least 256, so it may miss parts thinner than
 * a 256th of the path. */
PL_EVERYWHERE double pl_shape_measure_since(const pl_shape *s, const pl_shape_start *start,
                                            const double to[3], double normal[3], double *H)
{
    double way = pl_shape_way(start, to), within = fabs(start->distance + s->margin) + way;
    double distance = pl_shape_measure_within(s, to, within, normal, H) - s->margin;
    if (s->one_sided || distance > way) /* the surface is out of reach */
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
