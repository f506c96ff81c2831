/* state.h - all that changes while a model runs; private to the engine's own files. */
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
    /* half: made when a step first fails. euler, of backward Euler: made when a step first gains energy. */
    pl_stepper whole, half, euler;
    pl_model *half_model, *euler_model;
    double landing; /* pl_contact_end's, m/s; INFINITY under backward Euler */
    bool may_gain;  /* has obstacles or hard terms, and an integrator other than backward Euler */
    /* The state at the last good step: this is what is saved, with the whole solver's memory. Positions
     * and velocities are arrays of the backend, like all below that are not said to be the host's. */
    int64_t step;
    pl_array *x, *v;           /* [vertices][3] */
    pl_array *v_old;           /* [vertices][3]: a step before; v0 before the first */
    pl_step_history history;   /* what the integrator goes on from */
    double *shown_x, *shown_v; /* the host's copies of x and v; NULL where those are the host's */
    bool shows_x, shows_v;     /* they are of the state as it stands */
    pl_fetch *fetch;           /* for frames; made when one is first asked for */
    pl_fetch_form fetch_form;
    pl_solve_result solve; /* of the last step; its pointers are the solver's, and not saved */
    pl_force *pins, *obstacles, *forces; /* the host's */
    int64_t contacts, *touching; /* vertices that all obstacles and each push, [obstacle_count] */
    double *penetration;         /* [obstacle_count]; measured, not saved */
    pl_dissipated dissipated, dissipated_new; /* saved; with the step under way */
    pl_touched touched, touched_new; /* the same, where the model has contact between bodies */
    /* The step under way. */
    pl_array *x_new, *v_new, *x_pred, *gradient; /* [vertices][3] */
    pl_array *x_mid, *v_mid;                     /* [vertices][3], between half steps; else NULL */
    /* [vertices][3], of integrators other than backward Euler: pl_stage_start's; what obstacles push with; what
     * a first stage of two ends with, or what the only one is solved for. */
    pl_array *xp, *vp, *stationary, *contact, *x_stage, *v_stage;
    pl_array
        *x_grip; /* the last answer of a stage, where friction is found by more than one; or NULL */
    pl_step_history history_new, history_mid; /* the one after the step; between half steps */
    bool has_history_mid;
    double share;         /* the mean force over the step is this times the last stage's */
    pl_array *load;       /* [vertices][3], of the stage; NULL where no step has one */
    pl_force *forces_new; /* what the scene's forces add up to in it */
    pl_bytes_out memory;  /* the solver's, from before the step */
};

/* What a frame's steps add up to. */
typedef struct pl_step_totals {
    int64_t steps, iterations, newton_iterations, unconverged, halved, by_euler, rounds;
    double ms_local, ms_global, ms_collision;
} pl_step_totals;

/* The state's arrays from the host's, [vertices][3]; the step and all else stay. */
void pl_state_put(pl_state *s, const double *x, const double *v, const double *v_old);
/* The host's copies are of an earlier state. */
void pl_state_moved(pl_state *s);

/* What term groups keep of the time, for a state that was put where it is and not stepped there. */
void pl_state_settle(pl_state *s);

/* One step; where it fails, two half steps in its place. PL_OK, and the state is a step further; or
 * PL_FAILED with *failure filled, and the state and its solver are as before. */
pl_status pl_state_advance(pl_state *s, pl_step_totals *totals, pl_failure *failure);

#endif
