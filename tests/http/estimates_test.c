/* Estimates that learn: a session's actual time scales the estimate of the owner's next similar session, also after a
 * restart of the daemon; /metrics counts the errors of estimates. */
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static daemon_fixture fixture;
static daemon_fixture *d = &fixture;

static void start(void)
{
    daemon_fixture_start(d, NULL);
}

static void stop(void)
{
    daemon_fixture_stop(d);
}

static double number(const json_t *document, const char *group, const char *key)
{
    const json_t *value = json_object_get(json_object_get(document, group), key);
    ck_assert_msg(json_is_number(value), "%s/%s is no number", group, key);
    return json_number_value(value);
}

typedef struct estimate {
    double setup, frame; /* s */
} estimate;

/* As the user with this token sees it; NULL: the owner. */
static estimate ask(const char *secret)
{
    char *scene = session_scene(50, 1, "");
    http_reply *r = secret ? tenant_call(d, secret, "POST", "/v1/validate", NULL, scene)
                           : http_call(d, "POST", "/v1/validate",
                                       "Content-Type: application/json\r\n", scene, strlen(scene));
    http_expect(r, 200);
    estimate e = {number(r->json, "estimate", "setup_seconds"),
                  number(r->json, "estimate", "seconds_per_frame")};
    http_reply_free(r);
    free(scene);
    return e;
}

/* s that a session ran, by its exit.json. */
static double took(const char *id)
{
    char text[2000] = "";
    FILE *file = fopen(session_path(d, id, "exit.json"), "r");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *at = n > 0 ? strstr(text, "\"seconds\":") : NULL;
    ck_assert_ptr_nonnull(at);
    return strtod(at + strlen("\"seconds\":"), NULL);
}

START_TEST(test_learning)
{
    char id[33], secret[80], token[40];
    tenant_user(d, "anna");
    tenant_token(d, "anna", "submit,read", secret, token);
    estimate first = ask(NULL);
    ck_assert_int_eq(session_counter(d, "estimate_ratio_count"), 0);
    session_run(d, session_scene(50, 1, ""), id);
    double ratio = took(id) / (first.setup + 50 * first.frame);
    estimate second = ask(NULL);
    ck_assert_double_eq_tol(second.frame, ratio * first.frame, 1e-6 * second.frame);
    ck_assert_double_eq_tol(second.setup, ratio * first.setup, 1e-6 * second.setup);
    ck_assert_int_eq(session_counter(d, "estimate_ratio_count"), 1);
    ck_assert_double_eq(ask(secret).frame,
                        first.frame); /* another user must not learn that the owner ran it */
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    ck_assert_double_eq_tol(ask(NULL).frame, second.frame, 1e-9 * second.frame);
    session_run(d, session_scene(50, 1, ""), id);
    double again = took(id) / (first.setup + 50 * first.frame);
    estimate third = ask(NULL);
    ck_assert_double_eq_tol(third.frame, sqrt(ratio * again) * first.frame, 1e-6 * third.frame);
    session_run(d, session_scene(50, 1, ""), id);
    ck_assert_double_ne(ask(secret).frame, first.frame); /* three of a size are anybody's */
}
END_TEST

/* Cancelled sessions, or those without an end, do not count. */
START_TEST(test_nothing_to_learn)
{
    char id[33];
    estimate first = ask(NULL);
    session_post_free(d, session_scene_endless(""), id);
    session_await(d, id, "running");
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    ck_assert_double_eq(ask(NULL).frame, first.frame);
    ck_assert_int_eq(session_counter(d, "estimate_ratio_count"), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("estimates");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_learning);
    tcase_add_test(cases, test_nothing_to_learn);
    return run_cases("estimates", cases);
}
