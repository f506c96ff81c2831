/* Memory that runs out anywhere in the engine is a status: from the check of a scene to a step, with the
 * n-th allocation failing, or all from the n-th on, for every n. Nothing crashes and nothing is lost. The
 * engine's allocations come through here by the linker (--wrap in the Makefile); CHOLMOD's own do not. */
#include "engine/model/hash.h"
#include "protocol/scene/scene_json.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"
#include "tests/unit/failing_memory.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every kind of element, force, pin and obstacle; %s: the solver, and the parts of the sheet's material that the method
 * supports. */
#define SOLID                                                                                      \
    "{'vertices': [-1, -2, -1, 1, -2, -1, 0, -2, 1, 0, -1.2, 0],"                                  \
    " 'triangles': [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]}"
static const char SCENE[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 2%s}, 'output': {'metrics': 'iteration'},"
    " 'solver': {'iterations': 2, %s},"
    " 'materials': {'a': {%s}, 'b': {%s}, 'c': {'bending': {}%s}},"
    " 'bodies': [{'name': 'a', 'mesh': {'box': {'cells': [1, 1, 1]}}, 'material': 'a',"
    "   'initial': {'shape': {'stretched': [1, 0.7, 1]}}}," /* ADMM's weights are raised */
    "  {'name': 'b', 'mesh': {'cloth': {'cells': [2, 2]}}, 'material': 'b'},"
    "  {'name': 'c', 'mesh': {'rope': {'segments': 3}}, 'material': 'c'}],"
    " 'pins': [{'body': 'a', 'select': {'side': '-x'}, 'motion': {'keyframes': ["
    "   {'time': 0}, {'time': 1, 'translate': [0, 0.1, 0]}]}},"
    "  {'body': 'b', 'select': {'indices': [0, 2, 6]}, 'axes': ['x', 'y', 'z']},"
    "  {'body': 'b', 'select': {'indices': [8]}, 'axes': ['x']},"
    "  {'body': 'c', 'select': {'indices': [0]}}],"
    " 'attachments': [{'body': 'c', 'select': {'indices': [3]}, 'to': 'b'},"
    "  {'body': 'b', 'select': {'indices': [4]}, 'point': [0, 0, 1]}%s],"
    " 'forces': [{'wind': {'velocity': [1, 2, 3]}},"
    "  {'point': {'body': 'a', 'select': 'all', 'force': [0, 1, 0]}},"
    "  {'pressure': {'body': 'a', 'pressure': 10}}]%s}";
#define OBSTACLES                                                                                  \
    ", 'obstacles': [{'name': 'solid', 'mesh': " SOLID                                             \
    ", 'motion': {'axis': [0, 1, 0], 'degrees_per_second': 9}},"                                   \
    " {'heightfield': {'center': [0, -3, 0], 'heights': [[0, 0], [0, 0]]}}]"
#define ATTACHED ", {'body': 'a', 'select': {'indices': [1]}, 'obstacle': 'solid'}"

typedef struct parts {
    const char *time, *solver, *solid, *sheet, *rope, *attachment, *obstacles;
} parts;

