/* Changes of a running model by controls, and that a saved model gives the same bits. */
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include "engine/model/model.h"
#include "engine/scene/motion.h"
#include "protocol/scene/control_json.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_run *open_scene(const char *method)
{
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100}, 'gravity': [0, -1, 0],"
        " 'solver': {'method': '%s', 'iterations': 60, 'tolerance': 1e-6},"
        " 'materials': {'soft': {'young': 2e4, 'poisson': 0.3}},"
        " 'bodies': [{'name': 'bar', 'material': 'soft',"
        "             'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}],"
        " 'pins': [{'name': 'wall', 'select': {'side': '-x'}},"
        "          {'name': 'hand', 'select': {'side': '+x'}, 'motion': {'velocity': [1, 0, 0]}}],"
        " 'obstacles': [{'name': 'plate', 'plane': {'normal': [0, 1, 0], 'offset': -0.7}},"
        "               {'name': 'ball', 'sphere': {'center': [0, 0.9, 0], 'radius': 0.3}}],"
        " 'attachments': [{'body': 'bar', 'select': {'side': '+y'}, 'obstacle': 'ball',"
        "                  'stiffness': 10}],"
        " 'forces': [{'name': 'wind', 'wind': {'velocity': [0, 0, 0]}},"
        "            {'name': 'push', 'point': {'select': {'side': '+y'}, 'force': [0, 0, 0]}}]}",
        method);
}

static pl_change decode(const pl_run *r, const char *json)
{
    char text[4096];
    size_t n = strlen(json);
    memcpy(text, json, n + 1);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\'')
            text[i] = '"';
    pl_change change;
    pl_faults faults = {0};
    pl_decode_outcome outcome = pl_control_decode(text, n, &r->scene, &change, &faults);
    if (outcome != PL_DECODE_OK)
        ck_abort_msg("%s: %s", faults.items[0].pointer, faults.items[0].code);
    return change;
}

static void change(pl_run *r, const char *json)
{
    pl_change c = decode(r, json);
    ck_assert_int_eq(pl_model_change(r->model, &c, pl_state_time(r->state)), PL_OK);
    pl_change_clear(&c);
}

static int64_t corner_at(const pl_run *r, const double *x0, double x)
{
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        if (x0[3 * i] == x)
            return i;
    ck_abort_msg("no vertex at x = %g", x);
}

/* A pin that moved at 1 m/s for 0.1 s starts there and then moves as told: exactly d = 0.1 e_x + (0, 2, 0) 0.05, then
 * by keyframes to a place relative to its place in the scene, as its keyframes are. */
START_TEST(pins_go_on_from_where_they_are)
{
    pl_run *r = open_scene("quasi_newton");
    size_t bytes = 3 * (size_t)pl_run_vertices(r) * sizeof(double);
    double *x0 = malloc(bytes);
    memcpy(x0, pl_run_x(r), bytes);
    int64_t hand = corner_at(r, x0, 1), wall = corner_at(r, x0, -1);
    pl_run_frames(r, 10);
    change(r, "{'pins': [{'name': 'hand', 'motion': {'velocity': [0, 2, 0]}}]}");
    pl_run_frames(r, 5);
    const double *x = pl_run_x(r);
    ck_assert_double_eq_tol(x[3 * hand] - x0[3 * hand], 0.1, 1e-12);
    ck_assert_double_eq_tol(x[3 * hand + 1] - x0[3 * hand + 1], 0.1, 1e-12);
    ck_assert_double_eq(x[3 * wall], x0[3 * wall]);
    change(r, "{'pins': [{'name': 'hand', 'motion': {'keyframes': ["
              "{'time': 0.04, 'translate': [0.2, 0.2, 0]}]}},"
              "{'name': 'wall', 'motion': {'velocity': [0, 0, 1]}}]}");
    pl_run_frames(r, 2);
    x = pl_run_x(r);
    ck_assert_double_eq_tol(x[3 * hand] - x0[3 * hand], 0.15, 1e-12);
    ck_assert_double_eq_tol(x[3 * hand + 1] - x0[3 * hand + 1], 0.15, 1e-12);
    ck_assert_double_eq_tol(x[3 * wall + 2] - x0[3 * wall + 2], 0.02, 1e-12);
    pl_run_frames(r, 10);
    x = pl_run_x(r);
    ck_assert_double_eq_tol(x[3 * hand] - x0[3 * hand], 0.2, 1e-12);
    free(x0);
    pl_run_close(r);
}
END_TEST

