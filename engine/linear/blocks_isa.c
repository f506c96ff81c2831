/* Products with a matrix of blocks; compiled once per instruction set.
 *
 * A block B at (i, j) below the diagonal adds B x_j to y_i and B^T x_i to y_j. With the columns b_k of B, the first is
 * sum b_k x_jk. The second is the sum over lanes of b_k * x_i, taken once for a whole column of blocks. A column of
 * three is read as four: the fourth lane is padding, in which x is 0, and whatever it holds stays there.
 */
#include "engine/linear/blocks.h"

typedef double quad __attribute__((vector_size(32)));
typedef double quad_anywhere __attribute__((vector_size(32), aligned(8)));

#define INLINE     static inline __attribute__((always_inline))
#define OPS__(isa) pl_blocks_ops_##isa
#define OPS_(isa)  OPS__(isa)

INLINE quad times(double a, quad v)
{
    return (quad){a, a, a, a} * v;
}

INLINE quad column_of(const double *block, int k)
{
    return *(const quad_anywhere *)(block + 3 * k);
}

INLINE double sum3(quad v)
{
    return v[0] + v[1] + v[2];
}

static void multiply(const pl_blocks *a, const double *from, double *to, int64_t j0, int64_t j1)
{
    const quad *x = (const quad *)from;
    quad *y = (quad *)to;
    for (int64_t j = j0; j < j1; j++) {
        const int64_t first = a->column[j], end = a->column[j + 1];
        const double *B = a->value + 9 * first;
        const double x0 = x[j][0], x1 = x[j][1], x2 = x[j][2];
        quad own = times(x0, column_of(B, 0)) + times(x1, column_of(B, 1)) +
                   times(x2, column_of(B, 2));
        quad s0 = {0}, s1 = {0}, s2 = {0};
        for (int64_t p = first + 1; p < end; p++) {
            B += 9;
            const quad b0 = column_of(B, 0), b1 = column_of(B, 1), b2 = column_of(B, 2);
            const quad xi = x[a->row[p]];
            y[a->row[p]] += times(x0, b0) + times(x1, b1) + times(x2, b2);
            s0 += b0 * xi;
            s1 += b1 * xi;
            s2 += b2 * xi;
        }
        own += (quad){sum3(s0), sum3(s1), sum3(s2), 0};
        y[j] += own;
    }
}

extern const pl_blocks_ops OPS_(PL_ISA);

const pl_blocks_ops OPS_(PL_ISA) = {multiply};
