/* Stress at vertices and of elements, for bodies with uniform deformation, compared with closed forms: with principal
 * stretches s_i and J their product, Cauchy's principal stresses are s_i dPsi/ds_i / J (Holzapfel 2000, section 6.2).
 * Any mean of a uniform value is that value, so the tolerance is rounding's. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define YOUNG   1e5
#define POISSON 0.3
#define MU      (YOUNG / (2 * (1 + POISSON)))
#define LAMBDA  (YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)))

/* dPsi/ds_i */
static double corotated(const double s[3], int i)
{
    return 2 * MU * (s[i] - 1) + LAMBDA * (s[0] + s[1] + s[2] - 3);
}
static double neo_hookean(const double s[3], int i)
{
    return MU * s[i] + (LAMBDA * log(s[0] * s[1] * s[2]) - MU) / s[i];
}
static double stvk(const double s[3], int i)
{
    double trace = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) / 2;
    return s[i] * (MU * (s[i] * s[i] - 1) + LAMBDA * trace);
}

static const struct law {
    const char *name;
    double (*slope)(const double s[3], int i);
} laws[] = {{"corotated", corotated}, {"neo_hookean", neo_hookean}, {"stvk", stvk}};

static pl_run *stretched(const char *model, const double s[3])
{
    return pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0],"
        " 'materials': {'rubber': {'model': '%s', 'young': %g, 'poisson': %g, 'density': 1000}},"
        " 'bodies': [{'name': 'bar', 'mesh': {'box': {'size': [3, 1, 1], 'cells': [5, 2, 2]}},"
        " 'material': 'rubber',"
        " 'initial': {'shape': {'stretched': [%.17g, %.17g, %.17g]}}},"
        " {'name': 'sheet', 'mesh': {'cloth': {'cells': [1, 1]}}, 'material': 'rubber'}]}",
        model, YOUNG, POISSON, s[0], s[1], s[2]);
}

/* Three numbers each of [first, end): von Mises', the greatest principal and the mean stress. */
static void hold_rows(const double *stress, int64_t first, int64_t end, const double expected[3],
                      double tolerance)
{
    for (int64_t i = 3 * first; i < 3 * end; i++)
        ck_assert_double_eq_tol(stress[i], expected[i % 3], tolerance);
}
static const double none[3] = {0, 0, 0};

static void check_stress(const struct law *law, const double s[3])
{
    pl_run *run = stretched(law->name, s);
    int64_t n = pl_run_vertices(run), sheet = pl_model_first_vertex(run->model, 1);
    double *stress = malloc((size_t)n * 3 * sizeof *stress), J = s[0] * s[1] * s[2], p[3];
    ck_assert_int_eq(pl_state_stress(run->state, stress, NULL), PL_OK);
    for (int i = 0; i < 3; i++)
        p[i] = s[i] * law->slope(s, i) / J;
    double mean = (p[0] + p[1] + p[2]) / 3, greatest = fmax(p[0], fmax(p[1], p[2]));
    double mises = sqrt((pow(p[0] - p[1], 2) + pow(p[1] - p[2], 2) + pow(p[2] - p[0], 2)) / 2);
    const double expected[3] = {mises, greatest, mean};
    hold_rows(stress, 0, sheet, expected, 1e-7 * YOUNG);
    hold_rows(stress, sheet, n, none, 1e-300); /* of no tetrahedron: 0 */
    free(stress);
    int64_t cells = pl_model_element_count(run->model), tets = pl_model_tet_count(run->model);
    stress = malloc((size_t)cells * 3 * sizeof *stress);
    ck_assert_int_eq(pl_state_stress(run->state, NULL, stress), PL_OK);
    ck_assert_int_eq(cells, tets + 2);
    hold_rows(stress, 0, tets, expected, 1e-7 * YOUNG);
    hold_rows(stress, tets, cells, none, 1e-7 * YOUNG); /* the sheet is at rest */
    free(stress);
    pl_run_close(run);
}

START_TEST(test_any_stretch)
{
    static const double stretches[][3] = {{1.3, 0.9, 0.95}, {0.7, 0.8, 0.75}, {1.1, 1.4, 1.2}};
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        for (size_t i = 0; i < 3; i++)
            check_stress(&laws[k], stretches[i]);
}
END_TEST

/* A bar that is pulled and free at its sides: corotated, it is narrower by a = 1 - nu (s - 1), and
 * sigma = E (s - 1) / a^2 along it is all its stress. */
START_TEST(test_uniaxial)
{
    const double s = 1.25, a = 1 - POISSON * (s - 1), sigma = YOUNG * (s - 1) / (a * a);
    const double expected[3] = {sigma, sigma, sigma / 3};
    pl_run *run = stretched("corotated", (const double[]){s, a, a});
    double *stress = malloc((size_t)pl_run_vertices(run) * 3 * sizeof *stress);
    ck_assert_int_eq(pl_state_stress(run->state, stress, NULL), PL_OK);
    hold_rows(stress, 0, pl_model_first_vertex(run->model, 1), expected, 1e-9 * sigma);
    free(stress);
    pl_run_close(run);
}
END_TEST

