/* A run that is saved and restored into a fresh model continues with the same bits as an uninterrupted one: positions,
 * velocities and every metric that is not a time. */
#include "engine/model/hash.h"
#include "engine/step/state.h"
#include "tests/support/check_metrics.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 20 };

/* Pins that turn and move, friction, an obstacle that moves and pulls, frames of three steps. */
#define MOVING_WITH(contact)                                                                       \
    "{'pliant': 1, " contact "'time': {'step': 0.01, 'steps': 59},"                                \
    " 'solver': {'iterations': 12, 'tolerance': 1e-5},"                                            \
    " 'bodies': [{'mesh': {'box': {'size': [2, 0.5, 0.5], 'cells': [8, 2, 2]}},"                   \
    "             'transform': {'translate': [0, 0.4, 0]}},"                                       \
    "            {'mesh': {'sphere': {'cells': 4}}, 'transform': {'translate': [0, 1.3, 0]}}],"    \
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"                                       \
    "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}},"                        \
    "          {'body': 'body-0', 'select': {'side': '+x'}, 'motion': {'velocity': [0, -0.2, "     \
    "0]}}],"                                                                                       \
    " 'obstacles': [{'plane': {'offset': 0.12}, 'friction': 0.4},"                                 \
    "               {'sphere': {'center': [0, -0.3, 0], 'radius': 0.5}, 'friction': 0.2,"          \
    "                'motion': {'velocity': [0.3, 0.4, 0]}}],"                                     \
    " 'attachments': [{'body': 'body-1', 'select': {'side': '+z'}, 'obstacle': 'obstacle-1',"      \
    "                  'stiffness': 200}],"                                                        \
    " 'output': {'every': 3}}"
static const char MOVING[] = MOVING_WITH("");
/* Without contact between bodies, which the first format lacked. */
static const char APART[] = MOVING_WITH("'contact': {'enabled': false}, ");

/* A block that an obstacle swings about, without touching it. */
static const char CARRIED[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20}, 'materials': {'m': {'model': 'corotated'}},"
    " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}}],"
    " 'attachments': [{'select': {'side': '+y'}, 'obstacle': 'obstacle-0', 'stiffness': 500}],"
    " 'obstacles': [{'sphere': {'center': [0, 1.5, 0]}, 'motion': {'velocity': [1, 0.2, 0],"
    "                'axis': [0, 0, 1], 'degrees_per_second': 90}}]}";

/* Every iteration recorded, a fixed number of them, no momentum. */
static const char RECORDED[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20},"
    " 'solver': {'iterations': 8, 'tolerance': 0, 'acceleration': 'none', 'relaxation': 1.5},"
    " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'transform': {'translate': [0, 0.6, 0]},"
    "             'initial': {'angular_velocity': [3, 1, 2]}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4}],"
    " 'output': {'metrics': 'iteration'}}";

/* The other method, two materials. */
static const char DESCENT[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20},"
    " 'solver': {'method': 'quasi_newton', 'iterations': 6},"
    " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'corotated', 'young': 3e5}},"
    " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'material': 'a',"
    "             'initial': {'angular_velocity': [3, 1, 2]}},"
    "            {'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'b'}],"
    " 'pins': [{'body': 'body-1', 'select': {'side': '-y'},"
    "           'motion': {'axis': [0, 1, 0], 'degrees_per_second': 180}}]}";

/* Methods that carry things from step to step: the step length and tuned phases of Chebyshev's
 * descent, the velocity before the last for the initial guess. */
static const char CARRYING[] =
    "{'pliant': 1, 'time': {'step': 0.05, 'steps': 20},"
    " 'solver': {'method': 'chebyshev_descent', 'iterations': 32, 'tune': 4, 'phases': 2,"
    "   'tolerance': 0,"
    "   'initial_guess': 'acceleration'},"
    " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}, 'initial': {'angular_velocity': [3, 1, 2],"
    "             'shape': {'stretched': [1.2, 1, 0.9]}}}],"
    " 'pins': [{'select': {'side': '-y'}, 'motion': {'axis': [0, 1, 0],"
    "           'degrees_per_second': 180}}]}";

/* A soft ball that hits hard: ADMM's weights are raised and let down. */
static const char PRESSED[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 20}, 'solver': {'iterations': 60},"
    " 'materials': {'m': {'young': 5e4, 'poisson': 0.4}},"
    " 'bodies': [{'mesh': {'sphere': {'radius': 0.4, 'cells': 4}},"
    "             'transform': {'translate': [0, 0.42, 0]}, 'initial': {'velocity': [0, -5, 0]}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.3}]}";

