#include "tests/support/session_fixture.h"

#include "protocol/log/log.h"
#include "protocol/log/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 120 };

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "session fixture: %s: %s\n", what, strerror(errno));
    abort();
}

double session_fixture_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* ---- directories ---- */

char *session_fixture_scene(int64_t steps, const char *more)
{
    char *text = NULL;
    int n = asprintf(
        &text,
        "{\"pliant\": 1, \"name\": \"bar\", \"time\": {\"step\": 0.01, \"steps\": %lld},"
        " \"solver\": {\"method\": \"admm\", \"iterations\": 5, \"tolerance\": 0},"
        " \"materials\": {\"rubber\": {\"model\": \"neo_hookean\", \"young\": 1e5,"
        " \"poisson\": 0.4, \"density\": 1000}},"
        " \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"box\": {\"size\": [4, 1, 1],"
        " \"cells\": [10, 2, 2]}}, \"material\": \"rubber\"}],"
        " \"pins\": [{\"name\": \"wall\", \"body\": \"bar\", \"select\": {\"side\": \"-x\"}}]%s}",
        (long long)steps, more);
    need(n > 0, "scene");
    return text;
}

void session_fixture_create(session_fixture *f, const char *parent, const char *scene)
{
    const char *temporary = getenv("TMPDIR");
    if (parent && strcmp(parent, SESSION_IN_MEMORY) == 0 && access(parent, W_OK) != 0)
        parent = NULL;
    snprintf(f->path, sizeof f->path, "%s/pliant-session-XXXXXX",
             parent ? parent : (temporary ? temporary : "/tmp"));
    need(mkdtemp(f->path) != NULL, f->path);
    f->directory = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    need(f->directory >= 0, f->path);
    need(mkdirat(f->directory, "meshes", 0750) == 0, "meshes");
    session_fixture_write(f, "scene.json", scene, strlen(scene));
}

void session_fixture_bar(session_fixture *f, int64_t steps, const char *more)
{
    char *scene = session_fixture_scene(steps, more);
    session_fixture_create(f, NULL, scene);
    free(scene);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    return remove(path);
}

