/* term_hessian.h - the Hessian of a term, H = D^T C D, from its shape functions and C, the Hessian of its energy in
 * q = D x, on lanes. C has 3 columns rows and H 3 corners rows. So C is made semidefinite on request (project.h),
 * at a fraction of the cost; H then is semidefinite, too. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TERM_HESSIAN_H
#define PLIANT_ENGINE_MODEL_GROUPS_TERM_HESSIAN_H

#include "engine/lanes/lanes.h"
#include "engine/model/groups/project.h"

enum { PL_TERM_ROWS = 9, PL_TERM_PACKED = PL_TERM_ROWS * (PL_TERM_ROWS + 1) / 2 };

#define PL_PROJECT_OPS_(isa) pl_project_ops_##isa
#define PL_PROJECT_OPS(isa)  PL_PROJECT_OPS_(isa)

/* Sets the negative eigenvalues of the symmetric C[n][n] to 0. */
PL_INLINE void pl_term_make_semidefinite(pl_real *C, int n)
{
    pl_real packed[PL_TERM_PACKED];
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k <= i; k++, e++)
            packed[e] = C[i + n * k];
    PL_PROJECT_OPS(PL_ISA).semidefinite((double *)packed, n, 0, 1);
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k <= i; k++, e++)
            C[i + n * k] = C[k + n * i] = packed[e];
}

/* out = the lower triangle of D^T C D by rows. G[corners][columns]: the shape functions; C[i + 3 columns k]. */
PL_INLINE void pl_term_expand(const pl_real *G, const pl_real *C, int corners, int columns,
                              double *out)
{
    const int rows = 3 * columns;
    for (int k = 0; k < 3 * corners; k++) {
        pl_real column[PL_TERM_ROWS]; /* of C D */
        for (int e = 0; e < rows; e++) {
            column[e] = C[e + rows * (k % 3)] * G[k / 3 * columns];
            for (int l = 1; l < columns; l++)
                column[e] += C[e + rows * (k % 3 + 3 * l)] * G[k / 3 * columns + l];
        }
        for (int i = k; i < 3 * corners; i++) {
            pl_real sum = G[i / 3 * columns] * column[i % 3];
            for (int j = 1; j < columns; j++)
                sum += G[i / 3 * columns + j] * column[i % 3 + 3 * j];
            pl_store(out + (i * (i + 1) / 2 + k) * PL_BLOCK, sum);
        }
    }
}

#endif
