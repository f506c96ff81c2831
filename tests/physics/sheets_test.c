/* Cloth, ropes, rods, fibres and attachments against closed forms. */
#include "engine/model/model.h"
#include "engine/model/build/nearest.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOLVER "'solver': {'method': 'admm', 'iterations': 2000, 'tolerance': 1e-9}"

static const double *vertex(const pl_run *r, int64_t i)
{
    return pl_run_x(r) + 3 * i;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* A hanging spring at rest: length l + m g l / (E A), m half the edge's mass at its free end. */
START_TEST(a_spring_hangs_as_far_as_hooke_says)
{
    static const char *const METHODS[] = {"admm", "quasi_newton", "newton"};
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 10, 'steps': 40},"
                     " 'solver': {'method': '%s', 'iterations': 500, 'tolerance': 1e-10},"
                     " 'materials': {'m': {'young': 1e4, 'area': 1e-4, 'density': 1e3}},"
                     " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 0, -2, 0], 'edges': [0, 1]}}],"
                     " 'pins': [{'select': {'indices': [0]}}]}",
                     METHODS[_i]);
    pl_run_frames(r, 40);
    double mass = 1e3 * 1e-4 * 2 / 2, k = 1e4 * 1e-4 / 2;
    ck_assert_double_eq_tol(vertex(r, 1)[1], -2 - mass * 9.81 / k, 1e-6);
    ck_assert_double_eq_tol(r->metrics.max_stretch, 1 + mass * 9.81 / k / 2, 1e-6);
    pl_run_close(r);
}
END_TEST

/* Methods that hold lengths; the last but one by conjugate gradients. */
static const char *const HOLDING[] = {
    "'method': 'admm', 'iterations': 2000, 'tolerance': 1e-9",
    "'method': 'newton', 'iterations': 500, 'tolerance': 1e-9",
    "'method': 'auto', 'iterations': 500, 'tolerance': 1e-9",
    "'method': 'newton', 'linear': 'pcg', 'iterations': 2000, 'tolerance': 1e-9",
    "'method': 'quasi_newton', 'iterations': 2000, 'tolerance': 1e-9"};
enum { HOLDERS = sizeof HOLDING / sizeof *HOLDING };

/* A rod of one edge with fixed length, pinned at one end: a pendulum. It must follow backward Euler of the constrained
 * point: the point of the circle nearest to the prediction. */
START_TEST(an_inextensible_edge_is_a_pendulum)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 50}, 'solver': {%s},"
                     " 'materials': {'m': {'inextensible': 'rod'}},"
                     " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 1, 0, 0], 'edges': [0, 1]}}],"
                     " 'pins': [{'select': {'indices': [0]}}]}",
                     HOLDING[_i]);
    double x[2] = {1, 0}, v[2] = {0, 0}, h = 0.02;
    for (int k = 0; k < 50; k++) {
        double p[2] = {x[0] + h * v[0], x[1] + h * v[1] - h * h * 9.81};
        double length = sqrt(p[0] * p[0] + p[1] * p[1]);
        for (int c = 0; c < 2; c++) {
            p[c] /= length;
            v[c] = (p[c] - x[c]) / h;
            x[c] = p[c];
        }
        pl_run_frames(r, 1);
        ck_assert_double_eq_tol(vertex(r, 1)[0], x[0], 1e-6);
        ck_assert_double_eq_tol(vertex(r, 1)[1], x[1], 1e-6);
    }
    pl_run_close(r);
}
END_TEST

/* A rope of n edges of length L between two points d apart hangs in the discrete catenary: the
 * horizontal force is one for all edges and the vertical one grows by a vertex' weight, so edge i
 * has the slope (i - (n - 1) / 2) c with c from the distance of the ends. */
