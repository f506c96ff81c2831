/* Fields of a mesh file: a factor on the stiffness of each element, and directions of fibres, against
 * the same body with a material for each element. */
#include "engine/model/build/layout.h"
#include "engine/model/model.h"
#include "protocol/scene/scene_json.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"                 \
    "4 0.1 0.2 1\n5 1 1 0.25\n$EndNodes\n$Elements\n2\n"
/* Factors 3 and 0.5 and directions (0, 2, 0) and none, of the elements with tags 1 and 2. */
#define FIELDS                                                                                     \
    "$EndElements\n$ElementData\n1\n\"factor\"\n1\n0\n3\n0\n1\n2\n12 0.5\n11 3\n"                  \
    "$EndElementData\n$ElementData\n1\n\"grain\"\n1\n0\n3\n0\n3\n2\n11 0 2 0\n"                    \
    "12 0 0 0\n$EndElementData\n"
static const char *const files[] = {
    HEAD "11 4 2 1 1 1 2 3 4\n12 4 2 2 1 2 5 3 4\n" FIELDS,
    HEAD "11 2 2 1 1 1 2 3\n12 2 2 2 1 2 5 3\n" FIELDS,
    HEAD "11 1 2 1 1 1 2\n12 1 2 2 1 2 3\n" FIELDS,
};
static const char *const parts[] = {
    "",
    "'thickness': 0.01, 'bending': {'stiffness': %g},",
    "'area': 1e-4, 'bending': {'stiffness': %g},",
};
#define UPLOAD "sha256:0123456789012345678901234567890123456789012345678901234567890123"

typedef struct built {
    pl_scene scene;
    pl_mesh mesh;
    pl_faults faults;
    pl_model *model;
    pl_status status;
} built;

static built build(int kind, const char *materials, const char *body)
{
    built b = {.model = NULL};
    char text[2048];
    snprintf(
        text, sizeof text,
        "{'pliant': 1, 'materials': {%s}, 'bodies': [{'name': 'x', %s, 'mesh': {'upload': '%s'},"
        " 'transform': {'rotate': {'axis': [0, 0, 1], 'degrees': 90}, 'scale': [1, 2, 1],"
        " 'translate': [3, 0, 0]}}]}",
        materials, body, UPLOAD);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    int decoded = pl_scene_decode(text, strlen(text), &b.scene, &b.faults);
    ck_assert_msg(decoded == PL_DECODE_OK, "%s: %s", text,
                  b.faults.count ? b.faults.items[0].got : "");
    const pl_blob blob = {files[kind], strlen(files[kind])};
    ck_assert_int_eq(
        pl_body_load(&b.scene, 0, &blob, &(pl_mesh_limits){99, 99}, &b.mesh, &b.faults), PL_OK);
    b.status = pl_model_create(&b.scene, &b.mesh, &b.model, &b.faults);
    return b;
}

static void put_away(built *b)
{
    if (b->model)
        pl_model_destroy(b->model);
    pl_mesh_clear(&b->mesh);
    pl_scene_clear(&b->scene);
    pl_faults_clear(&b->faults);
}

/* A material that is `factor` times as stiff, with fibres of that times 1e5 Pa, `fibers` where any. */
static int material(char *out, size_t size, int kind, const char *name, double factor,
                    const char *fibers)
{
    char part[128], grain[128] = "";
    snprintf(part, sizeof part, parts[kind], factor * 2e-3);
    if (*fibers && kind < 2)
        snprintf(grain, sizeof grain, "'fibers': {'stiffness': %g%s},", factor * 1e5, fibers);
    return snprintf(out, size, "'%s': {'model': 'corotated', %s %s 'young': %g, 'density': 1000}",
                    name, part, grain, factor * 1e6);
}

/* sum of U_i over all terms, at a place that is neither at rest nor a turned rest. */
static double energy(const pl_model *m)
{
    double *x = malloc((size_t)m->vertices * 3 * sizeof *x), sum = 0;
    for (int64_t i = 0; i < 3 * m->vertices; i++)
        x[i] = 1.25 * m->x0[i] + 0.1 * sin(1.0 + 2.0 * (double)i);
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        double *blocks = malloc((size_t)group->blocks * sizeof *blocks);
        group->ops->energy(group, x, blocks, 0, group->blocks);
        for (int64_t k = 0; k < group->blocks; k++)
            sum += blocks[k];
        free(blocks);
    }
    free(x);
    return sum;
}

