/* stretch_prox.h - the proximal operator of any material in its principal stretches, on lanes.
 *
 *     prox(s~) = argmin over s of  phi(s) = Psi(s) + k/2 |s - s~|^2     (Narain 2016, eq. 34)
 *
 * Among all F with the same signed singular values, |F - F~| is least where F shares U and V with F~ (von Neumann's
 * trace inequality, for rotations), so three numbers are the unknowns. Psi does not change when stretches are
 * exchanged, nor does a smooth Psi when two of them change their signs. Such an s is another way to write the F of
 * U diag(s) V^T, so the search need not keep any order. A creased Psi(s) is that of F only where no two stretches
 * add up to less than zero; if the search ends elsewhere, the minimum is searched for on the crease s1 = -s2.
 *
 * One descent is Newton's method with H + tau I; tau follows Levenberg and Marquardt's rule and is large enough for
 * a positive definite matrix. Stretches of a model defined for J > 0 fall to no less than a fifth of themselves in
 * a step, nor below PL_STRETCH_LEAST. Psi need not be convex. If the target is not far from rest, one descent from
 * the target finds the global minimum. Otherwise there are several, from the target, from rest, and from between,
 * and the lowest end wins. A lane's result depends on that lane alone: once settled, it stands still while others
 * continue.
 */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_PROX_H
#define PLIANT_ENGINE_KERNELS_STRETCH_PROX_H

#include "engine/kernels/stretch.h"

#include <stddef.h>

#ifdef PL_SINGLE
#define PL_STRETCH_HUGE    1e3f
#define PL_STRETCH_NOISE   1e-6f
#define PL_STRETCH_SETTLED 1e-4f
#define PL_STRETCH_STILL   1e-7f
#else
#define PL_STRETCH_HUGE    1e6
#define PL_STRETCH_NOISE   1e-14
#define PL_STRETCH_SETTLED 1e-8
#define PL_STRETCH_STILL   1e-15
#endif
enum { PL_STRETCH_STEPS = 100 };

/* The unknowns: all stretches; s0 and s1 = -s2; s0 = s1 = -s2. */
typedef enum pl_prox_mode { PL_PROX_SOLID, PL_PROX_CREASE, PL_PROX_TRIPLE } pl_prox_mode;

typedef struct pl_prox_problem {
    const pl_stretch *m;
    pl_real k, target[3], least; /* no stretch below `least` */
    pl_prox_mode mode;
    bool creased;
} pl_prox_problem;

/* phi at s and its derivatives in the unknowns: H00, H11, H22, H10, H20, H21. */
typedef struct pl_prox_point {
    pl_real s[3], phi, noise, g[3], H[6];
} pl_prox_point;

PL_INLINE void pl_prox_reduce(pl_prox_mode mode, pl_prox_point *at)
{
    if (mode == PL_PROX_SOLID)
        return;
    if (mode == PL_PROX_CREASE || mode == PL_PROX_TRIPLE) {
        at->g[1] -= at->g[2];
        at->H[1] += at->H[2] - (at->H[5] + at->H[5]);
        at->H[3] -= at->H[4];
    }
    if (mode == PL_PROX_TRIPLE) {
        at->g[0] += at->g[1];
        at->H[0] += at->H[1] + (at->H[3] + at->H[3]);
        at->g[1] = at->H[3] = pl_zero();
        at->H[1] = pl_one();
    }
    at->g[2] = at->H[4] = at->H[5] = pl_zero();
    at->H[2] = pl_one();
}

