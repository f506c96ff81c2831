#include "server/batch/batch_command.h"

#include "server/base/spawn.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 64 << 20, ERROR_MAX = 4096 };

static bool find_program(const char *name, char out[PATH_MAX])
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        return (size_t)snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
    }
    for (const char *at = path && *path ? path : "/usr/bin:/bin"; at;) {
        size_t n = strcspn(at, ":");
        int length = snprintf(out, PATH_MAX, "%.*s/%s", (int)n, at, name);
        if (length > 0 && length < PATH_MAX && access(out, X_OK) == 0) {
            return true;
        }
        at = at[n] ? at + n + 1 : NULL;
    }
    return false;
}

/* Reads a command's output, malloc'ed; only the end of a long text, or nothing. */
static char *read_back(int fd, off_t most)
{
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > most ? size - most : 0;
    char *text = size >= 0 ? malloc((size_t)(size - from) + 1) : NULL;
    ssize_t n = text ? pread(fd, text, (size_t)(size - from), from) : 0;
    if (text) {
        text[n > 0 ? n : 0] = 0;
    }
    return text;
}

static void keep_last_line(char *text, char *out, size_t size)
{
    size_t n = text ? strlen(text) : 0;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) {
        text[--n] = 0;
    }
    const char *line = n > 0 ? strrchr(text, '\n') : NULL;
    snprintf(out, size, "%s", n == 0 ? "" : line ? line + 1 : text);
    for (char *c = out; *c; c++) { /* it becomes part of a document in UTF-8 */
        *c = (unsigned char)*c < ' ' || (unsigned char)*c > '~' ? '?' : *c;
    }
}

static void say_end(pl_wait how, int status, int timeout_ms, int err_fd, pl_batch_result *out)
{
    char *text = read_back(err_fd, ERROR_MAX);
    keep_last_line(text, out->error, sizeof out->error);
    free(text);
    if (how == PL_WAIT_TIMEOUT) {
        snprintf(out->error, sizeof out->error, "no answer within %d s", timeout_ms / 1000);
    } else if (how == PL_WAIT_STOPPED) {
        snprintf(out->error, sizeof out->error, "the daemon is shutting down");
    } else if (!*out->error && WIFSIGNALED(status)) {
        snprintf(out->error, sizeof out->error, "killed by signal %d", WTERMSIG(status));
    } else if (!*out->error) {
        snprintf(out->error, sizeof out->error, "ended with status %d", WEXITSTATUS(status));
    }
}

static void run(char *const argv[], int timeout_ms, int out_fd, int err_fd, int stop_fd,
                pl_batch_result *out)
{
    pl_child child;
    int status = 0, error = pl_spawn(argv, out_fd, err_fd, "/", &child);
    if (error) {
        snprintf(out->error, sizeof out->error, "%.150s: %s", argv[0], strerror(error));
        return;
    }
    pl_wait how = pl_child_wait(&child, timeout_ms, stop_fd, &status);
    if (how == PL_WAIT_TIMEOUT) {
        pl_child_kill(&child);
    } else if (how == PL_WAIT_STOPPED) {
        close(child.pidfd);
    }
    out->good = how == PL_WAIT_ENDED && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!out->good) {
        say_end(how, status, timeout_ms, err_fd, out);
    }
}

void pl_batch_run(char *const argv[], int timeout_ms, int out_fd, int stop_fd, pl_batch_result *out)
{
    char program[PATH_MAX];
    size_t count = 0;
    *out = (pl_batch_result){0};
    while (argv[count]) {
        count++;
    }
    if (count == 0 || !find_program(argv[0], program)) {
        snprintf(out->error, sizeof out->error, "%.150s: not found",
                 count ? argv[0] : "the command");
        return;
    }
    char **found = calloc(count + 1, sizeof *found);
    int err_fd = memfd_create("error", MFD_CLOEXEC);
    int own_fd = out_fd < 0 ? memfd_create("output", MFD_CLOEXEC) : -1;
    if (!found || err_fd < 0 || (out_fd < 0 && own_fd < 0)) {
        snprintf(out->error, sizeof out->error, "%s", strerror(errno));
    } else {
        memcpy(found, argv, count * sizeof *found);
        found[0] = program;
        run(found, timeout_ms, out_fd < 0 ? own_fd : out_fd, err_fd, stop_fd, out);
    }
    if (out->good && own_fd >= 0 && !(out->output = read_back(own_fd, OUTPUT_MAX))) {
        out->good = false;
        snprintf(out->error, sizeof out->error, "out of memory");
    }
    free(found);
    close(err_fd);
    if (own_fd >= 0) {
        close(own_fd);
    }
}

void pl_batch_result_clear(pl_batch_result *r)
{
    free(r->output);
    *r = (pl_batch_result){0};
}
