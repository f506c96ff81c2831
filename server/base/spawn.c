#include "server/base/spawn.h"

#include "engine/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* glibc 2.36's <sys/pidfd.h> has the calls; P_PIDFD is in <sys/wait.h>. */

/* Variables of the daemon's environment that a child may see; no secrets. */
static const char *const environment_kept[] = {
    "PLIANT_",
    "OMP_",
    "GOMP_",
    "OPENBLAS_",
    "PATH=",
    "HOME=",
    "LANG=",
    "LC_",
    "TZ=",
    "TMPDIR=",
    "LD_LIBRARY_PATH=",
    "ASAN_OPTIONS=",
    "UBSAN_OPTIONS=",
    "LSAN_OPTIONS=",
    "TSAN_OPTIONS=",
    "SLURM_CONF=", /* for a batch system's commands */
};

/* Libraries read these when loaded, so they must be set before the start. BLAS gets one thread; otherwise the worker
 * would have to re-execute itself. Waiting threads spin for at most 3000 iterations, about 0.1 ms, and then sleep. A
 * step has a hundred short parallel regions, and waking a sleeper for each costs a tenth of its time; but if a thread
 * keeps spinning while the one it waits for is not running, a step takes seven times longer as soon as anything else
 * needs the cores. The daemon's own environment overrides these. */
static const struct {
    const char *name;
    char *setting;
} settings[] = {{"OPENBLAS_NUM_THREADS", (char[]){"OPENBLAS_NUM_THREADS=1"}},
                {"OMP_WAIT_POLICY", (char[]){"OMP_WAIT_POLICY=passive"}},
                {"GOMP_SPINCOUNT", (char[]){"GOMP_SPINCOUNT=3000"}}};
enum { SETTINGS = sizeof settings / sizeof *settings };

static char **child_environment(bool bound)
{
    size_t n = 0;
    while (environ[n]) {
        n++;
    }
    char **kept = calloc(n + SETTINGS + 2, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; kept && i < SETTINGS; i++) {
        if (!getenv(settings[i].name)) {
            kept[count++] = settings[i].setting;
        }
    }
    if (kept && bound) {
        static char bind_now[] = "LD_BIND_NOW=1";
        kept[count++] = bind_now;
    }
    for (size_t i = 0; kept && i < n; i++) {
        for (size_t j = 0; j < sizeof environment_kept / sizeof *environment_kept; j++) {
            if (strncmp(environ[i], environment_kept[j], strlen(environment_kept[j])) == 0) {
                kept[count++] = environ[i];
                break;
            }
        }
    }
    return kept;
}

static bool gave_way; /* set once, before there are threads */

/* The daemon gives way when it wakes (pl_give_way); computing and clock-paced processes do not. */
static int prepare_scheduling(posix_spawnattr_t *attributes, short *flags)
{
    const struct sched_param none = {0};
    if (!gave_way) {
        return 0;
    }
    *flags |= POSIX_SPAWN_SETSCHEDULER;
    int e = posix_spawnattr_setschedpolicy(attributes, SCHED_OTHER);
    return e ? e : posix_spawnattr_setschedparam(attributes, &none);
}

static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int out_fd,
                   int err_fd, const char *directory)
{
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    int e = prepare_scheduling(attributes, &flags);
    e = e ? e : posix_spawnattr_setflags(attributes, flags);
    e = e ? e : posix_spawnattr_setsigmask(attributes, &none);
    e = e ? e : posix_spawnattr_setsigdefault(attributes, &defaults);
    e = e ? e : posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    e = e ? e : posix_spawn_file_actions_adddup2(files, out_fd, 1);
    e = e ? e : posix_spawn_file_actions_adddup2(files, err_fd, 2);
    e = e ? e : posix_spawn_file_actions_addclosefrom_np(files, 3);
    e = e ? e : posix_spawn_file_actions_addchdir_np(files, directory);
    return e;
}

/* Higher than the daemon's own score, so that the kernel, when out of memory, kills processes that can be restarted. If
 * it cannot be written, the kernel decides by size alone. */
