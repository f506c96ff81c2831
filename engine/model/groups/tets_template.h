/* tets_template.h - the functions of a group of tetrahedra, for one material model and one instruction set.
 * Included by tets_<model>_isa.c, which defines
 *
 *   MATERIAL        the kernel's name, so that pl_<MATERIAL>_prox etc. exist (engine/kernels)
 *   MATERIAL_NAME   its name in a scene
 *
 * and, if a material has more constants than mu and lambda, load_material() with TETS_LOAD_MATERIAL, and
 * TETS_FREEZE and TETS_SPREAD, the group's `freeze` and `spread` or NULL; TETS_LOCAL if the material has a table of
 * pl_local_ops of its own; and TETS_DISTANCE if the energy is k/2 times a squared distance from a set, so that
 * weights need not know its concavity.
 *
 * It is compiled with PL_ISA = v2, v3, v4 or base. All arithmetic is on lanes: one block of PL_BLOCK tetrahedra at
 * a time, without branches except a kernel's rare out-of-line path. So the bits do not depend on which tetrahedra
 * share a block, and the compiler has nothing to guess.
 */
#include "engine/kernels/mat3.h"
#include "engine/kernels/svd3.h"
#include "engine/model/groups/term_lanes.h"
#include "engine/model/groups/tets.h"
#ifndef PL_DEVICE
#include "engine/kernels/stretch_solid.h"
#include "engine/model/groups/term_hessian.h"
#endif

#define JOIN3_(a, b, c) a##b##c
#define JOIN3(a, b, c)  JOIN3_(a, b, c)
#define KERNEL(verb)    JOIN3(pl_, MATERIAL, _##verb)
#define OPS             JOIN3(JOIN3(pl_tets_, MATERIAL, _ops_), PL_ISA, )

typedef JOIN3(pl_, MATERIAL, ) material;

/* The four corners' coordinates of a block: p[c][k] = coordinate k of corner c. */
PL_INLINE void load_corners(const pl_group *g, int64_t b, const pl_number *x, pl_real p[4][3])
{
    const int32_t *corner = g->corner + b * 4 * PL_BLOCK;
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++)
        pl_gather3(x, corner + c * PL_BLOCK, p[c]);
}

PL_INLINE void load_shape(const pl_tets *t, int64_t b, pl_real inverse[9])
{
#pragma GCC unroll 9
    for (int e = 0; e < 9; e++)
        inverse[e] = pl_load(t->shape + (b * 9 + e) * PL_BLOCK);
}

/* F = [x1 - x0, x2 - x0, x3 - x0] B^-1 (Narain 2016, eq. 32). */
PL_INLINE void deformation(const pl_group *g, int64_t b, const pl_number *x,
                           const pl_real inverse[9], pl_mat3 *F)
{
    pl_real p[4][3];
    load_corners(g, b, x, p);
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++) {
        pl_real d1 = p[1][r] - p[0][r], d2 = p[2][r] - p[0][r], d3 = p[3][r] - p[0][r];
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++)
            F->m[r + 3 * j] = d1 * inverse[3 * j] + d2 * inverse[3 * j + 1] +
                              d3 * inverse[3 * j + 2];
    }
}

#ifndef TETS_LOAD_MATERIAL
PL_INLINE material load_material(const pl_tets *t, int64_t b)
{
    const pl_number *constants = t->constants + b * 2 * PL_BLOCK;
    return (material){pl_load(constants), pl_load(constants + PL_BLOCK)};
}
#define TETS_FREEZE NULL
#define TETS_SPREAD NULL
#endif

#if !defined(PL_DEVICE) || defined(PL_STRETCH_KINDS)
/* A block's material in principal stretches. */
PL_INLINE pl_stretch stretch_of(const pl_tets *t, int64_t b)
{
    return (pl_stretch){t->stretch, t->constants + b * t->stretch->constants * PL_BLOCK, t->shared,
                        t->blend ? t->blend + b * 2 * PL_BLOCK : NULL};
}
#endif

