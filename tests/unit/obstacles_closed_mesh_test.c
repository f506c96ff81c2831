/* Distances of closed meshes: against shapes with a formula, and signs against winding numbers. */
#include "engine/mesh/mesh.h"
#include "engine/obstacles/closed_mesh.h"
#include "engine/obstacles/distance.h"
#include "engine/obstacles/shape.h"
#include "engine/obstacles/solid.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

static const double CUBE[24] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};
static const int64_t CUBE_FACES[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void assert_closed(const double *vertex, int64_t vertices, const int64_t *triangle,
                          int64_t count)
{
    const pl_mesh_arrays arrays = {.vertex_count = vertices,
                                   .vertices = vertex,
                                   .triangle_count = count,
                                   .triangles = triangle};
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_from_arrays(&arrays, "/m", &mesh, &faults), PL_OK);
    pl_status status = pl_mesh_check_closed(&mesh, "/m", &faults);
    ck_assert_msg(status == PL_OK, "%s", faults.count ? faults.items[0].got : "");
    pl_mesh_clear(&mesh);
}

static pl_closed_mesh *make(const double *vertex, int64_t vertices, const int64_t *triangle,
                            int64_t count)
{
    pl_closed_mesh *m;
    assert_closed(vertex, vertices, triangle, count);
    ck_assert_int_eq(pl_closed_mesh_create(vertex, vertices, triangle, count, &m), PL_OK);
    return m;
}

/* Faces, edges and corners, in and out: the box's own formula. */
START_TEST(cube_is_the_box)
{
    int64_t turned[36]; /* all inwards: is turned round */
    for (int i = 0; i < 36; i++)
        turned[i] = CUBE_FACES[i - i % 3 + (3 - i % 3) % 3];
    pl_obstacle o = {.kind = PL_OBSTACLE_BOX, .size = {2, 2, 2}};
    pl_shape *box;
    ck_assert_int_eq(pl_shape_create(&o, &box), PL_OK);
    for (int side = 0; side < 2; side++) {
        pl_closed_mesh *m = make(CUBE, 8, side ? turned : CUBE_FACES, 12);
        seed = 4;
        for (int k = 0; k < 2000; k++) {
            double p[3] = {2 * draw(), 2 * draw(), 2 * draw()}, a[3], b[3], G[9], H[9] = {0};
            double d = pl_shape_measure(box, p, a, G);
            ck_assert_double_eq_tol(pl_closed_mesh_measure(m, p, b, H), d, 1e-14);
            for (int c = 0; c < 3; c++)
                ck_assert_double_eq_tol(a[c], b[c], 1e-12);
            for (int e = 0; e < 9; e++)
                ck_assert_double_eq_tol(G[e], H[e], 1e-9 * (1 + fabs(G[e])));
        }
        /* on the surface the normal is the pseudonormal */
        double n[3];
        ck_assert_double_eq(pl_closed_mesh_measure(m, (double[]){1, 1, 1}, n, NULL), 0);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(n[c], 1 / sqrt(3), 1e-14);
        ck_assert_double_eq(pl_closed_mesh_measure(m, (double[]){1, 1, 0.3}, n, NULL), 0);
        ck_assert_double_eq_tol(n[0], 1 / sqrt(2), 1e-14);
        pl_closed_mesh_destroy(m);
    }
    pl_shape_destroy(box);
}
END_TEST

typedef struct ring {
    double *vertex;
    int64_t *triangle, vertices, count;
} ring;

/* A torus of R = 0.6, r = 0.25 about y: it has edges and corners that bend both ways. */
static ring make_ring(int64_t around, int64_t across)
{
    ring r = {.vertices = around * across, .count = 2 * around * across};
    r.vertex = malloc((size_t)r.vertices * 3 * sizeof *r.vertex);
    r.triangle = malloc((size_t)r.count * 3 * sizeof *r.triangle);
    for (int64_t i = 0; i < around; i++)
        for (int64_t j = 0; j < across; j++) {
            double a = 2 * M_PI * (double)i / (double)around;
            double b = 2 * M_PI * (double)j / (double)across;
            double *v = r.vertex + 3 * (i * across + j);
            v[0] = (0.6 + 0.25 * cos(b)) * cos(a);
            v[1] = 0.25 * sin(b);
            v[2] = (0.6 + 0.25 * cos(b)) * sin(a);
            int64_t next = (i + 1) % around * across, up = (j + 1) % across;
            int64_t corners[6] = {i * across + j,  i * across + up, next + j,
                                  i * across + up, next + up,       next + j};
            memcpy(r.triangle + 6 * (i * across + j), corners, sizeof corners);
        }
    return r;
}

/* How often the surface goes round p: the sum of its triangles' solid angles over 4 pi (van Oosterom
 * and Strackee 1983). */
