/* Triangles and edges: generated cloth and rope, inline ones, errors and measurements; closed surfaces. */
#include "tests/unit/mesh_files.h"

#include <math.h>

static pl_mesh from(const pl_mesh_arrays *arrays)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_from_arrays(arrays, "/bodies/0/mesh", &mesh, &faults), PL_OK);
    ck_assert_no_faults(&faults);
    return mesh;
}

static pl_mesh sheet(int64_t nv, const double *x, int64_t nt, const int64_t *triangles)
{
    return from(&(pl_mesh_arrays){
        .vertex_count = nv, .vertices = x, .triangle_count = nt, .triangles = triangles});
}

START_TEST(cloth_is_a_flat_sheet_that_faces_z)
{
    for (pl_mesh_diagonal d = PL_MESH_DIAGONAL_ALTERNATING; d <= PL_MESH_DIAGONAL_DOWN; d++) {
        pl_mesh mesh;
        ck_assert_int_eq(pl_mesh_cloth((double[]){3, 2}, (int32_t[]){6, 5}, d, &mesh), PL_OK);
        ck_assert_int_eq(mesh.vertex_count, 7 * 6);
        ck_assert_int_eq(mesh.triangle_count, 2 * 6 * 5);
        for (int j = 0; j <= 5; j++)
            for (int i = 0; i <= 6; i++) {
                const double *x = mesh.vertices + 3 * (i + 7 * j);
                ck_assert_double_eq_tol(x[0], -1.5 + 3 * i / 6.0, 1e-15);
                ck_assert_double_eq_tol(x[1], -1 + 2 * j / 5.0, 1e-15);
                ck_assert(x[2] == 0);
            }
        for (int64_t t = 0; t < mesh.triangle_count; t++) {
            const int32_t *c = mesh.triangles + 3 * t;
            const double *p = mesh.vertices + 3 * c[0], *q = mesh.vertices + 3 * c[1],
                         *r = mesh.vertices + 3 * c[2];
            double twice = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
            ck_assert_double_eq_tol(twice, 0.5 * 0.4, 1e-15);
        }
        pl_mesh_quality quality = quality_of(&mesh);
        ck_assert_double_eq_tol(quality.area, 6, 1e-14);
        ck_assert(quality.volume == 0 && quality.length == 0);
        ck_assert_int_eq(quality.components, 1);
        ck_assert_int_eq(quality.open_edges, 2 * (6 + 5));
        ck_assert_int_eq(quality.crowded_edges + quality.turned_edges, 0);
        /* 2 r / R of the right triangle with legs a, b: r = (a + b - c) / 2, R = c / 2. */
        double c = hypot(0.5, 0.4);
        ck_assert_double_eq_tol(quality.worst_quality, 2 * (0.9 - c) / c, 1e-14);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

/* Which corners the diagonals join; alternating ones make an inner vertex of 4 or 8 triangles. */
START_TEST(cloth_diagonals)
{
    for (pl_mesh_diagonal d = PL_MESH_DIAGONAL_ALTERNATING; d <= PL_MESH_DIAGONAL_DOWN; d++) {
        pl_mesh mesh;
        int uses[25] = {0};
        ck_assert_int_eq(pl_mesh_cloth((double[]){1, 1}, (int32_t[]){4, 4}, d, &mesh), PL_OK);
        for (int64_t i = 0; i < 3 * mesh.triangle_count; i++)
            uses[mesh.triangles[i]]++;
        for (int j = 1; j < 4; j++)
            for (int i = 1; i < 4; i++) {
                int expected = d == PL_MESH_DIAGONAL_ALTERNATING ? ((i + j) % 2 ? 4 : 8) : 6;
                ck_assert_int_eq(uses[i + 5 * j], expected);
            }
        ck_assert_int_eq(uses[0], d == PL_MESH_DIAGONAL_DOWN ? 1 : 2);
        ck_assert_int_eq(uses[4], d == PL_MESH_DIAGONAL_UP ? 1 : 2);
        pl_mesh_clear(&mesh);
    }
}
END_TEST

/* The springs of a cloth are the edges of its triangles, each once, and pairs two cells apart; at
 * 80 x 80 cells there are the 32158 of Liu 2017, table I, less its two attachments. */
START_TEST(cloth_of_springs)
{
    pl_mesh mesh, springs;
    const int32_t cells[2] = {80, 80};
    ck_assert_int_eq(pl_mesh_spring_cloth((double[]){1, 1}, cells, PL_MESH_DIAGONAL_UP, &springs),
                     PL_OK);
    ck_assert_int_eq(springs.vertex_count, 6561);
    ck_assert_int_eq(springs.edge_count, 32158);
    ck_assert_int_eq(springs.triangle_count, 0);
    ck_assert_int_eq(quality_of(&springs).components, 1);
    pl_mesh_clear(&springs);
    const int32_t few[2] = {4, 3};
    enum { VERTICES = 20 };
    for (pl_mesh_diagonal d = PL_MESH_DIAGONAL_ALTERNATING; d <= PL_MESH_DIAGONAL_DOWN; d++) {
        int uses[VERTICES][VERTICES] = {0};
        ck_assert_int_eq(pl_mesh_cloth((double[]){4, 3}, few, d, &mesh), PL_OK);
        ck_assert_int_eq(pl_mesh_spring_cloth((double[]){4, 3}, few, d, &springs), PL_OK);
        ck_assert_mem_eq(mesh.vertices, springs.vertices, VERTICES * 3 * sizeof(double));
        for (int64_t e = 0; e < springs.edge_count; e++) {
            int a = springs.edges[2 * e], b = springs.edges[2 * e + 1];
            uses[a < b ? a : b][a < b ? b : a]++;
        }
        for (int64_t t = 0; t < mesh.triangle_count; t++)
            for (int k = 0; k < 3; k++) {
                int a = mesh.triangles[3 * t + k], b = mesh.triangles[3 * t + (k + 1) % 3];
                ck_assert_int_eq(uses[a < b ? a : b][a < b ? b : a] & 1, 1);
                uses[a < b ? a : b][a < b ? b : a] |= 2; /* met */
            }
        int bends = 0;
        for (int a = 0; a < VERTICES; a++)
            for (int b = a + 1; b < VERTICES; b++)
                if (uses[a][b] == 1) {
                    ck_assert(b == a + 2 || b == a + 10);
                    bends++;
                } else {
                    ck_assert(uses[a][b] == 0 || uses[a][b] == 3);
                }
        ck_assert_int_eq(bends, 3 * 4 + 2 * 5);
        pl_mesh_clear(&mesh);
        pl_mesh_clear(&springs);
    }
}
END_TEST

START_TEST(rope_is_a_straight_chain)
{
    pl_mesh mesh;
    const double along[3] = {0, 0.6, 0.8};
    ck_assert_int_eq(pl_mesh_rope(2.5, 10, along, &mesh), PL_OK);
    ck_assert_int_eq(mesh.vertex_count, 11);
    ck_assert_int_eq(mesh.edge_count, 10);
    for (int i = 0; i <= 10; i++)
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(mesh.vertices[3 * i + c], along[c] * (0.25 * i - 1.25), 1e-15);
    for (int i = 0; i < 10; i++)
        ck_assert(mesh.edges[2 * i] == i && mesh.edges[2 * i + 1] == i + 1);
    pl_mesh_quality quality = quality_of(&mesh);
    ck_assert_double_eq_tol(quality.length, 2.5, 1e-14);
    ck_assert(quality.worst_quality == 1 && quality.poor == 0);
    ck_assert_int_eq(quality.components, 1);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(counts_past_int32_are_refused)
{
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_cloth((double[]){1, 1}, (int32_t[]){INT32_MAX, INT32_MAX},
                                   PL_MESH_DIAGONAL_UP, &mesh),
                     PL_INVALID);
    ck_assert_int_eq(pl_mesh_rope(1, INT32_MAX, (double[]){1, 0, 0}, &mesh), PL_INVALID);
    ck_assert_ptr_null(mesh.vertices);
}
END_TEST

/* A vertex is used by any kind of element; the others are dropped and the kinds renumbered alike.
 */
START_TEST(kinds_mix_and_unused_vertices_go)
{
    static const double x[] = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7, 7, 7, 0, 0, 3};
    pl_mesh mesh = from(&(pl_mesh_arrays){.vertex_count = 7,
                                          .vertices = x,
                                          .tet_count = 1,
                                          .tets = (int64_t[]){1, 2, 3, 4},
                                          .triangle_count = 1,
                                          .triangles = (int64_t[]){2, 3, 4},
                                          .edge_count = 1,
                                          .edges = (int64_t[]){4, 6}});
    ck_assert_int_eq(mesh.unused, 2);
    ck_assert_int_eq(mesh.vertex_count, 5);
    ck_assert(mesh.tets[0] == 0 && mesh.tets[3] == 3);
    ck_assert(mesh.triangles[0] == 1 && mesh.triangles[2] == 3);
    ck_assert(mesh.edges[0] == 3 && mesh.edges[1] == 4);
    pl_mesh_quality quality = quality_of(&mesh);
    ck_assert_double_eq_tol(quality.volume, 1.0 / 6, 1e-15);
    ck_assert_double_eq_tol(quality.area, sqrt(3) / 2, 1e-15);
    ck_assert_double_eq_tol(quality.length, 2, 1e-15);
    ck_assert_int_eq(quality.components, 1);
    int32_t *surface;
    int64_t count;
    ck_assert_int_eq(pl_mesh_surface(&mesh, &surface, &count), PL_OK);
    ck_assert_int_eq(count, 5);
    ck_assert(surface[12] == 1 && surface[13] == 2 && surface[14] == 3);
    free(surface);
    pl_mesh_clear(&mesh);
}
END_TEST

static void check_refuses(pl_mesh mesh, const char *code, const char *got)
{
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "/bodies/0/mesh", &faults),
                     PL_INVALID);
    ck_assert_uint_eq(faults.total, 1);
    ck_assert_fault(&faults, 0, code, got);
    pl_faults_clear(&faults);
    pl_mesh_clear(&mesh);
}

