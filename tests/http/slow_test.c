/* Requests that arrive a byte now and then are ended after their time, whatever they send; those that arrive at a fair
 * rate are not; and a flood of heads is answered or ended. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void start(void)
{
    static const char *const options[] = {"--idle-timeout", "1", "--cores", "2", NULL};
    daemon_fixture_start(d, options);
}

static bool is_over(http_connection *c)
{
    char byte;
    struct pollfd watched = {.fd = http_socket(c), .events = POLLIN};
    return poll(&watched, 1, 0) == 1 && recv(http_socket(c), &byte, 1, MSG_PEEK) <= 0;
}

/* Heads and bodies at ten bytes a second, on many connections at once; each is seen to be ended, and all
 * the while others are served. */
START_TEST(test_drips)
{
    enum { HEADS = 40, BODIES = 20, ALL = HEADS + BODIES };
    http_connection *drips[ALL];
    char text[300];
    int open = ALL, n = snprintf(text, sizeof text,
                                 "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                                 "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 100000\r\n\r\n",
                                 d->port, d->token);
    for (int i = 0; i < ALL; i++) {
        drips[i] = http_open(d);
        if (i >= HEADS)
            ck_assert(http_write(drips[i], text, (size_t)n));
    }
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; open > 0; usleep(100000)) {
        ck_assert_msg(daemon_fixture_clock() < end, "%d are still open", open);
        for (int i = 0; i < ALL; i++) {
            if (drips[i] &&
                (is_over(drips[i]) || !http_write(drips[i], i < HEADS ? "X" : " ", 1))) {
                http_close(drips[i]);
                drips[i] = NULL;
                open--;
            }
        }
        http_reply *r = http_get(d, "/healthz");
        http_expect(r, 200);
        http_reply_free(r);
    }
    /* They are counted once all that are late have been shut down. */
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         session_counter(d, "connections_late_total") < ALL && daemon_fixture_clock() < end;)
        daemon_fixture_nap();
    ck_assert_int_eq(session_counter(d, "connections_late_total"), ALL);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
}
END_TEST

/* A scene and 17 KB behind it, in 35 pieces; the longest that the connection was silent, in s. */
static double send_slowly(http_connection *c, bool *taken)
{
    char *scene = session_scene(1, 1, ""), *head = NULL, spaces[500];
    size_t padding = 35 * sizeof spaces;
    int n = asprintf(&head,
                     "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     d->port, d->token, strlen(scene) + padding, scene);
    double last = daemon_fixture_clock(), silent = 0;
    *taken = http_write(c, head, (size_t)n);
    memset(spaces, ' ', sizeof spaces);
    for (size_t sent = 0; sent < padding && *taken; sent += sizeof spaces) {
        usleep(100000);
        double now = daemon_fixture_clock();
        silent = now - last > silent ? now - last : silent;
        last = now;
        *taken = http_write(c, spaces, sizeof spaces);
    }
    free(head);
    free(scene);
    return silent;
}

/* Slow, but fair: 17 KB in three and a half seconds. Where this program itself came to a halt, once more. */
START_TEST(test_fair)
{
    for (int tries = 0;; tries++) {
        bool taken;
        int64_t late = session_counter(d, "connections_late_total");
        http_connection *c = http_open(d);
        bool halted = send_slowly(c, &taken) > 0.5;
        http_reply *r = taken ? http_read_head(c) : NULL;
        int status = r ? r->status : 0;
        http_reply_free(r);
        http_close(c);
        if (status == 201 && session_counter(d, "connections_late_total") == late)
            break;
        ck_assert_msg(halted && tries < 10, "status %d", status);
    }
}
END_TEST

/* A stream and a long poll take their time to answer; that is no lateness. */
START_TEST(test_waiting)
{
    char id[33], target[96];
    session_post_free(d, session_scene_endless(""), id);
    session_await(d, id, "running");
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    http_connection *poll_ = http_open(d);
    snprintf(target, sizeof target, "/v1/sessions/%s?wait=3", id);
    http_ask(poll_, d, target, NULL);
    http_reply *r = http_read_head(poll_);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(r->status, 200);
    http_reply_free(r);
    http_close(poll_);
    ck_assert_int_eq(session_counter(d, "connections_late_total"), 0);
}
END_TEST

/* More headers than memory for them, longer ones, and many requests at once on one connection. */
START_TEST(test_floods)
{
    static char text[1 << 20];
    int64_t before = daemon_fixture_memory(d);
    for (int kind = 0; kind < 3; kind++) {
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        if (kind == 0) {
            for (int i = 0; n < 900000; i++)
                n += (size_t)snprintf(text + n, sizeof text - n, "X-%d: y\r\n", i);
        } else if (kind == 1) {
            n += (size_t)snprintf(text + n, sizeof text - n, "X: ");
            memset(text + n, 'y', 900000);
            n += 900000;
        } else {
            n += (size_t)snprintf(text + n, sizeof text - n, "\r\n");
            size_t one = n;
            for (; n + one < 900000; n += one)
                memcpy(text + n, text, one);
        }
        for (int i = 0; i < 20; i++) {
            http_connection *c = http_open(d);
            struct timeval patience = {.tv_sec = 5};
            setsockopt(http_socket(c), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            for (size_t at = 0; at < n;) {
                ssize_t sent = send(http_socket(c), text + at, n - at, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (sent <= 0)
                    break; /* closed, or it accepts no more before its replies are read */
                at += (size_t)sent;
            }
            http_close(c);
        }
        http_reply *r = http_get(d, "/healthz");
        http_expect(r, 200);
        http_reply_free(r);
    }
    ck_assert_int_lt(daemon_fixture_memory(d) - before, (int64_t)64 << 20);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("slow");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_drips);
    tcase_add_test(tests, test_fair);
    tcase_add_test(tests, test_waiting);
    tcase_add_test(tests, test_floods);
    return run_cases("slow requests", tests);
}
