#include "server/run/branch.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pl_branch_stage(const pl_branch *b, int dir_fd)
{
    int from = open(b->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), to = -1;
    const pl_branch_point *o = &b->branch_point;
    bool good = from >= 0 && mkdirat(dir_fd, "parent", 0700) == 0;
    to = good ? openat(dir_fd, "parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    good = to >= 0 && pl_branch_point_link_meshes(from, to) &&
           pl_file_put_text(to, "scene.json", b->before, b->before_size) == PL_OK &&
           pl_file_put_text(to, "start.json", o->start, strlen(o->start)) == PL_OK &&
           (!o->pin[0] || linkat(o->state_fd, o->pin, to, pl_checkpoint_name(0), 0) == 0) &&
           pl_branch_point_link_parents(from, to, PL_ORIGIN_DEPTH_MAX - 1);
    int error = errno;
    if (to >= 0) {
        close(to);
    }
    if (from >= 0) {
        close(from);
    }
    errno = error;
    return good;
}
