/* The public face: a state, stepped by an integrator whose stages a solver minimises on a backend.
 */
#include "engine/clock.h"
#include "engine/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pl_status pl_model_create(const pl_scene *scene, const pl_mesh *meshes, pl_model **out,
                          pl_faults *faults)
{
    double a = pl_integrator_find(scene->time.integrator)->a;
    return pl_model_build(scene, meshes, a, out, faults);
}

void pl_state_destroy(pl_state *s)
{
    if (!s)
        return;
    if (s->solver)
        s->solver->ops->destroy(s->solver);
    if (s->backend) {
        double *arrays[] = {s->x, s->v, s->x_new, s->x_pred, s->gradient};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            s->backend->ops->release(s->backend, arrays[i]);
        s->backend->ops->destroy(s->backend);
    }
    free(s->pins);
    free(s->obstacles);
    free(s);
}

static const pl_solve_result NOT_SOLVED = {.iterations = 0,
                                           .objective = NAN,
                                           .primal_residual = NAN,
                                           .dual_residual = NAN,
                                           .gradient_norm = NAN,
                                           .decrement = NAN};

pl_status pl_state_create(const pl_model *model, int32_t threads, pl_state **out)
{
    pl_state *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->model = model;
    s->integrator = pl_integrator_find(model->integrator);
    s->solve = NOT_SOLVED;
    pl_status status = pl_backend_find(model->solver.device)->create(model, threads, &s->backend);
    if (status == PL_OK) {
        double **arrays[] = {&s->x, &s->v, &s->x_new, &s->x_pred, &s->gradient};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
            *arrays[i] = s->backend->ops->alloc(s->backend, 3 * model->vertices);
            if (!*arrays[i])
                status = PL_NO_MEMORY;
        }
        s->pins = calloc((size_t)model->pin_count + 1, sizeof *s->pins);
        s->obstacles = calloc((size_t)model->obstacle_count + 1, sizeof *s->obstacles);
        if (!s->pins || !s->obstacles)
            status = PL_NO_MEMORY;
    }
    if (status == PL_OK)
        status = pl_solver_find(model->solver.method)->create(model, s->backend, &s->solver);
    if (status != PL_OK) {
        pl_state_destroy(s);
        return status;
    }
    memcpy(s->x, model->x0, 3 * (size_t)model->vertices * sizeof *s->x);
    memcpy(s->v, model->v0, 3 * (size_t)model->vertices * sizeof *s->v);
    *out = s;
    return PL_OK;
}

const double *pl_state_positions(const pl_state *state)
{
    return state->x;
}
const double *pl_state_velocities(const pl_state *state)
{
    return state->v;
}
double pl_state_time(const pl_state *state)
{
    return (double)state->step * state->model->h;
}
int64_t pl_state_step(const pl_state *state)
{
    return state->step;
}

/* The iterate to start from: x~ or x(n), whichever has the lower objective. In free flight x~ is
 * the answer; at large steps it commonly lies far off, or inverts an element and is outside the
 * energy's domain. Where both are outside, x(n). Contact has no say: a prediction inside an
 * obstacle is what the constraint is there for. */
static void start_stage(pl_state *s, const pl_stage *stage)
{
    const pl_backend_ops *ops = s->backend->ops;
    int64_t count = 3 * s->model->vertices;
    ops->copy(s->backend, s->x_new, s->x, count);
    pl_model_place_pins(s->model, stage->time_end, s->x_new);
    double stay = ops->objective(s->backend, stage, s->x_new);
    ops->copy(s->backend, s->x_new, s->x_pred, count);
    pl_model_place_pins(s->model, stage->time_end, s->x_new);
    double predicted = ops->objective(s->backend, stage, s->x_new);
    if (isfinite(predicted) && predicted <= stay)
        return;
    ops->copy(s->backend, s->x_new, s->x, count);
    pl_model_place_pins(s->model, stage->time_end, s->x_new);
}

/* Fill in which body a failure's vertex or element belongs to, and its id there. */
static void locate(const pl_state *s, pl_failure *failure)
{
    const pl_model *m = s->model;
    failure->step = s->step + 1;
    failure->frame = s->step / m->every; /* a partial last frame never precedes a step */
    if (failure->vertex >= 0) {
        failure->body = pl_model_body_of(m, m->first_vertex, failure->vertex);
        failure->vertex -= m->first_vertex[failure->body];
    }
    if (failure->element >= 0) {
        failure->body = pl_model_body_of(m, m->first_tet, failure->element);
        failure->element -= m->first_tet[failure->body];
    }
}

