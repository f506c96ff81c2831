/* Convergence of the descent methods in one step, as the papers draw it: relative error
 * (e(x_k) - e*) / (e(x_0) - e*) of the objective by iterations (Liu 2017, eq. 12; Wang 2016, figure
 * 2). All methods of a table begin in the state that a converged run has come to, with what they
 * carry from step to step as three tries of the same step leave it; e* is Newton's. A number k of a
 * column 1e-2 is the first iteration with an error of 1e-2 or less. PLIANT_LONG=1: finer bodies. */
#include "engine/model/model.h"
#include "engine/state.h"
#include "tests/support/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct situation {
    const char *what;
    int frames;        /* of the converged run, before the step that is looked at */
    const char *scene; /* without solver and output; %d: cells across */
} situation;

static const situation BAR = {
    "a bar turned at one end by 90 degrees a second, its 20th step", 20,
    "'time': {'step': 0.0333333333333333, 'steps': 200},"
    " 'materials': {'m': {'young': 3e5, 'poisson': 0.45}},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [%d, %d, %d]}}}],"
    " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
    "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]"};

static const situation BOX = {
    "a box stretched, spun and let go with its bottom held, its 4th step", 4,
    "'time': {'step': 0.0333333333333333, 'steps': 200},"
    " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}},"
    " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [%d, %d, %d]}},"
    "   'initial': {'shape': {'stretched': [1.3, 0.9, 1]}, 'angular_velocity': [0, 0, 4]}}],"
    " 'pins': [{'select': {'side': '-y'}}]"};

static const situation TWO = {
    "two boxes of E = 2e4 and 2e6, stretched and let go", 1,
    "'time': {'step': 0.0333333333333333, 'steps': 200},"
    " 'materials': {'soft': {'young': 2e4, 'poisson': 0.4}, 'stiff': {'young': 2e6, 'poisson': "
    "0.4}},"
    " 'bodies': [{'mesh': {'box': {'cells': [%d, %d, %d]}}, 'material': 'soft',"
    "   'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}},"
    "  {'mesh': {'box': {'cells': [6, 6, 6]}}, 'material': 'stiff',"
    "   'initial': {'shape': {'stretched': [1.05, 0.98, 1]}}}]"};

static const situation ARAP = {
    "the bar of ARAP, of which the constant matrix is projective dynamics'", 20,
    "'time': {'step': 0.0333333333333333, 'steps': 200},"
    " 'materials': {'m': {'model': 'arap', 'young': 3e5, 'poisson': 0.45}},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [%d, %d, %d]}}}],"
    " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
    "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]"};

static int fine; /* PLIANT_LONG */

static pl_run *open_situation(const situation *s, const char *solver, int iterations,
                              const char *tolerance)
{
    int across = s == &BAR || s == &ARAP ? (fine ? 6 : 4) : fine ? 12 : 6;
    int along = s == &BAR || s == &ARAP ? 4 * across : across;
    char scene[1024];
    snprintf(scene, sizeof scene, s->scene, along, across, across);
    return pl_run_openf(2,
                        "{'pliant': 1, 'solver': {%s, 'iterations': %d, 'tolerance': %s},"
                        " 'output': {'metrics': 'iteration'}, %s}",
                        solver, iterations, tolerance, scene);
}

static pl_run *open_reference(const situation *s)
{
    return open_situation(s, "'method': 'newton'", 200, "1e-11");
}

/* The state of one run into another of the same bodies. */
static void hand_over(const pl_run *from, pl_run *to)
{
    size_t bytes = 3 * (size_t)pl_run_vertices(from) * sizeof(double);
    memcpy(to->state->x, from->state->x, bytes);
    memcpy(to->state->v, from->state->v, bytes);
    memcpy(to->state->v_old, from->state->v_old, bytes);
    to->state->step = from->state->step;
}

/* One step of `r` from the state of `from`. */
static bool step_from(const pl_run *from, pl_run *r)
{
    hand_over(from, r);
    return pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL) == PL_OK;
}

typedef struct curve {
    const char *name, *solver;
} curve;

enum { MARKS = 5, PLACES = 5 };
static const double MARK[MARKS] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-6};
static const int64_t PLACE[PLACES] = {8, 16, 32, 64, 96};

/* The relative error of row k, or of the last one. */
static double error_at(const pl_metrics *m, int64_t k, double minimum, double start)
{
    double e = m->detail[k < m->detail_count ? k : m->detail_count - 1].objective;
    return (e - minimum) / (start - minimum);
}

