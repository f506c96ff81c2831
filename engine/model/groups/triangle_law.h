/* triangle_law.h - the law of triangles (terms.h), for terms_template.h: a membrane of any isotropic material in
 * plane stress.
 *
 * With F (3x2) = U diag(s1, s2) V^T, the sheet's energy is U = volume W(s1, s2). The stretch across it, s3, is that
 * at which the stress across it is 0:
 *
 *     W(s1, s2) = min over s3 of Psi(s1, s2, s3),   dPsi/ds3 = 0
 *
 * With Lame's constants, at small strain, 2 mu lambda / (lambda + 2 mu) takes lambda's place. So young and poisson
 * mean the same for a sheet as for a solid, and the law needs only the material's table (engine/kernels/stretch.h).
 * By the envelope theorem, dW/ds_i = dPsi/ds_i at that s3, and the second derivatives are the Schur complement of
 * H_33. Singular values of 3x2 matrices are never negative. So a sheet resists compression in its plane as its
 * material does, and turning a triangle over costs nothing, as it must.
 */
#include "engine/model/groups/plane_stress.h"
#include "engine/model/groups/terms.h"

enum { PROX_STEPS = 40, PROX_HALVINGS = 20 };
#define LEAST_STRETCH 0.05

typedef struct law {
    pl_stretch material;
    pl_real volume;
} law;

PL_INLINE law law_load(const pl_terms *t, int64_t b)
{
    const pl_number *c = t->constant + b * t->constants * PL_BLOCK;
    return (law){{t->material, c + PL_TRIANGLE_MATERIAL * PL_BLOCK, t->shared, NULL},
                 pl_load(c + PL_TRIANGLE_VOLUME * PL_BLOCK)};
}

/* Energy and P = volume (g1 u1 v1^T + g2 u2 v2^T). */
PL_LARGE void law_energy_gradient(const law *m, const pl_real F[6], pl_real *energy, pl_real P[6])
{
    pl_real U[6], s[3], V[4], g[3], psi;
    pl_svd32(F, U, s, V);
    s[2] = across_start(&m->material, s);
    solve_across(&m->material, s);
    pl_stretch_model_energy_gradient(&m->material, s, &psi, g);
    for (int j = 0; j < 2; j++)
        for (int r = 0; r < 3; r++)
            P[3 * j + r] = m->volume * (g[0] * U[r] * V[j] + g[1] * U[r + 3] * V[j + 2]);
    /* Padding has no volume, and 0 times an infinite density is not 0. */
    *energy = pl_select(pl_gt(m->volume, pl_zero()), m->volume * psi, pl_zero());
}

/* From the frame of plane_curve. */
PL_LARGE void law_hessian(const law *m, const pl_real F[6], pl_real C[36])
{
    pl_real U[9], s[3], V[4];
    plane_curvature k;
    pl_svd32(F, U, s, V);
    plane_normal(U);
    s[2] = across_start(&m->material, s);
    solve_across(&m->material, s);
    plane_curve(&m->material, s, &k);
    const pl_real mean = pl_set1(0.5) * (k.flip + k.twist);
    const pl_real swap = pl_set1(0.5) * (k.flip - k.twist);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            const int i = a % 3, j = b % 3;
            const pl_real *p = V + a / 3, *q = V + b / 3;         /* v_k at row a / 3: p[2 k] */
            const pl_real A0 = U[i] * p[0], A1 = U[i + 3] * p[2]; /* u1 v1, u2 v2 */
            const pl_real B0 = U[j] * q[0], B1 = U[j + 3] * q[2];
            const pl_real A01 = U[i] * p[2], A10 = U[i + 3] * p[0]; /* u1 v2, u2 v1 */
            const pl_real B01 = U[j] * q[2], B10 = U[j + 3] * q[0];
            const pl_real n = U[i + 6] * U[j + 6];
            C[a + 6 * b] = m->volume *
                           (k.H[0] * A0 * B0 + k.H[1] * A1 * B1 + k.H[2] * (A0 * B1 + A1 * B0) +
                            mean * (A01 * B01 + A10 * B10) + swap * (A01 * B10 + A10 * B01) +
                            n * (k.out[0] * p[0] * q[0] + k.out[1] * p[2] * q[2]));
        }
}

/* One point of the prox's descent: f = Psi + k/2 |s - s~|^2 over the first two. */
typedef struct spot {
    pl_real s[3], f, g[3];
} spot;

