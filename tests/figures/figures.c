/* figures - the plots of Brown 2018, figures 3, 6, 7 and 8, from Pliant's runs.
 *
 *     figures [DIR]      DIR/figure3.svg and figure3-residuals.svg, ... (default figures-out)
 *
 * The plotted values are also printed, run by run. The runs are those of tests/physics.
 */
#include "clients/cli/draw/chart.h"
#include "tests/support/scene_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 600, VERTICES_MAX = 16, HALVINGS = 7 };

/* A run, a row a frame and one of its start. */
typedef struct record {
    const char *name;
    int64_t count;
    double time[ROWS_MAX], energy[ROWS_MAX], angular[ROWS_MAX], speed[ROWS_MAX];
    double taken[ROWS_MAX], residual[ROWS_MAX], iterations[ROWS_MAX];
} record;

static const char *folder = "figures-out";

static void note(record *out, const pl_run *r, int c)
{
    const pl_metrics *m = &r->metrics;
    int64_t k = out->count++;
    out->time[k] = pl_state_time(r->state);
    out->energy[k] = m->kinetic + m->elastic;
    out->angular[k] = m->angular[c];
    out->speed[k] = sqrt(m->kinetic);
    out->taken[k] = m->dissipated;
    out->residual[k] = k ? m->gradient_norm : NAN;
    out->iterations[k] = k ? (double)m->iterations : NAN;
}

/* Every frame of a scene; `c`: the axis of its angular momentum. */
static record run(const char *name, int c, const char *scene)
{
    record out = {.name = name};
    pl_run *r = pl_run_open(1, scene);
    pl_state_measure(r->model, r->state, &r->metrics);
    note(&out, r, c);
    while (out.count <= r->scene.time.steps && out.count < ROWS_MAX) {
        pl_run_frames(r, 1);
        note(&out, r, c);
    }
    pl_run_close(r);
    int64_t end = out.count - 1;
    printf("  %-34s %4lld steps, %3.0f iterations in the last: energy %8.4g -> %8.4g J", name,
           (long long)end, out.iterations[end], out.energy[0], out.energy[end]);
    if (fabs(out.angular[0]) > 1e-9)
        printf(", angular momentum %+.3f %%", 100 * (out.angular[end] / out.angular[0] - 1));
    printf("\n");
    fflush(stdout);
    return out;
}

static bool draw(const pl_chart *chart, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    if (pl_chart_write(chart, path) != PL_OK) {
        fprintf(stderr, "figures: %s: %s\n", path, strerror(errno));
        return false;
    }
    printf("  -> %s\n", path);
    return true;
}

static bool draw_residuals(const char *title, const char *name, record *const *runs, int32_t count)
{
    pl_chart chart = {.title = title,
                      .subtitle = "what each step's solve left, and its iterations",
                      .panels = 2,
                      .series_count = count,
                      .x_label = {"time, s", "time, s"},
                      .y_label = {"norm of the gradient, N", "iterations"},
                      .log_y = {true, false}};
    for (int32_t k = 0; k < count; k++)
        chart.series[k] = (pl_chart_series){.name = runs[k]->name,
                                            .count = runs[k]->count,
                                            .x = {runs[k]->time, runs[k]->time},
                                            .y = {runs[k]->residual, runs[k]->iterations}};
    return draw(&chart, name);
}

/* Dissipation without the second-order correction, as the paper's figures have it, and with. */
#define PLAIN ", 'second_order': false"
static const char *const CORRECTED = ", 'second_order': true";

/* ---- figure 3 ---- */