PL_LARGE void pl_prox_evaluate(const pl_prox_problem *p, pl_prox_point *at)
{
    pl_stretch_curvature c;
    const pl_real half = pl_set1((pl_scalar)0.5);
    pl_real psi, far = pl_zero(), size = pl_one();
    pl_stretch_energy_gradient(p->m, at->s, &psi, at->g);
    pl_stretch_curve(p->m, at->s, &c);
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real d = at->s[i] - p->target[i];
        far += d * d;
        size += at->s[i] * at->s[i];
        at->g[i] += p->k * d;
        at->H[i] = c.H[4 * i] + p->k;
    }
    at->H[3] = c.H[1];
    at->H[4] = c.H[2];
    at->H[5] = c.H[5];
    at->phi = psi + half * p->k * far;
    at->noise = pl_set1(PL_STRETCH_NOISE) * (pl_abs(psi) + p->k * (size + far));
    pl_prox_reduce(p->mode, at);
}

/* Fixes an unknown that lies on its bound and would go below it. */
PL_INLINE void pl_prox_hold(const pl_prox_problem *p, const pl_prox_point *at, pl_real g[3],
                            pl_real H[6])
{
    static const int coupled[3][2] = {{3, 4}, {3, 5}, {4, 5}};
    PL_UNROLL for (int i = 0; i < 6; i++) H[i] = at->H[i];
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_mask held = pl_and(pl_le(at->s[i], p->least), pl_gt(at->g[i], pl_zero()));
        g[i] = pl_select(held, pl_zero(), at->g[i]);
        H[i] = pl_select(held, pl_max(H[i], p->k), H[i]);
        H[coupled[i][0]] = pl_select(held, pl_zero(), H[coupled[i][0]]);
        H[coupled[i][1]] = pl_select(held, pl_zero(), H[coupled[i][1]]);
    }
}

/* H + shift I = L D L^T with unit lower L. */
typedef struct pl_prox_factor {
    pl_real d[3], l10, l20, l21;
} pl_prox_factor;

PL_INLINE pl_prox_factor pl_prox_factorise(const pl_real H[6], pl_real shift)
{
    pl_prox_factor f;
    f.d[0] = H[0] + shift;
    f.l10 = H[3] / f.d[0];
    f.l20 = H[4] / f.d[0];
    f.d[1] = (H[1] + shift) - f.l10 * H[3];
    const pl_real rest = H[5] - f.l20 * H[3];
    f.l21 = rest / f.d[1];
    f.d[2] = (H[2] + shift) - f.l20 * H[4] - f.l21 * rest;
    return f;
}

/* The largest eigenvalue, and a lower bound of the least (Gershgorin). */
PL_INLINE void pl_prox_bounds(const pl_real H[6], pl_real *largest, pl_real *least)
{
    const pl_real r0 = pl_abs(H[3]) + pl_abs(H[4]), r1 = pl_abs(H[3]) + pl_abs(H[5]);
    const pl_real r2 = pl_abs(H[4]) + pl_abs(H[5]);
    *largest = pl_max(pl_max(pl_abs(H[0]) + r0, pl_abs(H[1]) + r1), pl_abs(H[2]) + r2);
    *least = pl_min(pl_min(H[0] - r0, H[1] - r1), H[2] - r2);
}

/* d = -(H + (tau + the shift that makes it definite) I)^-1 g. The mask is true where no shift was needed. */
PL_INLINE pl_mask pl_prox_direction(const pl_prox_problem *p, const pl_prox_point *at, pl_real tau,
                                    pl_real *scale, pl_real d[3])
{
    pl_real g[3], H[6], low;
    pl_prox_hold(p, at, g, H);
    pl_prox_bounds(H, scale, &low);
    const pl_real small = pl_set1((pl_scalar)1e-4) * *scale;
    const pl_prox_factor trial = pl_prox_factorise(H, tau);
    const pl_mask definite = pl_and(pl_and(pl_gt(trial.d[0], small), pl_gt(trial.d[1], small)),
                                    pl_gt(trial.d[2], small));
    const pl_real enough = pl_max(tau, pl_max(-low, pl_zero()) +
                                           pl_max(pl_set1((pl_scalar)0.1) * p->k, small + small));
    const pl_prox_factor f = pl_prox_factorise(H, pl_select(definite, tau, enough));
    const pl_real y0 = -g[0], y1 = -g[1] - f.l10 * y0, y2 = -g[2] - f.l20 * y0 - f.l21 * y1;
    d[2] = y2 / f.d[2];
    d[1] = y1 / f.d[1] - f.l21 * d[2];
    d[0] = y0 / f.d[0] - f.l10 * d[1] - f.l20 * d[2];
    return pl_and(definite, pl_le(tau, pl_zero()));
}

