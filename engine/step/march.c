#include "engine/step/march.h"

#include "engine/step/guess.h"

#include <stdio.h>
#include <string.h>

/* A way, m, whose square overflows once masses and stiffnesses are multiplied on. */
static const double OUT_OF_RANGE = 1e100;

/* The vertex to look at where a number is not finite. A solve spreads it over a body, so the
 * solver's own answer `found` comes after a prediction that is bad already, by the state it came
 * from: one that is not finite, or so far off that only its square is not. */
static int64_t find_culprit(const pl_state *s, const pl_stepper *by, const double *x, int64_t found)
{
    int64_t bad = by->backend->ops->find_not_finite(by->backend, s->x_pred);
    if (bad >= 0)
        return bad;
    int64_t farthest;
    double most = by->backend->ops->farthest(by->backend, s->x_pred, x, &farthest);
    return most > OUT_OF_RANGE || found < 0 ? farthest : found;
}

/* Whether a stage that ran out of iterations may stand. Where not, the vertex with the largest
 * gradient is what the failure names. */
static bool accepted(const pl_stepper *by, const double *gradient, const pl_solve_result *solve,
                     pl_failure *failure)
{
    const pl_model *m = by->model;
    if (solve->converged || m->solver.tolerance == 0 ||
        m->solver.on_not_converged != PL_NOT_CONVERGED_FAIL)
        return true;
    failure->code = PL_FAILURE_NOT_CONVERGED;
    failure->vertex = by->backend->ops->find_steepest(by->backend, gradient);
    snprintf(
        failure->message, sizeof failure->message,
        "The step did not reach tolerance %g in %d iterations (decrement %.3g); the vertex has "
        "the largest gradient.",
        m->solver.tolerance, m->solver.iterations, solve->decrement);
    snprintf(failure->advice, sizeof failure->advice,
             "Raise solver.iterations, use a smaller time.step, or accept it with "
             "\"on_not_converged\": \"continue\".");
    return false;
}

static void add_work(pl_tally *tally, const pl_solve_result *solve)
{
    tally->iterations += solve->iterations;
    tally->ms_local += solve->ms_local;
    tally->ms_global += solve->ms_global;
    tally->ms_collision += solve->ms_collision;
}

/* What elements accelerate vertices by at the step's start, where no step before has left it. Where an
 * energy is infinite there is no such thing: the step then begins as if there were none. */
static void find_inner(pl_state *s, const pl_leg *leg, double *inner)
{
    pl_backend *b = leg->by->backend;
    const pl_model *m = leg->by->model;
    b->ops->blend(b, leg->x, -m->a * m->h, leg->v, 0, NULL, s->xp);
    const pl_stage stage = {.a = m->a,
                            .h = m->h,
                            .inertia = m->inertia,
                            .span = m->h,
                            .time_start = leg->start,
                            .time_end = leg->start,
                            .x_start = leg->x,
                            .v_start = leg->v,
                            .xp = s->xp,
                            .x_pred = leg->x};
    b->ops->freeze(b, &stage);
    b->ops->gradient(b, &stage, leg->x, NULL, s->gradient);
    b->ops->contact_forces(b, &stage, NULL, leg->x, s->contact);
    b->ops->inner_acceleration(b, NULL, leg->x, s->gradient, s->contact, inner);
    if (b->ops->find_not_finite(b, inner) >= 0)
        b->ops->clear(b, inner, 3 * m->vertices);
}

static pl_outset set_out(pl_state *s, const pl_leg *leg, int32_t k)
{
    const pl_integrator *integrator = s->integrator;
    double from = k > 0 ? integrator->end[k - 1] : 0;
    double whole = (integrator->end[k] - from) * integrator->beyond;
    pl_outset o = {.backend = leg->by->backend,
                   .known = leg->past->known,
                   .span = whole * leg->by->model->h,
                   .x = k > 0 ? s->x_stage : leg->x,
                   .v = k > 0 ? s->v_stage : leg->v,
                   .inner = leg->past->known ? leg->past->inner : leg->past_out->inner,
                   .xp = s->xp,
                   .still = s->still,
                   .vp = s->vp,
                   .x_pred = s->x_pred};
    /* A second stage looks back at the first one's start. */
    const pl_past *behind = k > 0 ? leg->past_out : leg->past;
    o.x_back = behind->x;
    o.v_back = behind->v;
    return o;
}

static double end_of(const pl_leg *leg, double end)
{
    return end == 1 ? leg->end : leg->start + end * leg->by->model->h;
}

static pl_stage stage_of(const pl_state *s, const pl_leg *leg, const pl_outset *o, int32_t k)
{
    const pl_integrator *integrator = s->integrator;
    const pl_model *m = leg->by->model;
    double from = k > 0 ? integrator->end[k - 1] : 0;
    return (pl_stage){.a = integrator->a,
                      .h = m->h,
                      .inertia = m->inertia,
                      .span = o->span / integrator->beyond,
                      .time_start = k > 0 ? end_of(leg, from) : leg->start,
                      .time_end = end_of(leg, integrator->end[k]),
                      .x_start = o->x,
                      .v_start = o->v,
                      .xp = integrator->plain ? o->x : o->xp,
                      .beyond = integrator->beyond,
                      .slide = integrator->a * m->h / o->span,
                      .still = integrator->plain ? o->x : o->still,
                      .x_pred = s->x_pred,
                      .load = s->load};
}

