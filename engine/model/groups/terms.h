/* terms.h - groups of terms with the reduction q_j = sum_c G_cj x_c - o_j, j < columns: one vector per column, each
 * a fixed combination of the corners. Springs, ropes, bending, attachments and fibres have one column (links),
 * triangles two, limits of tetrahedra three.
 *
 * Offsets may move: the target of an attachment to an obstacle moves with the obstacle to its place at the stage's
 * end (`freeze`).
 *
 * The functions of the table are written once (terms_template.h), on top of what is specific to a kind, its law:
 * energy with gradient, second derivatives and prox in q. They are compiled once per instruction set (*_isa.c).
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TERMS_H
#define PLIANT_ENGINE_MODEL_GROUPS_TERMS_H

#include "engine/scene/fault.h"
#include "engine/kernels/stretch.h"
#include "engine/model/local.h"

struct pl_damping; /* damping.h */
struct pl_motion;  /* engine/scene/scene.h, which the kernels do not include */

typedef struct pl_terms {
    int32_t constants;
    pl_number *shape;  /* [block][corners][columns][L]: G */
    pl_number *offset; /* [block][3 columns][L]: o, or NULL: zero */
    pl_number *place;  /* [block][3][L]: o in the frame of its motion, if there are motions */
    struct pl_motion *motion; /* [block][L]: the motion of o; NULL: nothing moves. Its keyframes
                                 are not owned */
    pl_number *constant;      /* [block][constants][L]: the law's; row 0 is the factor of the
                                 energy, 0 in padding */
    int32_t *element;         /* [block][L]: for triangles, the index in the model, for failures */
    const pl_stretch_ops *material;   /* for triangles, else NULL */
    const pl_number *shared;          /* the material's; not owned */
    const struct pl_damping *damping; /* for dissipation: shared by its terms, owned; else NULL */
    pl_number *frozen; /* [block][frozen_rows][L]: data frozen at a stage's start, by freeze */
    int32_t frozen_rows;
} pl_terms;

/* `data` of held links. Separate from pl_terms, which is in the arguments of a device's kernels: devices have no
 * held links. */
typedef struct pl_held_terms {
    pl_terms terms;
    double *bounds;     /* the original `constant`, from which `hold` computes it */
    int64_t multiplier; /* index of the group's first term in the model's list */
} pl_held_terms;

#ifdef PL_DEVICE
/* As pl_tets_placed. */
typedef struct pl_terms_placed {
    pl_group group;
    pl_terms terms;
    int64_t block, lane;
} pl_terms_placed;
PL_INLINE const pl_terms *pl_terms_of(const pl_group *g)
{
    return &((const pl_terms_placed *)g)->terms;
}
#else
PL_INLINE const pl_terms *pl_terms_of(const pl_group *g)
{
    return (const pl_terms *)g->data;
}
#endif

/* The law of links: U = k/2 (|q| - clamp(|q|, lo, hi))^2, k/2 times the squared distance of q from the shell
 * lo <= |q| <= hi. lo = hi = l is a spring, lo = hi = 0 quadratic; k = inf is the hard constraint. `scale` times
 * |q| is the stretch in metrics; 0 for none. */
enum { PL_LINK_K, PL_LINK_LO, PL_LINK_HI, PL_LINK_SCALE, PL_LINK_CONSTANTS };
/* The law of triangles: volume (area x thickness), then the material's constants. */
enum { PL_TRIANGLE_VOLUME, PL_TRIANGLE_MATERIAL };
/* The law of limits: 1, then singular values in [lo, hi]. */
enum { PL_LIMIT_ONE, PL_LIMIT_LO, PL_LIMIT_HI, PL_LIMIT_CONSTANTS };

/* Kinds with tables of their own. A link uses the smallest kind that has its corners. */
typedef enum pl_terms_kind {
    PL_TERMS_LINK_2,
    PL_TERMS_LINK_4,
    PL_TERMS_LINK_5,
    PL_TERMS_HARD_LINK_2,
    PL_TERMS_HARD_LINK_4,
    PL_TERMS_HELD_LINK_2,
    PL_TERMS_TRIANGLES,
    PL_TERMS_TRIANGLE_LIMITS,
    PL_TERMS_TET_LIMITS,
    PL_TERMS_DAMPING_EDGES, /* and vertices alone */
    PL_TERMS_DAMPING_TRIANGLES,
    PL_TERMS_DAMPING_TETS,
    PL_TERMS_DAMPING_CREASED, /* for tetrahedra, for functions with creases */
    PL_TERMS_DAMPED_TETS,     /* energy and damping as one */
    PL_TERMS_DAMPING_BENDS,   /* and fibres */
    PL_TERMS_DAMPING_HINGES,
} pl_terms_kind;
enum { PL_TERMS_KINDS = PL_TERMS_DAMPING_HINGES + 1 };

/* The table of a kind on the current instruction set. */
const pl_group_ops *pl_terms_ops(pl_terms_kind kind);

/* Input for a group: terms in the order in which they are added. */
typedef struct pl_terms_list {
    const pl_group_ops *ops;
    int32_t constants;
    int64_t count, room;
    int32_t *corner, *element;                  /* [count][corners], [count] */
    double *shape, *offset, *constant, *weight; /* [count][...] */
    struct pl_motion *motion;                   /* [count]; NULL: no moving terms */
} pl_terms_list;

/* One term. It may have fewer corners than the kind; the rest is padded. offset may be NULL. */
typedef struct pl_term {
    int32_t corners;
    const int32_t *corner; /* [corners] */
    const double *shape;   /* [corners][columns] */
    const double *offset;  /* [3 columns] */
    const struct pl_motion
        *motion; /* NULL; or the motion that carries the offset, which is then given in the
                    motion's own frame. One column only */
    const double *constant; /* [constants of the list] */
    double weight;          /* w^2 */
    int32_t element;
} pl_term;

void pl_terms_list_init(pl_terms_list *list, const pl_group_ops *ops, int32_t constants);
pl_status pl_terms_list_add(pl_terms_list *list, const pl_term *term);
void pl_terms_list_clear(pl_terms_list *list);

/* Creates a group of the listed terms, at least one. */
pl_status pl_terms_create(const pl_terms_list *list, const pl_stretch_ops *material,
                          const double *shared, pl_group *out);

extern const pl_held_ops pl_held_links;

/* Slots of the tables that work without lanes. */
void pl_terms_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1);
void pl_terms_destroy(pl_group *g);
pl_status pl_terms_local_copy(const pl_group *g, const pl_places *places, pl_group *out);
void pl_terms_local_refreeze(const pl_group *g, const pl_places *places, pl_group *copy, int64_t b0,
                             int64_t b1);
void pl_terms_local_release(pl_group *copy);
void pl_terms_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K);
uint64_t pl_terms_hash(const pl_group *g, uint64_t hash);

/* Its two parts, for kinds that hash more between them. */
uint64_t pl_terms_hash_numbers(const pl_group *g, uint64_t hash);
uint64_t pl_terms_hash_material(const pl_group *g, uint64_t hash);

#endif
