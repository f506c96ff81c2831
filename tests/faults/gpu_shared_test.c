/* Several sessions in one worker, on a plug-in whose only device is the host (tests/gpu/emulated_plugin.c): each has
 * the same frames, to the bit, as alone, and ends independently, by success, failure, cancel or a stale attempt;
 * SIGTERM reaches all; a fault of the device ends all, and each continues from its checkpoint. */
#include "protocol/log/log.h"
#include "tests/support/emulated_plugin.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of different sizes, methods and precisions. */
static const struct {
    const char *cells, *solver;
} SCENES[] = {
    {"[4, 2, 2]", "\"method\": \"chebyshev_descent\""},
    {"[3, 3, 2]", "\"method\": \"lbfgs\", \"precision\": \"double\""},
    {"[2, 2, 2]", "\"method\": \"chebyshev_descent\", \"precision\": \"double\""},
    {"[5, 2, 1]", "\"method\": \"lbfgs\", \"precision\": \"single\""},
};
enum { MANY = sizeof SCENES / sizeof *SCENES, STEPS = 12, LONG = 100000, CULPRIT = 2 };
#define CULPRIT_FAILS "fault 27 250" /* its vertices, and launches until then */

/* The emulated device, then CUDA's plug-in on the stand-in for its runtime. */
enum { PLUGINS = 2 };
static const char *used_plugin = plugin;

static void use_plugin(int which)
{
    used_plugin = which ? standin_plugin : plugin;
}

static void create(session_fixture *f, int which, int steps)
{
    char scene[1024];
    snprintf(
        scene, sizeof scene,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d}, \"output\": {\"precision\": "
        "\"double\"}, \"solver\": {\"device\": \"gpu\", \"iterations\": 8, \"tolerance\": 0, %s}, "
        "\"bodies\": [{\"mesh\": {\"box\": {\"size\": [2, 1, 1], \"cells\": %s}}}], \"pins\": "
        "[{\"select\": {\"side\": \"-x\"}}]}",
        steps, SCENES[which].solver, SCENES[which].cells);
    session_fixture_create(f, NULL, scene);
}

static void create_all(session_fixture *all, int steps)
{
    for (int i = 0; i < MANY; i++)
        create(&all[i], i, steps);
}

static void destroy_all(session_fixture *all)
{
    for (int i = 0; i < MANY; i++)
        session_fixture_destroy(&all[i]);
}

static pid_t start(const session_fixture *all, int count, const char *attempt)
{
    const char *arguments[4 * MANY + 10];
    int used = 0;
    for (int i = 0; i < count; i++) {
        arguments[used++] = "--session";
        arguments[used++] = all[i].path;
        arguments[used++] = "--attempt";
        arguments[used++] = attempt;
    }
    const char *const more[] = {"--threads", "1",    "--checkpoint-every", "0",
                                "--gpu",     "auto", "--gpu-plugin",       used_plugin,
                                NULL};
    memcpy(arguments + used, more, sizeof more);
    return session_fixture_spawn("pliant-worker", arguments, NULL, NULL);
}

static int run(const session_fixture *all, int count, const char *attempt)
{
    return session_fixture_wait(start(all, count, attempt));
}

static void assert_state(const session_fixture *f, const char *state)
{
    pl_exit e = session_fixture_exit(f);
    ck_assert_msg(strcmp(e.state, state) == 0, "%s, not %s: %s", e.state, state, e.failure.message);
}

/* What each computes alone. */
static void create_alone(session_fixture *alone)
{
    create_all(alone, STEPS);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(run(&alone[i], 1, "1"), 0);
}

static void hold_frames(const session_fixture *alone, const session_fixture *all)
{
    for (int i = 0; i < MANY; i++) {
        assert_state(&all[i], "succeeded");
        ck_assert_int_eq(session_fixture_frames(&all[i]), STEPS + 1);
        ck_assert_int_eq(session_compare(&alone[i], &all[i]), -1);
    }
}

