/* Tetrahedra of any material of principal stretches; compiled once per instruction set. */
#include "engine/model/groups/tets_stretch.h"

/* Only the prox, for terms that add to the energy (damping_merged.h). */
void JOIN3(pl_solid_prox_, PL_ISA, )(const pl_stretch *m, const pl_real *k, const pl_mat3 *F_tilde,
                                     pl_mat3 *F);

void JOIN3(pl_solid_prox_, PL_ISA, )(const pl_stretch *m, const pl_real *k, const pl_mat3 *F_tilde,
                                     pl_mat3 *F)
{
    pl_stretch_solid_prox(m, *k, F_tilde, F);
}
