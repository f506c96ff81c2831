/* The papers' comparisons of methods on our scenes, and whether their orderings come out: Liu 2017,
 * figures 7, 8, 13, 14, 16, 17; Wang 2016, figures 2 to 6; Narain 2016, figures 2 and 6.
 * measurements.md says what differs from the papers. PLIANT_LONG=1: finer bodies. */
#include "tests/support/convergence.h"
#include "tests/support/long_form.h"

#include <math.h>
#include <stdio.h>

#define TURNED_BAR                                                                                 \
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [%d, %d, %d]}}}],"                  \
    " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"                             \
    "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]"
#define STEPS "'time': {'step': 0.0333333333333333, 'steps': 200},"

static const situation BAR = {"a bar turned at one end by 90 degrees a second, its 20th step",
                              20,
                              {16, 4, 4},
                              {24, 6, 6},
                              STEPS
                              " 'materials': {'m': {'young': 3e5, 'poisson': 0.45}}," TURNED_BAR,
                              4};

static const situation BOX = {
    "a box stretched, spun and let go with its bottom held, its 4th step",
    4,
    {6, 6, 6},
    {12, 12, 12},
    STEPS " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}},"
          " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [%d, %d, %d]}},"
          "   'initial': {'shape': {'stretched': [1.3, 0.9, 1]}, 'angular_velocity': [0, 0, 4]}}],"
          " 'pins': [{'select': {'side': '-y'}}]",
    4};

static const situation TWO = {
    "two boxes of E = 2e4 and 2e6, stretched and let go",
    1,
    {6, 6, 6},
    {12, 12, 12},
    STEPS " 'materials': {'soft': {'young': 2e4, 'poisson': 0.4},"
          "   'stiff': {'young': 2e6, 'poisson': 0.4}},"
          " 'bodies': [{'mesh': {'box': {'cells': [%d, %d, %d]}}, 'material': 'soft',"
          "   'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}},"
          "  {'mesh': {'box': {'cells': [6, 6, 6]}}, 'material': 'stiff',"
          "   'initial': {'shape': {'stretched': [1.05, 0.98, 1]}}}]",
    4};

/* Of 1e7 Pa, at the time step of Wang's dress, an eighth of 1/30 s. */
#define SPRINGS                                                                                    \
    "'time': {'step': 0.00416666666666667, 'steps': 100},"                                         \
    " 'materials': {'m': {'young': 1e7, 'area': 1e-6, 'density': 1000}},"                          \
    " 'bodies': [{'mesh': {'cloth': {'size': [1, 1], 'cells': [%d, %d], 'springs': true}},"        \
    "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 60}}}],"                            \
    " 'pins': [{'select': {'indices': [0, 16]}}], 'metadata': {'unused': %d}"
static const situation SPRINGS_HALF = {
    "a cloth of springs hung by two corners, its 60th step, from the first step length, 0.5",
    60,
    {16, 16, 0},
    {40, 40, 0},
    SPRINGS,
    1};
static const situation SPRINGS_OWN = {"the same, with the step length that each has come to",
                                      60,
                                      {16, 16, 0},
                                      {40, 40, 0},
                                      SPRINGS,
                                      4};

static const situation FALLING_BAR = {
    "a bar held at one end and let go",
    0,
    {16, 4, 4},
    {24, 6, 6},
    STEPS " 'materials': {'m': {'young': 3e5, 'poisson': 0.45}},"
          " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [%d, %d, %d]}}}],"
          " 'pins': [{'select': {'side': '-x'}}]",
    4};

#define UNTWISTING(young)                                                                          \
    "'time': {'step': 0.04, 'steps': 10}, 'gravity': [0, 0, 0], 'materials': {'m': {"              \
    "  'model': 'arap', 'young': " young ", 'poisson': 0.399, 'density': 1522}},"                  \
    " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [%d, %d, %d]}},"                    \
    "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]"
