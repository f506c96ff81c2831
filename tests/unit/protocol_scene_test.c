/* Scenes: scenes_good/ decodes, and its effective form decodes to itself; beside every scene of scenes_bad/ is a file
 * with the expected outcome and all faults, "code pointer" per line. */
#include "engine/scene/contact_between.h"
#include "engine/scene/scene.h"
#include "protocol/text/json.h"
#include "protocol/scene/params.h"
#include "protocol/text/problem.h"
#include "protocol/scene/scene_json.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <math.h>

/* This file's folder. */
static int open_folder(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s", __FILE__);
    char *slash = strrchr(path, '/');
    ck_assert_ptr_nonnull(slash);
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s", name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "%s: run the tests from the project's root", path);
    return fd;
}

static pl_decode_outcome decode(const char *text, pl_scene *scene, pl_faults *faults)
{
    return pl_scene_decode(text, strlen(text), scene, faults);
}

/* A scene of one box with more top-level keys. */
static pl_decode_outcome decode_with(const char *more, pl_scene *scene, pl_faults *faults)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {}}}]%s}", more);
    return decode(text, scene, faults);
}

/* ---- bad scenes ---- */

/* Whatever the user wrote, a fault is a usable report: texts there, bounded, and JSON. */
static void assert_reportable(const char *name, const pl_faults *faults)
{
    char *report = pl_problem_encode(422, "invalid_scene", "The scene has faults", "", faults);
    char error[160];
    pl_json *parsed = pl_json_parse(report, strlen(report), error);
    ck_assert_msg(parsed != NULL, "%s: %s", name, error);
    ck_assert_uint_eq(pl_json_count(pl_json_at(parsed, "faults")), faults->count);
    for (size_t i = 0; i < faults->count; i++) {
        ck_assert_msg(*faults->items[i].got && *faults->items[i].expected, "%s: %zu", name, i);
        ck_assert_msg(strlen(faults->items[i].got) <= 256, "%s: %s", name, faults->items[i].got);
    }
    pl_json_free(parsed);
    free(report);
}

static void check_bad(int folder, const char *name)
{
    static const char *const verdicts[] = {[PL_DECODE_OK] = "ok",
                                           [PL_DECODE_SYNTAX] = "syntax",
                                           [PL_DECODE_INVALID] = "invalid",
                                           [PL_DECODE_NO_MEMORY] = "no_memory"};
    char file[300], found[8192];
    size_t size, expected_size, at = 0;
    char *text = take_file(folder, name, &size);
    snprintf(file, sizeof file, "%.*s.txt", (int)strlen(name) - 5, name);
    char *expected = take_file(folder, file, &expected_size);
    pl_scene scene;
    pl_faults faults = {0};
    pl_decode_outcome outcome = pl_scene_decode(text, size, &scene, &faults);
    at += (size_t)snprintf(found + at, sizeof found - at, "%s\n", verdicts[outcome]);
    for (size_t i = 0; i < faults.count; i++)
        at += (size_t)snprintf(found + at, sizeof found - at, "%s %s\n", faults.items[i].code,
                               faults.items[i].pointer);
    ck_assert_msg(strcmp(found, expected) == 0, "%s: expected\n%s\nfound\n%s", name, expected,
                  found);
    ck_assert(scene.bodies == NULL);
    assert_reportable(name, &faults);
    pl_faults_clear(&faults);
    free(text);
    free(expected);
}

static int for_each_scene(const char *folder_name, void (*check)(int folder, const char *name))
{
    int folder = open_folder(folder_name), count = 0;
    DIR *list = fdopendir(folder);
    for (struct dirent *e; (e = readdir(list));) {
        size_t n = strlen(e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".json") == 0) {
            check(folder, e->d_name);
            count++;
        }
    }
    closedir(list);
    return count;
}

START_TEST(bad_scenes)
{
    ck_assert_int_ge(for_each_scene("scenes_bad", check_bad), 80);
}
END_TEST

/* ---- good scenes ---- */

static void check_round_trip(const char *name, const char *text, size_t size)
{
    pl_scene scene, again;
    pl_faults faults = {0};
    pl_decode_outcome outcome = pl_scene_decode(text, size, &scene, &faults);
    ck_assert_msg(outcome == PL_DECODE_OK, "%s: %s %s", name,
                  faults.count ? faults.items[0].pointer : "",
                  faults.count ? faults.items[0].expected : "");
    char *effective = pl_scene_encode(&scene);
    outcome = decode(effective, &again, &faults);
    ck_assert_msg(outcome == PL_DECODE_OK, "%s: %s %s\n%s", name,
                  faults.count ? faults.items[0].pointer : "",
                  faults.count ? faults.items[0].expected : "", effective);
    char *twice = pl_scene_encode(&again);
    ck_assert_str_eq(effective, twice);
    ck_assert_int_eq(scene.time.steps, again.time.steps);
    ck_assert(scene.time.duration == again.time.duration);
    free(effective);
    free(twice);
    pl_scene_clear(&scene);
    pl_scene_clear(&again);
}

