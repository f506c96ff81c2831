/* The public interface: a state, stepped by an integrator whose stages a solver minimises on a backend. */
#include "engine/clock.h"
#include "engine/model/other_steps.h"
#include "engine/step/state.h"

#include "engine/backends/numbers.h"
#include "engine/model/build/build_model.h"
#include "engine/model/load_forces.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

pl_status pl_model_create(const pl_scene *scene, const pl_mesh *meshes, pl_model **out,
                          pl_faults *faults)
{
    double a = pl_integrator_find(scene->time.integrator)->a;
    return pl_model_build(scene, meshes, a, out, faults);
}

static const pl_solve_result NOT_SOLVED = {.iterations = 0,
                                           .objective = NAN,
                                           .primal_residual = NAN,
                                           .dual_residual = NAN,
                                           .gradient_norm = NAN,
                                           .decrement = NAN};

void pl_state_destroy(pl_state *s)
{
    if (!s)
        return;
    pl_stepper_destroy(&s->half);
    pl_stepper_destroy(&s->euler);
    pl_model_other_destroy(s->half_model);
    pl_model_other_destroy(s->euler_model);
    pl_array *arrays[] = {s->x,          s->v,       s->v_old,   s->x_new,   s->v_new, s->x_pred,
                          s->x_mid,      s->v_mid,   s->load,    s->xp,      s->vp,    s->gradient,
                          s->stationary, s->contact, s->x_stage, s->v_stage, s->x_grip};
    if (s->whole.backend) {
        pl_step_history_release(s->whole.backend, &s->history);
        pl_step_history_release(s->whole.backend, &s->history_new);
        pl_step_history_release(s->whole.backend, &s->history_mid);
    }
    for (size_t i = 0; s->whole.backend && i < sizeof arrays / sizeof *arrays; i++)
        s->whole.backend->ops->memory->release(s->whole.backend, arrays[i]);
    if (s->fetch)
        s->whole.backend->ops->fetch->destroy(s->whole.backend, s->fetch);
    free(s->shown_x);
    free(s->shown_v);
    pl_stepper_destroy(&s->whole);
    free(s->memory.data);
    free(s->pins);
    free(s->obstacles);
    free(s->penetration);
    free(s->touching);
    free(s->forces);
    free(s->forces_new);
    pl_touched_clear(&s->touched);
    pl_touched_clear(&s->touched_new);
    free(s);
}

/* True if a stage is solved again for the friction that its answer implies: obstacles that are springs, with
 * friction, whose energy takes the grip as fixed. */
static bool grips(const pl_model *m)
{
    bool springs = false;
    for (int32_t g = 0; g < m->group_count; g++)
        springs = springs || (m->group_obstacle[g] >= 0 && m->groups[g].ops->push);
    return m->friction && springs;
}

static pl_status make_stage_arrays(pl_state *s)
{
    pl_backend *b = s->whole.backend;
    pl_array **arrays[] = {&s->xp, &s->vp, &s->stationary, &s->contact, &s->x_stage, &s->v_stage};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = b->ops->memory->alloc(b, 3 * s->model->vertices);
        if (!*arrays[i])
            return PL_NO_MEMORY;
    }
    pl_status status = pl_step_history_create(s->integrator, b, &s->history);
    return status == PL_OK ? pl_step_history_create(s->integrator, b, &s->history_new) : status;
}

static bool has_constraints(const pl_model *m)
{
    bool found = m->obstacle_count > 0;
    for (int32_t g = 0; g < m->group_count; g++)
        found = found || m->groups[g].ops->hard || m->groups[g].ops->held;
    return found;
}

/* A hundredth of the speed of a fall by the bodies' extent, m/s: slower contacts settle. */
static double landing_speed(const pl_model *m)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * m->vertices; i++) {
        lo[i % 3] = fmin(lo[i % 3], m->x0[i]);
        hi[i % 3] = fmax(hi[i % 3], m->x0[i]);
    }
    double d[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
    return 0.01 * sqrt(sqrt(pl_vector_dot(m->gravity, m->gravity) * pl_vector_dot(d, d)));
}

