#include "engine/step/stages.h"

#include "engine/clock.h"
#include "engine/step/guess.h"

#include <stdio.h>
#include <string.h>

/* A distance, m, whose square overflows once multiplied by masses and stiffnesses. */
static const double OUT_OF_RANGE = 1e100;
/* Maximum number of further solves of a stage: for friction's grips, and for multipliers. */
enum { GRIP_ROUNDS = 100, HELD_ROUNDS = 300, CONTACT_ROUNDS = 60 };
/* The same while the way to the answer is blocked. A pile of seven bodies needed more than 60. */
enum { BLOCKED_ROUNDS = 150 };
/* Contact's rows are straightened only in the first 1/STRAIGHTENED of a step's iterations. */
enum { STRAIGHTENED = 4 };
/* Grips leave about a tenth of the decrement in each round: a solve that goes further works with grips that are
 * about to change. Stopping here makes friction take a half or a third of the iterations. */
static const double ROUGH = 0.1;
/* Iterations of a round while its answer passes through a surface: minimum, even beyond a step's maximum; and
 * maximum, because rows of a blocked way may contradict each other. */
enum { EXTRA = 32, BLOCKED = 200 };
/* The factor on the bound of a solve while the way to its answer is blocked. */
static const double LOOSE = 30;

/* The vertex to report if a number is not finite. A solve spreads it over a body, so the solver's own answer
 * `found` comes after a bad prediction, given the state before it: one that is not finite, or so far off that only
 * its square is not. */
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

/* True if a stage that exhausted its iterations is accepted. Otherwise the failure names the vertex with the
 * largest gradient. */
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
             solve->imbalance > 1 ? ", which would suffice, but bodies are not in balance" : "");
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

/* Acceleration of vertices by elements at the step's start, if no previous step has left it. If an energy is
 * infinite, it does not exist: the step then begins without it. */
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

/* The scene's forces as the stage uses them: constant, from its start. */
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

/* The stage is solved, for `solved`: sets positions and velocities at its end, and the data for the next step. True
 * if a vertex has landed. */
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

/* ---- rounds ---- */

/* The solves of one stage. Each takes as fixed what the previous answer determines better. */
typedef struct rounds {
    pl_state *state;
    const pl_stepper *by;
    pl_backend_stage *stage;
    pl_array *x;
    pl_step_totals *totals;
    pl_failure *failure;
    int64_t iterations;         /* over all solves */
    pl_contact_advance contact; /* of the last answer, with contact between bodies */
} rounds;

/* Under other integrators, backward Euler repeats steps that touch (step.c). */
static bool touches(const rounds *r)
{
    return r->by->model->touching && r->state->integrator->is_euler;
}

static pl_status fail_contact(const rounds *r, pl_status status)
{
    if (status == PL_OK)
        return PL_OK;
    const bool memory = status == PL_NO_MEMORY;
    r->failure->code = memory ? PL_FAILURE_OUT_OF_MEMORY : PL_FAILURE_NOT_FINITE;
    snprintf(r->failure->message, sizeof r->failure->message, "%s",
             memory ? "Out of memory for contact between bodies."
                    : "A position is not finite, or beyond 1e18 m, in the search for contact.");
    return PL_FAILED;
}

/* A surface would be passed through, and no round has prevented it. */
static pl_status fail_intersection(const rounds *r)
{
    const pl_contact_bodies *t = r->by->model->touching;
    const pl_contact_impact *hit = &r->contact.first;
    const bool edges = hit->kind == PL_CONTACT_EDGE_EDGE;
    const pl_contact_surface *s = t->surface;
    const int32_t *second = edges ? s->edge + 2 * (int64_t)hit->feature[1]
                                  : s->triangle + 3 * (int64_t)hit->feature[1];
    const int32_t vertex = edges ? s->edge[2 * (int64_t)hit->feature[0]]
                                 : s->vertex[hit->feature[0]];
    const int32_t body[2] = {s->vertex_body[s->place[vertex]], s->vertex_body[s->place[second[0]]]};
    const int64_t *first = r->by->model->first_vertex;
    pl_failure *f = r->failure;
    f->code = PL_FAILURE_INTERSECTION;
    f->vertex = vertex;
    snprintf(
        f->message, sizeof f->message,
        "%s %lld of /bodies/%d would pass through the %s of vertices %lld, %lld%s of /bodies/%d.",
        edges ? "The edge at vertex" : "Vertex", (long long)(vertex - first[body[0]]), body[0],
        edges ? "edge" : "triangle", (long long)(second[0] - first[body[1]]),
        (long long)(second[1] - first[body[1]]), edges ? "" : ", ...", body[1]);
    const double kept = t->distance[pl_contact_bodies_at(t, body[0], body[1])];
    snprintf(
        f->advice, sizeof f->advice,
        "%sUse a smaller time.step, or a contact.thickness of %.2g m (now %.2g m); look there for "
        "pins that force surfaces into each other; or accept it with \"contact\": "
        "{\"check\": false}.",
        r->by->model->solver.automatic ? "" : "Use \"method\": \"auto\". ", 2 * kept, kept);
    return PL_FAILED;
}