/* Pendulums that bend, let go level; coefficients such that the first swing is damped alike. */
static bool figure_3(void)
{
    static const struct {
        const char *name, *damping;
    } POWERS[] = {{"undamped", ""},
                  {"p = 0", "'power': 0, 'smoothing': 0.02, 'coefficient': 2000"},
                  {"p = 1", "'power': 1, 'coefficient': 2200"},
                  {"p = 2", "'power': 2, 'coefficient': 2800"},
                  {"p = 3", "'power': 3, 'coefficient': 3000"}};
    enum { COUNT = sizeof POWERS / sizeof *POWERS };
    static record runs[COUNT];
    record *list[COUNT];
    printf("figure 3: elastic pendulums damped by powers of the rate of stretch\n");
    pl_chart chart = {.title = "Power-law damping of an elastic pendulum",
                      .subtitle = "Brown 2018, figure 3: TR-BDF2 at 20 ms",
                      .panels = 2,
                      .series_count = COUNT,
                      .x_label = {"time, s", "time, s"},
                      .y_label = {"root of the kinetic energy, J^1/2", "taken by damping, J"}};
    for (int k = 0; k < COUNT; k++) {
        char scene[2048];
        snprintf(scene, sizeof scene,
                 "{'pliant': 1, 'time': {'step': 0.02, 'duration': 8, 'integrator': 'tr_bdf2'},"
                 " 'solver': {'method': 'quasi_newton', 'iterations': 300, 'tolerance': 1e-4},"
                 " 'materials': {'m': {'model': 'corotated', 'young': 3e5, 'poisson': 0.3%s%s%s}},"
                 " 'bodies': [{'mesh': {'box': {'size': [1, 0.2, 0.2], 'cells': [5, 1, 1]}}}],"
                 " 'pins': [{'select': {'side': '-x'}}]}",
                 k ? ", 'damping': {'model': 'power_law', " : "", POWERS[k].damping,
                 k ? PLAIN "}" : "");
        runs[k] = run(POWERS[k].name, 2, scene);
        list[k] = &runs[k];
        chart.series[k] = (pl_chart_series){.name = runs[k].name,
                                            .count = runs[k].count,
                                            .x = {runs[k].time, runs[k].time},
                                            .y = {runs[k].speed, runs[k].taken}};
    }
    return draw(&chart, "figure3") &&
           draw_residuals("Power-law damping: residuals", "figure3-residuals", list, COUNT);
}

/* ---- figures 6 and 7 ---- */

/* The energy and angular momentum that remain, or their difference from the first. */
static bool draw_kept(const char *title, const char *subtitle, const char *name, bool change,
                      record *const *runs, int32_t count)
{
    static double shown[PL_CHART_SERIES][2][ROWS_MAX];
    pl_chart chart = {
        .title = title,
        .subtitle = subtitle,
        .panels = 2,
        .series_count = count,
        .x_label = {"time, s", "time, s"},
        .y_label = {change ? "change of energy, of the first" : "energy, of the first",
                    change ? "change of angular momentum, of the first"
                           : "angular momentum, of the first"},
        .log_y = {change, change}};
    for (int32_t k = 0; k < count; k++) {
        record *r = runs[k];
        for (int64_t i = 0; i < r->count; i++) {
            double part[2] = {r->energy[i] / r->energy[0], r->angular[i] / r->angular[0]};
            for (int c = 0; c < 2; c++)
                shown[k][c][i] = change ? fmax(fabs(part[c] - 1), i ? 1e-7 : NAN) : part[c];
        }
        chart.series[k] = (pl_chart_series){.name = r->name,
                                            .count = r->count,
                                            .x = {r->time, r->time},
                                            .y = {shown[k][0], shown[k][1]}};
    }
    return draw(&chart, name);
}

/* NAME.svg, NAME-changes.svg, NAME-residuals.svg. */
static bool draw_all(const char *title, const char *subtitle, const char *name, record *runs,
                     int32_t count)
{
    record *list[PL_CHART_SERIES];
    char changes[64], residuals[64];
    for (int32_t k = 0; k < count; k++)
        list[k] = &runs[k];
    snprintf(changes, sizeof changes, "%s-changes", name);
    snprintf(residuals, sizeof residuals, "%s-residuals", name);
    return draw_kept(title, subtitle, name, false, list, count) &&
           draw_kept(title, subtitle, changes, true, list, count) &&
           draw_residuals(title, residuals, list, count);
}

