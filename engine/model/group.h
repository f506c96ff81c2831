/* group.h - a term group: many similar energy terms U_i(D_i x), behind one small table of functions.
 *
 * A solver uses only this table, so every solver works with every group that has the slots it needs. A slot is NULL
 * if the group does not support it (a hard constraint has no Hessian). Callers check before they use a slot, and
 * validation reports the unsupported combinations.
 *
 * Terms lie in blocks of PL_BLOCK lanes, structure of arrays inside a block: a per-term array with r rows is
 * [block][r][PL_BLOCK]. The last block is padded with copies of its first term with zero weight. Every function
 * works on blocks [b0, b1) and writes only there, so a caller may divide the blocks over threads in any way without
 * changing a bit.
 *
 * A term writes its contributions to its vertices to its own place in a contributions buffer,
 * [block][corner * 3 + coordinate][PL_BLOCK] from group->contribution on; vertices gather from there in a fixed
 * order (gather.h). Nothing scatters.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUP_H
#define PLIANT_ENGINE_MODEL_GROUP_H

#include "engine/model/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The width of a lane block on every instruction set: two 512-bit registers of doubles (engine/lanes/README.md
 * explains why two). */
enum { PL_BLOCK = 16 };

/* A corner's contribution on a device (term_lanes.h); w is unused. */
#ifdef __CUDACC__
typedef struct __align__(4 * sizeof(pl_number)) pl_number4
#else
typedef struct pl_number4
#endif
{
    pl_number x, y, z, w;
}
pl_number4;

/* Maximum number of vertices of a term. */
enum { PL_CORNERS_MAX = 5 };

typedef struct pl_group pl_group;

/* Sums over one block, in lane order. */
typedef struct pl_block_sums {
    double
        primal; /* sum of w^2 |D x - z|^2 with the new z: the primal residual, squared (eq. 22) */
    double change; /* sum of w^2 |z - z^|^2, an upper bound of the dual residual, squared */
    double size;   /* sum of w^2 |z|^2: the scale of rounding */
} pl_block_sums;

/* Effect of an obstacle on the vertex of a term. */
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

/* The fused local step of ADMM (Narain 2016, algorithm 1; eq. 24-25) on one range of blocks, with Nesterov's
 * momentum (Goldstein, O'Donoghue, Setzer, Baraniuk 2014, "Fast alternating direction optimization methods"). The
 * global step that computed x saw z^ = z + beta (z - z_old), and likewise u^; the next one sees them with
 * beta_next. beta = beta_next = 0 is plain ADMM. */
typedef struct pl_admm_local {
    const pl_number *x;       /* [n][3], the iterate */
    const pl_number *u, *z;   /* [block][rows][PL_BLOCK], scaled dual and split variable */
    pl_number *u_old, *z_old; /* of the last iteration; replaced by the new ones */
    double beta, beta_next;
    double relaxation;    /* alpha: D x is replaced by alpha D x + (1 - alpha) z^; 1 = plain */
    pl_number *to_global; /* contributions of D^T W^2 (z^ - u^) for the next global step (eq. 15) */
    pl_number *dual;      /* contributions of D^T W^2 (z - z^) (eq. 23), or NULL */
    pl_block_sums *sums;  /* [block] */
} pl_admm_local;

/* A group of hard constraints held by an augmented Lagrangian. It has an energy that depends on a multiplier of
 * each term, the force f that holds the constraint, N. The model lists the multipliers of all groups, [block][L]
 * from `first` on. `change`, `along` and `f` are lists of the same form. C: the rows of the active constraints
 * (f != 0) at x. */
typedef struct pl_held_ops {
    void (*place)(pl_group *g, int64_t first);
    /* Sets the energy from the multipliers; NULL: all 0. Called before anything else of a stage. */
    void (*hold)(const pl_group *g, const double *multipliers, int64_t b0, int64_t b1);
    /* multipliers = the forces at x, a minimiser of that energy; change = the difference to the previous ones. */
    void (*renew)(const pl_group *g, const double *x, double *multipliers, double *change,
                  int64_t b0, int64_t b1);
    /* along = C d for d [n][3]; 0 where the constraint is inactive. */
    void (*along)(const pl_group *g, const double *x, const double *multipliers, const double *d,
                  double *along, int64_t b0, int64_t b1);
    /* Contributions of C^T f. */
    void (*pull)(const pl_group *g, const double *x, const double *multipliers, const double *f,
                 double *contributions, int64_t b0, int64_t b1);
    /* multipliers += change; a multiplier that would change sign becomes 0 if its constraint is one-sided. */
    void (*correct)(const pl_group *g, const double *change, double *multipliers, int64_t b0,
                    int64_t b1);
} pl_held_ops;

