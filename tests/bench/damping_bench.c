/* Dissipation functions as separate terms and merged with the elastic energy: the same steps of a body that is released
 * stretched and rotating, each method to its tolerance. Prints iterations and milliseconds of processor time per step;
 * the two forms of a row run in turns, and the best of three counts. Both must reach the same positions. */
#include "tests/support/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 6, REPEATS = 3 };

static const char *const METHODS[] = {"admm", "quasi_newton", "chebyshev_descent", "newton"};
static const char *const FORMS[] = {"separate", "merged"};
static const struct {
    const char *name, *damping;
} FUNCTIONS[] = {
    {"strain_rate", "'model': 'strain_rate', 'viscosity': 300"},
    {"viscous", "'model': 'viscous', 'viscosity': 300"},
    {"rayleigh", "'model': 'rayleigh', 'beta': 0.003"},
    {"rayleigh, second_order", "'model': 'rayleigh', 'beta': 0.003, 'second_order': true"},
    {"rayleigh_lagged", "'model': 'rayleigh_lagged', 'beta': 0.003"},
    {"principal_strain", "'model': 'principal_strain', 'beta': 0.003"},
    {"power_law", "'model': 'power_law', 'coefficient': 100, 'power': 2"},
    {"rate_spline", "'model': 'rate_spline', 'viscosity': 200, 'rate_spline': [[0, 1], [2, 2]]"},
};

typedef struct result {
    double milliseconds, iterations;
    int64_t unconverged;
    double *x;
    int64_t vertices;
} result;

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static result measure(const char *material, const char *method, const char *damping,
                      const char *form)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.02, 'steps': %d},"
                     " 'solver': {'method': '%s', 'iterations': 400, 'tolerance': 1e-5},"
                     " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.3,"
                     "   'damping': {%s, 'form': '%s'}}},"
                     " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [8, 8, 8]}},"
                     "   'initial': {'shape': {'stretched': [1.2, 0.93, 1.05]},"
                     "   'angular_velocity': [0, 0, 1]}}]}",
                     STEPS, method, material, damping, form);
    result out = {.vertices = pl_run_vertices(r)};
    for (int step = 0; step < STEPS; step++) {
        const double begun = processor();
        pl_run_frames(r, 1);
        out.milliseconds += 1e3 * (processor() - begun) / STEPS;
        out.iterations += (double)r->metrics.iterations / STEPS;
        out.unconverged += r->metrics.unconverged;
    }
    const size_t bytes = 3 * (size_t)out.vertices * sizeof *out.x;
    out.x = malloc(bytes);
    memcpy(out.x, pl_run_x(r), bytes);
    pl_run_close(r);
    return out;
}

static void row(const char *material, const char *method, int function)
{
    result best[2] = {{.milliseconds = INFINITY}, {.milliseconds = INFINITY}};
    for (int k = 0; k < 2 * REPEATS; k++) {
        result one = measure(material, method, FUNCTIONS[function].damping, FORMS[k % 2]);
        result *kept = &best[k % 2];
        if (one.milliseconds < kept->milliseconds) {
            free(kept->x);
            *kept = one;
        } else {
            free(one.x);
        }
    }
    double apart = 0;
    for (int64_t i = 0; i < 3 * best[0].vertices; i++)
        apart = fmax(apart, fabs(best[0].x[i] - best[1].x[i]));
    printf("%-12s %-18s %-24s %8.1f %8.1f %10.2f %10.2f %8.2f %6lld %6lld   %.1e\n", material,
           method, FUNCTIONS[function].name, best[0].iterations, best[1].iterations,
           best[0].milliseconds, best[1].milliseconds, best[0].milliseconds / best[1].milliseconds,
           (long long)best[0].unconverged, (long long)best[1].unconverged, apart);
    fflush(stdout);
    free(best[0].x);
    free(best[1].x);
}

/* damping_bench [METHOD]: all methods, or one. */
int main(int argc, char **argv)
{
    printf("damping of a cube of 3,072 tetrahedra, a step: iterations, ms of processor, ratio,\n"
           "steps that did not converge, and how far the two forms are apart, m\n"
           "%-12s %-18s %-24s %8s %8s %10s %10s %8s\n",
           "material", "method", "function", "separate", "merged", "separate", "merged", "ratio");
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++)
        for (int f = 0; f < (int)(sizeof FUNCTIONS / sizeof *FUNCTIONS); f++)
            if (argc < 2 || strcmp(argv[1], METHODS[m]) == 0)
                row("neo_hookean", METHODS[m], f);
    return 0;
}
