/* The cost of contact between bodies for each method: a cube lands on another, which is rotated and held at its bottom.
 * Prints iterations and ms of a step to 1e-3, with contact and without (they then pass through each other); steps that
 * do not converge in 2000 iterations are reported. PLIANT_LONG=1: also 16 cells a side. */
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 16 };

static const char *const METHODS[] = {"admm",
                                      "projective_dynamics",
                                      "quasi_newton",
                                      "chebyshev_semi_iterative",
                                      "newton",
                                      "lbfgs",
                                      "nonlinear_cg",
                                      "gradient_descent",
                                      "barzilai_borwein",
                                      "vertex_block_descent",
                                      "chebyshev_descent",
                                      "auto"};

static pl_run *land(const char *method, int cells, double young, bool contact)
{
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': %d},"
        " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 1e-3},"
        " 'contact': {'enabled': %s},"
        " 'materials': {'m': {'model': 'arap', 'young': %g, 'poisson': 0.3}},"
        " 'bodies': [{'name': 'held', 'mesh': {'box': {'size': [0.4, 0.4, 0.4],"
        "    'cells': [%d, %d, %d]}}},"
        "  {'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [%d, %d, %d]}}, 'transform': {"
        "    'rotate': {'axis': [0, 1, 0], 'degrees': 30}, 'translate': [0.05, 0.42, 0.03]},"
        "    'initial': {'velocity': [0, -2, 0]}}],"
        " 'pins': [{'body': 'held', 'select': {'side': '-y'}}]}",
        STEPS, method, contact ? "true" : "false", young, cells, cells, cells, cells, cells, cells);
}

typedef struct cost {
    double iterations, ms, ms_contact; /* of a step */
    int64_t unconverged;
    bool failed;
} cost;

static cost measure(const char *method, int cells, double young, bool contact)
{
    cost c = {0};
    pl_run *r = land(method, cells, young, contact);
    for (int k = 0; k < STEPS && !c.failed; k++) {
        c.failed = pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL) != PL_OK;
        c.iterations += (double)r->metrics.iterations / STEPS;
        c.ms += r->metrics.ms_step / STEPS;
        c.ms_contact += r->metrics.ms_collision / STEPS;
        c.unconverged += r->metrics.unconverged;
    }
    pl_run_close(r);
    return c;
}

static void print_row(const char *method, int cells)
{
    printf("| %s |", method);
    for (double young = 1e5; young < 2e7; young *= 10) {
        const cost with = measure(method, cells, young, true),
                   without = measure(method, cells, young, false);
        char more[32] = "";
        if (with.unconverged > 0)
            snprintf(more, sizeof more, ", %lld not", (long long)with.unconverged);
        if (with.failed)
            snprintf(more, sizeof more, ", failed");
        printf(" %.0f / %.0f%s; %.1f / %.1f ms, %.1f |", with.iterations, without.iterations, more,
               with.ms, without.ms, with.ms_contact);
    }
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    for (int cells = 4; cells <= (is_long_form() ? 16 : 8); cells *= 2) {
        printf("%d cells a side: iterations with contact / without; ms of a step alike, and of the "
               "first those of contact\n\n| method | 1e5 Pa | 1e6 Pa | 1e7 Pa |\n"
               "| --- | --- | --- | --- |\n",
               cells);
        for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
            print_row(METHODS[i], cells);
        printf("\n");
    }
    return 0;
}