static const double places[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0, 0};

START_TEST(bad_triangles_are_located)
{
    check_refuses(sheet(5, places, 2, (int64_t[]){0, 1, 2, 0, 1, 3}), "mesh_degenerate",
                  "triangle 1: flat: 2 area / longest edge^2 is 0");
    check_refuses(sheet(5, places, 2, (int64_t[]){0, 1, 2, 1, 4, 2}), "mesh_degenerate",
                  "triangle 1: flat");
    check_refuses(sheet(5, places, 3, (int64_t[]){0, 1, 2, 1, 3, 2, 2, 1, 0}), "mesh_duplicate",
                  "triangle 2: the same vertices as triangle 0");
    check_refuses(sheet(5, places, 2, (int64_t[]){0, 1, 2, 1, 3, 3}), "mesh_corners",
                  "triangle 1: it has a vertex twice");
    double wild[9] = {0, 0, 0, 1, 0, 0, 0, NAN, 0};
    check_refuses(sheet(3, wild, 1, (int64_t[]){0, 1, 2}), "mesh_number", "vertex 2: ");
}
END_TEST

START_TEST(bad_edges_are_located)
{
    const pl_mesh_arrays a = {.vertex_count = 5, .vertices = places, .edge_count = 3};
    pl_mesh_arrays b = a;
    b.edges = (int64_t[]){0, 1, 1, 2, 1, 0};
    check_refuses(from(&b), "mesh_duplicate", "edge 2: the same vertices as edge 0");
    b.edges = (int64_t[]){0, 1, 1, 4, 2, 3};
    check_refuses(from(&b), "mesh_degenerate", "edge 1: its length is 0 m");
    b.edges = (int64_t[]){0, 1, 1, 2, 3, 3};
    check_refuses(from(&b), "mesh_corners", "edge 2: it has a vertex twice");
    pl_mesh mesh;
    pl_faults faults = {0};
    b.edges = (int64_t[]){0, 1, 1, 2, 3, 5};
    ck_assert_int_eq(pl_mesh_from_arrays(&b, "/bodies/0/mesh", &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_index", "edge 2: vertex 5 of 5");
    pl_faults_clear(&faults);
    check_refuses(from(&(pl_mesh_arrays){.vertex_count = 2, .vertices = places}), "mesh_empty",
                  "0 vertices and no elements");
}
END_TEST

/* ---- closed surfaces ---- */

static const double solid[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
static const int64_t outside[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static void check_closed(pl_mesh mesh, const char *code, const char *got)
{
    pl_faults faults = {0};
    pl_status status = pl_mesh_check_closed(&mesh, "/bodies/0/mesh", &faults);
    ck_assert_int_eq(status, code ? PL_INVALID : PL_OK);
    if (code)
        ck_assert_fault(&faults, 0, code, got);
    ck_assert_uint_eq(faults.total, code ? 1 : 0);
    pl_faults_clear(&faults);
    pl_mesh_clear(&mesh);
}

START_TEST(closed_surfaces)
{
    check_closed(sheet(5, solid, 4, outside), NULL, NULL);
    check_closed(sheet(5, solid, 3, outside), "mesh_open",
                 "the edge from vertex 1 to vertex 2 has one triangle; 3 such edges in all");
    int64_t turned[12];
    memcpy(turned, outside, sizeof turned);
    turned[9] = 2;
    turned[10] = 1;
    check_closed(sheet(5, solid, 4, turned), "mesh_orientation",
                 "the edge from vertex 1 to vertex 2 has the same direction in both of its "
                 "triangles; 3 such edges");
    int64_t crowded[7 * 3] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 1, 2, 4, 2, 3, 4, 3, 1, 4};
    check_closed(sheet(5, solid, 7, crowded), "mesh_not_manifold",
                 "the edge from vertex 1 to vertex 2 has more than two triangles; 3 such edges");
    pl_mesh mesh = sheet(5, solid, 7, crowded);
    ck_assert_int_eq(quality_of(&mesh).crowded_edges, 3);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sheets");
    tcase_add_test(cases, cloth_is_a_flat_sheet_that_faces_z);
    tcase_add_test(cases, cloth_diagonals);
    tcase_add_test(cases, cloth_of_springs);
    tcase_add_test(cases, rope_is_a_straight_chain);
    tcase_add_test(cases, counts_past_int32_are_refused);
    tcase_add_test(cases, kinds_mix_and_unused_vertices_go);
    tcase_add_test(cases, bad_triangles_are_located);
    tcase_add_test(cases, bad_edges_are_located);
    tcase_add_test(cases, closed_surfaces);
    return run_cases("mesh_sheets", cases);
}