/* Rotations continue from rotations: a quarter turn about z at 90 degrees a second, then as much about y. A point at
 * (1, 0, 0) is at (0, 1, 0) after the first, and the second leaves it there; one at (0, 1, 0) is at (-1, 0, 0) and then
 * at (0, 0, 1). Keyframes begin at that rotation too. */
START_TEST(rotations_compose)
{
    pl_drive drive = {0};
    pl_motion motion = {
        .present = true, .axis = {0, 0, 1}, .degrees_per_second = 90, .drive = &drive};
    const pl_motion about_y = {.present = true, .axis = {0, 1, 0}, .degrees_per_second = 90};
    ck_assert_int_eq(pl_motion_take_over(&motion, &about_y, 1, &drive), PL_OK);
    const double ends[2][2][3] = {{{1, 0, 0}, {0, 1, 0}}, {{0, 1, 0}, {0, 0, 1}}};
    for (int k = 0; k < 2; k++) {
        double y[3];
        pl_pose pose = pl_motion_pose(&motion, 2);
        pl_pose_apply(&pose, ends[k][0], y);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(y[c], ends[k][1][c], 1e-14);
    }
    pl_pose before = pl_motion_pose(&motion, 1.7);
    pl_keyframe key = {.time = 1, .axis = {1, 0, 0}, .degrees = 40};
    const pl_motion keyed = {.present = true, .keyframe_count = 1, .keyframes = &key};
    ck_assert_int_eq(pl_motion_take_over(&motion, &keyed, 1.7, &drive), PL_OK);
    pl_pose after = pl_motion_pose(&motion, 1.7), end = pl_motion_pose(&motion, 3);
    for (int e = 0; e < 9; e++)
        ck_assert_double_eq_tol(after.R[e], before.R[e], 1e-14);
    ck_assert_double_eq_tol(end.R[4], cos(40 * M_PI / 180), 1e-14);
    pl_drive_clear(&drive);
}
END_TEST

/* Gravity and loads act from the next step on: a fall of h^2 g n (n + 1) / 2 from there. */
START_TEST(gravity_falls_as_told)
{
    pl_run *r = pl_run_openf(1, "{'pliant': 1, 'time': {'step': 0.01, 'steps': 20},"
                                " 'gravity': [0, 0, 0], 'solver': {'tolerance': 1e-9},"
                                " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}],"
                                " 'forces': [{'name': 'up', 'point': {'select': 'all',"
                                " 'force': [0, 0, 0]}}]}");
    double y0 = pl_run_x(r)[1];
    pl_run_frames(r, 3);
    ck_assert_double_eq_tol(pl_run_x(r)[1], y0, 1e-12);
    change(r, "{'gravity': [0, -10, 0]}");
    pl_run_frames(r, 10);
    ck_assert_double_eq_tol(pl_run_x(r)[1], y0 - 1e-4 * 10 * 55, 1e-9);
    change(r, "{'forces': [{'name': 'up', 'force': [0, 0, 500]}]}");
    pl_run_frames(r, 1);
    ck_assert_double_eq_tol(r->metrics.forces[0].newton[2], 500, 1e-9);
    pl_run_close(r);
}
END_TEST

static const char *const CHANGES[] = {
    "{'pins': [{'name': 'hand', 'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]}",
    "{'obstacles': [{'name': 'ball', 'motion': {'velocity': [0, -3, 0]}},"
    "               {'name': 'plate', 'motion': {'keyframes': [{'time': 0.1,"
    "                'translate': [0, 0.4, 0]}], 'interpolation': 'smooth'}}]}",
    "{'gravity': [0, -30, 1], 'forces': [{'name': 'wind', 'velocity': [0, 0, 20], 'drag': 2},"
    "                                    {'name': 'push', 'force': [0, -20, 0]}]}",
};
enum { CHANGES_COUNT = sizeof CHANGES / sizeof *CHANGES };
static const char *const METHODS[] = {"admm", "quasi_newton", "newton", "lbfgs"};