START_TEST(a_rope_hangs_in_the_catenary)
{
    enum { N = 12 };
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 10, 'steps': 15},"
                             " 'solver': {%s},"
                             " 'materials': {'m': {'inextensible': 'rope'}},"
                             " 'bodies': [{'mesh': {'rope': {'length': 3, 'segments': %d}},"
                             "             'initial': {'shape': {'stretched': [0.6, 1, 1]}}}],"
                             " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'}}]}",
                             HOLDING[_i], N);
    pl_run_frames(r, 15);
    ck_assert_int_lt(r->metrics.iterations, 200);
    double lo = 0, hi = 100, l = 3.0 / N;
    for (int k = 0; k < 200; k++) {
        double c = (lo + hi) / 2, d = 0;
        for (int i = 0; i < N; i++) {
            double s = (i - (N - 1) / 2.0) * c;
            d += l / sqrt(1 + s * s);
        }
        *(d > 1.8 ? &lo : &hi) = c;
    }
    double x = vertex(r, 0)[0], y = vertex(r, 0)[1];
    for (int i = 0; i < N; i++) {
        double s = (i - (N - 1) / 2.0) * lo;
        x += l / sqrt(1 + s * s);
        y += l * s / sqrt(1 + s * s);
        ck_assert_double_eq_tol(distance(vertex(r, i), vertex(r, i + 1)), l, 1e-4 * l);
        ck_assert_double_eq_tol(vertex(r, i + 1)[0], x, 2e-3);
        ck_assert_double_eq_tol(vertex(r, i + 1)[1], y, 2e-3);
    }
    pl_run_close(r);
}
END_TEST

/* A rope of 30 g lifts 64 kg: the lengths hold, and the multipliers' second order takes few iterations. By the
 * first order alone steps of this scene run out of 2,000. */
START_TEST(a_light_rope_carries_a_heavy_weight)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.005, 'steps': 30},"
           " 'solver': {'method': 'auto', 'tolerance': 1e-6},"
           " 'materials': {'rope': {'density': 1000, 'area': 3e-5, 'inextensible': 'rope'},"
           "   'steel': {'young': 1e8, 'density': 8000}},"
           " 'bodies': [{'name': 'rope', 'mesh': {'rope': {'length': 1, 'segments': 60}},"
           "     'material': 'rope'},"
           "   {'name': 'weight', 'mesh': {'box': {'size': [0.2, 0.2, 0.2], 'cells': [1, 1, 1]}},"
           "     'material': 'steel', 'transform': {'translate': [0.6, 0, 0]}}],"
           " 'pins': [{'body': 'rope', 'select': {'side': '-x'}}],"
           " 'attachments': [{'body': 'weight', 'select': {'side': '-x'}, 'to': 'rope',"
           "   'stiffness': 1e6}]}");
    int64_t iterations = 0;
    for (int k = 0; k < 30; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        iterations += r->metrics.iterations;
    }
    ck_assert_int_lt(iterations, 30 * 50);
    ck_assert_double_lt(vertex(r, 61)[1], -0.1);
    for (int i = 0; i < 60; i++)
        ck_assert_double_lt(distance(vertex(r, i), vertex(r, i + 1)), (1 + 1e-6) / 60);
    pl_run_close(r);
}
END_TEST

/* A rod clamped over its first edge droops by q L^4 / (8 B) at its end, for small droops. */
START_TEST(a_rod_bends_as_euler_says)
{
    enum { N = 40 };
    const double length = 1, area = 1e-4, B = 0.5, q = 1000 * area * 9.81;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 100, 'steps': 20},"
        " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-11},"
        " 'materials': {'m': {'young': 1e9, 'area': 1e-4, 'bending': {'stiffness': 0.5}}},"
        " 'bodies': [{'mesh': {'rope': {'length': 1, 'segments': %d}}}],"
        " 'pins': [{'select': {'indices': [0, 1]}}]}",
        N);
    pl_run_frames(r, 20);
    double L = length - length / N, droop = q * L * L * L * L / (8 * B);
    ck_assert_double_eq_tol(-vertex(r, N)[1], droop, 0.05 * droop);
    pl_run_close(r);
}
END_TEST

/* A strip of cloth clamped at one side, loaded by q an area. At the clamp nothing can curl across,
 * and the first fold is M a / D, M = q L^2 / 2 a width, a the cell: D is the material's. Farther out
 * the edges' bends let a lattice of triangles curl as a plate with a Poisson effect does, so the
 * droop is more than q L^4 / (8 D), by a fifth to a third as the diagonals run. Both bendings. */
