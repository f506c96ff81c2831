/* auto: L-BFGS on the constant matrix, and Newton's method where that is faster, in one descent: the same x,
 * objective, line search and stopping test.
 *
 * An iteration of L-BFGS costs one solve with an existing factor. One of Newton costs Hessians and a factor of
 * their sum, or conjugate gradients: `dearer` times as much, 5 to 100. Newton takes few iterations, as many as in
 * recent solves. So L-BFGS runs for as long as Newton would take, and then as long as its rate, log(first / least
 * decrement) per iteration, promises an earlier end, but no longer than twice that, nor than half of the available
 * iterations. If L-BFGS finds no way down, it hands over at once. If Newton makes no progress in MOST iterations,
 * far from any minimum, L-BFGS takes over again.
 *
 * Patience is learned. If Newton took less than L-BFGS's rate had promised, the next stage judges L-BFGS after half
 * as many iterations; if it took more, after twice as many. The same holds where rows of contact push, with a
 * separate limit.
 *
 * A stage is solved more than once if friction's grips follow its answer (step/stages.c). Counts are per stage, and
 * so is Newton's turn.
 *
 * All decisions use counts and decrements, never the clock: the same scene takes the same path on every machine.
 *
 * Newton's arrays and the pattern of H are created when first needed. If the backend has no Hessian, L-BFGS runs
 * alone.
 *
 * Descent does not support hard constraints other than held ones (model/groups/held_links.c): for a scene with
 * others, auto is `admm` (scene/carries.h). */
#include "engine/solvers/descent.h"

#include <math.h>
#include <stdlib.h>

/* Newton's iterations: minimum and maximum estimate. The maximum also limits Newton's turn, which must bring the
 * decrement down to HELPS of its value. GRADIENTS: conjugate gradients per iteration. */
enum { LEAST = 4, MOST = 20, GRADIENTS = 20 };
static const double HELPS = 0.1;
/* Iterations of L-BFGS where rows of contact push: minimum, and maximum as a share of the available ones. */
static const double AMONG_ROWS = 80, AMONG_ROWS_SHARE = 1.0 / 6;
/* Iterations of L-BFGS before which its rate is meaningless. */
static const double SURE = 8;
/* The least patience, and its factors; the maximum is 1. */
static const double LEAST_PATIENCE = 0.03, LESS = 0.5, MORE = 2;

/* Learned from stage to stage. */
typedef struct learned {
    double few;      /* number of iterations of Newton, LEAST to MOST */
    double patience; /* factor on the minimum share of L-BFGS, LEAST_PATIENCE to 1 */
    double among;    /* iterations of L-BFGS where rows of contact push, at least AMONG_ROWS */
} learned;

typedef struct automatic {
    void *quasi_newton, *newton; /* memories of the rules; newton's NULL until needed */
    bool strong;                 /* Newton's turn */
    bool refused;                /* out of memory for Newton, which is not tried again */
    bool alone;                  /* there is no Newton: the backend has no Hessian */
    double dearer;               /* cost of a Newton iteration, in iterations of L-BFGS */
    learned now, before_stage;
    /* The current stage. */
    double first;     /* the largest first decrement of its solves */
    int64_t before;   /* iterations of its solves before this one */
    int64_t strongly; /* iterations of Newton's in those */
    bool among_rows;  /* Newton took over because rows of contact push */
    double promised;  /* further iterations that L-BFGS expected when it handed over */
    int64_t since;    /* iteration of the last handover */
    double then;      /* the decrement there */
    double least;     /* of this solve: lowest decrement so far */
} automatic;

/* Cost of a Newton iteration in iterations of L-BFGS: within a factor of two of measurements on tetrahedra, sheets
 * and springs with 72 to 6,559 vertices. It is a ratio of seconds on one core, in which the machine cancels. L-BFGS
 * costs its energies and a solve; Newton costs the Hessians and a factor, whose numbers and their products scale
 * like those of the constant matrix. Where every step is direct, L-BFGS has longer, because a step that lands is often
 * one that Newton leaves only slowly. */
static double estimate_ratio(const pl_model *m)
{
    const double tets = (double)m->contributions / 12;
    const double solve = pl_newton_gradient_seconds(m), factor = pl_newton_factor_seconds(m);
    if (pl_newton_is_direct(m))
        return (4e-7 * tets + 0.68 * factor) / (1.2e-8 * tets + solve);
    const double gradients = GRADIENTS * solve;
    const double newton = m->solver.linear == PL_LINEAR_AUTO ? fmin(factor, gradients) : gradients;
    return (3e-7 * tets + newton) / (4e-8 * tets + solve);
}

/* Lends a rule its memory for the duration of a call. */
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

/* Number of further iterations that L-BFGS needs at its rate. */
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

static bool can_factor(const pl_descent *d)
{
    const pl_linear_kind linear = d->model->solver.linear;
    return linear == PL_LINEAR_DIRECT || linear == PL_LINEAR_AUTO;
}

/* True if rows of contact exhaust L-BFGS. After each change of the pushing rows it works with a history of the
 * previous ones, whereas a factor contains the new ones. In seven crowded scenes, 9 frames exhausted 300 iterations
 * without this, and 13 if Newton took over after half of them. If Newton did not pay off, it takes over later next
 * time: a head that folds then takes half the time. */
static bool is_lost_among_rows(const pl_descent *d)
{
    const automatic *s = d->rule;
    return d->lack > 0 && can_factor(d) && (double)iterations_of(d) >= s->now.among;
}

/* Starts Newton's turn at the current point of L-BFGS, which expects `promised` further iterations, if there is a
 * Newton. Out of memory, the solve ends, because another method would give another answer. */
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

/* The next limit of L-BFGS among rows of contact, after Newton did not pay off at `among`. */
static double later(const pl_descent *d, double among)
{
    return fmin(most_among(d), MORE * among);
}

/* Returns to L-BFGS from Newton's current point, where Newton makes no progress either. */
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

/* True if Newton would finish sooner. */
static bool is_slower(const pl_descent *d)
{
    const automatic *s = d->rule;
    /* With tolerance 0 the number of iterations is fixed: use the cheap ones. */
    if (d->model->solver.tolerance == 0)
        return false;
    if (is_lost_among_rows(d))
        return true;
    /* On a blocked way (step/stages.c) factors rarely pay off: Newton gets its turn once half of the iterations are
     * used. */
    if (d->stage->loose > 1)
        return 2 * iterations_of(d) >= d->model->solver.iterations;
    /* Its factor gives multipliers their second order, without which they take tens of rounds. */
    if (d->model->multipliers > 0 && can_factor(d))
        return true;
    const double newton = s->now.few * s->dearer, gone = (double)(iterations_of(d) - s->since);
    return (gone > fmax(SURE, s->now.patience * newton) && predict(d) > newton) ||
           gone > 2 * newton || 2 * iterations_of(d) >= s->before + d->most;
}

/* Learns from the finished stage. */
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

/* First L-BFGS without its history, then Newton, then Newton's last resort. */
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
