/* Which method carries which terms: one table for validation, capabilities and the hints. */
#include "engine/scene/carries.h"
#include "engine/model/groups/isa.h"
#include "engine/solvers/solver.h"
#include "protocol/scene/params.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* The parameter table has the names of PL_EACH_METHOD, in the order of the kinds. */
START_TEST(methods_have_one_name)
{
    const char *const *choices = pl_table_param(pl_table_named("solver"), "method")->choices;
    for (pl_method_kind k = 0; k < PL_METHOD_KINDS; k++) {
        ck_assert_ptr_nonnull(pl_method_name(k));
        ck_assert_ptr_nonnull(choices[k]);
        ck_assert_str_eq(pl_method_name(k), choices[k]);
    }
    ck_assert_ptr_null(choices[PL_METHOD_KINDS]);
}
END_TEST

/* Of all materials ARAP alone is a squared distance to a set, rotations. */
START_TEST(materials_have_one_name)
{
    const char *const *choices = pl_table_param(pl_table_named("material"), "model")->choices;
    pl_material material = {0};
    const pl_material_uses uses = {.model = 1};
    const pl_scene scene = {.materials = &material, .material_count = 1};
    for (int k = 0; k < PL_MATERIAL_KINDS; k++) {
        char what[80];
        pl_carried parts[PL_CARRIED_MAX];
        material.model = (pl_material_kind)k;
        ck_assert_int_eq(pl_scene_carried(&scene, &uses, parts), 1);
        snprintf(what, sizeof what, "%s material", choices[k]);
        ck_assert_str_eq(parts[0].what, what);
        ck_assert_int_eq(parts[0].traits, k == PL_MATERIAL_ARAP ? 0 : (int)PL_TRAIT_NOT_DISTANCE);
    }
    ck_assert_ptr_null(choices[PL_MATERIAL_KINDS]);
}
END_TEST

START_TEST(a_method_refuses_what_it_lacks)
{
    ck_assert_ptr_null(pl_method_refuses(PL_METHOD_ADMM, PL_TRAIT_HARD | PL_TRAIT_NOT_DISTANCE));
    ck_assert(strstr(pl_method_refuses(PL_METHOD_ADMM, PL_TRAIT_NO_PROX | PL_TRAIT_HARD), "prox"));
    ck_assert(strstr(pl_method_refuses(PL_METHOD_QUASI_NEWTON, PL_TRAIT_HARD), "hard"));
    const unsigned all[] = {PL_TRAIT_HARD, PL_TRAIT_NO_PROX, PL_TRAIT_NOT_DISTANCE};
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(pl_method_refuses(PL_METHOD_PROJECTIVE_DYNAMICS, all[i]));
    for (pl_method_kind k = 0; k < PL_METHOD_KINDS; k++)
        ck_assert_ptr_null(pl_method_refuses(k, 0));
}
END_TEST

START_TEST(methods_are_listed_as_words)
{
    char all[256], hard[256], cut[8];
    pl_methods_that_carry(0, all, sizeof all);
    ck_assert_int_eq(strncmp(all, "admm, ", 6) == 0 || strncmp(all, "admm or ", 8) == 0, 1);
    ck_assert(strstr(all, " or "));
    pl_methods_that_carry(PL_TRAIT_HARD, hard, sizeof hard);
    ck_assert(strstr(hard, "admm") && !strstr(hard, "quasi_newton"));
    ck_assert_uint_lt(strlen(pl_methods_that_carry(0, cut, sizeof cut)), sizeof cut);
}
END_TEST

