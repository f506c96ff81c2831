#include "server/run/memory_delegation.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if a file of words names the controller. */
static bool lists_memory(int dir_fd, const char *name)
{
    char word[32];
    bool found = false;
    FILE *file = pl_control_group_read(dir_fd, name);
    while (file && !found && fscanf(file, "%31s", word) == 1) {
        found = strcmp(word, "memory") == 0;
    }
    if (file) {
        fclose(file);
    }
    return found;
}

/* True if this process is in the group; *other is another process in it, or 0. */
static bool holds_self(int dir_fd, int *other)
{
    int pid;
    bool self = false;
    FILE *file = pl_control_group_read(dir_fd, "cgroup.procs");
    *other = 0;
    while (file && fscanf(file, "%d", &pid) == 1) {
        self = self || pid == getpid();
        *other = pid == getpid() ? *other : pid;
    }
    if (file) {
        fclose(file);
    }
    return self;
}

/* 0, or an errno. */
static int enter_leaf(int dir_fd)
{
    if (mkdirat(dir_fd, PL_MEMORY_LEAF, 0755) != 0 && errno != EEXIST) {
        return errno;
    }
    int leaf = pl_control_group_open(dir_fd, PL_MEMORY_LEAF);
    int error = leaf < 0 ? errno : pl_control_group_enter(leaf, getpid());
    if (leaf >= 0) {
        close(leaf);
    }
    return error;
}

static void leave_leaf(int dir_fd)
{
    pl_control_group_enter(dir_fd, getpid());
    unlinkat(dir_fd, PL_MEMORY_LEAF, AT_REMOVEDIR); /* another daemon may be in it */
}

bool pl_memory_delegation_take(int dir_fd, char why[PL_WHY_NO_GROUP])
{
    int other;
    if (!lists_memory(dir_fd, "cgroup.controllers")) {
        snprintf(why, PL_WHY_NO_GROUP,
                 "it does not have the memory controller (systemd: Delegate=memory)");
        return false;
    }
    bool inside = holds_self(dir_fd, &other);
    if (inside && other) {
        snprintf(why, PL_WHY_NO_GROUP, "it contains other processes, such as %d", other);
        return false;
    }
    int error = inside ? enter_leaf(dir_fd) : 0;
    if (!error && !lists_memory(dir_fd, "cgroup.subtree_control")) {
        error = pl_control_group_put(dir_fd, "cgroup.subtree_control", "+memory");
    }
    if (error && inside) {
        leave_leaf(dir_fd);
    }
    if (error) {
        snprintf(why, PL_WHY_NO_GROUP, "the memory controller cannot be enabled in it: %s",
                 strerror(error));
    }
    return !error;
}
