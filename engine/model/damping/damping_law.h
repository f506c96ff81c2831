/* damping_law.h - the law of dissipation (damping.h) for terms_template.h, in parts: the common part is here; the
 * functions of strain, of the stretch tensor and, for tetrahedra, of the material's stiffness follow, and the prox
 * of all of them. Included by damping_*_isa.c, which define CORNERS and COLUMNS.
 *
 * Densities are per rest volume: s(F) = a h R(F, (F - Fp) / (a h)), J/m^3, without the multiplier. With
 * r = 1 / (a h), a rate is r times a difference, and s = R / r. If F = 1 means a strain of g, the strain's rate is
 * g r times a difference of F, and s = g R / (g r): the laws are given g r for r, and g V for V.
 */
#include "engine/kernels/stretch_solid.h"
#include "engine/kernels/svd32.h"
#include "engine/model/damping/damping.h"
#include "engine/model/groups/plane_stress.h"
#include "engine/model/groups/term_lanes.h"
#include "engine/model/groups/terms.h"

/* Constants that depend on precision: the share of an energy that is rounding; the tolerances of Newton's method,
 * and of a bracket or a rotation; the smallest divisor; and the steps of first and second differences, which
 * balance rounding against truncation. */
#ifdef PL_SINGLE
#define DAMPING_NOISE   5e-6f
#define DAMPING_SETTLED 1e-4f
#define DAMPING_STILL   2e-7f
#define DAMPING_NOTHING 1e-30f
#define DAMPING_REACH   5e-3
#define DAMPING_REACH_2 3e-2
#else
#define DAMPING_NOISE   1e-14
#define DAMPING_SETTLED 1e-8
#define DAMPING_STILL   1e-15
#define DAMPING_NOTHING 1e-150
#define DAMPING_REACH   1e-5
#define DAMPING_REACH_2 1e-4
#endif

/* Number of entries of F and of F^T F. */
#define FS     (3 * COLUMNS)
#define SQUARE (COLUMNS * COLUMNS)

typedef struct law {
    const pl_damping *d;
    const pl_number *frozen; /* of the block */
    pl_real volume, rate, scale;
    pl_real
        strain; /* strain at F = 1: a factor of volume and of rate, and so also of s and of everything that s
                   consists of */
    pl_stretch elastic; /* the material, or its replacement for one column */
} law;

PL_INLINE pl_real damping_row(const law *m, int row)
{
    return pl_load(m->frozen + row * PL_BLOCK);
}

PL_INLINE void damping_rows(const law *m, int row, int count, pl_real *out)
{
    for (int e = 0; e < count; e++)
        out[e] = damping_row(m, row + e);
}

PL_INLINE law law_load(const pl_terms *t, int64_t b)
{
    const pl_number *constant = t->constant + b * t->constants * PL_BLOCK;
    const pl_number *frozen = t->frozen + b * t->frozen_rows * PL_BLOCK;
    const pl_real strain = COLUMNS == 1 ? pl_load(constant + PL_DAMPING_STRAIN * PL_BLOCK)
                                        : pl_one();
    return (law){t->damping,
                 frozen,
                 pl_load(constant) * strain,
                 pl_load(frozen + PL_FROZEN_RATE * PL_BLOCK) * strain,
                 pl_load(frozen + PL_FROZEN_SCALE * PL_BLOCK),
                 strain,
                 {t->material, constant + PL_BLOCK, t->shared, NULL}};
}

/* ---- small matrices: X, Y are 3 x COLUMNS, B, T COLUMNS x COLUMNS and symmetric ---- */

/* B = sym(X^T Y). */
PL_INLINE void damping_sym(const pl_real X[FS], const pl_real Y[FS], pl_real B[SQUARE])
{
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j <= i; j++) {
            pl_real sum = pl_zero();
            for (int r = 0; r < 3; r++)
                sum += X[3 * i + r] * Y[3 * j + r] + X[3 * j + r] * Y[3 * i + r];
            B[i + COLUMNS * j] = pl_set1(0.5) * sum;
            B[j + COLUMNS * i] = B[i + COLUMNS * j];
        }
}