/* Each change affects the bits; and a fresh model with the saved changes has the same hash, and its restored state has
 * the same bits from then on. */
START_TEST(saved_changes_give_the_same_bits)
{
    pl_run *a = open_scene(METHODS[_i]);
    pl_run_frames(a, 4);
    for (int k = 0; k < CHANGES_COUNT; k++) {
        uint64_t before = pl_model_hash(a->model);
        change(a, CHANGES[k]);
        ck_assert(pl_model_hash(a->model) != before);
        pl_run_frames(a, 3);
        pl_run *without = open_scene(METHODS[_i]);
        pl_run_frames(without, 4);
        for (int j = 0; j <= k; j++) {
            if (j < k)
                change(without, CHANGES[j]);
            pl_run_frames(without, 3);
        }
        ck_assert(pl_run_hash(a) != pl_run_hash(without));
        pl_run_close(without);
    }
    void *changes, *state;
    size_t changes_size, state_size;
    ck_assert_int_eq(pl_changes_save(a->model, &a->scene, &changes, &changes_size), PL_OK);
    ck_assert_int_eq(pl_state_save(a->state, &state, &state_size), PL_OK);
    pl_run *b = open_scene(METHODS[_i]);
    ck_assert_int_eq(pl_state_restore(b->state, state, state_size), PL_INVALID);
    ck_assert_int_eq(pl_changes_restore(b->model, changes, changes_size), PL_OK);
    ck_assert(pl_model_hash(b->model) == pl_model_hash(a->model));
    ck_assert_int_eq(pl_state_restore(b->state, state, state_size), PL_OK);
    pl_run_frames(a, 8);
    pl_run_frames(b, 8);
    ck_assert(pl_run_hash(a) == pl_run_hash(b));
    for (size_t cut = 0; cut < changes_size; cut += 8)
        ck_assert_int_eq(pl_changes_restore(b->model, changes, cut), PL_INVALID);
    free(changes);
    free(state);
    pl_run_close(a);
    pl_run_close(b);
}
END_TEST

/* A change reaches a solver's copies of the model: a cube is pressed until ADMM's weights are raised, then gravity
 * rotates; the continued and the restored run agree. */
START_TEST(copies_of_the_model_follow)
{
    pl_run *r = pl_run_openf(
        1, "{'pliant': 1, 'time': {'step': 0.01, 'steps': 40}, 'gravity': [0, 0, 0],"
           " 'solver': {'method': 'admm', 'iterations': 40, 'tolerance': 1e-6},"
           " 'materials': {'soft': {'model': 'fung', 'young': 1e5, 'poisson': 0.4}},"
           " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}}],"
           " 'pins': [{'select': {'side': '-y'}}, {'select': {'side': '+y'},"
           "           'motion': {'keyframes': [{'time': 0.2, 'translate': [0, -0.45, 0]}]}}]}");
    pl_run_frames(r, 24);
    change(r, "{'gravity': [200, 0, 0]}");
    for (int k = 0; k < 4; k++) {
        void *bytes;
        size_t size;
        pl_state *again;
        pl_metrics metrics;
        ck_assert_int_eq(pl_state_save(r->state, &bytes, &size), PL_OK);
        ck_assert_int_eq(pl_state_create(r->model, 1, &again), PL_OK);
        ck_assert_int_eq(pl_state_restore(again, bytes, size), PL_OK);
        ck_assert_int_eq(pl_frame_step(r->model, again, &metrics, &r->failure, NULL, NULL), PL_OK);
        pl_run_frames(r, 1);
        ck_assert_int_eq(memcmp(pl_run_x(r), pl_state_positions(again),
                                3 * (size_t)pl_run_vertices(r) * sizeof(double)),
                         0);
        pl_state_destroy(again);
        free(bytes);
    }
    pl_run_close(r);
}
END_TEST

