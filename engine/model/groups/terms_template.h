/* terms_template.h - the table of one kind of terms (terms.h), for one instruction set. Included by files *_isa.c,
 * which define
 *
 *   TERMS            the kind's name, so that pl_<TERMS>_ops_<isa> is its table
 *   TERMS_NAME       its name in messages
 *   CORNERS COLUMNS  its sizes
 *   LAW_HARD         if the energy is 0 or infinite: the table has only reduce and prox
 *   LAW_BOTH         if it may be: also makes pl_hard_<TERMS>_ops_<isa>
 *   LAW_HELD         if a constraint may be held by an augmented Lagrangian (held_links.c): also
 *                    makes pl_held_<TERMS>_ops_<isa>
 *   TERMS_FREEZE     for a law that freezes data at a stage's start: replaces pl_terms_freeze, with
 *                    TERMS_DISSIPATE, TERMS_MEASURE and TERMS_HASH (damping_prox.h)
 *
 * and the law on lanes, with q, P, v, z of 3 COLUMNS rows, column by column:
 *
 *   law      law_load(t, b)                           the constants of a block
 *   void     law_energy_gradient(&law, q, &U, P)      U and P = dU/dq
 *   void     law_hessian(&law, q, C)                  C[i + 3 COLUMNS k] = d2 U / dq_i dq_k
 *   void     law_prox(&law, &w2, v, z)                argmin U(z) + w2/2 |z - v|^2
 *   pl_real  law_stretch(&law, q)                     the largest stretch, 0 for none
 *   pl_real  LAW_CONCAVITY(&law, z)                   group.h's, if defined
 */
#include "engine/model/groups/term_lanes.h"
#ifndef PL_DEVICE
#include "engine/model/groups/term_hessian.h"
#endif

#define JOIN4_(a, b, c, d) a##b##c##d
#define JOIN4(a, b, c, d)  JOIN4_(a, b, c, d)
#define ROWS               (3 * COLUMNS)

static_assert(CORNERS <= PL_CORNERS_MAX, "buffers of a term's stiffness");

/* All functions below are compiled once per file: calls cost less than compiling copies. */
PL_INLINE void load_shape(const pl_terms *t, int64_t b, pl_real G[CORNERS * COLUMNS])
{
#pragma GCC unroll 16
    for (int e = 0; e < CORNERS * COLUMNS; e++)
        G[e] = pl_load(t->shape + (b * CORNERS * COLUMNS + e) * PL_BLOCK);
}

/* q_j = sum_c G_cj (x_c - x_0) + (sum_c G_cj) x_0 - o_j: exact under a shift where the sum is 0. */
PL_LARGE void apply(const pl_group *g, int64_t b, const pl_number *x, pl_real q[ROWS])
{
    const pl_terms *t = pl_terms_of(g);
    pl_real G[CORNERS * COLUMNS];
    load_shape(t, b, G);
    const int32_t *corner = g->corner + b * CORNERS * PL_BLOCK;
    pl_real first[3];
    pl_gather3(x, corner, first);
    pl_real sum[COLUMNS];
#pragma GCC unroll 9
    for (int e = 0; e < ROWS; e++)
        q[e] = pl_zero();
#pragma GCC unroll 3
    for (int j = 0; j < COLUMNS; j++)
        sum[j] = pl_zero();
#pragma GCC unroll 8
    for (int c = 1; c < CORNERS; c++) {
        pl_real p[3];
        pl_gather3(x, corner + c * PL_BLOCK, p);
#pragma GCC unroll 3
        for (int j = 0; j < COLUMNS; j++) {
            sum[j] += G[c * COLUMNS + j];
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++)
                q[3 * j + r] += G[c * COLUMNS + j] * (p[r] - first[r]);
        }
    }
#pragma GCC unroll 9
    for (int e = 0; e < ROWS; e++)
        q[e] += (sum[e / 3] + G[e / 3]) * first[e % 3];
    if (t->offset)
        for (int e = 0; e < ROWS; e++)
            q[e] -= pl_load(t->offset + (b * ROWS + e) * PL_BLOCK);
}

