/* tets.h - groups of linear tetrahedra of one material model.
 *
 * D_i x = vec(F), F = [x1 - x0, x2 - x0, x3 - x0] B^-1 (Narain 2016, eq. 32), column-major. U_i = V_i Psi(F)
 * (eq. 33). The functions of a model are compiled once per instruction set (tets_*_isa.c) from one source
 * (tets_template.h) and selected at start (isa.h). neo-Hookean, corotated and ARAP have functions of their own. All
 * other models, and every invertible model, use those of tets_stretch_isa.c, which call the model's table.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TETS_H
#define PLIANT_ENGINE_MODEL_GROUPS_TETS_H

#include "engine/scene/fault.h"
#include "engine/kernels/stretch.h"
#include "engine/model/local.h"

typedef struct pl_tets {
    pl_number *shape;  /* [block][9][L]: B^-1, column-major, 1/m */
    pl_number *volume; /* [block][L]: m^3 times the factor on the energy, 0 in padding */
    pl_number
        *constants;    /* [block][stretch->constants][L]: of the material, in its table's order */
    pl_number *shared; /* shared by all elements (splines), or NULL */
    pl_number *blend;  /* [block][2][L]: rows b and kappa of kernels/stretch.h; NULL: not
                         invertible. b depends on where a step began (freeze, spread) */
    pl_number *least;  /* [block][L]: least signed stretch there; NULL, like the next two, if
                         nothing spreads to neighbours */
    int32_t *around_start, *around; /* by model vertex, from around_start[vertex] on: positions
                                       of its tetrahedra */
    size_t around_vertices;         /* length of around_start */
    int32_t *element;               /* [block][L]: tetrahedron in the model's order */
    const pl_stretch_ops *stretch;
} pl_tets;

#ifdef PL_DEVICE
/* A thread's own copy of a group, with the data that it points to in the same struct, so that nothing needs to be
 * in memory. */
typedef struct pl_tets_placed {
    pl_group group;
    pl_tets tets;
    int64_t block, lane;
} pl_tets_placed;
PL_INLINE const pl_tets *pl_tets_of(const pl_group *g)
{
    return &((const pl_tets_placed *)g)->tets;
}
#else
PL_INLINE const pl_tets *pl_tets_of(const pl_group *g)
{
    return (const pl_tets *)g->data;
}
#endif

/* Below a stretch of `high`, an invertible element begins to convert; at `low` it is fully convex (Wang 2016, eq.
 * 17 and its typical values). If the energy is infinite for J <= 0, all neighbours that share a vertex with it
 * begin to convert when it falls below `low`, and are fully convex at `turned`: an inverted element stays trapped
 * among neighbours with log J. */
#define PL_INVERTIBLE_TURNED (-0.05)
#define PL_INVERTIBLE_LOW    0.05
#define PL_INVERTIBLE_HIGH   0.15

/* Input for a group of tetrahedra; no reference to it is kept. */
typedef struct pl_tets_parts {
    const pl_group_ops *ops;
    const pl_stretch_ops *stretch;
    const double *rest;     /* [.][3], m */
    const int32_t *tets;    /* [.][4], model vertices */
    const int32_t *element; /* [count]: indices of its tetrahedra */
    int64_t count;
    const double *constants; /* [count][stretch->constants] */
    const double *shear;     /* [count], Pa: kappa of an invertible group */
    const double *stiffness; /* [count], Pa: k of the weights w^2 = k V */
    const double *scale;     /* by tetrahedron: factor on the energy, and so on w^2; or NULL */
    const double *shared;    /* [shared_count], or NULL */
    int32_t shared_count;
    bool invertible;
    bool spreads; /* an invertible element's neighbours convert with it */
} pl_tets_parts;

pl_status pl_tets_create(const pl_tets_parts *parts, pl_group *out);
void pl_tets_destroy(pl_group *g);
/* The slot `spreads`: whether an element was below `low` when the step began. */
bool pl_tets_spreads(const pl_group *g);
/* Slots of pl_local_ops. */
pl_status pl_tets_local_copy(const pl_group *g, const pl_places *places, pl_group *out);
void pl_tets_local_refreeze(const pl_group *g, const pl_places *places, pl_group *copy, int64_t b0,
                            int64_t b1);
void pl_tets_local_release(pl_group *copy);
void pl_tets_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K);

#endif
