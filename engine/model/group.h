/* group.h - a term group: many like energy terms U_i(D_i x), as one small table of functions.
 *
 * A solver uses only this table, so every solver works with every group that has what it needs.
 * A slot may be NULL where the group has no such thing (a hard constraint has no Hessian); whoever
 * needs it asks first, and validation says which combinations do not exist.
 *
 * Terms lie in blocks of PL_BLOCK lanes, structure of arrays inside a block: a per-term array with
 * r rows is [block][r][PL_BLOCK]. The last block is padded with copies of its first term of zero
 * weight. Every function works on blocks [b0, b1) and writes only there, so that a caller may split
 * the blocks over threads in any way without changing a bit.
 *
 * What a term sends to its vertices it writes to its own place in a contributions buffer,
 * [block][corner * 3 + coordinate][PL_BLOCK] from group->contribution on; vertices gather from
 * there in a fixed order (gather.h). Nothing scatters.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUP_H
#define PLIANT_ENGINE_MODEL_GROUP_H

#include "engine/model/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The width of a lane block on every instruction set: two 512-bit registers of doubles
 * (engine/lanes/README.md says why two). */
enum { PL_BLOCK = 16 };

/* A corner's contribution on a device (term_lanes.h); w is not used. */
#ifdef __CUDACC__
typedef struct __align__(4 * sizeof(pl_number)) pl_number4
#else
typedef struct pl_number4
#endif
{
    pl_number x, y, z, w;
}
pl_number4;

/* The most vertices that a term touches. */
enum { PL_CORNERS_MAX = 5 };

typedef struct pl_group pl_group;

/* What one block adds up, in lane order. */
typedef struct pl_block_sums {
    double
        primal; /* sum of w^2 |D x - z|^2 with the new z: the primal residual, squared (eq. 22) */
    double change; /* sum of w^2 |z - z^|^2, an upper bound of the dual residual, squared */
    double size;   /* sum of w^2 |z|^2: what rounding is relative to */
} pl_block_sums;

/* What an obstacle does to the vertex of a term. */
typedef struct pl_touch {
    double force[3];  /* N */
    double normal[3]; /* unit, out of the obstacle */
    double carry[3];  /* m/s: the obstacle's own velocity there */
    double restitution;
} pl_touch;

typedef struct pl_block_measure {
    double energy;      /* J; +inf where a term is outside its energy's domain */
    int64_t inverted;   /* tetrahedra with det F <= 0 */
    double max_stretch; /* largest singular value, 0 where the group has none */
} pl_block_measure;

/* The fused local step of ADMM (Narain 2016, algorithm 1; eq. 24-25) on one range of blocks, with
 * Nesterov's momentum (Goldstein, O'Donoghue, Setzer, Baraniuk 2014, "Fast alternating direction
 * optimization methods"): the global step that made x saw z^ = z + beta (z - z_old) and likewise
 * u^, and the next one sees them with beta_next. beta = beta_next = 0 is plain ADMM. */
typedef struct pl_admm_local {
    const pl_number *x;       /* [n][3], the iterate */
    const pl_number *u, *z;   /* [block][rows][PL_BLOCK], scaled dual and split variable */
    pl_number *u_old, *z_old; /* the ones before; overwritten with the new ones */
    double beta, beta_next;
    double relaxation;    /* alpha: D x is replaced by alpha D x + (1 - alpha) z^; 1 = plain */
    pl_number *to_global; /* contributions of D^T W^2 (z^ - u^) for the next global step (eq. 15) */
    pl_number *dual;      /* contributions of D^T W^2 (z - z^) (eq. 23), or NULL */
    pl_block_sums *sums;  /* [block] */
} pl_admm_local;

/* A group of hard constraints held by an augmented Lagrangian: it has an energy, which depends on a multiplier
 * of each term, the force f that holds the constraint, N. The model lists them for all groups, [block][L]
 * from `first` on. `change`, `along` and `f` are lists like it. C: the rows of the constraints that hold
 * (f != 0), by x. */