void session_fixture_destroy(session_fixture *f)
{
    close(f->directory);
    nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void session_fixture_write(const session_fixture *f, const char *name, const void *data,
                           size_t size)
{
    need(pl_file_replace(f->directory, name, data, size, false) == PL_OK, name);
}

/* ---- programs ---- */

/* build/NAME: the test lies in build/tests/KIND/. */
static void program_path(const char *name, char path[PATH_MAX])
{
    const char *build = getenv("PLIANT_BUILD");
    char self[PATH_MAX];
    if (!build) {
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        need(n > 0, "/proc/self/exe");
        self[n] = 0;
        for (int up = 0; up < 3; up++) {
            char *slash = strrchr(self, '/');
            need(slash != NULL, self);
            *slash = 0;
        }
        build = self;
    }
    need(snprintf(path, PATH_MAX, "%s/%s", build, name) < PATH_MAX, name);
}

static void become(const char *path, const char *const *arguments, session_fixture_before before,
                   FILE *out)
{
    char *argv[32] = {(char *)path};
    for (int i = 0; i < 30 && arguments[i]; i++)
        argv[i + 1] = (char *)arguments[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int sink = out ? fileno(out) : open("/dev/null", O_WRONLY);
    dup2(sink, STDOUT_FILENO);
    dup2(sink, STDERR_FILENO);
    if (before)
        before();
    execv(path, argv);
    _exit(127);
}

pid_t session_fixture_spawn(const char *name, const char *const *arguments,
                            session_fixture_before before, FILE *out)
{
    char path[PATH_MAX];
    program_path(name, path);
    need(access(path, X_OK) == 0, path);
    if (out)
        fflush(out);
    pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid == 0)
        become(path, arguments, before, out);
    return pid;
}

int session_fixture_wait(pid_t pid)
{
    double end = session_fixture_clock() + PATIENCE_S;
    for (;;) {
        int status;
        pid_t got = waitpid(pid, &status, WNOHANG);
        need(got >= 0, "waitpid");
        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (session_fixture_clock() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        nap();
    }
}

bool session_fixture_freeze(pid_t pid)
{
    siginfo_t info;
    kill(pid, SIGSTOP);
    need(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT) == 0, "waitid");
    return info.si_code == CLD_STOPPED;
}

int session_fixture_preflight(const session_fixture *f)
{
    const char *const arguments[] = {"--session", f->path, NULL};
    return session_fixture_wait(session_fixture_spawn("pliant-preflight", arguments, NULL, NULL));
}

pid_t session_fixture_start(const session_fixture *f, int attempt)
{
    char number[16];
    snprintf(number, sizeof number, "%d", attempt);
    const char *const arguments[] = {"--session", f->path, "--attempt", number,
                                     "--threads", "1",     NULL};
    return session_fixture_spawn("pliant-worker", arguments, NULL, NULL);
}

int session_fixture_run(const session_fixture *f, int attempt)
{
    return session_fixture_wait(session_fixture_start(f, attempt));
}

pid_t session_fixture_start_often(const session_fixture *f, int attempt)
{
    char number[16];
    snprintf(number, sizeof number, "%d", attempt);
    const char *const arguments[] = {"--session", f->path, "--attempt",          number,
                                     "--threads", "1",     "--checkpoint-every", "0",
                                     NULL};
    return session_fixture_spawn("pliant-worker", arguments, NULL, NULL);
}

int session_fixture_run_often(const session_fixture *f, int attempt)
{
    return session_fixture_wait(session_fixture_start_often(f, attempt));
}

/* ---- what is in it ---- */

void session_fixture_control(const session_fixture *f, const char *text)
{
    unsigned char bytes[1024] = {0};
    size_t length = strlen(text);
    need(length < 900, "control");
    pl_record record = {
        .type = PL_RECORD_CONTROL, .length = length, .payload_crc = pl_crc32c(0, text, length)};
    pl_record_encode(&record, bytes);
    memcpy(bytes + PL_RECORD_HEADER, text, length);
    int fd = openat(f->directory, "control.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    need(fd >= 0, "control.log");
    size_t size = pl_record_size(length);
    need(write(fd, bytes, size) == (ssize_t)size, "control.log");
    close(fd);
}

int64_t session_fixture_frames(const session_fixture *f)
{
    pl_log_reader *reader;
    need(pl_log_reader_open(f->directory, &reader) == PL_OK, "log");
    int64_t frames = pl_log_reader_refresh(reader);
    pl_log_reader_close(reader);
    return frames;
}

bool session_fixture_await(const session_fixture *f, int64_t frames)
{
    double end = session_fixture_clock() + PATIENCE_S;
    while (session_fixture_frames(f) < frames) {
        if (session_fixture_clock() > end)
            return false;
        nap();
    }
    return true;
}

pl_exit session_fixture_exit(const session_fixture *f)
{
    pl_exit e;
    need(pl_exit_read(f->directory, &e) == PL_OK, "exit.json");
    return e;
}

bool session_fixture_has(const session_fixture *f, const char *name)
{
    struct stat st;
    return fstatat(f->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static uint32_t digest;

static int digest_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    static char block[1 << 16];
    digest = pl_crc32c(digest, path, strlen(path));
    int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    for (ssize_t n; fd >= 0 && (n = read(fd, block, sizeof block)) > 0;)
        digest = pl_crc32c(digest, block, (size_t)n);
    if (fd >= 0)
        close(fd);
    return 0;
}

uint32_t session_fixture_fingerprint(const session_fixture *f)
{
    /* nftw lists in the directory's own order, which stays while nothing changes. */
    digest = 0;
    nftw(f->path, digest_one, 16, FTW_PHYS);
    return digest;
}