/* Contributions of D^T P: corner c gets sum_j G_cj P_j. */
PL_LARGE void store_transpose(const pl_group *g, int64_t b, const pl_real P[ROWS],
                              pl_number *contributions)
{
    pl_real G[CORNERS * COLUMNS];
    load_shape(pl_terms_of(g), b, G);
    PL_CONTRIBUTIONS(out, contributions, g, b, CORNERS);
#pragma GCC unroll 8
    for (int c = 0; c < CORNERS; c++)
#pragma GCC unroll 3
        for (int r = 0; r < 3; r++) {
            pl_real f = G[c * COLUMNS] * P[r];
#pragma GCC unroll 3
            for (int j = 1; j < COLUMNS; j++)
                f += G[c * COLUMNS + j] * P[3 * j + r];
            PL_CONTRIBUTE(out, c, r, f);
        }
    PL_CONTRIBUTED(out, contributions, g, b, CORNERS);
}

PL_INLINE void load_rows(const pl_number *from, int64_t b, pl_real q[ROWS])
{
#pragma GCC unroll 9
    for (int e = 0; e < ROWS; e++)
        q[e] = pl_load(from + (b * ROWS + e) * PL_BLOCK);
}

/* The global step sees D x - o; its target is z - u + o. */
PL_INLINE void shift_back(const pl_terms *t, int64_t b, pl_real w2, pl_real q[ROWS])
{
    if (t->offset)
        for (int e = 0; e < ROWS; e++)
            q[e] += w2 * pl_load(t->offset + (b * ROWS + e) * PL_BLOCK);
}

PL_TERM void terms_reduce(const pl_group *g, const pl_number *x, pl_number *Dx, int64_t b0,
                          int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS];
        apply(g, b, x, q);
        for (int e = 0; e < ROWS; e++)
            pl_store(Dx + (b * ROWS + e) * PL_BLOCK, q[e]);
    }
}

PL_TERM void terms_prox(const pl_group *g, const pl_stage *stage, const pl_number *v, pl_number *z,
                        int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real V[ROWS], Z[ROWS], w2 = pl_load(g->weight + b * PL_BLOCK);
        law m = law_load(pl_terms_of(g), b);
        load_rows(v, b, V);
        law_prox(&m, &w2, V, Z);
        for (int e = 0; e < ROWS; e++)
            pl_store(z + (b * ROWS + e) * PL_BLOCK, Z[e]);
    }
}

PL_TERM void terms_admm_local(const pl_group *g, const pl_stage *stage, const pl_admm_local *local,
                              int64_t b0, int64_t b1)
{
    pl_real alpha = pl_set1(local->relaxation), rest = pl_set1(1 - local->relaxation);
    pl_real beta = pl_set1(local->beta), beta_next = pl_set1(local->beta_next);
    for (int64_t b = b0; b < b1; b++) {
        pl_real w2 = pl_load(g->weight + b * PL_BLOCK);
        pl_real q[ROWS], V[ROWS], Z[ROWS], s[ROWS], to_global[ROWS];
        law m = law_load(pl_terms_of(g), b);
        const pl_number *u = local->u + b * ROWS * PL_BLOCK, *z = local->z + b * ROWS * PL_BLOCK;
        pl_number *u_old = local->u_old + b * ROWS * PL_BLOCK;
        pl_number *z_old = local->z_old + b * ROWS * PL_BLOCK;
        apply(g, b, local->x, q);
        for (int e = 0; e < ROWS; e++) {
            pl_real ue = pl_load(u + e * PL_BLOCK), ze = pl_load(z + e * PL_BLOCK);
            pl_real u_hat = ue + beta * (ue - pl_load(u_old + e * PL_BLOCK));
            pl_real z_hat = ze + beta * (ze - pl_load(z_old + e * PL_BLOCK));
            V[e] = u_hat + alpha * q[e] + rest * z_hat;
        }
        law_prox(&m, &w2, V, Z);
        pl_real primal = pl_zero(), change = pl_zero(), size = pl_zero();
        for (int e = 0; e < ROWS; e++) {
            pl_real ue = pl_load(u + e * PL_BLOCK), ze = pl_load(z + e * PL_BLOCK);
            pl_real z_hat = ze + beta * (ze - pl_load(z_old + e * PL_BLOCK));
            pl_real r = q[e] - Z[e], u_new = V[e] - Z[e];
            s[e] = Z[e] - z_hat;
            primal += r * r;
            change += s[e] * s[e];
            size += Z[e] * Z[e];
            to_global[e] = w2 * (Z[e] - u_new + beta_next * ((Z[e] - ze) - (u_new - ue)));
            pl_store(u_old + e * PL_BLOCK, u_new);
            pl_store(z_old + e * PL_BLOCK, Z[e]);
        }
        shift_back(pl_terms_of(g), b, w2, to_global);
        store_transpose(g, b, to_global, local->to_global);
        if (local->dual) {
            for (int e = 0; e < ROWS; e++)
                s[e] *= w2;
            store_transpose(g, b, s, local->dual);
        }
        PL_PUT_SUMS(local->sums, b, w2 * primal, w2 * change, w2 * size);
    }
}

