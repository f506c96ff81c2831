/* damping_prox.h - the functions of damping_law.h's parts as one law for terms_template.h: energy, Hessian, prox,
 * dissipation and frozen data.
 *
 * Prox: argmin over F of phi(F) = s(F) + k/2 |F - F~|^2, k = w^2 / V. Functions of the stretch tensor have their
 * own algorithm (damping_stretch.h). Principal stretches are three unknowns in the frame of F~. All others use
 * Newton's method with H + tau I, where tau follows Levenberg and Marquardt's rule and is large enough to keep
 * pivots positive. A lane that has converged stays fixed, so its result depends on that lane alone.
 */

/* ---- s and its derivatives ---- */

PL_LARGE void damping_function(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    if (pl_damping_is_strain(m->d))
        strain_density(m, F, s, P);
    else if (m->d->model == PL_DAMPING_VISCOUS)
        viscous_density(m, F, s, P);
    else if (m->d->model == PL_DAMPING_RAYLEIGH)
        rayleigh_density(m, F, s, P);
    else if (m->d->model == PL_DAMPING_RAYLEIGH_LAGGED)
        lagged_density(m, F, s, P);
#if COLUMNS == 3
    else if (m->d->model == PL_DAMPING_PRINCIPAL_STRAIN)
        principal_density(m, F, s, P);
#endif
    else
        stretch_density(m, F, s, P);
    *s *= m->scale;
    for (int e = 0; e < FS; e++)
        P[e] *= m->scale;
}

/* The same, with the element's own energy if the term contains it. */
PL_INLINE void damping_density(const law *m, const pl_real F[FS], pl_real *s, pl_real P[FS])
{
    damping_function(m, F, s, P);
#ifdef DAMPING_MERGES
    if (m->d->merged)
        merged_density(m, F, s, P);
#endif
}

PL_LARGE void damping_curvature(const law *m, const pl_real F[FS], pl_real C[FS * FS])
{
    if (pl_damping_is_strain(m->d))
        strain_curvature(m, F, C);
    else if (m->d->model == PL_DAMPING_VISCOUS)
        viscous_curvature(m, C);
    else if (m->d->model == PL_DAMPING_RAYLEIGH)
        rayleigh_curvature(m, F, C);
    else if (m->d->model == PL_DAMPING_RAYLEIGH_LAGGED)
        lagged_curvature(m, C);
#if COLUMNS == 3
    else if (m->d->model == PL_DAMPING_PRINCIPAL_STRAIN)
        principal_curvature(m, F, C);
#endif
    else
        stretch_curvature(m, F, C);
    for (int e = 0; e < FS * FS; e++)
        C[e] *= m->scale;
#ifdef DAMPING_MERGES
    if (m->d->merged)
        merged_curvature(m, F, C);
#endif
}

/* A group without volume (padding) has no energy, even where the density is infinite. */
PL_LARGE void law_energy_gradient(const law *m, const pl_real F[FS], pl_real *energy, pl_real P[FS])
{
    pl_real s;
    damping_density(m, F, &s, P);
    *energy = pl_select(pl_gt(m->volume, pl_zero()), m->volume * s, pl_zero());
    for (int e = 0; e < FS; e++)
        P[e] *= m->volume;
}

PL_LARGE void law_hessian(const law *m, const pl_real F[FS], pl_real C[FS * FS])
{
    damping_curvature(m, F, C);
    for (int e = 0; e < FS * FS; e++)
        C[e] *= m->volume;
}

