/* project.h - element Hessians made positive semidefinite, as Newton's matrix needs them (Teran,
 * Sifakis, Irving, Fedkiw 2005, "Robust quasistatic finite elements and flesh simulation").
 *
 * Works on what a group's `hessian` writes, of any size, so every group has it: eigenvalues below 0
 * are set to 0. A block whose matrices are all semidefinite already, which a Cholesky factor shows
 * for a twentieth of the price, is left alone. Compiled once an instruction set; the bits do not
 * depend on it. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_PROJECT_H
#define PLIANT_ENGINE_MODEL_GROUPS_PROJECT_H

#include "engine/model/group.h"

/* The most coordinates of a term: 8 corners. */
enum { PL_PROJECT_MOST = 24 };

typedef struct pl_project_ops {
    /* H[block][size (size + 1) / 2][PL_BLOCK], lower triangles by rows, size <= PL_PROJECT_MOST:
     * each nearest semidefinite matrix in place. An eigenvalue within 1e-10 of the mean diagonal
     * below 0 may stay. */
    void (*semidefinite)(double *H, int32_t size, int64_t b0, int64_t b1);
} pl_project_ops;

#if defined(__x86_64__)
extern const pl_project_ops pl_project_ops_v2, pl_project_ops_v3, pl_project_ops_v4;
#else
extern const pl_project_ops pl_project_ops_base;
#endif

/* Those for this processor. */
const pl_project_ops *pl_project_find(void);

#endif