static void print_curve(const pl_metrics *m, double minimum, double start, const char *name)
{
    printf("  %-46s", name);
    for (int k = 0; k < MARKS; k++) {
        int64_t at = 0;
        while (at < m->detail_count && !(error_at(m, at, minimum, start) <= MARK[k]))
            at++;
        if (at < m->detail_count)
            printf(" %5lld", (long long)at);
        else
            printf("     -");
    }
    printf("  |");
    for (int k = 0; k < PLACES; k++)
        printf(" %8.1e", error_at(m, PLACE[k], minimum, start));
    printf("  %6.2f\n", m->detail[m->detail_count - 1].ms / (double)(m->detail_count - 1));
}

static void print_table(const char *title, const situation *s, int iterations, const curve *curves,
                        size_t count)
{
    pl_run *reference = open_reference(s), *best = open_reference(s);
    pl_run_frames(reference, s->frames);
    step_from(reference, best);
    double minimum = best->metrics.objective, start = best->metrics.detail[0].objective;
    printf(
        "\n%s\n  %s: %lld vertices\n  %-46s  1e-1  1e-2  1e-3  1e-4  1e-6  |    error after 8, 16, "
        "32, 64, 96 iterations     ms each\n",
        title, s->what, (long long)pl_run_vertices(best), "iterations to an error of");
    for (size_t c = 0; c < count; c++) {
        /* Newton's are dear, and few. */
        int most = strstr(curves[c].solver, "'newton'") ? 20 : iterations;
        pl_run *r = open_situation(s, curves[c].solver, most, "0");
        bool good = true;
        for (int k = 0; good && k < 4; k++)
            good = step_from(reference, r);
        if (good)
            print_curve(&r->metrics, minimum, start, curves[c].name);
        else
            printf("  %-46s failed: %s\n", curves[c].name, r->failure.message);
        pl_run_close(r);
    }
    pl_run_close(reference);
    pl_run_close(best);
}

#define TABLE(title, situation, iterations, curves)                                                \
    print_table(title, situation, iterations, curves, sizeof curves / sizeof *curves)
#define QN   "'method': 'quasi_newton', 'stiffness': 'fit'"
#define SI   "'method': 'chebyshev_semi_iterative', 'stiffness': 'fit'"
#define CD   "'method': 'chebyshev_descent'"
#define NONE ", 'preconditioner': 'none'"

static void print_liu(void)
{
    static const curve figure_7[] = {
        {"constant matrix alone", QN ", 'window': 0"},
        {"chebyshev_semi_iterative, rho estimated", SI},
        {"chebyshev_semi_iterative, rho 0.95", SI ", 'rho': 0.95"},
        {"L-BFGS on it, 2 pairs", QN ", 'window': 2"},
        {"L-BFGS on it, 5 pairs", QN ", 'window': 5"},
        {"newton", "'method': 'newton'"},
    };
    static const curve figure_8[] = {
        {"constant matrix, k by eq. 11", QN ", 'window': 5"},
        {"constant matrix, k = 2 mu", "'method': 'quasi_newton', 'window': 5"},
        {"diagonal of the Hessian, every 32 iterations", "'method': 'lbfgs', 'window': 5"},
        {"diagonal of the constant matrix",
         "'method': 'lbfgs', 'window': 5, 'preconditioner': 'constant'"},
        {"identity, scaled (eq. 13)", "'method': 'lbfgs', 'window': 5" NONE},
        {"newton", "'method': 'newton'"},
    };
    static const curve figure_13[] = {
        {"0 pairs", QN ", 'window': 0"}, {"1", QN ", 'window': 1"},   {"2", QN ", 'window': 2"},
        {"3", QN ", 'window': 3"},       {"5", QN ", 'window': 5"},   {"8", QN ", 'window': 8"},
        {"10", QN ", 'window': 10"},     {"20", QN ", 'window': 20"},
    };
    static const curve figure_14[] = {
        {"backtracking", QN ", 'window': 5"},
        {"Wolfe's conditions", QN ", 'window': 5, 'line_search': 'wolfe'"},
        {"identity, backtracking", "'method': 'lbfgs', 'window': 5" NONE},
        {"identity, Wolfe's conditions",
         "'method': 'lbfgs', 'window': 5, 'line_search': 'wolfe'" NONE},
    };
    static const curve figure_16[] = {
        {"newton, Cholesky", "'method': 'newton', 'linear': 'direct'"},
        {"newton, PCG by 3 x 3 blocks (figure 16)", "'method': 'newton', 'linear': 'pcg_jacobi'"},
        {"newton, PCG by the constant matrix (figure 17)", "'method': 'newton', 'linear': 'pcg'"},
        {"L-BFGS on the constant matrix, 5 pairs", QN ", 'window': 5"},
    };
    TABLE("Liu 2017, figure 7: L-BFGS and Chebyshev on the constant matrix", &BAR, 200, figure_7);
    TABLE("Liu 2017, figure 8: what a history of 5 pairs begins with", &BAR, 200, figure_8);
    TABLE("Liu 2017, figure 13: pairs that are remembered", &BAR, 200, figure_13);
    TABLE("Liu 2017, figure 14: line searches", &BAR, 200, figure_14);
    TABLE("Liu 2017, figures 16 and 17: direct and iterative solves", &BAR, 200, figure_16);
}

