#define PL_VECTOR_SIZE                                                                             \
    64 /* half a pack: the block's numbers stay in registers. The bits do not depend on it */
#include "engine/backends/cpu/cpu_sweep_lanes.h"

#include "engine/lanes/lanes.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#define EACH_LANE(l) for (int l = 0; l < PL_BLOCK; l += PL_LANES)

/* Adds to row `row` of the pack's sums. */
PL_INLINE void add_sum(pl_pack *p, int row, int l, pl_real more)
{
    double *at = p->sums + row * PL_BLOCK + l;
    pl_store(at, pl_load(at) + more);
}

static void load(const pl_pack_of *of, const pl_stage *stage, const double *x, pl_pack *p)
{
    EACH_LANE(l)
    {
        const pl_real k = pl_load(of->mass + l) * pl_set1(stage->scalars.inertia);
        pl_real at[3], aim[3], pushed[3] = {pl_zero(), pl_zero(), pl_zero()};
        pl_gather3(x, of->vertex + l, at);
        pl_gather3(stage->x_pred, of->vertex + l, aim);
        if (stage->load)
            pl_gather3(stage->load, of->vertex + l, pushed);
        pl_store(p->inertia + l, k);
        for (int i = 0; i < 3; i++) {
            const pl_real pull = k * (at[i] - aim[i]) - pushed[i];
            pl_store(p->from + i * PL_BLOCK + l, at[i]);
            pl_store(p->pull + i * PL_BLOCK + l, pull);
            add_sum(p, PL_LOCAL_GRADIENT + i, l, pull);
            add_sum(p, PL_LOCAL_HESSIAN + i * (i + 3) / 2, l, k);
        }
    }
}

/* f and H of the lanes, with no force and the identity in the rows and columns of held coordinates, which is scaled
 * as the others. Also in the pack, for lanes that need more. */
PL_INLINE void hold(const pl_pack_of *of, int l, pl_pack *p, pl_real f[3], pl_real H[6])
{
    const pl_real diagonal = pl_load(of->diagonal + l);
    pl_mask held[3];
    for (int i = 0; i < 3; i++)
        held[i] = pl_gt(pl_load(of->held + i * PL_BLOCK + l), pl_zero());
    for (int i = 0, h = 0; i < 3; i++) {
        double *at = p->sums + (PL_LOCAL_GRADIENT + i) * PL_BLOCK + l;
        f[i] = pl_select(held[i], pl_zero(), pl_load(at));
        pl_store(at, f[i]);
        for (int j = 0; j <= i; j++, h++) {
            at = p->sums + (PL_LOCAL_HESSIAN + h) * PL_BLOCK + l;
            H[h] = pl_select(pl_or(held[i], held[j]), i == j ? diagonal : pl_zero(), pl_load(at));
            pl_store(at, H[h]);
        }
    }
}

/* d = H^-1 f by H = L D L^T; true where all pivots are at least `least`. */
PL_INLINE pl_mask solve_block(const pl_real H[6], const pl_real f[3], pl_real least, pl_real d[3])
{
    const pl_real l10 = H[1] / H[0], l20 = H[3] / H[0];
    const pl_real d1 = H[2] - l10 * H[1];
    const pl_real l21 = (H[4] - l20 * H[1]) / d1;
    const pl_real d2 = H[5] - l20 * H[3] - l21 * l21 * d1;
    const pl_real y1 = f[1] - l10 * f[0], y2 = f[2] - l20 * f[0] - l21 * y1;
    d[2] = y2 / d2;
    d[1] = y1 / d1 - l21 * d[2];
    d[0] = f[0] / H[0] - l10 * d[1] - l20 * d[2];
    return pl_and(pl_ge(H[0], least), pl_and(pl_ge(d1, least), pl_ge(d2, least)));
}

static uint32_t solve(const pl_pack_of *of, int32_t used, pl_pack *p)
{
    uint32_t rest = 0;
    EACH_LANE(l)
    {
        pl_real f[3], H[6], d[3];
        hold(of, l, p, f, H);
        const pl_real least = pl_set1(PL_SWEEP_LEAST) * pl_load(of->diagonal + l);
        const pl_mask definite = solve_block(H, f, least, d);
        const pl_real slope = f[0] * d[0] + f[1] * d[1] + f[2] * d[2];
        const pl_mask down = pl_and(definite, pl_gt(slope, pl_zero()));
        for (int i = 0; i < 3; i++)
            pl_store(p->d + i * PL_BLOCK + l, d[i]);
        pl_store(p->slope + l, slope);
        pl_store(p->alpha + l, pl_select(down, pl_one(), pl_zero()));
        const pl_real solved = pl_select(definite, pl_one(), pl_zero());
        for (int k = 0; k < PL_LANES; k++) {
            rest |= (uint32_t)(l + k < used && solved[k] == 0) << (l + k);
            if (l + k >= used)
                p->alpha[l + k] = 0;
        }
    }
    return rest;
}

static void propose(pl_pack *p)
{
    EACH_LANE(l)
    {
        const pl_real alpha = pl_load(p->alpha + l), half = pl_set1(0.5);
        pl_real change = pl_zero(), size = pl_zero();
        for (int i = 0; i < 3; i++) {
            /* Lanes that have their place may have a d that is not finite. */
            const pl_real by = pl_select(pl_gt(alpha, pl_zero()),
                                         -alpha * pl_load(p->d + i * PL_BLOCK + l), pl_zero());
            pl_store(p->by + i * PL_BLOCK + l, by);
            change += by * pl_load(p->pull + i * PL_BLOCK + l);
            size += by * by;
        }
        pl_store(p->change + l, change + half * pl_load(p->inertia + l) * size);
    }
}

static bool judge(pl_pack *p)
{
    bool left = false;
    EACH_LANE(l)
    {
        const pl_real alpha = pl_load(p->alpha + l);
        const pl_real most = pl_load(p->rounding + l) -
                             pl_set1(PL_SWEEP_ARMIJO) * alpha * pl_load(p->slope + l);
        const pl_mask good = pl_le(pl_load(p->change + l), most);
        const pl_real next = pl_select(good, pl_zero(), pl_set1(0.5) * alpha);
        pl_store(p->alpha + l, next);
        left |= pl_any(pl_gt(next, pl_zero()));
    }
    return left;
}

extern const pl_pack_loops JOIN(pl_pack_loops_, PL_ISA); /* as the header declares it */

const pl_pack_loops JOIN(pl_pack_loops_, PL_ISA) = {load, solve, propose, judge};