/* F of block `b` at x, and the parts of D. */
PL_INLINE pl_mat3 load_deformation(const pl_group *g, int64_t b, const pl_number *x,
                                   pl_real inverse[9])
{
    pl_mat3 F;
    load_shape(pl_tets_of(g), b, inverse);
    deformation(g, b, x, inverse, &F);
    return F;
}

/* Contributions of D^T vec(G): corner c gets G times the gradient of its shape function. */
PL_INLINE void store_transpose(const pl_group *g, int64_t b, const pl_real inverse[9],
                               const pl_mat3 *G, pl_number *contributions)
{
    PL_CONTRIBUTIONS(out, contributions, g, b, 4);
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++) {
        pl_real f[4];
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++)
            f[c + 1] = G->m[r] * inverse[c] + G->m[r + 3] * inverse[c + 3] +
                       G->m[r + 6] * inverse[c + 6];
        f[0] = -(f[1] + f[2] + f[3]);
#pragma GCC unroll 4
        for (int c = 0; c < 4; c++)
            PL_CONTRIBUTE(out, c, r, f[c]);
    }
    PL_CONTRIBUTED(out, contributions, g, b, 4);
}

PL_TERM void tets_reduce(const pl_group *g, const pl_number *x, pl_number *Dx, int64_t b0,
                         int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9];
        pl_mat3 F = load_deformation(g, b, x, inverse);
        for (int e = 0; e < 9; e++)
            pl_store(Dx + (b * 9 + e) * PL_BLOCK, F.m[e]);
    }
}

PL_TERM void tets_energy(const pl_group *g, const pl_number *x, pl_number *energy, int64_t b0,
                         int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK);
        pl_mat3 F = load_deformation(g, b, x, inverse);
        material m = load_material(t, b);
        /* Padding has no volume, and 0 times an infinite density is not 0. */
        pl_real density = KERNEL(energy)(&m, &F);
        PL_PUT_SUM(energy, b, pl_select(pl_gt(volume, pl_zero()), volume * density, pl_zero()));
    }
}

PL_TERM void tets_gradient(const pl_group *g, const pl_number *x, pl_number *contributions,
                           int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK);
        pl_mat3 P, F = load_deformation(g, b, x, inverse);
        material m = load_material(t, b);
        KERNEL(gradient)(&m, &F, &P);
        for (int e = 0; e < 9; e++)
            P.m[e] *= volume;
        store_transpose(g, b, inverse, &P, contributions);
    }
}

/* The gradients of the corners' shape functions. */
PL_INLINE void shape_gradients(const pl_real inverse[9], pl_real grad[4][3])
{
    for (int j = 0; j < 3; j++) {
        for (int c = 1; c < 4; c++)
            grad[c][j] = inverse[c - 1 + 3 * j];
        grad[0][j] = -(grad[1][j] + grad[2][j] + grad[3][j]);
    }
}

/* d2 Psi / dF2 of a block, and the gradients of its corners' shape functions. Out of line: it is large, and two
 * functions call it. */
PL_LARGE void block_hessian(const pl_group *g, int64_t b, const pl_number *x, pl_real C[81],
                            pl_real grad[4][3])
{
    pl_real inverse[9];
    pl_mat3 F;
    material m = load_material(pl_tets_of(g), b);
    load_shape(pl_tets_of(g), b, inverse);
    deformation(g, b, x, inverse, &F);
    KERNEL(hessian)(&m, &F, C);
    shape_gradients(inverse, grad);
}

#ifndef PL_DEVICE
enum { HESSIAN = 78 * PL_BLOCK };