/* A move so long that nearly everything comes near everything on the way. */
static pl_status fail_crowded(const rounds *r)
{
    const pl_model *m = r->by->model;
    pl_backend *b = r->by->backend;
    pl_failure *f = r->failure;
    const double most = b->ops->kinematics->farthest(b, r->stage->x_start, r->x, &f->vertex);
    const int32_t body = pl_model_body_of(m, m->first_vertex, f->vertex);
    f->code = PL_FAILURE_INTERSECTION;
    snprintf(
        f->message, sizeof f->message,
        "Vertex %lld of /bodies/%d moves %.3g m in one step, the farthest of all, and too many "
        "parts of the bodies come near each other on the way to follow them all.",
        (long long)(f->vertex - m->first_vertex[body]), body, most);
    snprintf(f->advice, sizeof f->advice,
             "Use a smaller time.step; look for bodies that begin inside an obstacle and for pins "
             "that jump; or accept what passes through with \"contact\": {\"check\": false}.");
    return PL_FAILED;
}

static pl_status solve_once(rounds *r, pl_solve_result *solve)
{
    const bool grips = r->state->x_grip && !r->by->solver->multipliers &&
                       r->by->model->solver.tolerance > 0;
    r->stage->share = grips && r->stage->loose <= 1 ? ROUGH : 0;
    pl_status status = r->by->solver->ops->solve(r->by->solver, r->stage, r->x, r->state->gradient,
                                                 solve, r->failure);
    add_work(r->totals, solve);
    r->iterations += solve->iterations;
    return status;
}

/* True if the set has rows to solve with. */
static bool near_others(const rounds *r)
{
    return pl_contact_set_rows(r->by->backend->ops->pairs->set(r->by->backend))->count > 0;
}

/* Inputs that a solve takes as fixed and its answer improves: the grip of friction's energy, which is the force
 * that presses a vertex onto an obstacle, and which from the previous step would be missing for a vertex that has
 * just landed; and the multipliers of held constraints. False: there are neither. */
static bool renew(rounds *r)
{
    pl_backend *b = r->by->backend;
    pl_state *s = r->state;
    if (!s->x_grip && !r->by->solver->multipliers)
        return false;
    if (s->x_grip)
        b->ops->memory->copy(b, s->x_grip, r->x, 3 * r->by->model->vertices);
    r->stage->x_grip = s->x_grip;
    if (r->by->solver->multipliers)
        b->ops->augmented->renew(b, r->x, r->by->solver->multipliers);
    b->ops->objective->freeze(b, r->stage);
    return true;
}

/* True if an answer is to renew the fixed inputs of the next solve: unless it needed no iteration. */
static bool goes_on(const pl_solve_result *solve)
{
    return solve->rough || (solve->converged && solve->iterations > 0);
}

/* Solves again from the answer, with renewed inputs and by the bound of the first solve, until a solve needs no
 * iteration. */
