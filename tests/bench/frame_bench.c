/* Milliseconds a frame of ADMM and of quasi-Newton on the twisted box: 7 x 1 x 1 m, 42 x 6 x 6 cells of 6 Kuhn
 * tetrahedra, 2107 vertices, 9072 tetrahedra, one turn, no pins, no gravity, E = 1e7, nu = 0.399,
 * density 1522, step 0.04 s. The median of ten frames. */
#include "tests/support/scene_run.h"

#include "engine/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 10 };

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *v)
{
    double sorted[FRAMES];
    memcpy(sorted, v, sizeof sorted);
    qsort(sorted, FRAMES, sizeof *sorted, by_size);
    return (sorted[FRAMES / 2] + sorted[FRAMES / 2 - 1]) / 2;
}

/* Milliseconds of FRAMES frames after the first two: in all, of local and of global steps. */
typedef struct frame_times {
    double step[FRAMES], local[FRAMES], global[FRAMES];
    double iterations;
} frame_times;

static void time_frames(int threads, const char *solver, frame_times *t)
{
    pl_run *r =
        pl_run_openf(threads,
                     "{'pliant': 1, 'time': {'step': 0.04, 'steps': 12}, 'gravity': [0, 0, 0],"
                     " 'solver': {%s},"
                     " 'materials': {'m': {'young': 1e7, 'poisson': 0.399, 'density': 1522}},"
                     " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [42, 6, 6]}},"
                     "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]}",
                     solver);
    pl_run_frames(r, 2);
    t->iterations = 0;
    for (int k = 0; k < FRAMES; k++) {
        pl_run_frames(r, 1);
        t->step[k] = r->metrics.ms_step;
        t->local[k] = r->metrics.ms_local;
        t->global[k] = r->metrics.ms_global;
        t->iterations += (double)r->metrics.iterations / FRAMES;
    }
    pl_run_close(r);
}

static void print_admm(void)
{
    static const char *const accelerations[] = {"anderson", "nesterov", "none"};
    puts("Frames of the twisted box: 2107 vertices, 9072 neo-Hookean tetrahedra, ADMM, 20 "
         "iterations");
    puts("  threads    ms a frame    local    global    ns a tetrahedron and iteration, local");
    for (size_t a = 0; a < sizeof accelerations / sizeof *accelerations; a++)
        for (int threads = 1; threads <= 2; threads++) {
            char solver[128];
            frame_times t;
            snprintf(solver, sizeof solver,
                     "'method': 'admm', 'iterations': 20, 'tolerance': 0, "
                     "'acceleration': '%s'",
                     accelerations[a]);
            time_frames(threads, solver, &t);
            printf("  %7d    %10.1f    %5.1f    %6.1f    %10.0f    %s\n", threads, median(t.step),
                   median(t.local), median(t.global),
                   1e6 * median(t.local) * threads / (20.0 * 9072), accelerations[a]);
        }
}

static void print_quasi_newton(void)
{
    static const char *const cases[][2] = {
        {"10 iterations", "'method': 'quasi_newton', 'iterations': 10, 'tolerance': 0"},
        {"10 iterations, no history",
         "'method': 'quasi_newton', 'iterations': 10, 'tolerance': 0, 'window': 0"},
        {"to tolerance 1e-3", "'method': 'quasi_newton', 'iterations': 500, 'tolerance': 1e-3"},
    };
    puts("The same by quasi-Newton with L-BFGS: energy and gradient are local, solve and history "
         "global");
    puts("  threads    ms a frame    local    global    iterations");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int threads = 1; threads <= 2; threads++) {
            frame_times t;
            time_frames(threads, cases[c][1], &t);
            printf("  %7d    %10.1f    %5.1f    %6.1f    %10.1f    %s\n", threads, median(t.step),
                   median(t.local), median(t.global), t.iterations, cases[c][0]);
        }
}

int main(void)
{
    print_admm();
    print_quasi_newton();
    printf("  kernels on %s\n", pl_engine_isa());
    return 0;
}
