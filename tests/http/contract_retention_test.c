/* Frames that a scene does not keep: removed from disk and reported as such, with everything else intact. */
#include "protocol/log/verify.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 400 };

static char *scene_with(const char *retention, int64_t steps)
{
    char *scene = session_scene(steps, 1, ""), *more = NULL;
    char *at = strstr(scene, "\"every\": 1");
    ck_assert_int_gt(
        asprintf(&more, "%.*s\"retention\": {%s}, %s", (int)(at - scene), scene, retention, at), 0);
    free(scene);
    return more;
}

/* Contents of a stream of frames: the frames that came, and the gaps. */
typedef struct told {
    bool came[FRAMES + 1];
    int frames, gaps, missing;
    char reason[16]; /* of the gaps; "" without gaps */
} told;

static void read_stream(const char *id, const char *rest, told *t)
{
    pl_record r;
    char *payload;
    int64_t next = -1;
    *t = (told){0};
    http_stream s = http_stream_open(d, session_target(id, rest), NULL);
    while (http_stream_record(&s, &r, &payload)) {
        if (r.type == PL_RECORD_FRAME) {
            ck_assert(next < 0 || (int64_t)r.frame == next || strstr(rest, "every"));
            t->came[r.frame] = true;
            t->frames++;
            next = (int64_t)r.frame + 1;
        } else if (r.type == PL_RECORD_GAP) {
            json_t *gap = json_loadb(payload, (size_t)r.length, 0, NULL);
            snprintf(t->reason, sizeof t->reason, "%s", json_text(gap, "reason"));
            ck_assert(next < 0 || json_count(gap, "from") == next);
            t->missing += (int)(json_count(gap, "to") - json_count(gap, "from") + 1);
            next = json_count(gap, "to") + 1;
            t->gaps++;
            json_decref(gap);
        }
        free(payload);
    }
    http_stream_close(&s);
}

