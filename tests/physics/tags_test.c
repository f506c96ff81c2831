/* Materials by tag of the mesh file, through the engine; and bodies with slivers. */
#include "engine/model/build/layout.h"
#include "engine/model/model.h"
#include "protocol/scene/scene_json.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two tetrahedra on one face, of 1/6 m^3 each, in the groups 1 and 2 "hard", and a triangle of
 * group 9 that is no element. */
static const char two_tets[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 2 \"hard\"\n2 9 \"skin\"\n"
    "$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n"
    "$Elements\n3\n1 4 2 1 1 1 2 3 4\n2 4 2 2 1 1 3 2 5\n3 2 2 9 1 1 2 4\n$EndElements\n";

typedef struct laid {
    pl_scene scene;
    pl_mesh mesh;
    pl_layout layout;
    pl_faults faults;
    pl_status status;
} laid;

static laid lay_out(const char *body)
{
    laid l = {.status = PL_OK};
    char text[1024];
    snprintf(text, sizeof text,
             "{'pliant': 1, 'materials': {'a': {'density': 6}, 'b': {'density': 60, 'young': 1e7,"
             " 'model': 'corotated'}}, 'bodies': [{'name': 'x', 'material': 'a', %s, 'mesh':"
             " {'upload': "
             "'sha256:0123456789012345678901234567890123456789012345678901234567890123'}}]}",
             body);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ck_assert_int_eq(pl_scene_decode(text, strlen(text), &l.scene, &l.faults), PL_DECODE_OK);
    const pl_blob blob = {two_tets, strlen(two_tets)};
    ck_assert_int_eq(
        pl_body_load(&l.scene, 0, &blob, &(pl_mesh_limits){99, 99}, &l.mesh, &l.faults), PL_OK);
    l.status = pl_layout_create(&l.scene, &l.mesh, &l.layout, &l.faults);
    return l;
}

static void put_away(laid *l)
{
    pl_layout_destroy(&l->layout);
    pl_mesh_clear(&l->mesh);
    pl_scene_clear(&l->scene);
    pl_faults_clear(&l->faults);
}

/* By name and by number; the masses are those of the elements' own densities. */
START_TEST(elements_have_their_groups_material)
{
    const char *const forms[] = {"'materials_by_tag': {'hard': 'b'}",
                                 "'materials_by_tag': {'2': 'b'}",
                                 "'materials_by_tag': {'2': 'a', '1': 'a', 'hard': 'b'}"};
    for (int i = 0; i < 3; i++) {
        laid l = lay_out(forms[i]);
        ck_assert_int_eq(l.status, PL_OK);
        const pl_elements *e = &l.layout.elements[PL_ELEMENT_TET];
        ck_assert(e->material[0] == 0 && e->material[1] == 1);
        double mass[5];
        pl_layout_masses(&l.scene, &l.layout, mass);
        ck_assert_double_eq_tol(mass[3], 1.0 / 4, 1e-15);
        ck_assert_double_eq_tol(mass[4], 10.0 / 4, 1e-14);
        ck_assert_double_eq_tol(mass[0], 11.0 / 4, 1e-14);
        pl_model *model;
        ck_assert_int_eq(pl_model_create(&l.scene, &l.mesh, &model, &l.faults), PL_OK);
        ck_assert_int_eq(model->group_count, 2);
        pl_model_destroy(model);
        put_away(&l);
    }
}
END_TEST

START_TEST(groups_without_elements_are_faults)
{
    laid l = lay_out("'materials_by_tag': {'soft': 'b', 'hard': 'b', 'skin': 'a', 'a/b': 'a'}");
    ck_assert_int_eq(l.status, PL_INVALID);
    ck_assert_uint_eq(l.faults.total, 3);
    ck_assert_str_eq(l.faults.items[0].pointer, "/bodies/0/materials_by_tag/soft");
    ck_assert_str_eq(l.faults.items[0].code, "unknown_tag");
    ck_assert_str_eq(l.faults.items[0].expected, "\"hard\", \"skin\"");
    ck_assert_str_eq(l.faults.items[1].pointer, "/bodies/0/materials_by_tag/skin");
    ck_assert_str_eq(l.faults.items[2].pointer, "/bodies/0/materials_by_tag/a~1b");
    put_away(&l);
}
END_TEST

/* ---- slivers ---- */

/* A bar whose inner vertices lie almost on their neighbours' faces: qualities down to 1e-3. */
static pl_mesh bar_with_slivers(pl_mesh_quality *quality)
{
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_box((double[]){4, 1, 1}, (int32_t[]){8, 2, 2}, &mesh), PL_OK);
    for (int i = 2; i < 7; i += 2)
        mesh.vertices[3 * (i + 9 * (1 + 3))] += 0.4994; /* of cells 0.5 m long */
    ck_assert_int_eq(pl_mesh_measure(&mesh, quality), PL_OK);
    return mesh;
}