static void check_good(int folder, const char *name)
{
    size_t size;
    char *text = take_file(folder, name, &size);
    check_round_trip(name, text, size);
    free(text);
}

START_TEST(good_scenes)
{
    ck_assert_int_ge(for_each_scene("scenes_good", check_good), 3);
}
END_TEST

START_TEST(every_key_arrives)
{
    int folder = open_folder("scenes_good");
    size_t size;
    pl_scene s;
    pl_faults faults = {0};
    char *text = take_file(folder, "every_key.json", &size);
    ck_assert_int_eq(pl_scene_decode(text, size, &s, &faults), PL_DECODE_OK);
    ck_assert(s.time.step == 0.01 && s.time.steps == 37 && pl_scene_frames(&s) == 8);
    ck_assert(s.solver.iterations == 7 && s.solver.tolerance == 0);
    ck_assert(s.solver.weight_scale == 2.5 && s.solver.relaxation == 1.3);
    ck_assert(s.solver.stiffness == PL_STIFFNESS_FIT && s.solver.window == 5);
    ck_assert(s.solver.preconditioner == PL_PRECONDITIONER_NONE && s.solver.jacobi_refresh == 9);
    ck_assert(s.solver.line_search == PL_LINE_SEARCH_WOLFE);
    ck_assert(s.solver.initial_guess == PL_GUESS_ACCELERATION && s.solver.rho == 0.75);
    ck_assert(s.solver.phases == 3 && s.solver.tune == 2);
    ck_assert_int_eq(s.solver.on_not_converged, PL_NOT_CONVERGED_FAIL);
    ck_assert(s.gravity[0] == 0.1 && !signbit(s.gravity[1]) && s.gravity[2] == -9.81);
    ck_assert_int_eq(s.material_count, 2);
    ck_assert_str_eq(s.materials[1].name, "hard/~");
    ck_assert(s.materials[0].young == 12345.678 && s.materials[1].density == 1000);
    ck_assert_int_eq(s.body_count, 7);
    ck_assert_str_eq(s.bodies[0].name, "body-0");
    ck_assert(s.bodies[0].mesh.refuse_negative && s.bodies[0].mesh.cells[2] == 4);
    ck_assert(s.bodies[0].transform.scale[2] == 2);
    ck_assert_int_eq(s.bodies[0].initial.shape, PL_SHAPE_COLLAPSED);
    ck_assert_int_eq(s.bodies[1].material, 1);
    ck_assert_int_eq(s.bodies[1].initial.seed, 9);
    ck_assert_str_eq(s.bodies[2].mesh.upload[0], s.bodies[4].mesh.upload[0]);
    ck_assert_int_eq(s.bodies[3].mesh.format, PL_UPLOAD_TETGEN);
    ck_assert(s.bodies[2].initial.axis[2] == 0.8 && s.bodies[3].initial.stretch[0] == 2);
    for (int b = 5; b < 7; b++) {
        ck_assert_int_eq(s.bodies[b].mesh.vertex_count, 4);
        ck_assert_int_eq(s.bodies[b].mesh.tet_count, 1);
        ck_assert(s.bodies[b].mesh.vertices[11] == 1 && s.bodies[b].mesh.tets[3] == 3);
    }
    ck_assert(s.pins[1].select.side_axis == 2 && s.pins[1].select.side_sign == -1);
    ck_assert(s.pins[1].select.relative && !s.pins[1].motion.present);
    ck_assert(s.pins[2].motion.present && !s.pins[2].motion.has_origin);
    ck_assert(s.pins[3].motion.has_origin && s.pins[4].motion.present);
    ck_assert(s.pins[4].select.normal[1] == 1 && s.pins[4].select.offset == 1.5);
    ck_assert(s.pins[5].select.index_count == 3 && s.pins[5].select.indices[0] == 3);
    ck_assert_str_eq(s.pins[7].select.tag, "7");
    ck_assert(fabs(s.obstacles[0].normal[0] - 0.6) < 1e-15 && s.obstacles[0].offset == 2);
    ck_assert_str_eq(s.obstacles[0].name, "obstacle-0");
    const pl_obstacle *block = &s.obstacles[2], *roller = &s.obstacles[3], *ring = &s.obstacles[7];
    ck_assert(s.obstacles[1].inside && !block->inside && roller->inside);
    ck_assert(block->size[1] == 2 && block->rounding == 0.25 && block->center[2] == 3);
    ck_assert(block->place.rotate_axis[1] == 0.6 && block->place.rotate_degrees == 30);
    ck_assert(roller->has_height && roller->height == 2 && roller->axis[2] == 1);
    ck_assert(!s.obstacles[4].has_height && s.obstacles[4].axis[1] == 1);
    ck_assert(s.obstacles[5].height == 0 && s.obstacles[5].motion.degrees_per_second == 90);
    ck_assert(s.obstacles[6].kind == PL_OBSTACLE_CONE && s.obstacles[6].height == 2 &&
              s.obstacles[6].inside);
    ck_assert(ring->radius == 0.75 && ring->tube == 0.25);
    ck_assert(s.output.every == 5 && s.output.precision == PL_OUTPUT_DOUBLE &&
              s.output.fields == (PL_OUTPUT_POSITION | PL_OUTPUT_VELOCITY));
    ck_assert(s.output.retention.last == 500 && s.output.retention.every == 10 &&
              s.output.retention.days == 30);
    ck_assert(s.resources.cores == 2 && s.resources.memory == 1e9);
    pl_scene_clear(&s);
    free(text);
    close(folder);
}
END_TEST

