/* A step: the integrator's stages, each minimised by the solver. A step that fails leaves no trace but its time. It
 * is tried once more as two half steps, unless it ran out of memory: half the motion of pins and obstacles, four
 * times the inertia against the same elastic energy, and so a problem closer to its initial guess.
 */
#include "engine/step/stages.h"
#include "engine/model/other_steps.h"

#include "engine/clock.h"
#include "engine/model/load_forces.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Share of the energy that a step may gain before backward Euler repeats it: if a vertex landed in it, and if none
 * did. Second-order rules oscillate a little even without contact. */
static const double GAINED_LANDING = 1e-9, GAINED_ELSE = 1e-3;

/* Sets the body of a failure's vertex or element, and its id there. */
static void locate(const pl_state *s, pl_failure *failure)
{
    const pl_model *m = s->model;
    failure->step = s->step + 1;
    failure->frame = s->step / m->every; /* a partial last frame never precedes a step */
    if (failure->vertex >= 0) {
        failure->body = pl_model_body_of(m, m->first_vertex, failure->vertex);
        failure->vertex -= m->first_vertex[failure->body];
    }
    if (failure->element >= m->tets) {
        int64_t triangle = failure->element - m->tets;
        failure->body = pl_model_body_of(m, m->first_triangle, triangle);
        const int64_t *first = m->first_tet + failure->body; /* its tetrahedra come first */
        failure->element = first[1] - first[0] + triangle - m->first_triangle[failure->body];
    } else if (failure->element >= 0) {
        failure->body = pl_model_body_of(m, m->first_tet, failure->element);
        failure->element -= m->first_tet[failure->body];
    }
}

void pl_state_settle(pl_state *s)
{
    double now = (double)s->step * s->model->h;
    pl_backend_stage stage = {.scalars = {.a = s->integrator->a,
                                          .h = s->model->h,
                                          .inertia = s->model->inertia,
                                          .span = s->model->h,
                                          .time_start = now,
                                          .time_end = now},
                              .x_start = s->x,
                              .v_start = s->v,
                              .xp = s->x,
                              .x_pred = s->x};
    s->whole.backend->ops->objective->freeze(s->whole.backend, &stage);
}

static void swap(pl_array **a, pl_array **b)
{
    pl_array *t = *a;
    *a = *b;
    *b = t;
}

static void scale(pl_force *force, double by)
{
    for (int c = 0; c < 3; c++)
        force->newton[c] *= by;
}

/* The forces of pins and obstacles in the step that ends, from the gradient at its result. */
static void keep_forces(pl_state *s, const pl_stepper *by)
{
    const pl_model *m = s->model;
    const pl_backend_ops *ops = by->backend->ops;
    const pl_array *x = s->integrator->extrapolation > 1 ? s->x_stage
                                                         : s->x; /* the time it was solved for */
    for (int32_t p = 0; p < m->pin_count; p++) {
        ops->kinematics->pin_force(by->backend, p, s->gradient, s->pins[p].newton);
        scale(&s->pins[p], s->share);
    }
    s->contacts = 0;
    for (int32_t g = 0; g < m->group_count; g++) {
        if (m->group_obstacle[g] < 0)
            continue;
        pl_force *force = &s->obstacles[m->group_obstacle[g]];
        int64_t *touching = &s->touching[m->group_obstacle[g]];
        if (m->groups[g].ops->push)
            *touching = ops->measures->soft_force(by->backend, g, x, force->newton);
        else if (s->solve.multipliers)
            *touching = ops->splitting->hard_force(by->backend, g, s->solve.multipliers[g],
                                                   force->newton);
        else
            continue;
        s->contacts += *touching;
        scale(force, s->share);
    }
}

static void begin_sums(pl_state *s)
{
    s->dissipated_new = s->dissipated;
    pl_touched_begin(&s->touched_new, &s->touched);
}

/* Makes x_new, v_new, the results of the last solve and the data to remember the state. */
static void commit(pl_state *s, const pl_stepper *by, const pl_solve_result *solve,
                   bool history_known)
{
    swap(&s->x, &s->x_new);
    swap(&s->v, &s->v_new);
    pl_step_history history = s->history;
    s->history = s->history_new;
    s->history.known = history_known;
    s->history_new = history;
    by->backend->ops->memory->copy(by->backend, s->v_old, s->v_new, 3 * s->model->vertices);
    s->step++;
    s->solve = *solve;
    s->dissipated = s->dissipated_new;
    pl_touched touched = s->touched;
    s->touched = s->touched_new;
    s->touched_new = touched;
    keep_forces(s, by);
    memcpy(s->forces, s->forces_new, (size_t)s->model->loads.count * sizeof *s->forces);
}

