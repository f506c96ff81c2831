#include "clients/cli/base/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pl_temp_dir_create(pl_temp_dir *s)
{
    const char *parent = getenv("TMPDIR");
    *s = (pl_temp_dir){.dir_fd = -1};
    int length = snprintf(s->path, sizeof s->path, "%s/pliant-XXXXXX",
                          parent && *parent ? parent : "/tmp");
    if (length >= (int)sizeof s->path)
        errno = ENAMETOOLONG;
    else if (mkdtemp(s->path))
        return true;
    *s->path = '\0';
    return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

void pl_temp_dir_remove(pl_temp_dir *s)
{
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    if (*s->path)
        nftw(s->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    *s = (pl_temp_dir){.dir_fd = -1};
}