START_TEST(bodies_with_slivers_run)
{
    static const char *const methods[] = {"admm", "quasi_newton", "newton"};
    static const char *const models[] = {"neo_hookean", "corotated", "arap"};
    for (int k = 0; k < 9; k++) {
        char text[1024];
        pl_scene scene;
        pl_faults faults = {0};
        pl_mesh_quality quality;
        pl_mesh mesh = bar_with_slivers(&quality);
        ck_assert_msg(quality.worst_quality < 1.5e-3 && quality.worst_quality > 1e-4, "%g",
                      quality.worst_quality);
        snprintf(text, sizeof text,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 10}, \"solver\": "
                 "{\"method\": \"%s\"}, \"materials\": {\"m\": {\"model\": \"%s\"}}, "
                 "\"bodies\": [{\"mesh\": {\"box\": {}}}], \"pins\": [{\"select\": {\"side\": "
                 "\"-x\"}}]}",
                 methods[k % 3], models[k / 3]);
        ck_assert_int_eq(pl_scene_decode(text, strlen(text), &scene, &faults), PL_DECODE_OK);
        ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_OK);
        pl_model *model;
        pl_state *state;
        pl_metrics metrics;
        pl_failure failure;
        ck_assert_int_eq(pl_model_create(&scene, &mesh, &model, &faults), PL_OK);
        ck_assert_int_eq(pl_state_create(model, 1, &state), PL_OK);
        for (int frame = 0; frame < 10; frame++) {
            pl_status status = pl_frame_step(model, state, &metrics, &failure, NULL, NULL);
            ck_assert_msg(status == PL_OK, "%s, %s: %s", methods[k % 3], models[k / 3],
                          status == PL_OK ? "" : failure.message);
        }
        /* Its free part falls, and it stays in one piece. */
        const double *x = pl_state_positions(state);
        for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
            ck_assert(fabs(x[i] - mesh.vertices[i]) < 0.1);
        ck_assert_double_lt(x[3 * 8 + 1], mesh.vertices[3 * 8 + 1] - 0.02);
        pl_state_destroy(state);
        pl_model_destroy(model);
        pl_mesh_clear(&mesh);
        pl_scene_clear(&scene);
        pl_faults_clear(&faults);
    }
}
END_TEST

START_TEST(slivers_are_counted_and_named)
{
    pl_mesh mesh;
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_box((double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, &mesh), PL_OK);
    for (int i = 0; i < 8; i++)
        mesh.vertices[3 * i + 2] *= i == 7 ? 2e-4 : 1e-4;
    ck_assert_int_eq(pl_mesh_measure(&mesh, &quality), PL_OK);
    ck_assert_int_eq(quality.poor, 6);
    ck_assert_int_eq(quality.worst_count, PL_MESH_WORST);
    ck_assert_double_gt(quality.worst_quality, 0);
    ck_assert_double_lt(quality.worst_quality, PL_MESH_POOR);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tags");
    TCase *cases = tcase_create("tags");
    tcase_add_test(cases, elements_have_their_groups_material);
    tcase_add_test(cases, groups_without_elements_are_faults);
    tcase_add_test(cases, bodies_with_slivers_run);
    tcase_add_test(cases, slivers_are_counted_and_named);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
