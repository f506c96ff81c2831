/* A body on an obstacle of every shape, fixed and moved, held by friction or not: no penetration exceeds 1e-4 of the
 * body's size if the solver converges, and the obstacle's force is the body's weight. */
#include "engine/model/model.h"
#include "engine/scene/motion.h"
#include "engine/obstacles/shape.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* The deepest vertex below the obstacle's surface, m, at the position given by its motion; the metrics agree. */
static double depth(const pl_run *r)
{
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(&r->scene.obstacles[0], &s), PL_OK);
    pl_motion motion = pl_obstacle_motion(&r->scene.obstacles[0], s);
    pl_pose pose = pl_motion_pose(&motion, r->metrics.time);
    double most = -INFINITY, own[3], n[3];
    for (int64_t i = 0; i < pl_run_vertices(r); i++) {
        pl_pose_invert(&pose, pl_run_x(r) + 3 * i, own);
        most = fmax(most, -pl_shape_distance(s, own, n));
    }
    pl_shape_destroy(s);
    ck_assert_double_eq_tol(r->metrics.penetration[0], fmax(most, 0), 1e-15);
    return most;
}

static pl_run *drop(int threads, const char *obstacle, double height, const char *more)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 80},"
        " 'solver': {'method': 'admm', 'iterations': 400, 'tolerance': 1e-6, 'on_not_converged': "
        "'continue'},"
        " 'materials': {'m': {'young': 2e5, 'poisson': 0.3, 'density': 500}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}},"
        "             'transform': {'translate': [0, %g, 0]}}],"
        " 'obstacles': [{%s, 'friction': 0.6%s}]}",
        height, obstacle, more);
}

#define FIELD                                                                                      \
    "'heightfield': {'center': [0, -0.06, 0], 'spacing': 0.25, 'heights': [[0.1, 0.1, 0, 0.1, "    \
    "0.1],"                                                                                        \
    " [0, 0.1, 0.03, 0.1, 0], [0.1, 0, 0.06, 0, 0.1], [0, 0.1, 0.03, 0.1, 0],"                     \
    " [0.1, 0.1, 0, 0.1, 0.1]]}"
/* A block with a ridge of a roof, 1 m wide. */
#define ROOF                                                                                       \
    "'mesh': {'vertices': [-0.5, -0.6, -0.5, 0.5, -0.6, -0.5, 0.5, -0.6, 0.5, -0.5, -0.6, 0.5,"    \
    " -0.5, -0.1, -0.5, 0.5, -0.1, -0.5, 0.5, -0.1, 0.5, -0.5, -0.1, 0.5, 0, 0, -0.5, 0, 0, 0.5]," \
    " 'triangles': [[0, 1, 2], [0, 2, 3], [0, 5, 1], [0, 4, 5], [4, 8, 5], [1, 5, 6], [1, 6, 2],"  \
    " [2, 6, 7], [2, 7, 3], [6, 9, 7], [3, 7, 4], [3, 4, 0], [4, 7, 9], [4, 9, 8], [5, 8, 9],"     \
    " [5, 9, 6]]}"

static const double WEIGHT = 0.064 * 500 * 9.81;