/* Saves the memory of one stepper to s->memory. */
static bool take_memory(pl_state *s, const pl_stepper *from)
{
    s->memory.size = 0;
    s->memory.failed = false;
    pl_stepper_save(from, &s->memory);
    return !s->memory.failed;
}

/* ... and restores it into another, of the same model, so it fits. */
static void give_memory(pl_state *s, const pl_stepper *to)
{
    pl_bytes_in in = {s->memory.data, s->memory.size, false};
    pl_stepper_restore(to, &in);
}

/* Bodies touch under backward Euler only. */
static bool touches_by_euler(const pl_state *s)
{
    return s->model->touching && !s->integrator->is_euler;
}

static bool prepare_euler(pl_state *s)
{
    if (!s->euler_model && pl_model_by_euler(s->model, &s->euler_model) != PL_OK)
        return false;
    return s->euler.solver ||
           pl_stepper_create(s->euler_model, s->threads, s->whole.backend, &s->euler) == PL_OK;
}

static bool prepare_halves(pl_state *s)
{
    int64_t count = 3 * s->model->vertices;
    const pl_backend_ops *ops = s->whole.backend->ops;
    if (touches_by_euler(s) && !prepare_euler(s))
        return false;
    const pl_model *whole = touches_by_euler(s) ? s->euler_model : s->model;
    if (!s->half_model && pl_model_halve(whole, &s->half_model) != PL_OK)
        return false;
    if (!s->half.solver &&
        pl_stepper_create(s->half_model, s->threads, s->whole.backend, &s->half) != PL_OK)
        return false;
    if (!s->x_mid)
        s->x_mid = ops->memory->alloc(s->whole.backend, count);
    if (!s->v_mid)
        s->v_mid = ops->memory->alloc(s->whole.backend, count);
    if (!s->has_history_mid) {
        s->has_history_mid = true;
        if (pl_step_history_create(s->integrator, s->whole.backend, &s->history_mid) != PL_OK) {
            pl_step_history_release(s->whole.backend, &s->history_mid);
            s->has_history_mid = false;
        }
    }
    return s->x_mid && s->v_mid && s->has_history_mid;
}

__attribute__((format(printf, 2, 3))) static void report_more(pl_failure *failure,
                                                              const char *format, ...)
{
    size_t used = strlen(failure->message);
    va_list args;
    va_start(args, format);
    vsnprintf(failure->message + used, sizeof failure->message - used, format, args);
    va_end(args);
}

/* See advance_in_halves; `euler`: replaces the scene's integrator, which the caller restores. */
static pl_status advance_by_halves(pl_state *s, bool euler, pl_step_totals *totals,
                                   pl_failure *failure)
{
    give_memory(s, &s->whole); /* the failed solve's result must not be visible again */
    if (!prepare_halves(s)) {
        failure->code = PL_FAILURE_OUT_OF_MEMORY;
        report_more(failure, " Out of memory for two half steps.");
        return PL_FAILED;
    }
    give_memory(s, &s->half);
    if (euler)
        s->integrator = &pl_backward_euler;
    double h = s->model->h, step = (double)s->step;
    double start = step * h, middle = (step + 0.5) * h, end = (step + 1) * h;
    pl_solve_result first, second;
    pl_failure other = {.vertex = -1, .element = -1};
    begin_sums(s);
    const bool stays = s->model->solver.on_not_converged == PL_NOT_CONVERGED_CONTINUE;
    /* The values of a whole step ago are useless to half a step. */
    pl_step_history before = s->history;
    before.known = before.known && !s->integrator->remembers;
    pl_substep substep = {.by = &s->half,
                          .start = start,
                          .end = middle,
                          .x = s->x,
                          .v = s->v,
                          .v_old = s->v_old,
                          .history = &before,
                          .x_out = s->x_mid,
                          .v_out = s->v_mid,
                          .history_out = &s->history_mid,
                          .landing = INFINITY,
                          .by_euler = euler,
                          .stays = stays};
    bool landed;
    pl_status status = pl_stages_run(s, &substep, &first, totals, &landed, &other);
    bool half_way = status == PL_OK;
    if (half_way) {
        s->history_mid.known = true;
        substep = (pl_substep){.by = &s->half,
                               .start = middle,
                               .end = end,
                               .x = s->x_mid,
                               .v = s->v_mid,
                               .v_old = s->v,
                               .history = &s->history_mid,
                               .x_out = s->x_new,
                               .v_out = s->v_new,
                               .history_out = &s->history_new,
                               .landing = INFINITY,
                               .by_euler = euler,
                               .stays = stays};
        status = pl_stages_run(s, &substep, &second, totals, &landed, &other);
    }
    if (status != PL_OK) {
        report_more(failure, " Two half steps failed too (%s in the %s).",
                    pl_failure_name(other.code), half_way ? "second" : "first");
        if (other.code == PL_FAILURE_OUT_OF_MEMORY)
            failure->code = other.code;
        return PL_FAILED;
    }
    if (!take_memory(s, &s->half)) {
        failure->code = PL_FAILURE_OUT_OF_MEMORY;
        report_more(failure, " Out of memory to continue from two half steps.");
        return PL_FAILED;
    }
    give_memory(s, &s->whole);
    second.iterations += first.iterations;
    second.converged = first.converged && second.converged;
    commit(s, &s->half, &second, !euler && !s->integrator->remembers);
    totals->halved++;
    totals->by_euler += euler;
    return PL_OK;
}