PL_TERM void terms_admm_contribute(const pl_group *g, const pl_number *u, const pl_number *z,
                                   pl_number *contributions, int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS], U[ROWS], w2 = pl_load(g->weight + b * PL_BLOCK);
        load_rows(z, b, q);
        load_rows(u, b, U);
        for (int e = 0; e < ROWS; e++)
            q[e] = w2 * (q[e] - U[e]);
        shift_back(pl_terms_of(g), b, w2, q);
        store_transpose(g, b, q, contributions);
    }
}

PL_TERM void terms_transpose(const pl_group *g, const pl_number *q, pl_number *contributions,
                             int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real Q[ROWS], w2 = pl_load(g->weight + b * PL_BLOCK);
        load_rows(q, b, Q);
        for (int e = 0; e < ROWS; e++)
            Q[e] *= w2;
        store_transpose(g, b, Q, contributions);
    }
}

#ifndef LAW_HARD
PL_TERM void terms_energy_gradient(const pl_group *g, const pl_number *x, pl_number *energy,
                                   pl_number *contributions, int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS], U, P[ROWS];
        law m = law_load(pl_terms_of(g), b);
        apply(g, b, x, q);
        law_energy_gradient(&m, q, &U, P);
        if (energy)
            PL_PUT_SUM(energy, b, U);
        if (contributions)
            store_transpose(g, b, P, contributions);
    }
}

PL_TERM void terms_energy(const pl_group *g, const pl_number *x, pl_number *energy, int64_t b0,
                          int64_t b1)
{
    terms_energy_gradient(g, x, energy, NULL, b0, b1);
}

PL_TERM void terms_gradient(const pl_group *g, const pl_number *x, pl_number *contributions,
                            int64_t b0, int64_t b1)
{
    terms_energy_gradient(g, x, NULL, contributions, b0, b1);
}

/* The parts of H = D^T C D of block `b`: D's shape functions and the law's Hessian at D x. */
PL_INLINE void load_hessian(const pl_group *g, int64_t b, const pl_number *x,
                            pl_real G[CORNERS * COLUMNS], pl_real C[ROWS * ROWS])
{
    pl_real q[ROWS];
    law m = law_load(pl_terms_of(g), b);
    load_shape(pl_terms_of(g), b, G);
    apply(g, b, x, q);
    law_hessian(&m, q, C);
}

#ifndef PL_DEVICE
PL_LARGE void block_hessian(const pl_group *g, int64_t b, const pl_number *x, bool project,
                            pl_number *out)
{
    pl_real G[CORNERS * COLUMNS], C[ROWS * ROWS];
    load_hessian(g, b, x, G, C);
    if (project)
        pl_term_make_semidefinite(C, ROWS);
    pl_term_expand(G, C, CORNERS, COLUMNS, out);
}