/* H = V G^T (d2 Psi / dF2) G with G the map from the corners' coordinates to vec(F). */
PL_INLINE void store_hessian(const pl_group *g, int64_t b, pl_real C[81], const pl_real grad[4][3],
                             pl_number *H)
{
    const pl_real volume = pl_load(pl_tets_of(g)->volume + b * PL_BLOCK);
    for (int e = 0; e < 81; e++)
        C[e] *= volume;
    pl_term_expand(grad[0], C, 4, 3, H + b * HESSIAN);
}

static void tets_hessian(const pl_group *g, const pl_number *x, pl_number *H, int64_t b0,
                         int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real C[81], grad[4][3];
        block_hessian(g, b, x, C, grad);
        store_hessian(g, b, C, grad, H);
    }
}

/* In the frame of the stretches, all eigenvectors but three are known (Smith, de Goes, Kim 2019, "Analytic
 * eigensystems for isotropic distortion energies"): flips and twists. A matrix of three by three remains. */
static void tets_semidefinite_hessian(const pl_group *g, const pl_number *x, pl_number *H,
                                      int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        const pl_stretch m = stretch_of(pl_tets_of(g), b);
        pl_real inverse[9], C[81], grad[4][3];
        pl_stretch_frame at;
        const pl_mat3 F = load_deformation(g, b, x, inverse);
        pl_stretch_frame_at(&m, &F, &at);
        for (int p = 0; p < 3; p++) {
            at.c.flip[p] = pl_max(at.c.flip[p], pl_zero());
            at.c.twist[p] = pl_max(at.c.twist[p], pl_zero());
        }
        pl_term_make_semidefinite(at.c.H, 3);
        pl_stretch_frame_hessian(&at, C);
        shape_gradients(inverse, grad);
        store_hessian(g, b, C, grad, H);
    }
}
#endif

#ifdef TETS_DIAGONAL_ALONG
/* The Hessian's diagonal, from the second derivative along each corner's coordinates: d2 Psi / dF2 does not fit in
 * a thread's registers, and only 27 of its 81 numbers are needed. */
PL_TERM void tets_hessian_diagonal(const pl_group *g, const pl_number *x, pl_number *contributions,
                                   int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK);
        pl_mat3 F = load_deformation(g, b, x, inverse);
        TETS_DIAGONAL_ALONG at;
        material m = load_material(t, b);
        JOIN3(TETS_DIAGONAL_ALONG, _at, )(&m, &F, &at);
        PL_CONTRIBUTIONS(out, contributions, g, b, 4);
        for (int c = 0; c < 4; c++) {
            pl_real w[3], along[3];
            for (int j = 0; j < 3; j++)
                w[j] = c ? inverse[c - 1 + 3 * j]
                         : -(inverse[3 * j] + inverse[3 * j + 1] + inverse[3 * j + 2]);
            KERNEL(along)(&at, w, along);
            for (int r = 0; r < 3; r++)
                PL_CONTRIBUTE(out, c, r, volume * along[r]);
        }
        PL_CONTRIBUTED(out, contributions, g, b, 4);
    }
}
#else
/* Its diagonal: for corner c and coordinate r, V sum_jq grad_c[j] C[r + 3j, r + 3q] grad_c[q]. */
PL_TERM void tets_hessian_diagonal(const pl_group *g, const pl_number *x, pl_number *contributions,
                                   int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real volume = pl_load(t->volume + b * PL_BLOCK);
        pl_real C[81], grad[4][3];
        block_hessian(g, b, x, C, grad);
        PL_CONTRIBUTIONS(out, contributions, g, b, 4);
        for (int i = 0; i < 12; i++) {
            const pl_real *w = grad[i / 3];
            pl_real sum = pl_zero();
            for (int j = 0; j < 3; j++)
                for (int q = 0; q < 3; q++)
                    sum += w[j] * C[(i % 3 + 3 * j) + 9 * (i % 3 + 3 * q)] * w[q];
            PL_CONTRIBUTE(out, i / 3, i % 3, volume * sum);
        }
        PL_CONTRIBUTED(out, contributions, g, b, 4);
    }
}
#endif

