/* One solve with three right-hand sides: Pliant's over panels on one and two threads, and CHOLMOD's with the factor of
 * the same matrix and ordering. The best of many runs, taken in turns. GB/s counts the numbers of L, 8 bytes each, once
 * forward and once backward. */
#include "engine/clock.h"
#include "engine/model/model.h"
#include "tests/support/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

typedef struct peer {
    cholmod_common common;
    cholmod_factor *L;
    cholmod_dense *b, *X, *Y, *E;
} peer;

/* As engine/linear/cholmod.c has it: orderings and kinds by size. */
static void peer_open(peer *p, const pl_sparse *a)
{
    *p = (peer){0};
    cholmod_start(&p->common);
    p->common.nmethods = 1;
    p->common.final_ll = 1;
    p->common.supernodal = a->n >= 10000 ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    p->common.method[0].ordering = a->n >= 5000 ? CHOLMOD_METIS : CHOLMOD_AMD;
    size_t n = (size_t)a->n, entries = (size_t)a->column[n];
    cholmod_sparse *m = cholmod_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &p->common);
    for (size_t j = 0; j <= n; j++)
        ((int *)m->p)[j] = (int)a->column[j];
    memcpy(m->i, a->row, entries * sizeof(int));
    memcpy(m->x, a->value, entries * sizeof(double));
    p->L = cholmod_analyze(m, &p->common);
    cholmod_factorize(m, p->L, &p->common);
    cholmod_free_sparse(&m, &p->common);
    p->b = cholmod_zeros(n, 3, CHOLMOD_REAL, &p->common);
}

static void peer_close(peer *p)
{
    cholmod_free_factor(&p->L, &p->common);
    cholmod_free_dense(&p->b, &p->common);
    cholmod_free_dense(&p->X, &p->common);
    cholmod_free_dense(&p->Y, &p->common);
    cholmod_free_dense(&p->E, &p->common);
    cholmod_finish(&p->common);
}

static double difference(const double *a, const double *b, int64_t count)
{
    double off = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        off = fmax(off, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return off / size;
}

static void measure(const char *cells)
{
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1},"
                             " 'bodies': [{'mesh': {'box': {'cells': [%s]}}}]}",
                             cells);
    const pl_model *m = r->model;
    const size_t n = (size_t)m->free_vertices;
    peer p;
    peer_open(&p, &m->A);
    double *x = malloc(3 * n * sizeof *x);
    for (size_t i = 0; i < 3 * n; i++)
        ((double *)p.b->x)[i] = sin((double)i);
    pl_solve_work *work[2];
    double least[3] = {INFINITY, INFINITY, INFINITY};
    for (int t = 0; t < 2; t++)
        if (pl_solve_work_create(m->factor[0], t + 1, &work[t]) != PL_OK)
            abort();
    int64_t runs = 20 + 300000000 / (pl_factor_nonzeros(m->factor[0]) + 1) / 10;
    for (int64_t k = 0; k < runs; k++) {
        double start = pl_clock_ms();
        cholmod_solve2(CHOLMOD_A, p.L, p.b, NULL, &p.X, NULL, &p.Y, &p.E, &p.common);
        least[0] = fmin(least[0], pl_clock_ms() - start);
        for (int t = 0; t < 2; t++)
            for (int again = 0; again < 2; again++) { /* the first run wakes threads */
                start = pl_clock_ms();
                pl_factor_solve3(m->factor[0], work[t], p.b->x, x);
                least[1 + t] = fmin(least[1 + t], pl_clock_ms() - start);
            }
    }
    double bytes = 2e-6 * 8 * (double)pl_factor_nonzeros(m->factor[0]);
    printf("  %6zu    %9lld    %7.3f    %9.3f    %9.3f    %5.1f    %5.1f    %8.0e\n", n,
           (long long)pl_factor_nonzeros(m->factor[0]), least[0], least[1], least[2],
           bytes / least[1], bytes / least[2], difference(x, p.X->x, 3 * (int64_t)n));
    for (int t = 0; t < 2; t++)
        pl_solve_work_destroy(work[t]);
    free(x);
    peer_close(&p);
    pl_run_close(r);
}

int main(void)
{
    puts("One solve with three right-hand sides, boxes of Kuhn tetrahedra, ms");
    puts("    rows    numbers of L    CHOLMOD    1 thread    2 threads    GB/s    GB/s    relative "
         "difference");
    measure("42, 6, 6");
    measure("11, 11, 11");
    measure("14, 14, 14");
    measure("22, 22, 22");
    measure("33, 33, 33");
    printf("  kernels on %s\n", pl_engine_isa());
    return 0;
}