/* Whether a stage that ran out of iterations may stand. */
static bool accepted(const pl_model *m, const pl_solve_result *solve, pl_failure *failure)
{
    if (solve->converged || m->solver.tolerance == 0 ||
        m->solver.on_not_converged != PL_NOT_CONVERGED_FAIL)
        return true;
    failure->code = PL_FAILURE_NOT_CONVERGED;
    snprintf(failure->message, sizeof failure->message,
             "The step did not reach tolerance %g in %d iterations (decrement %.3g).",
             m->solver.tolerance, m->solver.iterations, solve->decrement);
    snprintf(failure->advice, sizeof failure->advice,
             "Raise solver.iterations, use a smaller time.step, or accept it with "
             "\"on_not_converged\": \"continue\".");
    return false;
}

/* What pins and obstacles pushed with in the step that ends, from the gradient at its result. */
static void keep_forces(pl_state *s)
{
    const pl_model *m = s->model;
    for (int32_t p = 0; p < m->pin_count; p++) {
        s->pins[p] = (pl_force){{0, 0, 0}};
        for (int64_t k = 0; k < m->pins[p].count; k++)
            for (int c = 0; c < 3; c++)
                s->pins[p].newton[c] += s->gradient[3 * (int64_t)m->pins[p].vertex[k] + c];
    }
    s->contacts = 0;
    for (int32_t g = 0; s->solve.multipliers && g < m->group_count; g++)
        if (m->group_obstacle[g] >= 0)
            s->contacts += s->backend->ops->hard_force(s->backend, g, s->solve.multipliers[g],
                                                       s->obstacles[m->group_obstacle[g]].newton);
}

static pl_status step(pl_state *s, pl_failure *failure)
{
    const pl_model *m = s->model;
    double time = pl_state_time(s);
    for (int32_t k = 0; k < s->integrator->stages; k++) {
        s->integrator->predict(m, k, time, s->x, s->v, s->x_pred);
        pl_stage stage = {.a = s->integrator->a,
                          .h = m->h,
                          .time_start = time,
                          .time_end = (double)(s->step + 1) * m->h,
                          .x_start = s->x,
                          .x_pred = s->x_pred};
        start_stage(s, &stage);
        pl_status status = s->solver->ops->solve(s->solver, &stage, s->x_new, s->gradient,
                                                 &s->solve, failure);
        if (status == PL_OK && !accepted(m, &s->solve, failure))
            status = PL_FAILED;
        if (status != PL_OK) {
            locate(s, failure);
            return PL_FAILED;
        }
        s->integrator->finish(m, k, s->x, s->x_new, s->v);
    }
    double *t = s->x;
    s->x = s->x_new;
    s->x_new = t;
    s->step++;
    keep_forces(s);
    return PL_OK;
}

/* Energies and momenta of the state; the solver's numbers are added by the caller. */
static void measure_motion(const pl_model *m, const pl_state *s, pl_metrics *out)
{
    for (int64_t i = 0; i < m->vertices; i++) {
        const double *x = s->x + 3 * i, *v = s->v + 3 * i;
        double mass = m->mass[i];
        for (int c = 0; c < 3; c++) {
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out->kinetic += 0.5 * mass * v[c] * v[c];
            out->gravity -= mass * m->gravity[c] * x[c];
            out->linear[c] += mass * v[c];
            out->angular[c] += mass * (x[c1] * v[c2] - x[c2] * v[c1]);
        }
    }
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
                        .dissipated = NAN,
                        .contacts = s->contacts,
                        .pins = s->pins,
                        .obstacles = s->obstacles,
                        .detail = s->solve.detail_count > 0 ? s->solve.detail : NULL,
                        .detail_count = s->solve.detail_count};
    pl_measures measures = s->backend->ops->measure(s->backend, s->x);
    out->elastic = measures.elastic;
    out->inverted = measures.inverted;
    out->max_stretch = measures.max_stretch;
    measure_motion(m, s, out);
}

pl_status pl_frame_step(const pl_model *m, pl_state *s, pl_metrics *out, pl_failure *failure,
                        pl_stop stop, void *context)
{
    double start = pl_clock_ms(), local = 0, global = 0, collision = 0;
    int64_t steps = 0, iterations = 0, unconverged = 0;
    *failure = (pl_failure){.body = -1, .element = -1, .vertex = -1, .step = -1, .frame = -1};
    while (steps < m->every && s->step < m->steps) {
        if (stop && stop(context))
            return PL_OK;
        pl_status status = step(s, failure);
        if (status != PL_OK)
            return status;
        steps++;
        iterations += s->solve.iterations;
        unconverged += !s->solve.converged;
        local += s->solve.ms_local;
        global += s->solve.ms_global;
        collision += s->solve.ms_collision;
    }
    pl_state_measure(m, s, out);
    out->steps = steps;
    out->iterations = iterations;
    out->unconverged = m->solver.tolerance > 0 ? unconverged : -1;
    out->ms_local = local;
    out->ms_global = global;
    out->ms_collision = collision;
    out->ms_step = pl_clock_ms() - start;
    return PL_OK;
}
