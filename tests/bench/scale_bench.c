/* Two long runs through the daemon: many frames, and a large mesh. Only with PLIANT_LONG=1. */
#include "tests/bench/bench.h"
#include "tests/support/long_form.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_FRAMES = 10000, LARGE_FRAMES = 5, LARGE_CELLS = 26, PATIENCE_S = 600 };

static void await_success(const daemon_fixture *d, const char *id)
{
    for (double end = daemon_fixture_clock() + PATIENCE_S;;) {
        http_reply *r = http_getf(d, "/v1/sessions/%s?wait=1", id);
        bool done = strcmp(json_text(r->json, "state"), "succeeded") == 0;
        ck_assert_msg(done || daemon_fixture_clock() < end, "%s", r->body);
        http_reply_free(r);
        if (done)
            return;
    }
}

static void measure_many(const daemon_fixture *d)
{
    char id[33], target[96];
    double start = daemon_fixture_clock();
    session_post_free(d, session_scene(MANY_FRAMES, 1, ""), id);
    await_success(d, id);
    double ran = daemon_fixture_clock() - start;
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0", id);
    start = daemon_fixture_clock();
    int64_t bytes = bench_download(d->port, d->token, target);
    double frames_read = daemon_fixture_clock() - start;
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics?from=0", id);
    start = daemon_fixture_clock();
    (void)bench_download(d->port, d->token, target);
    double metrics_read = daemon_fixture_clock() - start;
    printf("%d frames of 64 vertices, 162 tetrahedra, 5 iterations\n", MANY_FRAMES);
    printf("  made in %.2f s: %.0f frames/s\n", ran, MANY_FRAMES / ran);
    printf("  frames read back in %.0f ms: %.0f frames/s, %.0f MB/s\n", 1e3 * frames_read,
           MANY_FRAMES / frames_read, 1e-6 * (double)bytes / frames_read);
    printf("  metrics read back in %.0f ms: %.0f frames/s\n", 1e3 * metrics_read,
           MANY_FRAMES / metrics_read);
}

/* Medians of the worker's metrics from frame 1 on. */
static void read_metrics(const daemon_fixture *d, const char *id, bench_samples *step,
                         bench_samples *local, bench_samples *global)
{
    char target[96], *line;
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics?from=1", id);
    http_stream s = http_stream_open(d, target, NULL);
    while ((line = http_stream_line(&s))) {
        json_t *metrics = json_loads(line, 0, NULL);
        if (!json_at(metrics, "event")) {
            bench_add(step, json_number_value(json_at(metrics, "ms/step")));
            bench_add(local, json_number_value(json_at(metrics, "ms/local")));
            bench_add(global, json_number_value(json_at(metrics, "ms/global")));
        }
        json_decref(metrics);
        free(line);
    }
    http_stream_close(&s);
}

static void measure_large(const daemon_fixture *d, int cores)
{
    char id[33], target[96], scene[512];
    int n = LARGE_CELLS;
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d},"
             " \"solver\": {\"iterations\": 20, \"tolerance\": 0}, \"resources\": {\"cores\": %d},"
             " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [%d, %d, %d]}}}],"
             " \"pins\": [{\"select\": {\"side\": \"-x\"}}]}",
             LARGE_FRAMES, cores, n, n, n);
    double posted = daemon_fixture_clock();
    session_post(d, scene, id);
    double created = daemon_fixture_clock();
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0&follow=1", id);
    http_stream s = http_stream_open(d, target, NULL);
    bench_samples arrived = {0}, between = {0}, step = {0}, local = {0}, global = {0};
    pl_record record;
    for (char *payload; http_stream_record(&s, &record, &payload); free(payload))
        if (record.type == PL_RECORD_FRAME)
            bench_add(&arrived, daemon_fixture_clock());
    http_stream_close(&s);
    ck_assert_int_eq(arrived.count, LARGE_FRAMES + 1);
    for (int i = 1; i < arrived.count; i++)
        bench_add(&between, 1e3 * (arrived.value[i] - arrived.value[i - 1]));
    read_metrics(d, id, &step, &local, &global);
    printf("  %d        %7.0f    %15.0f    %10.0f    %8.0f    %5.0f    %6.0f\n", cores,
           1e3 * (created - posted), 1e3 * (arrived.value[0] - created),
           bench_quantile(&between, 0.5), bench_quantile(&step, 0.5), bench_quantile(&local, 0.5),
           bench_quantile(&global, 0.5));
}

static void measure(void)
{
    daemon_fixture d;
    if (!is_long_form()) {
        puts("10,000 frames and 100,000 tetrahedra through the daemon: left out; PLIANT_LONG=1 "
             "runs them");
        return;
    }
    daemon_fixture_start(&d, NULL);
    measure_many(&d);
    printf("%d frames of %d tetrahedra, %d vertices, 20 iterations, ms; the last three as the "
           "worker says\n",
           LARGE_FRAMES, 6 * LARGE_CELLS * LARGE_CELLS * LARGE_CELLS,
           (LARGE_CELLS + 1) * (LARGE_CELLS + 1) * (LARGE_CELLS + 1));
    puts("  cores    POST to 201    201 to frame 0    ms a frame    its step    local    global");
    for (int cores = 1; cores <= 2; cores++)
        measure_large(&d, cores);
    daemon_fixture_stop(&d);
}

int main(void)
{
    return bench_run("scale", measure);
}
