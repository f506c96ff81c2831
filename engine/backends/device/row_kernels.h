/* row_kernels.h - kernels over vertices, rows and coordinates, and sums. Each is
 * pl_device_<name>_<precision>(const pl_<name>_arguments *, threads). */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_ROW_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_ROW_KERNELS_H

#include "engine/backends/device/vertices.h"
#include "engine/model/group.h"

/* out = x + h (v + h g); one thread per coordinate, as in the next two. */
typedef struct pl_drift_arguments {
    double h, gravity[3];
    const pl_number *x, *v;
    pl_number *out;
} pl_drift_arguments;

/* out = base + d v + e (v - v_old) */
typedef struct pl_blend_arguments {
    double d, e;
    const pl_number *base, *v, *v_old;
    pl_number *out;
} pl_blend_arguments;

/* out = (x_new - x) / h */
typedef struct pl_velocity_arguments {
    double h;
    const pl_number *x, *x_new;
    pl_number *out;
} pl_velocity_arguments;

/* x of a pin's vertices along its axes: R (x0 - origin) + to, in double. One thread per vertex of the pin. */
typedef struct pl_place_pin_arguments {
    double R[9], origin[3], to[3]; /* column-major */
    int32_t axes, moved;
    const int32_t *vertex;
    const double *x0; /* [vertices][3] */
    pl_number *x;
} pl_place_pin_arguments;

/* The forces at a pin's vertices, as columns of doubles for a sum. */
typedef struct pl_pin_force_arguments {
    int64_t count;
    int32_t axes;
    const int32_t *vertex;
    const pl_number *gradient;
    double *columns; /* [3][count] */
} pl_pin_force_arguments;

/* inner_acceleration of pl_backend_ops; one thread per coordinate. */
typedef struct pl_inner_arguments {
    int32_t at_stage; /* false: the gradient is of elements and obstacles alone */
    double inertia;
    const unsigned char *held;
    const pl_number *mass, *x, *x_pred, *load, *gradient, *contact; /* load may be NULL */
    pl_number *out;
} pl_inner_arguments;

/* v of a pin's vertices along its axes, from their positions at three times, half a span apart, the last first. One
 * thread per vertex of the pin. */
typedef struct pl_pin_velocity_arguments {
    double R[3][9], origin[3], to[3][3], span;
    int32_t axes, moved;
    const int32_t *vertex;
    const double *x0; /* [vertices][3] */
    pl_number *v;
} pl_pin_velocity_arguments;

/* out = x, as floats or as doubles; one thread per coordinate. */
typedef struct pl_convert_arguments {
    const pl_number *x;
    float *single; /* or NULL: */
    double *wide;
} pl_convert_arguments;

/* Vertices' parts of the sums of motion, as columns of doubles, PL_DEVICE_COLUMNS at a time: kinetic and gravity's
 * energy, linear and angular momentum; `part` of the eight. One thread per vertex. */
typedef struct pl_motion_arguments {
    int64_t count;
    int32_t part;
    double gravity[3];
    const pl_number *mass, *x, *v;
    double *columns; /* [4][count] */
} pl_motion_arguments;

/* x_new = x + alpha d of free coordinates; one thread per row, the default from here on. */
typedef struct pl_move_arguments {
    pl_device_vertices vertices;
    const pl_number *x, *d;
    double alpha;
    pl_number *x_new;
} pl_move_arguments;

/* The stage's gradient from contributions, and vertices' parts of the sums of a trial. One thread per vertex. */
typedef struct pl_gradient_arguments {
    pl_device_vertices vertices;
    double inertia;
    const pl_number4 *contributions;
    const pl_number *x, *x_pred, *load; /* load may be NULL */
    const pl_number *contact;           /* positions: contribution of contact rows; or NULL */
    const pl_number *d;                 /* rows, or NULL */
    pl_number *gradient;                /* positions */
    pl_number *g;                       /* rows, or NULL */
    double
        *columns; /* [4][count]: energy of inertia and load, slope, |g|^2, |g|^2 / A_ii; or NULL */
} pl_gradient_arguments;

/* A step of chebyshev (backend.h), with the gradient computed from contributions in the same pass or, if g is
 * given, with g. */
typedef struct pl_chebyshev_arguments {
    pl_device_vertices vertices;
    double inertia, down, on; /* -omega alpha, omega - 1 */
    const double
        *weights; /* on the device, in place of both, so that recordings do not fix their values;
                     or NULL */
    const pl_number4 *contributions;
    const pl_number *x, *x_pred, *load, *contact, *inverse, *g;
    pl_number *s, *x_new; /* x_new may be x */
} pl_chebyshev_arguments;

/* 1 / P from contributions; and the columns of sums, [2][free]: inertia, P. */
typedef struct pl_jacobi_arguments {
    pl_device_vertices vertices;
    double inertia, least;
    const pl_number4 *contributions;
    const pl_number *contact; /* positions: contribution of contact rows; or NULL */
    pl_number *inverse;
    double *columns;
} pl_jacobi_arguments;