static double winding(const ring *r, const double p[3])
{
    double sum = 0;
    for (int64_t t = 0; t < r->count; t++) {
        double e[3][3], l[3], dot[3], det = 0;
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < 3; c++)
                e[k][c] = r->vertex[3 * r->triangle[3 * t + k] + c] - p[c];
            l[k] = sqrt(e[k][0] * e[k][0] + e[k][1] * e[k][1] + e[k][2] * e[k][2]);
        }
        for (int c = 0; c < 3; c++) {
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            det += e[0][c] * (e[1][c1] * e[2][c2] - e[1][c2] * e[2][c1]);
            dot[c] = e[c1][0] * e[c2][0] + e[c1][1] * e[c2][1] + e[c1][2] * e[c2][2];
        }
        sum += 2 * atan2(det, l[0] * l[1] * l[2] + dot[0] * l[0] + dot[1] * l[1] + dot[2] * l[2]);
    }
    return sum / (4 * M_PI);
}

START_TEST(signs_are_the_winding_number_s)
{
    ring r = make_ring(11, 7);
    pl_closed_mesh *m = make(r.vertex, r.vertices, r.triangle, r.count);
    seed = 9;
    int within = 0;
    for (int k = 0; k < 3000; k++) {
        double p[3] = {draw(), 0.4 * draw(), draw()}, n[3];
        double d = pl_closed_mesh_measure(m, p, n, NULL);
        /* the mesh may face in: make() turned it round then */
        ck_assert_msg((d < 0) == (fabs(winding(&r, p)) > 0.5), "distance %g, winding %g", d,
                      winding(&r, p));
        within += d < 0;
        for (int c = 0; c < 3; c++)
            p[c] -= d * n[c];
        ck_assert_double_eq_tol(pl_closed_mesh_measure(m, p, n, NULL), 0, 1e-14);
    }
    ck_assert_int_gt(within, 300);
    pl_closed_mesh_destroy(m);
    free(r.vertex), free(r.triangle);
}
END_TEST

/* Finer and finer it is the torus of the formula; 100 000 triangles. */
START_TEST(fine_mesh_is_the_shape)
{
    ring r = make_ring(320, 160);
    pl_closed_mesh *m = make(r.vertex, r.vertices, r.triangle, r.count);
    pl_obstacle o = {.kind = PL_OBSTACLE_TORUS, .axis = {0, 1, 0}, .radius = 0.6, .tube = 0.25};
    pl_shape *torus;
    ck_assert_int_eq(pl_shape_create(&o, &torus), PL_OK);
    for (int k = 0; k < 5000; k++) {
        double p[3] = {draw(), 0.4 * draw(), draw()}, a[3], b[3];
        double d = pl_shape_distance(torus, p, a);
        ck_assert_double_eq_tol(pl_closed_mesh_measure(m, p, b, NULL), d, 3e-4);
    }
    pl_shape_destroy(torus);
    pl_closed_mesh_destroy(m);
    free(r.vertex), free(r.triangle);
}
END_TEST

/* A bound on the distance changes no bit, where triangles tie too; a wrong one neither. */
START_TEST(bounds_change_no_bit)
{
    static const double BOUNDS[] = {1, 1.3, 10, 0.5, 0};
    ring r = make_ring(12, 8);
    pl_closed_mesh *m = make(r.vertex, r.vertices, r.triangle, r.count);
    for (int k = 0; k < 2000; k++) {
        const double *v = r.vertex + 3 * (k % r.vertices);
        double p[3] = {draw(), 0.4 * draw(), draw()}, n[3], H[9] = {0};
        if (k % 2)
            memcpy(p, v, sizeof p); /* where all triangles around tie */
        p[0] *= k % 4 < 2 ? 1 : 1.2;
        double d = pl_closed_mesh_measure(m, p, n, H);
        for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) {
            double other[3], J[9] = {0};
            ck_assert_double_eq(pl_closed_mesh_measure_within(m, p, BOUNDS[i] * fabs(d), other, J),
                                d);
            ck_assert_mem_eq(other, n, sizeof n);
            ck_assert_mem_eq(J, H, sizeof H);
        }
    }
    pl_closed_mesh_destroy(m);
    free(r.vertex), free(r.triangle);
}
END_TEST

START_TEST(normal_and_hessian_are_the_distance_s)
{
    ring r = make_ring(11, 7);
    pl_closed_mesh *m = make(r.vertex, r.vertices, r.triangle, r.count);
    seed = 31;
    int good = 0;
    for (int k = 0; k < 300; k++) {
        double p[3] = {draw(), 0.4 * draw(), draw()}, n[3], H[9] = {0}, worst = 0;
        double d = pl_closed_mesh_measure(m, p, n, H);
        for (int c = 0; c < 3; c++) {
            double up[3] = {p[0], p[1], p[2]}, down[3] = {p[0], p[1], p[2]}, a[3], b[3];
            up[c] += 1e-6, down[c] -= 1e-6;
            double slope = (pl_closed_mesh_measure(m, up, a, NULL) -
                            pl_closed_mesh_measure(m, down, b, NULL)) /
                           2e-6;
            worst = fmax(worst, fabs(slope - n[c]));
            for (int e = 0; e < 3; e++)
                worst = fmax(worst, fabs((a[e] - b[e]) / 2e-6 - H[3 * e + c]) * fabs(d) * 0.1);
        }
        good += worst < 1e-5;
    }
    ck_assert_int_ge(good, 297); /* the others are within 1e-6 of a jump of the normal */
    pl_closed_mesh_destroy(m);
    free(r.vertex), free(r.triangle);
}
END_TEST

