#include "engine/step/stages.h"

#include "engine/step/guess.h"

#include <stdio.h>
#include <string.h>

/* A way, m, whose square overflows once masses and stiffnesses are multiplied on. */
static const double OUT_OF_RANGE = 1e100;
/* Most times that a stage is solved again: for friction's grips, and for multipliers. */
enum { GRIP_ROUNDS = 100, HELD_ROUNDS = 300 };
/* What grips leave of the decrement is about a tenth a round: a solve that goes further is for grips that will be
 * others. Friction takes half as many iterations so, or a third. */
static const double ROUGH = 0.1;

/* The vertex to look at where a number is not finite. A solve spreads it over a body, so the
 * solver's own answer `found` comes after a prediction that is bad already, by the state it came
 * from: one that is not finite, or so far off that only its square is not. */
static int64_t find_culprit(const pl_state *s, const pl_stepper *by, const pl_array *x,
                            int64_t found)
{
    int64_t bad = by->backend->ops->kinematics->find_not_finite(by->backend, s->x_pred);
    if (bad >= 0)
        return bad;
    int64_t farthest;
    double most = by->backend->ops->kinematics->farthest(by->backend, s->x_pred, x, &farthest);
    return most > OUT_OF_RANGE || found < 0 ? farthest : found;
}

/* Whether a stage that ran out of iterations may stand. Where not, the vertex with the largest
 * gradient is what the failure names. */
static bool accepted(const pl_stepper *by, const pl_array *gradient, const pl_solve_result *solve,
                     pl_failure *failure)
{
    const pl_model *m = by->model;
    if (solve->converged || m->solver.tolerance == 0 ||
        m->solver.on_not_converged != PL_NOT_CONVERGED_FAIL)
        return true;
    failure->code = PL_FAILURE_NOT_CONVERGED;
    failure->vertex = by->backend->ops->objective->find_steepest(by->backend, gradient);
    snprintf(failure->message, sizeof failure->message,
             "The step did not reach tolerance %g in %d iterations (decrement %.3g%s); the vertex "
             "has the largest gradient.",
             m->solver.tolerance, m->solver.iterations, solve->decrement,
             solve->imbalance > 1 ? ", which would do, but bodies are not in balance" : "");
    snprintf(failure->advice, sizeof failure->advice,
             "%sRaise solver.iterations, use a smaller time.step, or accept it with "
             "\"on_not_converged\": \"continue\".",
             m->solver.automatic ? "" : "Use \"method\": \"auto\". ");
    return false;
}

static void add_work(pl_step_totals *totals, const pl_solve_result *solve)
{
    totals->iterations += solve->iterations;
    totals->newton_iterations += solve->newton_iterations;
    totals->ms_local += solve->ms_local;
    totals->ms_global += solve->ms_global;
    totals->ms_collision += solve->ms_collision;
}

/* What elements accelerate vertices by at the step's start, where no step before has left it. Where an
 * energy is infinite there is no such thing: the step then begins as if there were none. */
static void find_inner(pl_state *s, const pl_substep *substep, pl_array *inner)
{
    pl_backend *b = substep->by->backend;
    const pl_model *m = substep->by->model;
    b->ops->kinematics->blend(b, substep->x, -m->a * m->h, substep->v, 0, NULL, s->xp);
    const pl_backend_stage stage = {.scalars = {.a = m->a,
                                                .h = m->h,
                                                .inertia = m->inertia,
                                                .time_start = substep->start,
                                                .time_end = substep->start},
                                    .x_start = substep->x,
                                    .v_start = substep->v,
                                    .xp = s->xp,
                                    .x_pred = substep->x,
                                    .multipliers = substep->by->solver->multipliers};
    b->ops->objective->freeze(b, &stage);
    b->ops->objective->gradient(b, &stage, substep->x, NULL, s->gradient);
    b->ops->contact->forces(b, &stage, NULL, substep->x, s->contact);
    b->ops->contact->inner_acceleration(b, NULL, substep->x, s->gradient, s->contact, inner);
    if (b->ops->kinematics->find_not_finite(b, inner) >= 0)
        b->ops->memory->clear(b, inner, 3 * m->vertices);
}

