/* Surfaces of obstacles from files: triangles unchanged, tetrahedra by their boundary, and rejected files. */
#include "engine/obstacles/shape.h"
#include "engine/step/pliant.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cube[] =
    "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n"
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n";
static const char lid[] = "f 2 4 8 6\n";

static pl_obstacle obstacle;
static pl_scene scene; /* a ball over the obstacle */
static pl_mesh ball;
static pl_faults faults;

static void setup(void)
{
    static pl_body body;
    static pl_material material;
    obstacle = (pl_obstacle){.kind = PL_OBSTACLE_MESH,
                             .mesh = {.source = {.kind = PL_SOURCE_UPLOAD, .upload_count = 1},
                                      .transform = {.scale = {1, 1, 1}, .rotate_axis = {0, 0, 1}}}};
    material = (pl_material){.name = "m", .young = 1e5, .poisson = 0.3, .density = 1e3};
    body =
        (pl_body){.name = "b",
                  .transform = {.scale = {1, 1, 1}, .rotate_axis = {0, 0, 1}, .translate = {0, 3}},
                  .initial = {.stretch = {1, 1, 1}}};
    scene = (pl_scene){.time = {.step = 0.01, .steps = 1},
                       .solver = {.iterations = 1, .weight_scale = 2, .relaxation = 1},
                       .material_count = 1,
                       .materials = &material,
                       .body_count = 1,
                       .bodies = &body,
                       .obstacle_count = 1,
                       .obstacles = &obstacle,
                       .output = {.every = 1}};
    ck_assert_int_eq(pl_mesh_sphere(0.5, 4, &ball), PL_OK);
    faults = (pl_faults){0};
}

static void teardown(void)
{
    free(obstacle.mesh.source.vertices);
    free(obstacle.mesh.source.triangles);
    pl_mesh_clear(&ball);
    pl_faults_clear(&faults);
}

static pl_status load(pl_upload_format format, const char *text)
{
    const pl_mesh_limits limits = {1 << 20, 1 << 20};
    obstacle.mesh.source.format = format;
    return pl_obstacle_load(&scene, 0, &(pl_blob){text, strlen(text)}, &limits, &faults);
}

static void assert_fault(const char *code, const char *got)
{
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].pointer, "/obstacles/0/mesh");
    ck_assert_str_eq(faults.items[0].code, code);
    ck_assert_msg(strstr(faults.items[0].got, got) != NULL, "%s", faults.items[0].got);
}

static double distance(const double p[3])
{
    pl_shape *shape;
    double normal[3];
    ck_assert_int_eq(pl_shape_create(&obstacle, &shape), PL_OK);
    double d = pl_shape_distance(shape, p, normal);
    pl_shape_destroy(shape);
    return d;
}

START_TEST(triangles_are_the_surface)
{
    char text[512];
    pl_estimate without, with;
    scene.obstacle_count = 0;
    ck_assert_int_eq(pl_scene_check(&scene, &ball, &without, NULL, &faults), PL_OK);
    scene.obstacle_count = 1;
    snprintf(text, sizeof text, "%s%s", cube, lid);
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, text), PL_OK);
    ck_assert_int_eq(obstacle.mesh.source.vertex_count, 8);
    ck_assert_int_eq(obstacle.mesh.source.triangle_count, 12);
    ck_assert_int_eq(obstacle.mesh.source.kind, PL_SOURCE_UPLOAD);
    ck_assert_int_eq(pl_scene_check(&scene, &ball, &with, NULL, &faults), PL_OK);
    ck_assert_double_gt(with.memory_bytes, without.memory_bytes + 12 * 300);
    ck_assert_double_eq_tol(distance((double[]){0.2, 1.75, 0.1}), 0.75, 1e-15);
    ck_assert_double_eq_tol(distance((double[]){0.9, 0.2, 0.1}), -0.1, 1e-15);
}
END_TEST

static uint64_t hash_of_model(void)
{
    pl_model *model;
    ck_assert_int_eq(pl_model_create(&scene, &ball, &model, &faults), PL_OK);
    uint64_t hash = pl_model_hash(model);
    pl_model_destroy(model);
    return hash;
}

