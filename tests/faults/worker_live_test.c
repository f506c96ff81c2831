/* Controls of a running session: each takes effect once, in order, whatever happens to the worker; and a recording
 * gives the same bits when recomputed.
 */
#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A bar with a pin at its top that can be moved, a floor, wind, and a material that can be softened. */
static void create(session_fixture *f, int64_t steps, const char *more)
{
    char *text;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
                 " \"solver\": {\"iterations\": 10},"
                 " \"materials\": {\"soft\": {\"young\": 1e5, \"poisson\": 0.3,"
                 " \"damping\": {\"model\": \"viscous\", \"viscosity\": 5}}},"
                 " \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"box\": {\"size\": [1, 0.2, 0.2],"
                 " \"cells\": [10, 2, 2]}}}],"
                 " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}],"
                 " \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0],"
                 " \"offset\": -0.5}}],"
                 " \"forces\": [{\"name\": \"wind\", \"wind\": {\"velocity\": [0, 0, 0]}}]%s}",
                 (long long)steps, more),
        0);
    session_fixture_create(f, SESSION_IN_MEMORY, text);
    free(text);
}

static const char *const CONTROLS[] = {
    "{\"gravity\": [1, -5, 0]}",
    "{\"pins\": [{\"name\": \"hand\", \"motion\": {\"velocity\": [0, -1, 0.5]}}]}",
    "{\"forces\": [{\"name\": \"wind\", \"velocity\": [3, 0, 20]}]}",
    "{\"materials\": [{\"name\": \"soft\", \"young\": 4e4}]}",
    "{\"obstacles\": [{\"name\": \"floor\", \"motion\": {\"keyframes\": [{\"time\": 0.1,"
    " \"translate\": [0, 0.1, 0], \"rotate\": {\"axis\": [1, 0, 0], \"degrees\": 10}}]}}],"
    " \"pins\": [{\"name\": \"hand\", \"motion\": {\"axis\": [1, 0, 0],"
    " \"degrees_per_second\": 45}}]}",
    "{\"gravity\": [0, -9.81, 0], \"materials\": [{\"name\": \"soft\", \"poisson\": 0.4}]}",
    "{\"materials\": [{\"name\": \"soft\", \"damping\": {\"viscosity\": 80, \"mass\": 2},"
    " \"air_damping\": 4}]}",
};
enum { CONTROLS_COUNT = sizeof CONTROLS / sizeof *CONTROLS };

static void control(const session_fixture *f, int64_t number, const char *change)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"action\": \"control\", \"id\": %lld, \"control\": %s}",
             (long long)number, change);
    session_fixture_control(f, text);
}

/* ---- notes in the log ---- */

typedef struct notes {
    int64_t next; /* number of the control that must come */
    int64_t frame, frames[64];
} notes;

static bool note(void *context, const char *payload, uint64_t length)
{
    notes *n = context;
    pl_json *event = pl_json_parse(payload, (size_t)length, NULL);
    if (strcmp(pl_json_string(event, "event", ""), "applied") == 0) {
        ck_assert_int_eq(pl_json_integer(event, "control", -1), n->next);
        ck_assert_int_eq(pl_json_integer(event, "frame", -1), n->frame);
        n->frames[n->next++] = n->frame;
    }
    pl_json_free(event);
    return true;
}

/* How many controls were applied: each once, in order; and every frame's metrics name the last. */
static notes applied(const session_fixture *f)
{
    notes n = {.next = 1};
    pl_log_reader *reader;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    int64_t frames = pl_log_reader_refresh(reader);
    for (n.frame = 0; n.frame < frames; n.frame++) {
        char *text;
        uint64_t length;
        ck_assert_int_eq(pl_log_notes(reader, n.frame, note, &n), PL_LOG_OK);
        ck_assert_int_eq(pl_log_read(reader, n.frame, PL_LOG_METRICS, &text, &length), PL_LOG_OK);
        pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
        ck_assert_int_eq(pl_json_integer(metrics, "control", 0), n.next - 1);
        pl_json_free(metrics);
        free(text);
    }
    pl_log_reader_close(reader);
    return n;
}

