/* auto: L-BFGS on the constant matrix, and Newton's method where that is the slower, in one descent: the
 * same x, objective, line search and stopping test.
 *
 * An iteration of L-BFGS costs one solve with a factor that is there; one of Newton Hessians and a factor
 * of their sum, or conjugate gradients: `dearer` times as much, 20 to 400. Newton takes few, as many as the
 * last times. So L-BFGS goes on for as long as Newton would take; then while at its rate, log(first /
 * least decrement) an iteration, it would be done sooner, but no longer than twice that, nor than half of
 * the iterations that there are. Where it finds no way down it hands over at once. Where Newton gets nowhere
 * in MOST iterations, far from any minimum, L-BFGS has its turn again. All this is by counts and
 * decrements, never by the clock: the same scene goes the same way on every machine.
 *
 * Newton's arrays and the pattern of H are made the first time that they are needed. Where the backend
 * has no Hessian L-BFGS goes on alone.
 *
 * Hard constraints are not for descent, but for held ones (model/groups/held_links.c): a scene with others
 * has `admm` for auto (scene/carries.h). */
#include "engine/solvers/descent.h"

#include <math.h>
#include <stdlib.h>

/* Newton's iterations: the least and the most to reckon with, the second also those of its turn, which must
 * bring the decrement down to HELPS of what it was. GRADIENTS: conjugate gradients of one of them. */
enum { LEAST = 4, MOST = 20, GRADIENTS = 40 };
static const double HELPS = 0.1;

typedef struct automatic {
    void *quasi_newton, *newton; /* memories of the rules; newton's NULL until it is needed */
    bool strong;                 /* Newton's turn */
    bool refused;                /* there was no memory for Newton, and is not asked for again */
    bool alone;                  /* there is no Newton: the backend has no Hessian */
    double dearer;               /* an iteration of Newton's, in iterations of L-BFGS */
    double few;                  /* iterations that Newton takes; carried from step to step */
    /* Of the solve under way. */
    double least;  /* decrement so far */
    int64_t since; /* the iteration at which it was the turn of the one or the other */
    double then;   /* the decrement there */
} automatic;

/* What an iteration of Newton's takes in iterations of L-BFGS: within a factor of three of what was measured
 * on tetrahedra and a sheet of 140 to 1,331 vertices. Seconds of one core, of which the machine cancels. */
static double estimate_ratio(const pl_model *m)
{
    double n = (double)m->free_vertices, tets = (double)m->contributions / 12;
    double factor = m->factor[0] ? (double)pl_factor_nonzeros(m->factor[0]) : 0;
    double energies = 1e-7 * tets, solve = 3e-7 * n + 16 * factor / 5e9;
    double newton = m->solver.linear == PL_LINEAR_DIRECT ? 2.5e-8 * n * n : GRADIENTS * solve;
    return (10 * energies + newton) / (energies + solve);
}

/* Lends a rule its memory for the time of a call. */
static automatic *enter(pl_descent *d)
{
    automatic *s = d->rule;
    d->rule = s->strong ? s->newton : s->quasi_newton;
    return s;
}

static const pl_descent_rule *rule_of(const automatic *s)
{
    return s->strong ? &pl_newton_rule : &pl_quasi_newton_rule;
}

static void destroy(pl_descent *d)
{
    automatic *s = d->rule;
    if (!s)
        return;
    d->rule = s->quasi_newton;
    pl_quasi_newton_rule.destroy(d);
    d->rule = s->newton;
    pl_newton_rule.destroy(d);
    d->rule = NULL;
    free(s);
}

static pl_status create(pl_descent *d)
{
    automatic *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    d->rule = NULL;
    pl_status status = pl_quasi_newton_rule.create(d);
    s->quasi_newton = d->rule;
    s->alone = !d->backend->ops->hessian;
    s->dearer = estimate_ratio(d->model);
    s->few = LEAST;
    d->rule = s;
    return status;
}

static void begin(pl_descent *d)
{
    automatic *s = d->rule;
    s->strong = false;
    s->least = INFINITY;
    s->since = 0;
    enter(d);
    pl_quasi_newton_rule.forget(d);
    d->rule = s;
}

/* Newton's turn, at the point where L-BFGS stands, if there is one to hand over to. Without memory for it the
 * solve ends: another method's answer would be another. */
