/* elements.h - the elements of all bodies in the model's order: bodies in scene order, then mesh order; one list
 * per kind. Term groups are built from these lists.
 */
#ifndef PLIANT_ENGINE_MODEL_BUILD_ELEMENTS_H
#define PLIANT_ENGINE_MODEL_BUILD_ELEMENTS_H

#include "engine/scene/fault.h"
#include "engine/mesh/mesh.h"
#include "engine/scene/scene.h"

typedef enum pl_element_kind {
    PL_ELEMENT_TET,
    PL_ELEMENT_TRIANGLE,
    PL_ELEMENT_EDGE
} pl_element_kind;
enum { PL_ELEMENT_KINDS = 3 };

typedef struct pl_elements {
    int32_t corners; /* 4, 3, 2 */
    int64_t count;
    int64_t *first;    /* [body_count + 1] */
    int32_t *corner;   /* [count][corners] model vertices */
    double *measure;   /* [count] at rest, placed: volume m^3, area m^2, length m; > 0 */
    int32_t *material; /* [count] index of the scene's materials */
    double *stiffness; /* [count] factor on the energy, 1 except for a field of the mesh */
    double (
        *fiber)[3]; /* [count] unit direction of fibres at rest, placed, or 0 for none; NULL: the
                           materials' own */
} pl_elements;

/* Fills elements [PL_ELEMENT_KINDS], which are zeroed, from the meshes and the bodies' first_vertex and rest
 * positions. PL_INVALID if materials_by_tag names a group without elements, or PL_NO_MEMORY; pl_elements_clear
 * releases the memory. */
pl_status pl_elements_create(const pl_scene *scene, const pl_mesh *meshes,
                             const int64_t *first_vertex, const double *rest, pl_elements *elements,
                             pl_faults *faults);
void pl_elements_clear(pl_elements *elements);

#endif