#define NEO  "'fibers': {'stiffness': 1e4, 'direction': [1, 0, 0]}"
#define BEND "'bending': {'model': 'hinge'}"
static const parts SCENES[] = {
    {"", "'method': 'admm'", NEO ", 'strain_limit': {'high': 1.1}",
     "'bending': {}, 'strain_limit': {'by': 'columns', 'high': 1.2}", ", 'inextensible': 'rope'",
     ATTACHED, OBSTACLES},
    {"", "'method': 'admm', 'acceleration': 'nesterov'", "'model': 'spline', 'invertible': true",
     "'model': 'spline', 'splines': 'B'", "", "", ""},
    {", 'integrator': 'quasi_static'", "'method': 'newton'", NEO, BEND, "", "", ""},
    {"", "'method': 'newton', 'linear': 'pcg'", "'model': 'stvk', 'invertible': true", BEND, "",
     ATTACHED, OBSTACLES},
    {"", "'method': 'quasi_newton'", "'model': 'arap'", BEND, "", ATTACHED, OBSTACLES},
    {"", "'method': 'admm', 'matrix': 'multigrid'", NEO, "'bending': {}", "", ATTACHED, OBSTACLES},
    {"", "'method': 'lbfgs'", NEO, "'model': 'spline'", "", "", OBSTACLES},
    {"", "'method': 'chebyshev_descent', 'tune': 1, 'phases': 2", NEO, BEND, "", "", ""},
    {"", "'method': 'barzilai_borwein'", NEO, "'bending': {}", "", "", ""},
    {"", "'method': 'vertex_block_descent'",
     NEO ", 'invertible': true, 'damping': {'viscosity': 1}", BEND, "", ATTACHED, OBSTACLES},
    {"", "'method': 'auto'", NEO, "'bending': {}", "", "", ""},
    {"", "'method': 'auto'", NEO, "'bending': {}", ", 'inextensible': 'rope'", "", ""},
    {"", "'method': 'nonlinear_cg'", NEO, "'bending': {}", "", "", ""},
    {"", "'method': 'chebyshev_semi_iterative'", NEO, "'bending': {}", "", "", ""},
    {"", "'method': 'projective_dynamics'", "'model': 'arap'", "'model': 'arap', 'bending': {}", "",
     "", ""},
};
enum { COUNT = sizeof SCENES / sizeof *SCENES };

/* Two blocks and a rope that meet in the first step and pass into each other in a solve that knows of no
 * contact; %s: the solver. */
static const char TOUCHING[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 2}, 'solver': {'iterations': 50, %s},"
    " 'contact': {'restitution': 0.5},"
    " 'materials': {'m': {'model': 'arap'}, 'r': {'bending': {}}},"
    " 'output': {'fields': ['position', 'contacts']},"
    " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}, 'material': 'm'},"
    "  {'mesh': {'box': {'cells': [1, 1, 1]}}, 'material': 'm',"
    "   'transform': {'translate': [0.1, 1.03, 0.2]}, 'initial': {'velocity': [0, -8, 0]}},"
    "  {'mesh': {'rope': {'segments': 3}}, 'material': 'r',"
    "   'transform': {'translate': [0, 0.6, 0.9]}, 'initial': {'velocity': [0, 0, -30]}}]}";
static const char *const TOUCHING_BY[] = {"'method': 'newton'", "'method': 'quasi_newton'",
                                          "'method': 'admm'", "'method': 'projective_dynamics'"};
enum { TOUCHING_COUNT = sizeof TOUCHING_BY / sizeof *TOUCHING_BY };

static pl_scene decoded_text(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    pl_scene scene;
    pl_faults faults = {0};
    int status = pl_scene_decode(text, strlen(text), &scene, &faults);
    if (status != PL_DECODE_OK)
        ck_abort_msg("%s: %s, not %s", faults.items[0].pointer, faults.items[0].got,
                     faults.items[0].expected);
    return scene;
}

static pl_scene decoded(const parts *p)
{
    char text[4096];
    snprintf(text, sizeof text, SCENE, p->time, p->solver, p->solid, p->sheet, p->rope,
             p->attachment, p->obstacles);
    return decoded_text(text);
}

/* A scene's way through the engine, up to the first failure, which may be a step; *hash is that of the result, 0 if a
 * step was done in halves. */
static int64_t touched; /* pairs that carried force, summed over its steps */

