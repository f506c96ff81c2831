#include "server/worker/pilot.h"

#include "protocol/log/small_file.h"
#include "server/worker/session_options.h"
#include "server/worker/worker_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOSED "closed"
enum { LIMIT = 64 << 10, WORDS = 64, NAME_SIZE = 80, LOOK_MS = 200, KILL_S = 10 };

/* A worker. */
typedef struct run {
    struct run *next;
    char name[NAME_SIZE]; /* SESSION-ATTEMPT */
    pid_t pid;
    long cores, memory_mb;
    double told; /* time of SIGTERM at the daemon's request; 0: not sent */
} run;

/* A waiting assignment. */
typedef struct todo {
    char name[NAME_SIZE];
    struct timespec since;
} todo;

typedef struct pilot {
    const pl_pilot_options *options;
    int dir_fd;
    run *runs;
    long cores, memory_mb; /* unused */
    todo *todos;
    size_t count, room;
    bool stopped, closed;
    double began, idle_since;
} pilot;

/* ---- starting ---- */

/* The child's side. If the pilot dies, so do its workers: they stop at a checkpoint. */
static void become_worker(char *const argv[], pid_t parent)
{
    sigset_t none;
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(null_fd, STDIN_FILENO) < 0)
        _exit(PL_WORKER_USAGE);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", argv);
    _exit(127);
}

/* The words of an assignment, of which the first two are numbers. Returns how many. */
static int split(char *text, size_t size, char *words[WORDS])
{
    int count = 0;
    for (size_t at = 0; at < size && count < WORDS - 1; at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    return count;
}

static bool spawn(pilot *p, const char *name, char *words[WORDS])
{
    run *r = calloc(1, sizeof *r);
    pid_t parent = getpid();
    if (!r || (r->pid = fork()) < 0) {
        pl_worker_logf("%s: no worker can be started: %s", name, strerror(errno));
        free(r);
        return false;
    }
    r->cores = strtol(words[0], NULL, 10);
    r->memory_mb = strtol(words[1], NULL, 10);
    if (r->pid == 0) {
        words[1] = "pliant-worker";
        become_worker(words + 1, parent);
    }
    snprintf(r->name, sizeof r->name, "%s", name);
    p->cores -= r->cores;
    p->memory_mb -= r->memory_mb;
    r->next = p->runs;
    p->runs = r;
    return true;
}

/* Take the assignment and run it. False if there is no room for it now. */
static bool take(pilot *p, const char *name)
{
    char from[NAME_SIZE + 8], to[NAME_SIZE + 8], *text = NULL, *words[WORDS];
    size_t size = 0;
    snprintf(from, sizeof from, "%s.todo", name);
    snprintf(to, sizeof to, "%s.run", name);
    if (pl_file_read(p->dir_fd, from, LIMIT, &text, &size) != PL_OK)
        return true; /* the daemon has withdrawn it */
    bool whole = split(text, size, words) > 2;
    bool fits = !p->runs || (whole && strtol(words[0], NULL, 10) <= p->cores &&
                             strtol(words[1], NULL, 10) <= p->memory_mb);
    if (whole && fits && renameat(p->dir_fd, from, p->dir_fd, to) == 0 && !spawn(p, name, words))
        fits = renameat(p->dir_fd, to, p->dir_fd, from) != 0; /* tried again at the next look */
    free(text);
    return fits;
}

/* ---- ending ---- */

static void say_end(pilot *p, const run *r, int status)
{
    char from[NAME_SIZE + 8], to[NAME_SIZE + 8], text[32];
    int n = snprintf(text, sizeof text, "%d\n", status);
    snprintf(from, sizeof from, "%s.run", r->name);
    snprintf(to, sizeof to, "%s.done", r->name);
    if (pl_file_put_text(p->dir_fd, from, text, (size_t)n) != PL_OK ||
        renameat(p->dir_fd, from, p->dir_fd, to) != 0)
        pl_worker_logf("%s: %s", to, strerror(errno));
    snprintf(to, sizeof to, "%s.kill", r->name);
    unlinkat(p->dir_fd, to, 0);
}

static void reap(pilot *p)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        run **link = &p->runs;
        while (*link && (*link)->pid != pid)
            link = &(*link)->next;
        run *r = *link;
        if (!r)
            continue;
        *link = r->next;
        p->cores += r->cores;
        p->memory_mb += r->memory_mb;
        say_end(p, r, status);
        free(r);
        p->idle_since = pl_worker_clock();
    }
}