START_TEST(a_strip_bends_as_plates_do)
{
    static const char *const MODELS[] = {"quadratic", "hinge"};
    enum { NX = 20, NY = 4 };
    const double D = 0.05, q = 1000 * 1e-3 * 9.81e-3, a = 1.0 / NX;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'gravity': [0, 0, -9.81e-3], 'time': {'step': 100, 'steps': 12},"
        " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-10},"
        " 'materials': {'m': {'young': 1e6, 'bending': {'model': '%s', 'stiffness': 0.05}}},"
        " 'bodies': [{'mesh': {'cloth': {'size': [1, 0.2], 'cells': [%d, %d]}}}],"
        " 'pins': [{'select': {'box': {'min': [-1, -1, -1], 'max': [-0.44, 1, 1]}}}]}",
        MODELS[_i], NX, NY);
    pl_run_frames(r, 12);
    double L = 0.95, fold = q * L * L / 2 * a / D, mean = 0;
    for (int j = 0; j <= NY; j++)
        mean -= vertex(r, 2 + (NX + 1) * j)[2] / a / (NY + 1);
    ck_assert_double_eq_tol(mean, fold, 0.08 * fold);
    double droop = -vertex(r, NX)[2] / (q * L * L * L * L / (8 * D));
    ck_assert(droop > 1 && droop < 1.4);
    pl_run_close(r);
}
END_TEST

/* A homogeneous stretch is in balance: inner vertices of an irregular sheet stay on the affine map
 * of the pinned border. */
START_TEST(a_membrane_passes_the_patch_test)
{
    static const char *const MODELS[] = {"neo_hookean", "corotated", "arap"};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'gravity': [0, 0, 0], 'time': {'step': 100, 'steps': 12},"
        " 'solver': {'method': 'newton', 'iterations': 60, 'tolerance': 1e-12},"
        " 'materials': {'m': {'model': '%s', 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'vertices': [0,0,0, 2,0,0, 2,1,0, 0,1,0, 0.7,0.3,0, 1.4,0.6,0],"
        "   'triangles': [0,1,4, 1,5,4, 1,2,5, 2,3,5, 3,4,5, 3,0,4]},"
        "  'initial': {'shape': {'stretched': [1.2, 0.9, 1]}}}],"
        " 'pins': [{'select': {'indices': [0, 1, 2, 3]}}]}",
        MODELS[_i]);
    /* Push the inner vertices away by a step of gravity would need a change; they start in balance
     * and must stay there. */
    double before[6];
    memcpy(before, vertex(r, 4), sizeof before);
    pl_run_frames(r, 12);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(vertex(r, 4)[i], before[i], 1e-9);
    pl_run_close(r);
}
END_TEST

/* Stretches of a triangle whose rest shape lies in z = 0: the lengths of F's columns along x and y, or
 * its singular values (roots of s^4 - tr s^2 + det of F^T F). */