/* The prox's stiffness is w^2 / V (Narain 2016, eq. 36); padding has neither, so any value will do. */
PL_INLINE pl_real prox_stiffness(pl_real w2, pl_real volume)
{
    return pl_select(pl_gt(volume, pl_zero()), w2, pl_one()) /
           pl_select(pl_gt(volume, pl_zero()), volume, pl_one());
}

PL_TERM void tets_prox(const pl_group *g, const pl_stage *stage, const pl_number *v, pl_number *z,
                       int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        material m = load_material(t, b);
        pl_real k = prox_stiffness(pl_load(g->weight + b * PL_BLOCK),
                                   pl_load(t->volume + b * PL_BLOCK));
        pl_mat3 V, Z;
        for (int e = 0; e < 9; e++)
            V.m[e] = pl_load(v + (b * 9 + e) * PL_BLOCK);
        KERNEL(prox)(&m, k, &V, &Z);
        for (int e = 0; e < 9; e++)
            pl_store(z + (b * 9 + e) * PL_BLOCK, Z.m[e]);
    }
}

PL_TERM void tets_admm_local(const pl_group *g, const pl_stage *stage, const pl_admm_local *local,
                             int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    pl_real alpha = pl_set1(local->relaxation), rest = pl_set1(1 - local->relaxation);
    pl_real beta = pl_set1(local->beta), beta_next = pl_set1(local->beta_next);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], w2 = pl_load(g->weight + b * PL_BLOCK);
        pl_real k = prox_stiffness(w2, pl_load(t->volume + b * PL_BLOCK));
        material m = load_material(t, b);
        pl_mat3 F, V, Z, q;
        const pl_number *u = local->u + b * 9 * PL_BLOCK, *z = local->z + b * 9 * PL_BLOCK;
        pl_number *u_old = local->u_old + b * 9 * PL_BLOCK,
                  *z_old = local->z_old + b * 9 * PL_BLOCK;
        F = load_deformation(g, b, local->x, inverse);

        for (int e = 0; e < 9; e++) {
            pl_real ue = pl_load(u + e * PL_BLOCK), ze = pl_load(z + e * PL_BLOCK);
            pl_real u_hat = ue + beta * (ue - pl_load(u_old + e * PL_BLOCK));
            pl_real z_hat = ze + beta * (ze - pl_load(z_old + e * PL_BLOCK));
            V.m[e] = u_hat + alpha * F.m[e] + rest * z_hat;
        }
        KERNEL(prox)(&m, k, &V, &Z);
        pl_real primal = pl_zero(), change = pl_zero(), size = pl_zero();
        pl_mat3 s; /* z - z^ */
        for (int e = 0; e < 9; e++) {
            pl_real ue = pl_load(u + e * PL_BLOCK), ze = pl_load(z + e * PL_BLOCK);
            pl_real z_hat = ze + beta * (ze - pl_load(z_old + e * PL_BLOCK));
            pl_real r = F.m[e] - Z.m[e], u_new = V.m[e] - Z.m[e];
            s.m[e] = Z.m[e] - z_hat;
            primal += r * r;
            change += s.m[e] * s.m[e];
            size += Z.m[e] * Z.m[e];
            q.m[e] = w2 * (Z.m[e] - u_new + beta_next * ((Z.m[e] - ze) - (u_new - ue)));
            pl_store(u_old + e * PL_BLOCK, u_new);
            pl_store(z_old + e * PL_BLOCK, Z.m[e]);
        }
        store_transpose(g, b, inverse, &q, local->to_global);
        if (local->dual) {
            for (int e = 0; e < 9; e++)
                s.m[e] *= w2;
            store_transpose(g, b, inverse, &s, local->dual);
        }
        PL_PUT_SUMS(local->sums, b, w2 * primal, w2 * change, w2 * size);
    }
}

