/* state.h - everything that changes while a model runs; private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_STATE_H
#define PLIANT_ENGINE_STEP_STATE_H

#include "engine/step/dissipation.h"
#include "engine/step/stepper.h"
#include "engine/step/step_history.h"
#include "engine/step/touched.h"
#include "engine/step/pliant.h"

struct pl_state {
    const pl_model *model;
    const pl_integrator *integrator;
    int32_t threads;
    /* half: created when a step first fails. euler, for backward Euler: created when a step first gains energy. */
    pl_stepper whole, half, euler;
    pl_model *half_model, *euler_model;
    double landing; /* pl_contact_end's, m/s; INFINITY under backward Euler */
    bool may_gain;  /* has obstacles or hard terms, and an integrator other than backward Euler */
    /* The state at the last good step, which is saved together with the solver's whole memory. Positions and
     * velocities are arrays of the backend, as are all below that are not marked as the host's. */
    int64_t step;
    pl_array *x, *v;           /* [vertices][3] */
    pl_array *v_old;           /* [vertices][3]: a step before; v0 before the first */
    pl_step_history history;   /* the integrator's past */
    double *shown_x, *shown_v; /* host copies of x and v; NULL if x and v are on the host */
    bool shows_x, shows_v;     /* the copies match the current state */
    pl_fetch *fetch;           /* for frames; created at the first request */
    pl_fetch_form fetch_form;
    pl_solve_result solve; /* of the last step; its pointers are the solver's and are not saved */
    pl_force *pins, *obstacles, *forces;      /* the host's */
    int64_t contacts, *touching;              /* vertices that all obstacles, and each, push,
                                            [obstacle_count] */
    double *penetration;                      /* [obstacle_count]; measured, not saved */
    pl_dissipated dissipated, dissipated_new; /* saved; including the current step */
    pl_touched touched, touched_new; /* the same, where the model has contact between bodies */
    /* The current step. */
    pl_array *x_new, *v_new, *x_pred, *gradient; /* [vertices][3] */
    pl_array *x_mid, *v_mid;                     /* [vertices][3], between half steps; else NULL */
    /* [vertices][3], for integrators other than backward Euler: from pl_stage_start; what obstacles push with; the
     * result of a first stage of two, or the unknown of the only one. */
    pl_array *xp, *vp, *stationary, *contact, *x_stage, *v_stage;
    pl_array
        *x_grip; /* the last answer of a stage, where friction is found by more than one; or NULL */
    pl_step_history history_new, history_mid; /* after the step; between half steps */
    bool has_history_mid;
    double share;         /* mean force over the step, relative to the last stage's */
    pl_array *load;       /* [vertices][3], of the stage; NULL if no step has a load */
    pl_force *forces_new; /* sums of the scene's forces in it */
    pl_bytes_out memory;  /* the solver's, from before the step */
};

/* Sums over a frame's steps. */
typedef struct pl_step_totals {
    int64_t steps, iterations, newton_iterations, unconverged, halved, by_euler, rounds;
    double ms_local, ms_global, ms_collision;
} pl_step_totals;

/* Sets the state's arrays from the host's, [vertices][3]; the step and all else stay. */
void pl_state_put(pl_state *s, const double *x, const double *v, const double *v_old);
/* Marks the host's copies as outdated. */
void pl_state_moved(pl_state *s);

/* Sets the time-dependent data of term groups, for a state that was set to its place rather than stepped there. */
void pl_state_settle(pl_state *s);

/* Makes one step or, if it fails, two half steps instead. PL_OK, and the state is one step further; or PL_FAILED
 * with *failure filled, and the state and its solver unchanged. */
pl_status pl_state_advance(pl_state *s, pl_step_totals *totals, pl_failure *failure);

#endif
