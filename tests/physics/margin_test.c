/* obstacles[].margin: contacts keep vertices this far from the surface, for every shape, hard and as an energy, from
 * outside and from inside. If a shape with a margin equals another shape, the results are equal to the bit; a coarse
 * cloth with the documented margin hides the ball below it. */
#include "engine/model/model.h"
#include "engine/obstacles/shape.h"
#include "engine/scene/motion.h"
#include "engine/vectors.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>

#define HARD   "'method': 'admm', 'iterations': 400, 'tolerance': 1e-6"
#define ENERGY "'method': 'newton', 'tolerance': 1e-6, 'obstacles': 'energy'"
#define FIELD                                                                                      \
    "'heightfield': {'center': [0, -0.06, 0], 'spacing': 0.25, 'heights': [[0.1, 0.1, 0, 0.1, "    \
    "0.1], [0, 0.1, 0.03, 0.1, 0], [0.1, 0, 0.06, 0, 0.1], [0, 0.1, 0.03, 0.1, 0],"                \
    " [0.1, 0.1, 0, 0.1, 0.1]]}"
#define BLOCK                                                                                      \
    "'mesh': {'vertices': [-1, -1, -1, 1, -1, -1, 1, -1, 1, -1, -1, 1, -1, 0, -1, 1, 0, -1,"       \
    " 1, 0, 1, -1, 0, 1], 'triangles': [0, 1, 2, 0, 2, 3, 0, 5, 1, 0, 4, 5, 1, 5, 6, 1, 6, 2,"     \
    " 2, 6, 7, 2, 7, 3, 3, 7, 4, 3, 4, 0, 4, 7, 6, 4, 6, 5]}"
#define ROOM                                                                                       \
    "'mesh': {'vertices': [-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1, -1, 2, -1, 1, 2, -1, 1, 2, 1,"  \
    " -1, 2, 1], 'triangles': [0, 1, 2, 0, 2, 3, 0, 5, 1, 0, 4, 5, 1, 5, 6, 1, 6, 2, 2, 6, 7, 2,"  \
    " 7, 3, 3, 7, 4, 3, 4, 0, 4, 7, 6, 4, 6, 5], 'inside': true}"

/* ---- a body rests on every shape, the margin above it ---- */

static const char *const RESTS[] = {
    "'plane': {}",
    "'box': {'center': [0, -0.5, 0], 'size': [0.7, 1, 0.5]}",
    "'box': {'center': [0, -0.001, 0], 'size': [3, 0.002, 3]}", /* far thinner than the margin */
    "'box': {'center': [0, 1, 0], 'size': [1, 2, 1], 'inside': true}",
    "'sphere': {'center': [0, -0.5, 0]}",
    "'sphere': {'center': [0, 0.5, 0], 'inside': true}",
    "'cylinder': {'center': [0, -0.3, 0], 'axis': [1, 0, 1], 'radius': 0.3}",
    "'cylinder': {'center': [0, 0.5, 0], 'axis': [0, 0, 1], 'radius': 0.5, 'inside': true}",
    "'capsule': {'center': [0, -0.4, 0], 'axis': [1, 0, 0.2], 'radius': 0.4, 'height': 1}",
    "'cone': {'center': [0, -0.2, 0], 'axis': [0, -1, 0], 'radius': 0.3, 'height': 0.4}",
    "'cone': {'center': [0, 0.217, 0], 'axis': [0, -1, 0], 'radius': 1, 'inside': true}",
    "'torus': {'center': [0, -0.05, 0], 'radius': 0.2, 'tube': 0.05}",
    FIELD,
    BLOCK,
    ROOM,
};
enum { REST_COUNT = sizeof RESTS / sizeof *RESTS };
static const double MARGIN = 0.03, WEIGHT = 0.064 * 500 * 9.81;

/* The least distance of a vertex from the obstacle's own surface. */
static double clearance(const pl_run *r)
{
    pl_shape *s;
    double least = INFINITY, n[3];
    ck_assert_int_eq(pl_shape_create(&r->scene.obstacles[0], &s), PL_OK);
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        least = fmin(least, pl_shape_distance(s, pl_run_x(r) + 3 * i, n));
    pl_shape_destroy(s);
    return least;
}

static pl_run *drop(const char *solver, const char *obstacle)
{
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 90},"
        " 'solver': {%s, 'on_not_converged': 'continue'},"
        " 'materials': {'m': {'young': 2e5, 'poisson': 0.3, 'density': 500}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
        "             'transform': {'translate': [0, 0.29, 0]}}],"
        " 'obstacles': [{%s, 'friction': 0.6, 'margin': 0.03}]}",
        solver, obstacle);
}

