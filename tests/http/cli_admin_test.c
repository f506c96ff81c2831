/* Users, groups, devices and the audit log on the command line; every list is the same JSON. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(users_and_groups)
{
    char token[120];
    ck_assert_msg(pliant("user create alice --limit sessions=3,bytes=1000 --uid 4242") == 0, "%s",
                  pliant_err);
    ck_assert_int_eq(pliant("user create alice"), 1);
    ck_assert_int_eq(pliant("user create bob --limit sesions=3"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "sessions=20,bytes=none"));
    ck_assert_int_eq(pliant("user create bob --limit sessions="), 2);
    ck_assert_int_eq(pliant("user change alice --limit bytes=none,cores=2"), 0);
    ck_assert_int_eq(pliant("user list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "uid=4242 sessions=3 cores=2\n"));
    ck_assert_int_eq(pliant("user change alice --share 2"), 0);
    ck_assert_int_eq(pliant("user change alice --share 0"), 2);
    ck_assert_int_eq(pliant("user"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "uid=4242 sessions=3 cores=2 share=2\n"));
    ck_assert_int_eq(pliant("group create lab --limit running=4"), 0);
    ck_assert_int_eq(pliant("group change lab --limit queued=9 --share 3"), 0);
    ck_assert_int_eq(pliant("group change lab --limit requests=9"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "requests"));
    ck_assert_int_eq(pliant("group list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, " queued=9 running=4 share=3\n"));
    ck_assert_int_eq(pliant("group add lab alice --role manage"), 0);
    ck_assert_int_eq(pliant("group add lab nobody"), 5);
    ck_assert_int_eq(pliant("group list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "alice:manage"));
    ck_assert_int_eq(pliant("token create --user alice --scopes read"), 0);
    snprintf(token, sizeof token, "%.*s", (int)strcspn(pliant_out, "\n"), pliant_out);
    ck_assert_int_eq(pliant("--token %s whoami", token), 0);
    ck_assert_int_eq(pliant("--token %s user list", token), 4);
    ck_assert_int_eq(pliant("user disable alice"), 0);
    ck_assert_int_eq(pliant("--token %s whoami", token), 4);
    ck_assert_int_eq(pliant("user enable alice"), 0);
    ck_assert_int_eq(pliant("--token %s whoami", token), 0);
    ck_assert_int_eq(pliant("group drop lab alice"), 0);
    ck_assert_int_eq(pliant("group remove lab"), 0);
    ck_assert_int_eq(pliant("user remove alice"), 0);
    ck_assert_int_eq(pliant("user remove alice"), 5);
    ck_assert_int_eq(pliant("user remove ../tokens"), 5);
    ck_assert_int_eq(pliant("audit --user owner --target alice --limit 3"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "/v1/users"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "there are more"));
}
END_TEST

/* A row for each user and one of all; the same as CSV and as JSON. */
START_TEST(usage_is_shown)
{
    ck_assert_int_eq(pliant("follow %s", pliant_submit(2)), 0);
    ck_assert_int_eq(pliant("usage"), 0);
    ck_assert_int_eq(strncmp(pliant_out, "user ", 5), 0);
    const char *owner = strstr(pliant_out, "\nowner "), *all = strstr(pliant_out, "\nall of ");
    ck_assert(owner && all && owner < all);
    ck_assert_ptr_nonnull(strstr(owner, "100.0 %"));
    ck_assert_int_eq(pliant("usage --by day --from 2026-01-01 --to 2026-01-02 --csv"), 0);
    ck_assert_str_eq(pliant_out, "day,core_seconds,gpu_seconds,runs,bytes\n");
    ck_assert_int_eq(pliant("usage --by group --json"), 0);
    pl_json *usage = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_int_eq(pl_json_integer(usage, "items/0/runs", 0), 1);
    pl_json_free(usage);
    ck_assert_int_eq(pliant("usage --by week"), 2);
    ck_assert_int_eq(pliant("usage --from yesterday"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "2026-01-31"));
}
END_TEST

START_TEST(devices_are_drained)
{
    ck_assert_int_eq(pliant("devices list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "0 of 2 cores"));
    ck_assert_int_eq(pliant("devices drain cpu"), 0);
    ck_assert_int_eq(pliant("devices list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "draining"));
    ck_assert_int_eq(pliant("devices resume cpu"), 0);
    ck_assert_int_eq(pliant("devices drain nothing"), 5);
}
END_TEST

START_TEST(what_the_daemon_says_of_itself)
{
    ck_assert_int_eq(pliant("schema"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"$schema\": \"https://json-schema.org/"));
    ck_assert_int_eq(pliant("explain session_over"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "session has ended"));
    ck_assert_ptr_null(strchr(pliant_out, '<'));
    ck_assert_int_eq(pliant("explain nonsense"), 5);
    ck_assert_int_eq(pliant("webhook-secret"), 0);
    ck_assert_uint_eq(strlen(pliant_out), 65);
}
END_TEST

START_TEST(controls_are_listed)
{
    const char *id = pliant_submit(100000);
    ck_assert_int_eq(pliant("control %s '{\"gravity\": [0, 1, 0]}'", id), 0);
    for (double end = daemon_fixture_clock() + 60; daemon_fixture_clock() < end;) {
        ck_assert_int_eq(pliant("controls %s", id), 0);
        if (!strstr(pliant_out, "none yet"))
            break;
        daemon_fixture_nap();
    }
    ck_assert_ptr_nonnull(strstr(pliant_out, "   1  frame "));
    ck_assert_ptr_nonnull(strstr(pliant_out, "gravity"));
}
END_TEST

/* {"items": [...], "next": ...} on one line, whatever is listed; more than one page is read to its end. */
START_TEST(every_list_is_alike)
{
    char id[40];
    snprintf(id, sizeof id, "%s", pliant_submit(2));
    const char *const lists[] = {"list",       "token list", "meshes",       "user list",
                                 "group list", "audit",      "devices list", "server list"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists + 2; i++) {
        int status = i < 8    ? pliant("%s --json", lists[i])
                     : i == 8 ? pliant("share %s --list --json", id)
                              : pliant("controls %s --json", id);
        ck_assert_msg(status == 0, "%zu: %s", i, pliant_err);
        ck_assert_uint_eq(strcspn(pliant_out, "\n") + 1, strlen(pliant_out));
        pl_json *list = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
        ck_assert_msg(strncmp(pliant_out, "{\"items\":[", 10) == 0, "%zu: %s", i, pliant_out);
        ck_assert_msg(pl_json_is_null(pl_json_at(list, "next")), "%zu: %s", i, pliant_out);
        pl_json_free(list);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pliant("submit scene.json"), 0);
    ck_assert_int_eq(pliant("list --limit 3 --json"), 0);
    pl_json *list = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_uint_eq(pl_json_count(pl_json_at(list, "items")), 3);
    ck_assert_ptr_nonnull(pl_json_string(list, "next", NULL));
    pl_json_free(list);
    ck_assert_int_eq(pliant("list --limit 501"), 0);
    ck_assert_str_eq(pliant_err, "");
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("admin");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, pliant_setup, pliant_teardown);
    tcase_add_test(c, users_and_groups);
    tcase_add_test(c, usage_is_shown);
    tcase_add_test(c, devices_are_drained);
    tcase_add_test(c, what_the_daemon_says_of_itself);
    tcase_add_test(c, controls_are_listed);
    tcase_add_test(c, every_list_is_alike);
    return run_cases("the command line of administrators", c);
}
