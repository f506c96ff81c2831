/* Generators: order of vertices, orientation, volumes, closed surfaces, quality. */
#include "engine/mesh/order.h"
#include "tests/unit/mesh_files.h"

#include <math.h>

static pl_mesh make_box(double sx, double sy, double sz, int nx, int ny, int nz)
{
    pl_mesh mesh;
    const double size[3] = {sx, sy, sz};
    const int32_t cells[3] = {nx, ny, nz};
    ck_assert_int_eq(pl_mesh_box(size, cells, &mesh), PL_OK);
    return mesh;
}

static pl_mesh make_sphere(double radius, int cells)
{
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_sphere(radius, cells, &mesh), PL_OK);
    return mesh;
}

static pl_mesh_quality judge(pl_mesh *mesh)
{
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_OK);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(mesh->repaired, 0);
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_measure(mesh, &quality), PL_OK);
    return quality;
}

static int compare_edges(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(int32_t));
}

/* The surface is closed and oriented: every directed edge once, its opposite once. Six times the
 * volume it encloses is the sum of det[a, b, c], positive only if it faces outwards. */
static double enclosed_volume(const pl_mesh *mesh, int64_t *triangle_count)
{
    int32_t *triangles;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(mesh, &triangles, &count), PL_OK);
    int32_t(*edges)[2] = malloc((size_t)count * 3 * sizeof *edges);
    ck_assert(edges != NULL);
    double volume = 0;
    for (int64_t t = 0; t < count; t++) {
        const int32_t *c = triangles + 3 * t;
        for (int k = 0; k < 3; k++) {
            edges[3 * t + k][0] = c[k];
            edges[3 * t + k][1] = c[(k + 1) % 3];
        }
        const double *p = mesh->vertices + 3 * c[0], *q = mesh->vertices + 3 * c[1],
                     *r = mesh->vertices + 3 * c[2];
        volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) +
                   p[2] * (q[0] * r[1] - q[1] * r[0])) /
                  6;
    }
    qsort(edges, (size_t)count * 3, sizeof *edges, compare_edges);
    for (int64_t e = 0; e < 3 * count; e++) {
        int32_t back[2] = {edges[e][1], edges[e][0]};
        ck_assert_msg(e == 0 || compare_edges(edges[e - 1], edges[e]) != 0, "an edge twice");
        ck_assert_msg(bsearch(back, edges, (size_t)count * 3, sizeof *edges, compare_edges) != NULL,
                      "an edge with one triangle");
    }
    free(edges);
    free(triangles);
    *triangle_count = count;
    return volume;
}

START_TEST(box_counts_order_and_volume)
{
    pl_mesh mesh = make_box(4, 1, 2, 5, 2, 3);
    ck_assert_int_eq(mesh.vertex_count, 6 * 3 * 4);
    ck_assert_int_eq(mesh.tet_count, 6 * 5 * 2 * 3);
    for (int k = 0; k <= 3; k++)
        for (int j = 0; j <= 2; j++)
            for (int i = 0; i <= 5; i++) {
                const double *x = mesh.vertices + 3 * (i + 6 * (j + 3 * k));
                ck_assert_double_eq_tol(x[0], -2 + 4 * i / 5.0, 1e-15);
                ck_assert_double_eq_tol(x[1], -0.5 + j / 2.0, 1e-15);
                ck_assert_double_eq_tol(x[2], -1 + 2 * k / 3.0, 1e-15);
            }
    pl_mesh_quality quality = judge(&mesh);
    int64_t triangles;
    ck_assert_double_eq_tol(quality.volume, 8, 1e-13);
    ck_assert_double_eq_tol(enclosed_volume(&mesh, &triangles), 8, 1e-13);
    ck_assert_int_eq(triangles, 4 * (5 * 2 + 2 * 3 + 3 * 5));
    ck_assert_int_eq(quality.components, 1);
    ck_assert(quality.lo[0] == -2 && quality.hi[0] == 2 && quality.lo[1] == -0.5 &&
              quality.hi[1] == 0.5 && quality.lo[2] == -1 && quality.hi[2] == 1);
    pl_mesh_clear(&mesh);
}
END_TEST