/* dR/dv . v for Rayleigh's function and for principal stretches, D = F - Fp; in the lagged form where they take it. */
PL_LARGE pl_real stiffness_power(const law *m, const pl_real F[FS], const pl_real D[FS])
{
    const pl_real c = pl_set1(m->d->beta) * m->rate * m->rate;
    stiffness_frame k;
    pl_real KD[FS], own = pl_zero();
#if COLUMNS == 3
    if (m->d->model == PL_DAMPING_PRINCIPAL_STRAIN) {
        pl_real U[9], sg[3], V[9], g[3], from[3], s;
        damping_decompose(F, U, sg, V);
        principal_energy(m, sg, &s, g, NULL);
        damping_rows(m, PL_FROZEN_PRINCIPAL, 3, from);
        own = m->rate *
              (g[0] * (sg[0] - from[0]) + g[1] * (sg[1] - from[1]) + g[2] * (sg[2] - from[2]));
    }
#endif
    if (m->d->model == PL_DAMPING_RAYLEIGH) {
        stiffness_at(m, F, &k);
        stiffness_apply(&k, D, KD);
        pl_real slope, bend, q = damping_dot(D, KD, FS);
        (void)rayleigh_bounded(m, q, &slope, &bend);
        own = c * slope * q;
    }
    stiffness_load(m, &k);
    stiffness_apply(&k, D, KD);
    return pl_select(lagged_lanes(m), c * damping_dot(D, KD, FS), own);
}

/* dR/dv . v, W/m^3, in terms of the rate that R depends on: the rate of a rotation is 0 where R does not see
 * rotations, while a stress times a difference of F is not 0. */
PL_LARGE pl_real damping_power(const law *m, const pl_real F[FS])
{
    pl_real Fp[FS], P[FS], s;
    if (pl_damping_is_strain(m->d)) {
        strain_point at;
        strain_at(m, F, &at);
        return at.half_work + at.half_work;
    }
    if (m->d->model == PL_DAMPING_POWER_LAW || m->d->model == PL_DAMPING_RATE_SPLINE) {
        stretch_point at;
#if COLUMNS == 1
        if (m->d->bends) {
            pl_real phi, psi, bend;
            bend_at(m, F, P, &phi, &psi, &bend);
            return psi * damping_dot(P, P, 3) * m->rate * m->rate;
        }
#endif
        stretch_at(m, F, &at);
        return at.psi * damping_dot(at.D, at.D, SQUARE) * m->rate * m->rate;
    }
    damping_rows(m, PL_FROZEN_FP, FS, Fp);
    for (int e = 0; e < FS; e++)
        P[e] = F[e] - Fp[e];
    if (m->d->model == PL_DAMPING_RAYLEIGH || m->d->model == PL_DAMPING_PRINCIPAL_STRAIN)
        return stiffness_power(m, F, P);
    damping_function(m, F, &s, P); /* homogeneous: R is half of it */
    return pl_set1(2) * m->rate * s / pl_select(pl_gt(m->scale, pl_zero()), m->scale, pl_one());
}

PL_INLINE pl_real law_power(const law *m, const pl_real F[FS])
{
    return m->volume / m->strain * m->scale * damping_power(m, F);
}

PL_INLINE pl_real law_stretch(const law *m, const pl_real F[FS])
{
    (void)m;
    (void)F;
    return pl_zero();
}

/* ---- prox ---- */

typedef struct prox_problem {
    const law *m;
    pl_real k;
    const pl_real *target; /* [n] */
    int n;                 /* FS, or the 3 principal stretches */
    pl_real reach;         /* largest distance from the start to the result */
} prox_problem;

typedef struct prox_point {
    pl_real z[FS], phi, noise, g[FS], H[FS * FS];
} prox_point;

PL_LARGE void prox_evaluate(const prox_problem *p, prox_point *at)
{
    const int n = p->n;
    pl_real s, far = pl_zero(), size = pl_one();
#if COLUMNS == 3
    if (n < FS) {
        principal_energy(p->m, at->z, &s, at->g, at->H);
        s *= p->m->scale;
        for (int e = 0; e < 3; e++)
            at->g[e] *= p->m->scale;
        for (int e = 0; e < 9; e++)
            at->H[e] *= p->m->scale;
#ifdef DAMPING_MERGES
        if (p->m->d->merged)
            merged_stretches(p->m, at->z, &s, at->g, at->H);
#endif
    } else
#endif
    {
        damping_density(p->m, at->z, &s, at->g);
        damping_curvature(p->m, at->z, at->H);
    }
    for (int e = 0; e < n; e++) {
        const pl_real d = at->z[e] - p->target[e];
        far += d * d;
        size += at->z[e] * at->z[e];
        at->g[e] += p->k * d;
        at->H[e + n * e] += p->k;
    }
    at->phi = s + pl_set1(0.5) * p->k * far;
    at->noise = pl_set1(DAMPING_NOISE) * (pl_abs(s) + p->k * (size + far));
}