START_TEST(body_rests_a_margin_away)
{
    bool hard = _i < REST_COUNT;
    const char *obstacle = RESTS[_i % REST_COUNT];
    pl_run *r = drop(hard ? HARD : ENERGY, obstacle);
    double slack = hard ? 1e-4 * 0.4 : 2e-3; /* springs give */
    double push = 0, nearest = INFINITY;
    for (int k = 0; k < 90; k++) {
        pl_run_frames(r, 1);
        ck_assert_double_eq(r->metrics.penetration[0], 0); /* which is of the surface itself */
        push += k < 60 ? 0 : r->metrics.obstacles[0].newton[1] / 30;
        nearest = r->metrics.unconverged ? nearest : fmin(nearest, clearance(r));
    }
    ck_assert_int_gt(r->metrics.contacts, 0);
    ck_assert_msg(nearest > MARGIN - slack - (hard ? 0 : 8e-3), "%s: %g m away", obstacle, nearest);
    ck_assert_msg(fabs(clearance(r) - MARGIN) < slack, "%s: rests %g m away", obstacle,
                  clearance(r));
    ck_assert_double_eq_tol(push, WEIGHT, 5e-2 * WEIGHT);
    pl_run_close(r);
}
END_TEST

/* ---- a shape with a margin that is another shape ---- */

static const struct {
    const char *with, *is;
} SAME[] = {
    {"'plane': {}, 'margin': 0.25", "'plane': {'offset': 0.25}"},
    {"'sphere': {'center': [0, -0.5, 0], 'radius': 0.5}, 'margin': 0.25",
     "'sphere': {'center': [0, -0.5, 0], 'radius': 0.75}"},
    {"'sphere': {'center': [0, 1, 0], 'radius': 1, 'inside': true}, 'margin': 0.25",
     "'sphere': {'center': [0, 1, 0], 'radius': 0.75, 'inside': true}"},
    {"'box': {'center': [0, -0.5, 0], 'size': [1, 1, 1]}, 'margin': 0.25",
     "'box': {'center': [0, -0.5, 0], 'size': [1.5, 1.5, 1.5], 'rounding': 0.25}"},
    {"'cylinder': {'center': [0, -0.5, 0], 'radius': 0.5, 'height': 1}, 'margin': 0.25",
     "'cylinder': {'center': [0, -0.5, 0], 'radius': 0.75, 'height': 1.5, 'rounding': 0.25}"},
    {"'capsule': {'center': [0, -0.5, 0], 'axis': [1, 0, 0], 'radius': 0.5}, 'margin': 0.25",
     "'capsule': {'center': [0, -0.5, 0], 'axis': [1, 0, 0], 'radius': 0.75}"},
    {"'torus': {'center': [0, 0, 0], 'radius': 0.5, 'tube': 0.25}, 'margin': 0.125",
     "'torus': {'center': [0, 0, 0], 'radius': 0.5, 'tube': 0.375}"},
};
enum { SAME_COUNT = sizeof SAME / sizeof *SAME };
static const char *const SOLVERS[] = {
    "'method': 'admm', 'iterations': 30",
    "'method': 'newton'",
    "'method': 'quasi_newton', 'obstacles': 'energy', 'contact_stiffness': 3",
};

/* A body that arrives rotated, continues sliding and bounces. */
static pl_run *bounce(const char *solver, const char *obstacle)
{
    return pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 30}, 'solver': {%s, 'on_not_converged':"
        " 'continue'}, 'materials': {'m': {'young': 5e4}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
        "   'transform': {'translate': [0.03, 0.65, 0], 'rotate': {'axis': [1, 0, 1], 'degrees':"
        "   10}}, 'initial': {'velocity': [0.5, -3, 0.1]}}],"
        " 'obstacles': [{%s, 'friction': 0.3, 'restitution': 0.5,"
        "   'motion': {'velocity': [0.1, 0.25, 0]}}]}",
        solver, obstacle);
}

START_TEST(margin_is_a_larger_shape)
{
    const char *solver = SOLVERS[_i / SAME_COUNT];
    pl_run *with = bounce(solver, SAME[_i % SAME_COUNT].with);
    pl_run *is = bounce(solver, SAME[_i % SAME_COUNT].is);
    int64_t contacts = 0;
    for (int k = 0; k < 30; k++) {
        pl_run_frames(with, 1);
        pl_run_frames(is, 1);
        contacts += with->metrics.contacts;
        ck_assert_int_eq(with->metrics.contacts, is->metrics.contacts);
        ck_assert_msg(pl_run_hash(with) == pl_run_hash(is), "%s: frame %d",
                      SAME[_i % SAME_COUNT].with, k);
    }
    ck_assert_int_gt(contacts, 20);
    pl_run_close(with);
    pl_run_close(is);
}
END_TEST

/* ---- the margin's purpose ---- */

static double area_of(const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    pl_vector_cross(u, v, n);
    return sqrt(pl_vector_dot(n, n)) / 2;
}

static double length_of(const double a[3], const double b[3])
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(pl_vector_dot(d, d));
}