typedef struct rest {
    const char *obstacle; /* with its top, or its bottom from inside, at y = 0 */
    double slack;         /* how far the force may be from the weight while the body sways */
} rest;
static const rest RESTS[] = {
    {"'plane': {}", 1e-3},
    {"'box': {'center': [0, -0.5, 0], 'size': [0.7, 1, 0.3]}", 1e-2},
    {"'box': {'center': [0, -0.1, 0], 'size': [0.3, 0.2, 0.3], 'rounding': 0.1}", 1e-2},
    {"'box': {'center': [0, -0.001, 0], 'size': [3, 0.002, 3]}", 1e-2}, /* 2 mm thin */
    {"'box': {'center': [0, 1, 0], 'size': [1, 2, 1], 'inside': true}", 1e-2},
    {"'sphere': {'center': [0, -0.5, 0]}", 5e-2},
    {"'sphere': {'center': [0, 0.5, 0], 'inside': true}", 1e-2},
    {"'cylinder': {'center': [0, -0.3, 0], 'axis': [1, 0, 1], 'radius': 0.3}", 5e-2},
    {"'cylinder': {'center': [0, -0.1, 0], 'radius': 0.15, 'height': 0.2}", 1e-2},
    {"'cylinder': {'center': [0, 0.5, 0], 'axis': [0, 0, 1], 'radius': 0.5, 'inside': true}", 1e-2},
    {"'capsule': {'center': [0, -0.4, 0], 'axis': [1, 0, 0.2], 'radius': 0.4, 'height': 1}", 5e-2},
    {"'cone': {'center': [0, -0.2, 0], 'axis': [0, -1, 0], 'radius': 0.3, 'height': 0.4}", 1e-2},
    {"'cone': {'center': [0, 0.217, 0], 'axis': [0, -1, 0], 'radius': 1, 'inside': true}", 2e-2},
    {"'torus': {'center': [0, -0.05, 0], 'radius': 0.12, 'tube': 0.05}", 1e-2},
    {FIELD, 2e-2},
    {ROOF, 5e-2},
};

START_TEST(body_rests_on_every_shape)
{
    pl_run *r = drop(1, RESTS[_i].obstacle, 0.25, "");
    double force[3] = {0}, deepest = 0;
    int64_t contacts = 0, unconverged = 0;
    for (int k = 0; k < 80; k++) {
        pl_run_frames(r, 1);
        if (r->metrics.unconverged == 0)
            deepest = fmax(deepest, depth(r));
        unconverged += r->metrics.unconverged;
        contacts += r->metrics.contacts;
        for (int c = 0; c < 3 && k >= 40; c++)
            force[c] += r->metrics.obstacles[0].newton[c] / 40;
    }
    ck_assert_int_gt(contacts, 0);
    ck_assert_int_lt(unconverged, 5);
    ck_assert_msg(deepest < 1e-4 * 0.4, "%s: entered by %g", RESTS[_i].obstacle, deepest);
    ck_assert_double_eq_tol(force[1], WEIGHT, RESTS[_i].slack * WEIGHT);
    ck_assert_double_eq_tol(hypot(force[0], force[2]), 0, RESTS[_i].slack * WEIGHT);
    pl_run_close(r);
}
END_TEST

/* One of each shape, carried up and about, turned, and brought up from below against a falling body. */
static const char *const MOVED[] = {
    "'plane': {'normal': [0.1, 1, 0]}",
    "'sphere': {'center': [0, 0.5, 0], 'radius': 0.6, 'inside': true}",
    "'box': {'center': [0, -0.5, 0], 'size': [0.7, 1, 0.5], 'rounding': 0.05}",
    "'cylinder': {'center': [0, -0.1, 0], 'radius': 0.3, 'height': 0.2, 'rounding': 0.02}",
    "'capsule': {'center': [0, -0.4, 0], 'axis': [1, 0, 0.2], 'radius': 0.4, 'height': 1}",
    "'cone': {'center': [0, -0.2, 0], 'axis': [0, -1, 0], 'radius': 0.4, 'height': 0.4}",
    "'torus': {'center': [0, -0.05, 0], 'radius': 0.2, 'tube': 0.05}",
    FIELD,
    ROOF,
};
static const char *const MOTIONS[] = {
    ", 'motion': {'velocity': [0.2, 0.5, -0.1]}",
    ", 'motion': {'axis': [0.1, 1, 0], 'degrees_per_second': 60}",
    ", 'motion': {'interpolation': 'smooth', 'keyframes': [{'time': 0},"
    " {'time': 0.5, 'translate': [0, 0.3, 0], 'rotate': {'axis': [0, 0, 1], 'degrees': 10}},"
    " {'time': 1, 'translate': [0.1, 0.1, 0], 'rotate': {'axis': [1, 0, 0], 'degrees': 10}}]}",
};
enum { MOVES = sizeof MOTIONS / sizeof *MOTIONS };