pl_status pl_state_create(const pl_model *model, int32_t threads, pl_state **out)
{
    pl_state *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->model = model;
    s->integrator = pl_integrator_find(model->integrator);
    s->landing = s->integrator->is_euler ? INFINITY : landing_speed(model);
    s->may_gain = !s->integrator->is_euler && has_constraints(model);
    s->touched.gap = INFINITY;
    s->threads = threads;
    s->solve = NOT_SOLVED;
    pl_status status = pl_stepper_create(model, threads, NULL, &s->whole);
    pl_array **arrays[] = {&s->x, &s->v, &s->v_old, &s->x_new, &s->v_new, &s->x_pred, &s->gradient};
    for (size_t i = 0; status == PL_OK && i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = s->whole.backend->ops->memory->alloc(s->whole.backend, 3 * model->vertices);
        if (!*arrays[i])
            status = PL_NO_MEMORY;
    }
    if (status == PL_OK && !s->integrator->is_euler)
        status = make_stage_arrays(s);
    s->pins = calloc((size_t)model->pin_count + 1, sizeof *s->pins);
    s->obstacles = calloc((size_t)model->obstacle_count + 1, sizeof *s->obstacles);
    s->penetration = calloc((size_t)model->obstacle_count + 1, sizeof *s->penetration);
    s->touching = calloc((size_t)model->obstacle_count + 1, sizeof *s->touching);
    s->forces = calloc((size_t)model->loads.count + 1, sizeof *s->forces);
    s->forces_new = calloc((size_t)model->loads.count + 1, sizeof *s->forces_new);
    bool mirrored = status == PL_OK && !s->whole.backend->ops->on_host;
    if (mirrored) {
        s->shown_x = calloc(3 * (size_t)model->vertices + 1, sizeof *s->shown_x);
        s->shown_v = calloc(3 * (size_t)model->vertices + 1, sizeof *s->shown_v);
    }
    if (status == PL_OK && pl_loads_any(model))
        s->load = s->whole.backend->ops->memory->alloc(s->whole.backend, 3 * model->vertices);
    bool gripping = status == PL_OK && grips(model);
    if (gripping)
        s->x_grip = s->whole.backend->ops->memory->alloc(s->whole.backend, 3 * model->vertices);
    if (status == PL_OK &&
        ((gripping && !s->x_grip) || !s->pins || !s->obstacles || !s->penetration || !s->touching ||
         !s->forces || !s->forces_new || (pl_loads_any(model) && !s->load) ||
         (mirrored && (!s->shown_x || !s->shown_v))))
        status = PL_NO_MEMORY;
    if (status != PL_OK) {
        pl_state_destroy(s);
        return status;
    }
    pl_state_put(s, model->x0, model->v0, model->v0);
    *out = s;
    return PL_OK;
}

pl_status pl_state_set_threads(pl_state *s, int32_t threads)
{
    const pl_stepper *steppers[] = {&s->whole, &s->half, &s->euler};
    for (size_t i = 0; i < sizeof steppers / sizeof *steppers; i++)
        if (pl_stepper_set_threads(steppers[i], threads) != PL_OK) {
            while (i-- > 0)
                pl_stepper_set_threads(steppers[i], s->threads);
            return PL_NO_MEMORY;
        }
    s->threads = threads;
    return PL_OK;
}

void pl_state_enter(pl_state *s, int64_t step, const double *x, const double *v)
{
    pl_state_put(s, x, v, v); /* the velocity one step before is unknown: no acceleration */
    s->step = step;
    pl_state_settle(s);
}

void pl_state_put(pl_state *s, const double *x, const double *v, const double *v_old)
{
    pl_backend *b = s->whole.backend;
    int64_t count = 3 * s->model->vertices;
    b->ops->memory->upload(b, s->x, x, count);
    b->ops->memory->upload(b, s->v, v, count);
    b->ops->memory->upload(b, s->v_old, v_old, count);
    s->history.known = false;
    pl_state_moved(s);
}

/* ---- the host's view of it ---- */

void pl_state_moved(pl_state *s)
{
    s->shows_x = s->shows_v = false;
}

/* The host's copy of an array, updated if it is outdated; copies are not part of the state. */
static const double *shown(const pl_state *s, const pl_array *array, double *copy,
                           const bool *current)
{
    const pl_backend *b = s->whole.backend;
    if (!copy)
        return pl_numbers_read(array);
    if (!*current)
        b->ops->memory->download(s->whole.backend, copy, array, 3 * s->model->vertices);
    *(bool *)(uintptr_t)current = true;
    return copy;
}

const double *pl_state_positions(const pl_state *state)
{
    return shown(state, state->x, state->shown_x, &state->shows_x);
}
const double *pl_state_velocities(const pl_state *state)
{
    return shown(state, state->v, state->shown_v, &state->shows_v);
}

pl_status pl_state_fetch(pl_state *s, bool single, bool velocities)
{
    pl_backend *b = s->whole.backend;
    const pl_fetch_form form = {.single = single, .arrays = velocities ? 2 : 1};
    if (s->fetch && (s->fetch_form.single != form.single || s->fetch_form.arrays != form.arrays)) {
        b->ops->fetch->destroy(b, s->fetch);
        s->fetch = NULL;
    }
    if (!s->fetch && b->ops->fetch->create(b, &form, &s->fetch) != PL_OK)
        return PL_NO_MEMORY;
    s->fetch_form = form;
    b->ops->fetch->begin(b, s->fetch,
                         (const pl_array *const[PL_FETCH_ARRAYS]){s->x, velocities ? s->v : NULL});
    return PL_OK;
}