/* A block that falls on its edge, slides and is pulled, with an integrator that may look back or keep forces: in the
 * middle of a run with contacts, and of one in which contacts are about to begin. */
static const char INTEGRATED[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20, 'integrator': '%s'},"
    " 'solver': {'method': '%s', 'iterations': 25, 'tolerance': 1e-5},"
    " 'materials': {'m': {'young': 2e5}},"
    " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}, 'initial': {'velocity': [1, -2, 0]},"
    "             'transform': {'translate': [0, 0.85, 0], 'rotate': {'axis': [0, 0, 1],"
    "             'degrees': 30}}}],"
    " 'forces': [{'point': {'select': {'side': '+x'}, 'force': [300, 0, 0]}, 'from': 0.1}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4, 'restitution': 0.3,"
    "                'motion': {'velocity': [0.2, 0.1, 0]}}]}";

/* Ropes whose multipliers are carried from step to step, one with a weight, that fall until they are tight. */
static const char HELD[] =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20, 'integrator': '%s'},"
    " 'solver': {'method': '%s', 'iterations': 300},"
    " 'materials': {'r': {'density': 1000, 'inextensible': 'rope'}, 'm': {'young': 1e6}},"
    " 'bodies': [{'name': 'r', 'mesh': {'rope': {'segments': 9}}, 'material': 'r'},"
    "            {'name': 'b', 'mesh': {'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}},"
    "             'material': 'm', 'transform': {'translate': [0.55, 0, 0]}}],"
    " 'pins': [{'body': 'r', 'select': {'side': '-x'}}],"
    " 'attachments': [{'body': 'b', 'select': {'side': '-x'}, 'to': 'r', 'stiffness': 1e4}]}";

typedef struct whole {
    uint64_t hash[FRAMES + 1];
    pl_metrics metrics[FRAMES + 1];
    void *saved[FRAMES + 1];
    size_t size[FRAMES + 1];
} whole;

static void run_whole(const char *scene, int32_t threads, whole *out)
{
    pl_run *r = pl_run_open(threads, scene);
    for (int k = 0; k <= FRAMES; k++) {
        if (k > 0)
            pl_run_frames(r, 1);
        out->hash[k] = pl_run_hash(r);
        out->metrics[k] = pl_metrics_keep(&r->metrics, &r->scene);
        ck_assert_int_eq(pl_state_save(r->state, &out->saved[k], &out->size[k]), PL_OK);
    }
    pl_run_close(r);
}

static void free_whole(whole *w)
{
    for (int k = 0; k <= FRAMES; k++) {
        free(w->saved[k]);
        pl_metrics_drop(&w->metrics[k]);
    }
}

/* From the bytes of frame `from` to the end, in a fresh model. */
static void go_on(const char *scene, int32_t threads, const whole *w, int from)
{
    pl_run *r = pl_run_open(threads, scene);
    ck_assert_int_eq(pl_state_restore(r->state, w->saved[from], w->size[from]), PL_OK);
    ck_assert_uint_eq(pl_run_hash(r), w->hash[from]);
    for (int k = from + 1; k <= FRAMES; k++) {
        pl_run_frames(r, 1);
        ck_assert_msg(pl_run_hash(r) == w->hash[k], "frame %d of a run from frame %d", k, from);
        pl_check_metrics(&r->scene, &w->metrics[k], &r->metrics);
        void *saved;
        size_t size;
        ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
        ck_assert_uint_eq(size, w->size[k]);
        ck_assert_msg(memcmp(saved, w->saved[k], size) == 0, "saved bytes of frame %d", k);
        free(saved);
    }
    pl_run_close(r);
}

static void restarts_anywhere(const char *scene)
{
    whole w;
    run_whole(scene, 2, &w);
    const int from[] = {0, 1, 7, 13, 19};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        go_on(scene, 1 + 2 * (int)(i % 2), &w, from[i]);
    free_whole(&w);
}

START_TEST(goes_on_with_the_same_bits)
{
    restarts_anywhere(_i == 0 ? MOVING : CARRIED);
}
END_TEST

START_TEST(goes_on_with_the_same_bits_and_iterations)
{
    restarts_anywhere(RECORDED);
}
END_TEST

START_TEST(goes_on_with_the_same_bits_by_descent)
{
    restarts_anywhere(DESCENT);
}
END_TEST

START_TEST(goes_on_with_the_same_weights)
{
    restarts_anywhere(PRESSED);
}
END_TEST

START_TEST(goes_on_with_what_was_carried)
{
    restarts_anywhere(CARRYING);
}
END_TEST

