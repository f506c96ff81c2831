/* auto: L-BFGS on the constant matrix, and Newton's method where that is the slower, in one descent: the
 * same x, objective, line search and stopping test.
 *
 * An iteration of L-BFGS costs one solve with a factor that is there; one of Newton Hessians and a factor
 * of their sum, or conjugate gradients: `dearer` times as much, 5 to 100. Newton takes few, as many as the
 * last times. So L-BFGS goes on for as long as Newton would take; then while at its rate, log(first /
 * least decrement) an iteration, it would be done sooner, but no longer than twice that, nor than half of
 * the iterations that there are. Where it finds no way down it hands over at once. Where Newton gets nowhere
 * in MOST iterations, far from any minimum, L-BFGS has its turn again.
 *
 * Patience is learned: where Newton took less than L-BFGS's rate had promised, half as many iterations go by
 * before the next stage's L-BFGS is judged; where it took more, twice as many. The same holds where rows of
 * contact push, with a limit of its own.
 *
 * A stage is solved more than once where friction's grips follow its answer (step/stages.c). Counts are of the
 * stage, and so is Newton's turn.
 *
 * All this is by counts and decrements, never by the clock: the same scene goes the same way on every machine.
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
/* Iterations that L-BFGS gets where rows of contact push: at the least, and at the most as a share of those that
 * there are. */
static const double AMONG_ROWS = 80, AMONG_ROWS_SHARE = 1.0 / 6;
/* Iterations of L-BFGS before which its rate says nothing. */
static const double SURE = 8;
/* The least patience, and what it is multiplied by; the most is 1. */
static const double LEAST_PATIENCE = 0.03, LESS = 0.5, MORE = 2;

/* What is learned from stage to stage. */
typedef struct learned {
    double few;      /* iterations that Newton takes, LEAST to MOST */
    double patience; /* of L-BFGS's least share of iterations, LEAST_PATIENCE to 1 */
    double among;    /* iterations of L-BFGS where rows of contact push, from AMONG_ROWS on */
} learned;

typedef struct automatic {
    void *quasi_newton, *newton; /* memories of the rules; newton's NULL until it is needed */
    bool strong;                 /* Newton's turn */
    bool refused;                /* there was no memory for Newton, and is not asked for again */
    bool alone;                  /* there is no Newton: the backend has no Hessian */
    double dearer;               /* an iteration of Newton's, in iterations of L-BFGS */
    learned now, before_stage;
    /* Of the stage under way. */
    double first;     /* the largest first decrement of its solves */
    int64_t before;   /* iterations of its solves before this one */
    int64_t strongly; /* iterations of Newton's in those */
    bool among_rows;  /* Newton came because rows of contact push */
    double promised;  /* iterations that L-BFGS would have gone on for, when it handed over */
    int64_t since;    /* the iteration at which it was the turn of the one or the other */
    double then;      /* the decrement there */
    double least;     /* of this solve: decrement so far */
} automatic;

/* What an iteration of Newton's takes in iterations of L-BFGS: within a factor of two of what was measured
 * on tetrahedra, sheets and springs of 72 to 6,559 vertices. Seconds of one core, of which the machine cancels:
 * of L-BFGS its energies and a solve; of Newton the Hessians, and a factor, whose numbers and their products grow
 * as those of the constant matrix's. */
static double estimate_ratio(const pl_model *m)
{
    const double n = (double)m->free_vertices, tets = (double)m->contributions / 12;
    const double factor = m->factor[0] ? (double)pl_factor_nonzeros(m->factor[0]) : 0;
    const double solve = 1e-5 + 5e-8 * n + 8e-10 * factor;
    const double newton = m->solver.linear == PL_LINEAR_DIRECT
                              ? factor * (1.2e-7 + 1.5e-9 * factor / n)
                              : GRADIENTS * solve;
    return (4e-7 * tets + newton) / (1.2e-8 * tets + solve);
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
    s->now = (learned){LEAST, 1, AMONG_ROWS};
    d->rule = s;
    return status;
}

static void begin(pl_descent *d)
{
    automatic *s = d->rule;
    s->least = INFINITY;
    if (d->stage->bound == 0) {
        s->strong = false;
        s->before_stage = s->now;
        s->first = s->promised = 0;
        s->among_rows = false;
        s->before = s->strongly = s->since = 0;
    }
    enter(d);
    rule_of(s)->begin(d);
    d->rule = s;
}

/* Iterations of the stage so far. */
static int64_t iterations_of(const pl_descent *d)
{
    return ((const automatic *)d->rule)->before + d->out->iterations;
}

/* How many iterations more L-BFGS would take at its rate. */
static double predict(const pl_descent *d)
{
    const automatic *s = d->rule;
    /* fmax leaves a NaN out */
    const double left = fmax(log(s->least / d->bound), log(d->out->imbalance));
    const double gone = log(s->first / s->least);
    if (!(left > 0))
        return 0;
    return gone > 0 ? left / gone * (double)iterations_of(d) : INFINITY;
}