/* d = -(H + tau I)^-1 g by L D L^T; the mask is false where a pivot is too small. */
PL_LARGE pl_mask prox_solve(const prox_point *at, int n, pl_real tau, pl_real small, pl_real d[FS])
{
    pl_real L[FS * FS], D[FS];
    pl_mask definite = pl_lt(pl_zero(), pl_one());
#pragma GCC unroll 1
    for (int j = 0; j < n; j++) {
        pl_real pivot = at->H[j + n * j] + tau;
        for (int k = 0; k < j; k++)
            pivot -= L[j + n * k] * L[j + n * k] * D[k];
        const pl_mask good = pl_gt(pivot, small);
        definite = pl_and(definite, good);
        D[j] = pl_select(good, pivot, pl_one());
#pragma GCC unroll 1
        for (int i = j + 1; i < n; i++) {
            pl_real sum = at->H[i + n * j];
            for (int k = 0; k < j; k++)
                sum -= L[i + n * k] * L[j + n * k] * D[k];
            L[i + n * j] = sum / D[j];
        }
    }
    for (int i = 0; i < n; i++) {
        d[i] = -at->g[i];
        for (int k = 0; k < i; k++)
            d[i] -= L[i + n * k] * d[k];
    }
    for (int i = n - 1; i >= 0; i--) {
        d[i] = d[i] / D[i];
        for (int k = i + 1; k < n; k++)
            d[i] -= L[k + n * i] * d[k];
    }
    return definite;
}

/* The largest absolute row sum of H, and a lower bound of its least eigenvalue (Gershgorin). */
PL_INLINE void prox_bounds(const prox_point *at, int n, pl_real *largest, pl_real *least)
{
    *largest = pl_zero();
    *least = pl_set1(PL_SCALAR_INFINITY);
#pragma GCC unroll 1
    for (int i = 0; i < n; i++) {
        pl_real rest = pl_zero();
        for (int j = 0; j < n; j++)
            rest += j == i ? pl_zero() : pl_abs(at->H[i + n * j]);
        *largest = pl_max(*largest, pl_abs(at->H[i + n * i]) + rest);
        *least = pl_min(*least, at->H[i + n * i] - rest);
    }
}

PL_INLINE pl_mask prox_is_better(const prox_point *at, const prox_point *next, int n)
{
    const pl_real flat = damping_dot(at->g, at->g, n), next_flat = damping_dot(next->g, next->g, n);
    const pl_mask level = pl_and(pl_le(next->phi, at->phi + at->noise), pl_lt(next_flat, flat));
    return pl_or(pl_lt(next->phi, at->phi - at->noise), level);
}

/* Rayleigh's energy falls without bound where an element almost turns inside out. The search is for the minimum of
 * the valley in which it begins, which lies roughly between the start and the minimum of the rest of phi. Maximum
 * distance from z; `own` is one of these two places. */
PL_LARGE pl_real prox_reach(const pl_real z[FS], const pl_real own[FS])
{
    pl_real reach = pl_zero();
    for (int e = 0; e < FS; e++)
        reach = pl_max(reach, pl_abs(own[e] - z[e]));
    return pl_set1(1.5) * reach;
}

