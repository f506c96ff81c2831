#include "clients/cli/session/run_session.h"

#include "clients/cli/base/outfile.h"

#include "protocol/log/directory_sync.h"
#include "protocol/log/folder.h"
#include "protocol/log/head_recover.h"
#include "protocol/log/record.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { POLL_MS = 50, PREFLIGHT_REFUSED = 1 /* its exit status */ };

/* Files that a run leaves in its directory, besides log/ and meshes/. */
static const char *const run_files[] = {
    "scene.json",       "effective.json", "preflight.json", "topology.json",
    "triangles.npy",    "tets.npy",       "lock",           "head.json",
    "exit.json",        "worker.log",     "control.log",    "checkpoint-A.bin",
    "checkpoint-B.bin", "surface.npy",    "warnings.json",  "profile.json",
};

static bool is_empty(int dir_fd)
{
    DIR *d = pl_folder_open(dir_fd, ".");
    bool empty = true;
    if (!d)
        return false;
    for (struct dirent *e; empty && (e = readdir(d));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(d);
    return empty;
}

/* True for a name in log/ or meshes/ that a run writes: 0001-0001.seg and .idx, or a hash. */
static bool is_run_name(const char *name)
{
    size_t digits = strspn(name, "0123456789-");
    bool segment = digits > 0 &&
                   (strcmp(name + digits, ".seg") == 0 || strcmp(name + digits, ".idx") == 0);
    return segment || (strspn(name, "0123456789abcdef") == 64 && name[64] == '\0');
}

static void clear_folder(int dir_fd, const char *folder)
{
    DIR *d = pl_folder_open(dir_fd, folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (is_run_name(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    unlinkat(dir_fd, folder, AT_REMOVEDIR);
}

static void clear_run(int dir_fd)
{
    clear_folder(dir_fd, "log");
    clear_folder(dir_fd, "meshes");
    for (size_t i = 0; i < sizeof run_files / sizeof *run_files; i++)
        unlinkat(dir_fd, run_files[i], 0);
}

/* Returns an exit status; PL_EXIT_OK if the directory exists and may be used. */
static int claim(pl_cli *cli, const char *path, bool force, int dir_fd)
{
    if (is_empty(dir_fd))
        return PL_EXIT_OK;
    if (faccessat(dir_fd, "scene.json", F_OK, 0) != 0)
        return pl_cli_fail(cli, PL_EXIT_FILE,
                           "%s is not empty and contains no run: give a new or empty directory",
                           path);
    if (pl_session_locked(dir_fd))
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: a run is in progress there", path);
    if (!force)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s contains an earlier run: --force replaces it",
                           path);
    clear_run(dir_fd);
    return PL_EXIT_OK;
}

static pl_status copy_mesh(int dir_fd, const pl_scene_file *file)
{
    char name[80], *buffer = malloc(1 << 18);
    snprintf(name, sizeof name, "meshes/%s", file->hash);
    int out = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int in = open(file->path, O_RDONLY | O_CLOEXEC);
    pl_status status = !buffer ? PL_NO_MEMORY : in < 0 || out < 0 ? PL_IO : PL_OK;
    ssize_t n = 0;
    while (status == PL_OK && (n = read(in, buffer, 1 << 18)) > 0)
        for (ssize_t done = 0, part; status == PL_OK && done < n; done += part)
            if ((part = write(out, buffer + done, (size_t)(n - done))) < 0) {
                status = PL_IO;
                part = 0;
            }
    if (n < 0)
        status = PL_IO;
    int saved = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    free(buffer);
    errno = saved;
    return status;
}

static pl_status fill(int dir_fd, const pl_scene_files *scene)
{
    if (scene->count > 0 && mkdirat(dir_fd, "meshes", 0777) != 0 && errno != EEXIST)
        return PL_IO;
    for (int32_t i = 0; i < scene->count; i++) {
        pl_status status = copy_mesh(dir_fd, &scene->files[i]);
        if (status != PL_OK)
            return status;
    }
    if (mkdirat(dir_fd, "log", 0777) != 0 && errno != EEXIST)
        return PL_IO;
    return pl_file_replace(dir_fd, "scene.json", scene->text, scene->length, false);
}

int pl_run_session_make(pl_cli *cli, const char *path, const pl_scene_files *scene, bool force,
                        int *dir_fd)
{
    if (pl_make_directories(path) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    int status = claim(cli, path, force, fd);
    if (status == PL_EXIT_OK && fill(fd, scene) != PL_OK)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    if (status != PL_EXIT_OK)
        close(fd);
    else
        *dir_fd = fd;
    return status;
}

/* A worker reads control.log from its beginning: a pause in a directory made by a daemon would end the run at once. */
static pl_status append_resume(int dir_fd)
{
    static const char action[] = "{\"action\": \"resume\"}";
    unsigned char bytes[PL_RECORD_HEADER + 64] = {0};
    pl_record record = {.type = PL_RECORD_CONTROL,
                        .length = sizeof action - 1,
                        .payload_crc = pl_crc32c(0, action, sizeof action - 1)};
    size_t size = (size_t)pl_record_size(record.length);
    pl_record_encode(&record, bytes);
    memcpy(bytes + PL_RECORD_HEADER, action, sizeof action - 1);
    int fd = openat(dir_fd, "control.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return PL_IO;
    bool whole = write(fd, bytes, size) == (ssize_t)size;
    close(fd);
    return whole ? PL_OK : PL_IO;
}

static int check_resume(pl_cli *cli, const char *path, int dir_fd, int32_t *attempt)
{
    pl_exit e = {0};
    if (faccessat(dir_fd, "scene.json", F_OK, 0) != 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s contains no run", path);
    if (pl_session_locked(dir_fd))
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: a run is in progress there", path);
    bool reported = pl_exit_read(dir_fd, &e) == PL_OK;
    if (reported && strcmp(e.state, "succeeded") == 0)
        return PL_EXIT_OK;
    if (reported && strcmp(e.state, "failed") == 0)
        return pl_cli_fail(
            cli, PL_EXIT_FAILED,
            "%s: the run failed (%s) and would fail again: %s. Its frames are readable", path,
            pl_failure_name(e.failure.code), e.failure.message);
    if (reported && strcmp(e.state, "cancelled") == 0)
        return pl_cli_fail(cli, PL_EXIT_CANCELLED, "%s: the run was cancelled", path);
    int32_t newest = pl_log_newest_attempt(dir_fd);
    *attempt = 1 + (e.attempt > newest ? e.attempt : newest);
    if (faccessat(dir_fd, "control.log", F_OK, 0) == 0 && append_resume(dir_fd) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s/control.log: %s", path, strerror(errno));
    return PL_EXIT_OK;
}

int pl_run_session_resume(pl_cli *cli, const char *path, int *dir_fd, int32_t *attempt)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    *attempt = 0;
    int status = check_resume(cli, path, fd, attempt);
    if (status != PL_EXIT_OK)
        close(fd);
    else
        *dir_fd = fd;
    return status;
}

/* The path of a program beside this one; malloc'ed, NULL with errno. */
static char *beside(const char *program)
{
    const char *folder = getenv("PLIANT_BINDIR");
    char self[PATH_MAX], *path = NULL;
    if (!folder || !*folder) {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        if (length < 0)
            return NULL;
        self[length] = '\0';
        folder = dirname(self);
    }
    return asprintf(&path, "%s/%s", folder, program) < 0 ? NULL : path;
}

/* `out`: its standard output. */
static pl_status start(const char *program, const char *const *arguments, int out, pid_t *pid)
{
    char *path = beside(program), *argv[PL_RUN_ARGUMENTS_MAX + 4] = {path}, self[16];
    int count = 0;
    if (!path)
        return PL_IO;
    for (; count < PL_RUN_ARGUMENTS_MAX && arguments[count]; count++)
        argv[count + 1] = (char *)arguments[count]; /* posix_spawn does not write to them */
    /* It computes for long, but not longer than this program lives. */
    if (strcmp(program, "pliant-worker") == 0) {
        snprintf(self, sizeof self, "%d", (int)getpid());
        argv[count + 1] = "--parent";
        argv[count + 2] = self;
    }
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* as the daemon does, server/base/spawn.c says why */
    setenv("GOMP_SPINCOUNT", "3000", 0);
    int error = posix_spawn(pid, path, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(path);
    errno = error;
    return error ? PL_IO : PL_OK;
}

int pl_run_session_start(pl_cli *cli, const char *program, const char *const *arguments, pid_t *pid)
{
    /* this program's standard output is the caller's */
    if (start(program, arguments, 2, pid) == PL_OK)
        return PL_EXIT_OK;
    return pl_cli_fail(cli, PL_EXIT_FAILED, "%s cannot be started: %s", program, strerror(errno));
}

/* Start the program and pass its output to `take`, until that returns false. PL_IO if it failed. */
static pl_status read_output(const char *program, const char *const *arguments,
                             bool (*take)(void *context, const char *data, size_t size),
                             void *context)
{
    int ends[2];
    pid_t pid;
    char part[16384];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return PL_IO;
    pl_status status = start(program, arguments, ends[1], &pid);
    close(ends[1]);
    for (bool more = status == PL_OK; more;) {
        ssize_t n = read(ends[0], part, sizeof part);
        more = n > 0 && take(context, part, (size_t)n);
    }
    close(ends[0]);
    bool interrupted;
    if (status == PL_OK && pl_run_session_wait(pid, NULL, NULL, &interrupted) != 0) {
        errno = ECHILD;
        return PL_IO;
    }
    return status;
}

typedef struct reply {
    char *text;
    size_t used, room;
} reply;

static bool take_reply(void *context, const char *data, size_t size)
{
    reply *r = context;
    size_t part = size < r->room - 1 - r->used ? size : r->room - 1 - r->used;
    memcpy(r->text + r->used, data, part);
    r->used += part;
    return r->used + 1 < r->room;
}

pl_status pl_run_session_ask(const char *program, const char *const *arguments, char *text,
                             size_t room)
{
    reply r = {.text = text, .room = room};
    pl_status status = read_output(program, arguments, take_reply, &r);
    text[r.used] = '\0';
    return status;
}

static bool take_file(void *context, const char *data, size_t size)
{
    pl_outfile_write(context, data, size); /* keeps the error */
    return true;
}

pl_status pl_run_session_save(const char *program, const char *const *arguments, pl_outfile *out)
{
    return read_output(program, arguments, take_file, out);
}

int pl_run_session_wait(pid_t pid, pl_run_session_look look, void *context, bool *interrupted)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN}; /* -1: poll only sleeps */
    int state = 0;
    pid_t ended = 0;
    *interrupted = false;
    pl_interrupt_kills(end.fd);
    while (ended == 0) {
        poll(&end, 1, POLL_MS);
        if (pl_interrupted() && !*interrupted) {
            *interrupted = true;
            kill(pid, SIGTERM); /* our child, not yet reaped: the pid cannot have been reused */
        }
        ended = waitpid(pid, &state, WNOHANG);
        if (look)
            look(context, *interrupted);
    }
    pl_interrupt_kills(-1);
    if (end.fd >= 0)
        close(end.fd);
    return ended > 0 ? state : -1;
}

int pl_run_session_preflight(pl_cli *cli, const char *path, int dir_fd, pl_preflight *out)
{
    pid_t pid;
    bool interrupted;
    const char *const arguments[] = {"--session", path, NULL};
    *out = (pl_preflight){0};
    if (pl_run_session_start(cli, "pliant-preflight", arguments, &pid) != PL_EXIT_OK)
        return PL_EXIT_FAILED;
    int state = pl_run_session_wait(pid, NULL, NULL, &interrupted);
    if (interrupted)
        return PL_EXIT_INTERRUPTED;
    bool checked = WIFEXITED(state) && WEXITSTATUS(state) <= PREFLIGHT_REFUSED &&
                   pl_preflight_read(dir_fd, out) == PL_OK;
    if (checked && out->faults.total > 0)
        return PL_EXIT_FAILED;
    if (!checked || WEXITSTATUS(state) == PREFLIGHT_REFUSED)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "the scene could not be checked (%s %d)",
                           WIFSIGNALED(state) ? "signal" : "status",
                           WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state));
    if (pl_directory_sync(dir_fd, ".") != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return PL_EXIT_OK;
}
