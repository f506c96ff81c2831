/* layout.h - a scene's bodies in the model's order: bodies in scene order, then mesh order; placed at rest, pins
 * resolved to vertices. Preflight checks the same layout from which the model is built.
 */
#ifndef PLIANT_ENGINE_MODEL_BUILD_LAYOUT_H
#define PLIANT_ENGINE_MODEL_BUILD_LAYOUT_H

#include "engine/scene/fault.h"
#include "engine/mesh/mesh.h"
#include "engine/model/build/elements.h"
#include "engine/scene/scene.h"

typedef struct pl_pin_vertices {
    int32_t *vertex; /* model vertices, ascending */
    int64_t count;
} pl_pin_vertices;

typedef struct pl_layout {
    int64_t vertices, tets, free_vertices;  /* free: not held in all three coordinates */
    pl_elements elements[PL_ELEMENT_KINDS]; /* of all bodies */
    int64_t *first_vertex;                  /* [body_count + 1] */
    const int64_t *first_tet;               /* [body_count + 1]: the array of `elements` */
    double *rest;                           /* [vertices][3]: after the transform */
    unsigned char *held;                    /* [vertices]: bit c where a pin holds coordinate c */
    int32_t pin_count;
    pl_pin_vertices *pins;
    int32_t attachment_count;
    pl_pin_vertices *attached; /* for each attachment: the selected vertices */
    int32_t force_count;
    pl_pin_vertices *forces; /* for point loads; empty for other forces */
} pl_layout;

/* PL_INVALID with every fault of the scene against its meshes, or PL_NO_MEMORY. */
pl_status pl_layout_create(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                           pl_faults *faults);
/* The same, including what the scene's device lacks (carries.h), which matters only where the scene runs. */
pl_status pl_layout_check(const pl_scene *scene, const pl_mesh *meshes, pl_layout *out,
                          pl_faults *faults);
void pl_layout_destroy(pl_layout *layout);

/* Resolves attachments, with their faults, and rejects what a material requires of elements that none of its bodies
 * has. Part of pl_layout_create. */
pl_status pl_layout_parts(const pl_scene *scene, const pl_mesh *meshes, pl_layout *layout,
                          pl_faults *faults);

/* Lumped masses, kg: `mass` [vertices] is zeroed and then gets an equal share of the mass of each of its elements:
 * density x volume of a tetrahedron, x thickness x area of a triangle, x area x length of an edge.
 */
void pl_layout_masses(const pl_scene *scene, const pl_layout *layout, double *mass);

/* x0 and v0 [n][3] of one body from its rest positions, its lumped masses [n] and its "initial". */
void pl_body_initial(const pl_body *body, const double *rest, const double *mass, int64_t n,
                     double *x0, double *v0);

#endif
