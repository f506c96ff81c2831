/* tets_stretch.h - tetrahedra of any material of principal stretches, from tets_template.h: tets_stretch_isa.c
 * compiles it for the CPU, and tets_stretch_kernels.c for devices. */
#include "engine/kernels/stretch_solid.h"
#include "engine/model/groups/term_lanes.h"
#include "engine/model/groups/tets.h"

typedef pl_stretch pl_stretch_solid;

PL_INLINE pl_stretch load_material(const pl_tets *t, int64_t b)
{
    return (pl_stretch){t->stretch, t->constants + b * t->stretch->constants * PL_BLOCK, t->shared,
                        t->blend ? t->blend + b * 2 * PL_BLOCK : NULL};
}

PL_TERM void tets_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1);
#ifndef PL_DEVICE
PL_TERM void tets_spread(const pl_group *g, int64_t b0, int64_t b1);
#endif

#define TETS_LOAD_MATERIAL
#ifdef PL_DEVICE
#define TETS_DIAGONAL_ALONG pl_stretch_axes
#endif
#define TETS_FREEZE   tets_freeze
#define TETS_SPREAD   tets_spread
#define MATERIAL      stretch_solid
#define MATERIAL_NAME "stretch"
#include "engine/model/groups/tets_template.h"

/* Convex share of an element in this step, from its least (signed) stretch at the step's start: the last term of
 * Wang 2016, eq. 17. The paper's share depends on previous iterations, and the objective would change while it is
 * minimised. */
PL_TERM void tets_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    if (!t->blend)
        return;
    const pl_real high = pl_set1((pl_scalar)PL_INVERTIBLE_HIGH);
    const pl_real per = pl_set1((pl_scalar)(1 / (PL_INVERTIBLE_HIGH - PL_INVERTIBLE_LOW)));
    for (int64_t b = b0; b < b1; b++) {
        pl_real inverse[9], s[3];
        pl_mat3 F, U, V;
        load_shape(t, b, inverse);
        deformation(g, b, stage->x_start, inverse, &F);
        pl_svd3(&F, &U, s, &V);
        if (t->least)
            pl_store(t->least + b * PL_BLOCK, s[2]);
        pl_store(t->blend + b * 2 * PL_BLOCK, pl_clamp((high - s[2]) * per, pl_zero(), pl_one()));
    }
}

/* Raises the blend of one position if it or a neighbour is inverted. least: of all positions. */
PL_INLINE void spread_to(const pl_group *g, const pl_tets *t, const pl_number *least, int64_t b,
                         int lane)
{
    const pl_number low = (pl_number)PL_INVERTIBLE_LOW;
    const pl_number per = (pl_number)(1 / (PL_INVERTIBLE_LOW - PL_INVERTIBLE_TURNED));
    pl_number *blend = t->blend + b * 2 * PL_BLOCK + lane, lowest = low;
    for (int c = 0; c < 4; c++) {
        const int32_t vertex = g->corner[(b * 4 + c) * PL_BLOCK + lane];
        for (int32_t k = t->around_start[vertex]; k < t->around_start[vertex + 1]; k++) {
            const pl_number one = least[t->around[k]];
            lowest = one < lowest ? one : lowest;
        }
    }
    const pl_number asked = (low - lowest) * per, most = asked < 1 ? asked : 1;
    *blend = most > *blend ? most : *blend;
}

#ifndef PL_DEVICE
PL_TERM void tets_spread(const pl_group *g, int64_t b0, int64_t b1)
{
    const pl_tets *t = pl_tets_of(g);
    for (int64_t b = b0; b < b1; b++)
        for (int lane = 0; lane < PL_BLOCK; lane++)
            spread_to(g, t, t->least, b, lane);
}
#endif
