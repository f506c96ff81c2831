/* integrator.h - a time step as one or more optimisation stages (stage.h). An integrator says where
 * a stage's xp and prediction x~ are and what the velocities become once the stage's minimiser is
 * known; it knows nothing of how it is minimised, nor of contact (backends/cpu/cpu_contact.c).
 *
 * Two forms make them all (Brown 2018, eq. 31):
 *
 *     theta      x' = x + (s - a h) v + a h v',  v' = v + (s - a h) f(x) / m + a h f(x') / m over a
 *                span s: the trapezoidal rule with a h = s / 2. f is all but what obstacles and pins
 *                push with, which the stage's end has the whole impulse of: a contact that makes no
 *                energy (Brown's eq. 37 as printed does).
 *     backward   x' = xp + a h v', v' = vp + a h f(x') / m, xp and vp of the stage's start and of a
 *                place before it.
 */
#ifndef PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H
#define PLIANT_ENGINE_INTEGRATORS_INTEGRATOR_H

#include "engine/backends/backend.h"

/* What a stage goes out from, and what it fills: positions of the backend, whose model's step is h. */
typedef struct pl_stage_start {
    pl_backend *backend;
    bool known;            /* x_back, v_back and inner are the past's; else inner alone is right */
    double span;           /* of the stage, s */
    const pl_array *x, *v; /* where the stage begins */
    const pl_array *x_back, *v_back; /* what an integrator that looks back had before */
    const pl_array *inner;           /* m/s^2 of elements alone at the step's start */
    pl_array *xp, *stationary;       /* out: stage.h */
    pl_array *vp, *x_pred;           /* out; vp is scratch */
} pl_stage_start;

enum { PL_STAGES_MAX = 2 };

typedef struct pl_integrator {
    int32_t stages;
    double a;                  /* the same in every stage: one matrix, one factor */
    double end[PL_STAGES_MAX]; /* of a step, where its stages end */
    double extrapolation;      /* what the last stage solves for is so much nearer than its end */
    bool is_euler;             /* xp is the stage's start, and contact's velocity needs no care */
    bool looks_back;           /* a step or a stage reads x_back and v_back */
    bool remembers;            /* ... of the step before */
    bool forces;               /* the step's start needs `inner`; else only a first step does */
    /* Fill x_pred, and but for backward Euler vp, xp and still. */
    void (*predict)(const pl_stage_start *o, int32_t stage);
    /* Velocities at the stage's end, whose minimiser is x_new; o->xp is the stage's. */
    void (*finish)(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v);
} pl_integrator;

/* One stage from a step's start to its end: backward Euler, and statics. */
#define PL_ONE_EULER_STAGE .stages = 1, .a = 1, .end = {1}, .extrapolation = 1, .is_euler = true

const pl_integrator *pl_integrator_find(pl_integrator_kind kind);

/* Whether stage `k` is of the theta form. Its load is `span / (a h)` of what acts, and of its
 * multipliers a h / span is the mean force. */
bool pl_integrator_is_theta(const pl_integrator *integrator, int32_t stage, bool known);

/* The two forms; `weight` of the start against x_back: x + weight (x - x_back). */
void pl_predict_theta(const pl_stage_start *o);
void pl_predict_backward(const pl_stage_start *o, double weight);
/* v = (x_new - xp) / (a h). */
void pl_finish_stage(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v);

#define PL_DECLARE_INTEGRATOR(kind, name) extern const pl_integrator pl_##name;
PL_EACH_INTEGRATOR(PL_DECLARE_INTEGRATOR)
#undef PL_DECLARE_INTEGRATOR

#endif