/* Nothing is damaged; the frames that are counted begin with `first`. */
static void verify(const char *id, int64_t first)
{
    const pl_verify_options options = {.from_daemon = true};
    pl_verify_report report = {0};
    int fd = open(session_path(d, id, "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_verify(fd, &options, &report), PL_OK);
    ck_assert_msg(report.total == 0, "%s: %s", report.count ? report.damages[0].file : "",
                  report.count ? report.damages[0].what : "");
    ck_assert_int_eq(report.frames, FRAMES + 1 - first);
    ck_assert_int_eq(report.frames_lost, 0);
    pl_verify_report_clear(&report);
    close(fd);
}

START_TEST(test_last)
{
    char id[33], rest[64];
    told t;
    session_run(d, scene_with("\"last\": 40", FRAMES), id);
    http_reply *r = http_get(d, session_target(id, "frames?from=0"));
    http_problem(r, 410, "pruned");
    int64_t first = json_count(r->json, "first_available");
    ck_assert(first > 0 && first <= FRAMES - 40 && first > FRAMES - 80);
    http_reply_free(r);
    r = http_get(d, session_target(id, "frames/3"));
    http_problem(r, 410, "pruned");
    ck_assert_int_eq(json_count(r->json, "first_available"), first);
    http_reply_free(r);
    r = http_get(d, session_target(id, "metrics?from=3"));
    http_problem(r, 410, "pruned");
    http_reply_free(r);
    /* Without a beginning a stream has what there is. */
    read_stream(id, "frames", &t);
    ck_assert_int_eq(t.frames, FRAMES + 1 - first);
    ck_assert(t.gaps == 0 && t.came[first] && t.came[FRAMES]);
    snprintf(rest, sizeof rest, "frames?from=%lld&dtype=u16", (long long)first);
    read_stream(id, rest, &t);
    ck_assert_int_eq(t.frames, FRAMES + 1 - first);
    char folder[80];
    snprintf(folder, sizeof folder, "sessions/%.2s/%s/log", id, id);
    ck_assert_int_le(daemon_fixture_entries(d, folder), 2 * 9);
    verify(id, first);
}
END_TEST

START_TEST(test_every)
{
    char id[33];
    told t;
    session_run(d, scene_with("\"last\": 40, \"every\": 10", FRAMES), id);
    read_stream(id, "frames?from=0", &t);
    ck_assert_str_eq(t.reason, "pruned");
    ck_assert_int_eq(t.frames + t.missing, FRAMES + 1);
    ck_assert(t.frames < 40 + 40 + FRAMES / 10 && t.frames >= 40 + (FRAMES - 40) / 10);
    for (int k = 0; k <= FRAMES; k++)
        ck_assert(t.came[k] || (k % 10 != 0 && k <= FRAMES - 40));
    read_stream(id, "frames?from=0&every=10&dtype=u16", &t);
    ck_assert(t.frames == FRAMES / 10 + 1 && t.gaps == 0);
    http_reply *r = http_get(d, session_target(id, "frames/13"));
    http_problem(r, 410, "pruned");
    ck_assert_int_eq(json_count(r->json, "first_available"), 20);
    http_reply_free(r);
    /* Of metrics nothing is left out. */
    r = http_get(d, session_target(id, "metrics?from=0"));
    int lines = 0;
    for (const char *at = r->body; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_int_eq(lines, FRAMES + 1 + 2);
    ck_assert_ptr_null(strstr(r->body, "\"event\":\"gap\""));
    http_reply_free(r);
    verify(id, 0);
}
END_TEST

/* A slow reader of a running session whose frames go meanwhile: a gap, and on. */
START_TEST(test_reader_left_behind)
{
    char id[33];
    pl_record r;
    char *payload;
    bool gap = false;
    session_post(d,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 100000000},"
                 " \"solver\": {\"iterations\": 1, \"tolerance\": 0}, \"output\": {\"retention\":"
                 " {\"last\": 16}}, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1],"
                 " \"cells\": [12, 12, 12]}}}]}",
                 id);
    session_await_frame(d, id, 1);
    http_stream s = http_stream_open(d, session_target(id, "frames?follow=1"), NULL);
    s.may_be_cut = true;
    session_await_frame(d, id, 400); /* 10 MB, far more than the connection holds */
    int64_t last = -1;
    while (!gap && last < 400 && http_stream_record(&s, &r, &payload)) {
        if (r.type == PL_RECORD_FRAME) {
            last = (int64_t)r.frame;
        } else if (r.type == PL_RECORD_GAP) {
            json_t *value = json_loadb(payload, (size_t)r.length, 0, NULL);
            ck_assert_str_eq(json_text(value, "reason"), "pruned");
            gap = true;
            json_decref(value);
        }
        free(payload);
    }
    ck_assert(gap);
    ck_assert(http_stream_record(&s, &r, &payload));
    ck_assert_int_eq(r.type, PL_RECORD_FRAME);
    free(payload);
    http_stream_close(&s);
    session_tell(d, id, "cancel");
}
END_TEST

/* Killed and restarted, a run continues from its checkpoint across pruned frames. */
START_TEST(test_restart)
{
    char id[33];
    told t;
    session_post_free(d, scene_with("\"last\": 40, \"every\": 10", FRAMES), id);
    session_await_frame(d, id, 250);
    pid_t worker = daemon_fixture_worker(id);
    if (worker > 0) /* or it is over already */
        kill(worker, SIGKILL);
    session_await(d, id, "succeeded");
    read_stream(id, "frames?from=0", &t);
    ck_assert_int_eq(t.frames + t.missing, FRAMES + 1);
    ck_assert_str_eq(t.reason, "pruned");
    for (int k = 0; k <= FRAMES; k += 10)
        ck_assert(t.came[k]);
}
END_TEST

/* Whole sessions go some time after their end; others stay. */
START_TEST(test_days)
{
    char gone[33], stays[33], whole[64];
    session_run(d, scene_with("\"days\": 1e-8", 2), gone);
    session_run(d, scene_with("\"days\": 1", 2), stays);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    session_await_gone(d, gone);
    snprintf(whole, sizeof whole, "/v1/sessions/%s", stays);
    http_reply *r = http_get(d, whole);
    http_expect(r, 200);
    http_reply_free(r);
}
END_TEST

/* ---- changed by PATCH ---- */

static http_reply *patch(const char *id, const char *query, const char *body)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s%s", id, query);
    return http_call(d, "PATCH", target, "Content-Type: application/json\r\n", body, strlen(body));
}

static void refused(const char *id, const char *query, const char *body, int status,
                    const char *code)
{
    http_reply *r = patch(id, query, body);
    http_problem(r, status, code);
    http_reply_free(r);
}

static void expect_kept(const char *id, int64_t last, int64_t every, double days)
{
    json_t *s = session_show(d, id);
    ck_assert_int_eq(json_count(s, "retention/last"), last);
    ck_assert_int_eq(json_count(s, "retention/every"), every);
    ck_assert(json_number_value(json_at(s, "retention/days")) == days);
    json_decref(s);
}

static void change(const char *id, const char *query, const char *body)
{
    http_reply *r = patch(id, query, body);
    http_expect(r, 200);
    http_reply_free(r);
}

static int status_of_frame(const char *id, int64_t frame)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/frames/%lld", id, (long long)frame);
    int status = r->status;
    http_reply_free(r);
    return status;
}

static void await_pruned(const char *id, int64_t frame)
{
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    while (status_of_frame(id, frame) != 410) {
        ck_assert_msg(daemon_fixture_clock() < end, "frame %lld stays", (long long)frame);
        daemon_fixture_nap();
    }
}