/* The scene must exercise all remembered state, or the tests above prove nothing. */
START_TEST(the_moving_scene_touches_both_obstacles)
{
    pl_run *r = pl_run_open(1, MOVING);
    pl_run_frames(r, 13);
    for (int o = 0; o < 2; o++)
        ck_assert_double_ne(r->metrics.obstacles[o].newton[1], 0);
    pl_run_close(r);
}
END_TEST

/* A restored state measures as the saved one did, before any step. */
START_TEST(measures_the_same_at_once)
{
    const char *scene = _i == 0 ? MOVING : CARRIED;
    pl_run *r = pl_run_open(1, scene), *fresh = pl_run_open(2, scene);
    pl_run_frames(r, 13);
    void *saved;
    size_t size;
    ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
    ck_assert_int_eq(pl_state_restore(fresh->state, saved, size), PL_OK);
    free(saved);
    pl_state_measure(r->model, r->state, &r->metrics);
    pl_state_measure(fresh->model, fresh->state, &fresh->metrics);
    pl_check_metrics(&r->scene, &r->metrics, &fresh->metrics);
    ck_assert_int_eq(fresh->metrics.frame, 13);
    ck_assert(_i == 0 ? fresh->metrics.contacts > 0 : fresh->metrics.elastic < 1e6);
    pl_run_close(r);
    pl_run_close(fresh);
}
END_TEST

/* Bytes that are cut, lengthened or flipped anywhere are rejected, and the state stays unchanged. */
START_TEST(damaged_bytes_are_refused)
{
    pl_run *r = pl_run_open(1, APART), *fresh = pl_run_open(1, APART);
    pl_run_frames(r, 13);
    void *saved;
    size_t size;
    ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
    uint64_t hash = pl_run_hash(fresh);
    unsigned char *bytes = malloc(size + 8);
    memcpy(bytes, saved, size);
    memset(bytes + size, 0, 8);
    ck_assert_int_eq(pl_state_restore(fresh->state, bytes, size + 8), PL_INVALID);
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 1 : 97) {
        /* in memory of its own, so that a read past the end is seen by the sanitizer */
        unsigned char *part = malloc(cut + 1);
        memcpy(part, saved, cut);
        ck_assert_int_eq(pl_state_restore(fresh->state, part, cut), PL_INVALID);
        free(part);
    }
    for (size_t at = 0; at < size; at += at < 300 ? 1 : 97) {
        bytes[at] ^= (unsigned char)(1 << at % 8);
        ck_assert_msg(pl_state_restore(fresh->state, bytes, size) == PL_INVALID, "byte %zu", at);
        bytes[at] ^= (unsigned char)(1 << at % 8);
    }
    ck_assert_uint_eq(pl_run_hash(fresh), hash);
    ck_assert_int_eq(pl_state_step(fresh->state), 0);
    ck_assert_int_eq(pl_state_restore(fresh->state, bytes, size), PL_OK);
    free(bytes);
    free(saved);
    pl_run_close(r);
    pl_run_close(fresh);
}
END_TEST

/* Format 1 had no contacts of each obstacle: they are then unknown, and everything else continues. */
START_TEST(the_first_format_is_read)
{
    enum { HEADER = 40, OBSTACLES = 2 };
    pl_run *r = pl_run_open(1, APART), *fresh = pl_run_open(1, APART);
    pl_run_frames(r, 13);
    void *saved;
    size_t size;
    pl_bytes_out memory = {0};
    ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
    const pl_stepper *by = &r->state->whole;
    by->solver->ops->save(by->solver, &memory);
    unsigned char *bytes = saved;
    const size_t counts = OBSTACLES * sizeof(int64_t);
    const size_t tail = sizeof(pl_dissipated) + sizeof(int64_t) + memory.size;
    memmove(bytes + size - tail - counts, bytes + size - tail, tail);
    const uint64_t old = size - counts, first = 1;
    memcpy(bytes + 8, &first, sizeof first);
    memcpy(bytes + 24, &old, sizeof old);
    uint64_t hash = pl_hash(pl_hash(PL_HASH_START, bytes, 32), bytes + HEADER, old - HEADER);
    memcpy(bytes + 32, &hash, sizeof hash);
    ck_assert_int_eq(pl_state_restore(fresh->state, bytes, old), PL_OK);
    pl_state_measure(fresh->model, fresh->state, &fresh->metrics);
    ck_assert_int_eq(fresh->metrics.contacts, r->metrics.contacts);
    for (int k = 0; k < OBSTACLES; k++)
        ck_assert_int_eq(fresh->metrics.obstacle_contacts[k], -1);
    pl_run_frames(r, 1);
    pl_run_frames(fresh, 1);
    pl_check_metrics(&r->scene, &r->metrics, &fresh->metrics);
    free(saved);
    free(memory.data);
    pl_run_close(r);
    pl_run_close(fresh);
}
END_TEST

