/* kill -9 of a worker, of the daemon, of both, and of a daemon that has only just answered, at random
 * moments over several sessions: no accepted session is lost, no committed frame is lost or doubled,
 * and results are those of an undisturbed run, bit for bit. 20 sessions, or 200 with PLIANT_LONG=1.
 */
#include "protocol/log/checkpoint.h"
#include "protocol/log/metrics_json.h"
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 60, SLOTS = 5, KINDS = 2, ACCEPTED_MAX = 256, KILLS_MAX = 3 };

static void start(void)
{
    static const char *const options[] = {"--cores", "2", "--checkpoint-every", "1", NULL};
    daemon_fixture_start(d, options);
}

/* ---- an undisturbed run and whatever is compared with it ---- */

/* Some 5 ms a frame; by both methods, whose histories differ. */
static char *scene_of(int kind)
{
    char *text = session_scene(FRAMES * 25, 25, ""), *other = NULL;
    const char *solver = "\"solver\": {";
    char *at = strstr(text, solver) + strlen(solver);
    int n = asprintf(&other, "%.*s\"method\": \"%s\", %s", (int)(at - text), text,
                     kind ? "quasi_newton" : "admm", at);
    ck_assert_int_gt(n, 0);
    free(text);
    return other;
}

typedef struct results {
    uint32_t frames[FRAMES + 1]; /* CRC of each payload */
    char *metrics[FRAMES + 1];
} results;

static void read_frames(const char *id, results *out)
{
    char target[96], *payload;
    pl_record record;
    int64_t next = 0;
    bool ended = false;
    snprintf(target, sizeof target, "/v1/sessions/%s/frames", id);
    http_stream s = http_stream_open(d, target, NULL);
    while (http_stream_record(&s, &record, &payload)) {
        ck_assert(!ended);
        ck_assert_int_ne(record.type, PL_RECORD_GAP);
        if (record.type == PL_RECORD_FRAME) {
            ck_assert_int_eq((int64_t)record.frame, next);
            ck_assert_int_le(next, FRAMES);
            out->frames[next++] = record.payload_crc;
        }
        ended = record.type == PL_RECORD_END;
        free(payload);
    }
    http_stream_close(&s);
    ck_assert_int_eq(next, FRAMES + 1);
}

static void read_metrics(const char *id, results *out)
{
    char target[96];
    int64_t next = 0;
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics", id);
    http_stream s = http_stream_open(d, target, NULL);
    for (char *line; (line = http_stream_line(&s));) {
        json_t *value = json_loads(line, 0, NULL);
        bool event = json_object_get(value, "event") != NULL;
        if (!event) {
            ck_assert_int_eq(json_count(value, "frame"), next);
            ck_assert_int_le(next, FRAMES);
            out->metrics[next++] = line;
        } else {
            free(line);
        }
        json_decref(value);
    }
    http_stream_close(&s);
    ck_assert_int_eq(next, FRAMES + 1);
}

static void read_results(const char *id, results *out)
{
    read_frames(id, out);
    read_metrics(id, out);
}

static void clear_results(results *r)
{
    for (int k = 0; k <= FRAMES; k++)
        free(r->metrics[k]);
    memset(r, 0, sizeof *r);
}

static void expect_same(const char *id, const results *wanted)
{
    static results got;
    read_results(id, &got);
    for (int k = 0; k <= FRAMES; k++) {
        ck_assert_msg(got.frames[k] == wanted->frames[k], "frame %d of session %s differs", k, id);
        ck_assert_msg(pl_metrics_same(got.metrics[k], strlen(got.metrics[k]), wanted->metrics[k],
                                      strlen(wanted->metrics[k])),
                      "metrics of frame %d of session %s differ:\n%s\n%s", k, id, got.metrics[k],
                      wanted->metrics[k]);
    }
    clear_results(&got);
}

/* ---- the sessions ---- */

typedef struct accepted {
    char id[33];
    int kind;
    int64_t checkpoint; /* frame of the newest at the last kill */
    int kills;          /* since then: a fourth would end it, as it should */
    bool over;
} accepted;

static accepted sessions[ACCEPTED_MAX];
static int session_count;

static accepted *post(void)
{
    ck_assert_int_lt(session_count, ACCEPTED_MAX);
    accepted *a = &sessions[session_count];
    *a = (accepted){.kind = session_count % KINDS, .checkpoint = -1};
    session_post_free(d, scene_of(a->kind), a->id);
    session_count++;
    return a;
}

/* Keep so many unfinished sessions; any failed session fails the test. */
static void look_after(void)
{
    int live = 0;
    for (int i = 0; i < session_count; i++) {
        accepted *a = &sessions[i];
        if (a->over)
            continue;
        json_t *session = session_show(d, a->id);
        const char *state = json_text(session, "state");
        a->over = strcmp(state, "succeeded") == 0;
        live += !a->over;
        ck_assert_msg(strcmp(state, "failed") != 0 && strcmp(state, "cancelled") != 0, "%s",
                      json_dumps(session, 0));
        json_decref(session);
    }
    for (; live < SLOTS; live++)
        post();
}

