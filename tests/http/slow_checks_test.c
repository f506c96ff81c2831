/* Checks that do not end delay only their own user: with more of them than threads for checks, another user's POST is
 * answered, and the user's own continue once earlier ones have been ended. Users take turns, and one with too many
 * waiting checks is told so. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char programs[64];

/* A folder with a pliant-preflight that does not end if the scene's name is "held"; it writes to `order` that it has
 * begun, and waits for the file `gate-N` if the name is "gN-...". */
static void make_programs(void)
{
    char self[PATH_MAX], path[PATH_MAX + 40], target[PATH_MAX + 40];
    const char *build = getenv("PLIANT_BUILD");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n] = 0;
    for (int i = 0; i < 3; i++)
        *strrchr(self, '/') = 0;
    if (build)
        ck_assert_ptr_nonnull(realpath(build, self));
    snprintf(programs, sizeof programs, "/tmp/pliant-programs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(programs));
    snprintf(path, sizeof path, "%s/pliant-worker", programs);
    snprintf(target, sizeof target, "%s/pliant-worker", self);
    ck_assert_int_eq(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/pliant-preflight", programs);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "#!/bin/sh\nif /bin/grep -q '\"name\": *\"held\"' scene.json; then exec /bin/sleep "
            "100; fi\n"
            "gated=$(/bin/sed -n 's/.*\"name\": *\"\\(g[0-9]-[a-z0-9]*\\)\".*/\\1/p' scene.json)\n"
            "if [ -n \"$gated\" ]; then echo $gated >> '%s/order'\n"
            "while [ ! -e '%s'/gate-$(echo $gated | /bin/cut -c2) ]; do /bin/sleep 0.05; done\n"
            "/bin/cat /proc/self/oom_score_adj > '%s/score'; fi\n"
            "exec '%s/pliant-preflight' \"$@\"\n",
            programs, programs, programs, self);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

static void start_with(const char *checks)
{
    /* A prepared check would not run the script. */
    const char *const options[] = {"--cores", "2", "--max-checks", checks, "--prepared", "0", NULL};
    make_programs();
    setenv("PLIANT_BINDIR", programs, 1);
    daemon_fixture_start(d, options);
}

static void start(void)
{
    start_with("70");
}

static void stop(void)
{
    static const char *const names[] = {"pliant-worker", "pliant-preflight", "order",
                                        "gate-1",        "gate-2",           "score"};
    char path[100];
    daemon_fixture_stop(d);
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", programs, names[i]);
        unlink(path);
    }
    rmdir(programs);
}

enum { SCENE = 400 };

static void make_scene(const char *name, char scene[SCENE])
{
    snprintf(scene, SCENE,
             "{\"pliant\": 1, \"name\": \"%s\", \"time\": {\"step\": 0.01, \"steps\": 2}, "
             "\"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [3, 3, 3]}}}]}",
             name);
}

static void post(const char *secret, const char *name, char id[33])
{
    char scene[SCENE];
    make_scene(name, scene);
    http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", "Prefer: wait=0\r\n", scene);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_string_value(json_at(r->json, "id")));
    http_reply_free(r);
}

static void expect_state(const char *id, const char *state)
{
    json_t *shown = session_show(d, id);
    ck_assert_str_eq(json_string_value(json_at(shown, "state")), state);
    json_decref(shown);
}

START_TEST(test_others)
{
    enum { HELD = 3 }; /* and two threads */
    char anna[TENANT_SECRET], bert[TENANT_SECRET], held[HELD][33], own[33], other[33];
    tenant_user(d, "anna");
    tenant_user(d, "bert");
    tenant_token(d, "anna", "read submit", anna, NULL);
    tenant_token(d, "bert", "read submit", bert, NULL);
    for (int i = 0; i < HELD; i++)
        post(anna, "held", held[i]);
    post(anna, "own", own);
    post(bert, "other", other);
    expect_state(held[0], "checking"); /* so nobody has waited for it */
    session_await(d, other, "succeeded");
    expect_state(held[HELD - 1], "checking");
    session_tell(d, held[HELD - 1], "cancel");
    session_await(d, held[0], "rejected");
    session_await(d, own, "succeeded");
    session_await(d, held[HELD - 1], "cancelled");
}
END_TEST

static void user(const char *name, char secret[TENANT_SECRET])
{
    tenant_user(d, name);
    tenant_token(d, name, "read submit", secret, NULL);
}

/* A POST whose reply is not read yet; it waits for the check as long as that takes. */
static http_connection *begin_post(const char *secret, const char *name)
{
    char scene[SCENE], head[400];
    make_scene(name, scene);
    snprintf(head, sizeof head,
             "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
             "Content-Type: application/json\r\nPrefer: wait=60\r\nContent-Length: %zu\r\n\r\n",
             d->port, secret, strlen(scene));
    http_connection *c = http_open(d);
    ck_assert(http_write(c, head, strlen(head)) && http_write(c, scene, strlen(scene)));
    return c;
}

