/* The log as JSON: every line is an object, with the session, request and user that it is about; and the ids of
 * requests, which their replies carry. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char config[64];

static void write_config(const char *format)
{
    FILE *file = fopen(config, "we");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "log-format = %s\nlog-level = debug\ncores = 2\n", format);
    fclose(file);
}

static void start(void)
{
    static const char *const options[] = {"--config", config, NULL};
    strcpy(config, "/tmp/pliant-log-XXXXXX");
    int fd = mkstemp(config);
    ck_assert_int_ge(fd, 0);
    close(fd);
    write_config("json");
    daemon_fixture_start(d, options);
}

static void stop(void)
{
    daemon_fixture_stop(d);
    unlink(config);
}

static char *read_log(void)
{
    static char text[1 << 20];
    char path[300];
    snprintf(path, sizeof path, "%s/daemon.log", d->directory);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}

/* The newest line whose message contains these words. With `patient` it waits for one, else NULL means none. */
static json_t *find(const char *words, bool patient)
{
    for (double last = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *found = NULL;
        for (char *rest = read_log(), *line; (line = strsep(&rest, "\n"));) {
            json_t *o = line[0] == '{' ? json_loads(line, 0, NULL) : NULL;
            if (o && strstr(json_text(o, "message"), words)) {
                json_decref(found);
                found = json_incref(o);
            }
            json_decref(o);
        }
        if (found || !patient)
            return found;
        ck_assert_msg(daemon_fixture_clock() < last, "not said: %s", words);
    }
}

static void expect(const char *words, const char *member, const char *value)
{
    json_t *o = find(words, true);
    ck_assert_msg(strcmp(json_text(o, member), value) == 0, "%s: %s is '%s', expected '%s'", words,
                  member, json_text(o, member), value);
    json_decref(o);
}

/* The id of the reply to a GET with this header. */
static void ask(const char *header, char id[33])
{
    http_reply *r = http_call(d, "GET", "/healthz", header, NULL, 0);
    http_expect(r, 200);
    ck_assert_uint_eq(strlen(http_header(r, "X-Request-Id")), 32);
    ck_assert_uint_eq(strspn(http_header(r, "X-Request-Id"), "0123456789abcdef"), 32);
    strcpy(id, http_header(r, "X-Request-Id"));
    http_reply_free(r);
}

/* Two numbers of 16 hex digits. */
static double apart(const char *a, const char *b)
{
    char text[2][17];
    snprintf(text[0], 17, "%.16s", a);
    snprintf(text[1], 17, "%.16s", b);
    return fabs((double)strtoull(text[0], NULL, 16) - (double)strtoull(text[1], NULL, 16));
}

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

START_TEST(test_ids)
{
    char id[33], before[33] = "0000000000000000";
    ask("traceparent: 00-" TRACE "-" PARENT "-01\r\n", id);
    ck_assert_str_eq(id, TRACE);
    static const char *const bad[] = {
        "",
        "traceparent: \r\n",
        "traceparent: 00-" TRACE "-" PARENT "\r\n",
        "traceparent: 00-" TRACE "-" PARENT "-0\r\n",
        "traceparent: 00-" TRACE "-" PARENT "-0g\r\n",
        "traceparent: 00-" TRACE "-" PARENT "-011\r\n",
        "traceparent: ff-" TRACE "-" PARENT "-01\r\n",
        "traceparent: 00-" TRACE "_" PARENT "-01\r\n",
        "traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01\r\n",
        "traceparent: 00-00000000000000000000000000000000-" PARENT "-01\r\n",
        "traceparent: 00-" TRACE "-0000000000000000-01\r\n",
        "traceparent: 00-\"}{\"a\": 1, \"bbbbbbbbbbbbbbbbbbbb-" PARENT "-01\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ask(bad[i], id);
        ck_assert_msg(strcmp(id, TRACE) != 0, "%s", bad[i]);
        /* No part of it counts: it would tell how much others ask. */
        ck_assert_double_gt(apart(id, before), 0x1p32);
        ck_assert_double_gt(apart(id + 16, before + 16), 0x1p32);
        strcpy(before, id);
    }
}
END_TEST

START_TEST(test_objects)
{
    char id[33], secret[80], path[300], aside[310];
    http_reply *r = http_call(d, "GET", "/v1/me", "traceparent: 00-" TRACE "-" PARENT "-01\r\n",
                              NULL, 0);
    http_expect(r, 200);
    char owner[80];
    snprintf(owner, sizeof owner, "%s", json_text(r->json, "user"));
    http_reply_free(r);
    expect("GET /v1/me -> 200", "request", TRACE);
    expect("GET /v1/me -> 200", "user", owner);
    expect("GET /v1/me -> 200", "level", "debug");
    /* Rejected before its path was looked at. */
    r = http_call(d, "GET", "/v1/version", "Transfer-Encoding: gzip\r\n", NULL, 0);
    http_expect(r, 400);
    expect("- - -> 400", "request", http_header(r, "X-Request-Id"));
    http_reply_free(r);
    tenant_user(d, "anna");
    tenant_token(d, "anna", "submit,read", secret, NULL);
    r = tenant_call(d, secret, "GET", "/v1/meshes", NULL, NULL);
    http_expect(r, 200);
    expect("GET /v1/meshes -> 200", "user", "anna");
    expect("GET /v1/meshes -> 200", "request", http_header(r, "X-Request-Id"));
    http_reply_free(r);
    session_run(d, session_scene(2, 1, ""), id);
    expect("succeeded after frame 2", "session", id);
    expect("succeeded after frame 2", "request", "");
    /* In a pool, too. */
    snprintf(path, sizeof path, "%s", daemon_fixture_path(d, "incoming"));
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(rename(path, aside), 0);
    r = tenant_call(d, secret, "POST", "/v1/sessions", NULL, session_scene(2, 1, ""));
    http_expect(r, 500);
    expect("a session could not be created", "user", "anna");
    expect("a session could not be created", "request", http_header(r, "X-Request-Id"));
    http_reply_free(r);
    ck_assert_int_eq(rename(aside, path), 0);
    /* Nothing else is in the log; what is said is not a request's that was before. */
    write_config("text");
    ck_assert_int_eq(kill(d->pid, SIGHUP), 0);
    expect("log-format: json -> text: in effect", "request", "");
    int lines = 0;
    for (char *rest = read_log(), *line; (line = strsep(&rest, "\n")) && rest;) {
        if (strncmp(line, "pliantd " PLIANT_VERSION " listening", 18) == 0)
            continue; /* standard output */
        if (strstr(line, "Z info  options reread"))
            break;
        json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(json_is_object(o), "%s", line);
        ck_assert_uint_eq(strlen(json_text(o, "time")), 24);
        ck_assert_uint_gt(strlen(json_text(o, "message")), 0);
        json_decref(o);
        lines++;
    }
    ck_assert_int_gt(lines, 10);
    for (double last = daemon_fixture_clock() + HTTP_PATIENCE_S;
         !strstr(read_log(), "Z info  options reread: 1 changed\n"); daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < last);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("log");
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_ids);
    tcase_add_test(cases, test_objects);
    return run_cases("log", cases);
}
