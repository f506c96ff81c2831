/* From a scene's material to the constants of its energy: splines through points and fitted to
 * curves, the linear solid at small strain, and energies that have no least value. */
#include "engine/model/groups/isa.h"
#include "engine/model/groups/tets.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"
#include "engine/step/pliant.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Energy density and its slopes at stretches s, of a material. */
static double density(const pl_material *m, const double s[3], double g[3])
{
    pl_material_numbers numbers;
    _Alignas(64) double rows[PL_STRETCH_CONSTANTS_MAX * PL_LANES];
    ck_assert_int_eq(pl_material_make(m, &numbers), PL_OK);
    for (int i = 0; i < PL_STRETCH_CONSTANTS_MAX * PL_LANES; i++)
        rows[i] = numbers.constants[i / PL_LANES];
    const pl_stretch block = {pl_stretch_ops_of(m->model), rows, numbers.shared, NULL};
    pl_real at[3], psi, slopes[3];
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < PL_LANES; lane++)
            at[i][lane] = s[i];
    block.ops->energy_gradient(&block, at, &psi, slopes);
    for (int i = 0; i < 3; i++)
        g[i] = slopes[i][3];
    free(numbers.shared);
    return psi[3];
}

/* a through separate points: with two stretches at 1, differences of the density are those of a minus the straight line
 * that keeps rest free of stress. Natural splines reproduce a straight line, and pass through every point. */
START_TEST(splines_meet_their_points)
{
    const double points[5][2] = {{0.4, 9}, {0.7, 2}, {1.1, 0.5}, {1.6, 3}, {2.2, 11}};
    pl_material m = {.model = PL_MATERIAL_SPLINE, .splines = {.kind = PL_SPLINES_POINTS}};
    memcpy(m.splines.points[0], points, sizeof points);
    m.splines.count[0] = 5;
    double g[3], rest[3] = {1, 1, 1}, first = 0, tilt = 0;
    ck_assert_double_eq_tol(density(&m, rest, g), 0, 1e-14);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(g[i], 0, 1e-13);
    for (int k = 0; k < 5; k++) {
        const double s[3] = {points[k][0], 1, 1}, psi = density(&m, s, g);
        const double off = psi - points[k][1]; /* constant + tilt (x - x_0) */
        if (k == 0)
            first = off;
        if (k == 1)
            tilt = (off - first) / (points[1][0] - points[0][0]);
        ck_assert_double_eq_tol(off, first + tilt * (points[k][0] - points[0][0]), 1e-12);
    }
    /* Beyond the ends it continues straight. */
    double near[3], far[3];
    density(&m, (double[]){2.3, 1, 1}, near);
    density(&m, (double[]){9, 1, 1}, far);
    ck_assert_double_eq_tol(near[0], far[0], 1e-11);
    density(&m, (double[]){0.1, 1, 1}, near);
    density(&m, (double[]){-2, 1, 1}, far);
    ck_assert_double_eq_tol(near[0], far[0], 1e-11);
}
END_TEST

/* The fitted slope is the curve's stress: a line exactly, a rubber's to a hundredth of its range. */
START_TEST(curves_are_fitted)
{
    pl_material m = {.model = PL_MATERIAL_SPLINE, .splines = {.kind = PL_SPLINES_CURVE}};
    double g[3], worst[2] = {0};
    for (int rubber = 0; rubber < 2; rubber++) {
        m.splines.curve_count = 15;
        for (int i = 0; i < 15; i++) {
            const double x = 0.5 + 0.1 * i;
            m.splines.curve[i][0] = x;
            m.splines.curve[i][1] = rubber ? 3 * (x - 1 / (x * x)) : 7 * (x - 1);
        }
        for (double x = 0.5; x <= 1.9; x += 0.05) {
            const double P = rubber ? 3 * (x - 1 / (x * x)) : 7 * (x - 1);
            density(&m, (double[]){1, x, 1}, g);
            worst[rubber] = fmax(worst[rubber], fabs(g[1] - P));
            ck_assert_double_eq_tol(g[0], 0, 1e-12); /* the sides do not feel it */
        }
    }
    ck_assert_double_le(worst[0], 1e-9);
    ck_assert_double_le(worst[1], 0.13);
    ck_assert_double_eq_tol(pl_material_linear(&m).young, 3 * 3, 0.6); /* dP/dx at 1 */
}
END_TEST

