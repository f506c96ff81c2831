/* The constant matrix by a factor and by multigrid, on boxes of Kuhn tetrahedra or of the scenes given as
 * arguments ("multigrid_bench FILE..."; meshes inline): processor time
 * of the set-up, of a change of weights, of a solve, and memory, on one thread. Errors
 * are those of answers in the norm of A, against the factor's answer. */
#include "engine/linear/multigrid.h"
#include "engine/model/model.h"
#include "tests/support/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Processor time, ms: other programs beside do not count. */
static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void must(pl_status status)
{
    if (status != PL_OK)
        abort();
}

/* |x - y| over |y|, in the norm of A. */
static double error_of(const pl_sparse *a, const double *x, const double *y)
{
    size_t n = 3 * (size_t)a->n;
    double *d = calloc(3 * n, sizeof *d), *Ad = d + n, *Ay = d + 2 * n, off = 0, size = 0;
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] - y[i];
    pl_sparse_multiply(a, d, Ad, 3);
    pl_sparse_multiply(a, y, Ay, 3);
    for (size_t i = 0; i < n; i++) {
        off += d[i] * Ad[i];
        size += y[i] * Ay[i];
    }
    free(d);
    return sqrt(off / size);
}

typedef struct answers {
    const double *b, *exact;
    double *x;
} answers;

static void measure_factor(const pl_sparse *a, const answers *s, double *exact)
{
    pl_factor *factor;
    pl_solve_work *work;
    double start = cpu_ms();
    must(pl_factor_create(a, &factor));
    double made = cpu_ms() - start, solved = INFINITY;
    must(pl_solve_work_create(factor, 1, &work));
    for (int k = 0; k < 5; k++) {
        start = cpu_ms();
        must(pl_factor_solve3(factor, work, s->b, exact));
        solved = fmin(solved, cpu_ms() - start);
    }
    printf("  %7lld %9lld  factor %8.1f ms %7.1f MB solve %7.2f ms\n", (long long)a->n,
           (long long)a->column[a->n], made, 8e-6 * (double)pl_factor_nonzeros(factor), solved);
    pl_solve_work_destroy(work);
    pl_factor_destroy(factor);
}

static void measure_solves(const pl_sparse *a, const pl_multigrid *m, pl_multigrid_work *work,
                           const answers *s)
{
    static const double ERRORS[] = {0.1, 0.01, 1e-6};
    size_t bytes = 3 * (size_t)a->n * sizeof *s->x;
    double start = cpu_ms();
    pl_multigrid_apply3(m, work, s->b, s->x);
    double applied = cpu_ms() - start;
    printf("    apply %d cycles %7.2f ms, error %.2g\n", pl_multigrid_describe(m).apply_cycles,
           applied, error_of(a, s->x, s->exact));
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; k++) {
        pl_multigrid_result result;
        memset(s->x, 0, bytes);
        start = cpu_ms();
        must(pl_multigrid_solve3(m, work, ERRORS[k], s->b, s->x, &result));
        double solved = cpu_ms() - start;
        printf("    to %-6g %2d cycles %7.2f ms, error %.2g\n", ERRORS[k], result.cycles, solved,
               error_of(a, s->x, s->exact));
    }
}

static void measure_multigrid(const pl_sparse *a, const answers *s)
{
    pl_multigrid *m, *again;
    pl_multigrid_work *work;
    double start = cpu_ms();
    must(pl_multigrid_create(a, NULL, &m));
    double made = cpu_ms() - start;
    start = cpu_ms();
    must(pl_multigrid_create(a, m, &again));
    double changed = cpu_ms() - start;
    pl_multigrid_facts facts = pl_multigrid_describe(m);
    double both = 2 * (double)a->column[a->n] - (double)a->n;
    must(pl_multigrid_work_create(m, 1, &work));
    printf("    multigrid %7.1f ms, again %7.1f ms, %6.1f MB, %d levels, complexity %.2f, least "
           "%.2f\n",
           made, changed, 1e-6 * (double)facts.bytes, facts.levels, (double)facts.entries / both,
           facts.least);
    measure_solves(a, m, work, s);
    pl_multigrid_work_destroy(work);
    pl_multigrid_destroy(again);
    pl_multigrid_destroy(m);
}

static void measure(const char *name, const char *scene)
{
    pl_run *r = pl_run_open(1, scene);
    const pl_sparse *a = &r->model->A;
    size_t n = 3 * (size_t)a->n;
    double *b = calloc(3 * n, sizeof *b), *exact = b + n;
    answers s = {b, exact, b + 2 * n};
    for (size_t i = 0; i < n; i++)
        b[i] = sin((double)i) + 0.1;
    printf("%s\n", name);
    measure_factor(a, &s, exact);
    measure_multigrid(a, &s);
    fflush(stdout);
    free(b);
    pl_run_close(r);
}

static void measure_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file || getdelim(&text, &size, 0, file) < 0)
        abort();
    fclose(file);
    measure(path, text);
    free(text);
}

int main(int count, char **file)
{
    static const int CELLS[] = {15, 25, 39, 56};
    for (int k = 1; k < count; k++)
        measure_file(file[k]);
    for (size_t k = 0; count == 1 && k < sizeof CELLS / sizeof *CELLS; k++) {
        char name[64], scene[256];
        snprintf(name, sizeof name, "box of %d^3 cells", CELLS[k]);
        snprintf(scene, sizeof scene,
                 "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1},"
                 " 'solver': {'method': 'quasi_newton'},"
                 " 'bodies': [{'mesh': {'box': {'cells': [%d, %d, %d]}}}]}",
                 CELLS[k], CELLS[k], CELLS[k]);
        measure(name, scene);
    }
    return 0;
}
