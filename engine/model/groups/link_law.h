/* link_law.h - the law of links (terms.h), for terms_template.h:
 *
 *     U(q) = k/2 (r - c)^2,   r = |q|,   c = clamp(r, lo, hi)
 *
 * which is k/2 times the squared distance of q from the shell lo <= |q| <= hi. Springs have lo = hi, quadratic
 * terms lo = hi = 0, slack terms lo = 0.
 *
 * Prox. U depends on |z| alone, and of all z of one length, the one along v is nearest to v, so the minimum is on
 * the ray of v: min over r >= 0 of k/2 (r - c(r))^2 + w2/2 (r - |v|)^2. Both parts are convex in r there, the
 * second strictly, so the only stationary point is the global minimum: r = (w2 |v| + k c(|v|)) / (w2 + k), which
 * stays on the same side of c as |v|. For v = 0 and lo > 0, every direction is a minimum; the first axis is taken.
 * k = inf (hard) gives r = c(|v|), the projection (Narain 2016, section 5).
 */
#include "engine/lanes/lanes.h"
#include "engine/model/groups/terms.h"

typedef struct law {
    pl_real k, lo, hi, scale;
} law;

PL_INLINE law law_load(const pl_terms *t, int64_t b)
{
    const pl_number *c = t->constant + b * PL_LINK_CONSTANTS * PL_BLOCK;
    return (law){pl_load(c + PL_LINK_K * PL_BLOCK), pl_load(c + PL_LINK_LO * PL_BLOCK),
                 pl_load(c + PL_LINK_HI * PL_BLOCK), pl_load(c + PL_LINK_SCALE * PL_BLOCK)};
}

PL_INLINE pl_real length_of(const pl_real q[3])
{
    return pl_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
}

/* a / r, or 0 where r is 0. */
PL_INLINE pl_real over_length(pl_real a, pl_real r)
{
    const pl_mask any = pl_gt(r, pl_zero());
    return pl_select(any, a / pl_select(any, r, pl_one()), pl_zero());
}

/* dU/dq = k (r - c) q / r */
PL_LARGE void law_energy_gradient(const law *m, const pl_real q[3], pl_real *energy, pl_real P[3])
{
    const pl_real r = length_of(q), d = r - pl_clamp(r, m->lo, m->hi);
    const pl_real f = over_length(m->k * d, r);
    for (int e = 0; e < 3; e++)
        P[e] = f * q[e];
    *energy = pl_set1(0.5) * m->k * d * d;
}

/* k (a n n^T + b (I - n n^T)), n = q / r, b = 1 - c / r; a is 0 inside the shell and 1 elsewhere.
 * At q = 0, where a spring has no derivatives, k I. */
PL_LARGE void law_hessian(const law *m, const pl_real q[3], pl_real C[9])
{
    const pl_real r = length_of(q), c = pl_clamp(r, m->lo, m->hi);
    const pl_real inside = pl_select(pl_and(pl_gt(r, m->lo), pl_lt(r, m->hi)), pl_one(), pl_zero());
    const pl_real a = pl_one() - inside, b = pl_one() - over_length(c, r);
    pl_real n[3];
    for (int e = 0; e < 3; e++)
        n[e] = over_length(q[e], r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const pl_real nn = n[i] * n[j];
            C[i + 3 * j] = m->k * ((a - b) * nn + (i == j ? b : pl_zero()));
        }
}

PL_LARGE void law_prox(const law *m, const pl_real *weight, const pl_real v[3], pl_real z[3])
{
    const pl_real r = length_of(v), c = pl_clamp(r, m->lo, m->hi);
    const pl_mask hard = pl_ge(m->k, pl_set1(PL_SCALAR_INFINITY));
    const pl_real sum = *weight + m->k; /* 0 in padding */
    const pl_real share = m->k / pl_select(pl_gt(sum, pl_zero()), sum, pl_one());
    const pl_real to = pl_select(hard, c, r + share * (c - r));
    const pl_real f = over_length(to, r);
    /* A v that already satisfies the law stays as it is, to the bit. */
    const pl_mask kept = pl_eq(c, r), none = pl_le(r, pl_zero());
    for (int e = 0; e < 3; e++) {
        const pl_real along = e == 0 ? pl_select(none, to, f * v[e]) : f * v[e];
        z[e] = pl_select(kept, v[e], along);
    }
}

PL_INLINE pl_real law_stretch(const law *m, const pl_real q[3])
{
    return m->scale * length_of(q);
}