START_TEST(every_way_to_say_a_linear_solid)
{
    const pl_material lame = {.has_lame = true, .lame = {3e4, 7e4}};
    const pl_material by_lame[] = {
        lame, {.model = PL_MATERIAL_FUNG, .has_lame = true, .lame = lame.lame}};
    for (int i = 0; i < 2; i++) {
        double mu, lambda;
        const pl_linear_constants linear = pl_material_linear(&by_lame[i]);
        pl_lame(linear.young, linear.poisson, &mu, &lambda);
        ck_assert_double_eq_tol(mu, 3e4, 1e-8);
        ck_assert_double_eq_tol(lambda, 7e4, 1e-7);
    }
    /* mu = 2 (s0 + s2 s3), K = 2 s1 */
    const pl_material fung = {
        .model = PL_MATERIAL_FUNG, .has_constants = true, .constants = {1e4, 1e5, 5e3, 2}};
    double mu, lambda;
    const pl_linear_constants linear = pl_material_linear(&fung);
    pl_lame(linear.young, linear.poisson, &mu, &lambda);
    ck_assert_double_eq_tol(mu, 4e4, 1e-7);
    ck_assert_double_eq_tol(lambda + 2 * mu / 3, 2e5, 1e-6);
    ck_assert(pl_material_poisson(&(pl_material){.young = 1, .poisson = 0.49}) == 0.49);
    ck_assert(pl_material_poisson(
                  &(pl_material){.model = PL_MATERIAL_ARAP, .young = 1, .poisson = 0.49}) == 0);
}
END_TEST

static void check_refused(const char *material, const char *code, const char *pointer)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'materials': {'bare': {}, 'a/b': {'model': 'spline', %s}},"
                     " 'bodies': [{'material': 'bare', 'mesh': {'box': {'cells': [1, 1, 1]}}}]}",
                     "'splines': 'A'");
    pl_material *m = NULL;
    for (int i = 0; i < r->scene.material_count; i++)
        if (strcmp(r->scene.materials[i].name, "a/b") == 0)
            m = &r->scene.materials[i];
    ck_assert_ptr_nonnull(m);
    if (strcmp(material, "falls") == 0) {
        m->splines.kind = PL_SPLINES_POINTS;
        const double a[3][2] = {{0.2, 5}, {1, 0}, {2, 10}};
        memcpy(m->splines.points[0], a, sizeof a);
        m->splines.count[0] = 3;
        m->splines.count[2] = 2;
        m->splines.points[2][0][0] = 0.5;
        m->splines.points[2][1][0] = 1.5;
        m->splines.points[2][1][1] = -1;
    } else if (strcmp(material, "soft") == 0) { /* a double well */
        m->splines.kind = PL_SPLINES_POINTS;
        const double a[5][2] = {{0.4, 8}, {0.7, -1}, {1, 0}, {1.3, -1}, {1.6, 8}};
        memcpy(m->splines.points[0], a, sizeof a);
        m->splines.count[0] = 5;
    } else {
        m->splines.kind = PL_SPLINES_CURVE;
        bool soft = strcmp(material, "soft curve") == 0;
        const double falls[][2] = {{0.5, -1}, {1.5, 1}, {2, 0.2}};
        const double bends[][2] = {{0.5, -3}, {0.8, 0.5}, {1, 0}, {1.2, -0.5}, {1.5, 3}};
        m->splines.curve_count = soft ? 5 : 3;
        memcpy(m->splines.curve, soft ? bends : falls, soft ? sizeof bends : sizeof falls);
    }
    pl_faults faults = {0};
    pl_estimate estimate;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_INVALID);
    ck_assert_int_eq((int)faults.total, 1);
    ck_assert_str_eq(faults.items[0].code, code);
    ck_assert_str_eq(faults.items[0].pointer, pointer);
    pl_faults_clear(&faults);
    pl_run_close(r);
}