static void check_contact(const pl_scene *s)
{
    const pl_contact_settings *c = &s->contact;
    ck_assert(c->enabled && !c->self && !c->check && c->has_thickness);
    ck_assert(c->thickness == 0.002 && c->friction == 0.4 && c->restitution == 0.25);
    ck_assert(s->materials[0].has_friction && s->materials[0].friction == 0.8);
    ck_assert(s->materials[1].has_friction && s->materials[1].friction == 0);
    ck_assert(!s->materials[2].has_friction);
    ck_assert_int_eq(c->pair_count, 3);
    const pl_contact_pair_settings *p = c->pairs;
    ck_assert(p[0].body[0] == 0 && p[0].body[1] == 1 && !p[0].enabled);
    ck_assert(!p[0].has_friction && p[0].restitution == 0.25); /* that of contact */
    ck_assert(p[1].body[0] == 2 && p[1].body[1] == 2 && p[1].enabled);
    ck_assert(p[1].has_friction && p[1].friction == 0.1 && p[1].restitution == 0.5);
    ck_assert(p[2].body[0] == 2 && p[2].body[1] == 0);
    ck_assert(p[2].has_friction && p[2].friction == 0);
    const pl_expectation *force = &s->expectations[1];
    ck_assert(force->quantity == PL_QUANTITY_CONTACT_FORCE && force->has_between);
    ck_assert(force->between[0] == 2 && force->between[1] == 0);
    ck_assert(!s->expectations[0].has_between && s->output.probes[0].between[1] == 1);
}

static pl_scene contact_scene(void)
{
    int folder = open_folder("scenes_good");
    size_t size;
    pl_scene s;
    pl_faults faults = {0};
    char *text = take_file(folder, "contact.json", &size);
    ck_assert_int_eq(pl_scene_decode(text, size, &s, &faults), PL_DECODE_OK);
    free(text);
    close(folder);
    return s;
}

/* ... as posted, and from the effective scene. */
START_TEST(contact_arrives)
{
    pl_scene again, s = contact_scene();
    pl_faults faults = {0};
    check_contact(&s);
    char *effective = pl_scene_encode(&s);
    ck_assert_int_eq(decode(effective, &again, &faults), PL_DECODE_OK);
    check_contact(&again);
    free(effective);
    pl_scene_clear(&again);
    pl_scene_clear(&s);
}
END_TEST

