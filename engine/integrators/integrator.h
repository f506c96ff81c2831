/* integrator.h - a time step as one or more optimisation stages (stage.h). An integrator defines a stage's xp and
 * prediction x~, and the velocities that follow from the stage's minimiser. It does not know how the stage is
 * minimised, nor of contact (backends/cpu/cpu_contact.c).
 *
 * All integrators use two forms (Brown 2018, eq. 31):
 *
 *     theta      x' = x + (s - a h) v + a h v',  v' = v + (s - a h) f(x) / m + a h f(x') / m over a
 *                span s: the trapezoidal rule with a h = s / 2. f excludes the forces of obstacles and
 *                pins, whose whole impulse acts at the stage's end: such a contact creates no
 *                energy (Brown's eq. 37 as printed does).
 *     backward   x' = xp + a h v', v' = vp + a h f(x') / m, with xp and vp from the stage's start and
 *                from a place before it.
 */
#ifndef PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H
#define PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H

#include "engine/backends/backend.h"

/* Inputs and outputs of a stage: positions of the backend, whose model's step is h. */
typedef struct pl_stage_start {
    pl_backend *backend;
    bool known;            /* x_back, v_back and inner hold the past; else only inner is valid */
    double span;           /* of the stage, s */
    const pl_array *x, *v; /* where the stage begins */
    const pl_array *x_back, *v_back; /* past values, for an integrator that needs them */
    const pl_array *inner;           /* m/s^2 of elements alone at the step's start */
    pl_array *xp, *stationary;       /* out: stage.h */
    pl_array *vp, *x_pred;           /* out; vp is scratch */
} pl_stage_start;

enum { PL_STAGES_MAX = 2 };

typedef struct pl_integrator {
    int32_t stages;
    double a;                  /* the same in every stage: one matrix, one factor */
    double end[PL_STAGES_MAX]; /* fractions of a step at which its stages end */
    double extrapolation; /* distance to the last stage's end, relative to what it solves for */
    bool is_euler;        /* xp is the stage's start, and contact needs no special velocity */
    bool looks_back;      /* a step or a stage reads x_back and v_back */
    bool remembers;       /* ... of the step before */
    bool forces;          /* every step's start needs `inner`; else only the first step's */
    /* Fills x_pred and, except for backward Euler, vp, xp and still. */
    void (*predict)(const pl_stage_start *o, int32_t stage);
    /* Velocities at the stage's end, with minimiser x_new; o->xp is the stage's. */
    void (*finish)(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v);
} pl_integrator;

/* One stage from a step's start to its end: backward Euler, and statics. */
#define PL_ONE_EULER_STAGE .stages = 1, .a = 1, .end = {1}, .extrapolation = 1, .is_euler = true

const pl_integrator *pl_integrator_find(pl_integrator_kind kind);

/* True if stage `k` has the theta form. Its load is `span / (a h)` times the acting load, and a h / span times its
 * multipliers is the mean force. */
bool pl_integrator_is_theta(const pl_integrator *integrator, int32_t stage, bool known);

/* The two forms; `weight` extrapolates the start from x_back: x + weight (x - x_back). */
void pl_predict_theta(const pl_stage_start *o);
void pl_predict_backward(const pl_stage_start *o, double weight);
/* v = (x_new - xp) / (a h). */
void pl_finish_stage(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v);

#define PL_DECLARE_INTEGRATOR(kind, name) extern const pl_integrator pl_##name;
PL_EACH_INTEGRATOR(PL_DECLARE_INTEGRATOR)
#undef PL_DECLARE_INTEGRATOR

#endif