START_TEST(energies_without_a_least_value_are_refused)
{
    check_refused("falls", "unbounded", "/materials/a~1b/splines/c");
    check_refused("curve", "unbounded", "/materials/a~1b/curve");
}
END_TEST

/* Splines that push out of rest have no weight that is positive. */
START_TEST(energies_without_stiffness_at_rest_are_refused)
{
    check_refused("soft", "softens_at_rest", "/materials/a~1b/splines");
    check_refused("soft curve", "softens_at_rest", "/materials/a~1b/curve");
}
END_TEST

/* Wang 2016, eq. 17 and 18: the state of an invertible element in a step, determined only by its smallest stretch at
 * the step's start. */
START_TEST(blends_are_frozen_where_a_step_begins)
{
    static const double least[] = {0.2, 0.12, 0.1, 0.04, -0.3};
    pl_run *r = pl_run_open(1,
                            "{'pliant': 1, 'materials': {'m': {'model': 'stvk', 'invertible': true,"
                            " 'lame': {'mu': 3, 'lambda': 5}}},"
                            " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}]}");
    const pl_group *g = &r->model->groups[0];
    const int64_t n = pl_run_vertices(r);
    double start[3 * 8], x[3 * 8];
    ck_assert_int_eq(n, 8);
    for (int k = 0; k < 5; k++) {
        const double b = fmin(fmax((0.15 - least[k]) / 0.1, 0), 1);
        for (int64_t i = 0; i < 3 * n; i++) {
            start[i] = r->model->x0[i] * (i % 3 == 2 ? least[k] : 1);
            x[i] = r->model->x0[i] * (i % 3 == 0 ? 1.4 : 1);
        }
        g->ops->freeze(g, &(pl_stage){.x_start = start}, 0, g->blocks);
        double energy[4], sum = 0;
        g->ops->energy(g, x, energy, 0, g->blocks);
        for (int64_t block = 0; block < g->blocks; block++)
            sum += energy[block];
        const double e = (1.4 * 1.4 - 1) / 2, stvk = 3 * e * e + 2.5 * e * e;
        ck_assert_double_eq_tol(sum, (1 - b) * stvk + b * 3 * 0.4 * 0.4, 1e-12);
    }
    pl_run_close(r);
}
END_TEST

static bool share_a_vertex(const pl_group *g, int64_t i, int64_t k)
{
    for (int c = 0; c < 16; c++)
        if (g->corner[(i / PL_BLOCK * 4 + c / 4) * PL_BLOCK + i % PL_BLOCK] ==
            g->corner[(k / PL_BLOCK * 4 + c % 4) * PL_BLOCK + k % PL_BLOCK])
            return true;
    return false;
}

/* An inverted element makes those that share a vertex with it convex, and no others. */
START_TEST(blends_spread_to_neighbours)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'materials': {'m': {'invertible': true}},"
                               " 'bodies': [{'mesh': {'box': {'cells': [6, 1, 1]}}}]}");
    const pl_group *g = &r->model->groups[0];
    const pl_tets *t = g->data;
    double start[3 * 28];
    int moved = 0, near = 0, far = 0;
    ck_assert_int_eq(pl_run_vertices(r), 28);
    for (int k = 0; k < 3 * 28; k++)
        start[k] = r->model->x0[k];
    for (int v = 0; v < 28; v++)
        moved = start[3 * v] < start[3 * moved] ? v : moved;
    start[3 * moved] += 0.3; /* through its cell, which is a sixth of a metre long */
    g->ops->freeze(g, &(pl_stage){.x_start = start}, 0, g->blocks);
    g->ops->spread(g, 0, g->blocks);
    for (int64_t i = 0; i < g->terms; i++) {
        bool touches = false;
        for (int64_t k = 0; k < g->terms; k++)
            touches = touches || (t->least[k] < -0.05 && share_a_vertex(g, i, k));
        near += touches && t->least[i] > 0.15;
        far += !touches;
        ck_assert_double_eq(t->blend[i / PL_BLOCK * 2 * PL_BLOCK + i % PL_BLOCK], touches ? 1 : 0);
    }
    ck_assert_int_gt(near, 2);
    ck_assert_int_gt(far, 10);
    pl_run_close(r);
}
END_TEST