START_TEST(fields_do_what_a_material_for_each_element_does)
{
    char one[512], soft[512], both[1100];
    const char *use = _i < 2
                          ? "'material': 'a', 'fields': {'stiffness': 'factor', 'fibers': 'grain'}"
                          : "'material': 'a', 'fields': {'stiffness': 'factor'}";
    material(one, sizeof one, _i, "a", 1, ", 'direction': [1, 1, 1]");
    built field = build(_i, one, use);
    ck_assert_int_eq(field.status, PL_OK);
    /* (0, 2, 0), doubled along y and turned from y to -x; the other element has no fibres. */
    material(one, sizeof one, _i, "a", 3, ", 'direction': [-1, 0, 0]");
    material(soft, sizeof soft, _i, "b", 0.5, "");
    snprintf(both, sizeof both, "%s, %s", one, soft);
    built tags = build(_i, both, "'material': 'a', 'materials_by_tag': {'2': 'b'}");
    ck_assert_int_eq(tags.status, PL_OK);
    double expected = energy(tags.model), got = energy(field.model);
    ck_assert_double_gt(expected, 1);
    ck_assert_double_eq_tol(got, expected, 1e-13 * expected);
    ck_assert_mem_eq(field.model->mass, tags.model->mass,
                     (size_t)field.model->vertices * sizeof(double));
    /* Weights as well, so every method's matrix. */
    const pl_sparse *A = &field.model->A, *B = &tags.model->A;
    ck_assert_int_eq(A->n, B->n);
    for (int64_t k = 0; k < A->column[A->n]; k++)
        ck_assert_double_eq_tol(A->value[k], B->value[k], 1e-13 * fabs(B->value[0]));
    put_away(&field);
    put_away(&tags);
    /* And without the fields it is another body. */
    material(one, sizeof one, _i, "a", 1, ", 'direction': [1, 1, 1]");
    built plain = build(_i, one, "'material': 'a'");
    ck_assert_double_gt(fabs(energy(plain.model) - expected), 1e-3 * expected);
    put_away(&plain);
}
END_TEST

/* Another factor is another model: it rejects the first one's checkpoint. */
START_TEST(fields_are_in_the_models_hash)
{
    char one[512];
    material(one, sizeof one, _i, "a", 1, ", 'direction': [1, 1, 1]");
    built plain = build(_i, one, "'material': 'a'");
    built field = build(_i, one, "'material': 'a', 'fields': {'stiffness': 'factor'}");
    ck_assert_uint_ne(plain.model->hash, field.model->hash);
    put_away(&field);
    if (_i < 2) {
        built grain = build(_i, one, "'material': 'a', 'fields': {'fibers': 'grain'}");
        ck_assert_uint_ne(plain.model->hash, grain.model->hash);
        put_away(&grain);
    }
    put_away(&plain);
}
END_TEST

START_TEST(fields_that_cannot_be_used_are_faults)
{
    static const struct {
        const char *fields, *key, *code, *got;
    } bad[] = {
        {"'stiffness': 'E'", "stiffness", "unknown_field", "\"E\", which the mesh"},
        {"'stiffness': 'grain'", "stiffness", "wrong_field", "\"grain\", whose values have 3"},
        {"'fibers': 'factor'", "fibers", "wrong_field", "\"factor\", whose values have 1"},
        {"'fibers': 'grain'", "fibers", "no_fibers", "directions for body \"x\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char one[512], body[256], pointer[64];
        material(one, sizeof one, 0, "a", 1, i < 3 ? ", 'direction': [1, 1, 1]" : "");
        snprintf(body, sizeof body, "'material': 'a', 'fields': {%s}", bad[i].fields);
        built b = build(0, one, body);
        ck_assert_int_eq(b.status, PL_INVALID);
        ck_assert_uint_eq(b.faults.total, 1);
        snprintf(pointer, sizeof pointer, "/bodies/0/fields/%s", bad[i].key);
        ck_assert_str_eq(b.faults.items[0].pointer, pointer);
        ck_assert_str_eq(b.faults.items[0].code, bad[i].code);
        ck_assert_msg(strncmp(b.faults.items[0].got, bad[i].got, strlen(bad[i].got)) == 0, "%s",
                      b.faults.items[0].got);
        put_away(&b);
    }
}
END_TEST

/* Missing values, and factors that are none. */
START_TEST(values_of_fields_are_judged)
{
    static const struct {
        const char *from, *to, *got;
    } changes[] = {
        {"12 0.5\n11 3\n", "12 0.5\n99 3\n", "no value for element 0 of body \"x\" and 0 others"},
        {"12 0.5\n11 3\n", "12 -1\n11 0\n", "0 for element 0 of body \"x\" and 1 others"},
        {"12 0.5\n11 3\n", "12 1e9\n11 3\n", "1e+09 for element 1 of body \"x\" and 0 others"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char file[1024], one[512];
        const char *at = strstr(files[0], changes[i].from);
        snprintf(file, sizeof file, "%.*s%s%s", (int)(at - files[0]), files[0], changes[i].to,
                 at + strlen(changes[i].from));
        material(one, sizeof one, 0, "a", 1, "");
        built b = build(0, one, "'material': 'a', 'fields': {'stiffness': 'factor'}");
        ck_assert_int_eq(b.status, PL_OK);
        pl_mesh changed;
        const pl_blob blob = {file, strlen(file)};
        ck_assert_int_eq(
            pl_body_load(&b.scene, 0, &blob, &(pl_mesh_limits){99, 99}, &changed, &b.faults),
            PL_OK);
        pl_model *model = NULL;
        ck_assert_int_eq(pl_model_create(&b.scene, &changed, &model, &b.faults), PL_INVALID);
        ck_assert_str_eq(b.faults.items[0].code, "field_value");
        ck_assert_str_eq(b.faults.items[0].got, changes[i].got);
        pl_mesh_clear(&changed);
        put_away(&b);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields");
    TCase *cases = tcase_create("fields");
    tcase_add_loop_test(cases, fields_do_what_a_material_for_each_element_does, 0, 3);
    tcase_add_loop_test(cases, fields_are_in_the_models_hash, 0, 3);
    tcase_add_test(cases, fields_that_cannot_be_used_are_faults);
    tcase_add_test(cases, values_of_fields_are_judged);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