/* What holds for two bodies: the pairs, else the materials. */
START_TEST(contact_between_two_bodies)
{
    pl_scene s = contact_scene();
    static const struct {
        int32_t a, b;
        bool enabled;
        double friction, restitution;
    } rows[] = {
        {0, 1, false, 0, 0.25}, {1, 0, false, 0, 0.25},   {0, 2, true, 0, 0.25},
        {1, 2, true, 0, 0.25},  {0, 0, false, 0.8, 0.25}, {2, 2, true, 0.1, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pl_contact_between got = pl_contact_between_bodies(&s, rows[i].a, rows[i].b);
        ck_assert_msg(got.enabled == rows[i].enabled && got.friction == rows[i].friction &&
                          got.restitution == rows[i].restitution,
                      "%d %d: %d %g %g", rows[i].a, rows[i].b, got.enabled, got.friction,
                      got.restitution);
    }
    pl_scene_clear(&s);
}
END_TEST

/* Contact is on unless the scene says no. */
START_TEST(contact_follows_the_method)
{
    static const struct {
        const char *solver, *more;
        bool enabled;
    } rows[] = {
        {"", "", true},
        {"'method': 'newton'", "", true},
        {"'method': 'quasi_newton'", ", 'contact': {'friction': 0}", true},
        {"'method': 'chebyshev_semi_iterative'", ", 'contact': {'enabled': true}", true},
        {"'method': 'newton'", ", 'contact': {'enabled': false}", false},
        {"'method': 'admm'", "", true},
        {"'method': 'admm'", ", 'contact': {'enabled': false, 'friction': 1}", false},
        {"'method': 'projective_dynamics'", "", true},
        {"'device': 'gpu'", ", 'contact': {'enabled': true}", true},
        {"'device': 'gpu'", "", true},
        /* auto, which is admm for hard obstacles */
        {"'obstacles': 'hard'", ", 'obstacles': [{'plane': {}}]", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char more[256], text[512];
        pl_scene s;
        pl_faults faults = {0};
        snprintf(more, sizeof more, ", 'solver': {%s}%s", rows[i].solver, rows[i].more);
        for (char *c = more; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_OK);
        ck_assert_msg(s.contact.enabled == rows[i].enabled, "%s", more);
        ck_assert(s.contact.self && s.contact.check);
        pl_scene_clear(&s);
        snprintf(text, sizeof text, "{\"pliant\":1,\"bodies\":[{\"mesh\":{\"box\":{}}}]%s}", more);
        check_round_trip(more, text, strlen(text));
    }
}
END_TEST

START_TEST(defaults)
{
    pl_scene s;
    pl_faults faults = {0};
    ck_assert_int_eq(decode_with("", &s, &faults), PL_DECODE_OK);
    ck_assert(s.time.step == 1.0 / 30.0 && s.time.steps == 30 && s.time.duration == 1);
    ck_assert(s.solver.method == PL_METHOD_AUTO && s.solver.automatic);
    ck_assert(s.solver.iterations == 2000 && s.solver.relaxation == 1.8);
    ck_assert(s.solver.weight_scale == 2);
    ck_assert(s.solver.stiffness == PL_STIFFNESS_SHEAR && s.solver.window == 12);
    ck_assert(s.solver.preconditioner == PL_PRECONDITIONER_JACOBI && s.solver.jacobi_refresh == 32);
    ck_assert(s.solver.line_search == PL_LINE_SEARCH_BACKTRACKING);
    ck_assert(s.solver.initial_guess == PL_GUESS_BEST && s.solver.rho == 0);
    ck_assert(s.solver.phases == 1 && s.solver.tune == 0);
    ck_assert(s.gravity[1] == -9.81);
    ck_assert_int_eq(s.material_count, 1);
    ck_assert_str_eq(s.materials[0].name, "rubber");
    ck_assert(s.materials[0].young == 1e5 && s.materials[0].poisson == 0.45);
    ck_assert_str_eq(s.name, "");
    ck_assert(s.output.every == 1 && s.resources.cores == 1);
    ck_assert_int_eq(s.output.fields, PL_OUTPUT_POSITION);
    ck_assert(s.contact.enabled && s.contact.self && s.contact.check);
    ck_assert(!s.contact.has_thickness && s.contact.friction == 0.3);
    ck_assert(s.contact.restitution == 0 && s.contact.pair_count == 0);
    ck_assert(!s.materials[0].has_friction);
    ck_assert(s.bodies[0].mesh.size[0] == 1 && s.bodies[0].mesh.cells[0] == 8);
    pl_scene_clear(&s);
}
END_TEST

START_TEST(defaults_follow_the_method)
{
    static const struct {
        const char *solver;
        double weight_scale, relaxation;
        int iterations;
    } cases[] = {
        {"", 2, 1.8, 2000},
        {"\"method\": \"auto\", \"iterations\": 70", 2, 1.8, 70},
        {"\"method\": \"admm\"", 1.8, 1.8, 50},
        {"\"method\": \"quasi_newton\"", 2, 1.8, 50},
        {"\"method\": \"quasi_newton\", \"weight_scale\": 1.5", 1.5, 1.8, 50},
        {"\"method\": \"admm\", \"acceleration\": \"nesterov\"", 1.8, 1, 50},
        {"\"acceleration\": \"nesterov\", \"relaxation\": 1.2", 2, 1.2, 2000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[128];
        pl_scene s;
        pl_faults faults = {0};
        snprintf(more, sizeof more, ", \"solver\": {%s}", cases[i].solver);
        ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_OK);
        ck_assert_double_eq(s.solver.weight_scale, cases[i].weight_scale);
        ck_assert_double_eq(s.solver.relaxation, cases[i].relaxation);
        ck_assert_int_eq(s.solver.iterations, cases[i].iterations);
        pl_scene_clear(&s);
    }
}
END_TEST

START_TEST(tolerance_and_iterations_follow_what_auto_is)
{
#define ROUGH ", \"obstacles\": [{\"plane\": {}, \"friction\": 0.1}]"
#define TR    ", \"time\": {\"integrator\": \"tr_bdf2\"}"
#define LIMIT ", \"materials\": {\"m\": {\"strain_limit\": {}}}"
    static const struct {
        const char *more;
        double tolerance;
        int iterations;
    } cases[] = {
        {"", 1e-4, 2000},
        {", \"obstacles\": [{\"plane\": {}}]", 1e-4, 2000},
        {ROUGH, 3e-6, 2000},
        {ROUGH TR, 3e-4, 2000},
        {", \"obstacles\": [{\"plane\": {}}]" TR, 1e-3, 2000},
        {ROUGH LIMIT, 1e-3, 5000},
        {LIMIT ", \"solver\": {\"iterations\": 7}", 1e-3, 7},
        {LIMIT ", \"solver\": {\"method\": \"admm\"}", 1e-3, 50},
        {ROUGH TR ", \"solver\": {\"tolerance\": 0.25}", 0.25, 2000},
        {ROUGH TR ", \"solver\": {\"method\": \"admm\"}", 1e-3, 50},
    };
#undef ROUGH
#undef TR
#undef LIMIT
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pl_scene s;
        pl_faults faults = {0};
        ck_assert_int_eq(decode_with(cases[i].more, &s, &faults), PL_DECODE_OK);
        ck_assert_msg(s.solver.tolerance == cases[i].tolerance, "%s: %g", cases[i].more,
                      s.solver.tolerance);
        ck_assert_int_eq(s.solver.iterations, cases[i].iterations);
        pl_scene_clear(&s);
    }
}
END_TEST

/* A duration of k steps to rounding is k steps; a little more is one step more. */
START_TEST(steps_of_a_duration)
{
    static const struct {
        const char *time;
        int64_t steps;
    } cases[] = {
        {"\"step\": 0.1, \"duration\": 0.3", 3},
        {"\"step\": 0.01, \"duration\": 0.07", 7}, /* 0.07 / 0.01 > 7 in doubles */
        {"\"step\": 0.1, \"duration\": 0.30001", 4},
        {"\"step\": 0.0333333, \"duration\": 4", 121},
        {"\"step\": 0.03333333333333333, \"duration\": 4", 120},
        {"\"step\": 1, \"duration\": 1e-6", 1},
        {"\"steps\": 7", 7},
        {"\"step\": 0.001, \"steps\": 99999999", 99999999},
        {"\"step\": 0.5", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[128], text[256];
        pl_scene s;
        pl_faults faults = {0};
        snprintf(more, sizeof more, ", \"time\": {%s}", cases[i].time);
        ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_OK);
        ck_assert_int_eq(s.time.steps, cases[i].steps);
        pl_scene_clear(&s);
        snprintf(text, sizeof text, "{\"pliant\":1,\"bodies\":[{\"mesh\":{\"box\":{}}}]%s}", more);
        check_round_trip(cases[i].time, text, strlen(text));
    }
}
END_TEST

/* ---- messages ---- */

static void assert_fault(const char *more, const char *got, const char *expected, const char *hint)
{
    pl_scene s;
    pl_faults faults = {0};
    ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_INVALID);
    ck_assert_uint_eq(faults.total, 1);
    ck_assert_str_eq(faults.items[0].got, got);
    ck_assert_str_eq(faults.items[0].expected, expected);
    ck_assert_str_eq(faults.items[0].hint, hint);
    pl_faults_clear(&faults);
}