/* A control of a material: a new model, to which the state is carried over. Earlier changes stay. */
START_TEST(a_stiffer_bar_sags_less)
{
    pl_run *r = open_scene("admm");
    change(r, CHANGES[2]);
    pl_run_frames(r, 10);
    pl_change c = decode(r, "{'materials': [{'name': 'soft', 'young': 2e6}]}");
    ck_assert(pl_change_rebuilds(&c));
    pl_scene_change(&r->scene, &c);
    pl_change_clear(&c);
    void *changes;
    size_t size;
    ck_assert_int_eq(pl_changes_save(r->model, &r->scene, &changes, &size), PL_OK);
    pl_faults faults = {0};
    pl_model *model;
    pl_state *state;
    ck_assert_int_eq(pl_model_create(&r->scene, r->meshes, &model, &faults), PL_OK);
    ck_assert_int_eq(pl_changes_restore(model, changes, size), PL_OK);
    ck_assert_int_eq(pl_state_create(model, 1, &state), PL_OK);
    ck_assert_int_eq(pl_state_follow(state, r->state), PL_OK);
    ck_assert_int_eq(pl_state_step(state), 10);
    size_t bytes = 3 * (size_t)pl_run_vertices(r) * sizeof(double);
    ck_assert_int_eq(memcmp(pl_state_positions(state), pl_run_x(r), bytes), 0);
    ck_assert_int_eq(memcmp(pl_state_velocities(state), pl_state_velocities(r->state), bytes), 0);
    pl_metrics soft, stiff;
    pl_state_measure(r->model, r->state, &soft);
    pl_state_measure(model, state, &stiff);
    ck_assert_double_eq_tol(stiff.elastic / soft.elastic, 100, 20); /* attachments keep theirs */
    pl_scene read = r->scene;
    read.materials = calloc((size_t)read.material_count, sizeof *read.materials);
    ck_assert_int_eq(pl_changes_restore_scene(&read, changes, size), PL_OK);
    ck_assert(read.materials[0].young == 2e6 && read.materials[0].poisson == 0.3);
    free(read.materials);
    free(changes);
    pl_state_destroy(r->state);
    pl_model_destroy(r->model);
    r->state = state;
    r->model = model;
    pl_run_frames(r, 3);
    pl_run_close(r);
}
END_TEST

/* ---- contact ---- */

/* A control moves a hand, which pushes a free block: they do not cross, the block leaves with the impulse of the
 * contact, and goes on alone once the hand goes back. */
START_TEST(a_hand_pushes_another_body)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100}, 'gravity': [0, 0, 0],"
        " 'solver': {'method': '%s', 'iterations': 500, 'tolerance': 1e-4},"
        " 'materials': {'m': {'young': 1e5, 'poisson': 0.3}}, 'bodies': ["
        "  {'name': 'hand', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}}},"
        "  {'name': 'block', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}},"
        "   'transform': {'translate': [0.45, 0.03, 0.02]}}],"
        " 'pins': [{'name': 'hand', 'body': 'hand', 'select': {'side': '-x'}}]}",
        _i ? "admm" : "auto");
    touching_surface s = touching_surface_of(r);
    double impulse = 0;
    pl_run_frames(r, 5);
    ck_assert_double_eq_tol(touching_mean(r, pl_run_x(r), 1, 0), 0.45, 1e-9);
    change(r, "{'pins': [{'name': 'hand', 'motion': {'velocity': [2, 0, 0]}}]}");
    for (int k = 0; k < 40; k++) {
        if (k == 15)
            change(r, "{'pins': [{'name': 'hand', 'motion': {'velocity': [-2, 0, 0]}}]}");
        pl_run_frames(r, 1);
        impulse += 0.01 * touching_force(r, 0, 1, 0);
        ck_assert_int_eq(touching_crossings(&s, r), 0);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert(k != 14 || r->metrics.contact.pairs > 0);
    }
    ck_assert_int_eq(r->metrics.contact.pairs, 0);
    double momentum = 0;
    for (int64_t i = r->model->first_vertex[1]; i < r->model->vertices; i++)
        momentum += r->model->mass[i] * pl_state_velocities(r->state)[3 * i];
    ck_assert_double_gt(momentum, 64 * 1.0);
    ck_assert_double_eq_tol(momentum, impulse, 1e-3 * impulse);
    touching_surface_clear(&s);
    pl_run_close(r);
}
END_TEST

