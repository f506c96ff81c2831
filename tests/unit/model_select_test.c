/* Selections: every kind picks the documented vertices, and one that picks none is a located fault. */
#include "engine/model/build/layout.h"
#include "engine/model/build/select.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_mesh mesh; /* a box of 4 x 2 x 1 m in 4 x 2 x 1 cells: 5 x 3 x 2 vertices, x fastest */

static void setup(void)
{
    const double size[3] = {4, 2, 1};
    const int32_t cells[3] = {4, 2, 1};
    ck_assert_int_eq(pl_mesh_box(size, cells, &mesh), PL_OK);
    ck_assert_int_eq(mesh.vertex_count, 30);
}

static void teardown(void)
{
    pl_mesh_clear(&mesh);
}

/* The number of vertices that `s` picks; each is in `inside`, and all of `inside` are picked. */
static int64_t picks(const pl_selection *s, bool (*inside)(const double *))
{
    int32_t *list = NULL;
    int64_t count = 0, expected = 0;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_select_vertices(s, &mesh, mesh.vertices, "/p", &list, &count, &faults),
                     PL_OK);
    for (int64_t k = 0; k < count; k++) {
        ck_assert(inside(mesh.vertices + 3 * list[k]));
        ck_assert(k == 0 || list[k] > list[k - 1]);
    }
    for (int64_t i = 0; i < mesh.vertex_count; i++)
        expected += inside(mesh.vertices + 3 * i);
    ck_assert_int_eq(count, expected);
    free(list);
    return count;
}

static bool anywhere(const double *p)
{
    return true;
}
static bool left(const double *p)
{
    return p[0] < -2 + 1e-9;
}
static bool top(const double *p)
{
    return p[1] > 1 - 1e-9;
}
static bool first_quarter(const double *p)
{
    return p[0] < -1 + 1e-9;
}
static bool near_corner(const double *p)
{
    return hypot(hypot(p[0] + 2, p[1] + 1), p[2] + 0.5) < 1.1;
}

START_TEST(places)
{
    ck_assert_int_eq(picks(&(pl_selection){.kind = PL_SELECT_ALL}, anywhere), 30);
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_SIDE, .side_axis = 0, .side_sign = -1}, left), 6);
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_SIDE, .side_axis = 1, .side_sign = 1}, top), 10);
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_BOX, .lo = {-9, -9, -9}, .hi = {-1, 9, 9}},
              first_quarter),
        12);
    /* The same in the body's own coordinates from 0 to 1. */
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_BOX, .relative = true, .hi = {0.25, 1, 1}},
              first_quarter),
        12);
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_PLANE, .normal = {1, 0, 0}, .offset = -1},
              first_quarter),
        12);
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_SPHERE, .center = {-2, -1, -0.5}, .radius = 1.1},
              near_corner),
        4);
    /* A relative radius is a part of the longest edge, 4 m. */
    ck_assert_int_eq(
        picks(&(pl_selection){.kind = PL_SELECT_SPHERE, .relative = true, .radius = 0.275},
              near_corner),
        4);
}
END_TEST

START_TEST(indices)
{
    int64_t list[] = {7, 3, 3, 29};
    int32_t *out = NULL;
    int64_t count = 0;
    pl_faults faults = {0};
    pl_selection s = {.kind = PL_SELECT_INDICES, .indices = list, .index_count = 4};
    ck_assert_int_eq(pl_select_vertices(&s, &mesh, mesh.vertices, "/p", &out, &count, &faults),
                     PL_OK);
    ck_assert_int_eq(count, 3);
    ck_assert(out[0] == 3 && out[1] == 7 && out[2] == 29);
    free(out);
    list[1] = 30;
    list[2] = -1;
    ck_assert_int_eq(pl_select_vertices(&s, &mesh, mesh.vertices, "/p", &out, &count, &faults),
                     PL_INVALID);
    ck_assert_uint_eq(faults.count, 2);
    ck_assert_str_eq(faults.items[0].pointer, "/p/indices/1");
    ck_assert_str_eq(faults.items[0].code, "index_out_of_range");
    ck_assert_str_eq(faults.items[0].got, "30");
    ck_assert_str_eq(faults.items[1].pointer, "/p/indices/2");
    pl_faults_clear(&faults);
}
END_TEST

static bool of_first_tet(const double *p)
{
    for (int c = 0; c < 4; c++)
        if (p == mesh.vertices + 3 * mesh.tets[c])
            return true;
    return false;
}