START_TEST(messages)
{
    assert_fault(", \"materials\": {\"m\": {\"young\": \"abc\"}}", "string \"abc\"",
                 "number in Pa, > 0 and <= 1e+15", "");
    assert_fault(", \"solver\": {\"iterations\": 12.5}", "number 12.5",
                 "integer, >= 1 and <= 10000", "");
    assert_fault(", \"output\": {\"metrics\": \"farme\"}", "farme", "one of: frame, iteration",
                 "did you mean \"frame\"?");
    assert_fault(", \"output\": {\"evry\": 1}", "evry",
                 "one of: every, metrics, precision, fields, probes, retention",
                 "did you mean \"every\"?");
    assert_fault(", \"forces\": [{}]", "none of them", "exactly one of: wind, point, pressure", "");
    assert_fault(", \"solver\": {\"rho\": 1}", "number 1", "number, >= 0 and <= 0.99999", "");
    assert_fault(", \"solver\": {\"phases\": 9}", "number 9", "integer, >= 1 and <= 8", "");
    assert_fault(", \"solver\": {\"jacobi_refresh\": 0}", "number 0", "integer, >= 1 and <= 10000",
                 "");
    assert_fault(", \"solver\": {\"initial_guess\": \"velocty\"}", "velocty",
                 "one of: best, position, velocity, acceleration, step",
                 "did you mean \"velocity\"?");
    assert_fault(", \"solver\": {\"device\": \"gpus\"}", "gpus", "one of: cpu, gpu",
                 "did you mean \"gpu\"?");
    assert_fault(", \"solver\": {\"precision\": \"single\"}", "single, on the CPU",
                 "double or auto, on the CPU", "omit it, or use \"device\": \"gpu\"");
}
END_TEST

START_TEST(contact_is_refused_with_a_reason)
{
    assert_fault(", \"contact\": {\"pairs\": [{\"between\": [\"body-0\", \"body-9\"]}]}", "body-9",
                 "one of: body-0", "did you mean \"body-0\"?");
}
END_TEST

