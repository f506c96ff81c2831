/* Workers of a daemon that runs as root switch to their user's uid, and own only their session's directory. If the test
 * is not root, only the rejection is tested.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 700000, LAST = 760000 };

static void start(void)
{
    static const char *const options[] = {
        "--cores", "2", "--checkpoint-every", "1", "--worker-uids", "700000-760000", NULL};
    daemon_fixture_start(d, geteuid() == 0 ? options : NULL);
}

/* All uids and gids of a running process, where they are the same; 0 where they are not, or it is gone. */
static uid_t uid_of(pid_t pid)
{
    char path[64], line[256];
    unsigned ids[8] = {0};
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "Uid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]);
        sscanf(line, "Gid: %u %u %u %u", &ids[4], &ids[5], &ids[6], &ids[7]);
    }
    if (status)
        fclose(status);
    for (int i = 1; i < 8; i++)
        if (ids[i] != ids[0])
            return 0;
    return ids[0];
}

/* It gives root up soon after its start. */
static uid_t uid_of_worker(const char *id)
{
    session_await_frame(d, id, 1);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        pid_t worker = daemon_fixture_worker(id);
        uid_t uid = worker > 0 ? uid_of(worker) : 0;
        if (uid)
            return uid;
        ck_assert_msg(daemon_fixture_clock() < end, "the worker stays root");
    }
}

static void post_as(const char *secret, char id[33])
{
    char *scene = session_scene_endless("");
    http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", NULL, scene);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    free(scene);
}

/* A branch of its own session: what that began with is the worker's to read, too. */
static void branch_as(const char *secret, const char *id, int frame, char out[33])
{
    char target[96], body[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/branch", id);
    snprintf(body, sizeof body, "{\"frame\": %d, \"scene\": {\"time\": {\"steps\": 300}}}", frame);
    http_reply *r = tenant_call(d, secret, "POST", target, NULL, body);
    http_expect(r, 201);
    snprintf(out, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    session_await(d, out, "succeeded");
}

static void ask(const char *id, const char *what)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, what);
    http_reply *r = tenant_call(d, d->token, "POST", target, NULL, NULL);
    http_expect(r, 202);
    http_reply_free(r);
}

/* Whether a process of this uid could open a file. */
static int open_as(uid_t uid, const char *path)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (setgid(uid) != 0 || setuid(uid) != 0)
            _exit(255);
        _exit(open(path, O_RDONLY) >= 0 ? 0 : errno);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

START_TEST(a_worker_is_its_users)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], one[33], two[33];
    struct stat st;
    if (geteuid() != 0)
        skip_test("worker_uid: a_worker_is_its_users: only root can run this");
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    post_as(alice, one);
    post_as(bob, two);
    uid_t a = uid_of_worker(one), b = uid_of_worker(two);
    ck_assert(a >= FIRST && a <= LAST && b >= FIRST && b <= LAST && a != b);
    ck_assert_int_eq(stat(session_path(d, one, "head.json"), &st), 0);
    ck_assert_uint_eq(st.st_uid, a);
    ck_assert_int_eq(st.st_mode & 077, 0);
    ck_assert_int_eq(open_as(a, session_path(d, two, "scene.json")), EACCES);
    ck_assert_int_eq(open_as(a, daemon_fixture_path(d, "token")), EACCES);
    ask(one, "pause"); /* control.log is the daemon's, and the worker's to read */
    session_await(d, one, "paused");
    json_t *paused = session_show(d, one);
    ck_assert_str_eq(json_text(paused, "message"), ""); /* not killed for being deaf */
    json_decref(paused);
    char first[33], second[33];
    branch_as(alice, one, 1, first);
    branch_as(alice, first, 1, second); /* with a parent of its parent */
    ask(one, "resume");
    session_await(d, one, "running");
    ck_assert_uint_eq(uid_of_worker(one), a);
    ask(two, "cancel");
    session_await(d, two, "cancelled");
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d); /* which takes up a worker of another uid */
    json_t *s = session_show(d, one);
    ck_assert_str_eq(json_text(s, "state"), "running");
    json_decref(s);
    ask(one, "cancel");
    session_await(d, one, "cancelled");
}
END_TEST

static const char rope[] = "v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 2 3\n";
static const char rope_hash[] = "44aec84d35eef502a995c53e1f008b64bb2c6bab328892c4c06aab2b1f3ab255";

/* A mesh, which sessions of several users share, stays the daemon's. */
START_TEST(a_shared_mesh_is_read)
{
    char id[33], target[96], scene[900];
    struct stat st;
    if (geteuid() != 0)
        skip_test("worker_uid: a_shared_mesh_is_read: only root can run this");
    snprintf(target, sizeof target, "/v1/meshes/%s", rope_hash);
    http_reply *r = http_call(d, "PUT", target, "Content-Type: application/octet-stream\r\n", rope,
                              strlen(rope));
    http_expect(r, 201);
    http_reply_free(r);
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3}, \"materials\": {\"m\": "
             "{\"young\": 1e6, \"density\": 336, \"area\": 1e-5}}, \"bodies\": [{\"name\": \"b\", "
             "\"mesh\": {\"upload\": \"sha256:%s\", \"format\": \"obj\"}, \"material\": \"m\"}]}",
             rope_hash);
    session_run(d, strdup(scene), id);
    ck_assert_int_eq(stat(daemon_fixture_path(d, "meshes/%.2s/%s", rope_hash, rope_hash), &st), 0);
    ck_assert_uint_eq(st.st_uid, 0);
    ck_assert_int_eq(st.st_mode & 0222, 0);
}
END_TEST

START_TEST(only_root_can_give)
{
    char said[256];
    const char *const args[] = {"--listen", "127.0.0.1:0", "--worker-uids", "0-5", NULL};
    ck_assert_int_eq(daemon_fixture_command(d, args, said, sizeof said), 2);
    if (geteuid() != 0) {
        const char *const unable[] = {"--listen", "127.0.0.1:0", "--worker-uids", "70000-70001",
                                      NULL};
        ck_assert_int_eq(daemon_fixture_command(d, unable, said, sizeof said), 2);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("uids of workers");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, start, stop_daemon);
    tcase_add_test(c, a_worker_is_its_users);
    tcase_add_test(c, a_shared_mesh_is_read);
    tcase_add_test(c, only_root_can_give);
    return run_cases("uids of workers", c);
}