START_TEST(parts_of_a_scene_have_traits)
{
    pl_material materials[] = {{.model = PL_MATERIAL_ARAP}, {.model = PL_MATERIAL_NEO_HOOKEAN}};
    pl_material_uses uses[2] = {{0}};
    pl_scene scene = {.materials = materials, .material_count = 2};
    pl_carried parts[PL_CARRIED_MAX];
    ck_assert_int_eq(pl_scene_carried(&scene, uses, parts), 0);
    uses[0].model = 1;
    uses[1].model = 2;
    scene.obstacle_count = 4;
    ck_assert_int_eq(pl_scene_carried(&scene, uses, parts), 3);
    const pl_carried expected[] = {{"neo_hookean material", 2, PL_TRAIT_NOT_DISTANCE},
                                   {"arap material", 1, 0},
                                   {"obstacle", 4, PL_TRAIT_HARD}};
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(parts[i].what, expected[i].what);
        ck_assert_int_eq(parts[i].count, expected[i].count);
        ck_assert_uint_eq(parts[i].traits, expected[i].traits);
    }
}
END_TEST

/* A part of a material counts if there are elements with it. */
START_TEST(parts_of_materials_are_of_their_elements)
{
    pl_material material = {.model = PL_MATERIAL_ARAP,
                            .inextensible = PL_INEXTENSIBLE_ROPE,
                            .bending = {.present = true, .model = PL_BENDING_HINGE},
                            .strain_limit = {.present = true}};
    pl_scene scene = {.materials = &material, .material_count = 1};
    static const struct {
        pl_material_uses uses;
        int32_t count;
        const char *what[4];
    } rows[] = {{{0, 0, 2}, 1, {"inextensible edge"}},
                {{2, 0, 0}, 2, {"arap material", "strain limit"}},
                {{2, 1, 1}, 4, {"arap material", "strain limit", "inextensible edge", "hinge"}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        pl_carried parts[PL_CARRIED_MAX];
        ck_assert_int_eq(pl_scene_carried(&scene, &rows[k].uses, parts), rows[k].count);
        for (int32_t i = 0; i < rows[k].count; i++)
            ck_assert_str_eq(parts[i].what, rows[k].what[i]);
    }
}
END_TEST

/* Dissipation is not a distance, and not supported by a GPU's backend; statics has none. */
START_TEST(damping_is_carried_by_what_has_a_prox)
{
    char name[] = "m";
    pl_material material = {.name = name,
                            .model = PL_MATERIAL_ARAP,
                            .damping = {.present = true, .viscosity = 1},
                            .air_damping = 1};
    pl_scene scene = {.materials = &material, .material_count = 1};
    pl_material_uses uses = {.model = 1, .triangles = 1};
    pl_carried parts[PL_CARRIED_MAX];
    pl_faults faults = {0};
    ck_assert_int_eq(pl_scene_carried(&scene, &uses, parts), 2);
    ck_assert_str_eq(parts[1].what, "damped material");
    ck_assert_ptr_nonnull(pl_method_refuses(PL_METHOD_PROJECTIVE_DYNAMICS, parts[1].traits));
    ck_assert_ptr_null(pl_method_refuses(PL_METHOD_ADMM, parts[1].traits));
    ck_assert_ptr_null(pl_method_refuses(PL_METHOD_NEWTON, parts[1].traits));
    scene.solver.device = PL_DEVICE_GPU;
    scene.solver.method = PL_METHOD_CHEBYSHEV_DESCENT;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_OK);
    scene.solver.method = PL_METHOD_NEWTON;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_INVALID);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].pointer, "/solver/method");
    pl_faults_clear(&faults);
    scene.solver.method = PL_METHOD_CHEBYSHEV_DESCENT;
    material.fibers.present = true;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults),
                     PL_OK); /* of the rate of their elements */
    material.damping.model = PL_DAMPING_RAYLEIGH;
    material.bending.present = true;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_INVALID);
    ck_assert_uint_eq(faults.count, 2);
    ck_assert_str_eq(faults.items[0].pointer, "/materials/m/damping");
    ck_assert_str_eq(faults.items[1].pointer, "/materials/m/damping/model");
    pl_faults_clear(&faults);
    uses = (pl_material_uses){0}; /* by nobody: it requires nothing of the device */
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_OK);
    uses.edges = 1; /* of a rope's bends, and no element */
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_INVALID);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].pointer, "/materials/m/damping");
    pl_faults_clear(&faults);
    uses = (pl_material_uses){.model = 1, .triangles = 1};
    scene.time.integrator = PL_INTEGRATOR_QUASI_STATIC;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults),
                     PL_OK); /* nothing is damped in statics */
    ck_assert_int_eq(pl_scene_carried(&scene, &uses, parts), 1);
}
END_TEST