static pl_status go(const pl_scene *scene, uint64_t *hash)
{
    enum { BODIES = 3 };
    pl_mesh meshes[BODIES] = {{0}};
    pl_model *model = NULL;
    pl_state *state = NULL, *other = NULL;
    pl_faults faults = {0};
    pl_estimate estimate;
    pl_status status = PL_OK;
    void *bytes = NULL;
    touched = 0;
    size_t size = 0;
    int64_t halved = 0;
    for (int32_t b = 0; status == PL_OK && b < BODIES; b++)
        status = pl_body_load(scene, b, NULL, &(pl_mesh_limits){100, 100}, &meshes[b], &faults);
    if (status == PL_OK)
        status = pl_scene_check(scene, meshes, &estimate, NULL, &faults);
    if (status == PL_OK)
        status = pl_model_create(scene, meshes, &model, &faults);
    if (status == PL_OK)
        status = pl_state_create(model, 1, &state);
    for (int k = 0; status == PL_OK && k < 2; k++) {
        pl_metrics metrics;
        pl_failure failure;
        status = pl_frame_step(model, state, &metrics, &failure, NULL, NULL);
        halved += status == PL_OK ? metrics.halved : 0;
        touched += status == PL_OK && metrics.contact.on ? metrics.contact.pairs : 0;
        if (status == PL_FAILED && failure.code == PL_FAILURE_OUT_OF_MEMORY)
            status = PL_NO_MEMORY;
    }
    if (status == PL_OK)
        status = pl_state_save(state, &bytes, &size);
    if (status == PL_OK)
        status = pl_state_create(model, 1, &other);
    if (status == PL_OK)
        status = pl_state_restore(other, bytes, size);
    *hash = 0;
    if (status == PL_OK && halved == 0)
        *hash = pl_hash(PL_HASH_START, pl_state_positions(other),
                        3 * (size_t)pl_model_vertex_count(model) * sizeof(double));
    if (status == PL_INVALID)
        ck_assert_msg(faults.total > 0, "invalid, and no word of why");
    for (size_t i = 0; i < faults.count; i++)
        ck_abort_msg("%s: %s, not %s", faults.items[i].pointer, faults.items[i].got,
                     faults.items[i].expected);
    free(bytes);
    pl_state_destroy(other);
    pl_state_destroy(state);
    pl_model_destroy(model);
    for (int32_t b = 0; b < BODIES; b++)
        pl_mesh_clear(&meshes[b]);
    pl_faults_clear(&faults);
    return status;
}

static void fail_each(pl_scene *scene)
{
    uint64_t right, hash;
    ck_assert_int_eq(go(scene, &right), PL_OK); /* one-time allocations happen here */
    calls = 0;
    pl_status whole = go(scene, &hash);
    const long total = calls;
    ck_assert_int_eq(whole, PL_OK);
    ck_assert_int_gt(total, 100);
    for (int on = 0; on < 2; on++)
        for (long n = 0; n < total; n++) {
            long before = live;
            calls = 0;
            first = n;
            last = on ? LONG_MAX : n;
            pl_status status = go(scene, &hash);
            first = last = LONG_MAX;
            ck_assert_msg(live == before, "allocation %ld of %ld: %ld blocks are lost", n, total,
                          live - before);
            ck_assert_msg(status == PL_NO_MEMORY || (!on && status == PL_OK),
                          "allocation %ld of %ld: status %d", n, total, (int)status);
            ck_assert_msg(hash == 0 || hash == right, "allocation %ld of %ld: other positions", n,
                          total);
        }
    pl_scene_clear(scene);
}

START_TEST(memory_may_run_out_anywhere)
{
    pl_scene scene = decoded(&SCENES[_i]);
    fail_each(&scene);
}
END_TEST

START_TEST(memory_may_run_out_where_bodies_touch)
{
    char text[2048];
    uint64_t hash;
    snprintf(text, sizeof text, TOUCHING, TOUCHING_BY[_i]);
    pl_scene scene = decoded_text(text);
    ck_assert_int_eq(go(&scene, &hash), PL_OK);
    ck_assert_int_gt(touched, 0);
    fail_each(&scene);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory");
    tcase_add_loop_test(t, memory_may_run_out_anywhere, 0, COUNT);
    tcase_add_loop_test(t, memory_may_run_out_where_bodies_touch, 0, TOUCHING_COUNT);
    return run_cases("engine_memory", t);
}