START_TEST(each_has_the_frames_that_it_has_alone)
{
    session_fixture alone[MANY], all[MANY];
    const char *single = _i ? ", single on stand-in" : ", single on emulated",
               *in_double = _i ? ", double on stand-in" : ", double on emulated";
    use_plugin(_i);
    create_alone(alone);
    create_all(all, STEPS);
    ck_assert_int_eq(run(all, MANY, "1"), 0);
    hold_frames(alone, all);
    for (int i = 0; i < MANY; i++) {
        ck_assert(session_said(&all[i], "shares its worker with 3 other sessions"));
        ck_assert(session_said(&all[i], "succeeded after frame 12"));
        ck_assert(session_said(&all[i], i == 0 || i == 3 ? single : in_double));
        ck_assert(!session_said(&all[i], i == 0 || i == 3 ? in_double : single));
    }
    destroy_all(all);
    destroy_all(alone);
}
END_TEST

/* One that its device rejects, one that was cancelled before, one whose attempt is stale. */
START_TEST(each_ends_for_itself)
{
    session_fixture all[MANY];
    create(&all[0], 0, STEPS);
    session_fixture_create(
        &all[1], NULL,
        "{\"pliant\": 1, \"solver\": {\"device\": \"gpu\", \"method\": \"newton\"},"
        "\"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}]}");
    create(&all[2], 2, STEPS);
    create(&all[3], 3, STEPS);
    session_fixture_control(&all[2], "{\"action\": \"cancel\"}");
    ck_assert_int_eq(run(&all[3], 1, "1"), 0);
    ck_assert_int_eq(run(all, MANY, "1"), 5);
    assert_state(&all[0], "succeeded");
    ck_assert_int_eq(session_fixture_frames(&all[0]), STEPS + 1);
    assert_state(&all[1], "failed");
    ck_assert_int_eq(session_fixture_exit(&all[1]).failure.code, PL_FAILURE_NO_GPU);
    assert_state(&all[2], "cancelled");
    ck_assert(session_said(&all[0], "shares its worker with 2 other sessions"));
    ck_assert(!session_said(&all[3], "shares its worker"));
    destroy_all(all);
}
END_TEST

/* A cancel while all run ends one, a pause another; SIGTERM the rest. */
START_TEST(controls_are_one_s_and_signals_are_all_s)
{
    session_fixture all[MANY];
    create_all(all, LONG);
    pid_t pid = start(all, MANY, "1");
    for (int i = 0; i < MANY; i++)
        ck_assert(session_fixture_await(&all[i], 3));
    session_fixture_control(&all[0], "{\"action\": \"cancel\"}");
    session_fixture_control(&all[1], "{\"action\": \"pause\"}");
    while (!session_fixture_has(&all[0], "exit.json") || !session_fixture_has(&all[1], "exit.json"))
        usleep(10000);
    assert_state(&all[0], "cancelled");
    assert_state(&all[1], "paused");
    /* The others continue, and the two have ended, while the process lives. */
    for (int i = 2; i < MANY; i++) {
        ck_assert(session_fixture_await(&all[i], session_fixture_frames(&all[i]) + 3));
        ck_assert(!session_fixture_has(&all[i], "exit.json"));
    }
    while (pl_session_locked(all[0].directory) || pl_session_locked(all[1].directory))
        usleep(10000);
    ck_assert(pl_session_locked(all[2].directory) && pl_session_locked(all[3].directory));
    kill(pid, SIGTERM);
    ck_assert_int_eq(session_fixture_wait(pid), 0);
    assert_state(&all[2], "stopped");
    assert_state(&all[3], "stopped");
    destroy_all(all);
}
END_TEST

