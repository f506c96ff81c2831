/* order.h - an order of a symmetric matrix's rows in which coupled rows are near each other, so that the vectors that a
 * row multiplies are in the cache. Meshes come in any order; a mesh that was subdivided has its new vertices last. */
#ifndef PLIANT_ENGINE_LINEAR_ORDER_H
#define PLIANT_ENGINE_LINEAR_ORDER_H

#include "engine/linear/csr.h"

/* order [rows] receives the rows breadth first, piece by piece, each from an end of it (Cuthill and McKee 1969, without
 * sorting neighbours). *better: entries are then less than half as far from the diagonal, in the mean, as they are.
 * PL_NO_MEMORY, or PL_OK. */
pl_status pl_order_find(const pl_csr *A, int32_t *order, bool *better);

#endif