/* Descends from z, which is overwritten. */
PL_LARGE void prox_descend(const prox_problem *p, pl_real z[FS])
{
    enum { STEPS = 60 };
    const int n = p->n;
    prox_point at, next;
    pl_real tau = pl_zero(), d[FS], shifted[FS];
    pl_mask settled = pl_gt(pl_zero(), pl_zero());
    for (int e = 0; e < n; e++)
        at.z[e] = z[e];
    prox_evaluate(p, &at);
    for (int step = 0; step < STEPS && !pl_all(settled); step++) {
        pl_real scale, low, moved = pl_zero(), size = pl_one(), away = pl_zero();
        prox_bounds(&at, n, &scale, &low);
        const pl_real small = pl_set1(1e-6) * scale;
        const pl_mask definite = prox_solve(&at, n, tau, small, d);
        if (!pl_all(definite)) {
            const pl_real enough =
                pl_max(tau, pl_max(-low, pl_zero()) + pl_set1(0.1) * p->k + small + small);
            (void)prox_solve(&at, n, enough, small, shifted);
            for (int e = 0; e < n; e++)
                d[e] = pl_select(definite, d[e], shifted[e]);
        }
        for (int e = 0; e < n; e++) {
            next.z[e] = at.z[e] + d[e];
            moved = pl_max(moved, pl_abs(d[e]));
            size = pl_max(size, pl_abs(at.z[e]));
            away = pl_max(away, pl_abs(next.z[e] - z[e]));
        }
        prox_evaluate(p, &next);
        const pl_mask near = pl_and(pl_le(away, p->reach), pl_not(settled));
        const pl_mask better = pl_and(prox_is_better(&at, &next, n), near);
        for (int e = 0; e < n; e++) {
            at.z[e] = pl_select(better, next.z[e], at.z[e]);
            at.g[e] = pl_select(better, next.g[e], at.g[e]);
        }
        for (int e = 0; e < n * n; e++)
            at.H[e] = pl_select(better, next.H[e], at.H[e]);
        at.phi = pl_select(better, next.phi, at.phi);
        at.noise = pl_select(better, next.noise, at.noise);
        const pl_mask whole = pl_and(definite, pl_le(tau, pl_zero()));
        const pl_real eased = tau * pl_set1(0.1);
        const pl_real down = pl_select(pl_lt(eased, pl_set1(1e-3) * scale), pl_zero(), eased);
        tau = pl_select(better, down, pl_max(pl_set1(4) * tau, pl_set1(0.05) * scale));
        const pl_mask last = pl_and(whole, pl_le(moved, pl_set1(DAMPING_SETTLED) * size));
        settled = pl_or(settled, pl_or(last, pl_le(moved, pl_set1(DAMPING_STILL) * size)));
    }
    for (int e = 0; e < n; e++)
        z[e] = at.z[e];
}

/* A start with positive stretches where the energy requires them, and the largest distance to the result.
 * Rayleigh's energy has no bound where an element almost turns inside out; it starts from a place where it is
 * convex. */
PL_LARGE pl_real prox_start(const law *m, pl_real k, const pl_real target[FS], pl_real z[FS])
{
    const bool rayleigh = m->d->model == PL_DAMPING_RAYLEIGH && !pl_damping_is_strain(m->d);
    pl_real v[FS], own[FS], reach = pl_set1(PL_SCALAR_INFINITY);
    for (int e = 0; e < FS; e++)
        own[e] = target[e];
#ifdef DAMPING_MERGES
    if (m->d->merged) /* of the two energies, only the element's own has a domain */
        merged_solid_prox(m, k, target, own);
#endif
    if (rayleigh)
        damping_rows(m, PL_FROZEN_FP, FS, v);
    for (int e = 0; e < FS; e++) {
        v[e] = rayleigh ? v[e] : own[e];
        z[e] = v[e];
    }
#if COLUMNS > 1
    if (pl_damping_is_stiffness(m->d->model) && !pl_damping_is_strain(m->d) &&
        m->d->model != PL_DAMPING_RAYLEIGH_LAGGED &&
        m->elastic.ops->domain == PL_STRETCH_POSITIVE) {
        pl_real U[FS], s[COLUMNS], V[SQUARE];
        damping_decompose(v, U, s, V);
        const pl_mask inside = pl_gt(s[COLUMNS - 1], pl_set1(0.05));
        for (int e = 0; e < FS; e++) {
            pl_real sum = pl_zero();
            for (int i = 0; i < COLUMNS; i++)
                sum += U[3 * i + e % 3] * pl_max(s[i], pl_set1(0.05)) * V[COLUMNS * i + e / 3];
            z[e] = pl_select(inside, v[e], sum);
        }
    }
#endif
    if (rayleigh)
        reach = pl_max(prox_reach(z, target), prox_reach(z, own));
    return reach;
}

