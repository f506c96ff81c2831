/* How fast a session's log is converted to files of other programs, compared with cp of the same bytes: pliant export
 * of a directory into a tmpfs, and the daemon's /export over loopback. Memory is the program's peak. Arguments: cells
 * per edge of the box (32), frames (300). */
#include "tests/bench/bench.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char folder[64], build[256];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct cost {
    double wall, cpu; /* s */
    double memory;    /* bytes, the peak */
} cost;

/* A shell's command to its end. */
static cost run(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    char *argv[] = {"sh", "-c", command, NULL};
    struct rusage used;
    int state;
    pid_t pid;
    double begin = now();
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0 ||
        wait4(pid, &state, 0, &used) != pid || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        fprintf(stderr, "export_bench: failed: %s\n", command);
        exit(1);
    }
    return (cost){now() - begin,
                  (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                      1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
                  1024 * (double)used.ru_maxrss};
}

/* Bytes below out/. */
static double size_of_output(void)
{
    char path[512];
    double bytes = 0;
    snprintf(path, sizeof path, "%s/out", folder);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/out/%s", folder, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            bytes += (double)st.st_size;
    }
    if (d)
        closedir(d);
    return bytes;
}

static void row(const char *name, double bytes, cost c, double copy)
{
    printf("%-14s %8.0f %10.0f %10.0f %10.2f %10.0f\n", name, bytes / 1e6, bytes / c.wall / 1e6,
           bytes / c.cpu / 1e6, copy / c.wall, c.memory / 1e6);
    fflush(stdout);
}

static void measure(const char *name, const char *ending, const char *more)
{
    cost best = {.wall = 1e9}, copy = {.wall = 1e9};
    double bytes = 0;
    for (int turn = 0; turn < 3; turn++) {
        run("rm -rf %s/out %s/copy", folder, folder);
        cost c = run("mkdir %s/out && exec %s/pliant export %s/session --out %s/out/x.%s %s",
                     folder, build, folder, folder, ending, more);
        best = c.wall < best.wall ? c : best;
        bytes = size_of_output();
        c = run("exec cp -r %s/out %s/copy", folder, folder);
        copy = c.wall < copy.wall ? c : copy;
    }
    row(name, bytes, best, copy.wall);
}

/* ---- over loopback ---- */

static daemon_fixture daemon_;

/* The same from a daemon, dropped by its reader; CPU and memory are the daemon's. */
static void download(const char *id, const char *name, const char *query)
{
    char target[160];
    cost best = {.wall = 1e9};
    double bytes = 0;
    snprintf(target, sizeof target, "/v1/sessions/%s/export?format=%s", id, query);
    for (int turn = 0; turn < 3; turn++) {
        double begin = now(), spent = bench_cpu_seconds(daemon_.pid);
        bytes = (double)bench_download(daemon_.port, daemon_.token, target);
        cost c = {now() - begin, bench_cpu_seconds(daemon_.pid) - spent,
                  (double)daemon_fixture_memory(&daemon_)};
        best = c.wall < best.wall ? c : best;
    }
    printf("%-14s %8.0f %10.0f %10.0f %10s %10.0f\n", name, bytes / 1e6, bytes / best.wall / 1e6,
           bytes / best.cpu / 1e6, "", best.memory / 1e6);
    fflush(stdout);
}

static void measure_daemon(void)
{
    char path[128], id[33], *scene = calloc(1, 4096);
    snprintf(path, sizeof path, "%s/scene.json", folder);
    FILE *f = fopen(path, "r");
    ck_assert(f && scene && fread(scene, 1, 4095, f) > 0);
    fclose(f);
    daemon_fixture_start(&daemon_, NULL);
    session_post_free(&daemon_, scene, id);
    for (bool over = false; !over; daemon_fixture_nap()) { /* however long it takes */
        json_t *session = session_show(&daemon_, id);
        over = strcmp(json_text(session, "state"), "succeeded") == 0;
        json_decref(session);
    }
    printf("over loopback from a daemon of %.0f MB\n",
           (double)daemon_fixture_memory(&daemon_) / 1e6);
    download(id, "npz", "npz");
    download(id, "pc2", "pc2");
    download(id, "mdd", "mdd");
    download(id, "vtu, a fifth", "vtu&every=5");
    download(id, "glb", "glb");
    daemon_fixture_stop(&daemon_);
}

/* ---- all ---- */

static int cells = 32, frames = 300;

static void make_session(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/scene.json", folder);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f,
            "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d}, \"solver\": {\"method\": "
            "\"gradient_descent\", \"iterations\": 1}, \"output\": {\"fields\": [\"position\", "
            "\"velocity\"]}, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": "
            "[%d, %d, %d]}}}]}",
            frames - 1, cells, cells, cells);
    fclose(f);
    run("%s/pliant run %s/scene.json --out %s/session >%s/said 2>&1", build, folder, folder,
        folder);
}

int main(int argc, char **argv)
{
    cells = argc > 1 ? atoi(argv[1]) : cells;
    frames = argc > 2 ? atoi(argv[2]) : frames;
    const char *given = getenv("PLIANT_BUILD");
    snprintf(build, sizeof build, "%s", given ? given : "build");
    strcpy(folder, "/dev/shm/pliant-export-XXXXXX");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    make_session();
    printf("exports of %d frames of %d vertices and %d tetrahedra, from a tmpfs to it; best of 3\n",
           frames, (cells + 1) * (cells + 1) * (cells + 1), 6 * cells * cells * cells);
    printf("%-14s %8s %10s %10s %10s %10s\n", "format", "MB", "MB/s", "MB/s CPU", "cp / it",
           "peak MB");
    measure("npz", "npz", "");
    measure("pc2 (+ obj)", "pc2", "");
    measure("mdd (+ obj)", "mdd", "");
    measure("vtu, a fifth", "pvd", "--every 5");
    measure("glb", "glb", "");
    measure("obj, a tenth", "obj", "--every 10");
    int status = bench_run("exports", measure_daemon);
    run("rm -rf %s", folder);
    return status;
}
