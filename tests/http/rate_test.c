/* Rate limits: users and addresses have a bucket each, and nobody empties another's. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { USER = 20, ADDRESS = 5, BURST_S = 10 };

static void start(void)
{
    static const char *const options[] = {"--cores",        "2", "--rate-limit", "20,5",
                                          "--behind-proxy", NULL};
    daemon_fixture_start(d, options);
}

static double
    refused_at; /* send time of the last rejected request: its bucket was empty a moment later */

/* On one connection: how many of `count` requests succeeded before the first 429, whose Retry-After and problem are
 * checked; -1 if none came. Extra header lines may be given. */
static int asked_before_refusal(const char *target, const char *headers, int count)
{
    char head[512];
    http_connection *c = http_open(d);
    int n = snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", target,
                     headers);
    int answered = -1;
    for (int i = 0; i < count && answered < 0; i++) {
        double sent_at = daemon_fixture_clock();
        ck_assert(http_write(c, head, (size_t)n));
        http_reply *r = http_read_head(c);
        ck_assert_ptr_nonnull(r);
        ck_assert(http_read_body(c, r));
        if (r->status == 429) {
            answered = i;
            refused_at = sent_at;
            ck_assert_ptr_nonnull(strstr(r->body, "too_many_requests"));
            ck_assert_int_eq(atoi(http_header(r, "Retry-After")), 1);
        } else {
            ck_assert(r->status == 200 || r->status == 401);
        }
        http_reply_free(r);
    }
    http_close(c);
    return answered;
}

static const char *bearer(const char *token)
{
    static char line[160];
    snprintf(line, sizeof line, "Authorization: Bearer %s\r\n", token);
    return line;
}

/* A bucket's capacity, plus what was filled in while it was emptied, on a machine of any speed. */
static void expect_burst(int answered, int rate)
{
    ck_assert_msg(answered >= BURST_S * rate && answered < 3 * BURST_S * rate, "%d", answered);
}

/* For the bucket found empty by the last rejection: what was filled in since, and not a whole new one. */
static void expect_same_bucket(const char *target, const char *headers, int rate)
{
    double emptied_at = refused_at;
    int answered = asked_before_refusal(target, headers, 4000);
    double most = rate * (daemon_fixture_clock() - emptied_at) + 1;
    ck_assert_msg(answered >= 0 && answered <= most, "%s: %d, at most %g", target, answered, most);
}

START_TEST(users)
{
    char alice[TENANT_SECRET], again[TENANT_SECRET], bob[TENANT_SECRET], id[33], target[96];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "alice", "read", again, NULL);
    tenant_token(d, "bob", "read", bob, NULL);
    tenant_session(d, alice, NULL, id);
    session_await(d, id, "succeeded");
    expect_burst(asked_before_refusal("/v1/me", bearer(alice), 4000), USER);
    /* Whatever the credential, and streams too. */
    expect_same_bucket("/v1/me", bearer(again), USER);
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics", id);
    expect_same_bucket(target, bearer(alice), USER);
    ck_assert_int_eq(asked_before_refusal("/v1/me", bearer(bob), 50), -1);
    ck_assert_int_eq(asked_before_refusal("/v1/me", bearer(d->token), 500), -1);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    ck_assert_int_ne(asked_before_refusal("/v1/me", bearer(alice), 1), 0);
    http_reply *r = http_get(d, "/metrics");
    http_expect(r, 200);
    ck_assert_ptr_nonnull(strstr(r->body, "\npliant_rate_refusals_total 3\n"));
    /* Early rejections are timed, too, also those of streams. */
    ck_assert_ptr_nonnull(
        strstr(r->body, "\npliant_http_request_seconds_count{method=\"GET\",route=\"/v1/sessions/"
                        "{id}/metrics\",status=\"4xx\"} 1\n"));
    http_reply_free(r);
}
END_TEST

static void limit_requests(const char *user, const char *value, int status)
{
    char target[64], body[64];
    snprintf(target, sizeof target, "/v1/users/%s", user);
    snprintf(body, sizeof body, "{\"requests\": %s}", value);
    http_reply *r = tenant_call(d, d->token, "PATCH", target, NULL, body);
    http_expect(r, status);
    http_reply_free(r);
}

