/* The phases of Anderson acceleration over all groups. */
#include "engine/backends/cpu/cpu_anderson.h"

#include "engine/backends/cpu/cpu_internal.h"
#include "engine/isa.h"

#include <string.h>

/* Sums are over chunks of this many blocks; values of D x are computed for a few blocks at a time, which stay in a
 * first-level cache. */
enum { BLOCKS_A_CHUNK = 16, BLOCKS_AT_ONCE = 2, WIDTH = PL_ANDERSON_MAX + 1 };
/* Most rows of a term. */
enum { ROWS_MAX = 9 };

const pl_anderson_loops *pl_cpu_anderson_loops(void)
{
    static const pl_anderson_loops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_anderson_loops);
    return OPS[pl_isa_current()];
}

static int64_t chunks_for(int64_t blocks)
{
    return (blocks + BLOCKS_A_CHUNK - 1) / BLOCKS_A_CHUNK;
}

pl_status pl_cpu_anderson_prepare(pl_backend *b)
{
    int64_t most = 1;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        int64_t chunks = chunks_for(b->model->groups[g].blocks);
        most = chunks > most ? chunks : most;
    }
    cpu_of(b)->anderson = pl_block_alloc(most * WIDTH, sizeof(double));
    return cpu_of(b)->anderson ? PL_OK : PL_NO_MEMORY;
}

/* Residuals and dg of a chunk of blocks; adds their products to sums. */
static void chunk_difference(const pl_group *group, const pl_anderson_loops *loops,
                             const pl_anderson_part *part, const double *x, run r, double *sums)
{
    _Alignas(64) double Dx[BLOCKS_AT_ONCE * ROWS_MAX * PL_BLOCK];
    const int64_t step = (int64_t)part->rows * PL_BLOCK;
    for (int64_t b = r.b0; b < r.b1; b += BLOCKS_AT_ONCE) {
        const int64_t end = b + BLOCKS_AT_ONCE < r.b1 ? b + BLOCKS_AT_ONCE : r.b1;
        /* The address that a whole array would begin at. */
        double *whole = (double *)((uintptr_t)Dx - (uintptr_t)(b * step) * sizeof *Dx);
        group->ops->reduce(group, x, whole, b, end);
        loops->difference(part, Dx, b, end, sums);
    }
}

void pl_cpu_anderson_difference(pl_backend *b, const pl_anderson *a)
{
    cpu *c = cpu_of(b);
    const pl_anderson_loops *loops = pl_cpu_anderson_loops();
    const int32_t width = a->count + 1;
    memset(a->dot_r, 0, (size_t)width * sizeof *a->dot_r);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        double *r[WIDTH];
        for (int32_t j = 0; j < width; j++)
            r[j] = pl_numbers(a->r[j][g]);
        const pl_anderson_part part = {.weight = group->weight,
                                       .rows = group->ops->rows,
                                       .relaxation = a->relaxation,
                                       .z = pl_numbers_read(a->z[g]),
                                       .count = a->count,
                                       .r = r,
                                       .dg = a->dg ? (float *)(void *)a->dg[g] : NULL,
                                       .taken = a->taken};
        int64_t chunks = chunks_for(group->blocks);
        memset(c->anderson, 0, (size_t)(chunks * WIDTH) * sizeof *c->anderson);
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t k = 0; k < chunks; k++)
            chunk_difference(group, loops, &part, pl_numbers_read(a->x),
                             run_of(group->blocks, k, chunks), c->anderson + k * WIDTH);
        for (int64_t k = 0; k < chunks; k++)
            for (int32_t j = 0; j < width; j++)
                a->dot_r[j] += c->anderson[k * WIDTH + j];
    }
}
