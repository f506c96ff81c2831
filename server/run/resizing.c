#include "server/run/resizing.h"

#include "protocol/log/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_directory(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int pl_resizing_ask(const pl_session *s, int64_t number, int64_t cores)
{
    int dir_fd = open_directory(s);
    if (dir_fd < 0) {
        return errno;
    }
    pl_cores wanted = {(int32_t)s->attempt, (int32_t)cores, number};
    pl_status status = pl_cores_write(dir_fd, PL_CORES_WANTED, &wanted);
    int error = status == PL_OK ? 0 : status == PL_NO_MEMORY ? ENOMEM : errno;
    close(dir_fd);
    return error;
}

static bool read_own(int dir_fd, const pl_session *s, const char *name, pl_cores *out)
{
    return pl_cores_read(dir_fd, name, out) == PL_OK && out->attempt == s->attempt;
}

/* ms since 1970, at least `least`. */
static int64_t written_ms(int dir_fd, const char *name, int64_t least)
{
    struct stat st;
    int64_t ms = fstatat(dir_fd, name, &st, 0) == 0
                     ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000
                     : 0;
    return ms > least ? ms : least;
}

bool pl_resizing_find(const pl_session *s, int64_t *number, int64_t *cores, int64_t *since_ms)
{
    pl_cores wanted, had;
    int dir_fd = open_directory(s);
    bool follows = dir_fd >= 0 && read_own(dir_fd, s, PL_CORES_HAD, &had);
    if (follows) {
        bool open_request = read_own(dir_fd, s, PL_CORES_WANTED, &wanted) &&
                            wanted.number > had.number;
        *number = open_request ? wanted.number : had.number;
        *cores = open_request && wanted.cores > had.cores ? wanted.cores : had.cores;
        *since_ms = *number > 0
                        ? written_ms(dir_fd, PL_CORES_HAD, written_ms(dir_fd, PL_CORES_WANTED, 0))
                        : 0;
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return follows;
}