/* A run does not know where its obstacles' triangles came from, but it knows the triangles. */
START_TEST(files_and_arrays_are_one_model)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", cube, lid);
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, text), PL_OK);
    uint64_t from_file = hash_of_model();
    obstacle.mesh.source.kind = PL_SOURCE_INLINE;
    ck_assert_uint_eq(hash_of_model(), from_file);
    obstacle.mesh.source.vertices[0] -= 0x1p-30;
    ck_assert_uint_ne(hash_of_model(), from_file);
}
END_TEST

/* Gmsh's text of a box of 2 x 2 x 2 m in as many cells, which has one vertex inside. */
static char *box_text(void)
{
    pl_mesh box;
    size_t size;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);
    ck_assert_int_eq(pl_mesh_box((double[]){2, 2, 2}, (int32_t[]){2, 2, 2}, &box), PL_OK);
    fprintf(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n", (long long)box.vertex_count);
    for (int64_t v = 0; v < box.vertex_count; v++)
        fprintf(f, "%lld %.17g %.17g %.17g\n", (long long)v + 1, box.vertices[3 * v],
                box.vertices[3 * v + 1], box.vertices[3 * v + 2]);
    fprintf(f, "$EndNodes\n$Elements\n%lld\n", (long long)box.tet_count);
    for (int64_t t = 0; t < box.tet_count; t++)
        fprintf(f, "%lld 4 2 1 1 %d %d %d %d\n", (long long)t + 1, box.tets[4 * t] + 1,
                box.tets[4 * t + 1] + 1, box.tets[4 * t + 2] + 1, box.tets[4 * t + 3] + 1);
    fprintf(f, "$EndElements\n");
    fclose(f);
    pl_mesh_clear(&box);
    return text;
}

START_TEST(tetrahedra_have_a_boundary)
{
    char *text = box_text();
    ck_assert_int_eq(load(PL_UPLOAD_GMSH, text), PL_OK);
    ck_assert_int_eq(obstacle.mesh.source.vertex_count, 26);
    ck_assert_int_eq(obstacle.mesh.source.triangle_count, 6 * 4 * 2);
    pl_estimate estimate;
    ck_assert_int_eq(pl_scene_check(&scene, &ball, &estimate, NULL, &faults), PL_OK);
    ck_assert_double_eq_tol(distance((double[]){-0.3, 0.1, -1.5}), 0.5, 1e-15);
    ck_assert_double_eq_tol(distance((double[]){0, 0, 0}), -1, 1e-15);
    free(text);
}
END_TEST

START_TEST(what_bounds_no_solid_is_refused)
{
    pl_estimate estimate;
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, cube), PL_OK);
    ck_assert_int_eq(pl_scene_check(&scene, &ball, &estimate, NULL, &faults), PL_INVALID);
    assert_fault("mesh_open", "has one triangle; 4 such edges in all");
    pl_faults_clear(&faults);
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, "v 0 0 0\nv 1 0 0\nl 1 2\n"), PL_INVALID);
    assert_fault("no_surface", "1 edges");
    pl_faults_clear(&faults);
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n"), PL_INVALID);
    assert_fault("mesh_number", "line 2: 'nan'");
}
END_TEST

/* A flat sheet of 2 n^2 triangles. */
START_TEST(too_many_triangles_are_refused)
{
    enum { N = 501 };
    size_t size;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; i < (N + 1) * (N + 1); i++)
        fprintf(f, "v %d %d 0\n", i % (N + 1), i / (N + 1));
    for (int i = 0; i < N * N; i++) {
        int a = i / N * (N + 1) + i % N + 1;
        fprintf(f, "f %d %d %d %d\n", a, a + 1, a + N + 2, a + N + 1);
    }
    fclose(f);
    ck_assert_int_eq(load(PL_UPLOAD_OBJ, text), PL_INVALID);
    assert_fault("too_large", "502002 triangles");
    ck_assert_ptr_null(obstacle.mesh.source.vertices);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model/source_load");
    TCase *c = tcase_create("source_load");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, triangles_are_the_surface);
    tcase_add_test(c, files_and_arrays_are_one_model);
    tcase_add_test(c, tetrahedra_have_a_boundary);
    tcase_add_test(c, what_bounds_no_solid_is_refused);
    tcase_add_test(c, too_many_triangles_are_refused);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
