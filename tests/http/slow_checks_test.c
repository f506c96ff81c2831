/* Checks that do not end hold up nobody but their own user: with more of them than there are threads for checks,
 * another user's POST is answered, and the user's own are taken up when those before them have been ended. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char programs[64];

/* A folder with a pliant-preflight that does not end where the scene's name is "held". */
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
            "exec '%s/pliant-preflight' \"$@\"\n",
            self);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

static void start(void)
{
    static const char *const options[] = {"--cores", "2", NULL};
    make_programs();
    setenv("PLIANT_BINDIR", programs, 1);
    daemon_fixture_start(d, options);
}

static void stop(void)
{
    char path[100];
    daemon_fixture_stop(d);
    snprintf(path, sizeof path, "%s/pliant-worker", programs);
    unlink(path);
    snprintf(path, sizeof path, "%s/pliant-preflight", programs);
    unlink(path);
    rmdir(programs);
}

static void post(const char *secret, const char *name, char id[33])
{
    char scene[400];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"name\": \"%s\", \"time\": {\"step\": 0.01, \"steps\": 2}, "
             "\"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [3, 3, 3]}}}]}",
             name);
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

int main(void)
{
    TCase *tests = tcase_create("slow checks");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, test_others);
    return run_cases("slow checks", tests);
}