/* The end of a step, kept in the domain. */
PL_INLINE void pl_prox_trial(const pl_prox_problem *p, const pl_prox_point *at, const pl_real d[3],
                             pl_real s[3])
{
    const pl_real huge = pl_set1(PL_STRETCH_HUGE), fifth = pl_set1((pl_scalar)0.2);
    const pl_mask bounded = pl_ge(p->least, pl_zero());
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real floor = pl_max(fifth * at->s[i], p->least);
        const pl_real to = pl_min(pl_max(at->s[i] + d[i], -huge), huge);
        s[i] = pl_select(bounded, pl_max(to, floor), to);
    }
    if (p->mode == PL_PROX_TRIPLE)
        s[1] = s[0];
    if (p->mode == PL_PROX_CREASE || p->mode == PL_PROX_TRIPLE)
        s[2] = -s[1];
}

/* True in lanes where `next` is lower than `at` or, within rounding, flatter. */
PL_INLINE pl_mask pl_prox_is_better(const pl_prox_point *at, const pl_prox_point *next)
{
    const pl_real flat = at->g[0] * at->g[0] + at->g[1] * at->g[1] + at->g[2] * at->g[2];
    const pl_real next_flat = next->g[0] * next->g[0] + next->g[1] * next->g[1] +
                              next->g[2] * next->g[2];
    const pl_mask level = pl_and(pl_le(next->phi, at->phi + at->noise), pl_lt(next_flat, flat));
    return pl_or(pl_lt(next->phi, at->phi - at->noise), level);
}

/* Descends from s, which is overwritten; returns phi there. A start outside the domain stays. */
PL_LARGE pl_real pl_prox_descend(const pl_prox_problem *p, pl_real s[3])
{
    pl_prox_point at = {.s = {s[0], s[1], s[2]}}, next;
    pl_real tau = pl_zero(), scale, d[3];
    pl_prox_evaluate(p, &at);
    pl_mask settled = pl_gt(pl_zero(), pl_zero());
    for (int step = 0; step < PL_STRETCH_STEPS && !pl_all(settled); step++) {
        const pl_mask newton = pl_prox_direction(p, &at, tau, &scale, d);
        pl_prox_trial(p, &at, d, next.s);
        pl_prox_evaluate(p, &next);
        pl_real moved = pl_zero(), size = pl_one();
        PL_UNROLL for (int i = 0; i < 3; i++)
        {
            moved = pl_max(moved, pl_abs(next.s[i] - at.s[i]));
            size = pl_max(size, pl_abs(at.s[i]));
        }
        const pl_mask better = pl_and(pl_prox_is_better(&at, &next), pl_not(settled));
        PL_UNROLL for (int i = 0; i < 3; i++)
        {
            at.s[i] = pl_select(better, next.s[i], at.s[i]);
            at.g[i] = pl_select(better, next.g[i], at.g[i]);
        }
        PL_UNROLL for (int i = 0; i < 6; i++) at.H[i] = pl_select(better, next.H[i], at.H[i]);
        at.phi = pl_select(better, next.phi, at.phi);
        at.noise = pl_select(better, next.noise, at.noise);
        const pl_real eased = tau * pl_set1((pl_scalar)0.1);
        const pl_real down = pl_select(pl_lt(eased, pl_set1((pl_scalar)1e-3) * scale), pl_zero(),
                                       eased);
        const pl_real up = pl_max(pl_set1(4) * tau, pl_set1((pl_scalar)0.05) * scale);
        tau = pl_select(better, down, up);
        const pl_mask last = pl_and(newton, pl_le(moved, pl_set1(PL_STRETCH_SETTLED) * size));
        settled = pl_or(settled, pl_or(last, pl_le(moved, pl_set1(PL_STRETCH_STILL) * size)));
    }
    PL_UNROLL for (int i = 0; i < 3; i++) s[i] = at.s[i];
    return at.phi;
}