static int count_answered(http_connection *const *posts, int count)
{
    int answered = 0;
    for (int i = 0; i < count; i++) {
        char byte;
        answered += recv(http_socket(posts[i]), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
    }
    return answered;
}

/* 60 requests wait for checks that do not end: the next user's is answered first, except for those already being
 * checked; and the daemon ends while they wait. */
START_TEST(test_many_of_one)
{
    enum { MANY = 60, RUNNING = 2 };
    char anna[TENANT_SECRET], bert[TENANT_SECRET];
    http_connection *posts[MANY];
    user("anna", anna);
    user("bert", bert);
    for (int i = 0; i < MANY; i++)
        posts[i] = begin_post(anna, "held");
    while (session_counter(d, "preflights_total") < RUNNING)
        daemon_fixture_nap();
    http_connection *other = begin_post(bert, "other");
    http_reply *r = http_read_head(other);
    ck_assert_int_le(count_answered(posts, MANY), RUNNING);
    ck_assert_int_eq(r->status, 201);
    ck_assert(http_read_body(other, r));
    ck_assert_ptr_null(strstr(r->body, "\"checking\""));
    http_reply_free(r);
    http_close(other);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    r = http_read_head(posts[MANY - 1]);
    ck_assert_int_eq(r->status, 503);
    http_reply_free(r);
    for (int i = 0; i < MANY; i++)
        http_close(posts[i]);
    daemon_fixture_resume(d);
}
END_TEST

/* The checks that have begun, in any order, once there are so many. */
static void await_begun(int count, char begun[400])
{
    char path[100];
    snprintf(path, sizeof path, "%s/order", programs);
    for (int lines = 0; lines < count; daemon_fixture_nap()) {
        FILE *file = fopen(path, "r");
        size_t n = file ? fread(begun, 1, 399, file) : 0;
        begun[n] = 0;
        lines = 0;
        for (size_t i = 0; i < n; i++)
            lines += begun[i] == '\n';
        if (file)
            fclose(file);
    }
}

static void open_gate(int gate)
{
    char path[100];
    snprintf(path, sizeof path, "%s/gate-%d", programs, gate);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static long read_number(const char *path)
{
    long number = -2000;
    FILE *file = fopen(path, "r");
    ck_assert(file && fscanf(file, "%ld", &number) == 1);
    fclose(file);
    return number;
}

/* Two at once per user, four in all. When those of the first two have ended, the third user's start, beside the older
 * remaining one of each of these users. When out of memory, the kernel kills a check before the daemon. */
START_TEST(test_turns)
{
    static const char *const first[] = {"g1-a1", "g1-a2", "g1-b1", "g1-b2"};
    static const char *const second[] = {"g2-c1", "g2-c2", "g2-a3", "g2-b3"};
    char anna[TENANT_SECRET], bert[TENANT_SECRET], carl[TENANT_SECRET], id[33], begun[400],
        path[100];
    user("anna", anna);
    user("bert", bert);
    user("carl", carl);
    for (int i = 0; i < 2; i++)
        post(anna, first[i], id);
    post(anna, "g2-a3", id);
    post(anna, "g2-a4", id);
    for (int i = 2; i < 4; i++)
        post(bert, first[i], id);
    post(bert, "g2-b3", id);
    post(bert, "g2-b4", id);
    await_begun(4, begun);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(strstr(begun, first[i]), "%s", begun);
    post(carl, "g2-c1", id);
    post(carl, "g2-c2", id);
    open_gate(1);
    await_begun(8, begun);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(strstr(begun, second[i]), "%s", begun);
    open_gate(2);
    session_await(d, id, "succeeded");
    snprintf(path, sizeof path, "%s/score", programs);
    ck_assert_int_gt(read_number(path), read_number("/proc/self/oom_score_adj"));
}
END_TEST

static void start_strict(void)
{
    start_with("3");
}

/* Two are checked and three wait: one more is too many, but not of another user, and not one that was already
 * answered. */
START_TEST(test_too_many)
{
    static const char key[] = "Idempotency-Key: once\r\n";
    char anna[TENANT_SECRET], bert[TENANT_SECRET], held[5][33], scene[SCENE];
    user("anna", anna);
    user("bert", bert);
    make_scene("kept", scene);
    http_reply *kept = tenant_call(d, anna, "POST", "/v1/sessions", key, scene);
    http_expect(kept, 201);
    int64_t before = session_counter(d, "preflights_total");
    for (int i = 0; i < 5; i++) {
        post(anna, "held", held[i]);
        while (session_counter(d, "preflights_total") < before + (i < 2 ? i + 1 : 2))
            daemon_fixture_nap();
    }
    make_scene("more", scene);
    http_reply *r = tenant_call(d, anna, "POST", "/v1/sessions", NULL, scene);
    http_problem(r, 429, "too_many_checks");
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "detail"), "3 of your"));
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "detail"), "the maximum is 3"));
    ck_assert_ptr_nonnull(http_header(r, "Retry-After"));
    http_reply_free(r);
    r = tenant_call(d, anna, "POST", "/v1/validate", NULL, scene);
    http_problem(r, 429, "too_many_checks");
    http_reply_free(r);
    r = tenant_call(d, bert, "POST", "/v1/validate", NULL, scene);
    http_expect(r, 200);
    http_reply_free(r);
    make_scene("kept", scene);
    r = tenant_call(d, anna, "POST", "/v1/sessions", key, scene);
    http_expect(r, 201);
    ck_assert_str_eq(r->body, kept->body);
    http_reply_free(r);
    http_reply_free(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slow checks");
    TCase *tests = tcase_create("slow checks");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, test_others);
    tcase_add_test(tests, test_many_of_one);
    tcase_add_test(tests, test_turns);
    suite_add_tcase(suite, tests);
    tests = tcase_create("too many");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start_strict, stop);
    tcase_add_test(tests, test_too_many);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