/* Floats are a GPU's, and its default. */
START_TEST(precision_follows_the_device)
{
    static const struct {
        const char *solver;
        pl_device_kind device;
        bool single;
    } rows[] = {{"{}", PL_DEVICE_CPU, false},
                {"{\"precision\": \"auto\"}", PL_DEVICE_CPU, false},
                {"{\"precision\": \"double\", \"device\": \"cpu\"}", PL_DEVICE_CPU, false},
                {"{\"device\": \"gpu\"}", PL_DEVICE_GPU, true},
                {"{\"device\": \"gpu\", \"precision\": \"single\"}", PL_DEVICE_GPU, true},
                {"{\"device\": \"gpu\", \"precision\": \"double\"}", PL_DEVICE_GPU, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pl_scene s;
        pl_faults faults = {0};
        char more[128];
        snprintf(more, sizeof more, ", \"solver\": %s", rows[i].solver);
        ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_OK);
        ck_assert_int_eq(s.solver.device, rows[i].device);
        ck_assert_int_eq(pl_solver_is_single(&s.solver), rows[i].single);
        pl_scene_clear(&s);
    }
}
END_TEST

/* Long user text is cut between characters, and control characters do not reach a terminal. */
START_TEST(echo_is_bounded)
{
    char more[1024] = ", \"solver\": {\"device\": \"";
    for (int i = 0; i < 150; i++)
        strcat(more, "\xC3\xA9");
    strcat(more, "\\u001b[31m\"}");
    pl_scene s;
    pl_faults faults = {0};
    ck_assert_int_eq(decode_with(more, &s, &faults), PL_DECODE_INVALID);
    const char *got = faults.items[0].got;
    ck_assert_uint_le(strlen(got), 100);
    ck_assert_str_eq(got + strlen(got) - 5, "\xC3\xA9...");
    pl_faults_clear(&faults);
    ck_assert_int_eq(decode_with(", \"output\": {\"metrics\": \"\\u001b[31m\"}", &s, &faults),
                     PL_DECODE_INVALID);
    ck_assert_str_eq(faults.items[0].got, " [31m");
    pl_faults_clear(&faults);
}
END_TEST

/* ---- bounds ---- */

/* "head", `item` n times with commas between, "tail". */
static char *repeat(const char *head, const char *item, size_t n, const char *tail)
{
    size_t size = strlen(head) + n * (strlen(item) + 1) + strlen(tail) + 1;
    char *text = malloc(size), *at = stpcpy(text, head);
    for (size_t i = 0; i < n; i++) {
        if (i)
            *at++ = ',';
        at = stpcpy(at, item);
    }
    strcpy(at, tail);
    return text;
}

static void assert_bound(char *text, const char *code, const char *pointer)
{
    pl_scene s;
    pl_faults faults = {0};
    ck_assert_int_eq(decode(text, &s, &faults), PL_DECODE_INVALID);
    ck_assert_str_eq(faults.items[0].code, code);
    ck_assert_str_eq(faults.items[0].pointer, pointer);
    pl_faults_clear(&faults);
    free(text);
}

#define BOX         "{\"mesh\":{\"box\":{}}}"
#define INLINE_HEAD "{\"pliant\":1,\"bodies\":[{\"mesh\":{\"tets\":[0,1,2,3],\"vertices\":["

START_TEST(bounds)
{
    assert_bound(repeat("{\"pliant\":1,\"bodies\":[", BOX, 1025, "]}"), "out_of_range", "/bodies");
    assert_bound(
        repeat("{\"pliant\":1,\"bodies\":[" BOX "],\"pins\":[", "{\"select\":\"all\"}", 4097, "]}"),
        "out_of_range", "/pins");
    assert_bound(
        repeat("{\"pliant\":1,\"bodies\":[" BOX "],\"obstacles\":[", "{\"plane\":{}}", 4097, "]}"),
        "out_of_range", "/obstacles");
    assert_bound(repeat("{\"pliant\":1,\"bodies\":[{\"name\":\"a\",\"mesh\":{\"box\":{}}}],"
                        "\"contact\":{\"pairs\":[",
                        "{\"between\":[\"a\",\"a\"]}", 4097, "]}}"),
                 "out_of_range", "/contact/pairs");
    assert_bound(repeat(INLINE_HEAD, "0", 100002, "]}}]}"), "too_many", "/bodies/0/mesh/vertices");
    assert_bound(repeat(INLINE_HEAD, "0", 99999, "]}}]}"), "too_many", "/bodies/0/mesh");
    assert_bound(repeat(INLINE_HEAD, "[0,0,0]", 33334, "]}}]}"), "too_many",
                 "/bodies/0/mesh/vertices");
    assert_bound(repeat("{\"pliant\":1,\"bodies\":[" BOX "],\"metadata\":{\"x\":[", "12345678901",
                        1400000, "]}}"),
                 "too_large", "");
    char *text = repeat("{\"pliant\":1,\"bodies\":[", BOX, 1024, "]}");
    check_round_trip("1024 bodies", text, strlen(text));
    free(text);
}
END_TEST