START_TEST(a_fault_of_the_device_ends_all_and_all_go_on)
{
    session_fixture alone[MANY], all[MANY];
    use_plugin(_i);
    create_alone(alone);
    create_all(all, STEPS);
    setenv("PLIANT_EMULATED", CULPRIT_FAILS, 1);
    setenv("PLIANT_STANDIN_FAIL", "kernel 600 launch", 1); /* of any session */
    ck_assert_int_eq(run(all, MANY, "1"), 8);
    unsetenv("PLIANT_EMULATED");
    unsetenv("PLIANT_STANDIN_FAIL");
    pl_exit culprit = session_fixture_exit(&all[CULPRIT]);
    ck_assert_str_eq(culprit.state, "device_fault");
    ck_assert(culprit.launching || _i == 1);
    ck_assert_int_eq(culprit.failure.code, PL_FAILURE_WORKER_CRASHED);
    ck_assert_ptr_nonnull(strstr(culprit.failure.message, "a test makes it fail"));
    ck_assert_int_lt(culprit.frames, STEPS);
    for (int i = 0; i < MANY; i++) {
        pl_exit e = session_fixture_exit(&all[i]);
        ck_assert_msg(strcmp(e.state, "device_fault") == 0 || strcmp(e.state, "succeeded") == 0,
                      "%s", e.state);
        ck_assert(!pl_session_locked(all[i].directory));
    }
    ck_assert_int_eq(run(&all[CULPRIT], 1, "2"), 0);
    ck_assert_int_eq(run(all, CULPRIT, "2"), 0);
    ck_assert_int_eq(run(all + CULPRIT + 1, MANY - CULPRIT - 1, "2"), 0);
    hold_frames(alone, all);
    destroy_all(all);
    destroy_all(alone);
}
END_TEST

/* A session alone in its worker is blamed for the fault. */
START_TEST(a_fault_is_no_failure_of_the_scene)
{
    session_fixture alone[MANY];
    create_alone(alone);
    session_fixture f;
    create(&f, CULPRIT, STEPS);
    setenv("PLIANT_EMULATED", CULPRIT_FAILS, 1);
    ck_assert_int_eq(run(&f, 1, "1"), 8);
    unsetenv("PLIANT_EMULATED");
    assert_state(&f, "device_fault");
    ck_assert(session_fixture_exit(&f).launching);
    ck_assert(session_said(&f, "failed: worker_crashed: the GPU failed"));
    ck_assert_int_eq(run(&f, 1, "2"), 0);
    ck_assert(session_said(&f, "continues from the checkpoint of frame"));
    ck_assert_int_eq(session_compare(&alone[CULPRIT], &f), -1);
    session_fixture_destroy(&f);
    destroy_all(alone);
}
END_TEST

START_TEST(several_are_on_a_gpu)
{
    session_fixture all[2];
    create(&all[0], 0, 1);
    create(&all[1], 1, 1);
    const char *const without[] = {"--session", all[0].path, "--attempt", "1", "--session",
                                   all[1].path, "--attempt", "1",         NULL};
    const char *const unnumbered[] = {"--session", all[0].path, "--attempt", "1", "--session",
                                      all[1].path, "--gpu",     "auto",      NULL};
    ck_assert_int_eq(
        session_fixture_wait(session_fixture_spawn("pliant-worker", without, NULL, NULL)), 2);
    ck_assert_int_eq(
        session_fixture_wait(session_fixture_spawn("pliant-worker", unnumbered, NULL, NULL)), 2);
    ck_assert(!session_fixture_has(&all[0], "exit.json"));
    session_fixture_destroy(&all[0]);
    session_fixture_destroy(&all[1]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("gpu_shared");
    tcase_set_timeout(t, 240);
    tcase_add_unchecked_fixture(t, find_plugin, NULL);
    tcase_add_loop_test(t, each_has_the_frames_that_it_has_alone, 0, PLUGINS);
    tcase_add_test(t, each_ends_for_itself);
    tcase_add_test(t, controls_are_one_s_and_signals_are_all_s);
    tcase_add_loop_test(t, a_fault_of_the_device_ends_all_and_all_go_on, 0, PLUGINS);
    tcase_add_test(t, a_fault_is_no_failure_of_the_scene);
    tcase_add_test(t, several_are_on_a_gpu);
    return run_cases("gpu_shared", t);
}