/* The status of a replay, and its report. */
static int replay(const session_fixture *f, char report[512])
{
    FILE *out = tmpfile();
    const char *const arguments[] = {"--session", f->path, "--replay", NULL};
    ck_assert_ptr_nonnull(out);
    int status = session_fixture_wait(session_fixture_spawn("pliant-worker", arguments, NULL, out));
    rewind(out);
    size_t n = fread(report, 1, 511, out);
    report[n] = 0;
    fclose(out);
    return status;
}

static void check_replay(const session_fixture *f, int64_t frames, int64_t controls)
{
    char report[512];
    int status = replay(f, report);
    ck_assert_msg(status == 0, "status %d: %s", status, report);
    pl_json *r = pl_json_parse(report, strlen(report), NULL);
    ck_assert_int_eq(pl_json_integer(r, "compared", -1), frames);
    ck_assert_int_eq(pl_json_integer(r, "skipped", -1), 0);
    ck_assert_int_eq(pl_json_integer(r, "controls", -1), controls);
    pl_json_free(r);
}

/* ---- tests ---- */

/* Controls that are there before the start are in effect from frame 1 on; later ones from the frame on
 * that comes next. */
START_TEST(in_effect_at_the_next_frame)
{
    session_fixture f;
    char last[64];
    create(&f, 1000000, "");
    control(&f, 1, CONTROLS[0]);
    pid_t pid = session_fixture_start(&f, 1);
    for (int64_t k = 1; k < CONTROLS_COUNT; k++) {
        ck_assert(session_fixture_await(&f, 100 * k));
        control(&f, k + 1, CONTROLS[k]);
    }
    int64_t frames = session_fixture_frames(&f) + 500;
    snprintf(last, sizeof last, "{\"action\": \"step\", \"until\": %lld}", (long long)frames - 1);
    session_fixture_control(&f, last);
    ck_assert_int_eq(session_fixture_wait(pid), 7);
    notes n = applied(&f);
    ck_assert_int_eq(n.next, CONTROLS_COUNT + 1);
    ck_assert_int_eq(n.frames[1], 1);
    for (int64_t k = 1; k < CONTROLS_COUNT; k++)
        ck_assert_int_gt(n.frames[k + 1], 100 * k - 1);
    check_replay(&f, session_fixture_frames(&f), CONTROLS_COUNT);
    session_fixture_destroy(&f);
}
END_TEST

/* A worker killed at random moments while controls arrive: no control is lost, none is applied twice, and the frames
 * equal those of one run with the controls at the same frames. */
START_TEST(killed_while_controls_come)
{
    session_fixture f;
    create(&f, 1000, ", \"output\": {\"every\": 2}");
    srand((unsigned)time(NULL));
    int64_t number = 0;
    int attempt = 1;
    for (; attempt <= 8; attempt++) {
        pid_t pid = session_fixture_start_often(&f, attempt);
        for (int i = 0; i < 3; i++) {
            nanosleep(&(struct timespec){.tv_nsec = rand() % 15000000}, NULL);
            number++;
            control(&f, number, CONTROLS[number % CONTROLS_COUNT]);
        }
        nanosleep(&(struct timespec){.tv_nsec = rand() % 30000000}, NULL);
        kill(pid, SIGKILL);
        int status = session_fixture_wait(pid);
        ck_assert(status == 128 + SIGKILL || status == 0);
    }
    ck_assert_int_eq(session_fixture_run(&f, attempt), 0);
    ck_assert_int_eq(session_fixture_frames(&f), 501);
    int64_t took = applied(&f).next - 1;
    ck_assert_int_le(took, number);
    check_replay(&f, 501, took);
    ck_assert(session_compare_once(&f));
    session_fixture_destroy(&f);
}
END_TEST

