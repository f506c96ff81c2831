/* Every material under ADMM: the patch test, the force of a pulled bar, and the way back from a
 * shape that no element survives. */
#include "tests/support/scene_run.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const models[] = {"neo_hookean", "corotated", "arap"};
enum { MODELS = sizeof models / sizeof *models, NEO_HOOKEAN = 0, COROTATED, ARAP };

/* A ball's surface held on an affine map: its inside, thrown off, comes back to the map exactly,
 * because linear elements have the affine map among their shapes and a uniform F has no net force at
 * a vertex. M / h^2 is 1e-11 of the stiffness. */
START_TEST(patch_test)
{
    static const char ball[] = "{'sphere': {'cells': 4}}";
    pl_run *probe = pl_run_openf(1, "{'pliant': 1, 'bodies': [{'mesh': %s}]}", ball);
    int32_t *triangles = NULL;
    int64_t triangle_count = 0;
    ck_assert_int_eq(pl_mesh_surface(&probe->meshes[0], &triangles, &triangle_count), PL_OK);
    int64_t n = pl_run_vertices(probe), inner = 0;
    char *surface = calloc((size_t)n, 1), *indices = calloc((size_t)n, 16);
    for (int64_t k = 0; k < 3 * triangle_count; k++)
        surface[triangles[k]] = 1;
    for (int64_t i = 0, used = 0; i < n; i++) {
        inner += !surface[i];
        if (surface[i])
            used += sprintf(indices + used, "%s%lld", used ? "," : "", (long long)i);
    }
    ck_assert_int_gt(inner, 5);
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 1000, 'steps': 2}, 'gravity': [0, 0, 0],"
        " 'solver': {'iterations': 3000, 'tolerance': 1e-11},"
        " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': %s,"
        "   'initial': {'shape': {'stretched': [1.2, 0.9, 1.1]}, 'velocity': [2e-5, 1e-5, 3e-5]}}],"
        " 'pins': [{'select': {'indices': [%s]}}]}",
        models[_i], ball, indices);
    pl_run_frames(r, 2);
    const double stretch[3] = {1.2, 0.9, 1.1};
    for (int64_t i = 0; i < 3 * n; i++)
        ck_assert_double_eq_tol(pl_run_x(r)[i], stretch[i % 3] * probe->meshes[0].vertices[i],
                                1e-8);
    ck_assert_double_eq_tol(r->metrics.max_stretch, 1.2, 1e-7);
    free(triangles);
    free(surface);
    free(indices);
    pl_run_close(probe);
    pl_run_close(r);
}
END_TEST

/* A cube pulled to the length s between two plates, its sides free. Vertices on the plates are held
 * sideways as well, so the strain is uniform only without lateral contraction:
 *     corotated, Poisson 0:  P = 2 mu (s - 1) = E (s - 1)
 *     ARAP, any Poisson:     P = 2 mu (s - 1), mu = E / (2 (1 + nu)), and the sides do not move
 *     neo-Hookean, 0:        P = mu (s - 1 / s)
 */
START_TEST(pulled_bar_pulls_back)
{
    const double E = 2e5, s = 1.25, area = 0.25, poisson = _i == ARAP ? 0.3 : 0;
    const double mu = E / (2 * (1 + poisson));
    const double P[MODELS] = {mu * (s - 1 / s), 2 * mu * (s - 1), 2 * mu * (s - 1)};
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 50, 'steps': 2}, 'gravity': [0, 0, 0],"
                     " 'solver': {'iterations': 4000, 'tolerance': 1e-10},"
                     " 'materials': {'m': {'model': '%s', 'young': %g, 'poisson': %g}},"
                     " 'bodies': [{'mesh': {'box': {'size': [1, 0.5, 0.5], 'cells': [8, 4, 4]}},"
                     "             'initial': {'shape': {'stretched': [%g, 1, 1]}}}],"
                     " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'}}]}",
                     models[_i], E, poisson, s);
    pl_run_frames(r, 2);
    ck_assert_double_eq_tol(r->metrics.pins[1].newton[0], P[_i] * area, 1e-6 * P[_i] * area);
    ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], -P[_i] * area, 1e-6 * P[_i] * area);
    pl_run_close(r);
}
END_TEST

