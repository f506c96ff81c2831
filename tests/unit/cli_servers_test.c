/* The file of named servers: contents, errors, and that a change keeps everything else. */
#include "clients/cli/net/servers.h"

#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pliant-servers-XXXXXX", path[64], error[PL_SERVER_ERROR];
static pl_servers s;

static void setup(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/config", folder);
    setenv("PLIANT_CONFIG", path, 1);
}

static void teardown(void)
{
    char command[128];
    pl_servers_clear(&s);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_config(const char *text)
{
    char above[64];
    snprintf(above, sizeof above, "%s/a", folder);
    mkdir(above, 0700);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void expect_file(const char *text)
{
    char found[2048];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    fclose(f);
    ck_assert_str_eq(found, text);
}

static int mode_of(const char *of)
{
    struct stat st;
    ck_assert_int_eq(stat(of, &st), 0);
    return st.st_mode & 0777;
}

START_TEST(no_file_has_none)
{
    ck_assert(pl_servers_read(&s, error));
    ck_assert_int_eq(s.count, 0);
    ck_assert_ptr_null(s.chosen);
}
END_TEST

START_TEST(what_it_says)
{
    write_config("# mine\n default = far \n\n[ near ]\nurl=unix:/run/pliant\n[far]\n"
                 "\turl = https://far:8443\r\ntoken-file = /a b/token\n");
    ck_assert_msg(pl_servers_read(&s, error), "%s", error);
    ck_assert_int_eq(s.count, 2);
    ck_assert_str_eq(s.chosen, "far");
    ck_assert_str_eq(pl_servers_find(&s, "near")->url, "unix:/run/pliant");
    ck_assert_ptr_null(pl_servers_find(&s, "near")->token_file);
    ck_assert_str_eq(pl_servers_find(&s, "far")->url, "https://far:8443");
    ck_assert_str_eq(pl_servers_find(&s, "far")->token_file, "/a b/token");
    ck_assert_ptr_null(pl_servers_find(&s, "fa"));
}
END_TEST

START_TEST(what_is_wrong_is_located)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"url = http://a\n", "line 1 is not"},
        {"[a]\nurl = http://a\nurl = http://b\n", "line 3 is not"},
        {"[a]\nurl = http://a\n[a]\n", "line 3 is not"},
        {"[a b]\n", "line 1 is not"},
        {"[a]\ntoken = secret\n", "line 2 is not"},
        {"[a]\n", "without a url"},
        {"[a]\nurl = ftp://a\n", "without a url"},
        {"default = b\n[a]\nurl = http://a\n", "default is not one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_config(cases[i].text);
        ck_assert_msg(!pl_servers_read(&s, error), "%s", cases[i].text);
        ck_assert_msg(strstr(error, cases[i].said) && strstr(error, path), "%s: %s", cases[i].text,
                      error);
        pl_servers_clear(&s);
    }
}
END_TEST

START_TEST(a_change_keeps_the_rest)
{
    write_config("# mine\n[a]\nurl = http://a\n# of b\n[b]\nurl = http://b\n");
    ck_assert(pl_servers_read(&s, error));
    ck_assert_msg(pl_servers_add(&s, "c", "unix:/c", "/t", error), "%s", error);
    ck_assert_msg(pl_servers_choose(&s, "b", error), "%s", error);
    expect_file("default = b\n\n# mine\n[a]\nurl = http://a\n# of b\n[b]\nurl = http://b\n\n[c]\n"
                "url = unix:/c\ntoken-file = /t\n");
    ck_assert_int_eq(mode_of(path), 0600);
    ck_assert_str_eq(s.chosen, "b");
    ck_assert_int_eq(s.count, 3);
    ck_assert(pl_servers_add(&s, "a", "http://other", NULL, error));
    ck_assert_int_eq(s.count, 3);
    ck_assert_str_eq(pl_servers_find(&s, "a")->url, "http://other");
    ck_assert(pl_servers_remove(&s, "b", error));
    ck_assert_ptr_null(s.chosen);
    ck_assert_ptr_null(pl_servers_find(&s, "b"));
    ck_assert(pl_servers_choose(&s, "c", error) && pl_servers_choose(&s, NULL, error));
    expect_file("# mine\n\n[c]\nurl = unix:/c\ntoken-file = /t\n\n[a]\nurl = http://other\n");
}
END_TEST

START_TEST(names_and_addresses)
{
    static const char *const names[] = {"a", "lab-2.example_x", "9"};
    static const char *const no_names[] = {"", "-a", ".a", "a b", "a/b", "a]", "\xc3\xa4"};
    static const char *const urls[] = {"http://a", "https://[::1]:8", "unix:/run/x", "unix:x"};
    static const char *const no_urls[] = {"",      "a",          "http://", "http:///",
                                          "unix:", "http://a b", "ftp://a"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(pl_server_name_good(names[i]), "%s", names[i]);
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++)
        ck_assert_msg(!pl_server_name_good(no_names[i]), "%s", no_names[i]);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        ck_assert_msg(pl_server_url_good(urls[i]), "%s", urls[i]);
    for (size_t i = 0; i < sizeof no_urls / sizeof *no_urls; i++)
        ck_assert_msg(!pl_server_url_good(no_urls[i]), "%s", no_urls[i]);
}
END_TEST

/* A token's file is readable by its user alone, and one that others may read is not used. */
START_TEST(tokens_are_ones_own)
{
    ck_assert(pl_servers_read(&s, error));
    char *file = pl_server_token_path(&s, "lab");
    ck_assert_ptr_nonnull(strstr(file, "/a/lab.token"));
    ck_assert_msg(pl_server_token_write(file, "plt_1", error), "%s", error);
    ck_assert_int_eq(mode_of(file), 0600);
    char *token = pl_server_token_read(file, error);
    ck_assert_str_eq(token, "plt_1");
    free(token);
    static const mode_t open_modes[] = {0640, 0604, 0666};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        chmod(file, open_modes[i]);
        ck_assert_ptr_null(pl_server_token_read(file, error));
        ck_assert_ptr_nonnull(strstr(error, "chmod 600"));
    }
    chmod(file, 0600);
    ck_assert_int_eq(truncate(file, 0), 0);
    ck_assert_ptr_null(pl_server_token_read(file, error));
    ck_assert_ptr_nonnull(strstr(error, "no token"));
    ck_assert_ptr_null(pl_server_token_read("/nowhere/token", error));
    free(file);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("servers");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, no_file_has_none);
    tcase_add_test(c, what_it_says);
    tcase_add_test(c, what_is_wrong_is_located);
    tcase_add_test(c, a_change_keeps_the_rest);
    tcase_add_test(c, names_and_addresses);
    tcase_add_test(c, tokens_are_ones_own);
    return run_cases("named servers", c);
}