enum { HESSIAN = 3 * CORNERS * (3 * CORNERS + 1) / 2 * PL_BLOCK };

static void terms_hessian(const pl_group *g, const pl_number *x, pl_number *H, int64_t b0,
                          int64_t b1)
{
    for (int64_t b = b0; b < b1; b++)
        block_hessian(g, b, x, false, H + b * HESSIAN);
}

static void terms_semidefinite_hessian(const pl_group *g, const pl_number *x, pl_number *H,
                                       int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++)
        block_hessian(g, b, x, true, H + b * HESSIAN);
}
#endif

/* Its diagonal: for corner c and coordinate r, sum_jl G_cj C[r + 3j, r + 3l] G_cl. */
PL_TERM void terms_hessian_diagonal(const pl_group *g, const pl_number *x, pl_number *contributions,
                                    int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real G[CORNERS * COLUMNS], C[ROWS * ROWS];
        load_hessian(g, b, x, G, C);
        PL_CONTRIBUTIONS(out, contributions, g, b, CORNERS);
#pragma GCC unroll 1
        for (int i = 0; i < 3 * CORNERS; i++) {
            const pl_real *w = G + i / 3 * COLUMNS;
            pl_real sum = pl_zero();
#pragma GCC unroll 1
            for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 1
                for (int l = 0; l < COLUMNS; l++)
                    sum += w[j] * C[i % 3 + 3 * j + ROWS * (i % 3 + 3 * l)] * w[l];
            PL_CONTRIBUTE(out, i / 3, i % 3, sum);
        }
        PL_CONTRIBUTED(out, contributions, g, b, CORNERS);
    }
}
#endif

#if !defined(LAW_HARD) && !defined(PL_DEVICE)
/* ---- around vertices (local.h) ---- */

static void terms_local_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                               int64_t b1)
{
    pl_real sum = pl_load(energy);
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS], U, P[ROWS];
        law m = law_load(pl_terms_of(g), b);
        apply(g, b, x, q);
        law_energy_gradient(&m, q, &U, P);
        sum += U;
    }
    pl_store(energy, sum);
}

/* With the coefficients w of each lane's own corner: sum_j w_j P_j, and sum_jl w_j w_l C_jl. */
static void terms_local_expand(const pl_group *g, const double *x, const double *own, double *sums,
                               int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real G[CORNERS * COLUMNS], C[ROWS * ROWS], q[ROWS], P[ROWS], out[PL_LOCAL_ROWS];
        const pl_real corner = pl_load(own + b * PL_BLOCK);
        law m = law_load(pl_terms_of(g), b);
        load_shape(pl_terms_of(g), b, G);
        apply(g, b, x, q);
        law_energy_gradient(&m, q, &out[0], P);
        law_hessian(&m, q, C);
        for (int c = 1; c < CORNERS; c++)
            for (int j = 0; j < COLUMNS; j++)
                G[j] = pl_select(pl_eq(corner, pl_set1(c)), G[c * COLUMNS + j], G[j]);
        for (int e = 1; e < PL_LOCAL_ROWS; e++)
            out[e] = pl_zero();
        for (int j = 0; j < COLUMNS; j++)
            for (int r = 0, e = PL_LOCAL_HESSIAN; r < 3; r++) {
                out[PL_LOCAL_GRADIENT + r] += G[j] * P[3 * j + r];
                for (int s = 0; s <= r; s++, e++)
                    for (int l = 0; l < COLUMNS; l++)
                        out[e] += G[j] * G[l] * C[3 * j + r + ROWS * (3 * l + s)];
            }
        for (int e = 0; e < PL_LOCAL_ROWS; e++)
            pl_store(sums + e * PL_BLOCK, pl_load(sums + e * PL_BLOCK) + out[e]);
    }
}

static const pl_local_ops TERMS_LOCAL = {
    .copy = pl_terms_local_copy,
    .refreeze = pl_terms_local_refreeze,
    .release = pl_terms_local_release,
    .energy = terms_local_energy,
    .expand = terms_local_expand,
};
#endif

