/* build.h - what the making of a model needs and the model does not keep, and the builders of its
 * term groups: one for each kind of group, in the order in which their groups lie in the model. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_BUILD_H
#define PLIANT_ENGINE_MODEL_BUILD_BUILD_H

#include "engine/model/build/layout.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"

/* Its lifetime ends with pl_model_build. */
typedef struct pl_build {
    const pl_scene *scene; /* the caller's; then `own` */
    pl_scene own; /* the same, but pins and obstacles are copies, their keyframes the model's */
    const pl_mesh *meshes;
    pl_layout layout;
    const int32_t *tets;                  /* [tets][4], model vertices: the layout's */
    const pl_material_numbers *materials; /* [scene->material_count]: the model's */
    pl_model *model;
    int32_t group_room; /* groups that the model's list has room for */
} pl_build;

/* Let motions outlive the scene: b->scene becomes one whose keyframes the model owns. */
pl_status pl_build_own_motions(pl_build *b);
/* Lumped masses, and initial positions and velocities of every body. */
pl_status pl_build_bodies(pl_build *b);
pl_status pl_build_pins(pl_build *b);

/* Forces; of a point load the vertices are moved out of the layout. In statics nothing moves. */
pl_status pl_build_loads(pl_build *b);

/* Every group of the scene, their places in the contributions buffer, and the gather. */
pl_status pl_build_groups(pl_build *b);

/* The model's `touching`, where the scene has contact between bodies: NULL where nothing may touch. */
pl_status pl_build_touching(pl_build *b);

/* Put a group at the end of the model's list. Takes it: on failure it is destroyed. `obstacle` is
 * the one of a contact group, or -1. */
pl_status pl_build_add_group(pl_build *b, pl_group *group, int32_t obstacle);

/* Materials share a group of elements where they share its functions, and what those share; the first
 * that does leads it. */
bool pl_build_shares_group(const pl_build *b, int32_t material, int32_t other);
bool pl_build_leads_group(const pl_build *b, int32_t material);

struct pl_terms_list;
struct pl_stretch_ops;
/* The same with a group of the listed terms, where there are any; `material` of triangles, and what its
 * elements share. */
pl_status pl_build_add_terms(pl_build *b, const struct pl_terms_list *list,
                             const struct pl_stretch_ops *material, const double *shared);

/* The builders: each adds its groups, which may be none. */
pl_status pl_build_tets(pl_build *b);    /* tetrahedra, a group for each material model */
pl_status pl_build_sheets(pl_build *b);  /* triangles, and bends over their edges */
pl_status pl_build_links(pl_build *b);   /* springs, rods, fibres, attachments */
pl_status pl_build_damping(pl_build *b); /* dissipation of elements and of vertices */
pl_status pl_build_limits(pl_build *b);  /* hard: strain limits and ropes */
pl_status
pl_build_contacts(pl_build *b); /* a group for each obstacle, by the stiffness of those before */
pl_status pl_build_apart(pl_build *b); /* contact between bodies, by ADMM; after `touching` */

#endif