static const char SMALL[] =
    "{'pliant': 1, 'gravity': [0, %s, 0], 'time': {'step': %s, 'steps': 5},"
    " 'solver': {'iterations': %s},"
    " 'materials': {'m': {'young': 1e5, 'poisson': %s, 'density': %s}},"
    " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}, 'initial': {'velocity': [%s, 0, 0]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '%s'}, 'motion': {'velocity': [%s, 0, 0]}}],"
    " 'obstacles': [{'plane': {'offset': %s}, 'friction': %s}]}";

static const char *const INTEGRATORS[] = {"backward_euler",    "bdf2",    "trapezoidal",
                                          "implicit_midpoint", "tr_bdf2", "sdirk2"};

START_TEST(goes_on_with_the_same_bits_by_integrator)
{
    static const char *const METHODS[] = {"admm", "quasi_newton"};
    char scene[2048];
    snprintf(scene, sizeof scene, INTEGRATED, INTEGRATORS[_i % 6], METHODS[_i / 6]);
    whole w;
    run_whole(scene, 1, &w);
    ck_assert_int_eq(w.metrics[1].contacts, 0);
    ck_assert_int_gt(w.metrics[12].contacts, 0);
    const int from[] = {0, 1, 8, 12, 17};
    for (size_t k = 0; k < sizeof from / sizeof *from; k++)
        go_on(scene, 1 + (int32_t)k % 2, &w, from[k]);
    free_whole(&w);
}
END_TEST

START_TEST(goes_on_with_the_same_multipliers)
{
    static const char *const METHODS[] = {"auto", "newton", "quasi_newton"};
    char scene[2048];
    snprintf(scene, sizeof scene, HELD, _i < 3 ? "backward_euler" : "tr_bdf2", METHODS[_i % 3]);
    restarts_anywhere(scene);
}
END_TEST

/* Everything that affects bits is in the hash, and a state of another model is rejected. */
START_TEST(the_hash_tells_models_apart)
{
    const char *base[] = {"-9.81", "0.02", "9", "0.4", "1000", "1", "-x", "1", "-1", "0.1"};
    const char *other[] = {"-9.80", "0.021", "8", "0.41", "999", "2", "+x", "2", "-2", "0.2"};
    enum { N = sizeof base / sizeof *base };
    uint64_t first = 0;
    void *saved = NULL;
    size_t size = 0;
    for (int k = -1; k <= N; k++) { /* -1 and N: the same scene */
        const char *a[N];
        memcpy(a, base, sizeof a);
        if (k >= 0 && k < N)
            a[k] = other[k];
        pl_run *r = pl_run_openf(1, SMALL, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                 a[9]);
        uint64_t hash = pl_model_hash(r->model);
        if (k < 0) {
            first = hash;
            ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
        }
        bool same = k < 0 || k == N;
        ck_assert_msg((hash == first) == same, "value %d", k);
        ck_assert_int_eq(pl_state_restore(r->state, saved, size), same ? PL_OK : PL_INVALID);
        pl_run_close(r);
    }
    free(saved);
}
END_TEST

START_TEST(the_class_names_what_decides_bits)
{
    const char *class = pl_engine_class();
    ck_assert_ptr_nonnull(strstr(class, PLIANT_VERSION));
    ck_assert_ptr_nonnull(strstr(class, pl_engine_isa()));
    ck_assert_ptr_nonnull(strstr(class, " double "));
    /* Debian's BLAS alternative is OpenBLAS (deploy/install-deps): its core type is known. */
    ck_assert_ptr_null(strstr(class, "none"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("restart");
    TCase *t = tcase_create("restart");
    tcase_add_loop_test(t, goes_on_with_the_same_bits, 0, 2);
    tcase_add_test(t, goes_on_with_the_same_bits_and_iterations);
    tcase_add_test(t, goes_on_with_the_same_bits_by_descent);
    tcase_add_test(t, goes_on_with_what_was_carried);
    tcase_add_test(t, goes_on_with_the_same_weights);
    tcase_add_loop_test(t, goes_on_with_the_same_multipliers, 0, 6);
    tcase_add_loop_test(t, goes_on_with_the_same_bits_by_integrator, 0, 12);
    tcase_add_test(t, the_moving_scene_touches_both_obstacles);
    tcase_add_loop_test(t, measures_the_same_at_once, 0, 2);
    tcase_add_test(t, damaged_bytes_are_refused);
    tcase_add_test(t, the_first_format_is_read);
    tcase_add_test(t, the_hash_tells_models_apart);
    tcase_add_test(t, the_class_names_what_decides_bits);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
