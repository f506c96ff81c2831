/* POSTs of small scenes at a fixed rate, regardless of earlier replies: held sessions at 200/s, then at 50/s behind
 * workers on every core, then more than any daemon can accept, to measure how soon it rejects. A request's time starts
 * when it was due, so waiting for a free connection counts in full. */
#include "tests/bench/bench.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 200, REQUESTS_MAX = 6000, HEAD_MAX = 4096 };

#define SLOW_SYNC_MS "10"

typedef struct load {
    const daemon_fixture *daemon;
    const char *scene;
    double rate, seconds; /* requests per second, for so long */
    double begun;
    int count;
    atomic_int next;
    int status[REQUESTS_MAX];
    double ms[REQUESTS_MAX];   /* to the reply */
    double late[REQUESTS_MAX]; /* to sending: the client's own delay */
} load;

/* ---- one connection ---- */

static void sleep_until(double when)
{
    double left = when - daemon_fixture_clock();
    if (left > 0) {
        time_t whole = (time_t)left;
        nanosleep(&(struct timespec){whole, (long)(1e9 * (left - (double)whole))}, NULL);
    }
}

/* Reads a reply to its end. Returns its status, or 0 if the connection was closed. */
static int read_status(int fd)
{
    char head[HEAD_MAX + 1], drop[4096];
    size_t used = 0;
    char *end = NULL;
    while (!end && used < HEAD_MAX) {
        ssize_t got = recv(fd, head + used, HEAD_MAX - used, 0);
        if (got <= 0)
            return 0;
        used += (size_t)got;
        head[used] = 0;
        end = strstr(head, "\r\n\r\n");
    }
    const char *length = end ? strcasestr(head, "\r\nContent-Length:") : NULL;
    if (!length)
        return 0;
    long left = strtol(length + 17, NULL, 10) - (long)(head + used - (end + 4));
    while (left > 0) {
        ssize_t got = recv(fd, drop, left < (long)sizeof drop ? (size_t)left : sizeof drop, 0);
        if (got <= 0)
            return 0;
        left -= got;
    }
    return (int)strtol(head + 9, NULL, 10);
}

static void *post_in_turn(void *context)
{
    load *l = context;
    char *text = NULL;
    int length = asprintf(&text,
                          "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                          "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          l->daemon->port, l->daemon->token, strlen(l->scene), l->scene);
    int fd = bench_connect(l->daemon->port);
    for (int i; length > 0 && (i = atomic_fetch_add(&l->next, 1)) < l->count;) {
        double due = l->begun + i / l->rate;
        sleep_until(due);
        l->late[i] = 1e3 * (daemon_fixture_clock() - due);
        bool sent = send(fd, text, (size_t)length, MSG_NOSIGNAL) == length;
        l->status[i] = sent ? read_status(fd) : 0;
        l->ms[i] = 1e3 * (daemon_fixture_clock() - due);
        if (!l->status[i]) {
            close(fd);
            fd = bench_connect(l->daemon->port);
        }
    }
    close(fd);
    free(text);
    return NULL;
}

/* ---- a load ---- */

static void print_replies(const load *l, const char *name, int least, int most)
{
    static double ms[REQUESTS_MAX], late[REQUESTS_MAX], served[REQUESTS_MAX];
    int count = 0;
    for (int i = 0; i < l->count; i++)
        if (l->status[i] >= least && l->status[i] <= most) {
            ms[count] = l->ms[i];
            late[count] = l->late[i];
            served[count++] = l->ms[i] - l->late[i];
        }
    if (count)
        printf("    %-12s  %5d  %7.1f  %7.1f  %7.1f  %11.1f  %9.1f\n", name, count,
               bench_rank(ms, count, 0.5), bench_rank(ms, count, 0.99), bench_rank(ms, count, 1),
               bench_rank(late, count, 0.99), bench_rank(served, count, 0.99));
}

static void run_load(load *l, const char *what)
{
    pthread_t threads[CONNECTIONS];
    double daemon_cpu = bench_cpu_seconds(l->daemon->pid);
    l->count = (int)(l->rate * l->seconds);
    ck_assert_int_le(l->count, REQUESTS_MAX);
    atomic_store(&l->next, 0);
    l->begun = daemon_fixture_clock() + 0.2;
    for (int i = 0; i < CONNECTIONS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, post_in_turn, l), 0);
    for (int i = 0; i < CONNECTIONS; i++)
        pthread_join(threads[i], NULL);
    double taken = daemon_fixture_clock() - l->begun;
    printf("  %s: %.0f/s for %.0f s, all answered after %.1f s, %.2f ms of the daemon each\n", what,
           l->rate, l->seconds, taken,
           1e3 * (bench_cpu_seconds(l->daemon->pid) - daemon_cpu) / l->count);
    print_replies(l, "201", 201, 201);
    print_replies(l, "429", 429, 429);
    print_replies(l, "503", 503, 503);
    print_replies(l, "other", 1, 200);
    print_replies(l, "other", 202, 428);
    print_replies(l, "cut", 0, 0);
    fflush(stdout);
}

static void measure_held(void)
{
    static load l = {.rate = 200, .seconds = 10};
    daemon_fixture d;
    char *scene = session_scene(5, 1, ", \"resources\": {\"hold\": true}");
    daemon_fixture_start(&d, NULL);
    l.daemon = &d;
    l.scene = scene;
    run_load(&l, "held sessions");
    free(scene);
    daemon_fixture_stop(&d);
}

/* As many as there are processors, without an end. */
static void occupy(const daemon_fixture *d, long cores)
{
    char id[33];
    for (long i = 0; i < cores; i++) {
        session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 1}"), id);
        session_await_frame(d, id, 1);
    }
}

static void measure_behind_workers(void)
{
    static load l = {.rate = 50, .seconds = 10};
    static load more = {.rate = 1000, .seconds = 5};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char text[16], *scene = session_scene(5, 1, "");
    const char *options[] = {"--cores", text, NULL};
    daemon_fixture d;
    snprintf(text, sizeof text, "%ld", cores);
    daemon_fixture_start(&d, options);
    occupy(&d, cores);
    l.daemon = more.daemon = &d;
    l.scene = more.scene = scene;
    run_load(&l, "behind a worker on every core");
    run_load(&more, "more than it takes");
    free(scene);
    daemon_fixture_stop(&d);
}

static void measure(void)
{
    puts("POSTs of a cube of 64 vertices at a fixed rate, ms from when each was due");
    puts("    reply         count   median      p99     most  sent by p99  then p99");
    measure_held();
    measure_behind_workers();
    printf("  The same on a disk whose flush takes %s ms\n", SLOW_SYNC_MS);
    daemon_fixture_preload("libslow_sync.so");
    setenv("PLIANT_SYNC_MS", SLOW_SYNC_MS, 1);
    measure_held();
    measure_behind_workers();
    unsetenv("LD_PRELOAD");
}

int main(void)
{
    return bench_run("load", measure);
}