/* A motion without an origin rotates a mesh about the middle of its bounding box, after placement. */
START_TEST(motions_turn_about_the_middle)
{
    double vertex[24];
    int64_t triangle[36];
    for (int i = 0; i < 24; i++)
        vertex[i] = CUBE[i] + (i % 3 == 0 ? 5 : 0);
    memcpy(triangle, CUBE_FACES, sizeof triangle);
    pl_obstacle o = {.kind = PL_OBSTACLE_MESH,
                     .mesh = {.source = {.vertex_count = 8,
                                         .vertices = vertex,
                                         .triangle_count = 12,
                                         .triangles = triangle},
                              .transform = {.scale = {2, 1, 3},
                                            .rotate_axis = {0, 0, 1},
                                            .rotate_degrees = 90,
                                            .translate = {0, 0, 7}}}};
    const double middle[3] = {0, 10, 7}, own[3] = {1, 2, 3};
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(&o, &s), PL_OK);
    pl_motion motion = pl_obstacle_motion(&o, s);
    ck_assert(motion.has_origin);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(motion.origin[c], middle[c], 1e-12);
    o.motion.has_origin = true;
    memcpy(o.motion.origin, own, sizeof own);
    ck_assert_mem_eq(pl_obstacle_motion(&o, s).origin, own, sizeof own);
    pl_shape_destroy(s);
}
END_TEST

/* Ground of 5 x 4 samples: above is outside, below is in; the nearest point is on the surface. */
START_TEST(heightfield_is_ground)
{
    double heights[20], n[3];
    seed = 2;
    for (int i = 0; i < 20; i++)
        heights[i] = 0.3 * draw();
    pl_obstacle o = {.kind = PL_OBSTACLE_HEIGHTFIELD,
                     .center = {1, 2, 3},
                     .rows = 4,
                     .columns = 5,
                     .heights = heights,
                     .spacing = 0.5};
    pl_solid_arrays a;
    ck_assert_int_eq(pl_solid_arrays_create(&o, &a), PL_OK);
    assert_closed(a.vertex, a.vertex_count, a.triangle, a.triangle_count);
    pl_solid_arrays_clear(&a);
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(&o, &s), PL_OK);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 5; c++) {
            double p[3] = {1 + (c - 2) * 0.5, 2 + heights[5 * r + c], 3 + (r - 1.5) * 0.5};
            ck_assert_double_eq_tol(pl_shape_distance(s, p, n), 0, 1e-15);
            p[1] += 0.01;
            ck_assert_double_gt(pl_shape_distance(s, p, n), 0);
        }
    for (int k = 0; k < 200; k++) { /* in a cell: over its lower triangle, u + w < 1 */
        int c = k % 4, r = k % 3;
        double u = 0.49 * fabs(draw()), w = 0.49 * fabs(draw());
        const double *h = heights + 5 * r + c;
        double y = h[0] + u * (h[1] - h[0]) + w * (h[5] - h[0]);
        double p[3] = {1 + (c + u - 2) * 0.5, 2 + y + 1e-3, 3 + (r + w - 1.5) * 0.5};
        double d = pl_shape_distance(s, p, n);
        ck_assert(d > 0 && d <= 1e-3 * (1 + 1e-9));
        p[1] -= 2e-3;
        d = pl_shape_distance(s, p, n);
        ck_assert(d < 0 && d >= -1e-3 * (1 + 1e-9));
    }
    /* its flat bottom is the longer side, 2 m, below the lowest sample */
    double lowest = 1;
    for (int i = 0; i < 20; i++)
        lowest = fmin(lowest, heights[i]);
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){1.1, 2 + lowest - 2.25, 3}, n), 0.25,
                            1e-14);
    ck_assert_double_eq_tol(n[1], -1, 1e-14);
    pl_shape_destroy(s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles_closed_mesh");
    TCase *t = tcase_create("closed_mesh");
    tcase_add_test(t, cube_is_the_box);
    tcase_add_test(t, signs_are_the_winding_number_s);
    tcase_add_test(t, fine_mesh_is_the_shape);
    tcase_add_test(t, bounds_change_no_bit);
    tcase_add_test(t, normal_and_hessian_are_the_distance_s);
    tcase_add_test(t, heightfield_is_ground);
    tcase_add_test(t, motions_turn_about_the_middle);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
