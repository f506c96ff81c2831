/* Line searches of the descent methods: backtracking to Armijo's condition (Liu 2017, algorithm 1), or Wolfe's two
 * conditions,
 *
 *     e(x + alpha d) <= e(x) + 1e-4 alpha g.d,     |g(x + alpha d).d| <= c |g.d|
 *
 * (Nocedal and Wright 2006, section 3.5). The second is searched for in a bracket: its lower end goes down enough
 * and is still falling; its upper end does not go down enough, or rises. If both ends have a slope, the next trial
 * is the zero of a straight line between the slopes, kept away from the ends. If the upper end is outside the
 * energy's domain, it is the middle. Without an upper end, it is twice as far, or up to ten times if the slopes say
 * so. An end that stays twice counts with half its slope (Illinois): next to the wall of a logarithm, the other end
 * would otherwise barely move.
 *
 * A small c is for conjugate directions, which pay off if the objective is nearly quadratic along them: the second
 * trial is then the minimum. If two trials did not come close, it is not quadratic, and c = 0.5 is enough: on
 * bodies far from rest, a step took 3 to 8 evaluations before, and got no lower. */
#include "engine/solvers/descent.h"

#include "engine/clock.h"

#include <math.h>

/* Armijo's fraction of the predicted decrease, and the factor on a rejected step: Liu's. */
static const double ARMIJO = 0.3, SHRINK = 0.5;
/* The fraction in Wolfe's first condition, and c of the second after the first trials. */
static const double WOLFE = 1e-4, LOOSE = 0.5;
enum { STRICT_TRIALS = 2 };
/* Shorter steps are not tried. */
static const double SHORTEST = 1e-12;
/* Maximum trials of a search for Wolfe's conditions: 2^-30 of a bracket is small enough. */
enum { TRIALS = 30 };

/* True if a trial goes down enough, by a fraction f of what the slope predicts. If energies differ only by
 * rounding, their difference is taken from the slopes at both ends, alpha (g.d + g'.d) / 2, which turns the
 * condition into g'.d <= (2 f - 1) g.d (Hager and Zhang 2005, "approximate Wolfe"). */
static bool goes_down(const pl_descent *d, double alpha, const pl_trial_sums *trial, double f)
{
    if (!isfinite(trial->objective))
        return false;
    double change = trial->objective - d->objective;
    if (fabs(change) <= pl_descent_noise(d->backend->ops, d->objective, d->energy_noise))
        return trial->slope <= (2 * f - 1) * d->slope;
    return change <= f * alpha * d->slope;
}

/* A search in progress. */
typedef struct search {
    pl_descent *d;
    const pl_backend_stage *stage;
    const pl_array *x;
    pl_array *x_new, *gradient;
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
    s->sums = s->d->backend->ops->descent->trial(s->d->backend, s->stage, &trial);
}

static bool backtrack(search *s)
{
    for (double alpha = s->d->law->first(s->d); alpha >= SHORTEST; alpha *= SHRINK) {
        try_step(s, alpha);
        if (goes_down(s->d, alpha, &s->sums, ARMIJO))
            return true;
    }
    return false;
}

/* The zero of a straight line through the slopes at both ends, kept a tenth of the bracket inside. */
static double interpolate(double lo, double slope_lo, double hi, double slope_hi)
{
    if (!isfinite(slope_hi) || !(slope_hi > slope_lo))
        return (lo + hi) / 2;
    double at = lo - slope_lo * (hi - lo) / (slope_hi - slope_lo), edge = 0.1 * (hi - lo);
    return fmin(fmax(at, lo + edge), hi - edge);
}

static double extrapolate(double lo, double slope_lo, double alpha, double slope)
{
    double at = slope > slope_lo ? alpha - slope * (alpha - lo) / (slope - slope_lo) : INFINITY;
    return fmin(fmax(at, 2 * alpha), 10 * alpha);
}

/* The bracket on a line: its lower and its upper end, and which of them moved last. */
typedef struct bracket {
    double lo, slope_lo, hi, slope_hi;
    int moved; /* -1, 1; 0: neither */
} bracket;

static void move_end(bracket *b, const search *s, bool up)
{
    if (up) {
        b->slope_lo *= b->moved == 1 ? 0.5 : 1;
        b->hi = s->alpha;
        b->slope_hi = isfinite(s->sums.objective) ? s->sums.slope : NAN;
    } else {
        b->slope_hi *= b->moved == -1 ? 0.5 : 1;
        b->lo = s->alpha;
        b->slope_lo = s->sums.slope;
    }
    b->moved = up ? 1 : -1;
}

static bool search_wolfe(search *s)
{
    bracket b = {0, s->d->slope, INFINITY, NAN, 0};
    double alpha = s->d->law->first(s->d);
    for (int k = 0; k < TRIALS && alpha >= SHORTEST; k++) {
        try_step(s, alpha);
        double slope = s->sums.slope, c = s->d->law->curvature;
        bool down = goes_down(s->d, alpha, &s->sums, WOLFE);
        if (down && fabs(slope) <= (k < STRICT_TRIALS ? c : fmax(c, LOOSE)) * fabs(s->d->slope))
            return true;
        bool up = !down || slope > 0, open = !up && !isfinite(b.hi);
        double next = open ? extrapolate(b.lo, b.slope_lo, alpha, slope) : 0;
        move_end(&b, s, up);
        alpha = open ? next : interpolate(b.lo, b.slope_lo, b.hi, b.slope_hi);
    }
    /* Not flat enough, but lower. */
    if (b.lo > 0)
        try_step(s, b.lo);
    return b.lo > 0 || (isfinite(b.hi) && backtrack(s));
}

bool pl_descent_search(pl_descent *d, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *x_new, pl_array *gradient)
{
    double start = pl_clock_ms();
    search s = {.d = d, .stage = stage, .x = x, .x_new = x_new, .gradient = gradient};
    bool wolfe = d->law->always_wolfe ||
                 (d->law->curvature > 0 && d->model->solver.line_search == PL_LINE_SEARCH_WOLFE);
    pl_rows_swap(&d->g, &d->g_old);
    bool found = wolfe ? search_wolfe(&s) : backtrack(&s);
    if (found) {
        d->alpha = s.alpha;
        d->slope_old = d->slope;
        d->slope_end = s.sums.slope;
        d->objective = d->out->objective = s.sums.objective;
        d->out->gradient_norm = s.sums.norm;
        d->trial_decrement = s.sums.decrement;
    } else {
        pl_rows_swap(&d->g, &d->g_old);
    }
    d->out->ms_local += pl_clock_ms() - start;
    return found;
}
