/* The log: a line is one write, whatever is in its message; as JSON it is an object, and what its thread works for is
 * in members of its own. */
#include "server/base/logger.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 8192 };
static int ends[2], old;
static char got[ROOM];

/* A pipe in which reads end where a write ended. */
static void start(void)
{
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_DIRECT | O_NONBLOCK), 0);
    old = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
}

static void stop(void)
{
    dup2(old, STDERR_FILENO);
    close(old);
    close(ends[0]);
    close(ends[1]);
    pl_logf_choose(PL_LOGF_TEXT);
    pl_logf_about(NULL);
}

/* What one write wrote: a line. */
static const char *line(void)
{
    ssize_t n = read(ends[0], got, ROOM - 1);
    ck_assert_int_gt(n, 0);
    got[n] = 0;
    ck_assert_ptr_eq(strchr(got, '\n'), got + n - 1);
    ck_assert_int_eq(read(ends[0], got + n, ROOM - (size_t)n), -1); /* and no other */
    return got;
}

static json_t *object(void)
{
    json_t *o = json_loads(line(), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json_is_object(o), "%s", got);
    return o;
}

static const char *member(const json_t *o, const char *name)
{
    const char *value = json_string_value(json_object_get(o, name));
    return value ? value : "(none)";
}

static void check_time(const char *text)
{
    int n[7], end = 0;
    ck_assert_msg(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", n, n + 1, n + 2, n + 3, n + 4,
                         n + 5, n + 6, &end) == 7 &&
                      end == 24,
                  "%s", text);
}

START_TEST(test_text)
{
    pl_logf(PL_LEVEL_WARN, "session %s: %s", "00ff", "a\nb\x1b[31m \"\\ \xc3\xa9");
    check_time(line());
    ck_assert_str_eq(got + 24, " warn  session 00ff: a?b?[31m \"\\ \xc3\xa9\n");
    pl_logf(PL_LEVEL_DEBUG, "not at this level");
    ck_assert_int_eq(read(ends[0], got, ROOM), -1);
}
END_TEST

START_TEST(test_json)
{
    pl_logf_choose(PL_LOGF_JSON);
    pl_logf(PL_LEVEL_INFO, "%d sessions loaded", 3);
    json_t *o = object();
    ck_assert_uint_eq(json_object_size(o), 3);
    check_time(member(o, "time"));
    ck_assert_uint_eq(strlen(member(o, "time")), 24);
    ck_assert_str_eq(member(o, "level"), "info");
    ck_assert_str_eq(member(o, "message"), "3 sessions loaded");
    json_decref(o);
}
END_TEST

START_TEST(test_subjects)
{
    static const char id[] = "0123456789abcdef0123456789abcdef";
    pl_logf_subject subject = {.request = "11112222333344445555666677778888", .user = "anna\"\n"};
    pl_logf_choose(PL_LOGF_JSON);
    pl_logf_about(&subject);
    pl_logf(PL_LEVEL_ERROR, "session %s: its directory: %s", id, "no room");
    json_t *o = object();
    ck_assert_str_eq(member(o, "session"), id);
    ck_assert_str_eq(member(o, "request"), subject.request);
    ck_assert_str_eq(member(o, "user"), subject.user);
    ck_assert_str_eq(member(o, "level"), "error");
    json_decref(o);
    /* A message's argument is never a session, whatever it looks like. */
    pl_logf(PL_LEVEL_ERROR, "%s", "session 0123456789abcdef0123456789abcdef: forged");
    o = object();
    ck_assert_str_eq(member(o, "session"), "(none)");
    json_decref(o);
    pl_logf_about(NULL);
    pl_logf(PL_LEVEL_ERROR, "session %s could not be loaded", id);
    o = object();
    ck_assert_str_eq(member(o, "session"), id);
    ck_assert_str_eq(member(o, "request"), "(none)");
    ck_assert_str_eq(member(o, "user"), "(none)");
    json_decref(o);
}
END_TEST

/* Each byte, alone and after another; invalid UTF-8 becomes U+FFFD. */
START_TEST(test_hostile_bytes)
{
    pl_logf_choose(PL_LOGF_JSON);
    for (int first = 1; first < 256; first++)
        for (int second = 1; second < 256; second += first < 0xc0 ? 37 : 5) {
            char text[] = {(char)first, (char)second, '}', 0};
            pl_logf(PL_LEVEL_WARN, "%s", text);
            json_t *o = object();
            if (first < 0x80 && second < 0x80)
                ck_assert_str_eq(member(o, "message"), text);
            json_decref(o);
        }
    static const char *const bad[] = {"\xed\xa0\x80",     "\xe0\x80\xaf",     "\xf4\x90\x80\x80",
                                      "\xf0\x80\x80\x80", "\xf8\x88\x80\x80", "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pl_logf(PL_LEVEL_WARN, "%s", bad[i]);
        json_t *o = object();
        ck_assert_int_eq(strncmp(member(o, "message"), "\xef\xbf\xbd", 3), 0);
        json_decref(o);
    }
    pl_logf(PL_LEVEL_WARN, "%s", "\xf0\x9f\x98\x80 \xe2\x82\xac");
    json_t *o = object();
    ck_assert_str_eq(member(o, "message"), "\xf0\x9f\x98\x80 \xe2\x82\xac");
    json_decref(o);
}
END_TEST

/* However long: an object in one write of at most 4096 bytes, which a pipe does not split. */
START_TEST(test_long)
{
    static char text[3000];
    static const char fill[] = {'\x01', 'a', '"', (char)0xc3};
    pl_logf_subject subject = {.request = "11112222333344445555666677778888"};
    for (size_t k = 0; k < sizeof fill; k++) {
        memset(text, fill[k], sizeof text - 1);
        memset(subject.user, fill[k], sizeof subject.user - 1);
        for (int json = 0; json < 2; json++) {
            pl_logf_choose(json ? PL_LOGF_JSON : PL_LOGF_TEXT);
            pl_logf_about(&subject);
            pl_logf(PL_LEVEL_WARN, "%s", text);
            if (json) {
                json_t *o = object();
                ck_assert_uint_gt(strlen(member(o, "message")), 300);
                json_decref(o);
            } else {
                ck_assert_uint_gt(strlen(line()), 900);
            }
            ck_assert_uint_le(strlen(got), 4096);
        }
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("logger");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_text);
    tcase_add_test(cases, test_json);
    tcase_add_test(cases, test_subjects);
    tcase_add_test(cases, test_hostile_bytes);
    tcase_add_test(cases, test_long);
    return run_cases("base: logger", cases);
}
