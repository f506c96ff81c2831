/* How fast one client reads the stored frames of a finished session, compared with a bare pread server on the same HTTP
 * library, the same files and the same client, in turns. The body is a thin plate of 68,742 vertices, because a cube
 * with as many would spend its time in the factorisation. */
#include "tests/bench/bare_server.h"
#include "tests/bench/bench.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 100, VERTICES = 201 * 171 * 2, ROUNDS = 7, READS = 8 };

static void make_session(const daemon_fixture *d, char id[33])
{
    char scene[512];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d},"
             " \"solver\": {\"iterations\": 1, \"tolerance\": 0},"
             " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [20, 17, 0.1],"
             " \"cells\": [200, 170, 1]}}}]}",
             FRAMES);
    session_post(d, scene, id);
    for (double end = daemon_fixture_clock() + 300;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        bool running = strcmp(json_text(session, "state"), "succeeded") != 0;
        ck_assert_msg(!running || daemon_fixture_clock() < end, "the session is %s",
                      json_text(session, "state"));
        json_decref(session);
        if (!running)
            return;
    }
}

static void start_bare(const daemon_fixture *d, const char *id, bare_server *bare)
{
    static char paths[BARE_FILES][512];
    const char *list[BARE_FILES];
    int count = 0;
    for (; count < BARE_FILES; count++) {
        char name[40];
        snprintf(name, sizeof name, "log/0001-%04d.seg", count);
        snprintf(paths[count], sizeof paths[count], "%s", session_path(d, id, name));
        list[count] = paths[count];
        if (access(paths[count], R_OK) != 0)
            break;
    }
    ck_assert_int_gt(count, 0);
    bare_server_start(bare, list, count);
}

typedef struct server {
    const char *name;
    pid_t pid;
    int port;
    const char *token, *target;
    bench_samples wall, cpu; /* MB a second by the clock, and of the server's processor time */
} server;

static void read_round(server *s)
{
    int64_t bytes = 0;
    double cpu = bench_cpu_seconds(s->pid), start = daemon_fixture_clock();
    for (int i = 0; i < READS; i++)
        bytes += bench_download(s->port, s->token, s->target);
    double end = daemon_fixture_clock();
    ck_assert_int_ge(bytes, (int64_t)READS * FRAMES * VERTICES * 12);
    bench_add(&s->wall, 1e-6 * (double)bytes / (end - start));
    bench_add(&s->cpu, 1e-6 * (double)bytes / (bench_cpu_seconds(s->pid) - cpu));
}

/* The same frames in converted forms: more of them than the daemon caches. */
static void measure_made(const daemon_fixture *d, const char *id)
{
    static const struct {
        const char *name, *query;
        int bytes; /* a vertex */
    } forms[] = {{"u16", "&dtype=u16", 6},
                 {"surface, f32", "&vertices=surface", 12},
                 {"surface, u16", "&dtype=u16&vertices=surface", 6},
                 {"f64", "&dtype=f64", 24}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        bench_samples wall = {0}, cpu = {0};
        char target[160];
        snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0%s", id, forms[i].query);
        for (int round = 0; round < ROUNDS; round++) {
            int64_t bytes = 0;
            double before = bench_cpu_seconds(d->pid), start = daemon_fixture_clock();
            for (int k = 0; k < READS / 4; k++)
                bytes += bench_download(d->port, d->token, target);
            ck_assert_int_ge(bytes, (int64_t)(READS / 4) * FRAMES * VERTICES * forms[i].bytes);
            bench_add(&wall, 1e-6 * (double)bytes / (daemon_fixture_clock() - start));
            bench_add(&cpu, 1e-6 * (double)bytes / (bench_cpu_seconds(d->pid) - before));
        }
        printf("  %-18s  %6.0f    %6.0f  %6.0f    %6.0f\n", forms[i].name,
               bench_quantile(&wall, 0.5), bench_quantile(&wall, 0), bench_quantile(&wall, 1),
               bench_quantile(&cpu, 0.5));
    }
}

static void measure(void)
{
    daemon_fixture d;
    bare_server bare;
    char id[33], target[96];
    daemon_fixture_start(&d, NULL);
    make_session(&d, id);
    start_bare(&d, id, &bare);
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0", id);
    server servers[] = {
        {.name = "pliantd", .pid = d.pid, .port = d.port, .token = d.token, .target = target},
        {.name = "bare pread server", .pid = bare.pid, .port = bare.port, .target = "/"},
    };
    for (int i = 0; i < 2; i++)
        (void)bench_download(servers[i].port, servers[i].token, servers[i].target);
    bench_samples ratio = {0}, cpu_ratio = {0};
    for (int round = 0; round < ROUNDS; round++) {
        read_round(&servers[round % 2]);
        read_round(&servers[1 - round % 2]);
        bench_add(&ratio, servers[0].wall.value[round] / servers[1].wall.value[round]);
        bench_add(&cpu_ratio, servers[0].cpu.value[round] / servers[1].cpu.value[round]);
    }
    printf("Stored frames read whole by one client: %d frames of %d vertices, %.0f MB a read, "
           "median of %d rounds\n",
           FRAMES, VERTICES, 1e-6 * FRAMES * VERTICES * 12, ROUNDS);
    puts("                        MB/s    (least    most)    MB a second of the server's "
         "processor time");
    for (int i = 0; i < 2; i++)
        printf("  %-18s  %6.0f    %6.0f  %6.0f    %6.0f\n", servers[i].name,
               bench_quantile(&servers[i].wall, 0.5), bench_quantile(&servers[i].wall, 0),
               bench_quantile(&servers[i].wall, 1), bench_quantile(&servers[i].cpu, 0.5));
    printf("  %-18s  %6.2f    %6.2f  %6.2f    %6.2f\n", "ratio", bench_quantile(&ratio, 0.5),
           bench_quantile(&ratio, 0), bench_quantile(&ratio, 1), bench_quantile(&cpu_ratio, 0.5));
    bare_server_stop(&bare);
    measure_made(&d, id);
    daemon_fixture_stop(&d);
}

int main(void)
{
    return bench_run("stream", measure);
}