/* The scene's forces as the stage takes them: constant, by where it begins. */
static void load_stage(pl_state *s, const pl_leg *leg, const pl_outset *o, int32_t k, double time)
{
    pl_backend *b = leg->by->backend;
    if (!s->load)
        return;
    b->ops->evaluate_loads(b, time, o->x, o->v, s->load, s->forces_new);
    double within = s->integrator->a * leg->by->model->h;
    if (pl_integrator_is_theta(s->integrator, k, o->known))
        b->ops->blend(b, s->load, o->span / within - 1, s->load, 0, NULL, s->load);
}

/* The stage is solved, for `solved`: positions and velocities at its end, and what comes after it
 * is to know. */
static void end_stage(pl_state *s, const pl_leg *leg, const pl_outset *o, const pl_stage *stage,
                      const pl_solve_result *solve, int32_t k, double *solved)
{
    const pl_integrator *integrator = s->integrator;
    pl_backend *b = leg->by->backend;
    const pl_model *m = leg->by->model;
    bool last = k + 1 == integrator->stages;
    double *v = last ? leg->v_out : s->v_stage, *x = solved;
    integrator->finish(o, k, solved, v);
    if (integrator->beyond > 1) {
        x = leg->x_out;
        b->ops->blend(b, solved, 0, solved, integrator->beyond - 1, o->x, x);
        b->ops->place_pins(b, leg->end, x);
    }
    if (integrator->looks_back) {
        b->ops->copy(b, leg->past_out->x, o->x, 3 * m->vertices);
        b->ops->copy(b, leg->past_out->v, o->v, 3 * m->vertices);
    }
    if (m->obstacle_count > 0 && (!integrator->plain || (m->restitution && m->inertia > 0))) {
        const pl_contact_end end = {.u = solve->multipliers,
                                    .all = !integrator->plain,
                                    .x = solved,
                                    .x_end = x,
                                    .v_start = o->v,
                                    .v = v,
                                    .x_back = leg->past_out->x,
                                    .v_back = leg->past_out->v};
        b->ops->contact_velocities(b, stage, &end);
    }
    if (!integrator->plain && m->pin_count > 0)
        b->ops->pin_velocities(b, pl_stage_touch_time(stage), o->span, v);
    if (last && integrator->forces) {
        b->ops->contact_forces(b, stage, solve->multipliers, solved, s->contact);
        b->ops->inner_acceleration(b, stage, solved, s->gradient, s->contact, leg->past_out->inner);
    }
}

pl_status pl_march(pl_state *s, const pl_leg *leg, pl_solve_result *solve, pl_tally *tally,
                   pl_failure *failure)
{
    const pl_integrator *integrator = s->integrator;
    const pl_stepper *by = leg->by;
    bool converged = true, known = leg->past->known;
    *solve = (pl_solve_result){0};
    if (!known && (integrator->forces || integrator->remembers))
        find_inner(s, leg, leg->past_out->inner);
    for (int32_t k = 0; k < integrator->stages; k++) {
        bool last = k + 1 == integrator->stages;
        pl_outset o = set_out(s, leg, k);
        integrator->predict(&o, k);
        load_stage(s, leg, &o, k, k > 0 ? end_of(leg, integrator->end[k - 1]) : leg->start);
        pl_stage stage = stage_of(s, leg, &o, k);
        by->backend->ops->freeze(by->backend, &stage);
        double *solved = last && !(integrator->beyond > 1) ? leg->x_out : s->x_stage;
        pl_guess(by, &stage, o.v, k > 0 ? leg->v : leg->v_old, solved);
        pl_status status = by->solver->ops->solve(by->solver, &stage, solved, s->gradient, solve,
                                                  failure);
        add_work(tally, solve);
        if (status == PL_OK && !accepted(by, s->gradient, solve, failure))
            status = PL_FAILED;
        if (status != PL_OK) {
            if (failure->code == PL_FAILURE_NOT_FINITE)
                failure->vertex = find_culprit(s, by, o.x, failure->vertex);
            return status;
        }
        end_stage(s, leg, &o, &stage, solve, k, solved);
        const bool theta = pl_integrator_is_theta(integrator, k, known);
        pl_dissipate_friction(&s->dissipated_new, by, &stage, solve->multipliers, solved, o.v,
                              last ? leg->v_out : s->v_stage, theta ? stage.a * stage.h : o.span,
                              !integrator->plain);
        if (last)
            pl_dissipate(&s->dissipated_new, by, integrator, solved);
        converged = converged && solve->converged;
        s->share = pl_integrator_is_theta(integrator, k, known) ? stage.slide : 1;
    }
    solve->converged = converged;
    return PL_OK;
}