static void triangle_stretches(const double *X, const double *x, const int32_t *t, bool by_values,
                               double s[2])
{
    double B[4], f[2][3], F[2][3], C[2][2];
    for (int j = 0; j < 2; j++) {
        const double *P = X + 3 * (int64_t)t[0], *Q = X + 3 * (int64_t)t[1 + j];
        B[j] = Q[0] - P[0];
        B[2 + j] = Q[1] - P[1];
        for (int c = 0; c < 3; c++)
            f[j][c] = x[3 * (int64_t)t[1 + j] + c] - x[3 * (int64_t)t[0] + c];
    }
    double det = B[0] * B[3] - B[1] * B[2];
    for (int c = 0; c < 3; c++) {
        F[0][c] = (f[0][c] * B[3] - f[1][c] * B[2]) / det;
        F[1][c] = (f[1][c] * B[0] - f[0][c] * B[1]) / det;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            C[i][j] = F[i][0] * F[j][0] + F[i][1] * F[j][1] + F[i][2] * F[j][2];
    double half = (C[0][0] + C[1][1]) / 2, d = (C[0][0] - C[1][1]) / 2;
    double root = sqrt(d * d + C[0][1] * C[0][1]);
    s[0] = sqrt(by_values ? half + root : C[0][0]);
    s[1] = sqrt(by_values ? half - root : C[1][1]);
}

/* A flag pulled by thirty times gravity, and one in a gale, stays within its limits at convergence. */
START_TEST(limited_cloth_stays_in_its_limits)
{
    static const char *const BY[] = {"columns", "singular_values"};
    static const char *const LOADS[] = {
        "'gravity': [300, -20, 100]",
        "'forces': [{'wind': {'velocity': [60, 0, 25]}}]",
    };
    enum { NX = 10, NY = 8, STEPS = 6 };
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, %s, 'time': {'step': 0.02, 'steps': %d},"
                     " 'solver': {'method': 'admm', 'iterations': 3000, 'tolerance': 5e-5},"
                     " 'materials': {'m': {'young': 1e4, 'poisson': 0.3, 'density': 300,"
                     "    'strain_limit': {'by': '%s'}}},"
                     " 'bodies': [{'mesh': {'cloth': {'size': [1, 0.8], 'cells': [%d, %d]}}}],"
                     " 'pins': [{'select': {'side': '-x'}}]}",
                     LOADS[_i / 2], STEPS, BY[_i % 2], NX, NY);
    double lowest = 1, highest = 1;
    for (int k = 0; k < STEPS; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        for (int64_t t = 0; t < r->meshes->triangle_count; t++) {
            double s[2];
            triangle_stretches(r->meshes->vertices, pl_run_x(r), r->meshes->triangles + 3 * t,
                               _i % 2, s);
            highest = fmax(highest, fmax(s[0], s[1]));
            lowest = fmin(lowest, fmin(s[0], s[1]));
        }
    }
    ck_assert_msg(highest <= 1.05 + 1e-3 && highest > 1.045, "%s: up to %g", BY[_i % 2], highest);
    ck_assert_msg(lowest >= 0.95 - 1e-3, "%s: down to %g", BY[_i % 2], lowest);
    if (_i == 3) /* what flutters gets folds, which columns do not see */
        ck_assert_double_lt(lowest, 0.955);
    pl_run_close(r);
}
END_TEST

/* Fibres of kappa along the pull add kappa (s - 1) to the stress of a bar: its stretch under an end
 * load follows from the sum. Springs alone would be the same twice. */
START_TEST(fibers_stiffen_along_themselves)
{
    double droop[2];
    for (int with = 0; with < 2; with++) {
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 100, 'steps': 15},"
            " 'solver': {'method': 'quasi_newton', 'iterations': 400, 'tolerance': 1e-10},"
            " 'materials': {'m': {'model': 'arap', 'young': 1e6, 'poisson': 0 %s}},"
            " 'bodies': [{'mesh': {'box': {'size': [0.2, 1, 0.2], 'cells': [2, 8, 2]}}}],"
            " 'pins': [{'select': {'side': '+y'}}]}",
            with ? ", 'fibers': {'stiffness': 1e6, 'direction': [0, 1, 0]}" : "");
        pl_run_frames(r, 15);
        droop[with] = -0.5 - vertex(r, 0)[1];
        pl_run_close(r);
    }
    ck_assert_double_eq_tol(droop[0] / droop[1], 2, 0.02);
}
END_TEST

/* A block hangs on another by attachments: the springs carry its weight. */
START_TEST(attachments_carry_a_body)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 100, 'steps': 20},"
           " 'solver': {'method': 'quasi_newton', 'iterations': 400, 'tolerance': 1e-10},"
           " 'materials': {'m': {'young': 1e8}},"
           " 'bodies': [{'name': 'top', 'mesh': {'box': {'cells': [2, 2, 2]}}},"
           "  {'name': 'low', 'mesh': {'box': {'cells': [3, 3, 3]}}, "
           "   'transform': {'translate': [0, -1, 0]}}],"
           " 'pins': [{'body': 'top', 'select': 'all'}],"
           " 'attachments': [{'body': 'low', 'select': {'side': '+y'}, 'to': 'top',"
           "                  'stiffness': 1e4}]}");
    pl_run_frames(r, 20);
    double gap = 0;
    for (int k = 0; k < 16; k++) /* the 16 vertices of its top */
        gap += -0.5 - vertex(r, 27 + (k % 4) + 4 * (3 + 4 * (k / 4)))[1];
    ck_assert_double_eq_tol(gap * 1e4, 1000 * 9.81, 1);
    pl_run_close(r);
}
END_TEST

