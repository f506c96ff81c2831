/* Readers that vanish silently, from every kind of stream at once: nothing of them stays, and other readers notice
 * nothing. Readers that stop in the middle of a converted frame. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A kind of stream that leaves a descriptor leaves one a round; the daemon's own come and go by a few. */
enum { ROUNDS = 20, FEW = ROUNDS / 2 };

static int descriptors(void)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)d->pid);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

/* Closed so that the other side gets a reset, or nothing but the end. */
static void vanish(http_connection *c, bool rudely)
{
    struct linger at_once = {.l_onoff = 1};
    if (rudely)
        setsockopt(http_socket(c), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    http_close(c);
}

START_TEST(test_vanished)
{
    static const char *const kinds[] = {"frames?follow=1&mode=latest",
                                        "frames?follow=1&dtype=u16&vertices=surface",
                                        "frames?from=0&follow=1&max_fps=100",
                                        "stream?dtype=u16",
                                        "metrics?follow=1",
                                        "events"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static http_connection *readers[ROUNDS * KINDS];
    char id[33], target[128];
    session_post_free(d, session_scene(100000000, 1, ""), id);
    session_await_frame(d, id, 3);
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?follow=1", id);
    http_stream steady = http_stream_open(d, target, NULL);
    int before = descriptors();
    for (int i = 0; i < ROUNDS * KINDS; i++) {
        bool events = strcmp(kinds[i % KINDS], "events") == 0;
        readers[i] = http_open(d);
        snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, kinds[i % KINDS]);
        http_ask(readers[i], d, target, events ? "Accept: text/event-stream\r\n" : NULL);
    }
    while (session_counter(d, "streams") < ROUNDS * KINDS + 1)
        daemon_fixture_nap();
    for (int i = 0; i < ROUNDS * KINDS; i++)
        vanish(readers[i], i % 2);
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    for (int turn = 0; session_counter(d, "streams") > 1 && daemon_fixture_clock() < end; turn++)
        session_rename(d, id, turn); /* listeners for events get data as well */
    ck_assert_int_eq(session_counter(d, "streams"), 1);
    /* A stream's resources are released a moment after it is no longer counted. */
    while ((session_counter(d, "stream_log_readers") > 1 || descriptors() > before + FEW) &&
           daemon_fixture_clock() < end)
        daemon_fixture_nap();
    ck_assert_int_le(session_counter(d, "stream_log_readers"), 1);
    ck_assert_int_le(descriptors(), before + FEW);
    pl_record r;
    char *payload;
    for (int64_t next = 0; next < 200;) {
        ck_assert(http_stream_record(&steady, &r, &payload));
        if (r.type == PL_RECORD_FRAME)
            ck_assert_int_eq((int64_t)r.frame, next++);
        free(payload);
    }
    http_stream_close(&steady);
    session_tell(d, id, "cancel");
}
END_TEST

/* Its connections may be silent for two seconds. */
static void start_impatient(void)
{
    static const char *const options[] = {"--idle-timeout", "2", NULL};
    daemon_fixture_start(d, options);
}

/* From here on nothing is received or sent: a machine that lost its power. */
static void fall_silent(http_connection *c)
{
    struct sock_filter drop = {.code = BPF_RET | BPF_K, .k = 0};
    struct sock_fprog all = {1, &drop};
    ck_assert_int_eq(setsockopt(http_socket(c), SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all), 0);
}

/* Half-open connections: readers whose machine is gone, without any packet to tell. Too little is sent to them to fill
 * a buffer during this test. */
START_TEST(test_half_open)
{
    static const char scene[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.5, \"pace\": \"realtime\"}, \"bodies\": [{\"mesh\":"
        " {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}}]}";
    static const char *const kinds[] = {"frames?follow=1&mode=latest", "stream",
                                        "metrics?follow=1"};
    enum { KINDS = 3, EACH = 8 };
    http_connection *readers[KINDS * EACH];
    char id[33], target[128];
    session_post(d, scene, id);
    session_await_frame(d, id, 3);
    int before = descriptors();
    for (int i = 0; i < KINDS * EACH; i++) {
        readers[i] = http_open(d);
        snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, kinds[i % KINDS]);
        http_ask(readers[i], d, target, NULL);
        http_reply_free(http_read_head(readers[i]));
    }
    ck_assert_int_eq(session_counter(d, "streams"), KINDS * EACH);
    for (int i = 0; i < KINDS * EACH; i++)
        fall_silent(readers[i]);
    while (session_counter(d, "streams") > 0)
        daemon_fixture_nap();
    while (descriptors() > before)
        daemon_fixture_nap();
    for (int i = 0; i < KINDS * EACH; i++)
        http_close(readers[i]);
}
END_TEST

/* Frames of 1.6 MB in a converted form, for many readers who take a few bytes: memory holds the cache and the
 * connections' buffers, not a frame each. */
START_TEST(test_stalled)
{
    enum { READERS = 60, FRAME_BYTES = 2 * 24 * 34000 };
    static http_connection *readers[READERS];
    char id[33], target[128], some[64];
    char scene[] = "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 24},"
                   " \"output\": {\"fields\": [\"position\", \"velocity\"]},"
                   " \"solver\": {\"iterations\": 1, \"tolerance\": 0}, \"bodies\": [{\"mesh\":"
                   " {\"cloth\": {\"size\": [10, 10], \"cells\": [184, 184]}}}]}";
    session_run(d, strdup(scene), id);
    int64_t before = daemon_fixture_memory(d);
    for (int i = 0; i < READERS; i++) {
        readers[i] = http_open(d);
        snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=%d&dtype=f64", id, i % 24);
        http_ask(readers[i], d, target, NULL);
        http_reply *head = http_read_head(readers[i]);
        ck_assert_int_eq(head->status, 200);
        ck_assert_int_gt(http_read_some(readers[i], head, some, sizeof some), 0);
        http_reply_free(head);
    }
    int64_t more = daemon_fixture_memory(d) - before;
    if (!daemon_fixture_sanitized()) /* and what making them takes, and an allocator keeps */
        ck_assert_msg(more < (int64_t)(READERS * 64 << 10) + (80 << 20), "%lld bytes more",
                      (long long)more);
    ck_assert_int_le(session_counter(d, "frame_cache_bytes"), 32 << 20);
    /* One of them continues reading: dropped frames are made again, identically. */
    http_reply *whole = http_getf(d, "/v1/sessions/%s/frames?from=0&dtype=f64", id);
    http_expect(whole, 200);
    ck_assert_uint_ge(whole->length, (size_t)25 * FRAME_BYTES);
    size_t at = 0;
    pl_record r;
    for (int records = 0; at < whole->length; records++) {
        const unsigned char *here = (unsigned char *)whole->body + at;
        ck_assert_int_eq(pl_record_decode(here, whole->length - at, &r), PL_RECORD_GOOD);
        ck_assert_uint_eq(pl_crc32c(0, here + PL_RECORD_HEADER, (size_t)r.length), r.payload_crc);
        at += pl_record_size(r.length);
    }
    http_reply_free(whole);
    for (int i = 0; i < READERS; i++)
        vanish(readers[i], true);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("vanished readers");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_add_test(t, test_vanished);
    tcase_add_test(t, test_stalled);
    TCase *impatient = tcase_create("half-open connections");
    tcase_set_timeout(impatient, 180);
    tcase_add_checked_fixture(impatient, start_impatient, stop_daemon);
    tcase_add_test(impatient, test_half_open);
    Suite *suite = suite_create("vanished readers");
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, impatient);
    return run_suite(suite);
}
