/* build.h - data that building a model needs and the model does not keep, and the builders of its term groups: one
 * for each kind of group, in the order in which their groups lie in the model. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_BUILD_H
#define PLIANT_ENGINE_MODEL_BUILD_BUILD_H

#include "engine/model/build/layout.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"

/* Lives as long as pl_model_build runs. */
typedef struct pl_build {
    const pl_scene *scene; /* the caller's; later `own` */
    pl_scene own; /* the same, but pins and obstacles are copies with the model's keyframes */
    const pl_mesh *meshes;
    pl_layout layout;
    const int32_t *tets;                  /* [tets][4], model vertices: the layout's */
    const pl_material_numbers *materials; /* [scene->material_count]: the model's */
    pl_model *model;
    int32_t group_room; /* capacity of the model's list of groups */
} pl_build;

/* Lets motions outlive the scene: b->scene becomes a scene whose keyframes the model owns. */
pl_status pl_build_own_motions(pl_build *b);
/* Lumped masses, and initial positions and velocities of every body. */
pl_status pl_build_bodies(pl_build *b);
pl_status pl_build_pins(pl_build *b);

/* Forces; the vertices of a point load are moved out of the layout. In statics nothing moves. */
pl_status pl_build_loads(pl_build *b);

/* All groups of the scene, their offsets in the contributions buffer, and the gather. */
pl_status pl_build_groups(pl_build *b);

/* The model's `touching`, if the scene has contact between bodies: NULL if nothing may touch. */
pl_status pl_build_touching(pl_build *b);

/* Appends a group to the model's list and takes ownership: on failure it is destroyed. `obstacle` is the obstacle
 * of a contact group, or -1. */
pl_status pl_build_add_group(pl_build *b, pl_group *group, int32_t obstacle);

/* Materials share a group of elements if they share its functions and their shared data; the first such material
 * leads the group. */
bool pl_build_shares_group(const pl_build *b, int32_t material, int32_t other);
bool pl_build_leads_group(const pl_build *b, int32_t material);

struct pl_terms_list;
struct pl_stretch_ops;
/* The same with a group of the listed terms, if there are any; `material` is that of triangles, with the shared
 * data of its elements. */
pl_status pl_build_add_terms(pl_build *b, const struct pl_terms_list *list,
                             const struct pl_stretch_ops *material, const double *shared);

/* The builders: each adds its groups, possibly none. */
pl_status pl_build_tets(pl_build *b);    /* tetrahedra, one group for each material model */
pl_status pl_build_sheets(pl_build *b);  /* triangles, and bends over their edges */
pl_status pl_build_links(pl_build *b);   /* springs, rods, fibres, attachments */
pl_status pl_build_damping(pl_build *b); /* dissipation of elements and of vertices */
pl_status pl_build_limits(pl_build *b);  /* hard: strain limits and ropes */
pl_status
pl_build_contacts(pl_build *b); /* one group per obstacle, with stiffness from earlier groups */
pl_status pl_build_apart(pl_build *b); /* contact between bodies, for ADMM; after `touching` */

#endif