/* Two points of a spring drawn to two places: each hangs lower by its weight over the attachment's
 * stiffness. By splitting and by descent, which see the place in different ways. */
START_TEST(attachments_draw_to_a_place)
{
    static const char *const METHODS[] = {"admm", "newton"};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 10, 'steps': 20},"
        " 'solver': {'method': '%s', 'iterations': 500, 'tolerance': 1e-10},"
        " 'materials': {'m': {'young': 1e4, 'area': 1e-4, 'density': 1e3}},"
        " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 2, 0, 0], 'edges': [0, 1]}}],"
        " 'attachments': [{'select': {'indices': [0]}, 'point': [1, 2, 3], 'stiffness': 50},"
        "                 {'select': {'indices': [1]}, 'point': [3, 2, 3], 'stiffness': 20}]}",
        METHODS[_i]);
    pl_run_frames(r, 20);
    double weight = 1e3 * 1e-4 * 2 / 2 * 9.81, d[3];
    ck_assert_double_eq_tol(vertex(r, 0)[0] - 1, 0, 1e-4);
    ck_assert_double_eq_tol(vertex(r, 0)[2], 3, 1e-8);
    for (int c = 0; c < 3; c++)
        d[c] = vertex(r, 1)[c] - vertex(r, 0)[c];
    /* The forces of both attachments, and the weights, add up to nothing. */
    double up = 50 * (2 - vertex(r, 0)[1]) + 20 * (2 - vertex(r, 1)[1]);
    ck_assert_double_eq_tol(up, 2 * weight, 1e-6);
    ck_assert_double_eq_tol(d[2], 0, 1e-8);
    pl_run_close(r);
}
END_TEST

/* A point hangs on a moving ball: g / k below the place of its surface that the ball carries along,
 * nearest at the start or given; and a turning ball takes it round. */
START_TEST(attachments_to_an_obstacle_move_with_it)
{
    static const char *const METHODS[] = {"admm", "newton", "lbfgs", "chebyshev_semi_iterative"};
    static const char *const POINT[] = {"", "'point': [1.5, 0, 0], "};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.25, 'steps': 40}, 'gravity': [0, 0, -10],"
        " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 1e-10},"
        " 'materials': {'m': {'young': 1e4, 'area': 1e-4, 'density': 1e3}},"
        " 'bodies': [{'mesh': {'vertices': [2, 0, 0, 2, 0.2, 0], 'edges': [0, 1]}}],"
        " 'attachments': [{'select': {'indices': [0]}, 'obstacle': 'ball', %s'stiffness': 5e3}],"
        " 'obstacles': [{'name': 'wall', 'plane': {'offset': -9}}, {'name': 'ball', 'sphere': {},"
        "   'motion': {'keyframes': [{'time': 0}, {'time': 1, 'rotate': {'axis': [0, 0, 1],"
        "   'degrees': 90}, 'translate': [1, 2, 3]}]}}]}",
        METHODS[_i / 2], POINT[_i % 2]);
    pl_run_frames(r, 1);
    const double weight = 1e3 * 1e-4 * 0.2 * 10, radius = _i % 2 ? 1.5 : 0.5;
    ck_assert_double_eq_tol(vertex(r, 0)[0], radius * cos(M_PI / 8) + 0.25, 1e-3);
    ck_assert_double_eq_tol(vertex(r, 0)[1], radius * sin(M_PI / 8) + 0.5, 1e-3);
    pl_run_frames(r, 39);
    ck_assert_double_eq_tol(vertex(r, 0)[0], 1, 2e-4);
    ck_assert_double_eq_tol(vertex(r, 0)[1], 2 + radius, 2e-4);
    ck_assert_double_eq_tol(3 - vertex(r, 0)[2], weight / 5e3, 2e-6);
    pl_run_close(r);
}
END_TEST