/* A beam that spins at 3 rad/s, stretched as that holds it, and swings along itself at 6 rad/s. */
static bool figure_6(void)
{
    static const struct {
        const char *name, *integrator;
        double h;
    } CASES[] = {{"backward Euler, 20 ms", "backward_euler", 0.02},
                 {"BDF2, 20 ms", "bdf2", 0.02},
                 {"TR-BDF2, 40 ms", "tr_bdf2", 0.04},
                 {"trapezoidal, 20 ms", "trapezoidal", 0.02},
                 {"implicit midpoint, 20 ms", "implicit_midpoint", 0.02}};
    enum { COUNT = sizeof CASES / sizeof *CASES };
    static record runs[COUNT];
    printf("figure 6: an undamped beam that spins and stretches\n");
    for (int k = 0; k < COUNT; k++) {
        char scene[2048];
        snprintf(scene, sizeof scene,
                 "{'pliant': 1, 'time': {'step': %g, 'duration': 10, 'integrator': '%s'},"
                 " 'gravity': [0, 0, 0],"
                 " 'solver': {'method': 'newton', 'iterations': 60, 'tolerance': 1e-11},"
                 " 'materials': {'m': {'young': 14590, 'poisson': 0.3, 'density': 1000}},"
                 " 'bodies': [{'mesh': {'box': {'size': [2, 0.4, 0.4], 'cells': [5, 1, 1]}},"
                 "   'initial': {'angular_velocity': [0, 3, 0],"
                 "               'shape': {'stretched': [1.2, 0.95, 0.95]}}}]}",
                 CASES[k].h, CASES[k].integrator);
        runs[k] = run(CASES[k].name, 1, scene);
    }
    return draw_all("An undamped beam that spins and stretches",
                    "Brown 2018, figure 6: TR-BDF2 with twice the step of the others", "figure6",
                    runs, COUNT);
}

static bool figure_7(void)
{
    static const char *const CASES[][2] = {
        {"undamped", ""},
        {"Rayleigh", ", 'damping': {'model': 'rayleigh', 'beta': 0.02" PLAIN "}"},
        {"Rayleigh, nonrigid",
         ", 'damping': {'model': 'rayleigh', 'beta': 0.02, 'momentum': 'nonrigid'" PLAIN "}"},
        {"Rayleigh, velocity gradient",
         ", 'damping': {'model': 'rayleigh', 'beta': 0.02, 'momentum': 'velocity_gradient'" PLAIN
         "}"}};
    enum { COUNT = sizeof CASES / sizeof *CASES };
    static record runs[COUNT];
    printf("figure 7: a damped beam, its momentum kept and not\n");
    for (int k = 0; k < COUNT; k++) {
        char scene[2048];
        snprintf(scene, sizeof scene,
                 "{'pliant': 1, 'time': {'step': 0.04, 'steps': 150, 'integrator': 'tr_bdf2'},"
                 " 'gravity': [0, 0, 0],"
                 " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-10},"
                 " 'materials': {'m': {'model': 'corotated', 'young': 1e5, 'poisson': 0.3%s}},"
                 " 'bodies': [{'mesh': {'box': {'size': [2, 0.3, 0.3], 'cells': [6, 1, 1]}},"
                 "   'initial': {'angular_velocity': [0, 0, 3], 'shape': {'stretched': [1.1, "
                 "0.972, 0.972]}}}]}",
                 CASES[k][1]);
        runs[k] = run(CASES[k][0], 2, scene);
    }
    return draw_all("A beam with Rayleigh damping, with the corrections for momentum and without",
                    "Brown 2018, figure 7: TR-BDF2 at 40 ms, beta = 20 ms", "figure7", runs, COUNT);
}

/* ---- figure 8 ---- */

static void scene_8(bool beam, const char *more, int steps, int every, char *scene, size_t size)
{
    static const char *const BODIES[] = {
        " 'bodies': [{'mesh': {'vertices': [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]],"
        "   'tets': [[0, 3, 1, 2]]}, 'initial': {'velocity': [1.5, 0, 0]}}],"
        " 'pins': [{'select': {'indices': [0, 1, 2]}},"
        "   {'select': {'indices': [3]}, 'axes': ['y', 'z']}]}",
        " 'bodies': [{'mesh': {'box': {'size': [2, 0.4, 0.4], 'cells': [3, 1, 1]}},"
        "   'initial': {'shape': {'stretched': [1.05, 0.985, 0.985]}}}]}"};
    snprintf(scene, size,
             "{'pliant': 1, 'time': {'step': %.17g, 'steps': %d, 'integrator': 'tr_bdf2'},"
             " 'gravity': [0, 0, 0], 'output': {'every': %d},"
             " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-11},"
             " 'materials': {'m': {'young': %g, 'poisson': 0.3, 'density': 1000,"
             "   'damping': {%s%s}}},%s",
             0.8 / steps, steps, every, beam ? 14590.0 : 1e4,
             beam ? "'model': 'strain_rate', 'viscosity': 200" : "'model': 'rayleigh', 'beta': 0.1",
             more, BODIES[beam]);
}