/* A tag by its name, and by its number; the mesh owns the arrays that are made here. */
START_TEST(tags)
{
    mesh.tet_tags = calloc((size_t)mesh.tet_count, sizeof *mesh.tet_tags);
    mesh.tet_tags[0] = 5;
    mesh.group_count = 1;
    mesh.groups = calloc(1, sizeof *mesh.groups);
    mesh.groups[0] = (pl_mesh_group){strdup("grip"), 5, 3};
    ck_assert_int_eq(picks(&(pl_selection){.kind = PL_SELECT_TAG, .tag = "grip"}, of_first_tet), 4);
    ck_assert_int_eq(picks(&(pl_selection){.kind = PL_SELECT_TAG, .tag = "5"}, of_first_tet), 4);
    int32_t *out = NULL;
    int64_t count = 0;
    pl_faults faults = {0};
    pl_selection s = {.kind = PL_SELECT_TAG, .tag = "grop"};
    ck_assert_int_eq(pl_select_vertices(&s, &mesh, mesh.vertices, "/p", &out, &count, &faults),
                     PL_INVALID);
    ck_assert_str_eq(faults.items[0].pointer, "/p/tag");
    ck_assert_str_eq(faults.items[0].code, "unknown_tag");
    ck_assert_ptr_nonnull(strstr(faults.items[0].expected, "grip"));
    pl_faults_clear(&faults);
}
END_TEST

START_TEST(nothing_is_a_fault)
{
    int32_t *out = NULL;
    int64_t count = 0;
    pl_faults faults = {0};
    pl_selection s = {.kind = PL_SELECT_BOX, .lo = {10, 10, 10}, .hi = {11, 11, 11}};
    ck_assert_int_eq(
        pl_select_vertices(&s, &mesh, mesh.vertices, "/pins/0/select", &out, &count, &faults),
        PL_INVALID);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].pointer, "/pins/0/select");
    ck_assert_str_eq(faults.items[0].code, "empty_selection");
    ck_assert_ptr_nonnull(strstr(faults.items[0].expected, "[-2, -1, -0.5] to [2, 1, 0.5]"));
    pl_faults_clear(&faults);
}
END_TEST

/* Initial shapes of a body of unit masses: what each does to its vertices. */
START_TEST(initial_shapes)
{
    double mass[30], x[90], v[90];
    for (int i = 0; i < 30; i++)
        mass[i] = 1;
    pl_body body = {.initial = {.shape = PL_SHAPE_TWISTED,
                                .turns = 0.5,
                                .axis = {1, 0, 0},
                                .angular_velocity = {0, 0, 2}}};
    pl_body_initial(&body, mesh.vertices, mass, 30, x, v);
    for (int i = 0; i < 30; i++) {
        const double *p = mesh.vertices + 3 * i;
        double turn = M_PI * (p[0] + 2) / 4; /* none at x = -2, half a turn at x = 2 */
        ck_assert_double_eq_tol(x[3 * i], p[0], 1e-14);
        ck_assert_double_eq_tol(x[3 * i + 1], cos(turn) * p[1] - sin(turn) * p[2], 1e-14);
        ck_assert_double_eq_tol(x[3 * i + 2], sin(turn) * p[1] + cos(turn) * p[2], 1e-14);
        ck_assert_double_eq_tol(v[3 * i], -2 * x[3 * i + 1], 1e-12); /* w x r about the centre */
        ck_assert_double_eq_tol(v[3 * i + 1], 2 * x[3 * i], 1e-12);
    }
    body.initial = (pl_initial){.shape = PL_SHAPE_COLLAPSED};
    pl_body_initial(&body, mesh.vertices, mass, 30, x, v);
    for (int i = 0; i < 90; i++)
        ck_assert_double_eq_tol(x[i], 0, 1e-14);
    body.initial = (pl_initial){.shape = PL_SHAPE_STRETCHED, .stretch = {2, 1, 0.5}};
    pl_body_initial(&body, mesh.vertices, mass, 30, x, v);
    for (int i = 0; i < 90; i++)
        ck_assert_double_eq_tol(x[i], mesh.vertices[i] * body.initial.stretch[i % 3], 1e-14);
    const double half[3] = {2, 1, 0.5};
    double again[90];
    body.initial = (pl_initial){.shape = PL_SHAPE_RANDOM, .seed = 4};
    pl_body_initial(&body, mesh.vertices, mass, 30, x, v);
    pl_body_initial(&body, mesh.vertices, mass, 30, again, v);
    ck_assert_mem_eq(x, again, sizeof x);
    for (int i = 0; i < 90; i++)
        ck_assert_double_le(fabs(x[i]), half[i % 3]);
    ck_assert(x[0] != x[3]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("selections and shapes");
    TCase *t = tcase_create("selections and shapes");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, places);
    tcase_add_test(t, indices);
    tcase_add_test(t, tags);
    tcase_add_test(t, nothing_is_a_fault);
    tcase_add_test(t, initial_shapes);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
