/* From a posted scene to its first frame, and many small sessions at once: the real daemon on
 * loopback with a temporary state directory. */
#include "tests/bench/bench.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSTS = 30, WARM_UP = 3, AT_ONCE = 20, AT_ONCE_FRAMES = 50 };

/* A cube of 125 vertices and 384 tetrahedra. */
static char *small_scene(int steps)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d},"
                     " \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"box\": {\"size\": [1, 1, 1],"
                     " \"cells\": [4, 4, 4]}}}],"
                     " \"pins\": [{\"select\": {\"side\": \"-x\"}}]}",
                     steps);
    ck_assert_int_gt(n, 0);
    return text;
}

/* ---- POST to the first frame ---- */

/* Read records until the first frame is there whole. */
static void await_frame(http_stream *s)
{
    pl_record record = {0};
    while (record.type != PL_RECORD_FRAME) {
        char *payload;
        ck_assert(http_stream_record(s, &record, &payload));
        ck_assert_int_ne(record.type, PL_RECORD_END);
        free(payload);
    }
}

typedef struct first_frame {
    bench_samples created, followed, whole; /* ms: POST to 201, 201 to the frame, both */
} first_frame;

static void post_and_follow(const daemon_fixture *d, const char *scene, first_frame *out)
{
    char id[33], target[96];
    double posted = daemon_fixture_clock();
    session_post(d, scene, id);
    double created = daemon_fixture_clock();
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0&follow=1", id);
    http_stream s = http_stream_open(d, target, NULL);
    await_frame(&s);
    double seen = daemon_fixture_clock();
    http_stream_close(&s);
    session_await(d, id, "succeeded");
    if (out) {
        bench_add(&out->created, 1e3 * (created - posted));
        bench_add(&out->followed, 1e3 * (seen - created));
        bench_add(&out->whole, 1e3 * (seen - posted));
    }
}

static void print_row(const char *name, const bench_samples *s)
{
    printf("  %-24s  %6.1f  %6.1f  %6.1f  %6.1f\n", name, bench_quantile(s, 0),
           bench_quantile(s, 0.5), bench_quantile(s, 0.9), bench_quantile(s, 1));
}

static void measure_first_frame(const daemon_fixture *d)
{
    char *scene = small_scene(5);
    first_frame times = {0};
    for (int i = 0; i < WARM_UP; i++)
        post_and_follow(d, scene, NULL);
    for (int i = 0; i < POSTS; i++)
        post_and_follow(d, scene, &times);
    free(scene);
    printf("A posted scene's first frame at a follower: 125 vertices, 384 tetrahedra, %d "
           "sessions one by one, ms\n",
           POSTS);
    puts("                             least  median     p90    most");
    print_row("POST to 201", &times.created);
    print_row("201 to the first frame", &times.followed);
    print_row("POST to the first frame", &times.whole);
}

/* ---- many at once ---- */

static http_connection *send_post(const daemon_fixture *d, const char *scene)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     d->port, d->token, strlen(scene), scene);
    ck_assert_int_gt(n, 0);
    http_connection *c = http_open(d);
    ck_assert(http_write(c, text, (size_t)n));
    free(text);
    return c;
}

static void take_id(http_connection *c, char id[33])
{
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    ck_assert(http_read_body(c, r));
    http_expect(r, 201);
    r->json = json_loadb(r->body, r->length, 0, NULL);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    http_close(c);
}

static void measure_at_once(const daemon_fixture *d)
{
    http_connection *connections[AT_ONCE];
    char ids[AT_ONCE][33], *scene = small_scene(AT_ONCE_FRAMES);
    double start = daemon_fixture_clock();
    for (int i = 0; i < AT_ONCE; i++)
        connections[i] = send_post(d, scene);
    for (int i = 0; i < AT_ONCE; i++)
        take_id(connections[i], ids[i]);
    double accepted = daemon_fixture_clock();
    for (int i = 0; i < AT_ONCE; i++)
        session_await(d, ids[i], "succeeded");
    double end = daemon_fixture_clock();
    free(scene);
    printf("%d such sessions of %d frames, posted at once, 2 cores to run on\n", AT_ONCE,
           AT_ONCE_FRAMES);
    printf("  all accepted after %.0f ms, all done after %.0f ms: %.1f sessions/s, %.0f "
           "frames/s\n",
           1e3 * (accepted - start), 1e3 * (end - start), AT_ONCE / (end - start),
           AT_ONCE * (AT_ONCE_FRAMES + 1) / (end - start));
}

static void measure(void)
{
    daemon_fixture d;
    daemon_fixture_start(&d, NULL);
    measure_first_frame(&d);
    measure_at_once(&d);
    daemon_fixture_stop(&d);
}

int main(void)
{
    return bench_run("service", measure);
}