/* The lowest end of the descents so far; `crossed`: lanes in which one ended beyond the crease. */
typedef struct pl_prox_best {
    pl_real s[3], phi;
    pl_mask crossed;
} pl_prox_best;

PL_INLINE pl_real pl_prox_least_sum(const pl_real s[3])
{
    return pl_min(pl_min(s[0] + s[1], s[0] + s[2]), s[1] + s[2]);
}

/* In the lanes of `wanted`, a descent from `start` replaces the best if it ends lower. */
PL_LARGE void pl_prox_try(const pl_prox_problem *p, pl_mask wanted, const pl_real start[3],
                          pl_prox_best *best)
{
    pl_real s[3];
    PL_UNROLL for (int i = 0; i < 3; i++) s[i] = pl_max(start[i], p->least);
    const pl_real phi = pl_prox_descend(p, s);
    pl_mask better = pl_and(wanted, pl_lt(phi, best->phi));
    if (p->mode == PL_PROX_CREASE || p->mode == PL_PROX_TRIPLE)
        better = pl_and(better, pl_and(pl_ge(s[0], s[1]), pl_ge(s[1], pl_zero())));
    if (p->creased && p->mode == PL_PROX_SOLID) {
        const pl_mask crossed = pl_and(wanted, pl_lt(pl_prox_least_sum(s), pl_zero()));
        best->crossed = pl_or(best->crossed, crossed);
        better = pl_and(better, pl_not(crossed));
    }
    best->phi = pl_select(better, phi, best->phi);
    PL_UNROLL for (int i = 0; i < 3; i++) best->s[i] = pl_select(better, s[i], best->s[i]);
}

/* Starts for targets far from rest: rest; half-way there; the target brought to the volume of rest by all of its
 * stretches, by the least, by the two lesser; a ball of its size; and the mirror image of rest. Each is slightly
 * perturbed: Newton's steps keep equal stretches equal, and so end at saddles. */
PL_RARE void pl_prox_search(const pl_prox_problem *p, pl_mask wanted, pl_prox_best *best)
{
    const pl_real one = pl_one(), half = pl_set1((pl_scalar)0.5), tenth = pl_set1((pl_scalar)0.1);
    const pl_real t0 = pl_max(p->target[0], tenth), t1 = pl_max(p->target[1], tenth);
    const pl_real t2 = pl_max(p->target[2], tenth), third = pl_set1((pl_scalar)(1.0 / 3));
    const pl_real by_all = pl_exp(-third * pl_log(t0 * t1 * t2)), by_two = one / pl_sqrt(t0);
    const pl_real by_one = one / (t0 * t1), mean = third * (t0 + t1 + t2);
    const pl_real starts[][3] = {
        {one, one, one},
        {half * (one + t0), half * (one + t1), half * (one + p->target[2])},
        {t0 * by_all, t1 * by_all, t2 * by_all},
        {t0, t1, by_one},
        {t0, by_two, by_two},
        {mean, mean, mean},
        {half * (one + t0), half * (one + t1), tenth},
        {one, one, -one},
    };
    for (int i = 0; i < 8; i++) {
        const pl_real start[3] = {starts[i][0], starts[i][1] * pl_set1((pl_scalar)1.03),
                                  starts[i][2] * pl_set1((pl_scalar)0.96)};
        pl_prox_try(p, wanted, start, best);
    }
}

/* For a creased energy whose descent goes beyond the crease: searches on it, s1 = -s2, or, where s0 would be less,
 * at its edge s0 = s1 = -s2. An end out of order there belongs to no F. */