/* What decides bits is in the hash: materials that differ in one number are different models, also where
 * the matrix is the same. */
START_TEST(numbers_of_materials_are_in_the_hash)
{
    static const char *const materials[] = {
        "",
        "'young': 2e4",
        "'poisson': 0.2",
        "'density': 900",
        "'invertible': true",
        "'lame': {'mu': 3e4, 'lambda': 7e4}",
        "'lame': {'mu': 3e4, 'lambda': 8e4}",
        "'model': 'stvk'",
        "'model': 'stable_neo_hookean'",
        "'model': 'polynomial'",
        "'model': 'neo_hookean_wang'",
        "'model': 'mooney_rivlin'",
        "'model': 'fung', 'constants': {'s0': 1e4, 's1': 1e5, 's2': 5e3, 's3': 2}",
        "'model': 'fung', 'constants': {'s0': 2e4, 's1': 1e5, 's2': 5e3, 's3': 2}",
        "'model': 'fung', 'constants': {'s0': 1e4, 's1': 2e5, 's2': 5e3, 's3': 2}",
        "'model': 'fung', 'constants': {'s0': 1e4, 's1': 1e5, 's2': 6e3, 's3': 2}",
        "'model': 'fung', 'constants': {'s0': 1e4, 's1': 1e5, 's2': 5e3, 's3': 3}",
        "'model': 'spline', 'splines': 'A', 'lame': {'mu': 3e4, 'lambda': 7e4}",
        "'model': 'spline', 'splines': 'A', 'lame': {'mu': 3e4, 'lambda': 8e4}",
        "'model': 'spline', 'splines': 'B', 'lame': {'mu': 3e4, 'lambda': 7e4}",
        "'model': 'spline', 'splines': {'a': [[0.5, 1], [1, 0], [2, 2]]}",
        "'model': 'spline', 'splines': {'a': [[0.5, 1], [1, 0], [2, 3]]}",
        "'model': 'spline', 'splines': {'a': [[0.5, 8], [1, 0], [2, 16]],"
        " 'b': [[0.5, 1], [1, 0], [2, 2]]}",
        "'model': 'spline', 'splines': {'a': [[0.5, 8], [1, 0], [2, 16]],"
        " 'b': [[0.5, 1], [1, 0], [2, 3]]}",
        "'model': 'spline', 'splines': {'a': [[0.5, 8], [1, 0], [2, 16]],"
        " 'c': [[0.5, 1], [1, 0], [2, 2]]}",
        "'model': 'spline', 'curve': [[0.5, -1], [1.5, 1]]",
        "'model': 'spline', 'curve': [[0.5, -1], [1.5, 2]]",
    };
    enum { COUNT = sizeof materials / sizeof *materials };
    uint64_t hash[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'materials': {'m': {%s}},"
                                 " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}]}",
                                 materials[i]);
        hash[i] = pl_model_hash(r->model);
        for (int k = 0; k < i; k++)
            ck_assert_msg(hash[k] != hash[i], "%s and %s", materials[k], materials[i]);
        pl_run_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_materials");
    TCase *t = tcase_create("materials");
    tcase_add_test(t, splines_meet_their_points);
    tcase_add_test(t, curves_are_fitted);
    tcase_add_test(t, every_way_to_say_a_linear_solid);
    tcase_add_test(t, energies_without_a_least_value_are_refused);
    tcase_add_test(t, energies_without_stiffness_at_rest_are_refused);
    tcase_add_test(t, numbers_of_materials_are_in_the_hash);
    tcase_add_test(t, blends_are_frozen_where_a_step_begins);
    tcase_add_test(t, blends_spread_to_neighbours);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