/* A uniform F = diag(s, 1, 1) has the density of its material times the rest volume; here the
 * volume terms show.
 *     neo-Hookean: mu/2 (s^2 - 1) - mu log s + lambda/2 (log s)^2
 *     corotated:   (mu + lambda/2) (s - 1)^2
 *     ARAP:        mu (s - 1)^2
 */
START_TEST(stretched_box_has_its_energy)
{
    const double E = 1e5, poisson = 0.4, s = 0.8, L = log(s), volume = 0.5;
    const double mu = E / (2 * (1 + poisson));
    const double lambda = E * poisson / ((1 + poisson) * (1 - 2 * poisson));
    const double density[MODELS] = {mu / 2 * (s * s - 1) - mu * L + lambda / 2 * L * L,
                                    (mu + lambda / 2) * (s - 1) * (s - 1), mu * (s - 1) * (s - 1)};
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'gravity': [0, 0, 0],"
                             " 'materials': {'m': {'model': '%s', 'young': %g, 'poisson': %g}},"
                             " 'bodies': [{'mesh': {'box': {'size': [1, 1, 0.5], 'cells': [3, 2, "
                             "2]}}, 'initial': {'shape': {'stretched': [%g, 1, 1]}}}]}",
                             models[_i], E, poisson, s);
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    ck_assert_double_eq_tol(start.elastic, density[_i] * volume, 1e-12 * E);
    pl_run_close(r);
}
END_TEST

/* Bodies collapsed to a point, or with random vertices, come back to their rest shape (Narain 2016,
 * figure 3): no element is inverted or stretched, no energy is left. */
START_TEST(recovers_from_collapse_and_chaos)
{
    static const char *const shapes[] = {"'collapsed'", "{'random': {'seed': 3}}",
                                         "{'random': {'seed': 11}}"};
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 80}, 'gravity': [0, 0, 0],"
        " 'solver': {'iterations': 60, 'tolerance': 0},"
        " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'initial': {'shape': %s}}]}",
        models[_i % MODELS], shapes[_i / MODELS]);
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    ck_assert_int_gt(start.inverted, 50);
    pl_run_frames(r, 80);
    ck_assert_int_eq(r->metrics.inverted, 0);
    ck_assert_double_lt(fabs(r->metrics.max_stretch - 1), 0.03);
    ck_assert_double_lt(r->metrics.elastic, 1e-3 * 1e5);
    pl_run_close(r);
}
END_TEST

/* Bodies of different materials in one scene: a group each, and each feels its own. */
START_TEST(materials_share_a_scene)
{
    pl_run *r = pl_run_open(
        2, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20}, 'gravity': [0, -9.81, 0],"
           " 'materials': {'n': {'model': 'neo_hookean'}, 'c': {'model': 'corotated'},"
           "   'a': {'model': 'arap'}},"
           " 'bodies': [{'name': 'n', 'material': 'n', 'mesh': {'box': {'cells': [3, 3, 3]}}},"
           "  {'name': 'c', 'material': 'c', 'mesh': {'box': {'cells': [3, 3, 3]}}},"
           "  {'name': 'a', 'material': 'a', 'mesh': {'box': {'cells': [3, 3, 3]}}}],"
           " 'pins': [{'body': 'n', 'select': {'side': '+y'}}, {'body': 'c', 'select': {'side': "
           "'+y'}},"
           "  {'body': 'a', 'select': {'side': '+y'}}]}");
    pl_run_frames(r, 20);
    const int64_t each = pl_run_vertices(r) / 3;
    const double *x = pl_run_x(r);
    double low[3] = {0};
    for (int64_t i = 0; i < 3 * each; i++)
        low[i / each] = fmin(low[i / each], x[3 * i + 1]);
    for (int b = 0; b < 3; b++) /* they sag under their weight, by a few per cent and not alike */
        ck_assert(low[b] < -0.51 && low[b] > -0.75);
    ck_assert(fabs(low[0] - low[1]) > 1e-4 && fabs(low[1] - low[2]) > 1e-4);
    ck_assert_int_eq(r->metrics.inverted, 0);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("materials");
    TCase *t = tcase_create("materials");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, patch_test, 0, MODELS);
    tcase_add_loop_test(t, pulled_bar_pulls_back, 0, MODELS);
    tcase_add_loop_test(t, stretched_box_has_its_energy, 0, MODELS);
    tcase_add_loop_test(t, recovers_from_collapse_and_chaos, 0, 3 * MODELS);
    tcase_add_test(t, materials_share_a_scene);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
