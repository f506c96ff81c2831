/* fields.h - element data that a body takes from the fields of its mesh file. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_FIELDS_H
#define PLIANT_ENGINE_MODEL_BUILD_FIELDS_H

#include "engine/model/build/elements.h"

/* Fills `stiffness` and `fiber` of the elements [PL_ELEMENT_KINDS] of body `b`, whose materials are known.
 * PL_INVALID with a fault at /bodies/b/fields/KEY if the mesh lacks the field, or a value is unusable, by element;
 * or PL_NO_MEMORY. */
pl_status pl_fields_apply(const pl_scene *scene, int32_t b, const pl_mesh *mesh,
                          pl_elements *elements, pl_faults *faults);

#endif
