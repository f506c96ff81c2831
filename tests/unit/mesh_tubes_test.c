/* Cylinder, torus and helix: volumes of the closed form, closed surfaces, quality, orientation. */
#include "engine/mesh/order.h"
#include "tests/unit/mesh_files.h"

#include <math.h>

/* Every face outwards and closed, as pl_mesh_check_closed judges it. */
static void check_watertight(const pl_mesh *mesh)
{
    int32_t *triangles;
    int64_t count;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_surface(mesh, &triangles, &count), PL_OK);
    pl_mesh shell = {.vertex_count = mesh->vertex_count,
                     .vertices = mesh->vertices,
                     .triangle_count = count,
                     .triangles = triangles};
    ck_assert_int_eq(pl_mesh_check_closed(&shell, "", &faults), PL_OK);
    ck_assert_no_faults(&faults);
    free(triangles);
}

static pl_mesh_quality measure_tube(pl_mesh *mesh)
{
    pl_mesh_quality quality = quality_of(mesh);
    check_watertight(mesh);
    return quality;
}

/* The disc of n cells across has a polygon of 4 n sides at equal angles: area
 * 2 n r^2 sin(2 pi / 4 n). */
static double polygon(double r, int n)
{
    return 2 * n * r * r * sin(M_PI / (2 * n));
}

START_TEST(cylinders)
{
    for (int n = 2; n <= 16; n += 2) {
        pl_mesh mesh;
        ck_assert_int_eq(pl_mesh_cylinder(0.5, 3, (int32_t[]){n, 6 * n}, &mesh), PL_OK);
        ck_assert_int_eq(mesh.tet_count, 36 * n * n * n);
        pl_mesh_quality q = measure_tube(&mesh);
        ck_assert_double_eq_tol(q.volume, 3 * polygon(0.5, n), 1e-12);
        ck_assert(q.lo[0] == -1.5 && q.hi[0] == 1.5);
        ck_assert_double_eq_tol(q.hi[1], 0.5, 1e-15);
        ck_assert_double_eq_tol(q.lo[2], -0.5, 1e-15);
        ck_assert_int_eq(q.components, 1);
        ck_assert_msg(q.worst_quality > 0.35 && q.mean_quality > 0.6, "%d: %g %g", n,
                      q.worst_quality, q.mean_quality);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

/* Pappus: pi t^2 times the length of the curve. The mesh falls short by O(1 / n^2). */
START_TEST(tori)
{
    const double R = 0.5, t = 0.2, exact = 2 * M_PI * M_PI * R * t * t;
    for (int n = 2; n <= 16; n += 2) {
        pl_mesh mesh;
        ck_assert_int_eq(pl_mesh_torus(R, t, (int32_t[]){n, 8 * n}, &mesh), PL_OK);
        ck_assert_int_eq(mesh.vertex_count, (n + 1) * (n + 1) * 8 * n);
        pl_mesh_quality q = measure_tube(&mesh);
        double shortfall = (1 - q.volume / exact) * n * n;
        ck_assert_msg(shortfall > 0 && shortfall < 1, "%d: %g", n, shortfall);
        ck_assert_double_eq_tol(q.hi[0], R + t, 1e-14);
        ck_assert_int_eq(q.components, 1);
        ck_assert_msg(q.worst_quality > 0.3, "%d: %g %g", n, q.worst_quality, q.mean_quality);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

START_TEST(helices)
{
    for (int strands = 1; strands <= 3; strands++)
        for (int n = 2; n <= (strands == 1 ? 8 : 4); n += 2) {
            const pl_mesh_helix_shape shape = {0.5, 0.1, 1, 3, strands};
            const double c = 1 / (2 * M_PI), length = 6 * M_PI * sqrt(0.25 + c * c);
            pl_mesh mesh;
            ck_assert_int_eq(pl_mesh_helix(&shape, (int32_t[]){n, 48 * n}, &mesh), PL_OK);
            pl_mesh_quality q = measure_tube(&mesh);
            double shortfall = (1 - q.volume / (strands * M_PI * 0.01 * length)) * n * n;
            ck_assert_msg(shortfall > 0 && shortfall < 1, "%d: %g", n, shortfall);
            ck_assert_int_eq(q.components, strands);
            ck_assert_msg(q.worst_quality > 0.3, "%d: %g %g", n, q.worst_quality, q.mean_quality);
            ck_assert_double_eq_tol(q.hi[2], -q.lo[2], 1e-12);
            pl_mesh_clear(&mesh);
        }
}
END_TEST

/* Right-handed: going up, the curve turns counter-clockwise. */
START_TEST(helix_turns_right)
{
    pl_mesh mesh;
    const pl_mesh_helix_shape shape = {1, 0.1, 1, 1, 1};
    ck_assert_int_eq(pl_mesh_helix(&shape, (int32_t[]){2, 32}, &mesh), PL_OK);
    for (int k = 0; k < 32; k++) {
        const double *a = mesh.vertices + 3 * (9 * k + 4), *b = a + 27;
        ck_assert_double_gt(a[0] * b[1] - a[1] * b[0], 0);
        ck_assert_double_eq_tol(b[2] - a[2], 1 / 32.0, 1e-14);
        ck_assert_double_eq_tol(hypot(a[0], a[1]), 1, 1e-14);
    }
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(small_and_large)
{
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_torus(1, 0.1, (int32_t[]){1, 1}, &mesh), PL_OK);
    ck_assert_int_eq(mesh.tet_count, 6 * 4 * 3);
    measure_tube(&mesh);
    pl_mesh_clear(&mesh);
    ck_assert_int_eq(pl_mesh_cylinder(1, 1, (int32_t[]){1, 1}, &mesh), PL_OK);
    measure_tube(&mesh);
    pl_mesh_clear(&mesh);
    ck_assert_int_eq(pl_mesh_cylinder(1, 1, (int32_t[]){INT32_MAX, INT32_MAX}, &mesh), PL_INVALID);
    ck_assert_int_eq(pl_mesh_torus(1, 0.1, (int32_t[]){46340, 3}, &mesh), PL_INVALID);
    ck_assert_ptr_null(mesh.vertices);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("tubes");
    tcase_add_test(cases, cylinders);
    tcase_add_test(cases, tori);
    tcase_add_test(cases, helices);
    tcase_add_test(cases, helix_turns_right);
    tcase_add_test(cases, small_and_large);
    return run_cases("mesh_tubes", cases);
}
