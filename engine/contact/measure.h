/* measure.h - a pair of features as a constraint: the closest points, the direction between them and their
 * distance. */
#ifndef PLIANT_ENGINE_CONTACT_MEASURE_H
#define PLIANT_ENGINE_CONTACT_MEASURE_H

#include "engine/contact/kind.h"
#include "engine/contact/surface.h"

/* gap = sum over corners of weight * (normal . x). A gap that later falls below 0 means that the features have
 * passed through each other. */
typedef struct pl_contact_pair {
    pl_contact_kind kind;
    int32_t side; /* for an oriented triangle: 1 in front, -1 behind; for two edges: the sign of
                     (a1 - a0) x (b1 - b0) . (b to a); else 0 */
    int32_t
        feature[2];    /* of the surface: vertex, edge or triangle, as the kind says. Of a kind that
                           is the same twice the lower is first */
    int32_t vertex[4]; /* corners in the order of kind.h, the scene's indices; -1 beyond the last */
    double weight[4];  /* sum 0: positive on the first feature, negative on the second */
    double normal[3];  /* unit, from the second feature to the first */
    double gap;        /* distance, m, >= 0 */
} pl_contact_pair;

/* Measures the pair of two features of a surface, in the order of the kind, at positions x [n][3], m. If the
 * features touch, no direction joins them: the normal then points out of the body of the second and into that of
 * the first, if these are solids. */
pl_contact_pair pl_contact_measure(const pl_contact_surface *surface, const double *x,
                                   pl_contact_kind kind, int32_t first, int32_t second);

/* Direction out of the body of the second feature and into that of the first: the normals of the triangles at their
 * closest points, times twice their areas, m2. 0 for sheets and ropes. */
void pl_contact_outward(const pl_contact_surface *surface, const double *x, pl_contact_kind kind,
                        int32_t first, int32_t second, double out[3]);

#endif
