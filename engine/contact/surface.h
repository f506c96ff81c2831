/* surface.h - the collision surface of a scene: the vertices, edges and triangles that may touch.
 *
 * Triangles come from the boundary of bodies and from sheets, segments from ropes. The surface knows the body of
 * every feature and how features are joined, in a fixed order. An edge's triangles and a vertex's edges determine
 * the directions in which the feature can touch something (its feasible region). It holds topology only: functions
 * that measure take the positions. Immutable after creation.
 */
#ifndef PLIANT_ENGINE_CONTACT_SURFACE_H
#define PLIANT_ENGINE_CONTACT_SURFACE_H

#include "engine/contact/kind.h"
#include "engine/scene/fault.h"

#include <stdint.h>

/* Input arrays, the caller's; no reference is kept. Indices are of the scene's vertices, 0-based. */
typedef struct pl_contact_source {
    int32_t vertices;    /* of the whole scene */
    const int32_t *body; /* [vertices], 0-based: the body of each vertex */
    int32_t triangles;
    const int32_t *triangle; /* [triangles][3] */
    int32_t segments;
    const int32_t *segment; /* [segments][2], of ropes */
    const uint8_t
        *solid; /* [bodies]: 1 if the triangles bound a solid and face outwards; NULL: all are 0 */
} pl_contact_source;

/* Sides of a triangle by corner: side k joins corners pl_contact_side[k][0] and [1] and lies opposite corner [2].
 * Corners ascend, so sides run from the lower vertex to the higher. */
static const int pl_contact_side[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};

typedef struct pl_contact_surface {
    int32_t scene_vertices, bodies; /* bodies: the highest body + 1 */

    int32_t vertices;     /* number of vertices that a triangle or segment uses */
    int32_t *vertex;      /* [vertices], ascending: the scene's index */
    int32_t *vertex_body; /* [vertices] */
    int32_t *place;       /* [scene_vertices]: the index in `vertex`, -1 for inner vertices */
    int32_t *
        vertex_first; /* [vertices + 1]: vertex v has the edges vertex_edge[first[v] .. first[v + 1]) */
    int32_t *vertex_edge; /* [2 edges], ascending for each vertex */

    int32_t edges;       /* every edge once, ordered by its vertices */
    int32_t *edge;       /* [edges][2], scene's indices, the lower first */
    int32_t *edge_body;  /* [edges] */
    int32_t *edge_first; /* [edges + 1]: into the next two arrays; a rope's edge has no triangles */
    int32_t
        *edge_triangle; /* [3 triangles], ascending for each edge; more than two if non-manifold */
    int32_t *
        edge_opposite; /* [3 triangles]: the scene's vertex of that triangle which is opposite the edge */

    int32_t triangles;
    int32_t *triangle; /* [triangles][3], scene's indices, ascending; the order is the source's */
    int32_t *triangle_edge; /* [triangles][3], by pl_contact_side */
    int32_t *triangle_body; /* [triangles] */
    int8_t *turned; /* [triangles]: 1 if sorting the corners reversed the source's orientation */
    uint8_t *solid; /* [bodies] */

    int32_t ropes; /* number of edges without triangles */
    int32_t *rope; /* [ropes], ascending: edge indices */
} pl_contact_surface;

/* PL_INVALID: an index is out of range, a feature has a vertex twice or vertices of two bodies, or there are more
 * than 2^28 triangles or segments. PL_NO_MEMORY. On failure *out is NULL. Empty arrays are valid. */
pl_status pl_contact_surface_create(const pl_contact_source *source, pl_contact_surface **out);
void pl_contact_surface_destroy(pl_contact_surface *surface);

/* Writes the corners of two features in the order of the kind, the scene's indices; -1 beyond the last. Returns
 * their number. */
int pl_contact_surface_corners(const pl_contact_surface *surface, pl_contact_kind kind,
                               int32_t first, int32_t second, int32_t vertex[4]);

#endif