/* As the scene says, or by the size. */
START_TEST(newton_s_solves_follow_the_size)
{
    pl_solver_settings solver = {.method = PL_METHOD_NEWTON};
    ck_assert_int_eq(pl_newton_linear(&solver, PL_DIRECT_MOST), PL_LINEAR_AUTO);
    ck_assert_int_eq(pl_newton_linear(&solver, PL_DIRECT_MOST + 1), PL_LINEAR_PCG);
    solver.has_linear = true;
    for (solver.linear = PL_LINEAR_DIRECT; solver.linear <= PL_LINEAR_AUTO; solver.linear++)
        for (int64_t n = 1; n <= INT64_C(1) << 20; n <<= 4)
            ck_assert_int_eq(pl_newton_linear(&solver, n), solver.linear);
}
END_TEST

/* A mirrored solid goes to ADMM exactly if the model's own table says J > 0. */
START_TEST(mirrored_bodies_of_log_j_are_split)
{
    pl_material material = {0};
    pl_body body = {.mesh = {.kind = PL_SOURCE_BOX},
                    .initial = {.shape = PL_SHAPE_STRETCHED, .stretch = {-1, 1, 1}}};
    const pl_scene scene = {
        .materials = &material, .material_count = 1, .bodies = &body, .body_count = 1};
    for (pl_material_kind k = 0; k < PL_MATERIAL_KINDS; k++) {
        material.model = k;
        bool barrier = pl_stretch_ops_of(k)->domain == PL_STRETCH_POSITIVE;
        ck_assert_int_eq(pl_auto_method(&scene), barrier ? PL_METHOD_ADMM : PL_METHOD_AUTO);
    }
}
END_TEST

/* Inextensible edges work with descent, except in statics, where a slack rope has no stiffness, and on a GPU. */
START_TEST(ropes_are_held_by_descent)
{
    pl_material material = {.inextensible = PL_INEXTENSIBLE_ROPE};
    pl_scene scene = {.materials = &material, .material_count = 1};
    ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_AUTO);
    scene.time.integrator = PL_INTEGRATOR_TR_BDF2;
    ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_AUTO);
    scene.time.integrator = PL_INTEGRATOR_QUASI_STATIC;
    ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_ADMM);
    scene.time.integrator = PL_INTEGRATOR_BACKWARD_EULER;
    scene.solver.device = PL_DEVICE_GPU;
    ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_ADMM);
    scene.solver.device = PL_DEVICE_CPU;
    material.strain_limit.present = true;
    ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_ADMM);
    for (pl_method_kind k = 0; k < PL_METHOD_KINDS; k++) {
        bool holds = k == PL_METHOD_ADMM || k == PL_METHOD_NEWTON || k == PL_METHOD_AUTO ||
                     k == PL_METHOD_QUASI_NEWTON;
        ck_assert_int_eq(pl_method_takes(k, PL_TRAIT_HELD), holds);
    }
}
END_TEST

/* A scene may request a solver where there is a matrix on the CPU. */
START_TEST(the_matrix_is_solved_as_requested)
{
    pl_scene scene = {.solver = {.method = PL_METHOD_ADMM}};
    pl_solver_settings *s = &scene.solver;
    pl_faults faults = {0};
    s->matrix = PL_MATRIX_CHOLESKY;
    ck_assert_int_eq(pl_matrix_carries(&scene, &faults), PL_OK);
    s->matrix = PL_MATRIX_MULTIGRID;
    ck_assert_int_eq(pl_matrix_carries(&scene, &faults), PL_OK);
    s->method = PL_METHOD_LBFGS;
    ck_assert_int_eq(pl_matrix_carries(&scene, &faults), PL_INVALID);
    ck_assert_str_eq(faults.items[0].pointer, "/solver/matrix");
    ck_assert_ptr_nonnull(strstr(faults.items[0].got, "lbfgs"));
    pl_faults_clear(&faults);
    s->method = PL_METHOD_ADMM;
    s->device = PL_DEVICE_GPU;
    ck_assert_int_eq(pl_matrix_carries(&scene, &faults), PL_INVALID);
    pl_faults_clear(&faults);
    s->matrix = PL_MATRIX_AUTO;
    ck_assert_int_eq(pl_matrix_carries(&scene, &faults), PL_OK);
}
END_TEST

