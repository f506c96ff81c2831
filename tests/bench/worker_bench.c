/* The cost of a session besides its steps: starts of preflight and worker, run by hand on a session directory. */
#include "tests/bench/bench.h"

#include "protocol/log/log.h"
#include "tests/support/session_fixture.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 20, PATIENCE_MS = 30000 };

/* 100 vertices, 288 tetrahedra. */
static const char scene[] = "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1},"
                            " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [4, 4, 3],"
                            " \"cells\": [4, 4, 3]}}}],"
                            " \"pins\": [{\"select\": {\"side\": \"-x\"}}]}";

/* ms since `start` when the process has ended well. */
static double await_end(pid_t pid, double start)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    double end = session_fixture_clock();
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    return 1e3 * (end - start);
}

/* ms since `start` when the log's first frame is committed. */
static double await_frame(const session_fixture *f, int changes, double start)
{
    pl_log_reader *reader;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    while (pl_log_reader_refresh(reader) == 0) {
        char events[4096];
        struct pollfd watched = {.fd = changes, .events = POLLIN};
        ck_assert_msg(poll(&watched, 1, PATIENCE_MS) == 1, "no frame came");
        ck_assert_int_gt(read(changes, events, sizeof events), 0);
    }
    double end = session_fixture_clock();
    pl_log_reader_close(reader);
    return 1e3 * (end - start);
}

static int watch_log(const session_fixture *f)
{
    char path[600];
    snprintf(path, sizeof path, "%s/log", f->path);
    ck_assert_int_eq(mkdir(path, 0700), 0); /* as the daemon does */
    int changes = inotify_init1(IN_CLOEXEC);
    ck_assert_int_ge(inotify_add_watch(changes, path, IN_MODIFY | IN_CREATE), 0);
    ck_assert_int_ge(inotify_add_watch(changes, f->path, IN_MOVED_TO), 0);
    return changes;
}

typedef struct starts {
    bench_samples preflight, frame, end;
} starts;

static void run_once(starts *out)
{
    session_fixture f;
    session_fixture_create(&f, NULL, scene);
    const char *const check[] = {"--session", f.path, NULL};
    double start = session_fixture_clock();
    bench_add(&out->preflight,
              await_end(session_fixture_spawn("pliant-preflight", check, NULL, NULL), start));
    int changes = watch_log(&f);
    start = session_fixture_clock();
    pid_t worker = session_fixture_start(&f, 1);
    bench_add(&out->frame, await_frame(&f, changes, start));
    bench_add(&out->end, await_end(worker, start));
    close(changes);
    session_fixture_destroy(&f);
}

static void print_row(const char *name, const bench_samples *s)
{
    printf("  %-24s  %6.1f  %6.1f  %6.1f  %6.1f\n", name, bench_quantile(s, 0),
           bench_quantile(s, 0.5), bench_quantile(s, 0.9), bench_quantile(s, 1));
}

static void measure(void)
{
    starts times = {0};
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* as the daemon does */
    for (int i = 0; i < RUNS; i++)
        run_once(&times);
    printf("Programs on a prepared session directory: 100 vertices, 288 tetrahedra, 1 step, %d "
           "runs, ms\n",
           RUNS);
    puts("                             least  median     p90    most");
    print_row("preflight to its end", &times.preflight);
    print_row("worker to frame 0", &times.frame);
    print_row("worker to its end", &times.end);
}

int main(void)
{
    return bench_run("worker", measure);
}
