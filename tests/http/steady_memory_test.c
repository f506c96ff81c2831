/* Requests leave no memory allocated in the daemon. It gets so many of each kind that a block leaked by one in four
 * shows; with PLIANT_LONG=1, a million of all kinds. preload/counted_memory.c counts the daemon's blocks.
 */
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two connections of SQLite have a page cache of 2,000 KiB each, which the audit log fills on a slow machine. */
enum { WARM = 24, EACH = 60, MILLION = 1000000, SLACK_BYTES = 1 << 20, CACHES = 2 * 2000 * 1024 };

static _Atomic int64_t *memory; /* blocks and bytes */
static char shared_path[64], ended[33], paused[33];

static const char probed[] =
    "{\"pliant\": 1, \"labels\": {\"a\": \"b\"}, \"time\": {\"step\": 0.01, \"steps\": 2}, "
    "\"bodies\": [{\"mesh\": {\"box\": {\"cells\": [2, 2, 2]}}}], "
    "\"output\": {\"probes\": [{\"name\": \"k\", \"quantity\": \"kinetic\"}]}}";

static void start(void)
{
    static const char *const options[] = {"--cores", "2", "--rate-limit", "0,0", NULL};
    snprintf(shared_path, sizeof shared_path, "/tmp/pliant-counted-XXXXXX");
    int fd = mkstemp(shared_path);
    ck_assert_int_eq(ftruncate(fd, 16), 0);
    memory = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne((void *)memory, MAP_FAILED);
    close(fd);
    daemon_fixture_preload("libcounted_memory.so");
    setenv("PLIANT_COUNTED_MEMORY", shared_path, 1);
    daemon_fixture_start(d, options);
    unsetenv("LD_PRELOAD");
    session_run(d, strdup(probed), ended);
    session_post_free(d, session_scene_endless(", \"resources\": {\"hold\": true}"), paused);
}

static void stop(void)
{
    daemon_fixture_stop(d);
    munmap((void *)memory, 16);
    unlink(shared_path);
}

/* ---- requests ---- */

#define JSON "Content-Type: application/json\r\n"

/* {E}, {P}: ids of the ended and of the paused session. */
static const struct {
    const char *method, *target, *headers, *body;
    int status;
} requests[] = {
    {"GET", "/healthz", "", "", 200},
    {"GET", "/v1/sessions?limit=5&label=a=b", "", "", 200},
    {"GET", "/v1/sessions/{E}", "", "", 200},
    {"GET", "/v1/sessions/{E}/topology", "", "", 200},
    {"GET", "/v1/sessions/{E}/scene?form=effective", "", "", 200},
    {"GET", "/v1/sessions/{E}/frames/1", "Accept: application/x-npy\r\n", "", 200},
    {"GET", "/v1/sessions/{E}/frames/1?dtype=u16&vertices=surface", "", "", 200},
    {"GET", "/v1/sessions/{E}/frames?from=0", "", "", 200},
    {"GET", "/v1/sessions/{E}/metrics?from=0", "Accept: text/event-stream\r\n", "", 200},
    {"GET", "/v1/sessions/{E}/metrics?buckets=1", "", "", 200},
    {"GET", "/v1/sessions/{E}/probes", "", "", 200},
    {"GET", "/v1/sessions/{E}/export?format=npz", "", "", 200},
    {"GET", "/v1/sessions/{E}/log", "", "", 200},
    {"GET", "/v1/sessions/{P}/controls", "", "", 200},
    {"GET", "/v1/events?since=0", "", "", 200},
    {"GET", "/v1/me", "", "", 200},
    {"GET", "/v1/queue", "", "", 200},
    {"GET", "/v1/devices", "", "", 200},
    {"GET", "/v1/usage", "", "", 200},
    {"GET", "/v1/audit?limit=5", "", "", 200},
    {"GET", "/metrics", "", "", 200},
    {"GET", "/openapi.json", "", "", 200},
    {"GET", "/v1/nothing", "", "", 404},
    {"GET", "/v1/sessions?nmae=x", "", "", 400},
    {"GET", "/v1/sessions/{E}/frames/99", "", "", 404},
    {"POST", "/v1/validate", JSON, "{\"pliant\": 1, \"bodys\": 3}", 422},
    {"POST", "/v1/sessions", JSON, "{\"pliant\": 1, ", 400},
    {"POST", "/v1/sessions/{P}/pause", "", "", 202},
};
enum { REQUESTS = sizeof requests / sizeof *requests };

/* Sends a request on a persistent connection. */
static void ask(http_connection *c, int i)
{
    char target[160], text[1200];
    const char *from = requests[i].target, *brace = strchr(from, '{');
    if (brace)
        snprintf(target, sizeof target, "%.*s%s%s", (int)(brace - from), from,
                 brace[1] == 'E' ? ended : paused, brace + 3);
    else
        snprintf(target, sizeof target, "%s", from);
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s"
                     "Content-Length: %zu\r\n\r\n%s",
                     requests[i].method, target, d->port, d->token, requests[i].headers,
                     strlen(requests[i].body), requests[i].body);
    ck_assert(http_write(c, text, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_msg(r != NULL, "%s %s: no reply", requests[i].method, target);
    ck_assert(http_read_body(c, r));
    ck_assert_msg(r->status == requests[i].status, "%s %s: %d %.300s", requests[i].method, target,
                  r->status, r->body);
    http_reply_free(r);
}

static void ask_many(http_connection *c, int i, int count)
{
    for (int k = 0; k < count; k++)
        ask(c, i);
}

/* Waits until a counter of the daemon is at most this: the last requests release their memory a moment later. */
static void await_most(int which, int64_t most, const char *what)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; atomic_load(&memory[which]) > most;
         daemon_fixture_nap())
        ck_assert_msg(daemon_fixture_clock() < end, "%s: %lld, not %lld", what,
                      (long long)atomic_load(&memory[which]), (long long)most);
}

START_TEST(test_each_kind)
{
    if (daemon_fixture_sanitized())
        skip_test("steady_memory: test_each_kind: a sanitizer has an allocator of its own");
    http_connection *c = http_open(d);
    for (int i = 0; i < REQUESTS; i++)
        ask_many(c, i, WARM);
    for (int i = 0; i < REQUESTS; i++) {
        ask_many(c, i, 2);
        int64_t before = atomic_load(&memory[0]);
        ask_many(c, i, EACH);
        await_most(0, before + EACH / 4, requests[i].target);
    }
    http_close(c);
}
END_TEST

START_TEST(test_million)
{
    if (daemon_fixture_sanitized())
        skip_test("steady_memory: test_million: a sanitizer has an allocator of its own");
    http_connection *c = http_open(d);
    int64_t bytes = 0, resident = 0;
    for (int64_t n = 0; n < MILLION; n++) {
        ask(c, (int)(n % REQUESTS));
        if (n == MILLION / 20) { /* bounded records of requests are full by then */
            bytes = atomic_load(&memory[1]);
            resident = daemon_fixture_memory(d);
        }
    }
    await_most(1, bytes + CACHES + SLACK_BYTES, "a million requests");
    ck_assert_int_le(daemon_fixture_memory(d), resident + 8 * SLACK_BYTES);
    http_close(c);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("steady memory");
    tcase_set_timeout(tests, is_long_form() ? 3600 : 180);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, test_each_kind);
    if (is_long_form())
        tcase_add_test(tests, test_million);
    return run_cases("steady memory", tests);
}