/* Repeats a failed step as two halves. `failure` keeps the reason for the whole step's failure. */
static pl_status advance_in_halves(pl_state *s, pl_step_totals *totals, pl_failure *failure)
{
    const pl_integrator *own = s->integrator;
    pl_status status = advance_by_halves(s, touches_by_euler(s), totals, failure);
    s->integrator = own;
    return status;
}

/* ---- steps that gain energy ---- */

/* True if something other than gravity does work on the bodies. */
static bool driven(const pl_model *m)
{
    bool moves = pl_loads_any(m);
    for (int32_t p = 0; p < m->pin_count; p++)
        moves = moves || pl_motion_moves(&m->pins[p].motion);
    for (int32_t k = 0; k < m->obstacle_count; k++)
        moves = moves || pl_motion_moves(&m->own_motions[m->pin_count + k]);
    return moves;
}

typedef struct energy {
    double all; /* kinetic, elastic and of gravity, J */
    double
        scale; /* without gravity's, whose zero is arbitrary: what a gain is measured against, J */
} energy;

static energy energy_of(const pl_state *s, const pl_array *x, const pl_array *v)
{
    pl_backend *b = s->whole.backend;
    const pl_motion_sums motion = b->ops->measures->motion(b, x, v);
    const double elastic = b->ops->measures->elements(b, x).elastic;
    return (energy){motion.kinetic + motion.gravity + elastic, motion.kinetic + fabs(elastic)};
}

/* True if backward Euler, which gains no energy, must repeat the step from x, v to x_new, v_new. Contact sets the
 * velocity of a landing vertex without its neighbours; an integrator that looks back, or is half explicit, can turn
 * that into energy. A limit that becomes tight does the same. The energies of a single step cannot show the gain if
 * the integrator remembers an earlier step, or if something does work: then every landing step is repeated. */
static bool gains(const pl_state *s, bool landed)
{
    const bool works = driven(s->model);
    if (landed && (works || s->integrator->remembers))
        return true;
    if (works || !s->may_gain)
        return false;
    const energy before = energy_of(s, s->x, s->v), after = energy_of(s, s->x_new, s->v_new);
    return after.all - before.all > (landed ? GAINED_LANDING : GAINED_ELSE) * before.scale;
}

/* Repeats the step by backward Euler. The next step starts without a history. */
static pl_status advance_by_euler(pl_state *s, const pl_substep *taken, pl_step_totals *totals,
                                  pl_failure *failure)
{
    const pl_integrator *own = s->integrator;
    pl_solve_result solve;
    bool landed;
    pl_substep substep = *taken;
    substep.by = &s->euler;
    substep.landing = INFINITY;
    substep.by_euler = true;
    begin_sums(s);
    s->integrator = &pl_backward_euler;
    give_memory(s, &s->euler);
    pl_status status = pl_stages_run(s, &substep, &solve, totals, &landed, failure);
    if (status == PL_OK && take_memory(s, &s->euler)) {
        give_memory(s, &s->whole);
        commit(s, &s->euler, &solve, false);
        totals->by_euler++;
    } else if (status == PL_OK) {
        failure->code = PL_FAILURE_OUT_OF_MEMORY;
        report_more(failure, "Out of memory to keep the solver's history over a step.");
        status = PL_FAILED;
    }
    s->integrator = own;
    return status;
}

