/* Lumped masses of every kind of element, and bodies that have nothing but mass. */
#include "engine/model/build/layout.h"
#include "engine/model/model.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static double total_mass(const pl_run *run, int32_t body)
{
    const pl_model *m = run->model;
    double sum = 0;
    for (int64_t i = m->first_vertex[body]; i < m->first_vertex[body + 1]; i++)
        sum += m->mass[i];
    return sum;
}

/* rho V, rho t A and rho a l of the placed bodies: scale changes area by its square. */
START_TEST(masses_are_density_times_extent)
{
    pl_run *run = pl_run_open(
        1, "{'pliant': 1, 'materials': {'m': {'density': 250, 'thickness': 0.02, 'area': 0.003}},"
           " 'bodies': [{'mesh': {'box': {'size': [1, 2, 3], 'cells': [2, 2, 2]}}},"
           " {'mesh': {'cloth': {'size': [3, 2], 'cells': [3, 4]}}, 'transform': {'scale': 2}},"
           " {'mesh': {'rope': {'length': 5, 'segments': 4}}, 'transform': {'scale': 3}}]}");
    ck_assert_double_eq_tol(total_mass(run, 0), 250 * 6, 1e-10);
    ck_assert_double_eq_tol(total_mass(run, 1), 250 * 0.02 * 24, 1e-12);
    ck_assert_double_eq_tol(total_mass(run, 2), 250 * 0.003 * 15, 1e-12);
    const pl_model *m = run->model;
    const double *rope = m->mass + m->first_vertex[2];
    double segment = 250 * 0.003 * 3.75;
    ck_assert_double_eq_tol(rope[0], segment / 2, 1e-14);
    ck_assert_double_eq_tol(rope[1], segment, 1e-14);
    ck_assert_double_eq_tol(rope[4], segment / 2, 1e-14);
    pl_run_close(run);
}
END_TEST

/* Elements of a body with all kinds, with their measures at rest, in the model's order. */
START_TEST(elements_of_all_bodies_in_one_list_a_kind)
{
    pl_run *run = pl_run_open(
        1, "{'pliant': 1, 'materials': {'a': {}, 'b': {'density': 1, 'thickness': 1, 'area': 1}},"
           " 'bodies': [{'material': 'a', 'mesh': {'rope': {'segments': 2, 'length': 4}}},"
           " {'material': 'b', 'mesh': {'vertices': [0,0,0, 2,0,0, 0,3,0, 0,0,4, 0,0,5],"
           " 'tets': [0,1,2,3], 'triangles': [0,1,2, 0,1,3], 'edges': [3,4]}}]}");
    pl_layout layout;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_layout_create(&run->scene, run->meshes, &layout, &faults), PL_OK);
    const pl_elements *tets = &layout.elements[PL_ELEMENT_TET];
    const pl_elements *triangles = &layout.elements[PL_ELEMENT_TRIANGLE];
    const pl_elements *edges = &layout.elements[PL_ELEMENT_EDGE];
    ck_assert(tets->count == 1 && tets->corner[0] == 3 && tets->first[1] == 0);
    ck_assert_double_eq_tol(tets->measure[0], 4, 1e-15);
    ck_assert(triangles->count == 2 && triangles->corner[5] == 6 && triangles->material[1] == 1);
    ck_assert_double_eq_tol(triangles->measure[0], 3, 1e-15);
    ck_assert_double_eq_tol(triangles->measure[1], 4, 1e-15);
    ck_assert(edges->count == 3 && edges->first[1] == 2 && edges->corner[4] == 6);
    ck_assert(edges->material[1] == 0 && edges->material[2] == 1);
    ck_assert_double_eq_tol(edges->measure[0], 2, 1e-15);
    ck_assert_double_eq_tol(edges->measure[2], 1, 1e-15);
    /* Vertex 3 of the body: 1/4 of the volume, 1/3 of one area, 1/2 of the length. */
    ck_assert_double_eq_tol(run->model->mass[6], 4.0 / 4 + 4.0 / 3 + 0.5, 1e-14);
    pl_layout_destroy(&layout);
    pl_run_close(run);
}
END_TEST

START_TEST(sheets_select_by_place)
{
    pl_run *run = pl_run_open(1, "{'pliant': 1, 'bodies': [{'mesh': {'cloth': {'cells': [4, 3]}}}],"
                                 " 'pins': [{'select': {'side': '-x'}}]}");
    ck_assert_int_eq(run->model->pins[0].count, 4);
    pl_run_close(run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_masses");
    TCase *cases = tcase_create("masses");
    tcase_add_test(cases, masses_are_density_times_extent);
    tcase_add_test(cases, elements_of_all_bodies_in_one_list_a_kind);
    tcase_add_test(cases, sheets_select_by_place);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