static pl_status solve_again(rounds *r, pl_solve_result *solve)
{
    const int64_t most = r->by->model->solver.iterations;
    const int last = r->by->solver->multipliers ? HELD_ROUNDS : GRIP_ROUNDS;
    r->stage->bound = solve->bound;
    for (int round = 0; goes_on(solve); round++) {
        if (round == last || r->iterations >= most) {
            solve->converged = false;
            break;
        }
        if (!renew(r))
            break;
        r->stage->iterations = most - r->iterations;
        pl_status status = solve_once(r, solve);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* ---- rounds with contact between bodies ---- */

/* Late in a step its iterations are needed for convergence, so rows stay as they are. */
static pl_status advance(rounds *r, bool keep)
{
    pl_backend *b = r->by->backend;
    const bool early = STRAIGHTENED * r->iterations <= r->by->model->solver.iterations;
    const pl_contact_keeping keeping = !keep   ? PL_CONTACT_MEASURED
                                       : early ? PL_CONTACT_STRAIGHT
                                               : PL_CONTACT_KEPT;
    double start = pl_clock_ms();
    pl_status status = fail_contact(r, b->ops->pairs->advance(b, r->x, keeping, &r->contact));
    r->totals->ms_collision += pl_clock_ms() - start;
    r->totals->rounds++;
    return status == PL_OK && r->contact.crowded ? fail_crowded(r) : status;
}

/* Iterations of a round on a blocked way, given those left in the step. */
static int64_t of_blocked(int64_t left)
{
    if (left < EXTRA)
        return EXTRA;
    return left < BLOCKED ? left : BLOCKED;
}

/* Solves and advances in turn, loosely while the way to the answer is blocked, until the answer is reached with the
 * rows with which it was solved. */
static pl_status solve_touching(rounds *r, pl_solve_result *solve)
{
    const int64_t most = r->by->model->solver.iterations;
    bool keep = false;
    int64_t before = -1;
    r->stage->bound = solve->bound;
    for (int round = 0;; round++) {
        pl_status status = advance(r, keep);
        if (status != PL_OK || r->contact.fits || (r->contact.quiet && r->stage->loose == 1))
            return status;
        const int64_t left = most - r->iterations;
        if (round >= BLOCKED_ROUNDS && !r->contact.reached)
            return fail_intersection(r);
        if (r->contact.reached && (round >= CONTACT_ROUNDS || left <= 0)) {
            solve->converged = false;
            return PL_OK;
        }
        keep = r->contact.reached;
        if (keep)
            r->stage->loose = 1;
        else if (solve->stayed || r->iterations == before)
            r->stage->loose = fmax(r->stage->loose / 4, 1);
        else if (r->stage->loose < LOOSE)
            r->stage->loose *= 2;
        r->stage->blocked = !keep;
        r->stage->iterations = keep ? left : of_blocked(left);
        renew(r);
        before = r->iterations;
        status = solve_once(r, solve);
        if (status == PL_OK && keep)
            status = solve_again(r, solve);
        /* No iteration was needed: the shortfall of gaps is within the tolerance. */
        if (status != PL_OK ||
            (keep && solve->converged && (solve->stayed || r->iterations == before)))
            return status;
    }
}

/* Computes the stage's minimum, into x, which holds the guess. */
static pl_status solve_stage(rounds *r, pl_solve_result *solve)
{
    const bool touching = touches(r);
    r->stage->loose = touching && near_others(r) ? LOOSE : 1;
    pl_status status = solve_once(r, solve);
    if (status == PL_OK && r->stage->loose == 1)
        status = solve_again(r, solve);
    if (status == PL_OK && touching)
        status = solve_touching(r, solve);
    solve->iterations = r->iterations;
    return status;
}

/* Contacts are searched for at the stage's start. */
static pl_status begin_contact(rounds *r)
{
    pl_backend *b = r->by->backend;
    if (!touches(r))
        return PL_OK;
    double start = pl_clock_ms();
    pl_status status = fail_contact(r, b->ops->pairs->begin(b, r->stage, r->stage->x_pred));
    r->totals->ms_collision += pl_clock_ms() - start;
    return status;
}

/* Effect of contacts at the answer; false: out of memory. */
static bool measure_contact(rounds *r)
{
    pl_state *s = r->state;
    pl_backend *b = r->by->backend;
    pl_contact_sums sums;
    if (fail_contact(r, b->ops->pairs->measure(b, r->x, &sums)) != PL_OK ||
        !pl_touched_set(&s->touched_new, &sums))
        return false;
    if (s->model->lists_contacts && b->ops->pairs->points(b, r->x, &s->touched_new.points) != PL_OK)
        return false;
    if (r->by->model->inertia > 0)
        s->dissipated_new.energy[PL_DISSIPATION_FRICTION] += sums.taken;
    return true;
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
        rounds r = {.state = s,
                    .by = by,
                    .stage = &stage,
                    .x = solved,
                    .totals = totals,
                    .failure = failure};
        pl_status status = begin_contact(&r);
        if (status == PL_OK) {
            pl_guess(by, &stage, o.v, k > 0 ? substep->v : substep->v_old, solved);
            status = solve_stage(&r, solve);
        }
        if (status == PL_OK && !accepted(by, s->gradient, solve, failure))
            status = PL_FAILED;
        if (status != PL_OK) {
            if (failure->code == PL_FAILURE_NOT_FINITE)
                failure->vertex = find_culprit(s, by, o.x, failure->vertex);
            return status;
        }
        *landed |= end_stage(s, substep, &o, &stage, solve, k, solved);
        if (touches(&r) && (by->backend->ops->pairs->bounce(
                                by->backend, o.v, last ? substep->v_out : s->v_stage) != PL_OK ||
                            !measure_contact(&r))) {
            fail_contact(&r, PL_NO_MEMORY);
            return PL_FAILED;
        }
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
