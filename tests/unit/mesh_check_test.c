/* Checks of a mesh: orientation, shape, duplicates, indices; and its measurements. */
#include "tests/unit/mesh_files.h"

#include <math.h>

/* The corner tetrahedron 0 1 2 3 and a vertex 4 above its slanted face. */
static const double corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

static pl_mesh from(int64_t nv, const double *x, int64_t nt, const int64_t *tets)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(
        pl_mesh_from_arrays(
            &(pl_mesh_arrays){.vertex_count = nv, .vertices = x, .tet_count = nt, .tets = tets},
            "/m", &mesh, &faults),
        PL_OK);
    ck_assert_no_faults(&faults);
    return mesh;
}

/* The mesh of these arrays is rejected with one fault. */
static void check_refuses(const double *x, int64_t nv, const int64_t *tets, int64_t nt,
                          pl_mesh_orientation orientation, const char *code, const char *got)
{
    pl_mesh mesh = from(nv, x, nt, tets);
    int32_t *before = malloc((size_t)nt * 16 + 1);
    if (nt > 0)
        memcpy(before, mesh.tets, (size_t)nt * 16);
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(&mesh, orientation, "/bodies/0/mesh", &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, code, got);
    ck_assert_uint_eq(faults.total, 1);
    if (nt > 0)
        ck_assert_mem_eq(before, mesh.tets, (size_t)nt * 16);
    free(before);
    pl_faults_clear(&faults);
    pl_mesh_clear(&mesh);
}

START_TEST(negative_tetrahedron_is_repaired_or_refused)
{
    const int64_t tets[] = {0, 1, 2, 3, 1, 2, 4, 3};
    pl_mesh mesh = from(5, corner, 2, tets);
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "", &faults), PL_OK);
    ck_assert_int_eq(mesh.repaired, 1);
    ck_assert_int_eq(mesh.tets[6], 3);
    ck_assert_int_eq(mesh.tets[7], 4);
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_measure(&mesh, &quality), PL_OK);
    ck_assert_double_eq_tol(quality.volume, 0.5, 1e-15);
    pl_mesh_clear(&mesh);
    check_refuses(corner, 5, tets, 2, PL_MESH_ORIENTATION_REFUSE, "mesh_orientation",
                  "element 1: negative volume -0.333333 m^3");
    const int64_t one[] = {1, 0, 2, 3};
    check_refuses(corner, 4, one, 1, PL_MESH_ORIENTATION_REFUSE, "mesh_orientation",
                  "element 0: negative volume -0.166667 m^3");
}
END_TEST

START_TEST(shapes_that_cannot_be_simulated_are_named)
{
    const int64_t twice[] = {0, 1, 2, 3, 1, 2, 3, 4, 3, 1, 0, 2};
    check_refuses(corner, 5, twice, 3, PL_MESH_ORIENTATION_REPAIR, "mesh_duplicate",
                  "element 2: the same vertices as element 0");
    const int64_t collapsed[] = {0, 1, 2, 3, 4, 2, 2, 3};
    check_refuses(corner, 5, collapsed, 2, PL_MESH_ORIENTATION_REPAIR, "mesh_corners",
                  "element 1: it has a vertex twice");
    const double flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1e-14};
    const int64_t one[] = {0, 1, 2, 3};
    check_refuses(flat, 4, one, 1, PL_MESH_ORIENTATION_REPAIR, "mesh_degenerate",
                  "element 0: flat");
    const double point[12] = {0};
    check_refuses(point, 4, one, 1, PL_MESH_ORIENTATION_REPAIR, "mesh_degenerate",
                  "element 0: flat");
    check_refuses(corner, 4, one, 0, PL_MESH_ORIENTATION_REPAIR, "mesh_empty", "0 vertices");
    double wild[12];
    memcpy(wild, corner, sizeof wild);
    wild[7] = NAN;
    check_refuses(wild, 4, one, 1, PL_MESH_ORIENTATION_REPAIR, "mesh_number",
                  "vertex 2: a coordinate is nan");
    wild[7] = 1e300;
    check_refuses(wild, 4, one, 1, PL_MESH_ORIENTATION_REPAIR, "mesh_number",
                  "vertex 2: a coordinate is 1e+300");
}
END_TEST

