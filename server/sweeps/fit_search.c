#include "server/sweeps/fit_search.h"

#include "protocol/sweep/place.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

/* Lifetime: one repetition. */
typedef struct search {
    const pl_sweep *plan;
    const pl_fit_runs *runs;
    const double *squares;
    nlopt_opt opt;
    double *point; /* the same as numbers in the scene */
    double *next;  /* owned by the caller */
    bool unknown;  /* NLopt requested a point without a run */
    bool no_memory;
} search;

/* ---- misfits ---- */

/* Squared misfits: at the minimum of a noiseless fit they are smooth, where the misfit has a corner. A failed run
 * counts as three times the worst misfit before it, so its value never changes later. */
static double *squares_of(const pl_fit_runs *runs)
{
    double *out = malloc(((size_t)runs->count + 1) * sizeof *out);
    double worst = 1;
    for (int64_t i = 0; out && i < runs->count; i++) {
        bool good = isfinite(runs->misfits[i]);
        double misfit = good ? runs->misfits[i] : 3 * worst;
        worst = good ? fmax(worst, misfit) : worst;
        out[i] = misfit * misfit;
    }
    return out;
}

static int64_t best_of(const pl_fit_runs *runs)
{
    int64_t best = -1;
    for (int64_t i = 0; i < runs->count; i++) {
        if (isfinite(runs->misfits[i]) && (best < 0 || runs->misfits[i] < runs->misfits[best])) {
            best = i;
        }
    }
    return best;
}

/* ---- the function that is minimised ---- */

static int64_t run_at(const search *s)
{
    size_t n = (size_t)s->plan->parameter_count;
    for (int64_t i = 0; i < s->runs->count; i++) {
        if (memcmp(s->runs->values + (size_t)i * n, s->point, n * sizeof *s->point) == 0) {
            return i;
        }
    }
    return -1;
}

static double evaluate(unsigned n, const double *u, double *gradient, void *context)
{
    search *s = context;
    (void)gradient; /* derivative-free methods do not use it */
    for (unsigned j = 0; j < n && !s->no_memory; j++) {
        char *text = pl_sweep_place(&s->plan->parameters[j], u[j]);
        s->no_memory = !text;
        s->point[j] = text ? strtod(text, NULL) : 0;
        free(text);
    }
    int64_t i = s->no_memory ? -1 : run_at(s);
    if (i >= 0) {
        return s->squares[i];
    }
    if (!s->unknown) {
        memcpy(s->next, u, n * sizeof *u);
    }
    s->unknown = true;
    nlopt_force_stop(s->opt);
    return HUGE_VAL;
}

/* ---- one repetition ---- */

static nlopt_algorithm algorithm_of(pl_fit_method method)
{
    static const nlopt_algorithm all[] = {
        [PL_FIT_BOBYQA] = NLOPT_LN_BOBYQA,          [PL_FIT_COBYLA] = NLOPT_LN_COBYLA,
        [PL_FIT_NELDER_MEAD] = NLOPT_LN_NELDERMEAD, [PL_FIT_SUBPLEX] = NLOPT_LN_SBPLX,
        [PL_FIT_DIRECT] = NLOPT_GN_DIRECT_L,
    };
    return all[method];
}

/* About half the distance between samples that fill the cube. */
static double first_step(const pl_sweep *plan)
{
    double step = 0.5 * pow((double)plan->samples, -1.0 / plan->parameter_count);
    return fmin(fmax(step, 0.02), 0.25);
}

static bool prepare(nlopt_opt opt, search *s)
{
    const pl_sweep *p = s->plan;
    return nlopt_set_min_objective(opt, evaluate, s) == NLOPT_SUCCESS &&
           nlopt_set_lower_bounds1(opt, 0) == NLOPT_SUCCESS &&
           nlopt_set_upper_bounds1(opt, 1) == NLOPT_SUCCESS &&
           nlopt_set_initial_step1(opt, first_step(p)) == NLOPT_SUCCESS &&
           nlopt_set_xtol_abs1(opt, p->fit->tolerance) == NLOPT_SUCCESS &&
           nlopt_set_maxeval(opt, 4 * (int)p->fit->evaluations + 100) == NLOPT_SUCCESS;
}

static void place_start(const search *s, double *u)
{
    pl_fit_runs samples = {s->plan->samples, s->runs->values, s->runs->misfits};
    int64_t best = best_of(&samples);
    for (int32_t j = 0; j < s->plan->parameter_count; j++) {
        const double *x = s->runs->values + best * s->plan->parameter_count;
        u[j] = pl_sweep_unplace(&s->plan->parameters[j], x[j]);
    }
}

static pl_fit_step outcome(const search *s, nlopt_result result)
{
    if (s->no_memory || result == NLOPT_OUT_OF_MEMORY) {
        return PL_FIT_NO_MEMORY;
    }
    if (s->unknown) {
        return s->runs->count < s->plan->fit->evaluations ? PL_FIT_RUN : PL_FIT_EXHAUSTED;
    }
    bool lost = result < 0 && result != NLOPT_ROUNDOFF_LIMITED;
    return lost                              ? PL_FIT_LOST
           : result == NLOPT_MAXEVAL_REACHED ? PL_FIT_EXHAUSTED
                                             : PL_FIT_CONVERGED;
}

static pl_fit_step repeat(search *s, double *u)
{
    double least;
    s->opt = nlopt_create(algorithm_of(s->plan->fit->method), (unsigned)s->plan->parameter_count);
    if (!s->opt) {
        return PL_FIT_NO_MEMORY;
    }
    place_start(s, u);
    pl_fit_step step = prepare(s->opt, s) ? outcome(s, nlopt_optimize(s->opt, u, &least))
                                          : PL_FIT_LOST;
    nlopt_destroy(s->opt);
    return step;
}

pl_fit_step pl_fit_search(const pl_sweep *plan, const pl_fit_runs *runs, double *next)
{
    size_t n = (size_t)plan->parameter_count;
    pl_fit_runs samples = {plan->samples, runs->values, runs->misfits};
    if (best_of(&samples) < 0) {
        return PL_FIT_LOST;
    }
    double *squares = squares_of(runs), *room = calloc(2 * n, sizeof *room);
    search s = {.plan = plan, .runs = runs, .squares = squares, .point = room, .next = next};
    pl_fit_step step = squares && room ? repeat(&s, room + n) : PL_FIT_NO_MEMORY;
    free(squares);
    free(room);
    return step;
}