static pl_stage_start set_out(pl_state *s, const pl_substep *substep, int32_t k)
{
    const pl_integrator *integrator = s->integrator;
    double from = k > 0 ? integrator->end[k - 1] : 0;
    double whole = (integrator->end[k] - from) * integrator->extrapolation;
    pl_stage_start o = {.backend = substep->by->backend,
                        .known = substep->history->known,
                        .span = whole * substep->by->model->h,
                        .x = k > 0 ? s->x_stage : substep->x,
                        .v = k > 0 ? s->v_stage : substep->v,
                        .inner = substep->history->known ? substep->history->inner
                                                         : substep->history_out->inner,
                        .xp = s->xp,
                        .stationary = s->stationary,
                        .vp = s->vp,
                        .x_pred = s->x_pred};
    /* A second stage looks back at the first one's start. */
    const pl_step_history *behind = k > 0 ? substep->history_out : substep->history;
    o.x_back = behind->x;
    o.v_back = behind->v;
    return o;
}

static double end_of(const pl_substep *substep, double end)
{
    return end == 1 ? substep->end : substep->start + end * substep->by->model->h;
}

static pl_backend_stage stage_of(const pl_state *s, const pl_substep *substep,
                                 const pl_stage_start *o, int32_t k)
{
    const pl_integrator *integrator = s->integrator;
    const pl_model *m = substep->by->model;
    double from = k > 0 ? integrator->end[k - 1] : 0;
    return (pl_backend_stage){
        .scalars = {.a = integrator->a,
                    .h = m->h,
                    .inertia = m->inertia,
                    .span = o->span / integrator->extrapolation,
                    .time_start = k > 0 ? end_of(substep, from) : substep->start,
                    .time_end = end_of(substep, integrator->end[k]),
                    .extrapolation = integrator->extrapolation,
                    .carry_fraction = integrator->a * m->h / o->span},
        .x_start = o->x,
        .v_start = o->v,
        .xp = integrator->is_euler ? o->x : o->xp,
        .stationary = integrator->is_euler ? o->x : o->stationary,
        .x_pred = s->x_pred,
        .multipliers = substep->by->solver->multipliers,
        .load = s->load,
        .stays = substep->stays};
}

/* The scene's forces as the stage takes them: constant, by where it begins. */
static void load_stage(pl_state *s, const pl_substep *substep, const pl_stage_start *o, int32_t k,
                       double time)
{
    pl_backend *b = substep->by->backend;
    if (!s->load)
        return;
    b->ops->kinematics->evaluate_loads(b, time, o->x, o->v, s->load, s->forces_new);
    double within = s->integrator->a * substep->by->model->h;
    if (pl_integrator_is_theta(s->integrator, k, o->known))
        b->ops->kinematics->blend(b, s->load, o->span / within - 1, s->load, 0, NULL, s->load);
}

/* The stage is solved, for `solved`: positions and velocities at its end, and what comes after it
 * is to know. True if a vertex has landed. */
static bool end_stage(pl_state *s, const pl_substep *substep, const pl_stage_start *o,
                      const pl_backend_stage *stage, const pl_solve_result *solve, int32_t k,
                      pl_array *solved)
{
    const pl_integrator *integrator = s->integrator;
    pl_backend *b = substep->by->backend;
    const pl_model *m = substep->by->model;
    bool last = k + 1 == integrator->stages, landed = false;
    pl_array *v = last ? substep->v_out : s->v_stage, *x = solved;
    integrator->finish(o, k, solved, v);
    if (integrator->extrapolation > 1) {
        x = substep->x_out;
        b->ops->kinematics->blend(b, solved, 0, solved, integrator->extrapolation - 1, o->x, x);
        b->ops->kinematics->place_pins(b, substep->end, x);
    }
    if (integrator->looks_back) {
        b->ops->memory->copy(b, substep->history_out->x, o->x, 3 * m->vertices);
        b->ops->memory->copy(b, substep->history_out->v, o->v, 3 * m->vertices);
    }
    const bool all = !integrator->is_euler || substep->by_euler;
    if (m->obstacle_count > 0 && (all || (m->restitution && m->inertia > 0))) {
        const pl_contact_end end = {.u = solve->multipliers,
                                    .all = all,
                                    .x = solved,
                                    .x_end = x,
                                    .v_start = o->v,
                                    .v = v,
                                    .x_back = substep->history_out->x,
                                    .v_back = substep->history_out->v,
                                    .landing = substep->landing};
        landed = b->ops->contact->velocities(b, stage, &end);
    }
    if (!integrator->is_euler && m->pin_count > 0)
        b->ops->contact->pin_velocities(b, pl_stage_touch_time(&stage->scalars), o->span, v);
    if (last && integrator->forces) {
        b->ops->contact->forces(b, stage, solve->multipliers, solved, s->contact);
        b->ops->contact->inner_acceleration(b, stage, solved, s->gradient, s->contact,
                                            substep->history_out->inner);
    }
    return landed;
}

