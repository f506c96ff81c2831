/* nearest.h - the point of a body at rest that is nearest to a given point, as a fixed combination of its vertices. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_NEAREST_H
#define PLIANT_ENGINE_MODEL_BUILD_NEAREST_H

#include "engine/model/build/layout.h"

typedef struct pl_nearest {
    int32_t corners;   /* 2, 3 or 4 */
    int32_t corner[4]; /* model vertices */
    double weight[4];  /* barycentric, sum 1 */
    double distance;   /* m, from the given point */
} pl_nearest;

/* Searches all of the body's tetrahedra, triangles and edges; the first of equally near points wins. */
pl_nearest pl_nearest_of_body(const pl_layout *layout, int32_t body, const double p[3]);

#endif