/* As GET /v1/usage reports it; -1: null. */
static void expect_requests(const char *user, int64_t limit, int64_t least, int64_t most)
{
    http_reply *r = http_getf(d, "/v1/usage?user=%s", user);
    http_expect(r, 200);
    const json_t *used = json_at(r->json, "used/requests"),
                 *of = json_at(r->json, "limits/requests");
    ck_assert_int_eq(json_is_null(of) ? -1 : json_integer_value(of), limit);
    int64_t n = json_is_null(used) ? -1 : json_integer_value(used);
    ck_assert_msg(n >= least && n <= most, "%s: %lld", user, (long long)n);
    http_reply_free(r);
}

/* A user's own rate takes effect with the next request, outlives the daemon and can be removed. */
START_TEST(rates_of_ones_own)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read", alice, NULL);
    tenant_token(d, "bob", "read", bob, NULL);
    limit_requests("alice", "0", 422);
    limit_requests("alice", "1.5", 422);
    limit_requests("alice", "3", 200);
    expect_burst(asked_before_refusal("/v1/me", bearer(alice), 500), 3);
    expect_burst(asked_before_refusal("/v1/me", bearer(bob), 4000), USER);
    /* The burst is ten seconds' worth at three per second, nearly all at once. */
    expect_requests("alice", 3, 1, 8);
    expect_requests("bob", USER, 1, 3 * USER);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    expect_burst(asked_before_refusal("/v1/me", bearer(alice), 500), 3);
    limit_requests("alice", "9223372036854775807", 200);
    ck_assert_int_eq(asked_before_refusal("/v1/me", bearer(alice), 3 * BURST_S * USER), -1);
    expect_requests("alice", -1, -1, -1); /* without a limit none are counted */
    limit_requests("alice", "null", 200);
    ck_assert_int_ge(asked_before_refusal("/v1/me", bearer(alice), 4000), 0);
}
END_TEST

START_TEST(addresses)
{
    const char *one = "X-Forwarded-For: 1.2.3.4, 192.0.2.1\r\n";
    expect_burst(asked_before_refusal("/v1/version", one, 1000), ADDRESS);
    expect_same_bucket("/v1/me", one, ADDRESS); /* 401s no less */
    ck_assert_int_eq(asked_before_refusal("/healthz", one, 100), -1);
    ck_assert_int_eq(
        asked_before_refusal("/v1/version", "X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n", 40), -1);
    /* Of a network that one has whole every address is the same. */
    expect_burst(asked_before_refusal("/v1/version", "X-Forwarded-For: 2001:db8:1:1::1\r\n", 1000),
                 ADDRESS);
    expect_same_bucket("/v1/version", "X-Forwarded-For: 2001:db8:1:1:f::2\r\n", ADDRESS);
    ck_assert_int_eq(
        asked_before_refusal("/v1/version", "X-Forwarded-For: 2001:db8:1:2::1\r\n", 40), -1);
}
END_TEST

/* More addresses than the table has places: it does not grow, and users keep their buckets. */
START_TEST(many_addresses)
{
    char alice[TENANT_SECRET], head[160];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read", alice, NULL);
    expect_burst(asked_before_refusal("/v1/me", bearer(alice), 4000), USER);
    http_connection *c = http_open(d);
    int64_t before = daemon_fixture_memory(d);
    for (int i = 0; i < 6000; i++) {
        int n = snprintf(head, sizeof head,
                         "GET /v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                         "X-Forwarded-For: 10.%d.%d.%d\r\n\r\n",
                         i >> 16, i >> 8 & 255, i & 255);
        ck_assert(http_write(c, head, (size_t)n));
        http_reply *r = http_read_head(c);
        ck_assert(r && http_read_body(c, r));
        http_expect(r, 200);
        http_reply_free(r);
        if (i % 500 == 0) /* as it goes: alice must not get a new bucket */
            expect_same_bucket("/v1/me", bearer(alice), USER);
    }
    http_close(c);
    if (!daemon_fixture_sanitized())
        ck_assert_int_lt(daemon_fixture_memory(d) - before, 4 << 20);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("rates");
    tcase_add_checked_fixture(t, start, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, users);
    tcase_add_test(t, rates_of_ones_own);
    tcase_add_test(t, addresses);
    tcase_add_test(t, many_addresses);
    return run_cases("rates", t);
}