/* What a solve takes as given and its answer x tells better: the grip of friction's energy, which is the force
 * that presses a vertex on an obstacle, of the step before where what has just landed would have none; and
 * the multipliers of held constraints. */
static void renew(pl_state *s, const pl_stepper *by, pl_backend_stage *stage, const pl_array *x)
{
    pl_backend *b = by->backend;
    if (s->x_grip)
        b->ops->memory->copy(b, s->x_grip, x, 3 * by->model->vertices);
    stage->x_grip = s->x_grip;
    if (by->solver->multipliers)
        b->ops->augmented->renew(b, x, by->solver->multipliers);
    b->ops->objective->freeze(b, stage);
}

/* Whether what a solve takes as given is to be renewed by its answer: unless it needed no iteration. */
static bool goes_on(const pl_solve_result *solve)
{
    return solve->rough || (solve->converged && solve->iterations > 0);
}

/* The stage's minimum, into x, which has the guess. It is solved again with what the answer has renewed, from
 * there and by the bound of the first, until no iteration is needed. */
static pl_status solve_stage(pl_state *s, const pl_stepper *by, pl_backend_stage *stage,
                             pl_array *x, pl_solve_result *solve, pl_step_totals *totals,
                             pl_failure *failure)
{
    const pl_solver_settings *settings = &by->model->solver;
    const bool held = by->solver->multipliers != NULL;
    if (s->x_grip && !held && settings->tolerance > 0)
        stage->share = ROUGH;
    pl_status status = by->solver->ops->solve(by->solver, stage, x, s->gradient, solve, failure);
    add_work(totals, solve);
    int64_t iterations = solve->iterations, most = settings->iterations;
    if (!s->x_grip && !held)
        return status;
    const int rounds = held ? HELD_ROUNDS : GRIP_ROUNDS;
    stage->bound = solve->bound;
    for (int round = 0; status == PL_OK && goes_on(solve); round++) {
        if (round == rounds || iterations >= most) {
            solve->converged = false;
            break;
        }
        renew(s, by, stage, x);
        stage->iterations = most - iterations;
        status = by->solver->ops->solve(by->solver, stage, x, s->gradient, solve, failure);
        add_work(totals, solve);
        iterations += solve->iterations;
    }
    solve->iterations = iterations;
    return status;
}

pl_status pl_stages_run(pl_state *s, const pl_substep *substep, pl_solve_result *solve,
                        pl_step_totals *totals, bool *landed, pl_failure *failure)
{
    const pl_integrator *integrator = s->integrator;
    const pl_stepper *by = substep->by;
    *landed = false;
    bool converged = true, known = substep->history->known;
    *solve = (pl_solve_result){0};
    if (!known && (integrator->forces || integrator->remembers))
        find_inner(s, substep, substep->history_out->inner);
    for (int32_t k = 0; k < integrator->stages; k++) {
        bool last = k + 1 == integrator->stages;
        pl_stage_start o = set_out(s, substep, k);
        integrator->predict(&o, k);
        load_stage(s, substep, &o, k,
                   k > 0 ? end_of(substep, integrator->end[k - 1]) : substep->start);
        pl_backend_stage stage = stage_of(s, substep, &o, k);
        by->backend->ops->objective->freeze(by->backend, &stage);
        pl_array *solved = last && !(integrator->extrapolation > 1) ? substep->x_out : s->x_stage;
        pl_guess(by, &stage, o.v, k > 0 ? substep->v : substep->v_old, solved);
        pl_status status = solve_stage(s, by, &stage, solved, solve, totals, failure);
        if (status == PL_OK && !accepted(by, s->gradient, solve, failure))
            status = PL_FAILED;
        if (status != PL_OK) {
            if (failure->code == PL_FAILURE_NOT_FINITE)
                failure->vertex = find_culprit(s, by, o.x, failure->vertex);
            return status;
        }
        *landed |= end_stage(s, substep, &o, &stage, solve, k, solved);
        const bool theta = pl_integrator_is_theta(integrator, k, known);
        pl_dissipate_friction(&s->dissipated_new, by, &stage, solve->multipliers, solved, o.v,
                              last ? substep->v_out : s->v_stage,
                              theta ? stage.scalars.a * stage.scalars.h : o.span,
                              !integrator->is_euler);
        if (last)
            pl_dissipate(&s->dissipated_new, by, integrator, solved);
        converged = converged && solve->converged;
        s->share = pl_integrator_is_theta(integrator, k, known) ? stage.scalars.carry_fraction : 1;
    }
    solve->converged = converged;
    return PL_OK;
}