/* P += a X T. */
PL_INLINE void damping_add(pl_real P[FS], pl_real a, const pl_real X[FS], const pl_real T[SQUARE])
{
    for (int j = 0; j < COLUMNS; j++)
        for (int r = 0; r < 3; r++) {
            pl_real sum = pl_zero();
            for (int i = 0; i < COLUMNS; i++)
                sum += X[3 * i + r] * T[i + COLUMNS * j];
            P[3 * j + r] += a * sum;
        }
}

/* V^T B V, or V B V^T where `back`. */
PL_INLINE void damping_turn(const pl_real V[SQUARE], const pl_real B[SQUARE], bool back,
                            pl_real out[SQUARE])
{
    pl_real half[SQUARE];
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            pl_real sum = pl_zero();
            for (int k = 0; k < COLUMNS; k++)
                sum += B[i + COLUMNS * k] * (back ? V[j + COLUMNS * k] : V[k + COLUMNS * j]);
            half[i + COLUMNS * j] = sum;
        }
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            pl_real sum = pl_zero();
            for (int k = 0; k < COLUMNS; k++)
                sum += (back ? V[i + COLUMNS * k] : V[k + COLUMNS * i]) * half[k + COLUMNS * j];
            out[i + COLUMNS * j] = sum;
        }
}

PL_INLINE pl_real damping_dot(const pl_real *a, const pl_real *b, int count)
{
    pl_real sum = pl_zero();
    for (int e = 0; e < count; e++)
        sum += a[e] * b[e];
    return sum;
}

/* F = U diag(s) V^T; for an edge, U is its direction. */
PL_LARGE void damping_decompose(const pl_real F[FS], pl_real U[FS], pl_real s[COLUMNS],
                                pl_real V[SQUARE])
{
#if COLUMNS == 3
    pl_mat3 A, left, right;
    for (int e = 0; e < 9; e++)
        A.m[e] = F[e];
    pl_svd3(&A, &left, s, &right);
    for (int e = 0; e < 9; e++) {
        U[e] = left.m[e];
        V[e] = right.m[e];
    }
#elif COLUMNS == 2
    pl_svd32(F, U, s, V);
#else
    s[0] = pl_sqrt(damping_dot(F, F, 3));
    const pl_mask any = pl_gt(s[0], pl_zero());
    for (int e = 0; e < 3; e++)
        U[e] = pl_select(any, F[e] / pl_select(any, s[0], pl_one()), e == 0 ? pl_one() : pl_zero());
    V[0] = pl_one();
#endif
}

/* ---- splines ---- */

/* value(x) and, with `area`, the integral of value(t) t from 0 to x >= 0. */
PL_LARGE pl_real damping_spline(const pl_damping_spline *f, pl_real x, pl_real *slope,
                                pl_real *area)
{
    pl_real value = pl_set1(f->value[0]), rise = pl_zero();
    pl_real sum = pl_set1(0.5) * value * x * x;
    for (int k = 0; k < f->count; k++) {
        const bool last = k + 1 == f->count;
        const double a = last ? 0 : (f->value[k + 1] - f->value[k]) / (f->at[k + 1] - f->at[k]);
        const double c = f->value[k] - a * f->at[k], from = f->at[k]; /* value = c + a t */
        const pl_mask beyond = pl_ge(x, pl_set1(from));
        const pl_real to = pl_set1(c) + pl_set1(a) * x;
        const pl_real more = pl_set1(0.5 * c) * (x * x - pl_set1(from * from)) +
                             pl_set1(a / 3) * (x * x * x - pl_set1(from * from * from));
        value = pl_select(beyond, to, value);
        rise = pl_select(beyond, pl_set1(a), rise);
        sum = pl_select(beyond, pl_set1(f->area[k]) + more, sum);
    }
    if (slope)
        *slope = rise;
    if (area)
        *area = sum;
    return value;
}