#if COLUMNS == 3
PL_LARGE void principal_prox(const law *m, pl_real k, const pl_real v[9], pl_real z[9])
{
    pl_real U[9], target[3], V[9], sg[9];
    damping_decompose(v, U, target, V);
    const prox_problem p = {m, k, target, 3, pl_set1(PL_SCALAR_INFINITY)};
    const bool positive = m->elastic.ops->domain == PL_STRETCH_POSITIVE;
    for (int i = 0; i < 3; i++)
        sg[i] = positive ? pl_max(target[i], pl_set1(0.05)) : target[i];
    prox_descend(&p, sg);
    for (int e = 0; e < 9; e++) {
        z[e] = pl_zero();
        for (int i = 0; i < 3; i++)
            z[e] += U[3 * i + e % 3] * sg[i] * V[3 * i + e / 3];
    }
    const pl_mask lagged = lagged_lanes(m);
    if (pl_any(lagged)) {
        pl_real other[9];
        const prox_problem whole = {m, k, v, 9, prox_start(m, k, v, other)};
        prox_descend(&whole, other);
        for (int e = 0; e < 9; e++)
            z[e] = pl_select(lagged, other[e], z[e]);
    }
}
#endif

PL_LARGE void law_prox(const law *m, const pl_real *weight, const pl_real v[FS], pl_real z[FS])
{
    const pl_mask some = pl_gt(m->volume, pl_zero());
    const pl_real k = pl_select(some, *weight, pl_one()) / pl_select(some, m->volume, pl_one());
    if (!pl_damping_is_strain(m->d) && !m->d->merged &&
        (m->d->model == PL_DAMPING_POWER_LAW || m->d->model == PL_DAMPING_RATE_SPLINE)) {
        stretch_prox(m, k / pl_max(m->scale, pl_set1(1e-12)), v, z);
        return;
    }
    if (!pl_damping_is_strain(m->d) && m->d->model == PL_DAMPING_VISCOUS) {
        pl_real Fp[FS];
        const pl_real eta = m->scale * pl_set1(m->d->shear) * m->rate;
        damping_rows(m, PL_FROZEN_FP, FS, Fp);
        for (int e = 0; e < FS; e++)
            z[e] = (eta * Fp[e] + k * v[e]) / (eta + k);
#ifdef DAMPING_MERGES
        if (m->d->merged) {
            for (int e = 0; e < FS; e++)
                Fp[e] = z[e];
            merged_solid_prox(m, eta + k, Fp, z);
        }
#endif
        return;
    }
#if COLUMNS == 3
    if (!pl_damping_is_strain(m->d) && m->d->model == PL_DAMPING_PRINCIPAL_STRAIN) {
        principal_prox(m, k, v, z);
        return;
    }
#endif
    const prox_problem p = {m, k, v, FS, prox_start(m, k, v, z)};
    prox_descend(&p, z);
}

/* The slots of the tables that differ from other terms'. damping_freeze.h has the functions, which use the
 * reduction in terms_template.h and so come after it. */
PL_TERM void damping_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1);
PL_TERM void damping_dissipate(const pl_group *g, const pl_number *x, pl_number *power, int64_t b0,
                               int64_t b1);
#define TERMS_FREEZE    damping_freeze
#define TERMS_DISSIPATE damping_dissipate
#define TERMS_MEASURE   NULL
#define TERMS_HASH      pl_damping_hash
