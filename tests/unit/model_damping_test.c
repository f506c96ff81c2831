/* Dissipation functions as term groups, made from arrays: energy, gradient and Hessian compared with finite
 * differences, the prox compared with a search, on every instruction set. */
#include "engine/isa.h"
#include "engine/model/damping/damping.h"
#include "engine/model/hash.h"
#include "engine/model/groups/hinges.h"
#include "engine/model/groups/isa.h"
#include "engine/model/materials.h"
#include "engine/model/groups/terms.h"
#include "tests/support/group_sums.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINTS = 24, TERMS = 21 }; /* a block and a half */

static const double RATE = 25, STEP = 0.04;

/* Deterministic numbers in [-1, 1]. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

#define POINTS_OF_A_SPLINE .count = 3, .at = {0.8, 1.1, 1.4}, .value = {2, 1, 3}
#define RATES              .count = 3, .at = {1, 4, 9}, .value = {1, 2, 1.5}, .area = {0.5, 13, 67}

static const struct {
    const char *name;
    pl_damping d;
    int columns; /* of elements that it is for, at least */
} FUNCTIONS[] = {
    {"strain rate", {.model = PL_DAMPING_STRAIN_RATE, .shear = 3, .bulk = 2}, 1},
    {"strain rate, second order",
     {.model = PL_DAMPING_STRAIN_RATE, .shear = 3, .bulk = 2, .second_order = true},
     1},
    {"strain rate, nonrigid",
     {.model = PL_DAMPING_STRAIN_RATE, .shear = 3, .bulk = 2, .momentum = PL_MOMENTUM_NONRIGID},
     1},
    {"strain rate, nonrigid, second order",
     {.model = PL_DAMPING_STRAIN_RATE,
      .shear = 3,
      .momentum = PL_MOMENTUM_NONRIGID,
      .second_order = true},
     1},
    {"strain rate by a spline",
     {.model = PL_DAMPING_STRAIN_RATE, .shear = 3, .strain = {POINTS_OF_A_SPLINE}},
     1},
    {"viscous", {.model = PL_DAMPING_VISCOUS, .shear = 3}, 1},
    {"power 0", {.model = PL_DAMPING_POWER_LAW, .coefficient = 3, .power = 0, .smoothing = 1}, 1},
    {"power 1/2",
     {.model = PL_DAMPING_POWER_LAW, .coefficient = 3, .power = 0.5, .smoothing = 1},
     1},
    {"power 1", {.model = PL_DAMPING_POWER_LAW, .coefficient = 3, .power = 1}, 1},
    {"power 2", {.model = PL_DAMPING_POWER_LAW, .coefficient = 3, .power = 2}, 1},
    {"rate spline", {.model = PL_DAMPING_RATE_SPLINE, .shear = 2, .rate = {RATES}}, 1},
    {"viscous, nonrigid",
     {.model = PL_DAMPING_VISCOUS, .shear = 3, .momentum = PL_MOMENTUM_NONRIGID},
     1},
    {"Rayleigh, velocity gradient",
     {.model = PL_DAMPING_RAYLEIGH, .beta = 0.1, .momentum = PL_MOMENTUM_VELOCITY_GRADIENT},
     1},
    {"Rayleigh, nonrigid",
     {.model = PL_DAMPING_RAYLEIGH, .beta = 0.1, .momentum = PL_MOMENTUM_NONRIGID},
     1},
    {"Rayleigh", {.model = PL_DAMPING_RAYLEIGH, .beta = 0.1}, 1},
    {"Rayleigh, lagged", {.model = PL_DAMPING_RAYLEIGH_LAGGED, .beta = 0.1}, 1},
    {"principal strain", {.model = PL_DAMPING_PRINCIPAL_STRAIN, .beta = 0.1}, 3},
    {"power 1/2, second order",
     {.model = PL_DAMPING_POWER_LAW,
      .coefficient = 3,
      .power = 0.5,
      .smoothing = 1,
      .second_order = true},
     1},
    {"power 2, second order",
     {.model = PL_DAMPING_POWER_LAW, .coefficient = 3, .power = 2, .second_order = true},
     1},
    {"rate spline, second order",
     {.model = PL_DAMPING_RATE_SPLINE, .shear = 2, .rate = {RATES}, .second_order = true},
     1},
    {"Rayleigh, nonrigid, second order",
     {.model = PL_DAMPING_RAYLEIGH,
      .beta = 0.1,
      .momentum = PL_MOMENTUM_NONRIGID,
      .second_order = true},
     1},
    {"Rayleigh, lagged, second order",
     {.model = PL_DAMPING_RAYLEIGH_LAGGED, .beta = 0.1, .second_order = true},
     1},
    {"principal strain, second order",
     {.model = PL_DAMPING_PRINCIPAL_STRAIN, .beta = 0.1, .second_order = true},
     3},
};
enum { COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

/* A fixture's entry in place of a number of columns: bends with a vector strain and rest angle 0 or 1.3, and hinges. */
enum { BENDS = 4, BENT, HINGES };

/* Of what bends: without corrections of a turn; a strain rate is the rate of F; of hinges all stiffness is even
 * (build_damping.c makes both so). */
static bool bends_by(const pl_damping *d, int columns)
{
    return d->momentum == PL_MOMENTUM_NONE && d->model != PL_DAMPING_STRAIN_RATE &&
           d->model != PL_DAMPING_PRINCIPAL_STRAIN &&
           (columns != HINGES || !pl_damping_is_stiffness(d->model));
}

/* Points and, of the shape of elements, coefficients such that F is not far from diag(1.3, 1.1, 0.9). */
typedef struct fixture {
    pl_group g;
    double x[3 * POINTS], xp[3 * POINTS], v[3 * POINTS];
    pl_stage stage;
} fixture;

/* Rows of the inverse of B, which has the edges of the corners as columns; of triangles and edges the
 * pseudo-inverse. */
static void shape_of(const double *x, const int32_t *corner, int columns, double *shape)
{
    double B[3][3] = {{0}}, M[3][6] = {{0}};
    for (int j = 0; j < columns; j++)
        for (int r = 0; r < 3; r++)
            B[j][r] = x[3 * corner[j + 1] + r] - x[3 * corner[0] + r];
    for (int i = 0; i < columns; i++) { /* (B^T B)^-1 by elimination */
        for (int j = 0; j < columns; j++)
            for (int r = 0; r < 3; r++)
                M[i][j] += B[i][r] * B[j][r];
        M[i][3 + i] = 1;
    }
    for (int i = 0; i < columns; i++) {
        const double pivot = M[i][i];
        for (int k = 0; k < 6; k++)
            M[i][k] /= pivot;
        for (int j = 0; j < columns; j++) {
            const double f = j == i ? 0 : M[j][i];
            for (int k = 0; k < 6; k++)
                M[j][k] -= f * M[i][k];
        }
    }
    /* F = X Q with columns of x's edges X; X = B gives B Q orthonormal where Q Q^T = (B^T B)^-1. */
    double L[3][3] = {{0}};
    for (int i = 0; i < columns; i++)
        for (int j = 0; j <= i; j++) {
            double sum = M[i][3 + j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (int j = 0; j < columns; j++) {
        shape[j] = 0;
        for (int c = 0; c < columns; c++) {
            shape[(c + 1) * columns + j] = L[c][j];
            shape[j] -= L[c][j];
        }
    }
}

static bool turned(const double *x, const int32_t *corner)
{
    double B[3][3];
    for (int j = 0; j < 3; j++)
        for (int r = 0; r < 3; r++)
            B[j][r] = x[3 * corner[j + 1] + r] - x[3 * corner[0] + r];
    return B[0][0] * (B[1][1] * B[2][2] - B[1][2] * B[2][1]) -
               B[0][1] * (B[1][0] * B[2][2] - B[1][2] * B[2][0]) +
               B[0][2] * (B[1][0] * B[2][1] - B[1][1] * B[2][0]) <
           0;
}

/* The next element of the fixture's list: its corners and shape, or false for another try. */
static bool make_element(const fixture *f, int t, int columns, int32_t corner[4], double shape[12])
{
    const int corners = columns < BENDS ? columns + 1 : 4;
    double size = 0;
    for (int c = 0; c < corners; c++)
        corner[c] = (t + 5 * c + t * c % 7) % POINTS;
    for (int c = 0; c < corners; c++)
        for (int k = 0; k < c; k++)
            if (corner[c] == corner[k])
                return false;
    if (columns >= BENDS) { /* of a bend any vector of corners does; they add up to nothing */
        static const double bend[4] = {-0.9, 0.7, 0.6, -0.4};
        memcpy(shape, bend, sizeof bend);
        return true;
    }
    if (columns == 3 && turned(f->x, corner)) { /* F is a rotation, not a reflection */
        const int32_t swapped = corner[1];
        corner[1] = corner[2];
        corner[2] = swapped;
    }
    shape_of(f->x, corner, columns, shape);
    for (int e = 0; e < (columns + 1) * columns; e++)
        size = fmax(size, fabs(shape[e]));
    return size < 6;
}

static const pl_group_ops *ops_for(const pl_damping *d, int columns)
{
    return columns == HINGES  ? pl_terms_ops(PL_TERMS_DAMPING_HINGES)
           : columns >= BENDS ? pl_terms_ops(PL_TERMS_DAMPING_BENDS)
                              : pl_damping_ops(d, columns + 1);
}

static void open_fixture(fixture *f, const pl_damping *function, int columns, pl_material_kind kind)
{
    pl_damping own = *function, *d = &own;
    d->bends = columns >= BENDS;
    const pl_group_ops *ops = ops_for(d, columns);
    const pl_material material = {.model = kind, .has_lame = true, .lame = {100, 150}};
    pl_material_numbers numbers;
    pl_terms_list list;
    uint64_t state = 11;
    for (int i = 0; i < 3 * POINTS; i++)
        f->x[i] = draw(&state);
    ck_assert_int_eq(pl_material_make(&material, &numbers), PL_OK);
    double constants[PL_DAMPING_CONSTANTS] = {0.5};
    memcpy(constants + 1, numbers.constants, sizeof numbers.constants);
    if (columns == 1 || columns >= BENDS) {
        constants[PL_DAMPING_YOUNG] = 100;
        constants[PL_DAMPING_REST] = columns == 1 ? 1 : columns == BENT ? 1.3 : 0;
        constants[PL_DAMPING_STRAIN] = columns == 1 ? 1 : 0.7;
        constants[PL_HINGE_REST] = 0.3;
    }
    pl_terms_list_init(&list, ops, PL_DAMPING_CONSTANTS);
    for (int t = 0; list.count < TERMS; t++) {
        int32_t corner[4];
        double shape[12];
        if (!make_element(f, t, columns, corner, shape))
            continue;
        const pl_term term = {.corners = ops->corners,
                              .corner = corner,
                              .shape = shape,
                              .constant = constants,
                              .weight = 40,
                              .element = t};
        ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    }
    ck_assert_int_eq(pl_terms_create(&list, pl_stretch_ops_of(kind), NULL, &f->g), PL_OK);
    ck_assert_int_eq(pl_damping_attach(&f->g, d), PL_OK);
    pl_terms_list_clear(&list);
    free(numbers.shared);
    for (int i = 0; i < 3 * POINTS; i++) {
        f->xp[i] = f->x[i];
        f->v[i] = 0.4 * draw(&state);
        f->x[i] += 0.01 * draw(&state);
    }
    f->stage =
        (pl_stage){.scalars = {.a = 1 / (STEP * RATE), .h = STEP, .time_end = STEP, .span = STEP},
                   .x_start = f->xp,
                   .xp = f->xp,
                   .v_start = f->v};
    f->g.ops->freeze(&f->g, &f->stage, 0, f->g.blocks);
}

static void forces(const pl_group *g, const double *x, double f[3 * POINTS])
{
    double *c = pl_block_alloc(pl_group_contributions(g), sizeof *c);
    g->ops->gradient(g, x, c, 0, g->blocks);
    group_add_up(g, c, POINTS, f);
    free(c);
}

static void check_gradient(fixture *f, const char *name)
{
    double g[3 * POINTS], scale = 0;
    forces(&f->g, f->x, g);
    for (int i = 0; i < 3 * POINTS; i++)
        scale = fmax(scale, fabs(g[i]));
    for (int i = 0; i < 3 * POINTS; i++) {
        const double h = 1e-6, x0 = f->x[i];
        f->x[i] = x0 + h;
        const double up = group_energy(&f->g, f->x);
        f->x[i] = x0 - h;
        const double down = group_energy(&f->g, f->x);
        f->x[i] = x0;
        ck_assert_msg(fabs(g[i] - (up - down) / (2 * h)) <= 2e-6 * scale, "%s: %.9g, not %.9g",
                      name, g[i], (up - down) / (2 * h));
    }
}

/* The Hessian, summed over terms, against differences of the gradient. */
static void check_hessian(fixture *f, const char *name, double tolerance)
{
    const pl_group *g = &f->g;
    const int32_t n = 3 * g->ops->corners, entries = n * (n + 1) / 2;
    double *H = pl_block_alloc(g->blocks * entries * PL_BLOCK, sizeof *H), scale = 0;
    double *sum = calloc(9 * POINTS * POINTS, sizeof *sum);
    g->ops->hessian(g, f->x, H, 0, g->blocks);
    for (int64_t t = 0; t < g->terms; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
                const int p = i > j ? i : j, q = i > j ? j : i;
                const int row = 3 * g->corner[(b * n / 3 + i / 3) * PL_BLOCK + l] + i % 3;
                const int column = 3 * g->corner[(b * n / 3 + j / 3) * PL_BLOCK + l] + j % 3;
                sum[row + 3 * POINTS * column] +=
                    H[(b * entries + p * (p + 1) / 2 + q) * PL_BLOCK + l];
            }
    for (int e = 0; e < 9 * POINTS * POINTS; e++)
        scale = fmax(scale, fabs(sum[e]));
    for (int j = 0; j < 3 * POINTS; j++) {
        const double h = 1e-6, x0 = f->x[j];
        double up[3 * POINTS], down[3 * POINTS];
        f->x[j] = x0 + h;
        forces(g, f->x, up);
        f->x[j] = x0 - h;
        forces(g, f->x, down);
        f->x[j] = x0;
        for (int i = 0; i < 3 * POINTS; i++)
            ck_assert_msg(
                fabs(sum[i + 3 * POINTS * j] - (up[i] - down[i]) / (2 * h)) <= tolerance * scale,
                "%s: %.9g, not %.9g", name, sum[i + 3 * POINTS * j], (up[i] - down[i]) / (2 * h));
    }
    free(H);
    free(sum);
}

/* One isolated term's U + w2/2 |z - v|^2 of a group's values: by moving its corners there. */
static void check_prox(fixture *f, const char *name, bool smooth)
{
    const pl_group *g = &f->g;
    const int rows = g->ops->rows, corners = g->ops->corners;
    const int64_t values = pl_group_values(g);
    double *v = pl_block_alloc(values, sizeof *v), *z = pl_block_alloc(values, sizeof *z);
    double *c = pl_block_alloc(pl_group_contributions(g), sizeof *c);
    double *q = pl_block_alloc(values, sizeof *q),
           *t = pl_block_alloc(pl_group_contributions(g), sizeof *t);
    uint64_t state = 5;
    g->ops->reduce(g, f->x, v, 0, g->blocks);
    for (int64_t i = 0; i < values; i++)
        v[i] += 0.03 * draw(&state);
    g->ops->prox(g, &f->stage, v, z, 0, g->blocks);
    /* D^T (dU/dz + w2 (z - v)) = 0 at x with D x = z, a term at a time. */
    for (int64_t k = 0; k < g->terms; k++) {
        const int64_t b = k / PL_BLOCK, l = k % PL_BLOCK;
        const pl_terms *terms = g->data;
        double x[3 * POINTS] = {0}, worst = 0, size = 0;
        const double *G = terms->shape + b * corners * (rows / 3) * PL_BLOCK + l;
        int32_t own[4];
        for (int j = 0; j < corners; j++)
            own[j] = g->corner[(b * corners + j) * PL_BLOCK + l];
        /* Corner 0 at 0; of the lower triangle L of the others' coefficients L^T X^T = z^T. */
        const int columns = rows / 3;
        for (int r = 0; r < 3; r++)
            for (int j = columns - 1; j >= 0; j--) {
                double sum = z[(b * rows + 3 * j + r) * PL_BLOCK + l];
                for (int m = j + 1; m < columns; m++)
                    sum -= G[((m + 1) * columns + j) * PL_BLOCK] * x[3 * own[m + 1] + r];
                x[3 * own[j + 1] + r] = sum / G[((j + 1) * columns + j) * PL_BLOCK];
            }
        g->ops->gradient(g, x, c, b, b + 1);
        memcpy(q, z, (size_t)values * sizeof *q);
        for (int64_t i = 0; i < values; i++)
            q[i] = z[i] - v[i];
        g->ops->transpose(g, q, t, b, b + 1);
        for (int e = 0; e < 3 * corners; e++) {
            const int64_t at = (b * 3 * corners + e) * PL_BLOCK + l;
            worst = fmax(worst, fabs(c[at] + t[at]));
            size = fmax(size, fabs(t[at]) + fabs(c[at]));
        }
        ck_assert_msg(worst <= (smooth ? 1e-7 : 1e-6) * size, "%s: %g of %g", name, worst, size);
    }
    free(v);
    free(z);
    free(c);
    free(q);
    free(t);
}

static void each(int columns, pl_material_kind kind, bool merged)
{
    for (int k = 0; k < COUNT; k++) {
        fixture f;
        char name[96];
        const bool fourth = FUNCTIONS[k].d.model == PL_DAMPING_RAYLEIGH;
        if (FUNCTIONS[k].columns > columns ||
            (columns >= BENDS && !bends_by(&FUNCTIONS[k].d, columns)))
            continue;
        snprintf(name, sizeof name, "%s of %d columns%s", FUNCTIONS[k].name, columns,
                 merged ? ", merged" : "");
        pl_damping d = FUNCTIONS[k].d;
        d.merged = merged;
        open_fixture(&f, &d, columns, kind);
        check_gradient(&f, name);
        check_hessian(&f, name, fourth ? 2e-5 : 5e-6);
        if (columns != HINGES) /* which have none */
            check_prox(&f, name, true);
        f.g.ops->destroy(&f.g);
    }
}

START_TEST(every_function_is_what_it_is_defined_by)
{
    each(1, PL_MATERIAL_COROTATED, false);
    each(2, PL_MATERIAL_COROTATED, false);
    each(3, PL_MATERIAL_COROTATED, false);
    each(3, PL_MATERIAL_NEO_HOOKEAN, false);
    each(2, PL_MATERIAL_NEO_HOOKEAN, false);
}
END_TEST

START_TEST(so_is_every_function_of_what_bends)
{
    each(BENDS, PL_MATERIAL_COROTATED, false);
    each(BENT, PL_MATERIAL_COROTATED, false);
    each(HINGES, PL_MATERIAL_COROTATED, false);
}
END_TEST

/* From x to xp a hinge never turns by more than half a turn, whatever its angle at rest: one that passes through pi is
 * damped by its actual rotation. S = V a h eta/2 (c dtheta r)^2, c the strain of an angle. */
START_TEST(a_hinge_may_fold_over)
{
    static const int32_t corner[4] = {0, 1, 2, 3};
    static const double shape[4] = {-0.9, 0.7, 0.6, -0.4};
    const pl_damping d = {.model = PL_DAMPING_VISCOUS, .shear = 3, .bends = true};
    const double constants[PL_DAMPING_CONSTANTS] = {0.5, 1, 0, 0.7, 0.3};
    const pl_term term = {
        .corners = 4, .corner = corner, .shape = shape, .constant = constants, .weight = 1};
    double v[12] = {0}, angles[2], at[2][12] = {{0}};
    pl_terms_list list;
    pl_group g;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_DAMPING_HINGES), PL_DAMPING_CONSTANTS);
    ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    ck_assert_int_eq(pl_terms_create(&list, NULL, NULL, &g), PL_OK);
    ck_assert_int_eq(pl_damping_attach(&g, &d), PL_OK);
    for (int k = 0; k < 2;
         k++) { /* an edge along y, a wing along -x and one that has turned by pi -+ 0.05 */
        const double wing[4][3] = {{0, 0, 0},
                                   {0, 1, 0},
                                   {-1, 0.5, 0},
                                   {cos(M_PI - 0.05 + 0.1 * k), 0.5, sin(M_PI - 0.05 + 0.1 * k)}};
        double gradient[12];
        memcpy(at[k], wing, sizeof wing);
        angles[k] = pl_dihedral(at[k], corner, gradient);
    }
    ck_assert_double_gt(fabs(angles[1] - angles[0]), 6);
    const pl_stage stage = {.scalars = {.a = 1, .h = 1 / RATE, .span = 1 / RATE},
                            .x_start = at[0],
                            .xp = at[0],
                            .v_start = v};
    g.ops->freeze(&g, &stage, 0, 1);
    const double rate = 0.7 * 0.1 * RATE;
    ck_assert_double_eq_tol(group_energy(&g, at[1]), 0.5 * 3 * rate * rate / 2 / RATE, 1e-9);
    g.ops->destroy(&g);
    pl_terms_list_clear(&list);
}
END_TEST

START_TEST(so_is_every_function_merged_with_the_energy)
{
    each(3, PL_MATERIAL_COROTATED, true);
    each(3, PL_MATERIAL_NEO_HOOKEAN, true);
    each(3, PL_MATERIAL_POLYNOMIAL, true);
}
END_TEST

/* A merged term has the energy of both, dissipates what the function alone dissipates, and reports the elastic part as
 * elastic: its energy when nothing moves. */
START_TEST(a_merged_term_is_the_sum)
{
    for (int k = 0; k < COUNT; k++) {
        fixture apart, both;
        pl_damping d = FUNCTIONS[k].d;
        pl_block_measure measure[4];
        double power[2][4], elastic = 0;
        if (d.second_order)
            continue;
        open_fixture(&apart, &d, 3, PL_MATERIAL_COROTATED);
        d.merged = true;
        open_fixture(&both, &d, 3, PL_MATERIAL_COROTATED);
        both.g.ops->measure(&both.g, both.x, measure, 0, both.g.blocks);
        for (int64_t b = 0; b < both.g.blocks; b++)
            elastic += measure[b].energy;
        const double sum = group_energy(&apart.g, apart.x) + elastic;
        ck_assert_double_gt(elastic, 0);
        ck_assert_msg(fabs(group_energy(&both.g, both.x) - sum) <= 1e-12 * sum, "%s",
                      FUNCTIONS[k].name);
        apart.g.ops->dissipate(&apart.g, apart.x, power[0], 0, apart.g.blocks);
        both.g.ops->dissipate(&both.g, both.x, power[1], 0, both.g.blocks);
        ck_assert_mem_eq(power[0], power[1], (size_t)both.g.blocks * sizeof(double));
        apart.g.ops->destroy(&apart.g);
        both.g.ops->destroy(&both.g);
    }
}
END_TEST

/* K of compressed elements is not definite, and Rayleigh's R of a rotation is below 0: it is bounded there by a
 * hundredth of its stiffness, and has consistent derivatives. */
START_TEST(rayleigh_has_a_lower_bound)
{
    static const double turns[] = {0.1, 0.2, 0.5, 1, 3}, pressed[] = {0.97, 0.8, 0.4, 0.05};
    const pl_damping d = {.model = PL_DAMPING_RAYLEIGH, .beta = 0.1};
    double least = 0;
    for (int i = 0; i < 20; i++) {
        fixture f;
        double drawn_out[3 * POINTS]; /* start of the step, so that K is definite there */
        open_fixture(&f, &d, 3, PL_MATERIAL_COROTATED);
        for (int e = 0; e < 3 * POINTS; e++)
            drawn_out[e] = 1.02 * f.xp[e];
        f.stage.x_start = drawn_out;
        f.g.ops->freeze(&f.g, &f.stage, 0, f.g.blocks);
        for (int k = 0; k < POINTS; k++) {
            const double c = cos(turns[i % 5]), s = sin(turns[i % 5]), *x = f.xp + 3 * k;
            f.x[3 * k] = pressed[i / 5] * (c * x[0] - s * x[1]);
            f.x[3 * k + 1] = pressed[i / 5] * (s * x[0] + c * x[1]);
            f.x[3 * k + 2] = pressed[i / 5] * x[2];
        }
        least = fmin(least, group_energy(&f.g, f.x));
        if (pressed[i / 5] > 0.9) {
            check_gradient(&f, "Rayleigh of a turn");
            check_hessian(&f, "Rayleigh of a turn", 2e-5);
        }
        f.g.ops->destroy(&f.g);
    }
    /* c q0 / 2 of each, q0 = 2 mu / 100; of a half the volume */
    const double bound = TERMS * 0.5 * 0.1 * RATE * 2 / 2;
    ck_assert_msg(least < -0.5 * bound && least >= -1.02 * bound, "%g of %g", least, bound);
}
END_TEST

/* From x to xp nothing happened: no energy, no force, no power; and a power is not below 0. */
START_TEST(rest_costs_nothing)
{
    for (int of = 0; of < COUNT * HINGES; of++) {
        const int k = of % COUNT, columns = 1 + of / COUNT;
        fixture f;
        double g[3 * POINTS], power[4];
        if (FUNCTIONS[k].d.second_order || FUNCTIONS[k].columns > columns ||
            (columns >= BENDS && !bends_by(&FUNCTIONS[k].d, columns)))
            continue;
        open_fixture(&f, &FUNCTIONS[k].d, columns, PL_MATERIAL_COROTATED);
        f.g.ops->dissipate(&f.g, f.x, power, 0, f.g.blocks);
        ck_assert_msg(power[0] > 0, "%s: %g W", FUNCTIONS[k].name, power[0]);
        forces(&f.g, f.xp, g);
        ck_assert_double_eq_tol(group_energy(&f.g, f.xp), 0, 1e-12);
        for (int i = 0; i < 3 * POINTS; i++)
            ck_assert_double_eq_tol(g[i], 0, 1e-9);
        f.g.ops->destroy(&f.g);
    }
}
END_TEST

/* x turned about an axis by an angle: forces of functions of F^T F alone have no torque, and a turn from
 * xp costs nothing. */
START_TEST(turning_costs_nothing_where_it_should)
{
    for (int of = 0; of < COUNT * HINGES; of++) {
        const int columns = 1 + of / COUNT, k = of % COUNT;
        const pl_damping *d = &FUNCTIONS[k].d;
        const bool invariant = columns == HINGES
                                   ? bends_by(d, columns)
                                   : columns < BENDS && FUNCTIONS[k].columns <= columns &&
                                         (d->momentum != PL_MOMENTUM_NONE ||
                                          d->model >= PL_DAMPING_PRINCIPAL_STRAIN);
        fixture f;
        double g[3 * POINTS], turned[3 * POINTS], torque = 0, scale = 0;
        if (!invariant || d->second_order)
            continue;
        open_fixture(&f, d, columns, PL_MATERIAL_COROTATED);
        for (int i = 0; i < POINTS; i++) {
            const double c = cos(0.7), s = sin(0.7), *x = f.xp + 3 * i;
            turned[3 * i] = c * x[0] - s * x[1];
            turned[3 * i + 1] = s * x[0] + c * x[1];
            turned[3 * i + 2] = x[2];
        }
        ck_assert_msg(fabs(group_energy(&f.g, turned)) < 1e-12, "%s", FUNCTIONS[k].name);
        forces(&f.g, f.x, g);
        for (int i = 0; i < POINTS; i++) {
            torque += f.x[3 * i] * g[3 * i + 1] - f.x[3 * i + 1] * g[3 * i];
            scale = fmax(scale, fabs(g[3 * i]));
        }
        ck_assert_msg(fabs(torque) < 1e-11 * scale, "%s: %g of %g", FUNCTIONS[k].name, torque,
                      scale);
        f.g.ops->destroy(&f.g);
    }
}
END_TEST

#if defined(__x86_64__)
/* Forces of every function, hashed, on an instruction set: in a process of its own, for it is chosen once. */
static void bits_on(const char *isa, uint64_t *out)
{
    setenv("PLIANT_ISA", isa, 1);
    *out = PL_HASH_START;
    for (int of = 0; of < (1 + HINGES) * COUNT; of++) {
        fixture f;
        double g[3 * POINTS];
        const int k = of % COUNT, columns = of < COUNT ? 3 : of / COUNT;
        pl_damping d = FUNCTIONS[k].d;
        d.merged = of < COUNT;
        if (FUNCTIONS[k].columns > columns || (columns >= BENDS && !bends_by(&d, columns)))
            continue;
        open_fixture(&f, &d, columns, PL_MATERIAL_NEO_HOOKEAN);
        forces(&f.g, f.x, g);
        *out = pl_hash(*out, g, sizeof g);
        if (columns == HINGES) { /* which have no prox */
            f.g.ops->destroy(&f.g);
            continue;
        }
        double *v = pl_block_alloc(pl_group_values(&f.g), sizeof *v);
        double *z = pl_block_alloc(pl_group_values(&f.g), sizeof *z);
        f.g.ops->reduce(&f.g, f.x, v, 0, f.g.blocks);
        f.g.ops->prox(&f.g, &f.stage, v, z, 0, f.g.blocks);
        *out = pl_hash(*out, z, (size_t)pl_group_values(&f.g) * sizeof *z);
        free(v);
        free(z);
        f.g.ops->destroy(&f.g);
    }
}

START_TEST(instruction_sets_give_the_same_bits)
{
    static const char *const names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    uint64_t *bits = mmap(NULL, 3 * sizeof *bits, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(bits, MAP_FAILED);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            bits_on(names[i], &bits[i]);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_uint_eq(bits[i], bits[0]);
    }
    munmap(bits, 3 * sizeof *bits);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("damping");
    tcase_add_test(t, every_function_is_what_it_is_defined_by);
    tcase_add_test(t, so_is_every_function_of_what_bends);
    tcase_add_test(t, a_hinge_may_fold_over);
    tcase_add_test(t, so_is_every_function_merged_with_the_energy);
    tcase_add_test(t, a_merged_term_is_the_sum);
    tcase_add_test(t, rayleigh_has_a_lower_bound);
    tcase_add_test(t, rest_costs_nothing);
    tcase_add_test(t, turning_costs_nothing_where_it_should);
#if defined(__x86_64__)
    tcase_add_test(t, instruction_sets_give_the_same_bits);
#endif
    return run_cases("damping", t);
}
