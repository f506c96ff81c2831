#include "tests/support/built_path.h"
#include "tests/support/daemon_fixture.h"

#include "tests/support/http_client.h"
#include "tests/support/process_report.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double daemon_fixture_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void daemon_fixture_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* ---- the keeper ---- */

/* What the test says to it, and its answer. */
typedef struct keeper_word {
    enum { KEEPER_RUN, KEEPER_WAIT, KEEPER_QUIT } word;
    int value; /* the daemon's pid, or its status; -1: it did not end */
} keeper_word;

typedef struct keeper {
    const daemon_fixture *fixture;
    const char *program;
    int fd;
    pid_t daemon;
    int status;
    bool ended;
} keeper;

static bool pins;

void daemon_fixture_pin(void)
{
    pins = true;
}

static void become_daemon(const keeper *k)
{
    const daemon_fixture *d = k->fixture;
    char log_path[300];
    char *argv[32] = {(char *)k->program, "--listen",        "127.0.0.1:0",
                      "--state",          (char *)d->state,  "--restart-delays",
                      "0.05,0.1,0.2",     "--memory-groups", "off"};
    int at = 9;
    for (int i = 0; d->options[i]; i++)
        argv[at++] = (char *)d->options[i];
    if (!pins)
        argv[at] = (char *)"--no-pin"; /* many daemons of many tests run on the machine at once */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(log_path, sizeof log_path, "%s/daemon.log", d->directory);
    int out = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(out);
    close(k->fd);
    execv(k->program, argv);
    _exit(127);
}

/* Take note of ended children: the daemon, and workers whose daemon is gone. */
static void reap(keeper *k)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == k->daemon) {
            k->ended = true;
            k->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
}

/* The second field after the name in /proc/PID/stat, or -1. */
static pid_t parent_of(const char *pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.16s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    char *name_end = strrchr(text, ')');
    int parent = -1;
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

/* The keeper is a subreaper, so orphaned workers become its children one after the other. */
static void kill_children(void)
{
    for (int status; waitpid(-1, &status, WNOHANG) >= 0;) {
        DIR *processes = opendir("/proc");
        for (struct dirent *e; processes && (e = readdir(processes));)
            if (strspn(e->d_name, "0123456789") == strlen(e->d_name) &&
                parent_of(e->d_name) == getpid())
                kill((pid_t)atoi(e->d_name), SIGKILL);
        if (processes)
            closedir(processes);
        daemon_fixture_nap();
    }
}

/* Of workers that were killed with the daemon. */
static void remove_groups(const daemon_fixture *d)
{
    char path[PATH_MAX], prefix[64], group[PATH_MAX + 256];
    if (!daemon_fixture_groups(d, path))
        return;
    daemon_fixture_group_prefix(d, prefix);
    DIR *groups = opendir(path);
    for (struct dirent *e; groups && (e = readdir(groups));)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(group, sizeof group, "%s/%s", path, e->d_name);
            for (int i = 0; i < 400 && rmdir(group) != 0 && errno == EBUSY; i++)
                daemon_fixture_nap();
        }
    if (groups)
        closedir(groups);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    return remove(path);
}

/* Print the last lines of the daemon's log, to show why a test failed. */
static void show_log(const daemon_fixture *d)
{
    char path[300], text[4096];
    snprintf(path, sizeof path, "%s/daemon.log", d->directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, text, sizeof text, size > (off_t)sizeof text ? size - 4096 : 0);
    fprintf(stderr, "the daemon said:\n%.*s\n", (int)(n > 0 ? n : 0), text);
    close(fd);
}

static keeper_word obey(keeper *k, keeper_word order)
{
    if (order.word == KEEPER_RUN) {
        k->ended = false;
        k->daemon = fork();
        if (k->daemon == 0)
            become_daemon(k);
        return (keeper_word){KEEPER_RUN, k->daemon};
    }
    double end = daemon_fixture_clock() + order.value;
    while (!k->ended && daemon_fixture_clock() < end) {
        reap(k);
        daemon_fixture_nap();
    }
    return (keeper_word){KEEPER_WAIT, k->ended ? k->status : -1};
}

