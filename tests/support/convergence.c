#include "tests/support/convergence.h"
#include "tests/support/long_form.h"

#include "engine/model/model.h"
#include "engine/step/state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double MARK[MARKS] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-6};
const int64_t PLACE[PLACES] = {8, 16, 32, 64, 96};

pl_run *convergence_open(const situation *s, const char *solver, int iterations,
                         const char *tolerance)
{
    const int *cells = is_long_form() ? s->fine : s->cells;
    char scene[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(scene, sizeof scene, s->scene, cells[0], cells[1], cells[2]);
#pragma GCC diagnostic pop
    return pl_run_openf(1,
                        "{'pliant': 1, 'solver': {%s%s, 'iterations': %d, 'tolerance': %s},"
                        " 'output': {'metrics': 'iteration'}, %s}",
                        solver,
                        strstr(solver, "initial_guess") ? "" : ", 'initial_guess': 'position'",
                        iterations, tolerance, scene);
}

pl_run *convergence_reference(const situation *s)
{
    return convergence_open(s, "'method': 'newton'", 200, "1e-11");
}

bool convergence_step(const pl_run *from, pl_run *r)
{
    pl_backend *b = r->state->whole.backend;
    int64_t count = 3 * pl_run_vertices(from);
    b->ops->memory->copy(b, r->state->x, from->state->x, count);
    b->ops->memory->copy(b, r->state->v, from->state->v, count);
    b->ops->memory->copy(b, r->state->v_old, from->state->v_old, count);
    r->state->step = from->state->step;
    return pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL) == PL_OK;
}

double convergence_error(const pl_metrics *m, int64_t k, double minimum, double start)
{
    double e = m->detail[k < m->detail_count ? k : m->detail_count - 1].objective;
    return (e - minimum) / (start - minimum);
}

static void print_curve(const pl_metrics *m, double minimum, double start, const char *name,
                        curve_result *out)
{
    printf("  %-46s", name);
    for (int k = 0; k < MARKS; k++) {
        int64_t at = 0;
        while (at < m->detail_count && !(convergence_error(m, at, minimum, start) <= MARK[k]))
            at++;
        if (at < m->detail_count) {
            out->at[k] = (double)at;
            out->ms[k] = m->detail[at].ms;
            printf(" %5lld", (long long)at);
        } else {
            printf("     -");
        }
    }
    printf("  |");
    for (int k = 0; k < PLACES; k++) {
        out->error[k] = convergence_error(m, PLACE[k], minimum, start);
        printf(" %8.1e", out->error[k]);
    }
    printf("  %7.2f", m->detail[m->detail_count - 1].ms / (double)(m->detail_count - 1));
    if (isfinite(out->ms[TO_1E4]))
        printf(" %8.1f\n", out->ms[TO_1E4]);
    else
        puts("        -");
}

void convergence_table(const char *title, const situation *s, int iterations, const curve *curves,
                       int count, curve_result *results)
{
    pl_run *reference = convergence_reference(s), *best = convergence_reference(s);
    pl_run_frames(reference, s->frames);
    convergence_step(reference, best);
    double minimum = best->metrics.objective, start = best->metrics.detail[0].objective;
    printf(
        "\n%s\n  %s: %lld vertices\n  %-46s  1e-1  1e-2  1e-3  1e-4  1e-6  |    error after 8, 16, "
        "32, 64, 96 iterations     ms each, to 1e-4\n",
        title, s->what, (long long)pl_run_vertices(best), "iterations to an error of");
    for (int c = 0; c < count; c++) {
        results[c] = (curve_result){.error = {1, 1, 1, 1, 1}};
        for (int k = 0; k < MARKS; k++)
            results[c].at[k] = results[c].ms[k] = INFINITY;
        /* Newton's are dear, and few. */
        int most = strstr(curves[c].solver, "'newton'") ? 20 : iterations;
        pl_run *r = convergence_open(s, curves[c].solver, most, "0");
        bool good = true;
        for (int k = 0; good && k < s->tries; k++)
            good = convergence_step(reference, r);
        if (good)
            print_curve(&r->metrics, minimum, start, curves[c].name, &results[c]);
        else
            printf("  %-46s failed: %s\n", curves[c].name, r->failure.message);
        fflush(stdout);
        pl_run_close(r);
    }
    pl_run_close(reference);
    pl_run_close(best);
}

void convergence_outcome(const char *claim, bool holds, const char *numbers, ...)
{
    printf("  reproduced: %s - %s (", holds ? "yes" : "no ", claim);
    va_list args;
    va_start(args, numbers);
    vprintf(numbers, args);
    va_end(args);
    puts(")");
}
