/* damping_tables.h - further tables for damped tetrahedra, beside the plain one, included after terms_template.h:
 *
 *   damping_creased   principal stretches only: reports how concave the energy is (solvers/weights.h)
 *   damped_tets       merged terms (damping_merged.h): also a group of tetrahedra, with their measures
 */

/* Concavity of principal stretches: 0 in elements that take the lagged form. */
PL_INLINE void concave_principal(const law *m, const pl_real s[3], stiffness_frame *k)
{
    const pl_mask lagged = lagged_lanes(m);
    principal_frame(m, s, k);
    for (int p = 0; p < 3; p++) {
        k->H[p] = pl_select(lagged, pl_zero(), k->H[p]);
        k->flip[p] = pl_select(lagged, pl_zero(), k->flip[p]);
        k->twist[p] = pl_select(lagged, pl_zero(), k->twist[p]);
    }
}

/* As for tetrahedra (tets_template.h); for principal stretches, the quotients of their damping are added. */
PL_TERM void damped_concavity(const pl_group *g, const pl_number *z, pl_number *out, int64_t b0,
                              int64_t b1)
{
    const pl_real least_stretch = pl_set1(0.05);
    for (int64_t b = b0; b < b1; b++) {
        const law m = law_load(pl_terms_of(g), b);
        const bool positive = m.elastic.ops->domain == PL_STRETCH_POSITIVE;
        pl_real Z[9], U[9], s[3], V[9], least = pl_zero();
        load_rows(z, b, Z);
        damping_decompose(Z, U, s, V);
        const pl_mask outside = pl_le(s[2], pl_set1(positive ? 0 : -PL_SCALAR_INFINITY));
        stiffness_frame k = {{pl_zero()}, {pl_zero()}, {pl_zero()}, {pl_zero()}, {pl_zero()}};
        for (int i = 0; i < 3; i++)
            s[i] = pl_max(s[i], least_stretch);
        if (m.d->model == PL_DAMPING_PRINCIPAL_STRAIN)
            concave_principal(&m, s, &k);
        if (m.d->merged) {
            pl_stretch_curvature c;
            pl_stretch_curve(&m.elastic, s, &c);
            for (int p = 0; p < 3; p++) {
                k.H[p] = m.scale * k.H[p] + c.H[4 * p];
                k.flip[p] = m.scale * k.flip[p] + c.flip[p];
                k.twist[p] = m.scale * k.twist[p] + c.twist[p];
            }
        }
        for (int p = 0; p < 3; p++)
            least = pl_min(least, pl_min(k.H[p], pl_min(k.twist[p], k.flip[p])));
        least = -least * m.volume * (m.d->merged ? pl_one() : m.scale);
        pl_store(out + b * PL_BLOCK, pl_select(outside, pl_set1(-1), least));
    }
}

/* Of the element's own energy only: dissipated energy is not stored in it. */
PL_TERM void damped_measure(const pl_group *g, const pl_number *x, pl_block_measure *out,
                            int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_real F[9], U[9], s[3], V[9], g3[3], psi;
        const law m = law_load(pl_terms_of(g), b);
        const pl_mask some = pl_gt(m.volume, pl_zero());
        apply(g, b, x, F);
        damping_decompose(F, U, s, V);
        pl_stretch_energy_gradient(&m.elastic, s, &psi, g3);
        const pl_real turned = s[0] * s[1] * s[2];
        out[b] = (pl_block_measure){.energy = pl_sum(pl_select(some, m.volume * psi, pl_zero()))};
        for (int l = 0; l < PL_BLOCK; l++) {
            if (m.volume[l] > 0 && turned[l] <= 0)
                out[b].inverted++;
            if (s[0][l] > out[b].max_stretch)
                out[b].max_stretch = s[0][l];
        }
    }
}

#define DAMPED_ENERGIES                                                                            \
    .local = &TERMS_LOCAL, .energy = terms_energy, .gradient = terms_gradient,                     \
    .energy_gradient = terms_energy_gradient, .hessian = terms_hessian,                            \
    .semidefinite_hessian = terms_semidefinite_hessian,                                            \
    .hessian_diagonal = terms_hessian_diagonal, .concavity = damped_concavity

extern const pl_group_ops JOIN4(pl_, damping_creased, _ops_, PL_ISA);
const pl_group_ops JOIN4(pl_, damping_creased, _ops_, PL_ISA) = {TERMS_COMMON, DAMPED_ENERGIES};

#undef TERMS_MEASURE
#define TERMS_MEASURE damped_measure
#undef TERMS_NAME
#define TERMS_NAME "damped tetrahedra"
extern const pl_group_ops JOIN4(pl_, damped_tets, _ops_, PL_ISA);
const pl_group_ops JOIN4(pl_, damped_tets, _ops_, PL_ISA) = {TERMS_COMMON, DAMPED_ENERGIES};
