/* aggregate.h - from one level of a multigrid to the next coarser one: smoothed aggregation (Vanek, Mandel, Brezina
 * 1996). Serial, and so the same for any number of threads. */
#ifndef PLIANT_ENGINE_LINEAR_AGGREGATE_H
#define PLIANT_ENGINE_LINEAR_AGGREGATE_H

#include "engine/linear/csr.h"

/* An aggregate of a row that is coupled to none: the smoother alone treats it. */
enum { PL_NO_AGGREGATE = -1 };

/* Groups the rows of A, each with those that it is strongly coupled to: aggregate [rows] receives 0 .. *count - 1,
 * or PL_NO_AGGREGATE. Rows i and j are strongly coupled if
 *
 *     -a_ij >= PL_STRONG (m_i m_j)^(1/2),   m_i = max_k -a_ik
 *
 * Compared with a row's largest entry, a coupling means the same for any number of neighbours and any mass; and with
 * the mean of both rows', soft vertices beside stiff ones are not joined to them. PL_NO_MEMORY, or PL_OK. */
#define PL_STRONG 0.25
pl_status pl_aggregate(const pl_csr *A, int32_t *aggregate, int64_t *count);

/* P = (I - omega F^-1 S) P0: P0 is 1 from an aggregate to its rows; S is A with its weak entries, |a_ij| <
 * PL_WEAK (m_i m_j)^(1/2), added to the diagonal, F its diagonal, omega = 4/3 over the largest eigenvalue of F^-1 S.
 * bound: the largest eigenvalue of D^-1 A, with its diagonal D. */
#define PL_WEAK 0.05
pl_status pl_prolongation(const pl_csr *A, double bound, const int32_t *aggregate, int64_t count,
                          pl_csr *out);

#endif
