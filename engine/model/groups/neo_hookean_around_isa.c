/* Neo-Hookean tetrahedra around a vertex; compiled once per instruction set. neo_hookean_around.h has the formulas. */
#define PL_VECTOR_SIZE                                                                             \
    64 /* half a block: more of the sums stay in registers. The bits do not depend on it */
#include "engine/kernels/mat3.h"
#include "engine/model/groups/neo_hookean_around.h"

static const double *row_of(const pl_group *copy, int64_t b, int row)
{
    return (const double *)copy->data + (b * PL_AROUND_ROWS + row) * PL_BLOCK;
}

/* Sums of the lanes from `lane` on: the quadratic part's gradient and the constant of its Hessian; the gradient and
 * the Hessian of the rest; |p|. */
typedef struct sums_around {
    pl_real q[3], k, f[3], H[6], size;
} sums_around;

PL_INLINE void add_term(const pl_group *copy, const double *x, const pl_real x0[3], int64_t b,
                        int lane, sums_around *s, double *kept)
{
    const int32_t *corner = copy->corner + b * 4 * PL_BLOCK + lane;
    const pl_real mu = pl_load(row_of(copy, b, PL_AROUND_MU) + lane);
    const pl_real lambda = pl_load(row_of(copy, b, PL_AROUND_LAMBDA) + lane);
    pl_real e[3][3], n[3], a[3];
    PL_UNROLL for (int c = 0; c < 3; c++)
    {
        const pl_real l = pl_load(row_of(copy, b, PL_AROUND_PULL + c) + lane);
        pl_gather3(x, corner + (c + 1) * PL_BLOCK, e[c]);
        PL_UNROLL for (int i = 0; i < 3; i++)
        {
            e[c][i] -= x0[i];
            s->q[i] += l * e[c][i];
        }
        s->k -= l;
    }
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        e[1][i] -= e[0][i];
        e[2][i] -= e[0][i];
    }
    pl_cross3(e[1], e[2], n);
    const pl_real volume = e[0][0] * n[0] + e[0][1] * n[1] + e[0][2] * n[2];
    const pl_real J = volume * pl_load(row_of(copy, b, PL_AROUND_SCALE) + lane);
    const pl_real p = lambda * pl_log(J) - mu, k = lambda - p;
    const pl_real inverse = pl_select(pl_gt(mu, pl_zero()), -pl_one() / volume, pl_zero());
    PL_UNROLL for (int i = 0, h = 0; i < 3; i++)
    {
        a[i] = n[i] * inverse;
        s->f[i] += p * a[i];
        pl_store(kept + i * PL_BLOCK, a[i]);
        PL_UNROLL for (int j = 0; j <= i; j++, h++) s->H[h] += k * a[i] * a[j];
    }
    s->size += pl_abs(p);
    pl_store(kept + 3 * PL_BLOCK, p);
}

static void around_keep(const pl_group *copy, const double *x, double *sums, double *kept,
                        int64_t b0, int64_t b1)
{
    for (int lane = 0; lane < PL_BLOCK && b0 < b1; lane += PL_LANES) {
        sums_around s = {0};
        pl_real x0[3];
        pl_gather3(x, copy->corner + b0 * 4 * PL_BLOCK + lane, x0);
        double *size = sums + PL_LOCAL_ENERGY * PL_BLOCK + lane;
        double *to = kept + PL_AROUND_KEPT_HEAD * PL_BLOCK + lane;
        for (int64_t b = b0; b < b1; b++, to += PL_AROUND_KEPT_ROWS * PL_BLOCK)
            add_term(copy, x, x0, b, lane, &s, to);
        pl_store(kept + 3 * PL_BLOCK + lane, s.k);
        pl_store(size, pl_load(size) + s.size);
        for (int i = 0, h = 0; i < 3; i++) {
            double *f = sums + (PL_LOCAL_GRADIENT + i) * PL_BLOCK + lane;
            pl_store(kept + i * PL_BLOCK + lane, s.q[i]);
            pl_store(f, pl_load(f) + s.q[i] + s.f[i]);
            for (int j = 0; j <= i; j++, h++) {
                double *H = sums + (PL_LOCAL_HESSIAN + h) * PL_BLOCK + lane;
                pl_store(H, pl_load(H) + s.H[h] + (i == j ? s.k : pl_zero()));
            }
        }
    }
}

static void around_change(const pl_group *copy, const double *kept, const double *by,
                          double *change, int64_t b0, int64_t b1)
{
    const pl_real half = pl_set1(0.5), infinite = pl_set1(PL_SCALAR_INFINITY);
    for (int lane = 0; lane < PL_BLOCK && b0 < b1; lane += PL_LANES) {
        pl_real d[3], sum = pl_zero();
        for (int i = 0; i < 3; i++)
            d[i] = pl_load(by + i * PL_BLOCK + lane);
        const double *from = kept + PL_AROUND_KEPT_HEAD * PL_BLOCK + lane;
        for (int64_t b = b0; b < b1; b++, from += PL_AROUND_KEPT_ROWS * PL_BLOCK) {
            const pl_real r = pl_one() + (pl_load(from) * d[0] + pl_load(from + PL_BLOCK) * d[1] +
                                          pl_load(from + 2 * PL_BLOCK) * d[2]);
            const pl_mask inside = pl_and(pl_gt(r, pl_zero()), pl_lt(r, infinite));
            const pl_real log_r = pl_log_positive(pl_select(inside, r, pl_one()));
            const pl_real lambda = pl_load(row_of(copy, b, PL_AROUND_LAMBDA) + lane);
            const pl_real p = pl_load(from + 3 * PL_BLOCK);
            sum += pl_select(inside, log_r * (p + half * lambda * log_r), infinite);
        }
        pl_real size = pl_zero();
        for (int i = 0; i < 3; i++) {
            sum += d[i] * pl_load(kept + i * PL_BLOCK + lane);
            size += d[i] * d[i];
        }
        sum += half * pl_load(kept + 3 * PL_BLOCK + lane) * size;
        pl_store(change + lane, pl_load(change + lane) + sum);
    }
}

extern const pl_local_ops PL_NEO_HOOKEAN_AROUND(PL_ISA); /* as the header declares it */

const pl_local_ops PL_NEO_HOOKEAN_AROUND(PL_ISA) = {
    .copy = pl_neo_hookean_around_copy,
    .release = pl_neo_hookean_around_release,
    .keep = around_keep,
    .change = around_change,
    .kept_head = PL_AROUND_KEPT_HEAD,
    .kept_rows = PL_AROUND_KEPT_ROWS,
};