PL_INLINE void look(const law *m, pl_real k, const pl_real target[2], spot *at)
{
    pl_stretch_model_energy_gradient(&m->material, at->s, &at->f, at->g);
    for (int i = 0; i < 2; i++) {
        const pl_real d = at->s[i] - target[i];
        at->f += pl_set1(0.5) * k * d * d;
        at->g[i] += k * d;
    }
}

/* p = -(H + t I)^-1 g, by L D L^T; t = 0 where H is positive definite, else large enough to make its rows dominant. */
PL_LARGE void newton_direction(const pl_real H[9], const pl_real g[3], pl_real p[3])
{
    const pl_real zero = pl_zero();
    pl_real a[3] = {H[0], H[4], H[8]}, b = H[3], c = H[6], d = H[7];
    const pl_real size = pl_max(pl_max(pl_abs(a[0]), pl_abs(a[1])), pl_abs(a[2]));
    const pl_real least = pl_set1(1e-10) * size;
    const pl_real e1 = a[1] - b * b / pl_select(pl_gt(a[0], least), a[0], pl_one());
    const pl_real f1 = d - b * c / pl_select(pl_gt(a[0], least), a[0], pl_one());
    const pl_real e2 = a[2] - c * c / pl_select(pl_gt(a[0], least), a[0], pl_one()) -
                       f1 * f1 / pl_select(pl_gt(e1, least), e1, pl_one());
    const pl_mask good = pl_and(pl_gt(a[0], least), pl_and(pl_gt(e1, least), pl_gt(e2, least)));
    const pl_real low0 = a[0] - pl_abs(b) - pl_abs(c), low1 = a[1] - pl_abs(b) - pl_abs(d);
    const pl_real low2 = a[2] - pl_abs(c) - pl_abs(d);
    const pl_real lowest = pl_min(low0, pl_min(low1, low2));
    const pl_real t =
        pl_select(good, zero,
                  pl_max(zero, pl_set1(1e-3) * (size + pl_abs(b) + pl_abs(c) + pl_abs(d)) +
                                   pl_set1(PL_SCALAR_MIN) - lowest));
    for (int i = 0; i < 3; i++)
        a[i] += t;
    const pl_real l1 = b / a[0], l2 = c / a[0];
    const pl_real d1 = a[1] - b * l1, f = d - b * l2, l3 = f / d1;
    const pl_real d2 = a[2] - c * l2 - f * l3;
    const pl_real y1 = g[1] - l1 * g[0], y2 = g[2] - l2 * g[0] - l3 * y1;
    p[2] = -(y2 / d2);
    p[1] = -(y1 / d1) - l3 * p[2];
    p[0] = -(g[0] / a[0]) - l1 * p[1] - l2 * p[2];
}

/* argmin over s1, s2 >= 0 of W(s) + k/2 |s - s~|^2, jointly with s3: Newton's method with a line search, started at
 * s~ with its s3. Where W + k/2 |s|^2 is convex, as it is for the weights that groups use, it finds the only
 * minimum. */