static _Noreturn void keep(keeper *k)
{
    bool orderly = false;
    setsid(); /* the runner kills its tests by process group */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (;;) {
        struct pollfd watched = {.fd = k->fd, .events = POLLIN};
        int ready = poll(&watched, 1, 20);
        reap(k);
        keeper_word order;
        if (ready <= 0)
            continue;
        if (read(k->fd, &order, sizeof order) != (ssize_t)sizeof order)
            break;
        if (order.word == KEEPER_QUIT) {
            orderly = true;
            break;
        }
        order = obey(k, order);
        if (write(k->fd, &order, sizeof order) != (ssize_t)sizeof order)
            break;
    }
    if (!orderly)
        show_log(k->fixture);
    kill_children();
    remove_groups(k->fixture);
    nftw(k->fixture->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

static int ask(const daemon_fixture *d, int word, int value)
{
    keeper_word order = {word, value};
    ck_assert_int_eq(write(d->keeper_fd, &order, sizeof order), (ssize_t)sizeof order);
    if (word == KEEPER_QUIT)
        return 0;
    ck_assert_int_eq(read(d->keeper_fd, &order, sizeof order), (ssize_t)sizeof order);
    return order.value;
}

/* ---- up and down ---- */

static const char *program(void)
{
    static char path[BUILT_PATH_MAX];
    return built_path("pliantd", X_OK, path);
}

void daemon_fixture_preload(const char *library)
{
    char name[64], path[BUILT_PATH_MAX];
    snprintf(name, sizeof name, "tests/%s", library);
    setenv("LD_PRELOAD", built_path(name, R_OK, path), 1);
}

static bool read_line(const char *path, char *out, int size)
{
    FILE *file = fopen(path, "re");
    bool good = file && fgets(out, size, file) && strchr(out, '\n');
    if (file)
        fclose(file);
    if (good)
        out[strcspn(out, "\n")] = 0;
    return good;
}

void daemon_fixture_resume(daemon_fixture *d)
{
    char url[256];
    unlink(daemon_fixture_path(d, "url")); /* a killed daemon leaves its own */
    d->pid = ask(d, KEEPER_RUN, 0);
    ck_assert_int_gt(d->pid, 0);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        if (read_line(daemon_fixture_path(d, "url"), url, sizeof url))
            break;
        if (daemon_fixture_clock() >= end)
            process_report(d->pid);
        ck_assert_msg(daemon_fixture_clock() < end, "the daemon does not start");
    }
    bool tls = sscanf(url, "https://127.0.0.1:%d", &d->port) == 1;
    ck_assert(tls || sscanf(url, "http://127.0.0.1:%d", &d->port) == 1);
    ck_assert(read_line(daemon_fixture_path(d, "token"), d->token, sizeof d->token));
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; !tls && !d->unready;
         daemon_fixture_nap()) {
        http_reply *r = http_get(d, "/readyz");
        int status = r->status;
        http_reply_free(r);
        if (status == 200)
            break;
        ck_assert_msg(daemon_fixture_clock() < end, "the daemon is not ready");
    }
}

void daemon_fixture_start(daemon_fixture *d, const char *const *options)
{
    static const char *const standard[] = {"--cores", "2", NULL};
    const char *temporary = getenv("TMPDIR");
    const char *path = program(); /* fails the test before anything has been made */
    int pair[2];
    memset(d, 0, sizeof *d);
    options = options ? options : standard;
    for (int i = 0; options[i]; i++)
        d->options[i] = options[i];
    snprintf(d->directory, sizeof d->directory, "%s/pliant-daemon-XXXXXX",
             temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(d->directory));
    snprintf(d->state, sizeof d->state, "%.255s/not/there", d->directory);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    keeper k = {.fixture = d, .program = path, .fd = pair[1]};
    d->keeper = fork();
    ck_assert_int_ge(d->keeper, 0);
    if (d->keeper == 0) {
        close(pair[0]);
        keep(&k);
    }
    close(pair[1]);
    d->keeper_fd = pair[0];
    daemon_fixture_resume(d);
}

int daemon_fixture_end(daemon_fixture *d, int signal)
{
    ck_assert(kill(d->pid, signal) == 0 || errno == ESRCH); /* killed by the test, and reaped */
    int status = ask(d, KEEPER_WAIT, HTTP_PATIENCE_S);
    ck_assert_msg(status >= 0, "the daemon does not end");
    return status;
}

