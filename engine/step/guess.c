#include "engine/step/guess.h"

#include "engine/scene/carries.h"
#include "engine/model/model.h"

#include <math.h>

/* Weight of the change of velocity: Wang's eta. */
static const double ETA = 0.2;
/* Distance, in steps, of the parabola's points. */
static const double APART = 0.125;

/* x = base + d v + e (v - v_old), with the pins in place. Returns the objective there. */
static double place(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *base,
                    double d, const pl_array *v, double e, const pl_array *v_old, pl_array *x)
{
    const pl_backend_ops *ops = by->backend->ops;
    ops->kinematics->blend(by->backend, base, d, v, e, v_old, x);
    ops->kinematics->place_pins(by->backend, stage->scalars.time_end, x);
    return ops->objective->value(by->backend, stage, x);
}

static double stay(const pl_stepper *by, const pl_backend_stage *stage, pl_array *x)
{
    return place(by, stage, stage->x_start, 0, NULL, 0, NULL, x);
}

/* Whichever of x~, x(n) and, for methods without a matrix, x(n) + h v + eta h (v - v_old) has the lowest objective.
 * In free flight x~ is the answer; at large steps it usually lies far off, or inverts an element and is outside the
 * energy's domain. x(n) is the worst guess for moving bodies, and a first-order method is slowest at continuing an
 * existing motion. */
static void lowest(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *v,
                   const pl_array *v_old, pl_array *x)
{
    double h = stage->scalars.span, here = stay(by, stage, x);
    double predicted = place(by, stage, stage->x_pred, 0, NULL, 0, NULL, x);
    bool back = !isfinite(predicted) || predicted > here;
    if (pl_guess_looks_back(by->model)) {
        double on = place(by, stage, stage->x_start, h, v, ETA * h, v_old, x);
        if (on < (back ? here : predicted))
            return;
        if (!back)
            place(by, stage, stage->x_pred, 0, NULL, 0, NULL, x);
    }
    if (back)
        stay(by, stage, x);
}

bool pl_guess_looks_back(const pl_model *model)
{
    pl_initial_guess guess = model->solver.initial_guess;
    return guess == PL_GUESS_ACCELERATION ||
           (guess == PL_GUESS_BEST && !pl_method_uses_matrix(model->solver.method));
}

/* argmin over d of e(x(n)) + d v.g + d^2 / 2 v.H v (Wang 2016, eq. 10): g and H along v by differences of the
 * objective. 0 if it is infinite nearby, h if it is not convex. */
static double step_along(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *v,
                         pl_array *x)
{
    double h = stage->scalars.span, apart = APART * h, e[3];
    for (int k = 0; k < 3; k++)
        e[k] = place(by, stage, stage->x_start, (k - 1) * apart, v, 0, NULL, x);
    double slope = (e[2] - e[0]) / (2 * apart), bend = (e[2] - 2 * e[1] + e[0]) / (apart * apart);
    if (!isfinite(bend))
        return 0;
    return bend > 0 ? fmin(fmax(-slope / bend, -h), 2 * h) : h;
}

void pl_guess(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *v,
              const pl_array *v_old, pl_array *x)
{
    double h = stage->scalars.span, d = 0, e = 0;
    switch (by->model->solver.initial_guess) {
    case PL_GUESS_BEST:
        lowest(by, stage, v, v_old, x);
        return;
    case PL_GUESS_POSITION:
        break;
    case PL_GUESS_VELOCITY:
        d = h;
        break;
    case PL_GUESS_ACCELERATION:
        d = h;
        e = ETA * h;
        break;
    case PL_GUESS_STEP:
        d = step_along(by, stage, v, x);
        break;
    }
    if (!isfinite(place(by, stage, stage->x_start, d, v, e, v_old, x)))
        stay(by, stage, x);
}