PL_TERM void tets_admm_contribute(const pl_group *g, const pl_number *u, const pl_number *z,
                                  pl_number *contributions, int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], w2 = pl_load(g->weight + b * PL_BLOCK);
        pl_mat3 q;
        load_shape(t, b, inverse);
        for (int e = 0; e < 9; e++)
            q.m[e] = w2 *
                     (pl_load(z + (b * 9 + e) * PL_BLOCK) - pl_load(u + (b * 9 + e) * PL_BLOCK));
        store_transpose(g, b, inverse, &q, contributions);
    }
}

PL_TERM void tets_transpose(const pl_group *g, const pl_number *q, pl_number *contributions,
                            int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], w2 = pl_load(g->weight + b * PL_BLOCK);
        pl_mat3 Q;
        load_shape(t, b, inverse);
        for (int e = 0; e < 9; e++)
            Q.m[e] = w2 * pl_load(q + (b * 9 + e) * PL_BLOCK);
        store_transpose(g, b, inverse, &Q, contributions);
    }
}

PL_TERM void tets_energy_gradient(const pl_group *g, const pl_number *x, pl_number *energy,
                                  pl_number *contributions, int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK);
        pl_mat3 P, F = load_deformation(g, b, x, inverse);
        material m = load_material(t, b);
        pl_real density = KERNEL(energy_gradient)(&m, &F, &P);
        PL_PUT_SUM(energy, b, pl_select(pl_gt(volume, pl_zero()), volume * density, pl_zero()));
        for (int e = 0; e < 9; e++)
            P.m[e] *= volume;
        store_transpose(g, b, inverse, &P, contributions);
    }
}

#ifdef TETS_DISTANCE
#define TETS_CONCAVITY NULL
#elif !defined(PL_DEVICE) || defined(PL_STRETCH_KINDS)
#define TETS_CONCAVITY tets_concavity

/* Smaller stretches are treated as this one, because energies of log J have no bound. */
static const double LEAST_STRETCH = 0.05;

/* A compressed element becomes unstable in rotation or shear where its stresses are large. Along
 * (u_i v_j^T - u_j v_i^T) / root 2 the second derivative is twist = (g_i + g_j) / (s_i + s_j), along the sum it is
 * flip (stretch_solid.h). Of the stretches' own block, the diagonal is taken. */
PL_TERM void tets_concavity(const pl_group *g, const pl_number *z, pl_number *out, int64_t b0,
                            int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    const bool positive = t->stretch->domain == PL_STRETCH_POSITIVE && !t->blend;
    for (int64_t b = b0; b < b1; b++) {
        const pl_stretch m = stretch_of(t, b);
        pl_stretch_curvature c;
        pl_real s[3], least = pl_zero();
        pl_mat3 Z, U, V;
        for (int e = 0; e < 9; e++)
            Z.m[e] = pl_load(z + (b * 9 + e) * PL_BLOCK);
        pl_svd3(&Z, &U, s, &V);
        const pl_mask outside = pl_le(s[2], pl_set1(positive ? 0 : -PL_SCALAR_INFINITY));
        for (int i = 0; i < 3; i++)
            s[i] = pl_max(s[i], pl_set1(LEAST_STRETCH));
        pl_stretch_curve(&m, s, &c);
        for (int p = 0; p < 3; p++)
            least = pl_min(least, pl_min(c.H[4 * p], pl_min(c.twist[p], c.flip[p])));
        least = -least * pl_load(t->volume + b * PL_BLOCK);
        pl_store(out + b * PL_BLOCK, pl_select(outside, pl_set1(-1), least));
    }
}
#endif