PL_RARE void pl_prox_crease(pl_prox_problem *p, pl_prox_best *best)
{
    const pl_real half = pl_set1((pl_scalar)0.5), tenth = pl_set1((pl_scalar)0.1), one = pl_one();
    const pl_real thick = half * (p->target[1] - p->target[2]);
    const pl_real starts[][3] = {
        {p->target[0], thick, -thick}, {one, half, -half},
        {p->target[0], tenth, -tenth}, {half * (one + p->target[0]), half * thick, -half * thick},
        {thick, thick, -thick},        {one, one, -one}};
    for (int i = 0; i < 6; i++) {
        p->mode = i < 4 ? PL_PROX_CREASE : PL_PROX_TRIPLE;
        pl_prox_try(p, best->crossed, starts[i], best);
    }
}

/* The general prox. s_tilde is in the order of svd3.h. */
PL_LARGE void pl_stretch_prox_general(const pl_stretch *m, pl_real k, const pl_real s_tilde[3],
                                      pl_real s[3])
{
    const pl_real huge = pl_set1(PL_STRETCH_HUGE);
    const bool positive = m->ops->domain == PL_STRETCH_POSITIVE;
    pl_prox_problem p = {
        m, k, {k, k, k}, k, PL_PROX_SOLID, m->ops->domain == PL_STRETCH_CREASED || m->blend};
    p.least = pl_set1(positive ? PL_STRETCH_LEAST : -PL_SCALAR_INFINITY);
    if (m->blend) /* where a zero weight removes the energy, it also removes its domain */
        p.least = pl_select(pl_lt(pl_load(m->blend), pl_one()), p.least, -huge);
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        p.target[i] = pl_clamp(s_tilde[i], -huge, huge);
        s[i] = pl_max(p.target[i], pl_set1((pl_scalar)0.05));
        s[i] = pl_select(pl_gt(p.least, pl_zero()), s[i], pl_max(p.target[i], p.least));
    }
    const pl_real volume = p.target[0] * p.target[1] * p.target[2];
    const pl_mask thick = pl_and(pl_ge(p.target[2], pl_set1((pl_scalar)0.5)),
                                 pl_le(p.target[0], pl_set1((pl_scalar)2.5)));
    const pl_mask far = pl_not(pl_and(thick, pl_le(volume, pl_set1(2))));
    pl_prox_best best = {{s[0], s[1], s[2]}, pl_set1(PL_SCALAR_INFINITY), pl_lt(huge, -huge)};
    pl_prox_try(&p, pl_lt(-huge, huge), s, &best);
    if (pl_any(far))
        pl_prox_search(&p, far, &best);
    if (pl_any(best.crossed))
        pl_prox_crease(&p, &best);
    PL_UNROLL for (int i = 0; i < 3; i++) s[i] = best.s[i];
}

/* The prox of a material: its own, or the general one. A blend has only the general one, which lanes without a
 * blend do not use. */
PL_INLINE void pl_stretch_prox(const pl_stretch *m, pl_real k, const pl_real s_tilde[3],
                               pl_real s[3])
{
    const pl_mask blended = m->blend ? pl_gt(pl_load(m->blend), pl_zero())
                                     : pl_lt(pl_zero(), pl_zero());
    const pl_stretch plain = {m->ops, m->constants, m->shared, NULL};
    if (pl_stretch_model_has_prox(m))
        pl_stretch_model_prox(&plain, &k, s_tilde, s);
    else if (!pl_all(blended))
        pl_stretch_prox_general(&plain, k, s_tilde, s);
    if (pl_any(blended)) {
        pl_real mixed[3];
        pl_stretch_prox_general(m, k, s_tilde, mixed);
        PL_UNROLL for (int i = 0; i < 3; i++) s[i] = pl_select(blended, mixed[i], s[i]);
    }
}

#endif