/* P is the diagonal of A or, if `flat` is above 0, `flat` everywhere. */
typedef struct pl_jacobi_constant_arguments {
    pl_device_vertices vertices;
    double inertia, flat;
    pl_number *inverse;
    double *columns; /* [2][free] */
} pl_jacobi_constant_arguments;

/* out = a b, or a / b with `divide`; one thread per coordinate of rows. */
typedef struct pl_scale_arguments {
    int32_t divide;
    const pl_number *a, *b;
    pl_number *out;
} pl_scale_arguments;

/* x of free coordinates from rows, or rows from x. */
typedef struct pl_exchange_arguments {
    pl_device_vertices vertices;
    int32_t to_rows;
    pl_number *rows, *x;
} pl_exchange_arguments;

/* The newest pair of a history: s becomes alpha s, w becomes p - p_old. One thread per coordinate of rows. */
typedef struct pl_pair_arguments {
    double alpha;
    const pl_number *p, *p_old;
    pl_number *s, *w;
} pl_pair_arguments;

/* out = sum of coefficient[i] list[i]; one thread per coordinate of rows. */
enum { PL_COMBINE_MAX = 129 };
typedef struct pl_combine_arguments {
    int32_t count;
    double coefficient[PL_COMBINE_MAX];
    const pl_number *list[PL_COMBINE_MAX];
    pl_number *out;
} pl_combine_arguments;

/* Sums in a fixed order, which the count of numbers alone decides. Thread t of a sum's PL_SUM_WIDTH adds the numbers
 * t, t + PL_SUM_WIDTH, ...; a second launch reduces these to PL_SUM_LAST numbers, which the host adds. A sum of more
 * than PL_SUM_PART numbers is made in parts of so many, at the same time, and the host adds the parts from the first to
 * the last. Everything is in double. */
enum { PL_SUM_WIDTH = 8192, PL_SUM_LAST = 32, PL_SUMS_MAX = 32, PL_SUM_PART = 1 << 20 };
/* Threads that a launch makes for each of its sums, the longest of `count` numbers: those that have a number, in the
 * rounds that the second launch reads. */
enum { PL_SUM_ROUND = 512 };
static inline int64_t pl_sum_width(int64_t count)
{
    const int64_t whole = (count + PL_SUM_ROUND - 1) / PL_SUM_ROUND * PL_SUM_ROUND;
    return whole < PL_SUM_ROUND ? PL_SUM_ROUND : whole < PL_SUM_WIDTH ? whole : PL_SUM_WIDTH;
}
typedef enum pl_sum_kind {
    PL_SUM_DOUBLES, /* a: doubles */
    PL_SUM_THIRD,   /* a: every third of doubles */
    PL_SUM_NUMBERS,
    PL_SUM_LARGEST,    /* not a sum: the maximum of the numbers and 0 */
    PL_SUM_DOT,        /* a b */
    PL_SUM_CHANGE_DOT, /* (a - a0) (b - b0) */
    PL_SUM_DOT_CHANGE, /* a (b - b0) */
    PL_SUM_MAGNITUDE,  /* A_ii |x_i|^2 of rows i; a: x; count: free */
} pl_sum_kind;
typedef struct pl_summing {
    pl_sum_kind kind;
    int64_t count;
    const void *a;
    const pl_number *b, *a0, *b0;
} pl_summing;
typedef struct pl_sums_arguments {
    pl_device_vertices vertices;
    pl_summing sum[PL_SUMS_MAX]; /* by threads / width */
    int64_t first[PL_SUMS_MAX];  /* of its numbers, which end before `count` */
    int64_t width;               /* pl_sum_width */
    double *partial;             /* [sums][width] */
} pl_sums_arguments;
typedef struct pl_sums_last_arguments {
    const double *partial; /* [sums][width] */
    int64_t width;         /* pl_sum_width */
    double *out;           /* [sums][PL_SUM_LAST] */
    uint64_t largest;      /* bit k: sum k is a PL_SUM_LARGEST */
} pl_sums_last_arguments;

/* clang-format off */
#define PL_ROW_KERNELS(DO)                                                                         \
    DO(drift)                                                                                      \
    DO(blend)                                                                                      \
    DO(velocity)                                                                                   \
    DO(place_pin)                                                                                  \
    DO(pin_force)                                                                                  \
    DO(inner)                                                                                      \
    DO(convert)                                                                                    \
    DO(motion)                                                                                     \
    DO(pin_velocity)                                                                               \
    DO(move)                                                                                       \
    DO(gradient)                                                                                   \
    DO(chebyshev)                                                                                  \
    DO(jacobi)                                                                                     \
    DO(jacobi_constant)                                                                            \
    DO(scale)                                                                                      \
    DO(exchange)                                                                                   \
    DO(pair)                                                                                       \
    DO(combine)                                                                                    \
    DO(sums)                                                                                       \
    DO(sums_last)
/* clang-format on */

#ifndef PL_ROW_KERNELS_ARE_HERE
#define DO(name)                                                                                   \
    void PL_NAMED(pl_device_##name)(pl_device_queue * queue,                                       \
                                    const pl_##name##_arguments *arguments, int64_t threads);
PL_ROW_KERNELS(DO)
#undef DO
#endif

#endif