/* Whether rows of contact have L-BFGS at its end. It follows each change of the rows that push with a history of
 * others; a factor has them in it. In seven crowded scenes 9 frames ran out of 300 iterations so, and 13 where
 * Newton came after half of them. Where Newton did not pay it comes later: a head that folds takes half the time. */
static bool is_lost_among_rows(const pl_descent *d)
{
    const automatic *s = d->rule;
    return d->lack > 0 && d->model->solver.linear == PL_LINEAR_DIRECT &&
           (double)iterations_of(d) >= s->now.among;
}

/* Newton's turn, at the point where L-BFGS stands and would go on for `promised` iterations, if there is a Newton.
 * Without memory for it the solve ends: another method's answer would be another. */
static void hand_over(pl_descent *d, double promised)
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
    s->among_rows |= is_lost_among_rows(d);
    s->promised = promised;
    s->since = iterations_of(d);
    s->then = d->out->decrement;
    enter(d);
    pl_newton_rule.begin(d);
    d->rule = s;
}

static double most_among(const pl_descent *d)
{
    return fmax(AMONG_ROWS, AMONG_ROWS_SHARE * (double)d->model->solver.iterations);
}

/* The next limit of L-BFGS among rows of contact, after Newton did not pay at `among`. */
static double later(const pl_descent *d, double among)
{
    return fmin(most_among(d), MORE * among);
}

/* L-BFGS again, from where Newton has got to, which gets nowhere either. */
static void hand_back(pl_descent *d)
{
    automatic *s = d->rule;
    s->strong = false;
    s->since = iterations_of(d);
    if (s->among_rows)
        s->now.among = later(d, s->now.among);
    enter(d);
    pl_quasi_newton_rule.forget(d);
    pl_quasi_newton_rule.precondition(d, false);
    d->rule = s;
}

/* Whether Newton would be done sooner. */
static bool is_slower(const pl_descent *d)
{
    const automatic *s = d->rule;
    /* With tolerance 0 it is so many iterations, whatever comes of them: the cheap ones. */
    if (d->model->solver.tolerance == 0)
        return false;
    if (is_lost_among_rows(d))
        return true;
    /* On a blocked way (step/stages.c) factors rarely pay: Newton gets its turn once half of the iterations are
     * used. */
    if (d->stage->loose > 1)
        return 2 * iterations_of(d) >= d->model->solver.iterations;
    /* Its factor gives multipliers their second order, without which they take tens of rounds. */
    if (d->model->multipliers > 0 && d->model->solver.linear == PL_LINEAR_DIRECT)
        return true;
    const double newton = s->now.few * s->dearer, gone = (double)(iterations_of(d) - s->since);
    return (gone > fmax(SURE, s->now.patience * newton) && predict(d) > newton) ||
           gone > 2 * newton || 2 * iterations_of(d) >= s->before + d->most;
}

/* What the stage has taught so far. */
static void end(pl_descent *d)
{
    automatic *s = d->rule;
    const learned *before = &s->before_stage;
    s->before += d->out->iterations;
    s->strongly += d->out->newton_iterations;
    if (s->strongly == 0)
        return;
    const bool paid = s->strong && (double)s->strongly * s->dearer < s->promised;
    s->now.patience = paid ? fmax(LEAST_PATIENCE, LESS * before->patience)
                           : fmin(1, MORE * before->patience);
    if (s->among_rows)
        s->now.among = paid ? fmax(AMONG_ROWS, LESS * before->among)
                            : fmax(s->now.among, later(d, before->among));
    if (s->strong)
        s->now.few = fmin(fmax(LEAST, (before->few + (double)s->strongly) / 2), MOST);
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
    s->first = fmax(s->first, d->first);
    s->least = fmin(s->least, d->out->decrement);
    if (s->strong && iterations_of(d) - s->since >= MOST && d->out->decrement > HELPS * s->then)
        hand_back(d);
    else if (!s->strong && is_slower(d))
        hand_over(d, predict(d));
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
        hand_over(d, INFINITY);
}

static void save(const pl_descent *d, pl_bytes_out *out)
{
    const learned *now = &((const automatic *)d->rule)->now;
    pl_bytes_put_f64(out, now->few);
    pl_bytes_put_f64(out, now->patience);
    pl_bytes_put_f64(out, now->among);
}

static bool restore(pl_descent *d, pl_bytes_in *in)
{
    learned was = {.few = pl_bytes_get_f64(in)};
    was.patience = pl_bytes_get_f64(in);
    /* earlier checkpoints end here; a branch may have fewer iterations */
    was.among = in->left > 0 ? fmin(pl_bytes_get_f64(in), most_among(d)) : AMONG_ROWS;
    if (in->failed || in->left != 0 || !(was.few >= LEAST && was.few <= MOST) ||
        !(was.patience >= LEAST_PATIENCE && was.patience <= 1) || !(was.among >= AMONG_ROWS))
        return false;
    ((automatic *)d->rule)->now = was;
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