START_TEST(no_moving_shape_is_entered)
{
    const char *shape = MOVED[_i / MOVES];
    pl_run *r = drop(1, shape, 0.25, MOTIONS[_i % MOVES]);
    double deepest = 0;
    int64_t contacts = 0, unconverged = 0;
    for (int k = 0; k < 30; k++) {
        pl_run_frames(r, 1);
        if (r->metrics.unconverged == 0)
            deepest = fmax(deepest, depth(r));
        unconverged += r->metrics.unconverged;
        contacts += r->metrics.contacts;
    }
    ck_assert_int_gt(contacts, 30);
    ck_assert_msg(unconverged < 5, "%s%s: %d unconverged", shape, MOTIONS[_i % MOVES],
                  (int)unconverged);
    ck_assert_msg(deepest < 1e-4 * 0.4, "%s%s: entered by %g", shape, MOTIONS[_i % MOVES], deepest);
    pl_run_close(r);
}
END_TEST

/* A mesh that bounds no solid is rejected, wherever it is in the scene. */
START_TEST(what_bounds_nothing_is_refused)
{
    static const int64_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    static const struct {
        int64_t at, corner[3], count; /* a triangle in the place of another; how many there are */
        const char *code, *got;
    } rows[] = {{0, {0, 2, 1}, 11, "mesh_open", "has one triangle; 3 such edges in all"},
                {0, {8, 2, 1}, 12, "mesh_index", "triangle 0: vertex 8 of 8"},
                {0, {0, 2, -1}, 12, "mesh_index", "triangle 0: vertex -1 of 8"},
                {0, {2, 2, 1}, 12, "mesh_corners", "triangle 0: "},
                {0, {2, 0, 1}, 12, "mesh_orientation", "has the same direction in both"},
                {12, {0, 2, 1}, 13, "mesh_duplicate", "triangle 12: the same vertices"},
                {12, {0, 1, 6}, 13, "mesh_open", "has one triangle; 2 such edges in all"}};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}],"
        " 'obstacles': [{'plane': {}}, {'mesh': {'vertices': [-1, -1, -1, 1, -1, -1, -1, 1, -1, 1,"
        " 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1], 'triangles': [[0, 2, 1], [1, 2, 3],"
        " [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],"
        " [1, 3, 5], [3, 7, 5]]}}]}");
    pl_mesh_source *s = &r->scene.obstacles[1].mesh.source;
    int64_t *own = s->triangles;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int64_t t[39];
        pl_estimate estimate;
        pl_faults faults = {0};
        memcpy(t, faces, sizeof faces);
        memcpy(t + 3 * rows[k].at, rows[k].corner, sizeof rows[k].corner);
        s->triangles = t;
        s->triangle_count = rows[k].count;
        ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults),
                         PL_INVALID);
        ck_assert_str_eq(faults.items[0].pointer, "/obstacles/1/mesh");
        ck_assert_str_eq(faults.items[0].code, rows[k].code);
        ck_assert_msg(strstr(faults.items[0].got, rows[k].got) != NULL, "%s", faults.items[0].got);
        pl_faults_clear(&faults);
    }
    s->triangles = own;
    s->triangle_count = 12;
    pl_run_close(r);
}
END_TEST

/* Preflight's estimate of a run has room for its obstacles: each group's weights and corners, nine full-length and
 * twelve half-length vectors, and a solid's tree. */
START_TEST(obstacles_are_in_the_estimate)
{
    char many[1024] = "";
    for (int i = 0; i < 12; i++)
        strcat(many, ", {'plane': {'offset': -1}}");
    double bytes[3];
    static const char scene[] = "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [9, 9, 9]}}}],"
                                " 'obstacles': [{'plane': {'offset': -1}}%s]}";
    char solid[] = ", {'heightfield': {'heights': [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}}";
    for (int k = 0; k < 3; k++) {
        pl_run *r = pl_run_openf(1, scene, k == 1 ? many : k == 2 ? solid : "");
        pl_estimate estimate;
        pl_faults faults = {0};
        ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_OK);
        bytes[k] = estimate.memory_bytes;
        double taken = 0;
        for (int32_t g = 0; k == 1 && g < r->model->group_count; g++) {
            const pl_group *group = &r->model->groups[g];
            if (r->model->group_obstacle[g] >= 1)
                taken += (double)(group->blocks * PL_BLOCK) * (12 + 3 * 8 * (9 + 12 / 2));
        }
        ck_assert(k != 1 || (bytes[1] - bytes[0] > taken && bytes[1] - bytes[0] < 5 * taken));
        pl_run_close(r);
    }
    ck_assert_double_gt(bytes[2] - bytes[0], 300 * 32 + (bytes[1] - bytes[0]) / 12);
}
END_TEST