static void end_worker(pilot *p, const char *name)
{
    double now = pl_worker_clock();
    for (run *r = p->runs; r; r = r->next) {
        if (strcmp(r->name, name) != 0)
            continue;
        if (r->told == 0)
            kill(r->pid, SIGTERM);
        else if (now - r->told > KILL_S)
            kill(r->pid, SIGKILL);
        r->told = r->told == 0 ? now : r->told;
    }
}

/* ---- the folder ---- */

static void add(pilot *p, const char *name)
{
    char file[NAME_SIZE + 8];
    struct stat about;
    snprintf(file, sizeof file, "%s.todo", name);
    if (fstatat(p->dir_fd, file, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        todo *more = realloc(p->todos, room * sizeof *more);
        if (!more)
            return;
        p->todos = more;
        p->room = room;
    }
    todo *t = &p->todos[p->count++];
    snprintf(t->name, sizeof t->name, "%s", name);
    t->since = about.st_mtim;
}

static int by_time(const void *a, const void *b)
{
    const struct timespec *x = &((const todo *)a)->since, *y = &((const todo *)b)->since;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* List waiting assignments, oldest first, and the workers to be ended. Reopening the folder makes a network file system
 * read it from its server. False if it is gone. */
static bool look(pilot *p)
{
    int fd = openat(p->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct stat about;
    p->count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char name[NAME_SIZE];
        const char *dot = strrchr(e->d_name, '.');
        size_t length = dot ? (size_t)(dot - e->d_name) : 0;
        if (length == 0 || length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, e->d_name);
        if (strcmp(dot, ".todo") == 0)
            add(p, name);
        else if (strcmp(dot, ".kill") == 0)
            end_worker(p, name);
    }
    if (p->count > 1)
        qsort(p->todos, p->count, sizeof *p->todos, by_time);
    if (!dir && fd >= 0)
        close(fd);
    if (dir)
        closedir(dir);
    return fstat(p->dir_fd, &about) == 0 && about.st_nlink > 0;
}

static void set_closed(pilot *p, bool closed)
{
    if (closed == p->closed)
        return;
    if (!closed)
        unlinkat(p->dir_fd, CLOSED, 0);
    else if (pl_file_put_text(p->dir_fd, CLOSED, "", 0) != PL_OK)
        pl_worker_logf("%s: %s", CLOSED, strerror(errno));
    p->closed = closed;
}

/* ---- running ---- */

static void stop(pilot *p)
{
    p->stopped = true;
    for (const run *r = p->runs; r; r = r->next)
        kill(r->pid, SIGTERM);
}

/* Waits for a worker's end, a signal or the next look. */
static void wait_for_news(pilot *p, const sigset_t *signals)
{
    const struct timespec longest = {.tv_nsec = LOOK_MS * 1000000L};
    int number = sigtimedwait(signals, NULL, &longest);
    if ((number == SIGTERM || number == SIGINT) && !p->stopped)
        stop(p);
}

/* False: the pilot is finished. It announces that it is closed before its last look. */
static bool go_on(pilot *p)
{
    double now = pl_worker_clock();
    bool late = p->options->seconds > 0 && now - p->began > p->options->seconds;
    bool there = look(p);
    bool over = p->stopped || late || !there;
    bool idle = !p->runs && p->count == 0 && now - p->idle_since > p->options->idle;
    if (p->runs || (!over && !idle)) {
        set_closed(p, over);
        return true;
    }
    set_closed(p, true);
    if (over || !look(p) || p->count == 0)
        return false;
    set_closed(p, false);
    return true;
}

static void serve(pilot *p, const sigset_t *signals)
{
    while (go_on(p)) {
        for (size_t i = 0; !p->closed && i < p->count && p->cores > 0; i++) {
            if (!take(p, p->todos[i].name))
                break; /* later ones must not overtake it */
        }
        p->idle_since = p->runs ? pl_worker_clock() : p->idle_since;
        wait_for_news(p, signals);
        reap(p);
    }
}

int pl_pilot_run(const pl_pilot_options *o)
{
    double now = pl_worker_clock();
    pilot p = {.options = o, .cores = o->cores, .began = now, .idle_since = now};
    sigset_t signals;
    p.memory_mb = o->memory ? (long)(o->memory >> 20) : INT32_MAX;
    p.dir_fd = open(o->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p.dir_fd < 0) {
        pl_worker_logf("%s: %s", o->directory, strerror(errno));
        return PL_WORKER_USAGE;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    serve(&p, &signals);
    free(p.todos);
    close(p.dir_fd);
    return 0;
}
