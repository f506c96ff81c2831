/* Milliseconds a frame of ADMM on the twisted box: 7 x 1 x 1 m, 42 x 6 x 6 cells of 6 Kuhn
 * tetrahedra, 2107 vertices, 9072 tetrahedra, one turn, no pins, no gravity, E = 1e7, nu = 0.399,
 * density 1522, step 0.04 s, 20 iterations. The median of ten frames. */
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

int main(void)
{
    puts("Frames of the twisted box: 2107 vertices, 9072 neo-Hookean tetrahedra, ADMM, 20 "
         "iterations");
    puts("  threads    ms a frame    local    global    ns a prox with its gather of corners");
    for (int threads = 1; threads <= 2; threads++) {
        pl_run *r = pl_run_open(
            threads, "{'pliant': 1, 'time': {'step': 0.04, 'steps': 12}, 'gravity': [0, 0, 0],"
                     " 'solver': {'iterations': 20, 'tolerance': 0},"
                     " 'materials': {'m': {'young': 1e7, 'poisson': 0.399, 'density': 1522}},"
                     " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [42, 6, 6]}},"
                     "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]}");
        double step[FRAMES], local[FRAMES], global[FRAMES];
        pl_run_frames(r, 2);
        for (int k = 0; k < FRAMES; k++) {
            pl_run_frames(r, 1);
            step[k] = r->metrics.ms_step;
            local[k] = r->metrics.ms_local;
            global[k] = r->metrics.ms_global;
        }
        printf("  %7d    %10.1f    %5.1f    %6.1f    %6.0f\n", threads, median(step), median(local),
               median(global), 1e6 * median(local) * threads / (20.0 * 9072));
        pl_run_close(r);
    }
    printf("  kernels on %s\n", pl_engine_isa());
    return 0;
}