PL_LARGE void prox_stretches(const law *m, const pl_real *stiffness, const pl_real target[2],
                             pl_real s[2])
{
    const bool positive = m->material.ops->domain == PL_STRETCH_POSITIVE;
    const pl_real least = pl_set1(positive ? PL_STRETCH_LEAST : 0), k = *stiffness;
    spot at;
    for (int i = 0; i < 2; i++)
        at.s[i] = pl_max(target[i], pl_set1(positive ? 0.1 : 0));
    at.s[2] = across_start(&m->material, at.s);
    solve_across(&m->material, at.s);
    look(m, k, target, &at);
    pl_mask done = pl_lt(pl_one(), pl_zero());
    for (int step = 0; step < PROX_STEPS && !pl_all(done); step++) {
        pl_stretch_curvature c;
        pl_real g[3], p[3];
        pl_stretch_model_curvature(&m->material, at.s, &c);
        c.H[0] += k;
        c.H[4] += k;
        /* A stretch that is at its bound and pushed against it stays: its row becomes the identity's. */
        for (int i = 0; i < 3; i++) {
            g[i] = at.g[i];
            if (i == 2)
                continue;
            const pl_mask bound = pl_and(pl_le(at.s[i], least), pl_gt(at.g[i], pl_zero()));
            g[i] = pl_select(bound, pl_zero(), g[i]);
            for (int j = 0; j < 3; j++) {
                const pl_real entry = i == j ? pl_one() : pl_zero();
                c.H[i + 3 * j] = pl_select(bound, entry, c.H[i + 3 * j]);
                c.H[j + 3 * i] = pl_select(bound, entry, c.H[j + 3 * i]);
            }
        }
        newton_direction(c.H, g, p);
        const pl_real slope = g[0] * p[0] + g[1] * p[1] + g[2] * p[2];
        pl_real t = pl_one();
        pl_mask found = done;
        spot best = at;
        for (int half = 0; half < PROX_HALVINGS && !pl_all(found); half++) {
            spot next;
            for (int i = 0; i < 3; i++)
                next.s[i] = at.s[i] + t * p[i];
            for (int i = 0; i < 2; i++)
                next.s[i] = pl_max(next.s[i], least);
            if (positive)
                next.s[2] = pl_max(next.s[2], pl_set1(ACROSS_LEAST));
            look(m, k, target, &next);
            /* Slack for rounding: near the minimum, energies no longer distinguish points. */
            const pl_real slack = pl_set1(1e-15) * pl_abs(at.f);
            const pl_mask good = pl_and(pl_le(next.f, at.f + pl_set1(1e-4) * t * slope + slack),
                                        pl_not(found));
            for (int i = 0; i < 3; i++) {
                best.s[i] = pl_select(good, next.s[i], best.s[i]);
                best.g[i] = pl_select(good, next.g[i], best.g[i]);
            }
            best.f = pl_select(good, next.f, best.f);
            found = pl_or(found, good);
            t = pl_set1(0.5) * t;
        }
        pl_real moved = pl_zero();
        for (int i = 0; i < 3; i++)
            moved = pl_max(moved, pl_abs(best.s[i] - at.s[i]) / (pl_one() + pl_abs(at.s[i])));
        for (int i = 0; i < 3; i++) {
            at.s[i] = pl_select(done, at.s[i], best.s[i]);
            at.g[i] = pl_select(done, at.g[i], best.g[i]);
        }
        at.f = pl_select(done, at.f, best.f);
        done = pl_or(done, pl_le(moved, pl_set1(CONVERGED)));
    }
    s[0] = at.s[0];
    s[1] = at.s[1];
}

/* The minimum has v's singular vectors: among all z with given singular values, the nearest to v is the one aligned
 * with it (von Neumann's trace inequality). k = w^2 / volume. */
PL_LARGE void law_prox(const law *m, const pl_real *weight, const pl_real v[6], pl_real z[6])
{
    pl_real U[6], target[2], s[2], V[4];
    const pl_mask any = pl_gt(m->volume, pl_zero());
    const pl_real k = pl_select(any, *weight, pl_one()) / pl_select(any, m->volume, pl_one());
    pl_svd32(v, U, target, V);
    prox_stretches(m, &k, target, s);
    for (int j = 0; j < 2; j++)
        for (int r = 0; r < 3; r++)
            z[3 * j + r] = s[0] * U[r] * V[j] + s[1] * U[r + 3] * V[j + 2];
}

/* Minus the least second derivative of W at z: of the stretches' own block the diagonal, the pair in the plane, and
 * the directions out of the plane, in which a triangle under pressure buckles. Stretches below 0.05 are treated as
 * 0.05, because energies of log J have no bound. Below 0 outside the domain. */
#define LAW_CONCAVITY law_concavity
PL_LARGE pl_real law_concavity(const law *m, const pl_real z[6])
{
    const bool positive = m->material.ops->domain == PL_STRETCH_POSITIVE;
    pl_real U[6], s[3], V[4], least = pl_zero();
    plane_curvature k;
    pl_svd32(z, U, s, V);
    const pl_mask outside = pl_le(s[1], pl_set1(positive ? 0 : -PL_SCALAR_INFINITY));
    for (int j = 0; j < 2; j++)
        s[j] = pl_max(s[j], pl_set1(LEAST_STRETCH));
    s[2] = across_start(&m->material, s);
    solve_across(&m->material, s);
    plane_curve(&m->material, s, &k);
    for (int j = 0; j < 2; j++)
        least = pl_min(least, pl_min(k.H[j], k.out[j]));
    least = -pl_min(least, pl_min(k.flip, k.twist)) * m->volume;
    return pl_select(outside, pl_set1(-1), least);
}

PL_INLINE pl_real law_stretch(const law *m, const pl_real F[6])
{
    pl_real U[6], s[2], V[4];
    pl_svd32(F, U, s, V);
    return s[0];
}