typedef struct pl_held_ops {
    void (*place)(pl_group *g, int64_t first);
    /* Sets the energy by the multipliers; NULL: all 0. Before anything else of a stage. */
    void (*hold)(const pl_group *g, const double *multipliers, int64_t b0, int64_t b1);
    /* multipliers = the forces at x, a minimiser of that energy; change = the difference to those before. */
    void (*renew)(const pl_group *g, const double *x, double *multipliers, double *change,
                  int64_t b0, int64_t b1);
    /* along = C d for d [n][3]; 0 where the constraint does not hold. */
    void (*along)(const pl_group *g, const double *x, const double *multipliers, const double *d,
                  double *along, int64_t b0, int64_t b1);
    /* Contributions of C^T f. */
    void (*pull)(const pl_group *g, const double *x, const double *multipliers, const double *f,
                 double *contributions, int64_t b0, int64_t b1);
    /* multipliers += change; one that would change its sign becomes 0 where the constraint is one-sided. */
    void (*correct)(const pl_group *g, const double *change, double *multipliers, int64_t b0,
                    int64_t b1);
} pl_held_ops;

typedef struct pl_group_ops {
    const char *name;
    int32_t corners;                /* vertices a term touches */
    int32_t rows;                   /* rows of D_i */
    const struct pl_held_ops *held; /* NULL: it has no multipliers */
    bool hard; /* a hard constraint: an energy of 0 or infinity (Narain 2016, eq. 38) */

    /* What the group keeps constant over a stage, in its own memory, and a function of the stage alone.
     * Before anything else of it. NULL: nothing is. */
    void (*freeze)(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1);
    /* What of that depends on neighbours, after `freeze` of all blocks, where `spreads` says that there is
     * anything to do. NULL: nothing does. */
    void (*spread)(const pl_group *g, int64_t b0, int64_t b1);
    bool (*spreads)(const pl_group *g);
    /* Dx[block][rows][L] = D_i x. */
    void (*reduce)(const pl_group *g, const double *x, double *Dx, int64_t b0, int64_t b1);
    /* energy[block]: sum of U_i over the block's terms, +inf outside the domain. */
    void (*energy)(const pl_group *g, const double *x, double *energy, int64_t b0, int64_t b1);
    /* Contributions of the gradient D_i^T grad U_i(D_i x), N. */
    void (*gradient)(const pl_group *g, const double *x, double *contributions, int64_t b0,
                     int64_t b1);
    /* Both in one pass. Where the energy is infinite the contributions have no meaning. */
    void (*energy_gradient)(const pl_group *g, const double *x, double *energy,
                            double *contributions, int64_t b0, int64_t b1);
    /* H[block][3c (3c + 1) / 2][L]: lower triangle by rows of the term's Hessian in its corners'
     * coordinates (corner-major), unprojected, N/m. */
    void (*hessian)(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1);
    /* The same, with each term's made semidefinite, where the group does that cheaper than project.h. NULL: it
     * does not. */
    void (*semidefinite_hessian)(const pl_group *g, const double *x, double *H, int64_t b0,
                                 int64_t b1);
    /* Contributions of the Hessian's diagonal, N/m, each at its corner's coordinate. NULL: whoever
     * needs it takes it from the full Hessian (pl_group_hessian_diagonal). */
    void (*hessian_diagonal)(const pl_group *g, const double *x, double *contributions, int64_t b0,
                             int64_t b1);
    /* out[block][L]: how concave U_i is at z [block][rows][L], in the unit of w_i^2: minus its least
     * second derivative among those that are at hand, or 0; below 0 where z is outside of the energy's
     * domain. NULL: a weight need not know. */
    void (*concavity)(const pl_group *g, const double *z, double *out, int64_t b0, int64_t b1);
    /* z = argmin U_i(z) + w_i^2 / 2 |z - v|^2 (Narain 2016, eq. 24). v, z [block][rows][L]. */
    void (*prox)(const pl_group *g, const pl_stage *stage, const double *v, double *z, int64_t b0,
                 int64_t b1);
    /* reduce, relaxation, prox, dual update, momentum and contributions in one pass over the block.
     */
    void (*admm_local)(const pl_group *g, const pl_stage *stage, const pl_admm_local *local,
                       int64_t b0, int64_t b1);
    /* Contributions of D_i^T W_i^2 (z - u): the global step's, without momentum. */
    void (*admm_contribute)(const pl_group *g, const double *u, const double *z,
                            double *contributions, int64_t b0, int64_t b1);
    /* Contributions of D_i^T W_i^2 q for q [block][rows][L]. */
    void (*transpose)(const pl_group *g, const double *q, double *contributions, int64_t b0,
                      int64_t b1);
    /* The force that an obstacle with an energy exerts at x, N; returns how many terms exert any. NULL
     * where the group is no such thing. */
    int64_t (*push)(const pl_group *g, const double *x, double force[3]);
    /* How far below an obstacle's surface, as it stands at `time`, the deepest of the terms' vertices
     * is, m; 0 where none is below. NULL where the group is no obstacle. */
    double (*depth)(const pl_group *g, double time, const double *x, int64_t b0, int64_t b1);
    /* What the obstacle that a group is does to the vertex of term `i` at a stage's result x; u: the
     * multipliers of a hard group. False where it does nothing. NULL where the group is no obstacle. */
    bool (*touch)(const pl_group *g, const pl_stage *stage, const double *u, const double *x,
                  int64_t i, pl_touch *out);
    void (*measure)(const pl_group *g, const double *x, pl_block_measure *out, int64_t b0,
                    int64_t b1);
    /* power[block]: what the terms' forces take away at x, W, the end of the stage that was frozen. NULL:
     * they conserve energy. */
    void (*dissipate)(const pl_group *g, const pl_number *x, double *power, int64_t b0, int64_t b1);
    /* Entries of D_i^T W_i^2 D_i for corners (c, d) as [corners][corners] scalars of one term: the
     * same for x, y and z; at most PL_CORNERS_MAX^2. */
    void (*stiffness)(const pl_group *g, int64_t block, int32_t lane, double *K);
    /* `hash` with every number of the group that decides bits; NULL: pl_model_digest knows them. */
    uint64_t (*hash)(const pl_group *g, uint64_t hash);
    void (*destroy)(pl_group *g);
} pl_group_ops;

