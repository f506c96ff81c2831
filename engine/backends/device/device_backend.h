/* device_backend.h - what the files of the device's phases share. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_BACKEND_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_BACKEND_H

#include "engine/backends/backend.h"
#include "engine/backends/device/device_model.h"
#include "engine/backends/device/matrix.h"

/* Columns of doubles that vertices may fill at a time. */
enum { PL_DEVICE_COLUMNS = 4 };

/* Launches of several iterations, recorded; and what they were recorded for. */
enum { PL_DEVICE_RUNS = 4, PL_DEVICE_RUN_MAX = 32 };
typedef struct pl_device_run_key {
    const double *x, *inverse, *s, *x_pred, *load;
    double inertia;
    int64_t count;
    uint64_t groups; /* a hash of what their kernels are given */
} pl_device_run_key;
typedef struct pl_device_runs {
    pl_device_run_key key[PL_DEVICE_RUNS];
    pl_device_recording recording[PL_DEVICE_RUNS];
    int32_t next;
    int64_t recorded, replayed, plain; /* how often */
} pl_device_runs;

typedef struct pl_device {
    pl_backend base;
    pl_device_queue *queue; /* its own, or that of the backend that it was made beside */
    bool beside;
    pl_device_model model;
    int32_t threads;        /* of the host */
    double *columns;        /* [PL_DEVICE_COLUMNS][vertices] */
    double *partial, *last; /* sums */
    pl_number *scratch;     /* positions */
    double *weights;        /* [2 PL_DEVICE_RUN_MAX]: a run's */
    pl_device_runs runs;
    double *host_x, *host_v, *host_out; /* positions, for what is done on the host */
    /* Of methods with the constant matrix; else empty (splitting.c). */
    const pl_model *first;          /* the one it was made for */
    pl_device_system system, other; /* of that; of the one that goes on in its place */
    pl_number *diagonal;            /* that of the first, while there is another */
    pl_number **weight;             /* [groups]: those of the first; NULL: still in use */
    pl_device_iterate iterate;
    pl_number4 *dual;                 /* contributions of the last local step's dual residual */
    pl_block_sums *sums;              /* [model.threads] */
    double *products;                 /* Anderson's, [2 PL_ANDERSON_MAX + 1][model.threads] */
    bool with_hard;                   /* some group is */
    void (*meanwhile)(void *context); /* before the device is waited for */
    void *meanwhile_context;
} pl_device;

static inline pl_device *pl_device_of(pl_backend *b)
{
    return (pl_device *)b;
}

/* An address as callers have it, of whatever numbers. */
static inline pl_number *pl_device_numbers(const double *handle)
{
    return (pl_number *)(uintptr_t)handle;
}

/* out[k] = the k-th sum, in an order that depends on nothing. Waits for the device. */
void PL_NAMED(pl_device_add_up)(pl_device *d, const pl_summing *sum, int32_t count, double *out);

static inline pl_summing pl_device_column(const pl_device *d, int32_t column, int64_t count)
{
    return (pl_summing){.kind = PL_SUM_DOUBLES, .count = count, .a = d->columns + column * count};
}

/* Contributions of all terms at x, and their energies where wanted; of hard terms, which have none, those
 * of their dual u, or nothing. */
void PL_NAMED(pl_device_differentiate)(pl_device *d, const pl_number *x, double *const *u,
                                       bool energies);

/* ---- fetch.c: numbers for frames ---- */

pl_status PL_NAMED(pl_device_fetch_create)(pl_backend *b, const pl_fetch_form *form,
                                           pl_fetch **out);
void PL_NAMED(pl_device_fetch_destroy)(pl_backend *b, pl_fetch *f);
void PL_NAMED(pl_device_fetch_begin)(pl_backend *b, pl_fetch *f, const double *const *arrays);
const void *PL_NAMED(pl_device_fetch_take)(pl_backend *b, pl_fetch *f, bool wait);
void PL_NAMED(pl_device_meanwhile)(pl_backend *b, void (*work)(void *context), void *context);

/* ---- runs.c: accelerated steps, one or several in a row ---- */

void PL_NAMED(pl_device_step)(pl_backend *b, const pl_chebyshev *step);
void PL_NAMED(pl_device_run)(pl_backend *b, const pl_stage *stage, const pl_chebyshev *step,
                             const double *omega, int32_t count);
void PL_NAMED(pl_device_runs_destroy)(pl_device *d);

/* ---- stages.c: what stages begin and end with ---- */

void PL_NAMED(pl_device_freeze)(pl_backend *b, const pl_stage *stage);
void PL_NAMED(pl_device_contact_forces)(pl_backend *b, const pl_stage *stage, double *const *u,
                                        const double *x, double *force);
void PL_NAMED(pl_device_contact_velocities)(pl_backend *b, const pl_stage *stage,
                                            const pl_contact_end *end);
void PL_NAMED(pl_device_inner_acceleration)(pl_backend *b, const pl_stage *stage, const double *x,
                                            const double *gradient, const double *contact,
                                            double *out);
void PL_NAMED(pl_device_pin_velocities)(pl_backend *b, double time, double span, double *v);
double PL_NAMED(pl_device_friction)(pl_backend *b, const pl_stage *stage, double *const *u,
                                    const double *x, const double *v);
double PL_NAMED(pl_device_dissipation)(pl_backend *b, int32_t group, const double *x);

/* ---- splitting.c: the phases of methods with the constant matrix ---- */

pl_status PL_NAMED(pl_device_splitting_create)(pl_device *d);
void PL_NAMED(pl_device_splitting_destroy)(pl_device *d);

pl_status PL_NAMED(pl_device_use_model)(pl_backend *b, const pl_model *model);
void PL_NAMED(pl_device_reduce)(pl_backend *b, const double *x, double *const *z);
pl_local_sums PL_NAMED(pl_device_local_step)(pl_backend *b, const pl_stage *stage,
                                             const pl_local_step *step);
void PL_NAMED(pl_device_contribute)(pl_backend *b, double *const *u, double *const *z);
void PL_NAMED(pl_device_start_rows)(pl_backend *b, const pl_stage *stage, const double *x,
                                    double *rows);
void PL_NAMED(pl_device_concavity)(pl_backend *b, int32_t group, const double *z, double *out);
void PL_NAMED(pl_device_scale_terms)(pl_backend *b, int32_t group, const double *factor,
                                     double *values);
void PL_NAMED(pl_device_gather_global)(pl_backend *b, const double *base, double *rows);
double PL_NAMED(pl_device_dual_norm)(pl_backend *b);
pl_status PL_NAMED(pl_device_solve)(pl_backend *b, const double *rhs, double *rows);
pl_status PL_NAMED(pl_device_solve_from)(pl_backend *b, const double *rhs, const double *from,
                                         double *rows, double *square);
int64_t PL_NAMED(pl_device_hard_force)(pl_backend *b, int32_t group, const double *u,
                                       double force[3]);
pl_status PL_NAMED(pl_device_anderson_prepare)(pl_backend *b);
double PL_NAMED(pl_device_anderson_difference)(pl_backend *b, const pl_anderson *a);
void PL_NAMED(pl_device_anderson_combine)(pl_backend *b, const pl_anderson *a, const double *gamma);

#endif