/* Paused, controlled and resumed; and a checkpoint that is lost: from frame 0 by the notes alone. */
START_TEST(paused_and_without_checkpoints)
{
    session_fixture f;
    char last[64];
    create(&f, 1000000, "");
    pid_t pid = session_fixture_start(&f, 1);
    ck_assert(session_fixture_await(&f, 50));
    for (int64_t k = 1; k <= 4; k++)
        control(&f, k, CONTROLS[k - 1]);
    ck_assert(session_fixture_await(&f, 200));
    session_fixture_control(&f, "{\"action\": \"pause\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 7);
    control(&f, 5, CONTROLS[4]);
    session_fixture_control(&f, "{\"action\": \"resume\"}");
    pid = session_fixture_start(&f, 2);
    ck_assert(session_fixture_await(&f, session_fixture_frames(&f) + 20));
    kill(pid, SIGKILL);
    session_fixture_wait(pid);
    unlinkat(f.directory, "checkpoint-A.bin", 0);
    unlinkat(f.directory, "checkpoint-B.bin", 0);
    int64_t frames = session_fixture_frames(&f) + 100;
    snprintf(last, sizeof last, "{\"action\": \"step\", \"until\": %lld}", (long long)frames - 1);
    session_fixture_control(&f, last);
    ck_assert_int_eq(session_fixture_run(&f, 3), 7);
    ck_assert(session_said(&f, "computed again from frame 0"));
    ck_assert_int_eq(applied(&f).next, 6);
    check_replay(&f, frames, 5);
    session_fixture_destroy(&f);
}
END_TEST

/* A step goes so far and pauses; a resume takes it back. */
START_TEST(steps)
{
    session_fixture f;
    create(&f, 300, "");
    session_fixture_control(&f, "{\"action\": \"step\", \"until\": 3}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 7);
    ck_assert_int_eq(session_fixture_frames(&f), 4);
    session_fixture_control(&f, "{\"action\": \"step\", \"until\": 4}");
    ck_assert_int_eq(session_fixture_run(&f, 2), 7);
    ck_assert_int_eq(session_fixture_frames(&f), 5);
    session_fixture_control(&f, "{\"action\": \"resume\"}");
    ck_assert_int_eq(session_fixture_run(&f, 3), 0);
    ck_assert_str_eq(session_fixture_exit(&f).state, "succeeded");
    check_replay(&f, 301, 0);
    session_fixture_destroy(&f);
}
END_TEST

static double metric(const session_fixture *f, int64_t frame, const char *path)
{
    pl_log_reader *reader;
    char *text;
    uint64_t length;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    pl_log_reader_refresh(reader);
    ck_assert_int_eq(pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length), PL_LOG_OK);
    pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
    double value = pl_json_number(metrics, path, -1e300);
    pl_json_free(metrics);
    free(text);
    pl_log_reader_close(reader);
    return value;
}

/* Probes match the metrics and the positions; a pin moved away at 1 m/s is where it reports. */
#define PROBES                                                                                     \
    ", \"output\": {\"probes\": ["                                                                 \
    "{\"name\": \"hand\", \"quantity\": \"displacement\", \"select\": {\"side\": \"-x\"},"         \
    " \"component\": \"y\"},"                                                                      \
    "{\"name\": \"holds\", \"quantity\": \"reaction\", \"pin\": \"hand\", \"component\": \"y\"},"  \
    "{\"name\": \"touches\", \"quantity\": \"reaction\", \"obstacle\": \"floor\"},"                \
    "{\"quantity\": \"kinetic\"},"                                                                 \
    "{\"name\": \"lowest\", \"quantity\": \"position\", \"component\": \"y\","                     \
    " \"statistic\": \"min\"}]}"
START_TEST(probes)
{
    session_fixture f;
    create(&f, 100, PROBES);
    control(&f, 1, "{\"pins\": [{\"name\": \"hand\", \"motion\": {\"velocity\": [0, -1, 0]}}]}");
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    ck_assert(metric(&f, 0, "probes/hand") == 0);
    for (int64_t k = 1; k <= 100; k += 33) {
        ck_assert_double_eq_tol(metric(&f, k, "probes/hand"), -0.01 * (double)k, 1e-12);
        ck_assert(metric(&f, k, "probes/probe-3") == metric(&f, k, "energy/kinetic"));
        ck_assert(metric(&f, k, "probes/holds") == metric(&f, k, "reactions/pins/hand/1"));
        ck_assert_double_lt(metric(&f, k, "probes/lowest"), -0.1);
    }
    ck_assert_double_gt(metric(&f, 100, "probes/touches"), 0);
    check_replay(&f, 101, 1);
    session_fixture_destroy(&f);
}
END_TEST

/* In real time nothing is ahead of the clock: 20 frames of 20 ms take at least 0.4 s. Without an end it runs until told
 * to stop, accepts controls meanwhile, and is the same when recomputed. */
START_TEST(real_time)
{
    session_fixture f;
    session_fixture_create(&f, SESSION_IN_MEMORY,
                           "{\"pliant\": 1, \"time\": {\"step\": 0.02, \"pace\": \"realtime\"},"
                           " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}],"
                           " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}]}");
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    double begin = session_fixture_clock();
    pid_t pid = session_fixture_start(&f, 1);
    ck_assert(session_fixture_await(&f, 21));
    ck_assert_double_ge(session_fixture_clock() - begin, 0.4);
    control(&f, 1, CONTROLS[1]);
    ck_assert(session_fixture_await(&f, 70)); /* the rate is of a second */
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 4);
    int64_t frames = session_fixture_frames(&f);
    double rate = metric(&f, frames - 1, "realtime");
    ck_assert(rate > 0 && rate < 1.1);
    ck_assert_double_ge(metric(&f, frames - 1, "ms/behind"), 0);
    check_replay(&f, frames, 1);
    session_fixture_destroy(&f);
}
END_TEST