/* A cube that hits a plate of 2 mm at 30, 100 and 300 m/s in steps of 10 ms does not come out on the other side.
 * Springs give way by the energy that they have to stop. At 300 m/s 50 iterations of ADMM leave elements inverted,
 * which contact of the body with itself would not allow. */
static const char *const METHODS[] = {"admm", "newton", "auto", "lbfgs"};

START_TEST(fast_bodies_do_not_pass_thin_plates)
{
    static const double SPEEDS[] = {30, 100, 300};
    for (int k = 0; k < 3; k++) {
        double v = SPEEDS[k];
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'gravity': [0, 0, 0], 'time': {'step': 0.01, 'steps': 12},"
            " 'materials': {'m': {'young': 1e6, 'poisson': 0.3}}, 'solver': {'method': '%s'},"
            " 'contact': {'enabled': false},"
            " 'bodies': [{'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [3, 3, 3]}},"
            "   'transform': {'translate': [0.013, %g, 0.007]}, 'initial': {'velocity':"
            "   [0, %g, 0]}}], 'obstacles': [{'box': {'size': [2, 0.002, 2]}}]}",
            METHODS[_i], 0.13 + 0.37 * v * 0.01, -v);
        for (int n = 0; n < 12; n++) {
            double middle = 0;
            pl_run_frames(r, 1);
            for (int64_t i = 0; i < pl_run_vertices(r); i++)
                middle += pl_run_x(r)[3 * i + 1] / (double)pl_run_vertices(r);
            ck_assert_msg(middle > -0.1, "%s at %g m/s: its middle is at %g m", METHODS[_i], v,
                          middle);
        }
        pl_run_close(r);
    }
}
END_TEST

/* A plate swings around a link that rests without gravity, and comes up through its place, 0.4 m in the last step: it
 * takes the link along. The side of a vertex is relative to the plate: where the plate began, the link was above it. */
START_TEST(a_fast_plate_takes_along_what_rests)
{
    const bool soft = _i == 1; /* a spring that gives way */
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.02, 'steps': 5},"
                             " 'gravity': [0, 0, 0],"
                             " 'solver': {'method': '%s', 'iterations': 500, 'tolerance': 1e-8},"
                             " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 0.1, 0, 0.1],"
                             "   'edges': [0, 1]}}],"
                             " 'obstacles': [{'box': {'center': [0, 0.5, 0], 'size': [2, 0.1, 2]},"
                             "   'motion': {'keyframes': [{'time': 0.02, 'translate': [10, 0, 0]},"
                             "     {'time': 0.04, 'translate': [10, -1.5, 0]},"
                             "     {'time': 0.06, 'translate': [0, -1.5, 0]},"
                             "     {'time': 0.08, 'translate': [0, -0.7, 0]},"
                             "     {'time': 0.1, 'translate': [0, -0.3, 0]}]}}]}",
                             soft ? "newton" : "admm");
    pl_run_frames(r, 5);
    for (int64_t i = 0; i < 2; i++)
        ck_assert_double_eq_tol(pl_run_x(r)[3 * i + 1], 0.25, soft ? 0.03 : 1e-6);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles");
    TCase *t = tcase_create("obstacles");
    tcase_set_timeout(t, 180);
    tcase_add_loop_test(t, fast_bodies_do_not_pass_thin_plates, 0, 4);
    tcase_add_loop_test(t, body_rests_on_every_shape, 0, sizeof RESTS / sizeof *RESTS);
    tcase_add_loop_test(t, a_fast_plate_takes_along_what_rests, 0, 2);
    tcase_add_test(t, what_bounds_nothing_is_refused);
    tcase_add_test(t, obstacles_are_in_the_estimate);
    tcase_add_loop_test(t, no_moving_shape_is_entered, 0, MOVES * sizeof MOVED / sizeof *MOVED);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