/* The nearest point of a body is a point of it, and no sampled point of it is nearer. */
START_TEST(the_nearest_point_is_of_the_body)
{
    pl_run *r = pl_run_open(1,
                            "{'pliant': 1, 'bodies': [{'mesh': {'vertices': [0,0,0, 1,0,0, 0,1,0,"
                            " 0,0,1, 2,0,0, 2,2,0, 3,3,3], 'tets': [0,1,2,3],"
                            " 'triangles': [1,4,5], 'edges': [5,6]}}]}");
    pl_layout layout;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_layout_create(&r->scene, r->meshes, &layout, &faults), PL_OK);
    for (int k = 0; k < 200; k++) {
        const double p[3] = {k % 7 * 0.7 - 1, k % 5 * 0.9 - 1, k % 9 * 0.6 - 1};
        pl_nearest near = pl_nearest_of_body(&layout, 0, p);
        double q[3] = {0}, sum = 0;
        for (int c = 0; c < near.corners; c++) {
            ck_assert_double_ge(near.weight[c], 0);
            sum += near.weight[c];
            for (int i = 0; i < 3; i++)
                q[i] += near.weight[c] * layout.rest[3 * near.corner[c] + i];
        }
        ck_assert_double_eq_tol(sum, 1, 1e-12);
        ck_assert_double_eq_tol(distance(p, q), near.distance, 1e-12);
        for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++)
            for (int s = 0; s < 343; s++) {
                const pl_elements *e = &layout.elements[kind];
                double w[4] = {1 + s % 7, s / 7 % 7, kind < 2 ? s / 49 : 0, 0}, y[3] = {0};
                w[3] = kind == 0 ? s % 5 : 0;
                double total = w[0] + w[1] + w[2] + w[3];
                for (int c = 0; c < e->corners; c++)
                    for (int i = 0; i < 3; i++)
                        y[i] += w[c] / total * layout.rest[3 * e->corner[c] + i];
                ck_assert_double_le(near.distance, distance(p, y) + 1e-12);
            }
    }
    pl_layout_destroy(&layout);
    pl_run_close(r);
}
END_TEST

static const char EVERYTHING[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 5},"
    " 'solver': {'method': 'admm', 'iterations': 20},"
    " 'materials': {'cloth': {'young': 1e4, 'poisson': 0.3, 'bending': {},"
    "   'strain_limit': {'by': 'singular_values'}, 'fibers': {'stiffness': 1e3}},"
    "  'rope': {'inextensible': 'rope', 'bending': {}}, 'spring': {}},"
    " 'bodies': [{'name': 'a', 'material': 'cloth', 'mesh': {'cloth': {'size': [1, 1], 'cells': "
    "[40, 40]}}},"
    "  {'name': 'b', 'material': 'rope', 'mesh': {'rope': {'length': 1, 'segments': 30}},"
    "   'transform': {'translate': [0.3, 0.2, 0.1]}},"
    "  {'name': 'c', 'material': 'spring', 'mesh': {'rope': {'length': 1, 'segments': 30}}}],"
    " 'attachments': [{'body': 'b', 'select': {'side': '-x'}, 'to': 'a'},"
    "  {'body': 'c', 'select': {'side': '+x'}, 'point': [1, 1, 1]}],"
    " 'pins': [{'body': 'a', 'select': {'side': '-x'}}]}";

START_TEST(threads_change_no_bit)
{
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 3; threads++) {
        pl_run *r = pl_run_open(threads, EVERYTHING);
        pl_run_frames(r, 5);
        if (threads == 1)
            hash = pl_run_hash(r);
        ck_assert(pl_run_hash(r) == hash);
        pl_run_close(r);
    }
}
END_TEST