#ifndef PL_DEVICE
PL_TERM void tets_measure(const pl_group *g, const pl_number *x, pl_block_measure *out, int64_t b0,
                          int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK), s[3];
        pl_mat3 F = load_deformation(g, b, x, inverse);
        material m = load_material(t, b);
        pl_mat3 U, V;
        pl_svd3(&F, &U, s, &V);
        pl_real det = pl_mat3_det(&F), density = KERNEL(energy)(&m, &F);
        out[b] = (pl_block_measure){
            .energy = pl_sum(pl_select(pl_gt(volume, pl_zero()), volume * density, pl_zero()))};
        for (int l = 0; l < PL_BLOCK; l++) {
            if (volume[l] > 0 && det[l] <= 0)
                out[b].inverted++;
            if (s[0][l] > out[b].max_stretch)
                out[b].max_stretch = s[0][l];
        }
    }
}

#ifndef TETS_LOCAL
/* ---- around vertices (local.h) ---- */

static void tets_local_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                              int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    pl_real sum = pl_load(energy);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], volume = pl_load(t->volume + b * PL_BLOCK);
        pl_mat3 F = load_deformation(g, b, x, inverse);
        material m = load_material(t, b);
        pl_real density = KERNEL(energy)(&m, &F);
        sum += pl_select(pl_gt(volume, pl_zero()), volume * density, pl_zero());
    }
    pl_store(energy, sum);
}

/* The gradient of the shape function of each lane's own corner. */
PL_INLINE void own_gradient(const pl_real inverse[9], pl_real own, pl_real w[3])
{
    pl_mask is[4];
#pragma GCC unroll 3
    for (int c = 1; c < 4; c++)
        is[c] = pl_eq(own, pl_set1(c));
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
        w[j] = -(inverse[3 * j] + inverse[3 * j + 1] + inverse[3 * j + 2]);
#pragma GCC unroll 3
        for (int c = 1; c < 4; c++)
            w[j] = pl_select(is[c], inverse[c - 1 + 3 * j], w[j]);
    }
}

static void tets_local_expand(const pl_group *g, const double *x, const double *own, double *sums,
                              int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], w[3], out[PL_LOCAL_ROWS], volume = pl_load(t->volume + b * PL_BLOCK);
        const pl_mat3 F = load_deformation(g, b, x, inverse);
        const pl_mask some = pl_gt(volume, pl_zero());
        own_gradient(inverse, pl_load(own + b * PL_BLOCK), w);
        const pl_stretch m = stretch_of(t, b);
        pl_stretch_solid_local(&m, &F, w, out);
        PL_UNROLL for (int e = 0; e < PL_LOCAL_ROWS; e++)
            pl_store(sums + e * PL_BLOCK,
                     pl_load(sums + e * PL_BLOCK) + pl_select(some, volume * out[e], pl_zero()));
    }
}

static const pl_local_ops LOCAL = {
    .copy = pl_tets_local_copy,
    .refreeze = pl_tets_local_refreeze,
    .release = pl_tets_local_release,
    .energy = tets_local_energy,
    .expand = tets_local_expand,
};
#define TETS_LOCAL LOCAL
#endif

extern const pl_group_ops OPS; /* as isa.h declares it */

const pl_group_ops OPS = {
    .name = MATERIAL_NAME,
    .corners = 4,
    .rows = 9,
    .local = &TETS_LOCAL,
    .reduce = tets_reduce,
    .energy = tets_energy,
    .gradient = tets_gradient,
    .energy_gradient = tets_energy_gradient,
    .hessian = tets_hessian,
    .semidefinite_hessian = tets_semidefinite_hessian,
    .hessian_diagonal = tets_hessian_diagonal,
    .concavity = TETS_CONCAVITY,
    .prox = tets_prox,
    .admm_local = tets_admm_local,
    .admm_contribute = tets_admm_contribute,
    .transpose = tets_transpose,
    .measure = tets_measure,
    .stiffness = pl_tets_stiffness,
    .freeze = TETS_FREEZE,
    .spread = TETS_SPREAD,
    .spreads = pl_tets_spreads,
    .destroy = pl_tets_destroy,
};
#endif