/* A GPU has no kernel for held edges: only admm has edges that are constraints there. */
START_TEST(ropes_on_a_device_need_admm)
{
    char name[] = "m";
    pl_material material = {.name = name, .inextensible = PL_INEXTENSIBLE_ROD};
    pl_scene scene = {.materials = &material,
                      .material_count = 1,
                      .solver = {.device = PL_DEVICE_GPU, .method = PL_METHOD_QUASI_NEWTON}};
    pl_material_uses uses = {.edges = 1};
    pl_faults faults = {0};
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_INVALID);
    ck_assert_str_eq(faults.items[0].pointer, "/materials/m/inextensible");
    pl_faults_clear(&faults);
    scene.solver.method = PL_METHOD_ADMM;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_OK);
    scene.solver.method = PL_METHOD_QUASI_NEWTON;
    uses.edges = 0;
    ck_assert_int_eq(pl_device_carries(&scene, &uses, &faults), PL_OK);
}
END_TEST

START_TEST(a_device_does_not_sweep)
{
    pl_scene scene = {.solver = {.method = PL_METHOD_VERTEX_BLOCK_DESCENT}};
    pl_faults faults = {0};
    ck_assert_int_eq(pl_device_carries(&scene, NULL, &faults), PL_OK);
    scene.solver.device = PL_DEVICE_GPU;
    ck_assert_int_eq(pl_device_carries(&scene, NULL, &faults), PL_INVALID);
    ck_assert_str_eq(faults.items[0].pointer, "/solver/method");
    ck_assert(strstr(faults.items[0].hint, "chebyshev_descent"));
    pl_faults_clear(&faults);
}
END_TEST

/* ADMM has no prox of a hinge: such a scene stays with descent, whatever its start. */
START_TEST(hinges_are_never_split)
{
    pl_material material = {.model = PL_MATERIAL_NEO_HOOKEAN};
    pl_body body = {.mesh = {.kind = PL_SOURCE_CLOTH}};
    const pl_scene scene = {
        .materials = &material, .material_count = 1, .bodies = &body, .body_count = 1};
    const pl_shape_kind starts[] = {PL_SHAPE_RANDOM, PL_SHAPE_COLLAPSED};
    for (int k = 0; k < 2; k++) {
        body.initial.shape = starts[k];
        material.bending.present = false;
        ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_ADMM);
        material.bending.present = true;
        material.bending.model = PL_BENDING_HINGE;
        ck_assert_int_eq(pl_auto_method(&scene), PL_METHOD_AUTO);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("carries");
    TCase *t = tcase_create("carries");
    tcase_add_test(t, methods_have_one_name);
    tcase_add_test(t, damping_is_carried_by_what_has_a_prox);
    tcase_add_test(t, materials_have_one_name);
    tcase_add_test(t, a_method_refuses_what_it_lacks);
    tcase_add_test(t, methods_are_listed_as_words);
    tcase_add_test(t, parts_of_a_scene_have_traits);
    tcase_add_test(t, parts_of_materials_are_of_their_elements);
    tcase_add_test(t, newton_s_solves_follow_the_size);
    tcase_add_test(t, mirrored_bodies_of_log_j_are_split);
    tcase_add_test(t, ropes_are_held_by_descent);
    tcase_add_test(t, ropes_on_a_device_need_admm);
    tcase_add_test(t, the_matrix_is_solved_as_requested);
    tcase_add_test(t, a_device_does_not_sweep);
    tcase_add_test(t, hinges_are_never_split);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
