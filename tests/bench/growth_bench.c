/* How a frame's cost grows with the mesh, for every method: milliseconds an iteration on cubes of 1 k
 * to 16 k vertices (64 k with PLIANT_LONG=1), and the exponent p of the best fit of ms = c n^p. The
 * cube starts stretched, one side is held, and every iteration is made; setting up is left out. */
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"

#include "engine/scene/carries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells along each edge: 1000, 2197, 4096, 8000, 15625; 32768, 64000 vertices. */
static const int cells[] = {9, 12, 15, 19, 24, 31, 39};
enum { SIZES = sizeof cells / sizeof *cells, QUICK = 5, REPEATS = 3 };

/* The least of a few frames: what else the machine does only adds. */
static double ms_an_iteration(int n, const char *method, const char *material, int iterations)
{
    double least = INFINITY;
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.02, 'steps': %d}, 'gravity': [0, 0, 0],"
                     " 'solver': {'method': '%s', 'iterations': %d, 'tolerance': 0},"
                     " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.4}},"
                     " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [%d, %d, %d]}},"
                     "   'initial': {'shape': {'stretched': [1.3, 1, 1]}}}],"
                     " 'pins': [{'select': {'side': '-x'}}]}",
                     REPEATS, method, iterations, material, n, n, n);
    for (int k = 0; k < REPEATS; k++) {
        pl_run_frames(r, 1);
        least = fmin(least, r->metrics.ms_step / iterations);
    }
    pl_run_close(r);
    return least;
}

/* The slope of the line through (log n, log ms) by least squares. */
static double exponent(const double *n, const double *ms, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double x = log(n[i]), y = log(ms[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

int main(void)
{
    int count = is_long_form() ? SIZES : QUICK;
    double n[SIZES], ms[SIZES];
    printf("Growth of an iteration's cost, ms, one thread, neo-Hookean cubes%s\n  %-28s",
           count < SIZES ? " (32 k and 64 k with PLIANT_LONG=1)" : "", "vertices");
    for (int i = 0; i < count; i++) {
        n[i] = pow(cells[i] + 1, 3);
        printf("%9.0f", n[i]);
    }
    puts("    exponent");
    for (int k = 0; k < PL_METHOD_KINDS; k++) {
        const char *name = pl_method_name((pl_method_kind)k);
        bool newton = k == PL_METHOD_NEWTON;
        bool arap = pl_method_refuses((pl_method_kind)k, PL_TRAIT_NOT_DISTANCE) != NULL;
        char row[64];
        snprintf(row, sizeof row, "%s%s", name, arap ? " (ARAP)" : "");
        printf("  %-28s", row);
        for (int i = 0; i < count; i++) {
            ms[i] = ms_an_iteration(cells[i], name, arap ? "arap" : "neo_hookean", newton ? 2 : 10);
            printf("%9.3g", ms[i]);
            fflush(stdout);
        }
        printf("    %8.2f\n", exponent(n, ms, count));
    }
    return 0;
}