/* The cloth's nearest point to the ball's centre, and the greatest circumradius of its triangles. */
static double nearest_of(const pl_run *r, const double centre[3], double *circumradius)
{
    const pl_mesh *m = &r->meshes[0];
    double least = INFINITY;
    *circumradius = 0;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        const double *x[3];
        for (int k = 0; k < 3; k++)
            x[k] = pl_run_x(r) + 3 * (int64_t)m->triangles[3 * t + k];
        double sides = length_of(x[0], x[1]) * length_of(x[1], x[2]) * length_of(x[2], x[0]);
        *circumradius = fmax(*circumradius, sides / (4 * area_of(x[0], x[1], x[2])));
        for (int i = 0; i <= 40; i++)
            for (int j = 0; i + j <= 40; j++) {
                double p[3], u = i / 40.0, v = j / 40.0;
                for (int c = 0; c < 3; c++)
                    p[c] = x[0][c] + u * (x[1][c] - x[0][c]) + v * (x[2][c] - x[0][c]);
                least = fmin(least, length_of(p, centre));
            }
    }
    return least;
}

/* A cloth of 4 x 4 cells over a ball: without a margin its triangles cut it, with sqrt(r^2 + R^2) - r
 * they do not (clients/docs/scene.md). */
START_TEST(coarse_cloth_hides_a_ball)
{
    const double radius = 0.3, centre[3] = {0.02, 0.01, -0.4};
    double margin = 0, nearest = 0, R = 0;
    for (int turn = 0; turn < 2; turn++) {
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 40}, 'gravity': [0, 0, -9.81],"
            " 'solver': {'method': 'admm', 'iterations': 300, 'on_not_converged': 'continue'},"
            " 'materials': {'m': {'model': 'stvk', 'young': 1e5, 'thickness': 1e-3, 'density':"
            " 300}}, 'bodies': [{'material': 'm', 'mesh': {'cloth': {'cells': [4, 4]}}}],"
            " 'obstacles': [{'sphere': {'center': [0.02, 0.01, -0.4], 'radius': 0.3},"
            "   'friction': 1, 'margin': %.17g}]}",
            margin);
        pl_run_frames(r, 40);
        ck_assert_int_gt(r->metrics.contacts, 0);
        nearest = nearest_of(r, centre, &R);
        if (turn == 0)
            ck_assert_msg(nearest < radius - 5e-3, "it lies %g m away", nearest - radius);
        margin = sqrt(radius * radius + 1.05 * R * 1.05 * R) - radius;
        pl_run_close(r);
    }
    ck_assert_msg(nearest > radius, "it shows by %g m", radius - nearest);
}
END_TEST

/* A saved state identifies its model by its numbers, including the margin. */
START_TEST(margin_is_in_the_hash)
{
    static const char *const MORE[] = {"", ", 'margin': 0.5", ", 'margin': 0.25",
                                       ", 'restitution': 0.5", ", 'margin': 0"};
    uint64_t hash[5];
    for (int k = 0; k < 5; k++) {
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'bodies': [{'mesh': {'box': {}}}],"
                                 " 'obstacles': [{'plane': {'offset': -2}%s}]}",
                                 MORE[k]);
        hash[k] = r->model->built_hash;
        for (int other = 0; other < k; other++)
            ck_assert_int_eq(hash[k] == hash[other], k == 4 && other == 0);
        pl_run_close(r);
    }
}
END_TEST

/* ---- attachments ---- */

/* A vertex that is attached to a ball is drawn to where contact leaves it, not against it. */
START_TEST(attached_vertices_rest_at_the_margin)
{
    pl_run *r = pl_run_openf(
        1, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 60}, 'gravity': [0, 0, 0],"
           " 'solver': {'method': 'admm', 'iterations': 200, 'tolerance': 1e-8, 'on_not_converged':"
           " 'continue'}, 'materials': {'m': {'young': 1e4, 'density': 100, 'damping':"
           " {'model': 'viscous', 'viscosity': 50}}},"
           " 'bodies': [{'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}},"
           "             'transform': {'translate': [0, 0.16, 0]}}],"
           " 'obstacles': [{'name': 'floor', 'plane': {}, 'margin': 0.05}],"
           " 'attachments': [{'select': {'side': '-y'}, 'obstacle': 'floor',"
           "                  'stiffness': 1e4}]}");
    pl_run_frames(r, 60);
    ck_assert_double_eq_tol(clearance(r), 0.05, 1e-6);
    ck_assert_double_eq_tol(r->metrics.obstacles[0].newton[1], 0, 1e-2);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("margin");
    TCase *t = tcase_create("margin");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, body_rests_a_margin_away, 0, 2 * REST_COUNT);
    tcase_add_loop_test(t, margin_is_a_larger_shape, 0,
                        SAME_COUNT * (int)(sizeof SOLVERS / sizeof *SOLVERS));
    tcase_add_test(t, margin_is_in_the_hash);
    tcase_add_test(t, coarse_cloth_hides_a_ball);
    tcase_add_test(t, attached_vertices_rest_at_the_margin);
    suite_add_tcase(s, t);
    return run_suite(s);
}