static void hand_over(pl_descent *d)
{
    automatic *s = d->rule;
    if (s->alone)
        return;
    d->no_memory = s->refused;
    if (d->no_memory)
        return;
    if (!s->newton) {
        d->rule = NULL;
        s->refused = d->no_memory = pl_newton_rule.create(d) != PL_OK;
        if (d->no_memory) {
            pl_newton_rule.destroy(d);
            d->rule = s;
            return;
        }
        s->newton = d->rule;
        d->rule = s;
    }
    s->strong = true;
    s->since = d->out->iterations;
    s->then = d->out->decrement;
    enter(d);
    pl_newton_rule.begin(d);
    d->rule = s;
}

/* L-BFGS again, from where Newton has got to, which gets nowhere either. */
static void hand_back(pl_descent *d)
{
    automatic *s = d->rule;
    s->strong = false;
    s->since = d->out->iterations;
    enter(d);
    pl_quasi_newton_rule.forget(d);
    pl_quasi_newton_rule.precondition(d, false);
    d->rule = s;
}

/* How many iterations more L-BFGS would take at its rate. */
static double predict(const pl_descent *d)
{
    const automatic *s = d->rule;
    /* fmax leaves a NaN out */
    double left = fmax(log(s->least / d->bound), log(d->out->imbalance));
    double rate = log(d->first / s->least) / (double)d->out->iterations;
    return left > 0 ? left / rate : 0;
}

/* Whether Newton would be done sooner. */
static bool is_slower(const pl_descent *d)
{
    const automatic *s = d->rule;
    /* With tolerance 0 it is so many iterations, whatever comes of them: the cheap ones. */
    if (d->model->solver.tolerance == 0)
        return false;
    /* Its factor gives multipliers their second order, without which they take tens of rounds. */
    if (d->model->multipliers > 0 && d->model->solver.linear == PL_LINEAR_DIRECT)
        return true;
    double newton = s->few * s->dearer, gone = (double)(d->out->iterations - s->since);
    return (gone > newton && predict(d) > newton) || gone > 2 * newton ||
           2 * d->out->iterations >= d->most;
}

/* What the solve has taught. */
static void end(pl_descent *d)
{
    automatic *s = d->rule;
    if (s->strong)
        s->few = fmin(fmax(LEAST, (s->few + (double)d->out->newton_iterations) / 2), MOST);
}

static pl_status precondition(pl_descent *d, bool stepped)
{
    automatic *s = enter(d);
    pl_status status = rule_of(s)->precondition(d, stepped);
    d->rule = s;
    return status;
}

static void direction(pl_descent *d)
{
    automatic *s = d->rule;
    s->least = fmin(s->least, d->out->decrement);
    if (s->strong && d->out->iterations - s->since >= MOST && d->out->decrement > HELPS * s->then)
        hand_back(d);
    else if (!s->strong && is_slower(d))
        hand_over(d);
    if (d->no_memory)
        return;
    d->out->newton_iterations += s->strong;
    enter(d);
    rule_of(s)->direction(d);
    d->rule = s;
}

static bool bare(const pl_descent *d)
{
    const automatic *s = d->rule;
    pl_descent as_rule = *d;
    as_rule.rule = s->strong ? s->newton : s->quasi_newton;
    return (s->strong || s->alone) && rule_of(s)->bare(&as_rule);
}

/* L-BFGS without its history first, then Newton, then Newton's last resort. */
static void forget(pl_descent *d)
{
    automatic *s = enter(d);
    bool again = s->strong || !pl_quasi_newton_rule.bare(d);
    if (again)
        rule_of(s)->forget(d);
    d->rule = s;
    if (!again)
        hand_over(d);
}

static void save(const pl_descent *d, pl_bytes_out *out)
{
    pl_bytes_put_f64(out, ((const automatic *)d->rule)->few);
}

static bool restore(pl_descent *d, pl_bytes_in *in)
{
    double few = pl_bytes_get_f64(in);
    if (in->failed || in->left != 0 || !(few >= LEAST && few <= MOST))
        return false;
    ((automatic *)d->rule)->few = few;
    return true;
}

static const pl_descent_rule AUTO = {
    .what = "descent",
    .matrix = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .end = end,
    .forget = forget,
    .bare = bare,
    .precondition = precondition,
    .direction = direction,
    .first = pl_descent_first_is_one,
    .curvature = 0.9,
    .stays = true,
    .save = save,
    .restore = restore,
};

PL_DESCENT_SOLVER(auto, AUTO);
