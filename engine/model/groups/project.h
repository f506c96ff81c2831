/* project.h - projection of element Hessians to positive semidefinite matrices, for Newton's matrix (Teran,
 * Sifakis, Irving, Fedkiw 2005, "Robust quasistatic finite elements and flesh simulation").
 *
 * It works on the output of a group's `hessian`, of any size, so it covers every group: eigenvalues below 0 are set
 * to 0. A block whose matrices are all semidefinite is left alone; a Cholesky factorisation shows this at a
 * twentieth of the cost. Compiled once per instruction set; the bits do not depend on it. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_PROJECT_H
#define PLIANT_ENGINE_MODEL_GROUPS_PROJECT_H

#include "engine/isa.h"
#include "engine/model/group.h"

/* Maximum number of coordinates of a term: 8 corners. */
enum { PL_PROJECT_MOST = 24 };

typedef struct pl_project_ops {
    /* H[block][size (size + 1) / 2][PL_BLOCK], lower triangles by rows, size <= PL_PROJECT_MOST: replaces each by
     * the nearest semidefinite matrix. An eigenvalue below 0 by up to 1e-10 of the mean diagonal may stay. */
    void (*semidefinite)(double *H, int32_t size, int64_t b0, int64_t b1);
} pl_project_ops;

PL_ISA_DECLARE(const pl_project_ops, pl_project_ops);

/* The functions for this processor. */
const pl_project_ops *pl_project_find(void);

#endif
