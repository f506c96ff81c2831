/* csr.h - sparse matrices by rows, with both triangles where they are symmetric: what the levels of a multigrid
 * (multigrid.h) are made of. All functions are serial and give the same bits every time. */
#ifndef PLIANT_ENGINE_LINEAR_CSR_H
#define PLIANT_ENGINE_LINEAR_CSR_H

#include "engine/linear/linear.h"

/* Columns ascend within a row. Owns its arrays. */
typedef struct pl_csr {
    int64_t rows, columns;
    int64_t *start;  /* [rows + 1] */
    int32_t *column; /* [start[rows]] */
    double *value;
} pl_csr;

/* Arrays for `entries` entries, with start zeroed. PL_NO_MEMORY, or PL_OK; clear *out in either case. So do the
 * functions below. */
pl_status pl_csr_alloc(int64_t rows, int64_t columns, int64_t entries, pl_csr *out);
void pl_csr_clear(pl_csr *a);

/* Both triangles of a symmetric matrix. */
pl_status pl_csr_from_lower(const pl_sparse *a, pl_csr *out);
/* The lower triangle of a symmetric matrix whose diagonal is full. */
pl_status pl_csr_to_lower(const pl_csr *a, pl_sparse *out);
pl_status pl_csr_transpose(const pl_csr *a, pl_csr *out);
/* The symmetric matrix with row and column order[k] of `a` as the k-th. */
pl_status pl_csr_permute(const pl_csr *a, const int32_t *order, pl_csr *out);
/* R A P, with R = P^T and A symmetric. */
pl_status pl_csr_galerkin(const pl_csr *R, const pl_csr *A, const pl_csr *P, pl_csr *out);

/* The value of a row's diagonal entry, 0 without one. */
double pl_csr_diagonal(const pl_csr *a, int64_t row);

/* The largest eigenvalue of D^-1 A for a symmetric positive semidefinite A, estimated by Lanczos' process with a
 * margin of a twentieth; at most the largest sum of |a_ij| / a_ii over a row, which bounds it (Gershgorin). Not
 * finite if some a_ii is not positive. PL_NO_MEMORY, or PL_OK. */
pl_status pl_csr_largest(const pl_csr *a, double *out);

#endif
