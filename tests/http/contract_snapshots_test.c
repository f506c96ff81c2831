/* Snapshots, and branches with a long history: named states that outlive retention, restarts and kills; branches of
 * branches; frames that cannot be recomputed are rejected, never begun wrongly.
 */
#include "protocol/log/checkpoint.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/snapshot.h"
#include "protocol/log/verify.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A bar of 99 vertices, with what controls can change. */
static char *scene_of(int64_t steps, const char *output)
{
    char *text;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
                 " \"solver\": {\"iterations\": 8}, \"materials\": {\"soft\": {\"young\": 1e5}},"
                 " \"bodies\": [{\"name\": \"bar\", \"material\": \"soft\", \"mesh\":"
                 " {\"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]}}}],"
                 " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}],"
                 " \"output\": {%s}}",
                 (long long)steps, output),
        0);
    return text;
}

static http_reply *post(const char *id, const char *what, const char *body)
{
    char target[160], text[512];
    snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, what);
    snprintf(text, sizeof text, "%s", body);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return http_post(d, target, text);
}

static void expect_post(const char *id, const char *what, const char *body, int status)
{
    http_reply *r = post(id, what, body);
    http_expect(r, status);
    http_reply_free(r);
}

static void refused(const char *id, const char *what, const char *body, int status,
                    const char *code)
{
    http_reply *r = post(id, what, body);
    http_problem(r, status, code);
    http_reply_free(r);
}

static void branch(const char *id, const char *body, char out[33])
{
    http_reply *r = post(id, "branch", body);
    http_expect(r, 201);
    snprintf(out, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
}

/* Pause it at this frame or later; at which. */
static int64_t pause_after(const char *id, int64_t frame)
{
    session_await_frame(d, id, frame);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    json_t *s = session_show(d, id);
    int64_t at = json_count(s, "progress/frame");
    json_decref(s);
    return at;
}

/* Short sessions have checkpoints, too. */
static void start_with_checkpoints(void)
{
    static const char *const options[] = {"--cores", "2", "--checkpoint-every", "0", NULL};
    daemon_fixture_start(d, options);
}

static void lose_checkpoints(const char *id)
{
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        unlink(session_path(d, id, pl_checkpoint_name(slot)));
}

static int64_t snapshots_of(const char *id)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/snapshots", id);
    http_expect(r, 200);
    int64_t count = (int64_t)json_array_size(json_object_get(r->json, "items"));
    http_reply_free(r);
    return count;
}

