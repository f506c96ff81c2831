/* Held links (held_links.c): the energy that a multiplier shifts, its renewal, and the rows of constraints. */
#include "engine/model/groups/terms.h"
#include "tests/support/group_sums.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 20, TERMS = 19 }; /* a block and a bit */
static const double LENGTH = 0.5, WEIGHT = 7;

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

static void draw_points(double x[3 * POINTS])
{
    uint64_t state = 3;
    for (int i = 0; i < 3 * POINTS; i++)
        x[i] = draw(&state);
}

/* A chain: ropes, and every third a rod. */
static void make(pl_group *g)
{
    static const double SHAPE[2] = {-1, 1};
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_HELD_LINK_2), PL_LINK_CONSTANTS);
    for (int32_t t = 0; t < TERMS; t++) {
        pl_term term = {.corners = 2,
                        .corner = (int32_t[]){t, t + 1},
                        .shape = SHAPE,
                        .constant = (double[]){INFINITY, t % 3 ? 0 : LENGTH, LENGTH, 1 / LENGTH},
                        .weight = WEIGHT + t};
        ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    }
    ck_assert_int_eq(pl_terms_create(&list, NULL, NULL, g), PL_OK);
    pl_terms_list_clear(&list);
    ck_assert_int_eq(pl_group_multipliers(g), g->blocks * PL_BLOCK);
}

/* Multipliers of both signs for rods, pulls for ropes, some of which are slack. */
static double *draw_multipliers(const pl_group *g)
{
    double *f = pl_block_alloc(pl_group_multipliers(g), sizeof *f);
    uint64_t state = 9;
    for (int t = 0; t < TERMS; t++) {
        double by = draw(&state);
        f[t] = t % 3 == 0 ? by : t % 5 == 0 ? 0 : fabs(by);
    }
    return f;
}

static double length(const double *x, int t)
{
    const double *a = x + 3 * t;
    return sqrt((a[3] - a[0]) * (a[3] - a[0]) + (a[4] - a[1]) * (a[4] - a[1]) +
                (a[5] - a[2]) * (a[5] - a[2]));
}

/* The force of term t by the definition: k times the distance of r + f / k from its range. */
static double force(const double *x, const double *f, int t)
{
    double k = WEIGHT + t, lo = t % 3 ? 0 : LENGTH, r = length(x, t) + f[t] / k;
    return k * (r - fmin(fmax(r, lo), LENGTH));
}

static void freeze(const pl_group *g, const double *f)
{
    g->ops->held->hold(g, f, 0, g->blocks);
}

START_TEST(the_energy_is_that_of_a_shifted_range)
{
    double x[3 * POINTS], due = 0;
    pl_group g;
    make(&g);
    draw_points(x);
    double *f = draw_multipliers(&g);
    freeze(&g, f);
    for (int t = 0; t < TERMS; t++)
        due += force(x, f, t) * force(x, f, t) / (WEIGHT + t) / 2;
    ck_assert_double_eq_tol(group_energy(&g, x), due, 1e-12 * due);
    pl_block_measure measure[2];
    g.ops->measure(&g, x, measure, 0, g.blocks);
    ck_assert_double_eq(measure[0].energy, 0); /* a constraint stores none */
    free(f);
    g.ops->destroy(&g);
}
END_TEST

/* The gradient at x is C^T of the force there, so the renewed multipliers leave it unchanged if the constraints hold;
 * renewed again at the same x they grow by k times the remainder. */
START_TEST(renewed_multipliers_are_the_forces)
{
    double x[3 * POINTS], due[3 * POINTS], got[3 * POINTS];
    pl_group g;
    make(&g);
    draw_points(x);
    double *f = draw_multipliers(&g), *change = draw_multipliers(&g), *was = draw_multipliers(&g);
    double *c = pl_block_alloc(pl_group_contributions(&g), sizeof *c);
    freeze(&g, f);
    g.ops->gradient(&g, x, c, 0, g.blocks);
    group_add_up(&g, c, POINTS, due);
    g.ops->held->renew(&g, x, f, change, 0, g.blocks);
    for (int t = 0; t < TERMS; t++) {
        ck_assert_double_eq_tol(f[t], force(x, was, t), 1e-12);
        ck_assert_double_eq_tol(change[t], f[t] - was[t], 1e-12);
    }
    for (int64_t t = TERMS; t < g.blocks * PL_BLOCK; t++)
        ck_assert_double_eq(f[t], 0);
    g.ops->held->pull(&g, x, f, f, c, 0, g.blocks);
    group_add_up(&g, c, POINTS, got);
    for (int i = 0; i < 3 * POINTS; i++)
        ck_assert_double_eq_tol(got[i], due[i], 1e-12);
    free(f), free(change), free(was), free(c);
    g.ops->destroy(&g);
}
END_TEST

/* `along` is the lengths' derivative if a constraint holds, and `pull` its transpose. */
START_TEST(rows_are_derivatives_of_lengths)
{
    const double h = 1e-6;
    double x[3 * POINTS], d[3 * POINTS], up[3 * POINTS], down[3 * POINTS], pulled[3 * POINTS];
    pl_group g;
    make(&g);
    draw_points(x);
    uint64_t state = 21;
    for (int i = 0; i < 3 * POINTS; i++) {
        d[i] = draw(&state);
        up[i] = x[i] + h * d[i];
        down[i] = x[i] - h * d[i];
    }
    double *f = draw_multipliers(&g), *along = draw_multipliers(&g), *by = draw_multipliers(&g);
    double *c = pl_block_alloc(pl_group_contributions(&g), sizeof *c);
    double left = 0, right = 0;
    int slack = 0;
    g.ops->held->along(&g, x, f, d, along, 0, g.blocks);
    for (int t = 0; t < TERMS; t++) {
        by[t] = draw(&state);
        slack += f[t] == 0;
        double due = f[t] == 0 ? 0 : (length(up, t) - length(down, t)) / (2 * h);
        ck_assert_double_eq_tol(along[t], due, 1e-8);
        left += by[t] * along[t];
    }
    ck_assert_int_gt(slack, 0);
    g.ops->held->pull(&g, x, f, by, c, 0, g.blocks);
    group_add_up(&g, c, POINTS, pulled);
    for (int i = 0; i < 3 * POINTS; i++)
        right += pulled[i] * d[i];
    ck_assert_double_eq_tol(left, right, 1e-12);
    free(f), free(along), free(by), free(c);
    g.ops->destroy(&g);
}
END_TEST

/* A rope that a correction would push with becomes slack, a slack one stays slack, and a rod may push. */
START_TEST(corrections_keep_ropes_from_pushing)
{
    pl_group g;
    make(&g);
    double *f = draw_multipliers(&g), *change = draw_multipliers(&g);
    const int rod = 0, rope = 1, slack = 5;
    ck_assert_double_eq(f[slack], 0);
    double was = f[rod];
    change[rod] = -2 * was;
    change[rope] = -2 * f[rope];
    change[slack] = 1;
    g.ops->held->correct(&g, change, f, 0, g.blocks);
    ck_assert_double_eq_tol(f[rod], -was, 1e-15);
    ck_assert_double_eq(f[rope], 0);
    ck_assert_double_eq(f[slack], 0);
    free(f), free(change);
    g.ops->destroy(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("held_links");
    TCase *t = tcase_create("held_links");
    tcase_add_test(t, the_energy_is_that_of_a_shifted_range);
    tcase_add_test(t, renewed_multipliers_are_the_forces);
    tcase_add_test(t, rows_are_derivatives_of_lengths);
    tcase_add_test(t, corrections_keep_ropes_from_pushing);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
