/* Obstacles as energies: gradient and Hessian against differences, force and energy against closed
 * forms, for every shape, moved and with friction. */
#include "engine/model/groups/contact_springs.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static uint64_t seed;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

enum { COUNT = 40 }; /* two blocks and a half */

#define MOTION                                                                                     \
    .motion = {.present = true,                                                                    \
               .velocity = {0.3, 0.2, -0.1},                                                       \
               .axis = {0, 0.6, 0.8},                                                              \
               .degrees_per_second = 40}
static const pl_obstacle OBSTACLES[] = {
    {.kind = PL_OBSTACLE_PLANE, .normal = {0.6, 0.8, 0}, .offset = 0.3, .friction = 0.4, MOTION},
    {.kind = PL_OBSTACLE_SPHERE, .radius = 1, .friction = 0.4, MOTION},
    {.kind = PL_OBSTACLE_SPHERE, .radius = 0.8, .inside = true, MOTION},
    {.kind = PL_OBSTACLE_BOX, .size = {2, 1.5, 1.2}, .rounding = 0.3, .friction = 0.7, MOTION},
    {.kind = PL_OBSTACLE_CYLINDER, .axis = {0, 1, 0}, .radius = 0.8, .friction = 0.4, MOTION},
    {.kind = PL_OBSTACLE_CAPSULE, .axis = {0, 1, 0}, .radius = 0.7, .height = 0.6, MOTION},
    {.kind = PL_OBSTACLE_TORUS,
     .axis = {0, 1, 0},
     .radius = 0.7,
     .tube = 0.3,
     .friction = 0.4,
     MOTION},
};
enum { OBSTACLE_COUNT = sizeof OBSTACLES / sizeof *OBSTACLES };

static pl_group make(const pl_obstacle *o)
{
    int32_t vertex[COUNT];
    double stiffness[COUNT];
    pl_group g;
    for (int i = 0; i < COUNT; i++) {
        vertex[i] = i;
        stiffness[i] = 100 + 10 * i;
    }
    ck_assert_int_eq(pl_contact_springs_create(o, vertex, stiffness, COUNT, &g), PL_OK);
    return g;
}

/* Vertices about the origin: many are inside an obstacle of about that size. */
static void place(double *x_start, double *x)
{
    seed = 11;
    for (int i = 0; i < 3 * COUNT; i++) {
        x_start[i] = 0.6 * draw();
        x[i] = x_start[i] + 0.1 * draw();
    }
}

static double energy(const pl_group *g, const double *x)
{
    double blocks[8], sum = 0;
    g->ops->energy(g, x, blocks, 0, g->blocks);
    for (int64_t b = 0; b < g->blocks; b++)
        sum += blocks[b];
    return sum;
}

static void freeze(pl_group *g, const double *x_start)
{
    pl_stage stage = {.scalars = {.h = 0.1, .time_start = 1, .time_end = 1.1},
                      .x_start = x_start,
                      .x_pred = x_start};
    g->ops->freeze(g, &stage, 0, g->blocks);
}

START_TEST(gradient_and_hessian_are_the_energy_s)
{
    pl_group g = make(&OBSTACLES[_i]);
    double x_start[3 * COUNT], x[3 * COUNT];
    size_t size = (size_t)pl_group_contributions(&g);
    double *f = calloc(size, sizeof *f), *up = calloc(size, sizeof *f),
           *down = calloc(size, sizeof *f);
    double *H = calloc((size_t)g.blocks * 6 * PL_BLOCK, sizeof *H);
    place(x_start, x);
    freeze(&g, x_start);
    g.ops->gradient(&g, x, f, 0, g.blocks);
    g.ops->hessian(&g, x, H, 0, g.blocks);
    int touching = 0, kinks = 0;
    for (int i = 0; i < COUNT; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        const double h = 1e-6;
        double K[3][3], bend = 0;
        for (int c = 0; c < 3; c++) {
            double x0 = x[3 * i + c];
            x[3 * i + c] = x0 + h;
            double above = energy(&g, x);
            g.ops->gradient(&g, x, up, 0, g.blocks);
            x[3 * i + c] = x0 - h;
            double below = energy(&g, x);
            g.ops->gradient(&g, x, down, 0, g.blocks);
            x[3 * i + c] = x0;
            int64_t at = (b * 3 + c) * PL_BLOCK + l;
            touching += f[at] != 0;
            ck_assert_double_eq_tol(f[at], (above - below) / (2 * h), 1e-4);
            for (int r = 0; r < 3; r++) {
                int64_t to = (b * 3 + r) * PL_BLOCK + l;
                K[r][c] = (up[to] - down[to]) / (2 * h);
                int p = r > c ? r : c, q = r > c ? c : r;
                bend = fmax(bend, fabs(K[r][c] - H[(b * 6 + p * (p + 1) / 2 + q) * PL_BLOCK + l]));
            }
        }
        kinks += bend > 1e-3 * 500; /* where the nearest face, or sticking, changes within h */
    }
    ck_assert_int_gt(touching, COUNT / 2);
    ck_assert_int_eq(kinks, 0);
    free(f), free(up), free(down), free(H);
    g.ops->destroy(&g);
}
END_TEST

