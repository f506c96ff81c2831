/* damping_merged.h - dissipation and the element's own energy as one term, for tetrahedra, included by
 * damping_law.h's users: U(F) = V (Psi(F) + s(F)), in one local step and one pass (Brown 2018, eq. 38-40).
 *
 * Psi is the material's, from its table (stretch.h). If both are functions of principal stretches, or s is a
 * squared distance, the prox has three unknowns, like that of Psi; otherwise it has all nine entries of F.
 */

#define DAMPING_MERGES

/* The prox of Psi alone, from tets_stretch_isa.c. */
#define SOLID_PROX_(isa)   pl_solid_prox_##isa
#define SOLID_PROX_OF(isa) SOLID_PROX_(isa)
#define SOLID_PROX         SOLID_PROX_OF(PL_ISA)
void SOLID_PROX(const pl_stretch *m, const pl_real *k, const pl_mat3 *F_tilde, pl_mat3 *F);

/* Adds Psi and P = dPsi/dF. */
PL_LARGE void merged_density(const law *m, const pl_real F[9], pl_real *s, pl_real P[9])
{
    pl_real stress[9];
    *s += elastic_density(m, F, stress);
    for (int e = 0; e < 9; e++)
        P[e] += stress[e];
}

/* Adds d2 Psi / dF2. */
PL_LARGE void merged_curvature(const law *m, const pl_real F[9], pl_real C[81])
{
    stiffness_frame k;
    stiffness_at(m, F, &k);
    stiffness_columns(&k, pl_one(), C);
}

/* Adds Psi of the stretches sg and its derivatives to the function that the prox minimises. */
PL_LARGE void merged_stretches(const law *m, const pl_real sg[3], pl_real *s, pl_real g[3],
                               pl_real H[9])
{
    pl_stretch_curvature c;
    pl_real psi, own[3];
    pl_stretch_energy_gradient(&m->elastic, sg, &psi, own);
    pl_stretch_curve(&m->elastic, sg, &c);
    *s += psi;
    for (int i = 0; i < 3; i++)
        g[i] += own[i];
    for (int e = 0; e < 9; e++)
        H[e] += c.H[e];
}

/* argmin Psi(F) + k/2 |F - v|^2. */
PL_LARGE void merged_solid_prox(const law *m, pl_real k, const pl_real v[9], pl_real z[9])
{
    pl_mat3 from, to;
    for (int e = 0; e < 9; e++)
        from.m[e] = v[e];
    SOLID_PROX(&m->elastic, &k, &from, &to);
    for (int e = 0; e < 9; e++)
        z[e] = to.m[e];
}