/* All six tetrahedra of a cell share the diagonal from its low to its high corner. */
START_TEST(box_cells_are_cut_along_the_main_diagonal)
{
    pl_mesh mesh = make_box(1, 1, 1, 2, 2, 2);
    for (int64_t t = 0; t < mesh.tet_count; t++) {
        int64_t cell = t / 6, i = cell % 2, j = cell / 2 % 2, k = cell / 4;
        int32_t low = (int32_t)(i + 3 * (j + 3 * k)), high = low + 1 + 3 + 9;
        int found = 0;
        for (int c = 0; c < 4; c++)
            found += mesh.tets[4 * t + c] == low || mesh.tets[4 * t + c] == high;
        ck_assert_int_eq(found, 2);
    }
    pl_mesh_quality quality = judge(&mesh);
    /* Kuhn's tetrahedron of the cube: r = 1 / (2 + 2 sqrt 2), R = sqrt 3 / 2. */
    ck_assert_double_eq_tol(quality.worst_quality, 6 / (sqrt(3) * (2 + 2 * sqrt(2))), 1e-12);
    ck_assert_double_eq_tol(quality.mean_quality, quality.worst_quality, 1e-12);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(counts_past_int32_are_refused)
{
    pl_mesh mesh;
    const double size[3] = {1, 1, 1};
    const int32_t cells[][3] = {
        {INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MAX, 1, 1}, {711, 711, 711}};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pl_mesh_box(size, cells[i], &mesh), PL_INVALID);
    ck_assert_int_eq(pl_mesh_sphere(1, 711, &mesh), PL_INVALID);
    ck_assert_int_eq(pl_mesh_sphere(1, INT32_MAX, &mesh), PL_INVALID);
    ck_assert_ptr_null(mesh.vertices);
}
END_TEST

/* The polyhedron's volume falls short of the ball's by O(h^2): 1.01 / n^2 of it in the limit.
 * Quality is 0.619 at worst over these, the largest tetrahedron 1.5 times the smallest. */
START_TEST(spheres_are_well_shaped_and_converge)
{
    const double radius = 1.5, ball = 4 * M_PI / 3 * radius * radius * radius;
    for (int cells = 4; cells <= 24; cells++) {
        pl_mesh mesh = make_sphere(radius, cells);
        int n = cells + cells % 2;
        ck_assert_int_eq(mesh.tet_count, 6 * n * n * n);
        pl_mesh_quality quality = judge(&mesh);
        ck_assert_double_gt(quality.worst_quality, 0.6);
        ck_assert_double_gt(quality.mean_quality, 0.75);
        double shortfall = (1 - quality.volume / ball) * n * n;
        ck_assert_msg(shortfall > 0.95 && shortfall < 1.02, "cells %d: shortfall %g / n^2", cells,
                      shortfall);
        int64_t triangles;
        ck_assert_double_eq_tol(enclosed_volume(&mesh, &triangles), quality.volume, 1e-11);
        ck_assert_int_eq(triangles, 12 * n * n);
        ck_assert_int_eq(quality.components, 1);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

START_TEST(spheres_have_their_radius_and_one_size)
{
    pl_mesh mesh = make_sphere(0.1, 40);
    int32_t *triangles;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(&mesh, &triangles, &count), PL_OK);
    for (int64_t i = 0; i < 3 * count; i++) {
        const double *x = mesh.vertices + 3 * (int64_t)triangles[i];
        ck_assert_double_eq_tol(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 0.1, 1e-16);
    }
    free(triangles);
    double least = INFINITY, most = 0;
    for (int64_t t = 0; t < mesh.tet_count; t++) {
        const int32_t *c = mesh.tets + 4 * t;
        double e[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                e[i][k] = mesh.vertices[3 * c[i + 1] + k] - mesh.vertices[3 * c[0] + k];
        double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                     e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                     e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
        least = fmin(least, det);
        most = fmax(most, det);
    }
    ck_assert_double_gt(least, 0);
    ck_assert_double_lt(most / least, 1.7);
    judge(&mesh);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(small_spheres_work)
{
    for (int cells = 1; cells <= 3; cells++) {
        pl_mesh mesh = make_sphere(1, cells);
        ck_assert_double_gt(judge(&mesh).worst_quality, 0.7);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

START_TEST(order_sorts_stably)
{
    const int32_t keys[] = {2, 1, 0, 5, 2, 1, 0, 4, 2, 0};
    const int64_t expected[] = {3, 1, 4, 0, 2};
    int64_t *order;
    ck_assert_int_eq(pl_order_records(keys, 5, 2, 6, &order), PL_OK);
    ck_assert_mem_eq(order, expected, sizeof expected);
    free(order);
    ck_assert_int_eq(pl_order_records(keys, 0, 2, 6, &order), PL_OK);
    free(order);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("generate");
    tcase_add_test(cases, box_counts_order_and_volume);
    tcase_add_test(cases, box_cells_are_cut_along_the_main_diagonal);
    tcase_add_test(cases, counts_past_int32_are_refused);
    tcase_add_test(cases, spheres_are_well_shaped_and_converge);
    tcase_add_test(cases, spheres_have_their_radius_and_one_size);
    tcase_add_test(cases, small_spheres_work);
    tcase_add_test(cases, order_sorts_stably);
    return run_cases("mesh_generate", cases);
}