/* Of three bodies one is pulled: each element has its own. A sheet that is pulled by s
 * and free at its sides has sigma = P s / (s a) over its thickness at rest, with the force a length P =
 * E (s - 1) and the width a = 1 - nu (s - 1) of plane stress, corotated. */
START_TEST(test_elements)
{
    const double s = 1.2, a = 1 - POISSON * (s - 1), sigma = YOUNG * (s - 1) / a;
    const double expected[3] = {sigma, sigma, sigma / 3};
    pl_run *run = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0],"
        " 'materials': {'cotton': {'model': 'corotated', 'young': %g, 'poisson': %g, 'density': "
        "500,"
        " 'thickness': 0.002}},"
        " 'bodies': [{'name': 'still', 'mesh': {'cloth': {'cells': [1, 1]}}, 'material': 'cotton'},"
        " {'name': 'box', 'mesh': {'box': {'cells': [1, 1, 1]}}, 'material': 'cotton'},"
        " {'name': 'pulled', 'mesh': {'cloth': {'cells': [2, 1]}}, 'material': 'cotton',"
        " 'transform': {'translate': [0, 0, 3]},"
        " 'initial': {'shape': {'stretched': [%.17g, %.17g, %.17g]}}}]}",
        YOUNG, POISSON, s, a, a);
    int64_t cells = pl_model_element_count(run->model), tets = pl_model_tet_count(run->model);
    ck_assert_int_eq(cells, tets + 2 + 4);
    double *stress = malloc((size_t)cells * 3 * sizeof *stress);
    ck_assert_int_eq(pl_state_stress(run->state, NULL, stress), PL_OK);
    hold_rows(stress, 0, tets + 2, none, 1e-7 * YOUNG);
    hold_rows(stress, tets + 2, cells, expected, 1e-9 * sigma);
    free(stress);
    pl_run_close(run);
}
END_TEST

/* The same bits on any number of threads; no stress at rest. */
START_TEST(test_threads)
{
    double *first = NULL;
    for (int32_t threads = 1; threads <= 3; threads++) {
        pl_run *run = pl_run_open(
            threads,
            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8}, 'bodies': [{'mesh': {'box': {"
            "'size': [1, 1, 1], 'cells': [4, 4, 4]}}}], 'pins': [{'select': {'side': '-x'}}]}");
        size_t count = 3 * (size_t)pl_run_vertices(run), bytes = count * sizeof(double);
        double *stress = malloc(bytes);
        ck_assert_int_eq(pl_state_stress(run->state, stress, NULL), PL_OK);
        for (size_t i = 0; i < count; i++)
            ck_assert_double_eq_tol(stress[i], 0, 1e-6);
        pl_run_frames(run, 8);
        ck_assert_int_eq(pl_state_stress(run->state, stress, NULL), PL_OK);
        if (first)
            ck_assert_mem_eq(first, stress, bytes);
        if (first)
            free(stress);
        else
            first = stress;
        pl_run_close(run);
    }
    free(first);
}
END_TEST

/* Damping merged with the energy does not contribute: the stress of a moving body is that of its material, whatever the
 * form of the damping's terms. */
START_TEST(test_merged_damping)
{
    double *first = NULL;
    for (int merged = 0; merged < 2; merged++) {
        pl_run *run = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 3}, 'gravity': [0, 0, 0],"
            " 'solver': {'method': 'newton', 'iterations': 50, 'tolerance': 1e-12},"
            " 'materials': {'m': {'damping': {'model': 'rayleigh_lagged', 'beta': 0.01, 'form': "
            "'%s'}}}, 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
            "   'initial': {'shape': {'stretched': [1.2, 0.9, 1]}}}]}",
            merged ? "merged" : "separate");
        const size_t of_vertices = 3 * (size_t)pl_run_vertices(run);
        const size_t count = of_vertices + 3 * (size_t)pl_model_element_count(run->model);
        double *stress = malloc(count * sizeof *stress), most = 0;
        pl_run_frames(run, 3);
        ck_assert_int_eq(pl_state_stress(run->state, stress, stress + of_vertices), PL_OK);
        for (size_t i = 0; i < count; i++)
            most = fmax(most, fabs(stress[i]));
        ck_assert_double_gt(most, 1);
        for (size_t i = 0; merged && i < count; i++)
            ck_assert_double_eq_tol(stress[i], first[i], 1e-6 * most);
        free(merged ? first : NULL);
        first = stress;
        pl_run_close(run);
    }
    free(first);
}
END_TEST

int main(void)
{
    pl_run_on_host();
    Suite *suite = suite_create("stress");
    TCase *t = tcase_create("stress");
    tcase_add_test(t, test_any_stretch);
    tcase_add_test(t, test_uniaxial);
    tcase_add_test(t, test_elements);
    tcase_add_test(t, test_threads);
    tcase_add_test(t, test_merged_damping);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