/* Heights accept no upload; for that many numbers a mesh is recommended. */
START_TEST(large_heightfields_are_advised_well)
{
    pl_scene s;
    pl_faults faults = {0};
    char *text = repeat("{\"pliant\":1,\"bodies\":[" BOX
                        "],\"obstacles\":[{\"heightfield\":{\"heights\":[",
                        "[0,0]", 50001, "]}}]}");
    ck_assert_int_eq(decode(text, &s, &faults), PL_DECODE_INVALID);
    ck_assert_str_eq(faults.items[0].code, "too_many");
    ck_assert_str_eq(faults.items[0].pointer, "/obstacles/0/heightfield/heights");
    ck_assert_ptr_null(strstr(faults.items[0].hint, "upload"));
    pl_faults_clear(&faults);
    free(text);
}
END_TEST

/* A hundred thousand faults are counted; the report stays small. */
START_TEST(faults_are_bounded)
{
    char *text = repeat("{\"pliant\":1,\"bodies\":[{\"mesh\":{\"tets\":[0,1,2,3],\"vertices\":[",
                        "\"x\"", 90000, "]}}]}");
    pl_scene s;
    pl_faults faults = {0};
    ck_assert_int_eq(decode(text, &s, &faults), PL_DECODE_INVALID);
    ck_assert_uint_eq(faults.total, 90000);
    ck_assert_uint_eq(faults.count, PL_FAULTS_MAX);
    assert_reportable("90000 faults", &faults);
    pl_faults_clear(&faults);
    free(text);
}
END_TEST

/* Every prefix of a scene, and every scene with one byte changed, is answered without a crash; what
 * decodes has an effective form that decodes. */
START_TEST(mutations)
{
    int folder = open_folder("scenes_good");
    size_t size;
    char *text = take_file(folder, "every_key.json", &size);
    static const char bytes[] = {'"', '{', '0', '-', ',', '\\', (char)0xFF, 0};
    for (size_t i = 0; i < size; i++) {
        pl_scene s;
        pl_faults faults = {0};
        if (i % 3 == 0 && pl_scene_decode(text, i, &s, &faults) == PL_DECODE_OK)
            pl_scene_clear(&s);
        pl_faults_clear(&faults);
        char kept = text[i];
        text[i] = bytes[i % sizeof bytes];
        if (pl_scene_decode(text, size, &s, &faults) == PL_DECODE_OK) {
            pl_scene_clear(&s);
            check_round_trip("mutation", text, size);
        } else {
            ck_assert_uint_ge(faults.total, 1);
        }
        pl_faults_clear(&faults);
        text[i] = kept;
    }
    free(text);
    close(folder);
}
END_TEST

/* ---- outline and capabilities ---- */

START_TEST(outline)
{
    int folder = open_folder("scenes_good");
    size_t size;
    pl_outline o;
    pl_faults faults = {0};
    char *text = take_file(folder, "every_key.json", &size);
    ck_assert_int_eq(pl_scene_outline(text, size, &o, &faults), PL_DECODE_OK);
    ck_assert_int_eq(o.frames, 8);
    ck_assert(fabs(o.duration - 0.37) < 1e-12 && o.memory == 1e9 && o.time_limit == 60);
    ck_assert_int_eq(o.cores, 2);
    ck_assert_str_eq(o.method, "admm");
    ck_assert(o.contact);
    ck_assert_int_eq(o.upload_count, 3); /* one named twice counts once */
    ck_assert_uint_eq(strlen(o.uploads[0].hash), 64);
    ck_assert_uint_eq(strncmp(o.uploads[0].hash, "abab", 4), 0);
    ck_assert_str_eq(o.uploads[0].pointer, "/bodies/2/mesh/upload");
    ck_assert_str_eq(o.uploads[0].format, "medit");
    ck_assert_str_eq(o.uploads[1].pointer, "/bodies/3/mesh/upload/node");
    ck_assert_str_eq(o.uploads[1].format, "tetgen_node");
    ck_assert_str_eq(o.uploads[2].format, "tetgen_ele");
    pl_outline_clear(&o);
    free(text);
    text = take_file(folder, "obstacle_files.json", &size);
    ck_assert_int_eq(pl_scene_outline(text, size, &o, &faults), PL_DECODE_OK);
    static const char *const expected[][2] = {{"/bodies/1/mesh/upload", "gmsh"},
                                              {"/obstacles/0/mesh/upload", "obj"},
                                              {"/obstacles/1/mesh/upload/node", "tetgen_node"},
                                              {"/obstacles/1/mesh/upload/ele", "tetgen_ele"}};
    ck_assert(o.contact);
    ck_assert_int_eq(o.upload_count, 4); /* a body's file and an obstacle's may be the same */
    for (int k = 0; k < 4; k++) {
        ck_assert_str_eq(o.uploads[k].pointer, expected[k][0]);
        ck_assert_str_eq(o.uploads[k].format, expected[k][1]);
    }
    pl_outline_clear(&o);
    ck_assert_int_eq(pl_scene_outline("{", 1, &o, &faults), PL_DECODE_SYNTAX);
    ck_assert_ptr_null(o.uploads);
    pl_faults_clear(&faults);
    free(text);
    close(folder);
}
END_TEST