/* ---- damping ---- */

#define DAMPED(damping)                                                                            \
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 40}, 'gravity': [0, 0, 0],"                     \
    " 'solver': {'method': 'admm', 'iterations': 60, 'tolerance': 1e-8},"                          \
    " 'materials': {'m': {'young': 1e5, 'poisson': 0.3, " damping "},"                             \
    "   'plain': {'young': 1e5, 'poisson': 0.3}},"                                                 \
    " 'bodies': [{'material': 'm', 'mesh': {'box': {'cells': [2, 2, 2]}},"                         \
    "   'initial': {'shape': {'stretched': [1.2, 0.93, 1.05]}}}]}"

/* A model rebuilt for a control, as a session does: the saved changes of the scene are applied to a new model, and the
 * state is carried over. */
static void rebuild(pl_run *r, const char *json)
{
    pl_change c = decode(r, json);
    void *changes;
    size_t size;
    pl_faults faults = {0};
    pl_model *model;
    pl_state *state;
    ck_assert(pl_change_rebuilds(&c));
    pl_scene_change(&r->scene, &c);
    pl_change_clear(&c);
    ck_assert_int_eq(pl_changes_save(r->model, &r->scene, &changes, &size), PL_OK);
    const pl_material now = r->scene.materials[0];
    r->scene.materials[0].damping.viscosity = r->scene.materials[0].damping.mass = -1;
    r->scene.materials[0].air_damping = -1;
    ck_assert_int_eq(pl_changes_restore_scene(&r->scene, changes, size), PL_OK);
    ck_assert_mem_eq(&r->scene.materials[0], &now, sizeof now);
    ck_assert_int_eq(pl_model_create(&r->scene, r->meshes, &model, &faults), PL_OK);
    ck_assert_int_eq(pl_changes_restore(model, changes, size), PL_OK);
    ck_assert_int_eq(pl_state_create(model, 1, &state), PL_OK);
    ck_assert_int_eq(pl_state_follow(state, r->state), PL_OK);
    free(changes);
    pl_state_destroy(r->state);
    pl_model_destroy(r->model);
    r->state = state;
    r->model = model;
}

/* From the next step on the model equals that of a scene with the change: the same hash, and the same bits from the
 * same positions. Energy dissipated before still counts. */
START_TEST(damping_is_changed_while_it_runs)
{
    pl_run *r = pl_run_open(1, DAMPED("'damping': {'model': 'strain_rate', 'viscosity': 10}"));
    pl_run *told = pl_run_open(
        1, DAMPED("'damping': {'model': 'strain_rate', 'viscosity': 500, 'bulk_viscosity': 20, "
                  "'mass': 0.5}, 'air_damping': 3"));
    pl_run_frames(r, 5);
    const double before = r->metrics.dissipated;
    rebuild(r, "{'materials': [{'name': 'm', 'air_damping': 3,"
               " 'damping': {'viscosity': 500, 'bulk_viscosity': 20, 'mass': 0.5}}]}");
    void *none;
    size_t size; /* as in a model that controls have changed */
    ck_assert_int_eq(pl_changes_save(told->model, &told->scene, &none, &size), PL_OK);
    ck_assert_int_eq(pl_changes_restore(told->model, none, size), PL_OK);
    ck_assert_uint_eq(pl_model_hash(r->model), pl_model_hash(told->model));
    free(none);
    pl_state_enter(told->state, 5, pl_state_positions(r->state), pl_state_velocities(r->state));
    pl_run_frames(r, 5);
    pl_run_frames(told, 5);
    ck_assert_double_gt(r->metrics.dissipated, before);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        ck_assert_double_eq_tol(pl_run_x(r)[i], pl_run_x(told)[i], 1e-8);
    rebuild(r, "{'materials': [{'name': 'm', 'damping': {'viscosity': 0, 'bulk_viscosity': 0, "
               "'mass': 0}, 'air_damping': 0}]}");
    const double ended = r->metrics.dissipated;
    pl_run_frames(r, 3);
    ck_assert_double_eq_tol(r->metrics.dissipated, ended, 1e-12 * ended);
    pl_run_close(r);
    pl_run_close(told);
}
END_TEST

