/* How elements are shaped: regular ones, known angles, flat and inverted ones, and numbers that are none. */
#include "engine/mesh/shapes.h"
#include "tests/unit/mesh_files.h"

#include <math.h>

static pl_mesh from(const pl_mesh_arrays *arrays)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_from_arrays(arrays, "/m", &mesh, &faults), PL_OK);
    return mesh;
}

static pl_shapes shapes_of(const double *x, int64_t vertices, const int64_t *tets, int64_t count)
{
    pl_shapes out;
    pl_mesh mesh = from(&(pl_mesh_arrays){
        .vertex_count = vertices, .vertices = x, .tet_count = count, .tets = tets});
    pl_mesh_shapes(&mesh, &out);
    pl_mesh_clear(&mesh);
    return out;
}

/* Of edge 2 sqrt 2, and the same turned inside out: dihedral angles acos(1/3), V = 8/3. */
START_TEST(the_regular_tetrahedron)
{
    static const double x[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    static const int64_t tets[2][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}};
    for (int i = 0; i < 2; i++) {
        pl_shapes s = shapes_of(x, 4, tets[i], 1);
        const double *value = s.worst[0].value;
        ck_assert_int_eq(s.corners, 4);
        ck_assert_int_eq(s.elements, 1);
        ck_assert_int_eq(s.flat, 0);
        ck_assert_int_eq(s.inverted, s.worst[0].inverted);
        ck_assert_double_eq_tol(value[PL_SHAPE_LEAST_ANGLE], acos(1. / 3) * 180 / M_PI, 1e-12);
        ck_assert_double_eq_tol(value[PL_SHAPE_GREATEST_ANGLE], acos(1. / 3) * 180 / M_PI, 1e-12);
        ck_assert_double_eq_tol(value[PL_SHAPE_RADIUS_RATIO], 1, 1e-14);
        ck_assert_double_eq_tol(value[PL_SHAPE_ASPECT], 1, 1e-14);
        ck_assert_double_eq_tol(value[PL_SHAPE_EXTENT], 8. / 3, 1e-14);
        ck_assert_int_eq(s.range[PL_SHAPE_LEAST_ANGLE].count[PL_SHAPE_BINS - 1], 1);
    }
    ck_assert_int_ne(shapes_of(x, 4, tets[0], 1).inverted, shapes_of(x, 4, tets[1], 1).inverted);
}
END_TEST

/* The corner tetrahedron: three right dihedral angles, three of acos(1 / sqrt 3); r = 3 V / A with
 * V = 1/6, A = 3/2 + sqrt 3 / 2, R = sqrt 3 / 2. Beside it a flat one and one of NaN. */
START_TEST(ranges_leave_out_what_is_flat)
{
    static const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 2, 2, NAN};
    static const int64_t tets[] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5, 1, 0, 2, 3};
    pl_shapes s = shapes_of(x, 6, tets, 4);
    ck_assert_int_eq(s.elements, 4);
    ck_assert_int_eq(s.flat, 2);
    ck_assert_int_eq(s.inverted, 1);
    double r = 0.5 / (1.5 + sqrt(3) / 2), ratio = 3 * r / (sqrt(3) / 2);
    const pl_shape_range *range = s.range;
    ck_assert_double_eq_tol(range[PL_SHAPE_LEAST_ANGLE].least, acos(1 / sqrt(3)) * 180 / M_PI,
                            1e-12);
    ck_assert_double_eq_tol(range[PL_SHAPE_GREATEST_ANGLE].mean, 90, 1e-12);
    ck_assert_double_eq_tol(range[PL_SHAPE_RADIUS_RATIO].mean, ratio, 1e-14);
    ck_assert_double_eq_tol(range[PL_SHAPE_ASPECT].greatest, sqrt(2) / (2 * sqrt(6) * r), 1e-14);
    for (int m = 0; m < PL_SHAPE_MEASURES; m++) {
        int64_t counted = 0;
        for (int k = 0; k < PL_SHAPE_BINS; k++) {
            counted += range[m].count[k];
            ck_assert(range[m].count[k] == 0 || range[m].edge[k] <= range[m].greatest);
        }
        ck_assert_int_eq(counted, 2);
    }
    ck_assert_int_eq(s.worst_count, 4);
    ck_assert(s.worst[0].flat && s.worst[1].flat && !s.worst[2].flat);
    ck_assert_int_eq(s.worst[0].element, 1);
    ck_assert_int_eq(s.worst[2].element, 0);
    ck_assert_double_eq_tol(s.worst[2].centre[0], 0.25, 1e-15);
}
END_TEST