/* Capabilities list every parameter of every table, with a default that the decoder takes. */
START_TEST(capabilities)
{
    char error[160];
    char *text = pl_capabilities_encode("[{\"kind\":\"cpu\"}]", "[{\"name\":\"npz\"}]",
                                        "{\"vertices\":5}");
    pl_json *c = pl_json_parse(text, strlen(text), error);
    ck_assert_msg(c != NULL, "%s", error);
    ck_assert_str_eq(pl_json_string(c, "methods/0", ""), "admm");
    ck_assert_str_eq(pl_json_string(c, "methods/1", ""), "quasi_newton");
    ck_assert_str_eq(pl_json_string(c, "obstacle_methods/hard/0", ""), "admm");
    ck_assert_str_eq(pl_json_string(c, "obstacle_methods/energy/0", ""), "quasi_newton");
    ck_assert_str_eq(pl_json_string(c, "obstacle_methods/hard/1", ""), "auto");
    ck_assert_ptr_null(pl_json_at(c, "obstacle_methods/hard/2"));
    ck_assert(pl_json_boolean(c, "carries/auto/hard_constraints", false));
    ck_assert_str_eq(pl_json_string(c, "carries/newton/materials/0", ""), "neo_hookean");
    ck_assert(pl_json_boolean(c, "carries/admm/hard_constraints", false));
    ck_assert(!pl_json_boolean(c, "carries/newton/hard_constraints", true));
    ck_assert(pl_json_boolean(c, "carries/newton/inextensible_edges", false));
    ck_assert(!pl_json_boolean(c, "carries/lbfgs/inextensible_edges", true));
    ck_assert(pl_json_boolean(c, "carries/lbfgs/contact", false));
    ck_assert(pl_json_boolean(c, "carries/auto/contact", false));
    ck_assert(pl_json_boolean(c, "carries/admm/contact", false));
    ck_assert(pl_json_boolean(c, "carries/projective_dynamics/contact", false));
    ck_assert_str_eq(pl_json_string(c, "materials/0", ""), "neo_hookean");
    ck_assert_str_eq(pl_json_string(c, "devices/0/kind", ""), "cpu");
    ck_assert_str_eq(pl_json_string(c, "exports/0/name", ""), "npz");
    ck_assert_int_eq(pl_json_integer(c, "limits/vertices", 0), 5);
    for (const pl_param_table *const *t = pl_param_tables(); *t; t++) {
        for (size_t i = 0; i < (*t)->count; i++) {
            const pl_param *p = &(*t)->params[i];
            const pl_json *table = pl_json_at(pl_json_at(c, "parameters"), (*t)->name);
            const pl_json *param = pl_json_at(table, p->key);
            ck_assert_ptr_nonnull(param);
            ck_assert(*pl_json_string(param, "type", "") &&
                      *pl_json_string(param, "description", ""));
            if (p->kind == PL_PARAM_NUMBER || p->kind == PL_PARAM_INTEGER) {
                double standard = pl_json_number(param, "default", p->maximum);
                ck_assert_msg(standard <= p->maximum && standard >= p->minimum, "%s.%s", (*t)->name,
                              p->key);
                ck_assert(p->minimum < p->maximum);
            }
        }
    }
    pl_json_free(c);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/scene");
    TCase *tcase = tcase_create("scene");
    tcase_add_test(tcase, bad_scenes);
    tcase_add_test(tcase, good_scenes);
    tcase_add_test(tcase, every_key_arrives);
    tcase_add_test(tcase, contact_arrives);
    tcase_add_test(tcase, contact_between_two_bodies);
    tcase_add_test(tcase, contact_follows_the_method);
    tcase_add_test(tcase, contact_is_refused_with_a_reason);
    tcase_add_test(tcase, defaults);
    tcase_add_test(tcase, defaults_follow_the_method);
    tcase_add_test(tcase, tolerance_and_iterations_follow_what_auto_is);
    tcase_add_test(tcase, steps_of_a_duration);
    tcase_add_test(tcase, messages);
    tcase_add_test(tcase, precision_follows_the_device);
    tcase_add_test(tcase, echo_is_bounded);
    tcase_add_test(tcase, bounds);
    tcase_add_test(tcase, large_heightfields_are_advised_well);
    tcase_add_test(tcase, faults_are_bounded);
    tcase_add_test(tcase, mutations);
    tcase_add_test(tcase, outline);
    tcase_add_test(tcase, capabilities);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
