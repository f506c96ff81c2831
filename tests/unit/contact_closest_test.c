/* Closest points against long double and a dense sampling, with degenerate features. */
#include "engine/contact/closest.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

static uint64_t seed;

/* Four points, degenerate in most ways there are. */
static void draw_points(double x[4][3], int flavour)
{
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            x[k][c] = contact_draw(&seed);
    if (flavour == 1) /* a triangle on a line, parallel edges */
        for (int c = 0; c < 3; c++)
            x[3][c] = x[2][c] + 0.7 * (x[1][c] - x[0][c]);
    if (flavour == 2)
        for (int c = 0; c < 3; c++)
            x[3][c] = x[1][c] + 1.5 * (x[2][c] - x[1][c]);
    if (flavour == 3)
        memcpy(x[3], x[2], sizeof x[3]);
    if (flavour == 4)
        memcpy(x[3], memcpy(x[2], x[1], sizeof x[2]), sizeof x[3]);
    if (flavour == 5) /* a grid: ties, right angles, one plane */
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++)
                x[k][c] = c == 2 ? 0 : round(2 * x[k][c]);
    if (flavour == 6)
        for (int c = 0; c < 3; c++)
            x[3][c] = x[2][c] + 1e-7 * contact_draw(&seed);
}

static void widen(double x[4][3], exact_point y[4])
{
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            y[k][c] = x[k][c];
}

/* The distance given by weights, and their range and sum. */
static double weighted(double x[4][3], const double w[4])
{
    double d[3] = {0};
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            d[c] += w[k] * x[k][c];
    ck_assert_double_eq_tol(w[0] + w[1] + w[2] + w[3], 0, 1e-15);
    return sqrt(pl_vector_dot(d, d));
}

static void check_place(const pl_closest *p, const long double place[3])
{
    if (p->place == PL_CLOSEST_FACE)
        for (int k = 0; k < 3; k++)
            ck_assert(place[k] > 0 && fabsl(place[k] - p->b[k]) < 1e-6);
    if (p->place >= PL_CLOSEST_SIDE && p->place < PL_CLOSEST_CORNER)
        ck_assert_double_eq(p->b[pl_contact_side[p->place - PL_CLOSEST_SIDE][2]], 0);
    if (p->place >= PL_CLOSEST_CORNER)
        ck_assert_double_eq(p->b[p->place - PL_CLOSEST_CORNER], 1);
    if (p->place != PL_CLOSEST_FACE && !isnan(place[0]))
        ck_assert(place[0] < 1e-5 || place[1] < 1e-5 || place[2] < 1e-5);
}

START_TEST(vertex_and_triangle)
{
    int faces = 0, sides = 0, corners = 0;
    seed = 1;
    for (int n = 0; n < 70000; n++) {
        double x[4][3];
        exact_point y[4];
        long double place[3];
        draw_points(x, n % 7);
        widen(x, y);
        pl_closest p = pl_closest_triangle(x[0], (const double *const[3]){x[1], x[2], x[3]});
        double exact = (double)exact_point_triangle(y[0], y + 1, place);
        ck_assert_double_eq_tol(sqrt(p.square), exact, 1e-8);
        ck_assert_double_eq_tol(weighted(x, (double[]){1, -p.b[0], -p.b[1], -p.b[2]}), exact, 1e-8);
        for (int k = 0; k < 3; k++)
            ck_assert(p.b[k] >= 0 && p.b[k] <= 1);
        if (n % 7 == 0 || n % 7 == 5)
            check_place(&p, place);
        faces += p.place == PL_CLOSEST_FACE;
        sides += p.place >= PL_CLOSEST_SIDE && p.place < PL_CLOSEST_CORNER;
        corners += p.place >= PL_CLOSEST_CORNER;
    }
    ck_assert(faces > 1000 && sides > 10000 && corners > 10000);
}
END_TEST

START_TEST(two_edges)
{
    int inside = 0;
    seed = 2;
    for (int n = 0; n < 70000; n++) {
        double x[4][3];
        exact_point y[4];
        draw_points(x, n % 7);
        widen(x, y);
        pl_closest_pair p = pl_closest_edges(x[0], x[1], x[2], x[3]);
        double exact = (double)exact_edge_edge(y, y + 2, NULL);
        ck_assert_double_eq_tol(sqrt(p.square), exact, 2e-9);
        ck_assert_double_eq_tol(weighted(x, (double[]){1 - p.s, p.s, p.t - 1, -p.t}), exact, 2e-9);
        ck_assert(p.s >= 0 && p.s <= 1 && p.t >= 0 && p.t <= 1);
        ck_assert(!p.inside || (p.s > 0 && p.s < 1 && p.t > 0 && p.t < 1));
        ck_assert(n % 7 != 1 || !p.inside);
        inside += p.inside;
    }
    ck_assert_int_gt(inside, 3000);
}
END_TEST