static int64_t frame_of(const char *id)
{
    json_t *s = session_show(d, id);
    int64_t frame = json_count(s, "progress/frame");
    json_decref(s);
    return frame;
}

static void verb(const char *id, const char *what, const char *state)
{
    session_tell(d, id, what);
    session_await(d, id, state);
}

static void rebuild_the_database(void)
{
    static const char *const reindex[] = {"--reindex", NULL};
    char said[4096];
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    unlink(daemon_fixture_path(d, "pliant.db"));
    ck_assert_int_eq(daemon_fixture_command(d, reindex, said, sizeof said), 0);
    daemon_fixture_resume(d);
}

/* Of a running session: told what would go, then done, for this worker, the next one, the next daemon and without
 * the database; and taken back. */
START_TEST(test_changed)
{
    char id[33];
    session_post_free(d, session_scene(100000000, 1, ""), id);
    expect_kept(id, 0, 0, 0);
    session_await_frame(d, id, 200);
    refused(id, "", "{\"retention\": {\"last\": 40}}", 409, "would_prune");
    refused(id, "?prune=false", "{\"retention\": {\"last\": 9, \"every\": 2}}", 409, "would_prune");
    refused(id, "?prune=maybe", "{\"retention\": {\"last\": 40}}", 400, "bad_query");
    refused(id, "?prune=true", "{\"retention\": {\"last\": -1}}", 422, "invalid_patch");
    refused(id, "", "{\"retention\": {\"first\": 1}}", 422, "invalid_patch");
    expect_kept(id, 0, 0, 0);
    change(id, "", "{\"retention\": {\"last\": 100000000}}");
    change(id, "", "{\"retention\": {\"last\": 20, \"every\": 1}}");
    ck_assert_int_eq(status_of_frame(id, 0), 200);
    change(id, "?prune=true", "{\"retention\": {\"last\": 40, \"every\": null, \"days\": 2.5}}");
    await_pruned(id, 200);
    verb(id, "pause", "paused");
    int64_t at = frame_of(id);
    verb(id, "resume", "running");
    await_pruned(id, at);
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    expect_kept(id, 40, 0, 2.5);
    change(id, "", "{\"retention\": null}");
    verb(id, "pause", "paused"); /* which the worker hears of after that */
    at = frame_of(id);           /* and what comes from here on stays */
    verb(id, "resume", "running");
    session_await_frame(d, id, at + 200);
    ck_assert_int_eq(status_of_frame(id, at), 200);
    verb(id, "cancel", "cancelled");
    refused(id, "?prune=true", "{\"retention\": {\"last\": 40}}", 409, "session_over");
    change(id, "", "{\"retention\": {\"days\": 3}}");
    change(id, "", "{\"name\": \"kept\"}");
    rebuild_the_database();
    expect_kept(id, 0, 0, 3);
    ck_assert_int_eq(status_of_frame(id, at), 200);
}
END_TEST

/* Frames beyond the last ones: multiples of the old number that are not multiples of the new one would be removed, and
 * so would frames no longer among the last. Only the directory knows what was requested. */
START_TEST(test_changed_multiples)
{
    char blocker[33], id[33];
    /* Held before its first frame, so that there is nothing to prune yet. */
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(100000000, 1, ""), id);
    change(id, "", "{\"retention\": {\"last\": 40, \"every\": 4}}");
    session_tell(d, blocker, "cancel");
    session_await_frame(d, id, 100);
    verb(id, "pause", "paused");
    refused(id, "", "{\"retention\": {\"every\": 6}}", 409, "would_prune");
    refused(id, "", "{\"retention\": {\"last\": 20}}", 409, "would_prune");
    refused(id, "", "{\"retention\": {\"every\": 0}}", 409, "would_prune");
    expect_kept(id, 40, 4, 0);
    change(id, "", "{\"retention\": {\"last\": 50, \"every\": 2}}");
    expect_kept(id, 50, 2, 0);
    rebuild_the_database();
    expect_kept(id, 50, 2, 0);
}
END_TEST

START_TEST(test_refusals)
{
    static const char *const bad[] = {"\"last\": -1", "\"every\": 1.5", "\"days\": -1",
                                      "\"first\": 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *scene = scene_with(bad[i], 2);
        http_reply *r = http_post(d, "/v1/validate", scene);
        ck_assert_int_eq(r->status, 422);
        ck_assert_ptr_nonnull(strstr(r->body, "/output/retention/"));
        http_reply_free(r);
        free(scene);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("retention");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_add_test(t, test_last);
    tcase_add_test(t, test_every);
    tcase_add_test(t, test_reader_left_behind);
    tcase_add_test(t, test_restart);
    tcase_add_test(t, test_days);
    tcase_add_test(t, test_changed);
    tcase_add_test(t, test_changed_multiples);
    tcase_add_test(t, test_refusals);
    return run_cases("contract: retention", t);
}