static size_t damages(const char *id)
{
    const pl_verify_options options = {.from_daemon = true};
    pl_verify_report report = {0};
    int fd = open(session_path(d, id, "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_verify(fd, &options, &report), PL_OK);
    size_t total = report.total;
    pl_verify_report_clear(&report);
    close(fd);
    return total;
}

/* ---- the contract ---- */

START_TEST(kept_listed_and_removed)
{
    char id[33], twin[33], body[64];
    session_run(d, scene_of(30, "\"every\": 1"), id);
    http_reply *r = post(id, "snapshots", "{'name': 'before', 'frame': 20}");
    http_expect(r, 201);
    ck_assert_int_eq(json_count(r->json, "frame"), 20);
    ck_assert_str_eq(json_text(r->json, "name"), "before");
    char where[160];
    snprintf(where, sizeof where, "%s", http_header(r, "Location"));
    http_reply_free(r);
    r = http_get(d, where);
    http_expect(r, 200);
    ck_assert_int_gt(json_count(r->json, "bytes"), 1000);
    http_reply_free(r);
    r = post(id, "snapshots", "{'name': 'after'}");
    http_expect(r, 201);
    ck_assert_int_eq(json_count(r->json, "frame"), 30);
    http_reply_free(r);
    refused(id, "snapshots", "{'name': 'before'}", 409, "exists");
    refused(id, "snapshots", "{'name': '../scene'}", 422, "invalid_body");
    refused(id, "snapshots", "{'name': '.hidden'}", 422, "invalid_body");
    refused(id, "snapshots", "{'frame': 3}", 422, "invalid_body");
    refused(id, "snapshots", "{'name': 'x', 'frame': 31}", 404, "no_such_frame");
    refused(id, "branch", "{'snapshot': 'none'}", 404, "no_such_snapshot");
    refused(id, "branch", "{'snapshot': 'before', 'frame': 20}", 422, "invalid_branch");
    ck_assert_int_eq(snapshots_of(id), 2);
    branch(id, "{'snapshot': 'before'}", twin);
    session_await(d, twin, "succeeded");
    for (int64_t k = 0; k <= 10; k++)
        ck_assert(session_same_frame(d, id, 20 + k, twin, k));
    ck_assert_uint_eq(damages(id), 0);
    r = http_call(d, "DELETE", where, NULL, NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
    r = http_call(d, "DELETE", where, NULL, NULL, 0);
    http_problem(r, 404, "no_such_snapshot");
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    for (int i = 1; i < PL_SNAPSHOTS_MAX; i++) {
        snprintf(body, sizeof body, "{'name': 's%d'}", i);
        expect_post(id, "snapshots", body, 201);
    }
    refused(id, "snapshots", "{'name': 'one-more'}", 403, "too_many");
    ck_assert_int_eq(snapshots_of(id), PL_SNAPSHOTS_MAX);
}
END_TEST

/* A damaged one is found, named, and never branched from. */
START_TEST(damage_is_found)
{
    char id[33];
    session_post_free(d, scene_of(100000, "\"every\": 1"), id);
    pause_after(id, 5);
    expect_post(id, "snapshots", "{'name': 'one'}", 201);
    ck_assert_int_eq(truncate(session_path(d, id, "snapshots/one.bin"), 100), 0);
    ck_assert_uint_eq(damages(id), 2); /* it is a link to the newest checkpoint */
    refused(id, "branch", "{'snapshot': 'one'}", 500, "damaged");
    int fd = open(session_path(d, id, "snapshots/one.json"), O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "9", 1, 40), 1);
    close(fd);
    ck_assert_uint_eq(damages(id), 2);
    http_reply *r = http_getf(d, "/v1/sessions/%s/snapshots/one", id);
    http_problem(r, 500, "damaged");
    http_reply_free(r);
}
END_TEST

/* ---- of another class, of another model ---- */

/* A snapshot's checkpoint, rewritten by `change` with its checksums put right. */
static void rewrite(const char *id, const char *name, void (*change)(char *header))
{
    char file[64], *bytes;
    size_t size;
    snprintf(file, sizeof file, "snapshots/%s.bin", name);
    int fd = open(session_path(d, id, "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_file_read(fd, file, 1 << 28, &bytes, &size), PL_OK);
    change(bytes);
    uint32_t crc = pl_crc32c(0, bytes, PL_CHECKPOINT_HEADER - 4);
    memcpy(bytes + PL_CHECKPOINT_HEADER - 4, &crc, 4);
    crc = pl_crc32c(0, bytes, size - 4);
    memcpy(bytes + size - 4, &crc, 4);
    ck_assert_int_eq(pl_file_replace(fd, file, bytes, size, false), PL_OK);
    free(bytes);
    close(fd);
}

static void be_of_another_class(char *header)
{
    snprintf(header + 64, PL_CHECKPOINT_CLASS, "another-class");
}

/* The model's hash, which follows frame and attempt. */
static void be_of_another_model(char *header)
{
    pl_checkpoint was;
    ck_assert_int_eq(pl_checkpoint_decode_header(header, PL_CHECKPOINT_HEADER, &was), PL_OK);
    for (char *at = header; at < header + 64; at += 4) {
        if (memcmp(at, &was.model_hash, 8) == 0) {
            *at ^= 1;
            return;
        }
    }
    ck_abort_msg("no hash in the header");
}

static bool log_has(const char *id, const char *text)
{
    char *bytes;
    size_t size;
    int fd = open(session_path(d, id, "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(pl_file_read(fd, "log/0001-0000.seg", 1 << 28, &bytes, &size), PL_OK);
    bool has = memmem(bytes, size, text, strlen(text));
    free(bytes);
    close(fd);
    return has;
}

/* A checkpoint of another numerics class is used, and the branch's log says so; one of another model ends the branch
 * before its first frame, with cause and remedy. Neither touches the session itself. */
START_TEST(of_another_class_or_model)
{
    static const char event[] = "{\"event\":\"numerics_changed\",\"from\":\"another-class\"";
    char id[33], same[33], twin[33], stranger[33];
    session_run(d, scene_of(30, "\"every\": 1"), id);
    expect_post(id, "snapshots", "{'name': 'one', 'frame': 20}", 201);
    expect_post(id, "snapshots", "{'name': 'two', 'frame': 20}", 201);
    branch(id, "{'snapshot': 'one'}", same);
    session_await(d, same, "succeeded");
    ck_assert(!log_has(same, "numerics_changed"));
    rewrite(id, "one", be_of_another_class);
    rewrite(id, "two", be_of_another_model);
    branch(id, "{'snapshot': 'one'}", twin);
    session_await(d, twin, "succeeded");
    ck_assert(log_has(twin, event));
    for (int64_t k = 0; k <= 10; k++)
        ck_assert(session_same_frame(d, id, 20 + k, twin, k));
    branch(id, "{'snapshot': 'two'}", stranger);
    session_await(d, stranger, "failed");
    json_t *s = session_show(d, stranger);
    ck_assert_str_eq(json_text(s, "failure/code"), "internal");
    ck_assert_msg(strstr(json_text(s, "failure/message"), "a checkpoint of another model") != NULL,
                  "%s", json_text(s, "failure/message"));
    ck_assert_str_ne(json_text(s, "failure/advice"), "");
    ck_assert_int_eq(json_count(s, "progress/frame"), -1);
    json_decref(s);
    s = session_show(d, id);
    ck_assert_str_eq(json_text(s, "state"), "succeeded");
    json_decref(s);
}
END_TEST

/* ---- what retention takes ---- */

static void await_pruned(const char *id, int64_t frame)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        http_reply *r = http_getf(d, "/v1/sessions/%s/metrics?from=%lld&limit=1", id,
                                  (long long)frame);
        int status = r->status;
        http_reply_free(r);
        if (status == 410)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "nothing is pruned");
    }
}

/* A control, a snapshot, and so many frames that log and checkpoints of that time are gone: the snapshot still gives
 * the same frames. Frames that the log no longer covers are rejected, with and without a checkpoint, if a branch would
 * begin without the earlier control. */
START_TEST(outlives_retention)
{
    char id[33], early[33], late[33], body[96];
    session_post_free(d, scene_of(100000, "\"retention\": {\"last\": 40}"), id);
    session_await_frame(d, id, 1);
    expect_post(id, "controls", "{'gravity': [0, 20, 0]}", 202);
    int64_t at = pause_after(id, session_await_control(d, id, 1) + 8);
    expect_post(id, "snapshots", "{'name': 'lifted'}", 201);
    /* As it is; later frames are compared with its own. */
    snprintf(body, sizeof body, "{'frame': %lld, 'scene': {'time': {'steps': %lld}}}",
             (long long)at, (long long)at + 6);
    branch(id, body, early);
    session_await(d, early, "succeeded");
    session_tell(d, id, "resume");
    await_pruned(id, at);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    lose_checkpoints(id);
    refused(id, "branch", body, 409, "no_way_back");
    refused(id, "branch", "{}", 409, "no_way_back");
    refused(id, "snapshots", "{'name': 'now'}", 409, "no_way_back");
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    snprintf(body, sizeof body, "{'snapshot': 'lifted', 'scene': {'time': {'steps': %lld}}}",
             (long long)at + 6);
    branch(id, body, late);
    session_await(d, late, "succeeded");
    for (int64_t k = 0; k <= 6; k++)
        ck_assert(session_same_frame(d, early, k, late, k));
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* Thinned frames have lost their records, and not what controls changed before them. */
START_TEST(thinned_frames_keep_their_controls)
{
    char id[33], one[33], two[33], body[96];
    session_post_free(d, scene_of(100000, "\"retention\": {\"last\": 40, \"every\": 50}"), id);
    session_await_frame(d, id, 1);
    expect_post(id, "controls", "{'gravity': [0, 20, 0]}", 202);
    int64_t end = pause_after(id, session_await_control(d, id, 1) + 150);
    snprintf(body, sizeof body, "{'frame': %lld, 'scene': {'time': {'steps': %lld}}}",
             (long long)end - 10, (long long)end);
    branch(id, body, one);
    session_await(d, one, "succeeded");
    lose_checkpoints(id);
    branch(id, body, two);
    session_await(d, two, "succeeded");
    for (int64_t k = 0; k <= 10; k++)
        ck_assert(session_same_frame(d, id, end - 10 + k, one, k) &&
                  session_same_frame(d, id, end - 10 + k, two, k));
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
}
END_TEST

/* ---- branches of branches ---- */

/* A session that takes the whole machine, so that new ones wait. */
static void block(char blocker[33])
{
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
}

/* A control 2 frames after the start of what waits behind the blocker, and its end. */
static void control_on_its_way(const char *blocker, const char *id, const char *change)
{
    ck_assert_str_eq(session_tell(d, id, "pause"), "paused");
    session_tell(d, blocker, "cancel");
    session_tell(d, id, "step?frames=2");
    session_await_frame(d, id, 2);
    session_await(d, id, "paused");
    expect_post(id, "controls", change, 202);
    session_tell(d, id, "resume");
    session_await(d, id, "succeeded");
}

/* Without any checkpoint it is computed from the beginning of the first, controls of each on the way. */
START_TEST(branches_of_branches)
{
    char blocker[33], id[33], chain[4][33], last[33];
    block(blocker);
    session_post_free(d, scene_of(40, "\"every\": 1"), id);
    control_on_its_way(blocker, id, "{'gravity': [0, 5, 0]}");
    memcpy(chain[0], id, sizeof id);
    for (int i = 1; i < 4; i++) {
        if (i == 2)
            block(blocker);
        branch(chain[i - 1],
               i == 2 ? "{'frame': 5, 'scene': {'gravity': [0, 9, 0]}}" : "{'frame': 5}", chain[i]);
        if (i == 2)
            control_on_its_way(blocker, chain[i],
                               "{'materials': [{'name': 'soft', 'young': 3e5}]}");
        session_await(d, chain[i], "succeeded");
        lose_checkpoints(chain[i]);
        lose_checkpoints(chain[i - 1]);
        unlink(session_path(d, chain[i], "parent/checkpoint-A.bin"));
    }
    ck_assert(!session_same_frame(d, chain[1], 12, chain[2], 7));
    branch(chain[3], "{'frame': 7}", last);
    session_await(d, last, "succeeded");
    json_t *shown = session_show(d, last);
    ck_assert_int_eq(json_count(shown, "progress/frames"), 40 - 15 - 7);
    ck_assert_int_eq(json_count(shown, "progress/frame"), 40 - 15 - 7);
    json_decref(shown);
    refused(last, "branch", "{'frame': 18}", 422, "invalid_scene"); /* no frames are left */
    for (int64_t k = 0; k <= 18; k++)
        ck_assert(session_same_frame(d, chain[3], 7 + k, last, k) &&
                  session_same_frame(d, chain[2], 12 + k, last, k));
}
END_TEST

/* ---- restarts and kills ---- */

/* On a connection that may be cut; true if a reply came. */
static bool make(http_connection *c, const char *id, int round, int i)
{
    char text[96], head[512], name[48];
    snprintf(text, sizeof text, "{\"name\": \"r%d-%d\", \"frame\": %d}", round, i, 7 * i % 30);
    int n = snprintf(head, sizeof head,
                     "POST /v1/sessions/%s/snapshots HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                     "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     id, d->token, strlen(text), text);
    http_reply *r = http_write(c, head, (size_t)n) ? http_read_head(c) : NULL;
    if (!r || !http_read_body(c, r)) {
        http_reply_free(r);
        return false;
    }
    http_expect(r, 201);
    http_reply_free(r);
    snprintf(name, sizeof name, "snapshots/r%d-%d.json", round, i);
    ck_assert_int_eq(access(session_path(d, id, name), F_OK), 0);
    return true;
}

/* kill -9 at moments of its making: afterwards each acknowledged snapshot exists completely, and each other one
 * completely or not at all. */
START_TEST(whole_or_not_there)
{
    enum { ROUNDS = 4, EACH = 6 };
    char id[33], twin[33];
    session_run(d, scene_of(30, "\"every\": 1"), id);
    int answered = 0;
    for (int round = 0; round < ROUNDS; round++) {
        http_connection *c = http_open(d);
        pid_t victim = d->pid, killer = fork();
        if (killer == 0) {
            usleep((useconds_t)(1500 + 2500 * round));
            kill(victim, SIGKILL);
            _exit(0);
        }
        for (int i = 0; i < EACH && make(c, id, round, i); i++)
            answered++;
        http_close(c);
        waitpid(killer, NULL, 0);
        daemon_fixture_end(d, SIGKILL);
        daemon_fixture_resume(d);
        ck_assert_int_ge(snapshots_of(id), answered);
        ck_assert_uint_eq(damages(id), 0);
        ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    }
    /* The database is rebuilt from the directories, and the daemon still knows them. */
    char before[33];
    branch(id, "{'frame': 10}", before);
    session_await(d, before, "succeeded");
    int64_t there = snapshots_of(id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    unlink(daemon_fixture_path(d, "pliant.db"));
    static const char *const reindex[] = {"--reindex", NULL};
    char said[4096];
    ck_assert_int_eq(daemon_fixture_command(d, reindex, said, sizeof said), 0);
    daemon_fixture_resume(d);
    ck_assert_int_eq(snapshots_of(id), there);
    json_t *shown = session_show(d, before);
    ck_assert_int_eq(json_count(shown, "progress/frames"), 20);
    json_decref(shown);
    expect_post(id, "snapshots", "{'name': 'last', 'frame': 11}", 201);
    branch(id, "{'snapshot': 'last'}", twin);
    session_await(d, twin, "succeeded");
    ck_assert(session_same_frame(d, id, 30, twin, 19));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("snapshots");
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, damage_is_found);
    tcase_add_test(t, outlives_retention);
    tcase_add_test(t, thinned_frames_keep_their_controls);
    tcase_add_test(t, branches_of_branches);
    tcase_add_test(t, whole_or_not_there);
    TCase *often = tcase_create("checkpoints");
    tcase_add_checked_fixture(often, start_with_checkpoints, stop_daemon);
    tcase_set_timeout(often, 180);
    tcase_add_test(often, kept_listed_and_removed);
    tcase_add_test(often, of_another_class_or_model);
    Suite *suite = suite_create("snapshots");
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, often);
    return run_suite(suite);
}