const void *pl_state_fetched(pl_state *s, bool wait)
{
    return s->whole.backend->ops->fetch->take(s->whole.backend, s->fetch, wait);
}

void pl_state_meanwhile(pl_state *s, void (*work)(void *context), void *context)
{
    if (s->whole.backend->ops->queue)
        s->whole.backend->ops->queue->meanwhile(s->whole.backend, work, context);
}

const char *pl_state_fault(const pl_state *s, bool *launching)
{
    const pl_backend *b = s->whole.backend;
    *launching = false;
    return b->ops->queue ? b->ops->queue->fault(b, launching) : NULL;
}

double pl_state_time(const pl_state *state)
{
    return (double)state->step * state->model->h;
}
int64_t pl_state_step(const pl_state *state)
{
    return state->step;
}

const pl_contact_point *pl_state_contacts(const pl_state *state, int64_t *count)
{
    *count = state->touched.points.count;
    return state->touched.points.point;
}

/* Depth of vertices in obstacles at the obstacles' current pose. */
static void measure_penetration(const pl_model *m, pl_state *s)
{
    pl_backend *b = s->whole.backend;
    if (m->obstacle_count > 0)
        b->ops->measures->depths(b, pl_state_time(s), s->x, s->penetration);
}

void pl_state_measure(const pl_model *m, pl_state *s, pl_metrics *out)
{
    *out = (pl_metrics){.frame = (s->step + m->every - 1) / m->every,
                        .time = pl_state_time(s),
                        .iterations = s->solve.iterations,
                        .unconverged = m->solver.tolerance > 0 ? 0 : -1,
                        .objective = s->solve.objective,
                        .primal_residual = s->solve.primal_residual,
                        .dual_residual = s->solve.dual_residual,
                        .gradient_norm = s->solve.gradient_norm,
                        .decrement = s->solve.decrement,
                        .imbalance = s->solve.imbalance,
                        .newton_iterations = -1,
                        .by_euler = s->integrator->is_euler ? -1 : 0,
                        .contacts = s->contacts,
                        .pins = s->pins,
                        .obstacles = s->obstacles,
                        .obstacle_contacts = s->touching,
                        .penetration = s->penetration,
                        .forces = s->forces,
                        .detail = s->solve.detail_count > 0 ? s->solve.detail : NULL,
                        .detail_count = s->solve.detail_count};
    pl_measures measures = s->whole.backend->ops->measures->elements(s->whole.backend, s->x);
    out->elastic = measures.elastic;
    out->inverted = measures.inverted;
    out->max_stretch = measures.max_stretch;
    pl_dissipation_measure(&s->dissipated, m, out);
    pl_motion_sums motion = s->whole.backend->ops->measures->motion(s->whole.backend, s->x, s->v);
    out->kinetic = motion.kinetic;
    out->gravity = motion.gravity;
    memcpy(out->linear, motion.linear, sizeof out->linear);
    memcpy(out->angular, motion.angular, sizeof out->angular);
    measure_penetration(m, s);
    if (m->touching)
        pl_touched_measure(&s->touched, &out->contact);
}

pl_status pl_frame_step(const pl_model *m, pl_state *s, pl_metrics *out, pl_failure *failure,
                        pl_stop stop, void *context)
{
    double start = pl_clock_ms();
    pl_step_totals totals = {0};
    *failure = (pl_failure){.body = -1, .element = -1, .vertex = -1, .step = -1, .frame = -1};
    pl_status status = PL_OK;
    bool stopped = false;
    while (status == PL_OK && totals.steps < m->every && s->step < m->steps && !stopped) {
        stopped = stop && stop(context);
        if (!stopped)
            status = pl_state_advance(s, &totals, failure);
    }
    pl_state_moved(s);
    if (status != PL_OK || stopped)
        return status;
    pl_state_measure(m, s, out);
    out->steps = totals.steps;
    out->iterations = totals.iterations;
    out->newton_iterations = m->solver.method == PL_METHOD_AUTO ? totals.newton_iterations : -1;
    out->unconverged = m->solver.tolerance > 0 ? totals.unconverged : -1;
    out->halved = totals.halved;
    if (!s->integrator->is_euler)
        out->by_euler = totals.by_euler;
    out->contact.rounds = totals.rounds;
    out->ms_local = totals.ms_local;
    out->ms_global = totals.ms_global;
    out->ms_collision = totals.ms_collision;
    out->ms_step = pl_clock_ms() - start;
    return PL_OK;
}
