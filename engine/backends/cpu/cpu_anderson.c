/* The phases of Anderson acceleration over all groups. */
#include "engine/backends/cpu/cpu_anderson.h"

#include "engine/backends/cpu/cpu_internal.h"
#include "engine/isa.h"

#include <math.h>
#include <string.h>

/* Sums are over chunks of this many blocks. */
enum { BLOCKS_A_CHUNK = 16, WIDTH = 2 * PL_ANDERSON_MAX + 1 };

static const pl_anderson_loops *find_ops(void)
{
#if defined(__x86_64__)
    static const pl_anderson_loops *const OPS[PL_ISA_COUNT] = {
        &pl_anderson_loops_v2, &pl_anderson_loops_v3, &pl_anderson_loops_v4};
    return OPS[pl_isa_current()];
#else
    return &pl_anderson_loops_base;
#endif
}

static pl_anderson_part part_of(const pl_anderson *a, const pl_group *group, int32_t g, float **dr,
                                float **dg)
{
    for (int32_t j = 0; j < a->count; j++) {
        dr[j] = (float *)(void *)a->dr[j][g];
        dg[j] = (float *)(void *)a->dg[j][g];
    }
    return (pl_anderson_part){.weight = group->weight,
                              .rows = group->ops->rows,
                              .relaxation = a->relaxation,
                              .u = pl_numbers(a->u[g]),
                              .z = pl_numbers(a->z[g]),
                              .r_old = pl_numbers(a->r_old[g]),
                              .r = pl_numbers(a->r[g]),
                              .g = pl_numbers(a->g[g]),
                              .count = a->count,
                              .dr = dr,
                              .dg = dg};
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

double pl_cpu_anderson_difference(pl_backend *b, const pl_anderson *a)
{
    cpu *c = cpu_of(b);
    const pl_anderson_loops *ops = find_ops();
    double total[WIDTH] = {0};
    b->ops->splitting->reduce(b, a->x, a->r);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        float *dr[PL_ANDERSON_MAX], *dg[PL_ANDERSON_MAX];
        pl_anderson_part part = part_of(a, group, g, dr, dg);
        int64_t chunks = chunks_for(group->blocks);
        memset(c->anderson, 0, (size_t)(chunks * WIDTH) * sizeof *c->anderson);
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t k = 0; k < chunks; k++) {
            run r = run_of(group->blocks, k, chunks);
            ops->difference(&part, r.b0, r.b1, c->anderson + k * WIDTH);
        }
        for (int64_t k = 0; k < chunks; k++)
            for (int32_t j = 0; j <= 2 * a->count; j++)
                total[j] += c->anderson[k * WIDTH + j];
    }
    memcpy(a->dot_dr, total, (size_t)a->count * sizeof *total);
    memcpy(a->dot_r, total + a->count, (size_t)a->count * sizeof *total);
    return sqrt(total[2 * a->count]);
}

void pl_cpu_anderson_combine(pl_backend *b, const pl_anderson *a, const double *gamma)
{
    cpu *c = cpu_of(b);
    const pl_anderson_loops *ops = find_ops();
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        float *dr[PL_ANDERSON_MAX], *dg[PL_ANDERSON_MAX];
        pl_anderson_part part = part_of(a, group, g, dr, dg);
        EACH_RUN(c, group->blocks, r)
            ops->combine(&part, gamma, r.b0, r.b1);
    }
}
