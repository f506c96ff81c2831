/* contact_scene.h - bodies of triangles and ropes put together for tests of engine/contact. */
#ifndef PLIANT_TESTS_SUPPORT_CONTACT_SCENE_H
#define PLIANT_TESTS_SUPPORT_CONTACT_SCENE_H

#include "engine/contact/pairs.h"
#include "engine/contact/surface.h"
#include "engine/contact/trees.h"
#include "engine/mesh/mesh.h"

typedef struct contact_scene {
    int32_t vertices, triangles, segments, bodies;
    double *x;                          /* [vertices][3] */
    int32_t *body, *triangle, *segment; /* [vertices], [][3], [][2] */
    const uint8_t *solid;               /* the caller's, [bodies]; NULL: no body is solid */
    pl_contact_surface *surface;
    pl_contact_trees *trees;
} contact_scene; /* zero-initialise */

/* A body of its own, whose indices count from 0. Returns its first vertex in the scene. */
int32_t contact_scene_add(contact_scene *scene, const double *x, int32_t vertices,
                          const int32_t *triangle, int32_t triangles, const int32_t *segment,
                          int32_t segments);
/* The surface and ropes of a mesh, moved by `offset`; cleared afterwards. */
int32_t contact_scene_add_mesh(contact_scene *scene, pl_mesh *mesh, const double offset[3]);
/* Surface and trees of everything added; a failure fails the test. */
void contact_scene_finish(contact_scene *scene);
void contact_scene_clear(contact_scene *scene);

/* Pairs at x, with trees updated for no move. */
pl_contact_pairs contact_scene_pairs(contact_scene *scene, const double *x, double reach,
                                     int threads);

/* A solid box with one corner at `corner`, as a body of its own; outward triangles. Returns its first
 * vertex. */
int32_t contact_scene_add_box(contact_scene *scene, const double corner[3], const double size[3],
                              const int32_t cells[3]);

/* Evenly in (-1, 1). */
static inline double contact_draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) * 0x1p-52 - 1;
}

#endif