/* What decides bits is in the hash: one number changed is another model. */
START_TEST(numbers_of_links_are_in_the_hash)
{
    static const char *const PARTS[] = {
        "'bending': {'stiffness': 1}",        "'bending': {'stiffness': 2}",
        "'strain_limit': {'high': 1.1}",      "'strain_limit': {'high': 1.2}",
        "'fibers': {'direction': [1, 0, 0]}", "'fibers': {'direction': [0, 1, 0]}",
        "'strain_limit': {'low': 0.9}",       "'strain_limit': {'low': 0.8}"};
    uint64_t hash[8];
    for (int i = 0; i < 8; i++) {
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'materials': {'m': {%s}}, 'bodies': [{'mesh': "
                                 "{'cloth': {'size': [1, 1], 'cells': [2, 2]}}}]}",
                                 PARTS[i]);
        hash[i] = pl_model_hash(r->model);
        for (int k = 0; k < i; k++)
            ck_assert(hash[k] != hash[i]);
        pl_run_close(r);
    }
}
END_TEST

/* ... and so is what carries an attachment. */
START_TEST(attachments_are_in_the_hash)
{
    static const char *const PARTS[] = {
        "'obstacle': 'still'",
        "'obstacle': 'slow'",
        "'obstacle': 'fast'",
        "'obstacle': 'fast', 'point': [0, 1, 0]",
        "'obstacle': 'fast', 'point': [0, 2, 0]",
        "'point': [0, 1, 0]",
    };
    enum { COUNT = sizeof PARTS / sizeof *PARTS };
    uint64_t hash[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'bodies': [{'mesh': {'rope': {}}}], 'obstacles': ["
                                 " {'name': 'still', 'sphere': {'center': [0, -1, 0]}},"
                                 " {'name': 'slow', 'sphere': {'center': [0, -1, 0]}, 'motion': "
                                 "{'velocity': [1, 0, 0]}},"
                                 " {'name': 'fast', 'sphere': {'center': [0, -1, 0]}, 'motion': "
                                 "{'velocity': [2, 0, 0]}}],"
                                 " 'attachments': [{'select': {'indices': [0]}, %s}]}",
                                 PARTS[i]);
        hash[i] = pl_model_hash(r->model);
        for (int k = 0; k < i; k++)
            ck_assert_msg(hash[k] != hash[i], "%s and %s", PARTS[k], PARTS[i]);
        pl_run_close(r);
    }
}
END_TEST

/* Sheets of one model share a group, with separate constants: three times as stiff, three times the energy. */
START_TEST(sheets_of_a_model_differ)
{
    double elastic[2];
    for (int i = 0; i < 2; i++) {
        pl_run *r =
            pl_run_openf(1,
                         "{'pliant': 1, 'materials': {'m': {'model': '%s', 'young': 1e4},"
                         " 'n': {'model': '%s', 'young': %g}}, 'bodies': ["
                         " {'name': 'm', 'material': 'm', 'mesh': {'cloth': {'cells': [2, 2]}},"
                         "  'initial': {'shape': {'stretched': [1.2, 1.2, 1.2]}}},"
                         " {'name': 'n', 'material': 'n', 'mesh': {'cloth': {'cells': [2, 2]}},"
                         "  'initial': {'shape': {'stretched': [1.2, 1.2, 1.2]}}}]}",
                         _i ? "stvk" : "corotated", _i ? "stvk" : "corotated", i ? 3e4 : 1e4);
        pl_metrics start;
        pl_state_measure(r->model, r->state, &start);
        elastic[i] = start.elastic;
        pl_run_close(r);
    }
    ck_assert_double_gt(elastic[0], 0);
    ck_assert_double_eq_tol(elastic[1], 2 * elastic[0], 1e-9 * elastic[0]);
}
END_TEST

/* Settings of a material for elements that its bodies lack, and attachments to nothing, are faults. */
START_TEST(parts_without_elements_are_refused)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'materials': {'m': {}},"
                               " 'bodies': [{'mesh': {'rope': {}}}]}");
    pl_estimate estimate;
    pl_faults faults = {0};
    pl_attachment knot = {.name = NULL, .select = {.kind = PL_SELECT_ALL}, .stiffness = 1};
    r->scene.materials[0].strain_limit.present = true;
    r->scene.materials[0].bending = (pl_bending){.present = true, .model = PL_BENDING_HINGE};
    r->scene.attachments = &knot;
    r->scene.attachment_count = 1;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_INVALID);
    static const char *const EXPECTED[] = {"/attachments/0", "/materials/m/bending/model",
                                           "/materials/m/strain_limit"};
    ck_assert_int_eq(faults.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(faults.items[i].pointer, EXPECTED[i]);
    pl_faults_clear(&faults);
    r->scene.materials[0].strain_limit.present = r->scene.materials[0].bending.present = false;
    knot.has_obstacle = true; /* of a scene that has none */
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_INVALID);
    ck_assert_str_eq(faults.items[0].pointer, "/attachments/0/obstacle");
    pl_faults_clear(&faults);
    knot.has_to = true;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_INVALID);
    ck_assert_str_eq(faults.items[0].code, "conflict");
    ck_assert_str_eq(faults.items[0].got, "to and obstacle");
    pl_faults_clear(&faults);
    r->scene.attachments = NULL;
    r->scene.attachment_count = 0;
    pl_run_close(r);
    r = pl_run_open(1, "{'pliant': 1, 'materials': {'a/b': {}, 'c': {'invertible': true}},"
                       " 'bodies': [{'mesh': {'cloth': {}}, 'material': 'a/b'}]}");
    pl_material *m = r->scene.materials;
    (m[0].name[0] == 'a' ? m : m + 1)->invertible = true;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_INVALID);
    ck_assert_int_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].pointer, "/materials/a~1b/invertible");
    pl_faults_clear(&faults);
    pl_run_close(r);
}
END_TEST