static int64_t newest_checkpoint(const accepted *a)
{
    pl_checkpoint newest;
    int dir_fd = open(session_path(d, a->id, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t frame = dir_fd >= 0 && pl_checkpoint_newest(dir_fd, &newest) == PL_OK ? newest.frame
                                                                                  : -1;
    if (dir_fd >= 0)
        close(dir_fd);
    return frame;
}

/* A worker that may be killed without ending its session. */
static void kill_worker(unsigned *seed)
{
    int first = rand_r(seed) % session_count;
    for (int i = 0; i < session_count; i++) {
        accepted *a = &sessions[(first + i) % session_count];
        pid_t worker = a->over ? 0 : daemon_fixture_worker(a->id);
        if (worker <= 0)
            continue;
        int64_t checkpoint = newest_checkpoint(a);
        if (checkpoint > a->checkpoint) {
            a->checkpoint = checkpoint;
            a->kills = 0;
        }
        if (a->kills < KILLS_MAX) {
            kill(worker, SIGKILL); /* or it has just ended */
            a->kills++;
            return;
        }
    }
}

static void kill_daemon(void)
{
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
}

static void disturb(unsigned *seed)
{
    switch (rand_r(seed) % 4) {
    case 0:
        kill_worker(seed);
        break;
    case 1:
        kill_daemon();
        daemon_fixture_resume(d);
        break;
    case 2: /* everything, as when a machine goes down */
        kill_daemon();
        for (int i = 0; i < session_count; i++) {
            pid_t worker = sessions[i].over ? 0 : daemon_fixture_worker(sessions[i].id);
            if (worker > 0)
                kill(worker, SIGKILL);
        }
        daemon_fixture_resume(d);
        break;
    case 3: /* an acknowledged session must still be known */
        post();
        kill_daemon();
        daemon_fixture_resume(d);
        break;
    }
}

START_TEST(test_kill)
{
    static results wanted[KINDS];
    int sessions_wanted = is_long_form() ? 200 : 20;
    unsigned seed = 1;
    char id[33];
    for (int kind = 0; kind < KINDS; kind++) {
        session_run(d, scene_of(kind), id);
        read_results(id, &wanted[kind]);
    }
    for (int round = 0; session_count < sessions_wanted; round++) {
        ck_assert_int_lt(round, 50 * sessions_wanted);
        look_after();
        nanosleep(&(struct timespec){.tv_nsec = (10 + rand_r(&seed) % 200) * 1000000L}, NULL);
        disturb(&seed);
    }
    for (int i = 0; i < session_count; i++) {
        session_await(d, sessions[i].id, "succeeded");
        expect_same(sessions[i].id, &wanted[sessions[i].kind]);
    }
    ck_assert_int_eq(daemon_fixture_sessions(d), session_count + KINDS);
    for (int kind = 0; kind < KINDS; kind++)
        clear_results(&wanted[kind]);
}
END_TEST

/* ---- found dead ---- */

static void start_without_checkpoints(void)
{
    static const char *const options[] = {"--cores", "2", "--checkpoint-every", "1000", NULL};
    daemon_fixture_start(d, options);
}

/* Waits for a worker other than this one. */
static void await_another(const char *id, pid_t before)
{
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    for (pid_t now = before; now == before || now == 0; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        ck_assert_msg(strcmp(json_text(session, "state"), "failed") != 0, "%s",
                      json_text(session, "message"));
        json_decref(session);
        ck_assert_msg(daemon_fixture_clock() < end, "no other worker");
        now = daemon_fixture_worker(id);
    }
}

/* A worker that died while no daemon watched does not count as a crash: three more are tolerated, a fourth ends the
 * session. */
START_TEST(test_found)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    pid_t worker = daemon_fixture_await_worker(id);
    kill_daemon();
    kill(worker, SIGKILL);
    daemon_fixture_resume(d);
    for (int crash = 0; crash <= KILLS_MAX; crash++) {
        await_another(id, worker);
        worker = daemon_fixture_await_worker(id);
        if (crash < KILLS_MAX)
            kill(worker, SIGKILL);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kill");
    TCase *tests = tcase_create("kill");
    tcase_set_timeout(tests, is_long_form() ? 3600 : 900);
    tcase_add_checked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_kill);
    suite_add_tcase(suite, tests);
    TCase *found = tcase_create("found");
    tcase_add_checked_fixture(found, start_without_checkpoints, stop_daemon);
    tcase_add_test(found, test_found);
    suite_add_tcase(suite, found);
    return run_suite(suite);
}