/* ---- contact under other integrators ---- */

/* True if bodies touch in the step from x to x_new, which was solved without contact between them, or touched in
 * the previous step. */
static pl_status find_touch(pl_state *s, pl_step_totals *totals, bool *touch)
{
    pl_backend *b = s->whole.backend;
    const pl_backend_stage stage = {.x_start = s->x};
    pl_contact_advance found = {.quiet = false};
    double start = pl_clock_ms();
    pl_status status = b->ops->pairs->begin(b, &stage, s->x_new);
    if (status == PL_OK)
        status = b->ops->pairs->advance(b, s->x_new, false, &found);
    *touch = !found.quiet;
    totals->rounds++;
    totals->ms_collision += pl_clock_ms() - start;
    return status;
}

/* ---- a step ---- */

/* The step by the scene's integrator. *again: it must be repeated by backward Euler. */
static pl_status advance_once(pl_state *s, const pl_substep *substep, pl_solve_result *solve,
                              pl_step_totals *totals, bool *again, pl_failure *failure)
{
    bool landed;
    *again = touches_by_euler(s) && s->touched.active > 0;
    if (*again)
        return PL_OK;
    if (touches_by_euler(s)) /* no rows of the last search take part */
        pl_contact_set_restore(s->whole.backend->ops->pairs->set(s->whole.backend), NULL, 0);
    pl_status status = pl_stages_run(s, substep, solve, totals, &landed, failure);
    *again = status == PL_OK && gains(s, landed);
    if (status == PL_OK && !*again && touches_by_euler(s))
        status = find_touch(s, totals, again);
    if (status == PL_NO_MEMORY) {
        failure->code = PL_FAILURE_OUT_OF_MEMORY;
        report_more(failure, "Out of memory for contact between bodies.");
    }
    return status == PL_OK ? PL_OK : PL_FAILED;
}

pl_status pl_state_advance(pl_state *s, pl_step_totals *totals, pl_failure *failure)
{
    pl_solve_result solve;
    pl_failure found = {.body = -1, .element = -1, .vertex = -1};
    pl_status status = PL_FAILED;
    if (!take_memory(s, &s->whole)) {
        found.code = PL_FAILURE_OUT_OF_MEMORY;
        report_more(&found, "Out of memory to keep the solver's history over a step.");
        locate(s, &found);
    } else {
        begin_sums(s);
        double start = (double)s->step * s->model->h, end = (double)(s->step + 1) * s->model->h;
        const pl_substep substep = {.by = &s->whole,
                                    .start = start,
                                    .end = end,
                                    .x = s->x,
                                    .v = s->v,
                                    .v_old = s->v_old,
                                    .history = &s->history,
                                    .x_out = s->x_new,
                                    .v_out = s->v_new,
                                    .history_out = &s->history_new,
                                    .landing = s->landing};
        bool again;
        status = advance_once(s, &substep, &solve, totals, &again, &found);
        if (status == PL_OK && again && !prepare_euler(s)) {
            found.code = PL_FAILURE_OUT_OF_MEMORY;
            report_more(&found, "Out of memory for repeating the step by backward Euler.");
            status = PL_FAILED;
        } else if (status == PL_OK && again) {
            status = advance_by_euler(s, &substep, totals, &found);
        } else if (status == PL_OK) {
            commit(s, &s->whole, &solve, true);
        }
        if (status != PL_OK) {
            locate(s, &found);
            s->solve.detail_count = 0; /* the rows were overwritten */
            /* Halves would give a different result from that of the step with enough memory. */
            if (found.code == PL_FAILURE_OUT_OF_MEMORY)
                give_memory(s, &s->whole);
            else
                status = advance_in_halves(s, totals, &found);
        }
    }
    if (status != PL_OK) {
        *failure = found;
        return PL_FAILED;
    }
    totals->steps++;
    totals->unconverged += !s->solve.converged;
    return PL_OK;
}
