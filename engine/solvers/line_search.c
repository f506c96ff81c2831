/* Line searches of the descent methods: backtracking to Armijo's condition (Liu 2017, algorithm 1),
 * or Wolfe's two conditions,
 *
 *     e(x + alpha d) <= e(x) + 0.3 alpha g.d,     |g(x + alpha d).d| <= c |g.d|
 *
 * (Nocedal and Wright 2006, section 3.5). The second is looked for in a bracket: its lower end goes
 * down enough and is still falling, its upper end does not go down enough or rises. Where both ends
 * have a slope the next trial is where a straight line between the slopes is zero, kept away from
 * the ends; where the upper end is outside of the energy's domain, the middle; without an upper end,
 * twice as far, or up to ten times where the slopes say so. */
#include "engine/solvers/descent.h"

#include "engine/clock.h"

#include <math.h>

/* Armijo's fraction of the predicted decrease, and what a rejected step is multiplied by: Liu's. */
static const double ARMIJO = 0.3, SHRINK = 0.5;
/* Shorter steps are not tried. */
static const double SHORTEST = 1e-12;
/* Trials of a search for Wolfe's conditions: 2^-30 of a bracket is small enough to go on with. */
enum { TRIALS = 30 };

/* Whether a trial goes down enough. Where energies differ by rounding only, their difference is
 * taken from the slopes at both ends, alpha (g.d + g'.d) / 2, which makes Armijo's condition
 * g'.d <= (2 * 0.3 - 1) g.d (Hager and Zhang 2005, "approximate Wolfe"). */
static bool goes_down(const pl_descent *d, double alpha, const pl_trial_sums *trial)
{
    if (!isfinite(trial->objective))
        return false;
    double change = trial->objective - d->objective;
    if (fabs(change) <= pl_descent_noise(d->objective, d->energy_noise))
        return trial->slope <= (2 * ARMIJO - 1) * d->slope;
    return change <= ARMIJO * alpha * d->slope;
}

/* A search under way. */
typedef struct search {
    pl_descent *d;
    const pl_stage *stage;
    const double *x;
    double *x_new, *gradient;
    double alpha;
    pl_trial_sums sums; /* at alpha */
} search;

static void try_step(search *s, double alpha)
{
    pl_trial trial = {.x = s->x,
                      .d = s->d->d,
                      .alpha = alpha,
                      .x_new = s->x_new,
                      .gradient = s->gradient,
                      .g = s->d->g};
    s->alpha = alpha;
    s->sums = s->d->backend->ops->trial(s->d->backend, s->stage, &trial);
}

static bool backtrack(search *s)
{
    for (double alpha = s->d->law->first(s->d); alpha >= SHORTEST; alpha *= SHRINK) {
        try_step(s, alpha);
        if (goes_down(s->d, alpha, &s->sums))
            return true;
    }
    return false;
}

/* The zero of a straight line through the slopes at both ends, a tenth of the bracket inside. */
static double between(double lo, double slope_lo, double hi, double slope_hi)
{
    if (!isfinite(slope_hi) || !(slope_hi > slope_lo))
        return (lo + hi) / 2;
    double at = lo - slope_lo * (hi - lo) / (slope_hi - slope_lo), edge = 0.1 * (hi - lo);
    return fmin(fmax(at, lo + edge), hi - edge);
}

static double beyond(double lo, double slope_lo, double alpha, double slope)
{
    double at = slope > slope_lo ? alpha - slope * (alpha - lo) / (slope - slope_lo) : INFINITY;
    return fmin(fmax(at, 2 * alpha), 10 * alpha);
}

static bool search_wolfe(search *s)
{
    double lo = 0, slope_lo = s->d->slope, hi = INFINITY, slope_hi = NAN;
    double alpha = s->d->law->first(s->d);
    for (int k = 0; k < TRIALS && alpha >= SHORTEST; k++) {
        try_step(s, alpha);
        double slope = s->sums.slope;
        bool down = goes_down(s->d, alpha, &s->sums);
        if (down && fabs(slope) <= s->d->law->curvature * fabs(s->d->slope))
            return true;
        if (!down || slope > 0) {
            hi = alpha;
            slope_hi = isfinite(s->sums.objective) ? slope : NAN;
        } else {
            double next = isfinite(hi) ? 0 : beyond(lo, slope_lo, alpha, slope);
            lo = alpha;
            slope_lo = slope;
            if (!isfinite(hi)) {
                alpha = next;
                continue;
            }
        }
        alpha = between(lo, slope_lo, hi, slope_hi);
    }
    /* No flat enough place, but one that is lower. */
    if (lo > 0)
        try_step(s, lo);
    return lo > 0 || (isfinite(hi) && backtrack(s));
}

bool pl_descent_search(pl_descent *d, const pl_stage *stage, const double *x, double *x_new,
                       double *gradient)
{
    double start = pl_clock_ms();
    search s = {.d = d, .stage = stage, .x = x, .x_new = x_new, .gradient = gradient};
    bool wolfe = d->law->always_wolfe ||
                 (d->law->curvature > 0 && d->model->solver.line_search == PL_LINE_SEARCH_WOLFE);
    pl_swap_rows(&d->g, &d->g_old);
    bool found = wolfe ? search_wolfe(&s) : backtrack(&s);
    if (found) {
        d->alpha = s.alpha;
        d->slope_old = d->slope;
        d->objective = d->out->objective = s.sums.objective;
        d->out->gradient_norm = s.sums.norm;
        d->trial_decrement = s.sums.decrement;
    } else {
        pl_swap_rows(&d->g, &d->g_old);
    }
    d->out->ms_local += pl_clock_ms() - start;
    return found;
}