/* Edges parallel to within 1e-13: the closest point of their lines is rounding. */
START_TEST(edges_nearly_parallel)
{
    seed = 6;
    for (int n = 0; n < 20000; n++) {
        double x[4][3], high = 1e-3 * contact_draw(&seed);
        exact_point y[4];
        draw_points(x, 0);
        for (int c = 0; c < 3; c++) {
            double along = x[1][c] - x[0][c];
            x[2][c] = x[0][c] + 0.3 * along + (c == 2 ? high : 0) + 1e-13 * contact_draw(&seed);
            x[3][c] = x[1][c] + 0.3 * along + (c == 2 ? high : 0) + 1e-13 * contact_draw(&seed);
        }
        widen(x, y);
        pl_closest_pair p = pl_closest_edges(x[0], x[1], x[2], x[3]);
        double exact = (double)exact_edge_edge(y, y + 2, NULL);
        ck_assert_double_eq_tol(sqrt(p.square), exact, 1e-12);
    }
}
END_TEST

START_TEST(vertex_and_edge)
{
    seed = 3;
    for (int n = 0; n < 30000; n++) {
        double x[4][3];
        exact_point y[4];
        long double t;
        draw_points(x, n % 7);
        widen(x, y);
        pl_closest p = pl_closest_edge(x[0], x[2], x[3]);
        double exact = (double)exact_point_edge(y[0], y[2], y[3], &t);
        ck_assert_double_eq_tol(sqrt(p.square), exact, 2e-9);
        ck_assert_int_eq(p.place, p.b[1] == 0 ? 1 : p.b[0] == 0 ? 2 : 0);
        if (p.place == 0)
            ck_assert(fabsl(t - p.b[1]) < 1e-6);
    }
}
END_TEST

/* No point of the features is nearer than the closest one: weights on a grid. */
START_TEST(no_sample_is_nearer)
{
    enum { STEPS = 20 };
    seed = 4;
    for (int n = 0; n < 1400; n++) {
        double x[4][3];
        draw_points(x, n % 7);
        double triangle =
            sqrt(pl_closest_triangle(x[0], (const double *const[3]){x[1], x[2], x[3]}).square);
        double edges = sqrt(pl_closest_edges(x[0], x[1], x[2], x[3]).square);
        double least_triangle = INFINITY, least_edges = INFINITY;
        for (int i = 0; i <= STEPS; i++)
            for (int j = 0; j <= STEPS; j++) {
                double s = (double)i / STEPS, t = (double)j / STEPS;
                least_edges = fmin(least_edges, weighted(x, (double[]){1 - s, s, t - 1, -t}));
                if (i + j <= STEPS)
                    least_triangle = fmin(least_triangle,
                                          weighted(x, (double[]){1, s + t - 1, -s, -t}));
            }
        ck_assert(triangle <= least_triangle + 1e-9 && least_triangle <= triangle + 0.3);
        ck_assert(edges <= least_edges + 2e-9 && least_edges <= edges + 0.3);
    }
}
END_TEST

/* Two triangles at a side agree on which side of it a point is, to the last bit. */
START_TEST(a_side_is_judged_alike_from_both_triangles)
{
    seed = 5;
    for (int n = 0; n < 100000; n++) {
        double x[4][3], p[3], along = contact_draw(&seed);
        draw_points(x, 0);
        /* the second triangle in the plane of the first, p above their side, near rounding */
        for (int c = 0; c < 3; c++) {
            x[3][c] = x[0][c] + x[1][c] - x[2][c];
            p[c] = x[0][c] + (0.5 + 0.4 * along) * (x[1][c] - x[0][c]) +
                   1e-9 * contact_draw(&seed) * (x[2][c] - x[0][c]);
        }
        pl_closest one = pl_closest_triangle(p, (const double *const[3]){x[0], x[1], x[2]});
        pl_closest two = pl_closest_triangle(p, (const double *const[3]){x[0], x[1], x[3]});
        bool above_one = one.place == PL_CLOSEST_FACE, above_two = two.place == PL_CLOSEST_FACE;
        ck_assert(!(above_one && above_two));
        ck_assert_int_eq(above_one, pl_closest_inside(p, x[0], x[1], x[2]) > PL_CLOSEST_SNAP);
        ck_assert_int_eq(above_two, pl_closest_inside(p, x[0], x[1], x[3]) > PL_CLOSEST_SNAP);
        if (!above_one && !above_two) {
            ck_assert_int_eq(one.place, PL_CLOSEST_SIDE);
            ck_assert(memcmp(one.b, two.b, sizeof one.b) == 0);
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("closest");
    tcase_add_test(t, vertex_and_triangle);
    tcase_add_test(t, two_edges);
    tcase_add_test(t, edges_nearly_parallel);
    tcase_add_test(t, vertex_and_edge);
    tcase_add_test(t, no_sample_is_nearer);
    tcase_add_test(t, a_side_is_judged_alike_from_both_triangles);
    return run_cases("contact_closest", t);
}