static void print_wang(void)
{
    static const curve figure_2[] = {
        {"gradient_descent", "'method': 'gradient_descent'" NONE},
        {"gradient_descent, Jacobi", "'method': 'gradient_descent'"},
        {"lbfgs", "'method': 'lbfgs'" NONE},
        {"lbfgs, Jacobi", "'method': 'lbfgs'"},
        {"nonlinear_cg", "'method': 'nonlinear_cg'" NONE},
        {"nonlinear_cg, Jacobi", "'method': 'nonlinear_cg'"},
        {"chebyshev_descent", CD},
        {"newton", "'method': 'newton'"},
    };
    static const curve figure_3[] = {
        {"P every iteration (that is, every look)", CD ", 'jacobi_refresh': 1"},
        {"every 16", CD ", 'jacobi_refresh': 16"},
        {"every 32", CD},
        {"every 96", CD ", 'jacobi_refresh': 96"},
        {"once a step", CD ", 'jacobi_refresh': 10000"},
    };
    static const curve figure_4[] = {
        {"diagonal of the constant matrix", CD ", 'preconditioner': 'constant'"},
        {"diagonal of the Hessian", CD},
    };
    static const curve figure_5[] = {
        {"no momentum", CD ", 'rho': 1e-9"},
        {"one phase, rho 0.9", CD ", 'rho': 0.9"},
        {"one phase, rho from inertia and P", CD},
        {"two phases, tuned to 96 iterations", CD ", 'phases': 2, 'tune': 1"},
        {"four phases, tuned to 96 iterations", CD ", 'phases': 4, 'tune': 1"},
    };
    TABLE("Wang 2016, figure 2: methods with and without Jacobi", &TWO, 200, figure_2);
    TABLE("Wang 2016, figure 2: the same", &BAR, 200, figure_2);
    TABLE("Wang 2016, figure 3: how often P is made", &BAR, 200, figure_3);
    TABLE("Wang 2016, figure 4: Jacobi of projective dynamics, and of the Hessian", &ARAP, 200,
          figure_4);
    TABLE("Wang 2016, figure 5: phases of rho", &BAR, 96, figure_5);
}

/* Wang 2016, figure 6: the mean over steps of log10 of the error, each step from the converged run's
 * state. */
static void print_guesses(void)
{
    static const char *const names[] = {"position", "velocity", "acceleration", "step", "best"};
    enum { NAMES = sizeof names / sizeof *names, AFTER = 4 };
    static const int64_t after[AFTER] = {0, 16, 32, 96};
    int steps = fine ? 60 : 20;
    pl_run *reference = open_reference(&BOX), *best = open_reference(&BOX), *r[NAMES];
    double sum[NAMES][AFTER] = {{0}};
    for (int n = 0; n < NAMES; n++) {
        char solver[96];
        snprintf(solver, sizeof solver, CD ", 'initial_guess': '%s'", names[n]);
        r[n] = open_situation(&BOX, solver, 96, "0");
    }
    for (int k = 0; k < steps; k++) {
        step_from(reference, best);
        double minimum = best->metrics.objective, start = NAN;
        for (int n = 0; n < NAMES; n++) {
            step_from(reference, r[n]);
            start = n == 0 ? r[n]->metrics.detail[0].objective : start;
            for (int a = 0; a < AFTER; a++)
                sum[n][a] += log10(fmax(error_at(&r[n]->metrics, after[a], minimum, start), 1e-14));
        }
        pl_run_frames(reference, 1);
    }
    printf(
        "\nWang 2016, figure 6: initial guesses, mean of log10 of the error over %d steps\n  %s\n"
        "  %-46s %6s %6d %6d %6d iterations\n",
        steps, BOX.what, "after", "0", 16, 32, 96);
    for (int n = 0; n < NAMES; n++) {
        printf("  %-46s", names[n]);
        for (int a = 0; a < AFTER; a++)
            printf(" %6.2f", sum[n][a] / steps);
        puts("");
        pl_run_close(r[n]);
    }
    pl_run_close(reference);
    pl_run_close(best);
}

int main(void)
{
    const char *wanted = getenv("PLIANT_LONG");
    fine = wanted && strcmp(wanted, "1") == 0;
    print_liu();
    print_wang();
    print_guesses();
    return 0;
}