static const situation UNTWIST = {"the untwisting box of ARAP, 1e7 Pa, its 1st step of 40 ms",
                                  0,
                                  {28, 4, 4},
                                  {42, 6, 6},
                                  UNTWISTING("1e7"),
                                  4};
static const situation UNTWIST_FINE = {"the same of 5e5 Pa, finer, which untwists by a part",
                                       0,
                                       {84, 12, 12},
                                       {84, 12, 12},
                                       UNTWISTING("5e5"),
                                       4};

#define TABLE(title, situation, iterations, curves)                                                \
    convergence_table(title, situation, iterations, curves, sizeof curves / sizeof *curves, r)
#define QN   "'method': 'quasi_newton', 'stiffness': 'fit'"
#define SI   "'method': 'chebyshev_semi_iterative', 'stiffness': 'fit'"
#define CD   "'method': 'chebyshev_descent'"
#define ADMM "'method': 'admm', 'acceleration': 'none', 'relaxation': 1, 'weight_scale': "
#define NONE ", 'preconditioner': 'none'"

/* ---- Liu 2017 ---- */

static void print_liu_7(void)
{
    static const curve curves[] = {
        {"constant matrix alone", QN ", 'window': 0"},
        {"chebyshev_semi_iterative, rho estimated", SI},
        {"chebyshev_semi_iterative, rho 0.95", SI ", 'rho': 0.95"},
        {"L-BFGS on it, 2 pairs", QN ", 'window': 2"},
        {"L-BFGS on it, 5 pairs", QN ", 'window': 5"},
        {"newton", "'method': 'newton'"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Liu 2017, figure 7: L-BFGS and Chebyshev on the constant matrix", &BAR, 200, curves);
    double alone = r[0].at[TO_1E4], chebyshev = r[1].at[TO_1E4], tuned = r[2].at[TO_1E4];
    double two = r[3].at[TO_1E4], five = r[4].at[TO_1E4], newton = r[5].at[TO_1E4];
    convergence_outcome("Newton takes the fewest iterations, the matrix alone the most",
                        newton < five && five < alone && chebyshev < alone, "to 1e-4: %.0f, %.0f",
                        newton, alone);
    convergence_outcome("L-BFGS of 5 pairs is ahead of 2, and 2 of Chebyshev's method",
                        five <= two && two < fmin(chebyshev, tuned),
                        "to 1e-4: %.0f, %.0f; %.0f, and %.0f with a rho chosen by hand", five, two,
                        chebyshev, tuned);
    convergence_outcome("the others overtake Newton in time", r[4].ms[TO_1E2] < r[5].ms[TO_1E2],
                        "5 pairs to 1e-2 in %.1f ms, Newton in %.1f", r[4].ms[TO_1E2],
                        r[5].ms[TO_1E2]);
}

static void print_liu_8(void)
{
    static const curve curves[] = {
        {"constant matrix, k by eq. 11", QN ", 'window': 5"},
        {"constant matrix, k = 2 mu", "'method': 'quasi_newton', 'window': 5"},
        {"diagonal of the Hessian, every 32 iterations", "'method': 'lbfgs', 'window': 5"},
        {"diagonal of the constant matrix",
         "'method': 'lbfgs', 'window': 5, 'preconditioner': 'constant'"},
        {"identity, scaled (eq. 13)", "'method': 'lbfgs', 'window': 5" NONE},
        {"newton", "'method': 'newton'"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Liu 2017, figure 8: what a history of 5 pairs begins with", &BAR, 200, curves);
    convergence_outcome("the constant matrix is far ahead of the scaled identity",
                        2 * r[0].at[TO_1E4] < r[4].at[TO_1E4], "to 1e-4: %.0f, %.0f",
                        r[0].at[TO_1E4], r[4].at[TO_1E4]);
    convergence_outcome("and in time, its solves included", r[0].ms[TO_1E4] < r[4].ms[TO_1E4],
                        "to 1e-4: %.1f ms, %.1f ms", r[0].ms[TO_1E4], r[4].ms[TO_1E4]);
}

static void print_liu_13(void)
{
    static const curve curves[] = {
        {"0 pairs", QN ", 'window': 0"}, {"1", QN ", 'window': 1"},   {"2", QN ", 'window': 2"},
        {"3", QN ", 'window': 3"},       {"5", QN ", 'window': 5"},   {"8", QN ", 'window': 8"},
        {"12", QN ", 'window': 12"},     {"20", QN ", 'window': 20"}, {"64", QN ", 'window': 64"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Liu 2017, figure 13: pairs that are remembered", &BAR, 200, curves);
    double least = INFINITY;
    for (int k = 1; k <= 8; k++)
        least = fmin(least, r[k].at[TO_1E6]);
    convergence_outcome("5 pairs are best, to an iteration", r[4].at[TO_1E6] <= least + 1,
                        "to 1e-6: %.0f, the least %.0f", r[4].at[TO_1E6], least);
    convergence_outcome("many are only slightly worse", r[8].at[TO_1E6] <= 1.2 * least,
                        "64 pairs: %.0f", r[8].at[TO_1E6]);
}

static void print_liu_14(void)
{
    static const curve curves[] = {
        {"backtracking", QN ", 'window': 5"},
        {"Wolfe's conditions", QN ", 'window': 5, 'line_search': 'wolfe'"},
        {"identity, backtracking", "'method': 'lbfgs', 'window': 5" NONE},
        {"identity, Wolfe's conditions",
         "'method': 'lbfgs', 'window': 5, 'line_search': 'wolfe'" NONE},
    };
    curve_result r[CURVES_MAX];
    TABLE("Liu 2017, figure 14: line searches", &BAR, 200, curves);
    convergence_outcome("on the constant matrix Wolfe's conditions change little",
                        fabs(r[0].at[TO_1E6] - r[1].at[TO_1E6]) <= 2, "to 1e-6: %.0f, %.0f",
                        r[0].at[TO_1E6], r[1].at[TO_1E6]);
}

static void print_liu_16(void)
{
    static const curve curves[] = {
        {"newton, Cholesky", "'method': 'newton', 'linear': 'direct'"},
        {"newton, PCG by 3 x 3 blocks (figure 16)", "'method': 'newton', 'linear': 'pcg_jacobi'"},
        {"newton, PCG by the constant matrix (figure 17)", "'method': 'newton', 'linear': 'pcg'"},
        {"L-BFGS on the constant matrix, 5 pairs", QN ", 'window': 5"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Liu 2017, figures 16 and 17: direct and iterative solves", &BAR, 200, curves);
    convergence_outcome("L-BFGS on the constant matrix is the fastest",
                        r[3].ms[TO_1E4] <
                            fmin(fmin(r[0].ms[TO_1E4], r[1].ms[TO_1E4]), r[2].ms[TO_1E4]),
                        "to 1e-4: %.1f ms", r[3].ms[TO_1E4]);
    convergence_outcome("Newton by Jacobi's PCG is behind Newton's factor (figure 16)",
                        r[0].ms[TO_1E4] < r[1].ms[TO_1E4], "to 1e-4: %.1f ms, %.1f",
                        r[1].ms[TO_1E4], r[0].ms[TO_1E4]);
    convergence_outcome("the constant matrix is the better preconditioner (figure 17)",
                        r[2].ms[TO_1E4] < r[1].ms[TO_1E4], "to 1e-4: %.1f ms, by blocks %.1f",
                        r[2].ms[TO_1E4], r[1].ms[TO_1E4]);
}

/* ---- Wang 2016 ---- */

static void print_wang_2(const situation *s, const char *title)
{
    static const curve curves[] = {
        {"gradient_descent", "'method': 'gradient_descent'" NONE},
        {"gradient_descent, Jacobi", "'method': 'gradient_descent'"},
        {"lbfgs", "'method': 'lbfgs'" NONE},
        {"lbfgs, Jacobi", "'method': 'lbfgs'"},
        {"nonlinear_cg", "'method': 'nonlinear_cg'" NONE},
        {"nonlinear_cg, Jacobi", "'method': 'nonlinear_cg'"},
        {"chebyshev_descent", CD},
        {"chebyshev_descent, two tuned phases", CD ", 'phases': 2, 'tune': 1"},
        {"newton", "'method': 'newton'"},
        {"barzilai_borwein", "'method': 'barzilai_borwein'" NONE},
        {"barzilai_borwein, Jacobi", "'method': 'barzilai_borwein'"},
    };
    curve_result r[CURVES_MAX];
    TABLE(title, s, 200, curves);
    double cg = r[5].at[TO_1E2], ours = fmin(r[6].at[TO_1E2], r[7].at[TO_1E2]);
    convergence_outcome(
        "gradient descent is the slowest, Newton takes the fewest iterations",
        r[0].error[AFTER_96] > r[6].error[AFTER_96] &&
            r[0].error[AFTER_96] > r[4].error[AFTER_96] && r[8].at[TO_1E2] < fmin(cg, ours),
        "error after 96: %.1e, accelerated %.1e", r[0].error[AFTER_96], r[6].error[AFTER_96]);
    convergence_outcome("Jacobi's preconditioner helps gradient descent, and harms no other",
                        r[1].error[AFTER_96] < r[0].error[AFTER_96] &&
                            r[3].at[TO_1E2] <= r[2].at[TO_1E2] && cg <= r[4].at[TO_1E2],
                        "to 1e-2: L-BFGS %.0f for %.0f, CG %.0f for %.0f", r[3].at[TO_1E2],
                        r[2].at[TO_1E2], cg, r[4].at[TO_1E2]);
    convergence_outcome(
        "accelerated descent is level with nonlinear CG, within half as much again",
        ours <= 1.5 * cg, "to 1e-2: %.0f, tuned %.0f, CG %.0f; in ms %.1f, %.1f, %.1f",
        r[6].at[TO_1E2], r[7].at[TO_1E2], cg, r[6].ms[TO_1E2], r[7].ms[TO_1E2], r[5].ms[TO_1E2]);
}

static void print_wang_3(void)
{
    static const curve curves[] = {
        {"P every iteration (that is, every look)", CD ", 'jacobi_refresh': 1"},
        {"every 16", CD ", 'jacobi_refresh': 16"},
        {"every 32", CD},
        {"every 96", CD ", 'jacobi_refresh': 96"},
        {"once a step", CD ", 'jacobi_refresh': 10000"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Wang 2016, figure 3: how often P is made", &BOX, 96, curves);
    double least = INFINITY, most = 0;
    for (int k = 0; k < 5; k++) {
        least = fmin(least, r[k].at[TO_1E4]);
        most = fmax(most, r[k].at[TO_1E4]);
    }
    convergence_outcome("it hardly matters", most <= 1.1 * least,
                        "to 1e-4: from %.0f to %.0f iterations", least, most);
}

static void print_wang_4(void)
{
    static const curve curves[] = {
        {"Jacobi of projective dynamics' matrix", CD ", 'preconditioner': 'constant'"},
        {"Jacobi of the Hessian", CD},
        {"projective_dynamics itself, with its factor", "'method': 'projective_dynamics'"},
    };
    static const char TITLE[] = "Wang 2016, figure 4: projective dynamics by Jacobi, and descent";
    curve_result r[CURVES_MAX];
    TABLE(TITLE, &SPRINGS_HALF, 96, curves);
    convergence_outcome("with the same step length the Hessian's diagonal is far ahead",
                        r[1].error[AFTER_32] < 0.1 * r[0].error[AFTER_32],
                        "error after 32: %.1e, %.1e", r[1].error[AFTER_32], r[0].error[AFTER_32]);
    TABLE(TITLE, &SPRINGS_OWN, 96, curves);
    convergence_outcome("and also where the other takes a longer one",
                        r[1].error[AFTER_32] < r[0].error[AFTER_32], "error after 32: %.1e, %.1e",
                        r[1].error[AFTER_32], r[0].error[AFTER_32]);
}

static void print_wang_5(void)
{
    static const curve curves[] = {
        {"no momentum", CD ", 'rho': 1e-9"},
        {"one phase, rho 0.9", CD ", 'rho': 0.9"},
        {"one phase, rho from inertia and P", CD},
        {"two phases, tuned to 96 iterations", CD ", 'phases': 2, 'tune': 1"},
        {"four phases, tuned to 96 iterations", CD ", 'phases': 4, 'tune': 1"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Wang 2016, figure 5: phases of rho", &BAR, 96, curves);
    double none = r[0].error[AFTER_96], one = r[2].error[AFTER_96], two = r[3].error[AFTER_96],
           four = r[4].error[AFTER_96];
    convergence_outcome("momentum is far ahead of none", one < 0.1 * none,
                        "error after 96: %.1e, %.1e", one, none);
    convergence_outcome("two phases and four are ahead of one", fmax(two, four) < one,
                        "%.1e, %.1e, %.1e", two, four, one);
}

/* Wang 2016, figure 6: the mean over steps of log10 of the error, each step from the converged run's
 * state; and in how many of them constant acceleration is not behind the optimised step. */
enum { GUESSES = 5, AFTER = 4 };
typedef struct guesses {
    pl_run *reference, *best, *r[GUESSES];
    double sum[GUESSES][AFTER];
    int ahead[AFTER];
} guesses;

static const char *const GUESS[GUESSES] = {"position", "velocity", "acceleration", "step", "best"};
static const int64_t AFTER_SO_MANY[AFTER] = {0, 16, 32, 96};

static void one_step_of_guesses(guesses *g)
{
    convergence_step(g->reference, g->best);
    double minimum = g->best->metrics.objective, start = NAN, error[GUESSES][AFTER];
    for (int n = 0; n < GUESSES; n++) {
        convergence_step(g->reference, g->r[n]);
        start = n == 0 ? g->r[n]->metrics.detail[0].objective : start;
        for (int a = 0; a < AFTER; a++) {
            double e = convergence_error(&g->r[n]->metrics, AFTER_SO_MANY[a], minimum, start);
            error[n][a] = fmax(e, 1e-14);
            g->sum[n][a] += log10(error[n][a]);
        }
    }
    for (int a = 0; a < AFTER; a++)
        g->ahead[a] += error[2][a] <= error[3][a];
    pl_run_frames(g->reference, 1);
}

static void print_wang_6(const situation *s, const char *what, int steps)
{
    guesses g = {convergence_reference(s), convergence_reference(s), {NULL}, {{0}}, {0}};
    for (int n = 0; n < GUESSES; n++) {
        char solver[96];
        snprintf(solver, sizeof solver, CD ", 'initial_guess': '%s'", GUESS[n]);
        g.r[n] = convergence_open(s, solver, 96, "0");
    }
    for (int k = 0; k < steps; k++)
        one_step_of_guesses(&g);
    printf(
        "\nWang 2016, figure 6: initial guesses, mean of log10 of the error over %d steps\n  %s\n"
        "  %-46s %6s %6d %6d %6d iterations\n",
        steps, what, "after", "0", 16, 32, 96);
    for (int n = 0; n < GUESSES; n++) {
        printf("  %-46s", GUESS[n]);
        for (int a = 0; a < AFTER; a++)
            printf(" %6.2f", g.sum[n][a] / steps);
        puts("");
        pl_run_close(g.r[n]);
    }
    double position = g.sum[0][1] / steps, velocity = g.sum[1][1] / steps;
    double acceleration = g.sum[2][1] / steps;
    convergence_outcome("constant acceleration is ahead of position and velocity",
                        acceleration < fmin(position, velocity), "after 16: %.2f, %.2f, %.2f",
                        acceleration, position, velocity);
    convergence_outcome("and not behind the optimised step in most steps", 2 * g.ahead[1] > steps,
                        "after 16: in %d of %d, %.2f for %.2f; in %d at the start", g.ahead[1],
                        steps, acceleration, g.sum[3][1] / steps, g.ahead[0]);
    pl_run_close(g.reference);
    pl_run_close(g.best);
}

/* ---- Narain 2016 ---- */

/* Iterations and, of L-BFGS, time. */
static void print_narain_2(const situation *s, int32_t iterations)
{
    static const curve figure_2[] = {
        {"projective_dynamics", "'method': 'projective_dynamics'"},
        {"ADMM, w^2 = k", ADMM "2"},
        {"ADMM, w^2 = k / 4", ADMM "0.5"},
        {"L-BFGS of 10 pairs, scaled identity", "'method': 'lbfgs', 'window': 10" NONE},
    };
    curve_result r[CURVES_MAX];
    TABLE("Narain 2016, figure 2: projective dynamics, ADMM, L-BFGS", s, iterations, figure_2);
    double pd = r[0].at[TO_1E2], same = r[1].at[TO_1E2], less = r[2].at[TO_1E2];
    convergence_outcome("with w^2 = k ADMM takes nearly the steps of projective dynamics",
                        fabs(same - pd) <= 0.15 * pd, "to 1e-2: %.0f, %.0f", same, pd);
    convergence_outcome("with half the w it is ahead of it", less < pd, "to 1e-2: %.0f", less);
    convergence_outcome("L-BFGS on the identity is behind both in time",
                        r[3].ms[TO_1E2] > fmax(r[0].ms[TO_1E2], r[1].ms[TO_1E2]),
                        "to 1e-2: %.0f ms, %.0f, %.0f", r[3].ms[TO_1E2], r[0].ms[TO_1E2],
                        r[1].ms[TO_1E2]);
}

static void print_narain_6(void)
{
    static const curve figure_6[] = {
        {"w^2 = 4 k", ADMM "8"},    {"k", ADMM "2"},
        {"k / 4", ADMM "0.5"},      {"k / 16", ADMM "0.125"},
        {"k / 64", ADMM "0.03125"}, {"k / 256", ADMM "0.0078125"},
    };
    curve_result r[CURVES_MAX];
    TABLE("Narain 2016, figure 6: weights of ADMM", &UNTWIST, 400, figure_6);
    convergence_outcome("less weight is faster",
                        r[2].at[TO_1E2] < r[1].at[TO_1E2] && r[1].at[TO_1E2] < r[0].at[TO_1E2],
                        "to 1e-2: 4 k %.0f, k %.0f, k / 4 %.0f", r[0].at[TO_1E2], r[1].at[TO_1E2],
                        r[2].at[TO_1E2]);
    convergence_outcome("and too little does not converge", !(r[5].error[AFTER_96] < 1e-2),
                        "k / 256: error after 96 %.1e", r[5].error[AFTER_96]);
}

int main(void)
{
    print_liu_7();
    print_liu_8();
    print_liu_13();
    print_liu_14();
    print_liu_16();
    print_wang_2(&BAR, "Wang 2016, figure 2: methods with and without Jacobi");
    print_wang_2(&BOX, "Wang 2016, figure 2: the same");
    print_wang_2(&TWO, "Not in Wang 2016: the same where stiffness jumps by a hundred");
    print_wang_3();
    print_wang_4();
    print_wang_5();
    print_wang_6(&SPRINGS_HALF, "a cloth of springs that swings from two corners", 100);
    print_wang_6(&FALLING_BAR, "a bar held at one end and let go", is_long_form() ? 100 : 40);
    print_wang_6(&BAR, "the bar, turned at one end, from the beginning", is_long_form() ? 100 : 40);
    print_wang_6(&BOX, "the box, let go, from the beginning", is_long_form() ? 100 : 40);
    print_narain_2(&UNTWIST, 400);
    print_narain_2(&UNTWIST_FINE, 50);
    print_narain_6();
    return 0;
}