/* A rope from a file is of springs, which every method has, whatever its material's model is. */
START_TEST(uploaded_ropes_have_no_model)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'solver': {'method': 'projective_dynamics'},"
                               " 'materials': {'m': {'model': 'neo_hookean'}},"
                               " 'bodies': [{'mesh': {'rope': {}}}]}");
    pl_estimate estimate;
    pl_faults faults = {0};
    r->scene.bodies[0].mesh.kind = PL_SOURCE_UPLOAD;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_OK);
    pl_run_close(r);
}
END_TEST

/* w^2 of the one group of four corners. */
static double first_weight(const char *model, const char *stiffness)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'solver': {'method': 'quasi_newton', 'stiffness': '%s',"
                     " 'weight_scale': 10}, 'materials': {'m': {'bending': {'model': '%s'}}},"
                     " 'bodies': [{'mesh': {'cloth': {'cells': [2, 2]}}}]}",
                     stiffness, model);
    double weight = NAN;
    for (int32_t g = 0; g < r->model->group_count; g++)
        if (r->model->groups[g].ops->corners == 4)
            weight = r->model->groups[g].weight[0];
    pl_run_close(r);
    return weight;
}

/* In the matrix a hinge weighs as the quadratic bending of the same sheet, however that is asked for. */
START_TEST(hinges_weigh_as_quadratic_bending)
{
    double shear = first_weight("hinge", "shear"), fit = first_weight("hinge", "fit");
    ck_assert_double_gt(fit, 0);
    ck_assert_double_eq_tol(shear, first_weight("quadratic", "shear"), 1e-14 * shear);
    ck_assert_double_eq_tol(fit, first_weight("quadratic", "fit"), 1e-14 * fit);
    ck_assert_double_eq_tol(shear, 5 * fit, 1e-14 * shear);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sheets");
    TCase *t = tcase_create("sheets");
    tcase_add_loop_test(t, a_spring_hangs_as_far_as_hooke_says, 0, 3);
    tcase_add_loop_test(t, an_inextensible_edge_is_a_pendulum, 0, HOLDERS);
    tcase_add_loop_test(t, a_rope_hangs_in_the_catenary, 0, HOLDERS);
    tcase_add_test(t, a_light_rope_carries_a_heavy_weight);
    tcase_add_test(t, a_rod_bends_as_euler_says);
    tcase_add_loop_test(t, a_strip_bends_as_plates_do, 0, 2);
    tcase_add_loop_test(t, a_membrane_passes_the_patch_test, 0, 3);
    tcase_add_loop_test(t, limited_cloth_stays_in_its_limits, 0, 4);
    tcase_add_test(t, fibers_stiffen_along_themselves);
    tcase_add_test(t, attachments_carry_a_body);
    tcase_add_loop_test(t, attachments_draw_to_a_place, 0, 2);
    tcase_add_test(t, attachments_are_in_the_hash);
    tcase_add_loop_test(t, attachments_to_an_obstacle_move_with_it, 0, 8);
    tcase_add_test(t, the_nearest_point_is_of_the_body);
    tcase_add_test(t, threads_change_no_bit);
    tcase_add_test(t, numbers_of_links_are_in_the_hash);
    tcase_add_loop_test(t, sheets_of_a_model_differ, 0, 2);
    tcase_add_test(t, parts_without_elements_are_refused);
    tcase_add_test(t, uploaded_ropes_have_no_model);
    tcase_add_test(t, hinges_weigh_as_quadratic_bending);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