START_TEST(a_control_of_damping_is_of_what_is_there)
{
    static const struct {
        const char *control, *pointer, *code;
    } cases[] = {
        {"{\"materials\": [{\"name\": \"plain\", \"damping\": {\"beta\": 1}}]}",
         "/materials/0/damping", "conflict"},
        {"{\"materials\": [{\"name\": \"m\", \"damping\": {\"beta\": 1}}]}",
         "/materials/0/damping/beta", "conflict"},
        {"{\"materials\": [{\"name\": \"m\", \"damping\": {}}]}", "/materials/0/damping",
         "missing_key"},
        {"{\"materials\": [{\"name\": \"m\", \"damping\": {\"viscosity\": -1}}]}",
         "/materials/0/damping/viscosity", "out_of_range"},
        {"{\"materials\": [{\"name\": \"m\", \"damping\": {\"model\": \"viscous\"}}]}",
         "/materials/0/damping/model", "unknown_key"},
        {"{\"materials\": [{\"name\": \"m\"}]}", "/materials/0", "missing_key"},
    };
    pl_run *r = pl_run_open(1, DAMPED("'damping': {'model': 'strain_rate', 'viscosity': 10}"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_change c;
        pl_faults faults = {0};
        ck_assert_int_eq(
            pl_control_decode(cases[k].control, strlen(cases[k].control), &r->scene, &c, &faults),
            PL_DECODE_INVALID);
        ck_assert_str_eq(faults.items[0].pointer, cases[k].pointer);
        ck_assert_str_eq(faults.items[0].code, cases[k].code);
        pl_faults_clear(&faults);
    }
    pl_run_close(r);
}
END_TEST

/* A save from before damping was included is read as it was. */
START_TEST(saved_changes_of_the_first_format_are_read)
{
    pl_run *r = pl_run_open(1, DAMPED("'damping': {'model': 'strain_rate', 'viscosity': 10}"));
    enum { MATERIALS = 2, OLD = 8, NEW = 14, WORD = 8 };
    void *changes;
    size_t size;
    r->scene.materials[0].young = 5;
    r->scene.materials[1].young = 7;
    ck_assert_int_eq(pl_changes_save(r->model, &r->scene, &changes, &size), PL_OK);
    unsigned char *bytes = changes, *part = bytes + size - (size_t)(MATERIALS * NEW * WORD);
    memmove(part + OLD * WORD, part + NEW * WORD, OLD * WORD);
    size -= (size_t)(MATERIALS * (NEW - OLD) * WORD);
    memcpy(bytes + WORD, &(int64_t){1}, WORD);
    memcpy(bytes + 2 * WORD, &(int64_t){(int64_t)size}, WORD);
    r->scene.materials[0].young = r->scene.materials[1].young = 1;
    ck_assert_int_eq(pl_changes_restore_scene(&r->scene, bytes, size), PL_OK);
    ck_assert(r->scene.materials[0].young == 5 && r->scene.materials[1].young == 7);
    ck_assert(r->scene.materials[0].damping.viscosity == 10);
    ck_assert_int_eq(pl_changes_restore(r->model, bytes, size), PL_OK);
    memcpy(bytes + WORD, &(int64_t){3}, WORD);
    ck_assert_int_eq(pl_changes_restore_scene(&r->scene, bytes, size), PL_INVALID);
    free(changes);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("changes");
    tcase_add_test(t, pins_go_on_from_where_they_are);
    tcase_add_test(t, rotations_compose);
    tcase_add_test(t, gravity_falls_as_told);
    tcase_add_loop_test(t, saved_changes_give_the_same_bits, 0, 4);
    tcase_add_test(t, copies_of_the_model_follow);
    tcase_add_test(t, a_stiffer_bar_sags_less);
    tcase_add_loop_test(t, a_hand_pushes_another_body, 0, 2);
    tcase_add_test(t, damping_is_changed_while_it_runs);
    tcase_add_test(t, a_control_of_damping_is_of_what_is_there);
    tcase_add_test(t, saved_changes_of_the_first_format_are_read);
    return run_cases("changes", t);
}