/* Models are built while waiting for the clock; the result equals what a replay builds at the frame. A control that is
 * queued when the worker is told to pause takes effect when it resumes. */
START_TEST(models_made_ahead)
{
    session_fixture f;
    session_fixture_create(&f, SESSION_IN_MEMORY,
                           "{\"pliant\": 1, \"time\": {\"step\": 0.1, \"pace\": \"realtime\"},"
                           " \"materials\": {\"soft\": {\"young\": 1e5}},"
                           " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [3, 1, 1]}}}],"
                           " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}]}");
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    pid_t pid = session_fixture_start(&f, 1);
    ck_assert(session_fixture_await(&f, 2));
    const char *const changes[] = {CONTROLS[0], CONTROLS[3],
                                   "{\"materials\": [{\"name\": \"soft\", \"young\": 2e5}]}",
                                   CONTROLS[1], CONTROLS[5]};
    int64_t number = 0;
    const int rounds[] = {0, 2, 3, 5}; /* one change of a material at a time, then two */
    for (int round = 0; round < 4; round++) {
        int begin = round < 3 ? rounds[round] : 1, end = round < 3 ? rounds[round + 1] : 5;
        for (int i = begin; i < end; i++)
            control(&f, ++number, changes[i]);
        ck_assert(session_fixture_await(&f, session_fixture_frames(&f) + 3));
    }
    control(&f, ++number, changes[2]);
    session_fixture_control(&f, "{\"action\": \"pause\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 7);
    session_fixture_control(&f, "{\"action\": \"resume\"}");
    pid = session_fixture_start(&f, 2);
    ck_assert(session_fixture_await(&f, session_fixture_frames(&f) + 3));
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    ck_assert_int_eq(session_fixture_wait(pid), 4);
    ck_assert(session_said(&f, "models for controls were built ahead"));
    ck_assert_int_eq(applied(&f).next - 1, number);
    check_replay(&f, session_fixture_frames(&f), (int)number);
    session_fixture_destroy(&f);
}
END_TEST

/* A replay sees a frame that is another than what its controls lead to, and changes no byte. */
START_TEST(replay_sees_a_difference)
{
    session_fixture f;
    char report[512];
    create(&f, 60, "");
    control(&f, 1, CONTROLS[1]);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    uint32_t before = session_fixture_fingerprint(&f);
    check_replay(&f, 61, 1);
    ck_assert_uint_eq(session_fixture_fingerprint(&f), before);
    session_tamper(&f, 40, PL_LOG_FRAME, 100, 0x55, true);
    ck_assert_int_eq(replay(&f, report), 3);
    ck_assert_ptr_nonnull(strstr(report, "\"frame\":40"));
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("live");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, in_effect_at_the_next_frame);
    tcase_add_test(t, killed_while_controls_come);
    tcase_add_test(t, paused_and_without_checkpoints);
    tcase_add_test(t, steps);
    tcase_add_test(t, probes);
    tcase_add_test(t, real_time);
    tcase_add_test(t, models_made_ahead);
    tcase_add_test(t, replay_sees_a_difference);
    return run_cases("live", t);
}
