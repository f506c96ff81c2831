/* How soon a control is in effect: from the first byte of its POST to its 202, and to the arrival, at a
 * follower, of the metrics of the first frame that it is in, of a session of 1,053 vertices that runs at 60
 * frames a second and no faster. A frame is begun when it is due, so a control that comes at any moment
 * waits for half a frame in the mean, and then for the frame. */
#include "tests/bench/bench.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 100 };

static const char scene[] =
    "{\"pliant\": 1, \"time\": {\"step\": 0.016666666666666666, \"pace\": \"realtime\"},"
    " \"solver\": {\"method\": \"admm\", \"iterations\": 4},"
    " \"materials\": {\"soft\": {\"young\": 1e5}},"
    " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 0.6, 0.6], \"cells\": [12, 8, 8]}}}],"
    " \"pins\": [{\"name\": \"hand\", \"select\": {\"side\": \"-x\"}}]}";

/* Controls in turns, as sent by dragging, a slider and a choice of stiffness. */
static void write_control(int kind, int i, char out[256])
{
    static const char *const forms[] = {
        "{\"pins\": [{\"name\": \"hand\", \"motion\": {\"keyframes\": [{\"time\": 0.05,"
        " \"translate\": [0, %.3f, 0]}]}}]}",
        "{\"gravity\": [0, %.3f, 0]}",
        "{\"materials\": [{\"name\": \"soft\", \"young\": %.3f}]}",
    };
    const double base[] = {0, -9, 1e5};
    snprintf(out, 256, forms[kind], base[kind] + 0.001 * i);
}

/* Milliseconds to the 202 and to the frame. */
static void measure_one(const daemon_fixture *d, const char *id, http_stream *s, int kind, int i,
                        bench_samples *told, bench_samples *shown)
{
    char target[96], text[256], key[48];
    snprintf(target, sizeof target, "/v1/sessions/%s/controls", id);
    write_control(kind, i, text);
    double begin = daemon_fixture_clock();
    http_reply *r = http_post(d, target, text);
    http_expect(r, 202);
    bench_add(told, 1e3 * (daemon_fixture_clock() - begin));
    snprintf(key, sizeof key, "\"control\":%lld,", (long long)json_count(r->json, "control_id"));
    http_reply_free(r);
    for (bool found = false; !found;) {
        char *line = http_stream_line(s);
        ck_assert_ptr_nonnull(line);
        found = strstr(line, key) != NULL;
        free(line);
    }
    bench_add(shown, 1e3 * (daemon_fixture_clock() - begin));
}

static void measure(void)
{
    static const char *const kinds[] = {"a pin's motion", "gravity", "stiffness: a new model"};
    daemon_fixture d;
    char id[33], target[96];
    daemon_fixture_start(&d, NULL);
    session_post(&d, scene, id);
    session_await_frame(&d, id, 30);
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics?follow=1&mode=latest", id);
    http_stream s = http_stream_open(&d, target, "Accept: application/x-ndjson\r\n");
    s.may_be_cut = true;
    printf("a control of a session of 1053 vertices at 60 frames/s, ms from its POST\n"
           "                          to 202: median   p99     to its frame: median   p99\n");
    for (int kind = 0; kind < 3; kind++) {
        bench_samples told = {0}, shown = {0};
        for (int i = 0; i < SAMPLES; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000 * (i * 7 % 23)}, NULL);
            measure_one(&d, id, &s, kind, i, &told, &shown);
        }
        printf("  %-24s %12.1f %7.1f %20.1f %7.1f\n", kinds[kind], bench_quantile(&told, 0.5),
               bench_quantile(&told, 0.99), bench_quantile(&shown, 0.5),
               bench_quantile(&shown, 0.99));
    }
    json_t *session = session_show(&d, id);
    printf("  simulated seconds a second: %.3f\n",
           json_number_value(json_at(session, "progress/rate")));
    json_decref(session);
    http_stream_close(&s);
    daemon_fixture_stop(&d);
}

int main(void)
{
    return bench_run("controls", measure);
}