typedef struct pl_group_ops {
    const char *name;
    int32_t corners;                  /* number of vertices of a term */
    int32_t rows;                     /* number of rows of D_i */
    const struct pl_held_ops *held;   /* NULL: it has no multipliers */
    const struct pl_local_ops *local; /* NULL: no sums around single vertices (local.h) */
    bool hard; /* a hard constraint: an energy of 0 or infinity (Narain 2016, eq. 38) */

    /* Computes what the group keeps constant over a stage, in its own memory, as a function of the stage alone.
     * Called before anything else of the stage. NULL: nothing. */
    void (*freeze)(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1);
    /* The part of that which depends on neighbours, after `freeze` of all blocks, if `spreads` reports work to do.
     * NULL: nothing depends on neighbours. */
    void (*spread)(const pl_group *g, int64_t b0, int64_t b1);
    bool (*spreads)(const pl_group *g);
    /* Dx[block][rows][L] = D_i x. */
    void (*reduce)(const pl_group *g, const double *x, double *Dx, int64_t b0, int64_t b1);
    /* energy[block]: sum of U_i over the block's terms, +inf outside the domain. */
    void (*energy)(const pl_group *g, const double *x, double *energy, int64_t b0, int64_t b1);
    /* Contributions of the gradient D_i^T grad U_i(D_i x), N. */
    void (*gradient)(const pl_group *g, const double *x, double *contributions, int64_t b0,
                     int64_t b1);
    /* Both in one pass. Where the energy is infinite, the contributions are undefined. */
    void (*energy_gradient)(const pl_group *g, const double *x, double *energy,
                            double *contributions, int64_t b0, int64_t b1);
    /* H[block][3c (3c + 1) / 2][L]: lower triangle by rows of the term's Hessian in its corners'
     * coordinates (corner-major), unprojected, N/m. */
    void (*hessian)(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1);
    /* The same, with each term's Hessian made semidefinite, if the group can do so more cheaply than project.h.
     * NULL: it cannot. */
    void (*semidefinite_hessian)(const pl_group *g, const double *x, double *H, int64_t b0,
                                 int64_t b1);
    /* Contributions of the Hessian's diagonal, N/m, each at its corner's coordinate. NULL: callers extract it from
     * the full Hessian (pl_group_hessian_diagonal). */
    void (*hessian_diagonal)(const pl_group *g, const double *x, double *contributions, int64_t b0,
                             int64_t b1);
    /* out[block][L]: concavity of U_i at z [block][rows][L], in the unit of w_i^2: minus the least of its available
     * second derivatives, or 0; below 0 if z is outside the energy's domain. NULL: weights need not know it. */
    void (*concavity)(const pl_group *g, const double *z, double *out, int64_t b0, int64_t b1);
    /* z = argmin U_i(z) + w_i^2 / 2 |z - v|^2 (Narain 2016, eq. 24). v, z [block][rows][L]. */
    void (*prox)(const pl_group *g, const pl_stage *stage, const double *v, double *z, int64_t b0,
                 int64_t b1);
    /* reduce, relaxation, prox, dual update, momentum and contributions in one pass over the block. */
    void (*admm_local)(const pl_group *g, const pl_stage *stage, const pl_admm_local *local,
                       int64_t b0, int64_t b1);
    /* Contributions of D_i^T W_i^2 (z - u): the global step's, without momentum. */
    void (*admm_contribute)(const pl_group *g, const double *u, const double *z,
                            double *contributions, int64_t b0, int64_t b1);
    /* Contributions of D_i^T W_i^2 q for q [block][rows][L]. */
    void (*transpose)(const pl_group *g, const double *q, double *contributions, int64_t b0,
                      int64_t b1);
    /* The force of an obstacle with an energy at x, N; returns the number of terms that exert any. NULL for other
     * groups. */
    int64_t (*push)(const pl_group *g, const double *x, double force[3]);
    /* Depth of the deepest of the terms' vertices below an obstacle's surface, as it stands at `time`, m; 0 if none
     * is below. NULL if the group is not an obstacle. */
    double (*depth)(const pl_group *g, double time, const double *x, int64_t b0, int64_t b1);
    /* Effect of the group's obstacle on the vertex of term `i` at a stage's result x; u: the multipliers of a hard
     * group. False if it has none. NULL if the group is not an obstacle. */
    bool (*touch)(const pl_group *g, const pl_stage *stage, const double *u, const double *x,
                  int64_t i, pl_touch *out);
    void (*measure)(const pl_group *g, const double *x, pl_block_measure *out, int64_t b0,
                    int64_t b1);
    /* power[block]: power that the terms' forces take at x, the end of the frozen stage, W. NULL: they conserve
     * energy. */
    void (*dissipate)(const pl_group *g, const pl_number *x, double *power, int64_t b0, int64_t b1);
    /* Entries of D_i^T W_i^2 D_i for corners (c, d) as [corners][corners] scalars of one term: the
     * same for x, y and z; at most PL_CORNERS_MAX^2. */
    void (*stiffness)(const pl_group *g, int64_t block, int32_t lane, double *K);
    /* `hash`, extended by every number of the group that determines bits; NULL: pl_model_digest knows them. */
    uint64_t (*hash)(const pl_group *g, uint64_t hash);
    void (*destroy)(pl_group *g);
} pl_group_ops;

struct pl_group {
    const pl_group_ops *ops;
    int64_t terms, blocks;
    int32_t *corner;      /* [block][corners][L]: model vertex */
    pl_number *weight;    /* [block][L]: w_i^2, 0 in padding */
    int64_t contribution; /* offset of the group's first contribution, doubles */
    void *data;           /* the group's own data; see tets.h, contacts.h */
};

/* Contributions of the diagonal of the group's Hessian, from its own function or else from the full Hessian.
 * `scratch` [pl_group_hessian_values] then holds the Hessian; otherwise it may be NULL. A hard group contributes
 * nothing. */
void pl_group_hessian_diagonal(const pl_group *g, const double *x, double *contributions,
                               double *scratch, int64_t b0, int64_t b1);

/* Zeroed memory aligned to 64 bytes and padded to a multiple of it; NULL if out of memory. */
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

/* Size of `hessian`: lower triangles of the terms' Hessians. */
static inline int64_t pl_group_hessian_values(const pl_group *g)
{
    int64_t coordinates = 3 * (int64_t)g->ops->corners;
    return g->blocks * (coordinates * (coordinates + 1) / 2) * PL_BLOCK;
}

/* `energy` and `gradient` of a group whose `energy_gradient` accepts NULL for unwanted outputs. */
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