/* The end of a motion; [VERTICES_MAX][3], zeros beyond its vertices. */
static void end_of(bool beam, const char *more, int steps, double *x)
{
    char scene[2048];
    scene_8(beam, more, steps, steps, scene, sizeof scene);
    pl_run *r = pl_run_open(1, scene);
    pl_run_frames(r, 1);
    memset(x, 0, 3 * VERTICES_MAX * sizeof *x);
    memcpy(x, pl_run_x(r), 3 * (size_t)pl_run_vertices(r) * sizeof *x);
    pl_run_close(r);
}

static void errors_of(bool beam, const char *more, const double *reference, double *error)
{
    for (int k = 0; k < HALVINGS; k++) {
        double x[3 * VERTICES_MAX];
        end_of(beam, more, 10 << k, x);
        error[k] = 0;
        for (int i = 0; i < 3 * VERTICES_MAX; i++)
            error[k] = fmax(error[k], fabs(x[i] - reference[i]));
    }
    printf("  %s%-24s errors %.3g to %.3g m, orders", beam ? "strain rate, " : "Rayleigh,    ",
           more == CORRECTED ? "corrected" : "as it is", error[0], error[HALVINGS - 1]);
    for (int k = 1; k < HALVINGS; k++)
        printf(" %.2f", log2(error[k - 1] / error[k]));
    printf("\n");
    fflush(stdout);
}

/* What the solves of 10 ms leave. */
static bool figure_8_residuals(void)
{
    static const char *const NAMES[] = {"Rayleigh", "Rayleigh, corrected", "strain rate",
                                        "strain rate, corrected"};
    static record runs[4];
    record *list[4];
    for (int k = 0; k < 4; k++) {
        char scene[2048];
        scene_8(k / 2, k % 2 ? CORRECTED : PLAIN, 80, 1, scene, sizeof scene);
        runs[k] = run(NAMES[k], 2, scene);
        list[k] = &runs[k];
    }
    return draw_residuals("The order of TR-BDF2 with dissipation, at 10 ms", "figure8-residuals",
                          list, 4);
}

static bool figure_8(void)
{
    double step[HALVINGS], error[2][2][HALVINGS], slope[2][2][HALVINGS];
    printf("figure 8: errors by the step, 80 ms to %.3g\n", 80.0 / (1 << (HALVINGS - 1)));
    for (int beam = 0; beam < 2; beam++) {
        double reference[3 * VERTICES_MAX];
        end_of(beam, CORRECTED, 10 << (HALVINGS + 2), reference);
        errors_of(beam, PLAIN, reference, error[beam][0]);
        errors_of(beam, CORRECTED, reference, error[beam][1]);
        for (int k = 0; k < HALVINGS; k++) {
            step[k] = 0.08 / (1 << k);
            slope[beam][0][k] = 2 * error[beam][0][0] / (1 << k);
            slope[beam][1][k] = 0.5 * error[beam][1][0] / (1 << (2 * k));
        }
    }
    pl_chart chart = {.title = "The order of TR-BDF2 with dissipation",
                      .subtitle = "Brown 2018, figure 8: left a stretching beam with strain-rate "
                                  "damping, right a tetrahedron with Rayleigh's",
                      .note = "greatest error of a vertex after 0.8 s against a step 8 times finer",
                      .panels = 2,
                      .series_count = 4,
                      .x_label = {"step, s", "step, s"},
                      .y_label = {"error, m", "error, m"},
                      .log_x = {true, true},
                      .log_y = {true, true}};
    static const char *const NAMES[] = {"as it is", "corrected", "first order", "second order"};
    for (int k = 0; k < 4; k++)
        chart.series[k] = (pl_chart_series){
            .name = NAMES[k],
            .count = HALVINGS,
            .x = {step, step},
            .y = {k < 2 ? error[1][k] : slope[1][k - 2], k < 2 ? error[0][k] : slope[0][k - 2]}};
    return draw(&chart, "figure8") && figure_8_residuals();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        folder = argv[1];
    if (argc > 2 || *folder == '-') {
        fprintf(stderr, "usage: figures [DIR]\n");
        return 2;
    }
    if (pl_make_directories(folder) != PL_OK) {
        fprintf(stderr, "figures: %s: %s\n", folder, strerror(errno));
        return 1;
    }
    return figure_3() && figure_6() && figure_7() && figure_8() ? 0 : 1;
}