#ifdef LAW_CONCAVITY
PL_TERM void terms_concavity(const pl_group *g, const pl_number *z, pl_number *out, int64_t b0,
                             int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real Z[ROWS];
        law m = law_load(pl_terms_of(g), b);
        load_rows(z, b, Z);
        pl_store(out + b * PL_BLOCK, LAW_CONCAVITY(&m, Z));
    }
}
#define TERMS_CONCAVITY terms_concavity
#else
#define TERMS_CONCAVITY NULL
#endif

#ifndef PL_DEVICE
#ifndef TERMS_FREEZE
#define TERMS_FREEZE    pl_terms_freeze
#define TERMS_DISSIPATE NULL
#define TERMS_MEASURE   terms_measure
#define TERMS_HASH      pl_terms_hash
PL_TERM void terms_measure(const pl_group *g, const pl_number *x, pl_block_measure *out, int64_t b0,
                           int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real q[ROWS];
        law m = law_load(pl_terms_of(g), b);
        apply(g, b, x, q);
        out[b] = (pl_block_measure){0};
#ifndef LAW_HARD
        pl_real U, P[ROWS];
        law_energy_gradient(&m, q, &U, P);
        out[b].energy = g->ops->hard || g->ops->held ? 0 : pl_sum(U);
#endif
        pl_real stretch = law_stretch(&m, q);
        for (int l = 0; l < PL_BLOCK; l++)
            if (stretch[l] > out[b].max_stretch)
                out[b].max_stretch = stretch[l];
    }
}
#endif

#define TERMS_COMMON                                                                               \
    .name = TERMS_NAME, .corners = CORNERS, .rows = ROWS, .freeze = TERMS_FREEZE,                  \
    .reduce = terms_reduce, .prox = terms_prox, .admm_local = terms_admm_local,                    \
    .admm_contribute = terms_admm_contribute, .transpose = terms_transpose,                        \
    .measure = TERMS_MEASURE, .dissipate = TERMS_DISSIPATE, .stiffness = pl_terms_stiffness,       \
    .hash = TERMS_HASH, .destroy = pl_terms_destroy

#if defined(LAW_HARD) || defined(LAW_BOTH)
#ifdef LAW_BOTH
#define HARD_OPS JOIN4(pl_hard_, TERMS, _ops_, PL_ISA)
#else
#define HARD_OPS JOIN4(pl_, TERMS, _ops_, PL_ISA)
#endif
extern const pl_group_ops HARD_OPS;
const pl_group_ops HARD_OPS = {TERMS_COMMON, .hard = true};
#endif

#ifndef LAW_HARD
#define SOFT_OPS JOIN4(pl_, TERMS, _ops_, PL_ISA)
extern const pl_group_ops SOFT_OPS;
const pl_group_ops SOFT_OPS = {
    TERMS_COMMON,
    .local = &TERMS_LOCAL,
    .energy = terms_energy,
    .gradient = terms_gradient,
    .energy_gradient = terms_energy_gradient,
    .hessian = terms_hessian,
    .semidefinite_hessian = terms_semidefinite_hessian,
    .hessian_diagonal = terms_hessian_diagonal,
    .concavity = TERMS_CONCAVITY,
};
#endif

#ifdef LAW_HELD
#define HELD_OPS JOIN4(pl_held_, TERMS, _ops_, PL_ISA)
extern const pl_group_ops HELD_OPS;
const pl_group_ops HELD_OPS = {
    .name = TERMS_NAME,
    .corners = CORNERS,
    .rows = ROWS,
    .held = &pl_held_links,
    .energy = terms_energy,
    .gradient = terms_gradient,
    .energy_gradient = terms_energy_gradient,
    .hessian = terms_hessian,
    .semidefinite_hessian = terms_semidefinite_hessian,
    .hessian_diagonal = terms_hessian_diagonal,
    .measure = terms_measure,
    .stiffness = pl_terms_stiffness,
    .hash = pl_terms_hash,
    .destroy = pl_terms_destroy,
};
#endif
#endif