int daemon_fixture_command(const daemon_fixture *d, const char *const *args, char *said,
                           size_t size)
{
    const char *argv[24] = {program()};
    int ends[2], status, n = 1;
    size_t at = 0;
    for (; args[n - 1]; n++)
        argv[n] = args[n - 1];
    argv[n] = "--state";
    argv[n + 1] = d->state;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execv(argv[0], (char **)argv);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; at + 1 < size && (got = read(ends[0], said + at, size - 1 - at)) > 0;)
        at += (size_t)got;
    said[at] = 0;
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void daemon_fixture_stop(daemon_fixture *d)
{
    ask(d, KEEPER_QUIT, 0);
    close(d->keeper_fd);
    waitpid(d->keeper, NULL, 0);
}

/* ---- looking at it ---- */

bool daemon_fixture_said(const daemon_fixture *d, const char *words)
{
    char path[300], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "%s/daemon.log", d->directory);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (!found && fgets(line, sizeof line, file))
        found = strstr(line, words);
    fclose(file);
    return found;
}

bool daemon_fixture_groups(const daemon_fixture *d, char path[PATH_MAX])
{
    static const char words[] = "its own memory group in ";
    char log[300], line[PATH_MAX + 200], *at = NULL;
    snprintf(log, sizeof log, "%s/daemon.log", d->directory);
    FILE *file = fopen(log, "re");
    while (file && !at && fgets(line, sizeof line, file))
        at = strstr(line, words);
    if (file)
        fclose(file);
    char *end = at ? strstr(at, " (version ") : NULL;
    if (end) {
        *end = 0;
        snprintf(path, PATH_MAX, "%s", at + sizeof words - 1);
    }
    return end;
}

void daemon_fixture_group_prefix(const daemon_fixture *d, char prefix[64])
{
    struct stat st = {0};
    stat(d->state, &st);
    snprintf(prefix, 64, "pliant-%llx.%llx-", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
}

int64_t daemon_fixture_memory(const daemon_fixture *d)
{
    char path[64], line[256];
    long long kilobytes = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)d->pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %lld kB", &kilobytes);
    fclose(file);
    ck_assert_int_ge(kilobytes, 0);
    return kilobytes * 1024;
}

bool daemon_fixture_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

const char *daemon_fixture_path(const daemon_fixture *d, const char *format, ...)
{
    static char paths[4][640];
    static int turn;
    char *path = paths[turn++ % 4];
    int n = snprintf(path, sizeof paths[0], "%s/", d->state);
    va_list args;
    va_start(args, format);
    vsnprintf(path + n, sizeof paths[0] - (size_t)n, format, args);
    va_end(args);
    return path;
}

int daemon_fixture_entries(const daemon_fixture *d, const char *below)
{
    DIR *directory = opendir(daemon_fixture_path(d, "%s", below));
    int count = 0;
    if (!directory)
        return -1;
    for (struct dirent *e; (e = readdir(directory));)
        count += e->d_name[0] != '.';
    closedir(directory);
    return count;
}

int daemon_fixture_sessions(const daemon_fixture *d)
{
    DIR *directory = opendir(daemon_fixture_path(d, "sessions"));
    char below[300];
    int count = 0;
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *e; (e = readdir(directory));)
        if (e->d_name[0] != '.') {
            snprintf(below, sizeof below, "sessions/%.200s", e->d_name);
            int n = daemon_fixture_entries(d, below);
            count += n > 0 ? n : 0; /* it may go while it is looked at */
        }
    closedir(directory);
    return count;
}

pid_t daemon_fixture_worker(const char *id)
{
    DIR *processes = opendir("/proc");
    pid_t found = 0;
    ck_assert_ptr_nonnull(processes);
    for (struct dirent *e; !found && (e = readdir(processes));) {
        char path[64], text[4096];
        if (strspn(e->d_name, "0123456789") != strlen(e->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%.16s/cmdline", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (fd >= 0)
            close(fd);
        /* The words of a command line end in NUL; its first is the program. */
        if (n > 0 && memmem(text, strnlen(text, (size_t)n), "pliant-worker", 13) &&
            memmem(text, (size_t)n, id, strlen(id)))
            found = (pid_t)atoi(e->d_name);
    }
    closedir(processes);
    return found;
}

pid_t daemon_fixture_await_worker(const char *id)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        pid_t worker = daemon_fixture_worker(id);
        if (worker > 0)
            return worker;
        ck_assert_msg(daemon_fixture_clock() < end, "session %s has no worker", id);
    }
}

void daemon_fixture_lose_database(const daemon_fixture *d)
{
    static const char *const files[] = {"pliant.db", "pliant.db-wal", "pliant.db-shm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(daemon_fixture_path(d, "%s", files[i]));
}