/* Flat means what the checks reject, by size too. */
START_TEST(flat_is_what_a_scene_refuses)
{
    static const int64_t tets[] = {0, 1, 2, 3};
    for (int tiny = 0; tiny < 2; tiny++) {
        double x[12] = {0};
        for (int k = 0; k < 3; k++)
            x[3 * (k + 1) + k] = tiny ? 1e-61 : 1e-59;
        pl_mesh mesh =
            from(&(pl_mesh_arrays){.vertex_count = 4, .vertices = x, .tet_count = 1, .tets = tets});
        pl_shapes s;
        pl_mesh_shapes(&mesh, &s);
        pl_faults faults = {0};
        pl_status status = pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "", &faults);
        ck_assert_int_eq(status == PL_OK, s.flat == 0);
        ck_assert_int_eq(s.flat, tiny);
        pl_faults_clear(&faults);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

/* The worst of many are the worst, worst first: heights of 1 to 1 / 40. */
START_TEST(the_worst_are_found)
{
    enum { COUNT = 40 };
    double x[3 * (3 + COUNT)] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int64_t tets[4 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        double height = 1. / (1 + (i * 7) % COUNT);
        memcpy(x + 9 + 3 * i, (double[]){0.3, 0.3, height}, 3 * sizeof *x);
        memcpy(tets + 4 * i, (int64_t[]){0, 1, 2, 3 + i}, 4 * sizeof *tets);
    }
    pl_shapes s = shapes_of(x, 3 + COUNT, tets, COUNT);
    ck_assert_int_eq(s.worst_count, PL_SHAPE_WORST);
    for (int i = 0; i < PL_SHAPE_WORST; i++)
        ck_assert_int_eq((7 * s.worst[i].element) % COUNT, COUNT - 1 - i);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_EXTENT].greatest, 1. / 6, 1e-14);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_EXTENT].least, 1. / 240, 1e-14);
}
END_TEST

/* Triangles if there are no tetrahedra: regular, and right-angled; nothing for ropes. */
START_TEST(triangles_are_judged)
{
    double x[] = {0, 0, 0, 1, 0, 0, 0.5, sqrt(3) / 2, 0, 0, 1, 0};
    static const int64_t triangles[] = {0, 1, 2, 0, 1, 3}, edges[] = {0, 1};
    pl_shapes s;
    pl_mesh mesh = from(&(pl_mesh_arrays){
        .vertex_count = 4, .vertices = x, .triangle_count = 2, .triangles = triangles});
    pl_mesh_shapes(&mesh, &s);
    pl_mesh_clear(&mesh);
    ck_assert_int_eq(s.corners, 3);
    ck_assert_int_eq(s.inverted, 0);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_LEAST_ANGLE].least, 45, 1e-12);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_LEAST_ANGLE].greatest, 60, 1e-12);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_GREATEST_ANGLE].greatest, 90, 1e-12);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_RADIUS_RATIO].greatest, 1, 1e-14);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_RADIUS_RATIO].least, 2 * (sqrt(2) - 1), 1e-14);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_ASPECT].least, 1, 1e-14);
    ck_assert_double_eq_tol(s.range[PL_SHAPE_EXTENT].greatest, 0.5, 1e-15);
    mesh =
        from(&(pl_mesh_arrays){.vertex_count = 2, .vertices = x, .edge_count = 1, .edges = edges});
    pl_mesh_shapes(&mesh, &s);
    pl_mesh_clear(&mesh);
    ck_assert_int_eq(s.corners, 0);
    ck_assert_int_eq(s.elements, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("shapes");
    tcase_add_test(t, the_regular_tetrahedron);
    tcase_add_test(t, ranges_leave_out_what_is_flat);
    tcase_add_test(t, flat_is_what_a_scene_refuses);
    tcase_add_test(t, the_worst_are_found);
    tcase_add_test(t, triangles_are_judged);
    return run_cases("mesh_shapes", t);
}
