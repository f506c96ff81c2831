/* A shape with a margin: contacts measure the distance less the margin, for every kind, with the same normal and
 * Hessian; drawings and metrics still measure without it. */
#include "engine/obstacles/distance.h"
#include "engine/obstacles/shape.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

static double heights[] = {0.1, 0.3, 0.2, 0, 0.4, 0.1, 0.2, 0.2, 0.3};
static double corners[] = {-0.6, -0.5, -0.5, 0.7, -0.5, -0.5, 0, -0.5, 0.8, 0, 0.6, 0};
static int64_t faces[] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};

static const pl_obstacle KINDS[] = {
    {.kind = PL_OBSTACLE_PLANE, .normal = {0.6, 0.8, 0}, .offset = 0.1},
    {.kind = PL_OBSTACLE_SPHERE, .radius = 0.6},
    {.kind = PL_OBSTACLE_BOX,
     .size = {1, 0.6, 0.8},
     .rounding = 0.1,
     .place = {.rotate_axis = {0, 0.6, 0.8}, .rotate_degrees = 30}},
    {.kind = PL_OBSTACLE_CYLINDER,
     .axis = {0, 0.6, 0.8},
     .radius = 0.4,
     .has_height = true,
     .height = 0.9},
    {.kind = PL_OBSTACLE_CAPSULE, .axis = {0, 0.6, 0.8}, .radius = 0.3, .height = 0.5},
    {.kind = PL_OBSTACLE_CONE, .axis = {0, 0.6, 0.8}, .radius = 0.5, .height = 0.8},
    {.kind = PL_OBSTACLE_TORUS, .axis = {0, 0.6, 0.8}, .radius = 0.5, .tube = 0.2},
    {.kind = PL_OBSTACLE_HEIGHTFIELD, .rows = 3, .columns = 3, .heights = heights, .spacing = 0.6},
    {.kind = PL_OBSTACLE_MESH,
     .mesh = {.source =
                  {.vertices = corners, .vertex_count = 4, .triangles = faces, .triangle_count = 4},
              .transform = {.scale = {1, 1, 1}, .rotate_axis = {0, 0, 1}}}},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static pl_shape *make(const pl_obstacle *o)
{
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(o, &s), PL_OK);
    return s;
}

static uint64_t seed = 5;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

START_TEST(contacts_measure_the_distance_less_the_margin)
{
    const double margin = 0.07;
    pl_obstacle o = KINDS[_i / 2];
    o.inside = o.mesh.inside = _i % 2 && o.kind != PL_OBSTACLE_HEIGHTFIELD;
    pl_shape *bare = make(&o);
    o.margin = margin;
    pl_shape *shape = make(&o);
    for (int q = 0; q < 300; q++) {
        double p[3] = {draw(), draw(), draw()}, n[2][3], H[2][9];
        double d = pl_shape_measure(bare, p, n[0], H[0]);
        ck_assert(pl_shape_measure(shape, p, n[1], H[1]) == d);
        ck_assert(pl_shape_distance(shape, p, n[1]) == d);
        ck_assert(pl_shape_distance_held(shape, p, n[1]) == d - margin);
        ck_assert_mem_eq(n[0], n[1], sizeof n[0]);
        ck_assert(pl_shape_distance_held(bare, p, n[1]) == d);
        /* A way of no length goes through nothing. */
        ck_assert(pl_shape_measure_from(shape, p, p, n[1], H[1]) == d - margin);
        ck_assert_mem_eq(n[0], n[1], sizeof n[0]);
        ck_assert_mem_eq(H[0], H[1], sizeof H[0]);
    }
    pl_shape_destroy(bare);
    pl_shape_destroy(shape);
}
END_TEST

/* A plate of 1 cm whose margin is 5 cm: what comes from above is held above, however far it got. */
START_TEST(way_into_the_margin_of_a_thin_part_is_seen)
{
    static const struct {
        double from, to, distance;
    } rows[] = {
        {1, 0.06, 0.005},     /* 5.5 cm above the face */
        {1, 0.05, -0.005},    /* in the margin */
        {1, 0.004, -0.051},   /* in the plate */
        {1, -0.004, -0.059},  /* nearer to the far face */
        {1, -0.05, -0.105},   /* in the margin beyond */
        {1, -0.06, -0.115},   /* beyond that */
        {0.03, -0.06, -0.115} /* from a start in the margin */
    };
    pl_obstacle o = {.kind = PL_OBSTACLE_BOX, .size = {2, 0.01, 2}, .margin = 0.05};
    pl_shape *s = make(&o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double n[3], from[3] = {0.1, rows[i].from, 0}, to[3] = {0.12, rows[i].to, 0};
        double d = pl_shape_measure_from(s, from, to, n, NULL);
        ck_assert_double_eq_tol(d, rows[i].distance, 1e-14);
        ck_assert_double_eq(n[1], 1);
    }
    pl_shape_destroy(s);
}
END_TEST

/* A path past a plate's edge that enters only its margin, and one that does not. */
START_TEST(margin_is_on_the_way)
{
    pl_obstacle o = {.kind = PL_OBSTACLE_BOX, .size = {2, 0.01, 2}, .margin = 0.05};
    pl_shape *s = make(&o);
    double n[3];
    ck_assert_double_lt(
        pl_shape_measure_from(s, (double[]){1.04, 1, 0}, (double[]){1.04, -1, 0}, n, NULL), 0);
    ck_assert_double_gt(
        pl_shape_measure_from(s, (double[]){1.06, 1, 0}, (double[]){1.06, -1, 0}, n, NULL), 0);
    pl_shape_destroy(s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles_margin");
    TCase *t = tcase_create("margin");
    tcase_add_loop_test(t, contacts_measure_the_distance_less_the_margin, 0, 2 * KIND_COUNT);
    tcase_add_test(t, way_into_the_margin_of_a_thin_part_is_seen);
    tcase_add_test(t, margin_is_on_the_way);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
