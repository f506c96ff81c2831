/* The command line's tokens, share links and logins against a real daemon. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* The first line of its output. */
static void first_line(char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)strcspn(pliant_out, "\n"), pliant_out);
}

START_TEST(tokens_are_made_listed_and_revoked)
{
    char token[128], id[40];
    ck_assert_int_eq(pliant("whoami"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "owner, by owner, may read,submit,admin,metrics"));
    ck_assert_int_eq(pliant("token create --name laptop --scopes read --expires 2h"), 0);
    first_line(token, sizeof token);
    ck_assert_int_eq(strncmp(token, "plt_", 4), 0);
    ck_assert_int_eq(pliant("--token %s whoami", token), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "owner, by token, may read\n"));
    ck_assert_int_eq(pliant("--token %s token create --scopes submit", token), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/scopes"));
    ck_assert_int_eq(pliant("token list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "laptop"));
    ck_assert_ptr_null(strstr(pliant_out, token));
    snprintf(id, sizeof id, "%.32s", pliant_out);
    ck_assert_int_eq(pliant("token revoke %s", id), 0);
    ck_assert_int_eq(pliant("--token %s whoami", token), 4);
    ck_assert_int_eq(pliant("token revoke %s", id), 5);
    ck_assert_int_eq(pliant("token revoke ../users/x"), 2);
    ck_assert_int_eq(pliant("token destroy"), 2);
    ck_assert_int_eq(pliant("token create --expires soon"), 2);
    pliant_write_scene("scene.json", 2, PLIANT_BOX);
    ck_assert_int_eq(pliant("submit scene.json --group lab"), 4);
    ck_assert_int_eq(pliant("submit scene.json --group a/b"), 2);
}
END_TEST

START_TEST(a_session_is_shared)
{
    char link[40];
    const char *id = pliant_submit(2);
    ck_assert_int_eq(pliant("share %s --name Bob --expires 1d", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "/#link=plt_"));
    ck_assert_int_eq(pliant("share %s --list", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "Bob"));
    snprintf(link, sizeof link, "%.32s", pliant_out);
    ck_assert_int_eq(pliant("share %s --revoke %s", id, link), 0);
    ck_assert_int_eq(pliant("share %s --list", id), 0);
    ck_assert_ptr_null(strstr(pliant_out, "Bob"));
    ck_assert_int_eq(pliant("share %s --revoke %s", id, link), 5);
    ck_assert_int_eq(pliant("login"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "/#code="));
    ck_assert_int_eq(pliant("--json login"), 0);
    pl_json *code = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_int_eq(pl_json_integer(code, "expires_in", 0), 300);
    pl_json_free(code);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("access");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, pliant_setup, pliant_teardown);
    tcase_add_test(t, tokens_are_made_listed_and_revoked);
    tcase_add_test(t, a_session_is_shared);
    return run_cases("cli: access", t);
}