/* Of what is inside the diagonal is the Hessian's; what is outside counts as inside where it is within
 * its way of the surface. */
START_TEST(diagonal_counts_what_is_within_reach)
{
    pl_obstacle floor = {.kind = PL_OBSTACLE_PLANE, .normal = {0, 0.6, 0.8}};
    int32_t vertex[3] = {0, 1, 2};
    double k[3] = {1000, 1000, 1000}, x_start[9] = {0, 1, 0, 0, 1, 0, 0, -1, 0};
    double x_pred[9] = {0, 0.5, 0, 0, 0.9, 0, 0, -1, 0}; /* ways of 0.5, 0.1 and 0 */
    double x[9] = {0, 0.4, 0, 0, 0.4, 0, 0, -1, 0};      /* 0.24 above, the last 0.6 below */
    double d[3 * PL_BLOCK];
    pl_group g;
    pl_stage stage = {.scalars = {.h = 0.1}, .x_start = x_start, .x_pred = x_pred};
    ck_assert_int_eq(pl_contact_springs_create(&floor, vertex, k, 3, &g), PL_OK);
    g.ops->freeze(&g, &stage, 0, 1);
    g.ops->hessian_diagonal(&g, x, d, 0, 1);
    static const double expected[3][3] = {{0, 360, 640}, {0, 0, 0}, {0, 360, 640}};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(d[c * PL_BLOCK + i], expected[i][c], 1e-10);
    g.ops->destroy(&g);
}
END_TEST

/* At 1 cm below a plane: k/2 d^2, and k d upwards; slip of 2 cm with mu = 0.5 slides: the energy is
 * g (s - e/2) with g = mu k d, e = g / k = 5 mm. */
START_TEST(energy_and_force_are_the_law_s)
{
    pl_obstacle floor = {.kind = PL_OBSTACLE_PLANE, .normal = {0, 1, 0}, .friction = 0.5};
    int32_t vertex = 0;
    double k = 1000, x_start[3] = {0, -0.01, 0}, x[3] = {0.02, -0.01, 0}, force[3];
    pl_group g;
    ck_assert_int_eq(pl_contact_springs_create(&floor, &vertex, &k, 1, &g), PL_OK);
    freeze(&g, x_start);
    ck_assert_double_eq_tol(energy(&g, x), 0.05 + 5 * (0.02 - 0.0025), 1e-13);
    ck_assert_int_eq(g.ops->push(&g, x, force), 1);
    ck_assert_double_eq_tol(force[0], -5, 1e-12);
    ck_assert_double_eq_tol(force[1], 10, 1e-12);
    x[0] = 0.003; /* sticks */
    ck_assert_int_eq(g.ops->push(&g, x, force), 1);
    ck_assert_double_eq_tol(force[0], -3, 1e-12);
    x[1] = 0.001; /* off the floor: friction of the step's start stays, the normal force does not */
    x[0] = 0;
    ck_assert_int_eq(g.ops->push(&g, x, force), 0);
    ck_assert_double_eq(energy(&g, x), 0);
    x_start[1] = 0.5;
    freeze(&g, x_start);
    x[0] = 3;
    ck_assert_double_eq(energy(&g, x), 0);
    g.ops->destroy(&g);
}
END_TEST

/* Any split of the blocks gives the same. */
START_TEST(blocks_may_be_split)
{
    pl_group g = make(&OBSTACLES[1]);
    double x_start[3 * COUNT], x[3 * COUNT], whole[8], parts[8];
    size_t size = (size_t)pl_group_contributions(&g);
    double *a = calloc(size, sizeof *a), *b = calloc(size, sizeof *b);
    place(x_start, x);
    freeze(&g, x_start);
    g.ops->energy_gradient(&g, x, whole, a, 0, g.blocks);
    pl_stage stage = {.scalars = {.h = 0.1, .time_start = 1, .time_end = 1.1},
                      .x_start = x_start,
                      .x_pred = x_start};
    for (int64_t k = g.blocks - 1; k >= 0; k--)
        g.ops->freeze(&g, &stage, k, k + 1);
    for (int64_t k = g.blocks - 1; k >= 0; k--)
        g.ops->energy_gradient(&g, x, parts, b, k, k + 1);
    ck_assert_mem_eq(whole, parts, (size_t)g.blocks * sizeof *whole);
    ck_assert_mem_eq(a, b, size * sizeof *a);
    free(a), free(b);
    g.ops->destroy(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_contact_springs");
    TCase *t = tcase_create("springs");
    tcase_add_loop_test(t, gradient_and_hessian_are_the_energy_s, 0, OBSTACLE_COUNT);
    tcase_add_test(t, diagonal_counts_what_is_within_reach);
    tcase_add_test(t, energy_and_force_are_the_law_s);
    tcase_add_test(t, blocks_may_be_split);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