struct pl_group {
    const pl_group_ops *ops;
    int64_t terms, blocks;
    int32_t *corner;      /* [block][corners][L]: model vertex */
    pl_number *weight;    /* [block][L]: w_i^2, 0 in padding */
    int64_t contribution; /* offset of the group's first contribution, doubles */
    void *data;           /* the group's own; see tets.h, contacts.h */
};

/* Contributions of the diagonal of the group's Hessian, of its own function or, where it has none,
 * out of the full Hessian; `scratch` then takes that: [pl_group_hessian_values], else it may be
 * NULL. A hard group contributes nothing. */
void pl_group_hessian_diagonal(const pl_group *g, const double *x, double *contributions,
                               double *scratch, int64_t b0, int64_t b1);

/* Zeroed memory aligned to 64 bytes and padded to a multiple of it; NULL when out of memory. */
void *pl_block_alloc(int64_t count, size_t size);

static inline int64_t pl_group_contributions(const pl_group *g)
{
    return g->blocks * g->ops->corners * 3 * PL_BLOCK;
}
static inline int64_t pl_group_values(const pl_group *g)
{
    return g->blocks * g->ops->rows * PL_BLOCK;
}

static inline int64_t pl_group_multipliers(const pl_group *g)
{
    return g->ops->held ? g->blocks * PL_BLOCK : 0;
}

/* Of `hessian`: lower triangles of the terms' Hessians. */
static inline int64_t pl_group_hessian_values(const pl_group *g)
{
    int64_t coordinates = 3 * (int64_t)g->ops->corners;
    return g->blocks * (coordinates * (coordinates + 1) / 2) * PL_BLOCK;
}

/* `energy` and `gradient` of a group whose `energy_gradient` takes NULL for what is not wanted. */
#define PL_ENERGY_AND_GRADIENT(group)                                                              \
    static void group##_energy(const pl_group *g, const double *x, double *energy, int64_t b0,     \
                               int64_t b1)                                                         \
    {                                                                                              \
        group##_energy_gradient(g, x, energy, NULL, b0, b1);                                       \
    }                                                                                              \
    static void group##_gradient(const pl_group *g, const double *x, double *contributions,        \
                                 int64_t b0, int64_t b1)                                           \
    {                                                                                              \
        group##_energy_gradient(g, x, NULL, contributions, b0, b1);                                \
    }

#endif
