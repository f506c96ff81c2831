#include "server/base/state_folder.h"

#include "protocol/log/session_dir.h"
#include "server/base/clock.h"
#include "server/base/logger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 2000, LOCK_AGAIN_MS = 20 };

/* Creates parent folders too. */
static bool make_folder(const char *path)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *at = part + 1; *part && *at; at++) {
        if (*at == '/') {
            *at = 0;
            mkdir(part, 0700); /* if this fails, the last mkdir fails too */
            *at = '/';
        }
    }
    return mkdir(part, 0700) == 0 || errno == EEXIST;
}

bool pl_state_open(const char *wanted, char path[PATH_MAX], int *fd)
{
    static const char *const below[] = {"incoming", "sessions", "meshes", "sweeps"};
    if (!make_folder(wanted)) {
        pl_logf(PL_LEVEL_ERROR, "%s: %s", wanted, strerror(errno));
        return false;
    }
    if (!realpath(wanted, path) || (*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        pl_logf(PL_LEVEL_ERROR, "%s: %s", wanted, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        if (mkdirat(*fd, below[i], 0700) != 0 && errno != EEXIST) {
            pl_logf(PL_LEVEL_ERROR, "%s/%s: %s", path, below[i], strerror(errno));
            return false;
        }
    }
    return true;
}

/* The same kind of lock as a session's. It is retried for a while: a child that a killed daemon had just begun has
 * copies of its descriptors, including the lock's, until it executes its program. */
int pl_state_lock(const char *path, int state_fd)
{
    int fd = -1;
    int64_t end = pl_monotonic_ms() + LOCK_WAIT_MS;
    pl_status status = pl_session_lock(state_fd, true, &fd);
    if (status == PL_INVALID) {
        pl_logf(PL_LEVEL_INFO, "%s/lock is held; retrying for %d s", path, LOCK_WAIT_MS / 1000);
    }
    while (status == PL_INVALID && pl_monotonic_ms() < end) {
        nanosleep(&(struct timespec){.tv_nsec = LOCK_AGAIN_MS * 1000000}, NULL);
        status = pl_session_lock(state_fd, true, &fd);
    }
    if (status != PL_OK) {
        pl_logf(PL_LEVEL_ERROR, "%s/lock: %s", path,
                status == PL_INVALID ? "another daemon uses this state directory"
                                     : strerror(errno));
        return -1;
    }
    return fd;
}
