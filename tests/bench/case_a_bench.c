/* Case A, the box that is twisted by one turn and let go: iterations and time of its first frame to
 * relative errors (e(x_k) - e*) / (e(x_0) - e*) of 1e-2, 1e-3 and 1e-6, of every material under every
 * method as it comes; e* is a converged one. With arguments: solver settings to try in their place, to
 * 80 iterations, as in
 *
 *     case_a_bench "'method': 'quasi_newton', 'window': 16" "'relaxation': 1.5"
 */
#include "engine/scene/carries.h"
#include "tests/support/case_a.h"

#include <stdio.h>

enum { MARKS = 3 };
static const double MARK[MARKS] = {1e-2, 1e-3, 1e-6};

static void print_row(const case_a_material *of, const char *name, const char *solver,
                      double minimum)
{
    pl_run *r = case_a_open(of, solver);
    printf("  %-40.40s", name);
    if (pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL) != PL_OK) {
        printf(" failed: %s\n", r->failure.message);
        pl_run_close(r);
        return;
    }
    const pl_metrics *m = &r->metrics;
    int64_t at[MARKS];
    for (int k = 0; k < MARKS; k++) {
        at[k] = case_a_iterations(m, minimum, MARK[k]);
        if (at[k] < 0)
            printf("     -");
        else
            printf(" %5lld", (long long)at[k]);
    }
    printf("  |");
    for (int k = 0; k < MARKS; k++)
        if (at[k] < 0)
            printf("       -");
        else
            printf(" %7.1f", m->detail[at[k]].ms);
    printf("  %6.2f\n", m->detail[m->detail_count - 1].ms / (double)(m->detail_count - 1));
    pl_run_close(r);
}

static void print_material(const case_a_material *of, int count, char **settings)
{
    double minimum = case_a_minimum(of);
    printf("\n%s\n  %-40s  1e-2  1e-3  1e-6  |     ms to them           ms each\n", of->name,
           "iterations to an error of");
    for (int i = 0; i < count; i++) {
        char solver[512];
        snprintf(solver, sizeof solver, "%s, 'iterations': 80, 'tolerance': 0", settings[i]);
        print_row(of, settings[i], solver, minimum);
    }
    for (pl_method_kind k = 0; count == 0 && k < PL_METHOD_KINDS; k++) {
        if (pl_method_refuses(k, of->traits))
            continue;
        char solver[512];
        snprintf(solver, sizeof solver, "'method': '%s', 'iterations': %d, 'tolerance': 0",
                 pl_method_name(k), k == PL_METHOD_NEWTON ? 30 : 200);
        print_row(of, pl_method_name(k), solver, minimum);
    }
}

int main(int argc, char **argv)
{
    for (int i = 0; i < CASE_A_MATERIALS; i++)
        print_material(&CASE_A[i], argc - 1, argv + 1);
    return 0;
}