static void give_first(pid_t pid)
{
    enum { MORE = 500, MOST = 1000 };
    char path[64], text[24];
    int own = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    ssize_t n = own >= 0 ? read(own, text, sizeof text - 1) : 0;
    text[n > 0 ? n : 0] = 0;
    long score = strtol(text, NULL, 10) + MORE;
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    snprintf(text, sizeof text, "%ld", score < MOST ? score : MOST);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t put = fd >= 0 ? write(fd, text, strlen(text)) : 0;
    (void)put;
    if (own >= 0) {
        close(own);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static int spawn(bool bound, char *const argv[], int out_fd, int err_fd, const char *directory,
                 pl_child *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int e = posix_spawn_file_actions_init(&files);
    if (e) {
        return e;
    }
    e = posix_spawnattr_init(&attributes);
    if (e) {
        posix_spawn_file_actions_destroy(&files);
        return e;
    }
    char **environment = child_environment(bound);
    e = environment ? prepare(&files, &attributes, out_fd, err_fd, directory) : ENOMEM;
    pid_t pid = -1;
    if (!e) {
        e = posix_spawn(&pid, argv[0], &files, &attributes, argv, environment);
    }
    if (!e) {
        /* Not reaped yet, so the pid is still this child's. */
        int pidfd = pidfd_open(pid, 0);
        if (pidfd < 0) {
            e = errno;
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        } else {
            *child = (pl_child){pid, pidfd};
            give_first(pid);
        }
    }
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return e;
}

int pl_spawn(char *const argv[], int out_fd, int err_fd, const char *directory, pl_child *child)
{
    return spawn(false, argv, out_fd, err_fd, directory, child);
}

int pl_spawn_bound(char *const argv[], int out_fd, int err_fd, const char *directory,
                   pl_child *child)
{
    return spawn(true, argv, out_fd, err_fd, directory, child);
}

void pl_give_way(void)
{
    const struct sched_param none = {0};
    if (sched_getscheduler(0) == SCHED_OTHER) { /* if not permitted, nothing changes */
        gave_way = sched_setscheduler(0, SCHED_BATCH, &none) == 0;
    }
}

pl_wait pl_child_wait(pl_child *child, int timeout_ms, int stop_fd, int *status)
{
    int64_t deadline = pl_monotonic_ms() + timeout_ms;
    for (;;) {
        struct pollfd fds[2] = {{child->pidfd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
        int64_t left = deadline - pl_monotonic_ms();
        int n = poll(fds, stop_fd >= 0 ? 2 : 1, left > 0 ? (int)left : 0);
        if (n > 0 && fds[0].revents) {
            pl_child_reap(child, status);
            return PL_WAIT_ENDED;
        }
        if (n > 0) {
            return PL_WAIT_STOPPED;
        }
        if (n == 0 && left <= 0) {
            return PL_WAIT_TIMEOUT;
        }
    }
}

bool pl_child_reap(pl_child *child, int *status)
{
    siginfo_t info = {0};
    int r;
    do {
        r = waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED);
    } while (r < 0 && errno == EINTR);
    close(child->pidfd);
    child->pidfd = -1;
    if (r < 0) {
        return false;
    }
    *status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0)
                                         : W_EXITCODE(0, info.si_status & 0x7f);
    return true;
}

void pl_child_kill(pl_child *child)
{
    int status;
    pidfd_send_signal(child->pidfd, SIGKILL, NULL, 0);
    pl_child_reap(child, &status);
}

/* Fields 3 and up of /proc/PID/stat in `text`; NULL if the process is gone. */
static const char *read_stat(pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    /* The name (field 2) may contain anything, so count from the last parenthesis. */
    const char *p = strrchr(text, ')');
    return p && p[1] ? p + 2 : NULL;
}

static uint64_t stat_field(const char *stat, int field)
{
    for (int at = 3; stat && at < field; at++) {
        stat = strchr(stat, ' ');
        stat = stat ? stat + 1 : NULL;
    }
    return stat ? strtoull(stat, NULL, 10) : 0;
}

uint64_t pl_process_start(pid_t pid)
{
    char text[1024];
    return stat_field(read_stat(pid, text, sizeof text), 22);
}

bool pl_process_look(pid_t pid, pl_process *out)
{
    char text[1024];
    const char *stat = read_stat(pid, text, sizeof text);
    if (!stat) {
        return false;
    }
    uint64_t ticks = stat_field(stat, 14) + stat_field(stat, 15);
    *out = (pl_process){*stat, (int64_t)(1000 * ticks / (uint64_t)sysconf(_SC_CLK_TCK))};
    return true;
}

double pl_process_age(uint64_t start)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    double age = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec -
                 (double)start / (double)sysconf(_SC_CLK_TCK);
    return age > 0 ? age : 0;
}

void pl_boot_id(char out[40])
{
    memset(out, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, out, 36);
        out[n > 0 ? n : 0] = 0;
        close(fd);
    }
}

int pl_program_folder(char *out, size_t size)
{
    const char *given = getenv("PLIANT_BINDIR");
    if (given && *given) {
        return (size_t)snprintf(out, size, "%s", given) < size ? 0 : -1;
    }
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n <= 0) {
        return -1;
    }
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (!slash) {
        return -1;
    }
    *slash = 0;
    return 0;
}
