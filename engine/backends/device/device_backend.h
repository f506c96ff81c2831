/* device_backend.h - shared by the files of the device's phases. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_BACKEND_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_DEVICE_BACKEND_H

#include "engine/backends/backend.h"
#include "engine/backends/device/between_state.h"
#include "engine/backends/device/device_model.h"
#include "engine/backends/device/matrix.h"
#include "engine/backends/numbers.h"

/* Number of columns of doubles that vertices may fill at a time. */
enum { PL_DEVICE_COLUMNS = 4 };

/* A recording of several iterations, and what it was recorded for. */
enum { PL_DEVICE_RUNS = 4, PL_DEVICE_RUN_MAX = 32 };
typedef struct pl_device_run_key {
    const pl_array *x, *inverse, *s, *x_pred, *load;
    double inertia;
    int64_t count;
    uint64_t generation; /* of the model's arguments */
} pl_device_run_key;
typedef struct pl_device_runs {
    pl_device_run_key key[PL_DEVICE_RUNS];
    pl_device_recording recording[PL_DEVICE_RUNS];
    int32_t next;
    int64_t recorded, replayed, launched; /* number of uses */
} pl_device_runs;

typedef struct pl_device {
    pl_backend base;
    pl_device_queue *queue; /* its own, or that of the backend beside which it was created */
    bool beside;
    pl_device_model model;
    int32_t threads;        /* on the host */
    double *columns;        /* [PL_DEVICE_COLUMNS][vertices] */
    double *partial, *last; /* results of sums */
    pl_number *scratch;     /* positions */
    double *weights;        /* [2 PL_DEVICE_RUN_MAX]: of a run */
    pl_device_runs runs;
    double *host_x, *host_v, *host_out; /* positions, for work on the host */
    /* For methods with the constant matrix; empty otherwise (splitting.c). */
    const pl_model *first;          /* the one for which it was created */
    pl_device_system system, other; /* of that model; of the model that replaces it */
    pl_number *diagonal;            /* of the first model, while another is in use */
    pl_number **weight;             /* [groups]: the first model's weights; NULL: still in use */
    pl_device_iterate iterate;
    pl_number4 *dual;                 /* contributions of the last local step's dual residual */
    pl_block_sums *sums;              /* [model.threads] */
    double *products;                 /* for Anderson, [PL_ANDERSON_MAX + 1][model.threads] */
    pl_number *reduced;               /* for Anderson: D x of a group, [largest pl_group_values] */
    bool with_hard;                   /* some group is */
    void (*meanwhile)(void *context); /* called before waiting for the device */
    void *meanwhile_context;
    pl_device_between between; /* contact between bodies */
} pl_device;

static inline pl_device *pl_device_of(pl_backend *b)
{
    return (pl_device *)b;
}

/* Casts an array to the numbers that kernel arguments hold; they are writable in every kernel's arguments. */
static inline pl_number *pl_device_numbers(const pl_array *array)
{
    return (pl_number *)(uintptr_t)array;
}

/* out[k] = the k-th sum, in a fixed order. Waits for the device. */
void PL_NAMED(pl_device_add_up)(pl_device *d, const pl_summing *sum, int32_t count, double *out);

static inline pl_summing pl_device_column(const pl_device *d, int32_t column, int64_t count)
{
    return (pl_summing){.kind = PL_SUM_DOUBLES, .count = count, .a = d->columns + column * count};
}

/* Computes contributions of all terms at x and, if wanted, their energies. Hard terms have no energy: they
 * contribute their dual u, or nothing. */
void PL_NAMED(pl_device_differentiate)(pl_device *d, const pl_number *x, pl_array *const *u,
                                       bool energies);

/* Copies positions to where the host can read them: `to`, which is returned. */
const double *PL_NAMED(pl_device_shown)(pl_device *d, const pl_array *x, double *to);

/* ---- the tables: measures in objective.c, rows in descent.c, contact in stages.c; pairs in between.c; matrix,
 * iterated and anderson in splitting.c; the others in the files of their names ---- */

extern const pl_fetch_ops PL_NAMED(pl_device_fetch_ops);
extern const pl_kinematics_ops PL_NAMED(pl_device_kinematics_ops);
extern const pl_rows_ops PL_NAMED(pl_device_rows_ops);
extern const pl_objective_ops PL_NAMED(pl_device_objective_ops);
extern const pl_measures_ops PL_NAMED(pl_device_measures_ops);
extern const pl_descent_ops PL_NAMED(pl_device_descent_ops);
extern const pl_contact_ops PL_NAMED(pl_device_contact_ops);
extern const pl_pairs_ops PL_NAMED(pl_device_pairs_ops);
extern const pl_matrix_ops PL_NAMED(pl_device_matrix_ops);
extern const pl_iterated_ops PL_NAMED(pl_device_iterated_ops);
extern const pl_splitting_ops PL_NAMED(pl_device_splitting_ops);
extern const pl_anderson_ops PL_NAMED(pl_device_anderson_ops);
extern const pl_runs_ops PL_NAMED(pl_device_runs_ops);

/* ---- objective.c ---- */

/* The force of a group's terms, from its kernel `push`, and the number of terms that exert any. */
int64_t PL_NAMED(pl_device_push)(pl_device *d, int32_t group, const pl_term_arguments *a,
                                 double force[3]);

pl_trial_sums PL_NAMED(pl_device_trial)(pl_backend *b, const pl_backend_stage *stage,
                                        const pl_trial *trial);

/* ---- runs.c: accelerated steps, one or several in a row ---- */

void PL_NAMED(pl_device_step)(pl_backend *b, const pl_chebyshev *step);
void PL_NAMED(pl_device_runs_destroy)(pl_device *d);

/* ---- stages.c: start and end of stages ---- */

void PL_NAMED(pl_device_freeze)(pl_backend *b, const pl_backend_stage *stage);
double PL_NAMED(pl_device_dissipation)(pl_backend *b, int32_t group, const pl_array *x);

/* ---- between.c: contact between bodies ---- */

/* PL_OK or PL_NO_MEMORY; destroy it in either case. */
pl_status PL_NAMED(pl_device_between_create)(pl_device *d);
void PL_NAMED(pl_device_between_destroy)(pl_device *d);

/* The forces that rows add to the gradient at x, [vertices][3], N, in `between.force`; with methods that split, the
 * forces of their multipliers. NULL: there are no rows. *energies: [*count] on the device; NULL if none. */
const pl_number *PL_NAMED(pl_device_between_pull)(pl_device *d, const pl_number *x,
                                                  const double **energies, int64_t *count);
/* The diagonal of their Hessian at x, in the same memory; NULL: there are no rows. */
const pl_number *PL_NAMED(pl_device_between_diagonal)(pl_device *d, const pl_number *x);

bool PL_NAMED(pl_device_is_apart)(const pl_device *d, int32_t group);
/* Called before the local step of the group: computes the joint prox. */
void PL_NAMED(pl_device_apart_find)(pl_device *d, const pl_number *x, const pl_admm_local *local);
/* Called after it, with the terms' part of the primal residual, J^(1/2). */
void PL_NAMED(pl_device_apart_end)(pl_device *d, double primal);

/* ---- splitting.c: the phases of methods with the constant matrix ---- */

pl_status PL_NAMED(pl_device_splitting_create)(pl_device *d);
void PL_NAMED(pl_device_splitting_destroy)(pl_device *d);

#endif