/* Relative flatness: the size of a mesh does not matter. */
START_TEST(scale_is_no_fault)
{
    const int64_t one[] = {0, 1, 2, 3};
    for (int e = -50; e <= 14; e += 8) {
        double x[12];
        for (int i = 0; i < 12; i++)
            x[i] = corner[i] * pow(10, e);
        pl_mesh mesh = from(4, x, 1, one);
        pl_faults faults = {0};
        ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_OK);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

START_TEST(many_faults_are_one_line)
{
    double x[3 * 40];
    int64_t tets[4 * 10];
    for (int i = 0; i < 40; i++) {
        x[3 * i] = i;
        x[3 * i + 1] = i % 4 == 1;
        x[3 * i + 2] = 0;
        tets[i] = i;
    }
    check_refuses(x, 40, tets, 10, PL_MESH_ORIENTATION_REPAIR, "mesh_degenerate",
                  "element 0: flat: 6 volume / longest edge^3 is 0; also 1, 2, 3, 4 and 5 more");
}
END_TEST

START_TEST(indices_out_of_range_are_refused)
{
    const int64_t tets[] = {0, 1, 2, 4, 1, 2, 3, INT64_MAX, -1, 0, 1, 2};
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(
        pl_mesh_from_arrays(
            &(pl_mesh_arrays){.vertex_count = 4, .vertices = corner, .tet_count = 3, .tets = tets},
            "/bodies/0/mesh", &mesh, &faults),
        PL_INVALID);
    ck_assert_uint_eq(faults.total, 3);
    ck_assert_fault(&faults, 0, "mesh_index", "element 0: vertex 4 of 4");
    ck_assert_fault(&faults, 1, "mesh_index", "element 1: vertex 9223372036854775807 of 4");
    ck_assert_fault(&faults, 2, "mesh_index", "element 2: vertex -1 of 4");
    ck_assert_ptr_null(mesh.tets);
    pl_faults_clear(&faults);
    int32_t raw[] = {0, 1, 2, 7};
    pl_mesh wild = {.vertex_count = 4, .vertices = (double *)corner, .tet_count = 1, .tets = raw};
    ck_assert_int_eq(pl_mesh_check(&wild, PL_MESH_ORIENTATION_REPAIR, "/bodies/0/mesh", &faults),
                     PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_index", "element 0: vertex 7 of 4");
    pl_faults_clear(&faults);
}
END_TEST

START_TEST(unused_vertices_are_dropped)
{
    const int64_t tets[] = {0, 4, 2, 3};
    pl_mesh mesh = from(5, corner, 1, tets);
    ck_assert_int_eq(mesh.vertex_count, 4);
    ck_assert_int_eq(mesh.unused, 1);
    const int32_t expected[] = {0, 3, 1, 2};
    ck_assert_mem_eq(mesh.tets, expected, sizeof expected);
    ck_assert(mesh.vertices[9] == 1 && mesh.vertices[10] == 1 && mesh.vertices[11] == 1);
    ck_assert(mesh.vertices[4] == 1 && mesh.vertices[8] == 1);
    pl_mesh_clear(&mesh);
}
END_TEST

/* The regular tetrahedron is 1; two pieces that share no vertex are two components. */
START_TEST(measures_are_right)
{
    const double x[] = {1,  1, 1, 1,  -1, -1, -1, 1, -1, -1, -1, 1,
                        11, 1, 1, 11, -1, -1, 9,  1, -1, 9,  -1, 1};
    const int64_t tets[] = {0, 2, 1, 3, 4, 6, 5, 7};
    pl_mesh mesh = from(8, x, 2, tets);
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "", &faults), PL_OK);
    pl_mesh_quality q;
    ck_assert_int_eq(pl_mesh_measure(&mesh, &q), PL_OK);
    ck_assert_double_eq_tol(q.worst_quality, 1, 1e-14);
    ck_assert_double_eq_tol(q.mean_quality, 1, 1e-14);
    ck_assert_double_eq_tol(q.volume, 16.0 / 3, 1e-14);
    ck_assert_int_eq(q.components, 2);
    ck_assert(q.lo[0] == -1 && q.hi[0] == 11);
    int32_t *triangles;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(&mesh, &triangles, &count), PL_OK);
    ck_assert_int_eq(count, 8);
    free(triangles);
    pl_mesh_clear(&mesh);
}
END_TEST

/* A shared face is inside; the others are in the order of the tetrahedra. */
START_TEST(the_surface_is_in_a_fixed_order)
{
    const int64_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    pl_mesh mesh = from(5, corner, 2, tets);
    int32_t *triangles;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(&mesh, &triangles, &count), PL_OK);
    const int32_t expected[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 1, 4, 3, 2, 3, 4};
    ck_assert_int_eq(count, 6);
    ck_assert_mem_eq(triangles, expected, sizeof expected);
    free(triangles);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("check");
    tcase_add_test(cases, negative_tetrahedron_is_repaired_or_refused);
    tcase_add_test(cases, shapes_that_cannot_be_simulated_are_named);
    tcase_add_test(cases, scale_is_no_fault);
    tcase_add_test(cases, many_faults_are_one_line);
    tcase_add_test(cases, indices_out_of_range_are_refused);
    tcase_add_test(cases, unused_vertices_are_dropped);
    tcase_add_test(cases, measures_are_right);
    tcase_add_test(cases, the_surface_is_in_a_fixed_order);
    return run_cases("mesh_check", cases);
}
