/* body.h - a body: its mesh and material, its placement, and its initial state. */
#ifndef PLIANT_ENGINE_SCENE_BODY_H
#define PLIANT_ENGINE_SCENE_BODY_H

#include "engine/scene/mesh_source.h"
#include "engine/scene/transform.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_shape_kind {
    PL_SHAPE_REST,
    PL_SHAPE_COLLAPSED, /* every vertex at the centre of mass */
    PL_SHAPE_RANDOM,    /* uniform in the body's bounding box */
    PL_SHAPE_TWISTED,   /* rotated about the axis through the body's centre by turns x position */
    PL_SHAPE_STRETCHED, /* scaled about the body's centre */
} pl_shape_kind;

typedef struct pl_initial {
    double velocity[3];         /* m/s */
    double angular_velocity[3]; /* rad/s, about the centre of mass */
    pl_shape_kind shape;
    int64_t seed;      /* random */
    double turns;      /* twisted */
    double axis[3];    /* twisted, unit */
    double stretch[3]; /* stretched */
} pl_initial;

/* Another material for the elements of a group of the mesh file, by the group's name or number. */
typedef struct pl_tag_material {
    char *tag;
    int32_t material;
} pl_tag_material;

/* Names of fields in the mesh file; NULL where the body uses none. */
typedef struct pl_body_fields {
    char *stiffness; /* factor on the element's stiffness, 1 */
    char *fibers;    /* direction of its fibres in the mesh's coordinates */
} pl_body_fields;

typedef struct pl_body {
    char *name;
    pl_mesh_source mesh;
    int32_t material;           /* index into materials */
    int32_t tag_material_count; /* materials_by_tag, in its order: if several apply, the last one */
    pl_tag_material *tag_materials;
    pl_body_fields fields;
    pl_transform transform;
    pl_initial initial;
    double friction; /* factor on the coefficients of obstacles, >= 0 */
} pl_body;

#endif
