/* The loops over rows of a multigrid's levels; compiled once per instruction set. */
#include "engine/linear/multigrid_levels.h"

#define INLINE     static inline __attribute__((always_inline))
#define OPS__(isa) pl_multigrid_ops_##isa
#define OPS_(isa)  OPS__(isa)

INLINE pl_quad times(double a, pl_quad v)
{
    return (pl_quad){a, a, a, a} * v;
}

/* Two sums, so that an entry does not wait for the previous one. */
INLINE pl_quad product(const pl_csr *A, const pl_quad *x, int64_t i)
{
    pl_quad even = {0}, odd = {0};
    int64_t e = A->start[i], end = A->start[i + 1];
    for (; e + 1 < end; e += 2) {
        even += times(A->value[e], x[A->column[e]]);
        odd += times(A->value[e + 1], x[A->column[e + 1]]);
    }
    if (e < end)
        even += times(A->value[e], x[A->column[e]]);
    return even + odd;
}

static void residual(const pl_csr *A, const pl_quad *b, const pl_quad *x, pl_quad *r, int64_t i0,
                     int64_t i1)
{
    for (int64_t i = i0; i < i1; i++)
        r[i] = b[i] - product(A, x, i);
}

static void smooth(const pl_csr *A, double first, double second, const pl_quad *r, bool add,
                   pl_quad *x, int64_t i0, int64_t i1)
{
    for (int64_t i = i0; i < i1; i++) {
        pl_quad step = times(first, r[i]) - times(second, product(A, r, i));
        x[i] = add ? x[i] + step : step;
    }
}

static void multiply(const pl_csr *A, const pl_quad *x, bool add, pl_quad *y, int64_t i0,
                     int64_t i1)
{
    for (int64_t i = i0; i < i1; i++) {
        pl_quad sum = product(A, x, i);
        y[i] = add ? y[i] + sum : sum;
    }
}

static void combine(const double a[3], const pl_quad *x, const double b[3], const pl_quad *y,
                    pl_quad *out, int64_t i0, int64_t i1)
{
    const pl_quad by_a = {a[0], a[1], a[2], 0}, by_b = {b[0], b[1], b[2], 0};
    for (int64_t i = i0; i < i1; i++)
        out[i] = by_a * x[i] + by_b * y[i];
}

static void dot(const pl_quad *x, const pl_quad *y, pl_quad *sum, int64_t i0, int64_t i1)
{
    pl_quad total = {0};
    for (int64_t i = i0; i < i1; i++)
        total += x[i] * y[i];
    *sum = total;
}

const pl_multigrid_ops OPS_(PL_ISA) = {residual, smooth, multiply, combine, dot};
