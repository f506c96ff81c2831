#include "server/run/memory_groups.h"

#include "server/base/logger.h"
#include "server/run/memory_delegation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PREFIX_MAX = 48, AGAIN_MS = 2000 };

struct pl_memory_groups {
    int fd; /* OWN */
    int version;
    char path[PATH_MAX];
    char prefix[PREFIX_MAX]; /* "pliant-DEVICE.INODE-" */
    bool left;               /* groups may still have to be removed */
    int64_t again_ms;        /* earliest next time */
};

typedef struct setting {
    const char *file, *text; /* NULL: the limit */
    bool may_lack;           /* the kernel may not support it */
} setting;

/* In this order: a limit that includes swap must never be below one that does not. */
static const setting settings[2][3] = {
    {{"memory.limit_in_bytes", NULL, false},
     {"memory.memsw.limit_in_bytes", NULL, true},
     {"memory.oom_control", "0", true}},
    {{"memory.max", NULL, false}, {"memory.swap.max", "0", true}, {"memory.oom.group", "1", true}},
};

/* Creates a group with its limits. Returns 0, or an errno after removing it, with the failing file in *what. */
static int make(pl_memory_groups *g, const char *name, uint64_t bytes, const char **what)
{
    char limit[24];
    snprintf(limit, sizeof limit, "%" PRIu64, bytes);
    *what = "mkdir";
    /* A group of that name belonged to a worker that ended early; its counters must not be inherited. */
    if (mkdirat(g->fd, name, 0755) != 0 &&
        (errno != EEXIST || unlinkat(g->fd, name, AT_REMOVEDIR) != 0 ||
         mkdirat(g->fd, name, 0755) != 0)) {
        return errno;
    }
    int fd = pl_control_group_open(g->fd, name), error = fd < 0 ? errno : 0;
    for (size_t i = 0; i < 3 && bytes > 0 && !error; i++) {
        const setting *s = &settings[g->version - 1][i];
        *what = s->file;
        error = pl_control_group_put(fd, s->file, s->text ? s->text : limit);
        error = s->may_lack && (error == ENOENT || error == EOPNOTSUPP) ? 0 : error;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error) {
        unlinkat(g->fd, name, AT_REMOVEDIR);
    }
    return error;
}

/* Test whether groups can be created there, by creating one. */
static bool try(pl_memory_groups *g, char why[PL_WHY_NO_GROUP])
{
    char name[PL_MEMORY_GROUP_NAME];
    const char *what = "";
    snprintf(name, sizeof name, "%stry", g->prefix);
    int error = make(g, name, (uint64_t)1 << 30, &what);
    if (error) {
        snprintf(why, PL_WHY_NO_GROUP, "cannot create a child group with a limit: %s: %s", what,
                 strerror(error));
    } else {
        unlinkat(g->fd, name, AT_REMOVEDIR);
    }
    return !error;
}

pl_memory_groups *pl_memory_groups_open(const pl_control_group *own, int state_fd,
                                        char why[PL_WHY_NO_GROUP])
{
    static const char leaf[] = "/" PL_MEMORY_LEAF;
    struct stat st;
    pl_memory_groups *g = calloc(1, sizeof *g);
    size_t n = strlen(own->path), end = sizeof leaf - 1;
    if (!g || fstat(state_fd, &st) != 0) {
        snprintf(why, PL_WHY_NO_GROUP, "%s", strerror(errno));
        free(g);
        return NULL;
    }
    *g = (pl_memory_groups){.version = own->version, .left = true};
    snprintf(g->path, sizeof g->path, "%s", own->path);
    /* The service manager, or an earlier daemon, has put this daemon there. */
    if (own->version == 2 && n > end && strcmp(g->path + n - end, leaf) == 0) {
        g->path[n - end] = 0;
    }
    snprintf(g->prefix, sizeof g->prefix, "pliant-%llx.%llx-", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    g->fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    char reason[PL_WHY_NO_GROUP];
    snprintf(reason, sizeof reason, "%s", g->fd < 0 ? strerror(errno) : "");
    if (g->fd < 0 || (g->version == 2 && !pl_memory_delegation_take(g->fd, reason)) ||
        !try(g, reason)) {
        snprintf(why, PL_WHY_NO_GROUP, "%.150s: %.200s", g->path, reason);
        pl_memory_groups_close(g);
        return NULL;
    }
    return g;
}

/* A worker's files on such a file system stay in memory and would be counted. */
static bool in_memory(int state_fd)
{
    struct statfs fs;
    return fstatfs(state_fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

bool pl_memory_groups_start(const pl_options *o, int state_fd, pl_memory_groups **out)
{
    pl_control_group own;
    char why[PL_WHY_NO_GROUP] = "--memory-groups is off";
    *out = NULL;
    if (o->memory_groups == PL_MEMORY_GROUPS_AUTO && in_memory(state_fd)) {
        snprintf(why, sizeof why, "the state directory is on tmpfs, whose files count as memory");
    } else if (o->memory_groups != PL_MEMORY_GROUPS_OFF &&
               pl_control_group_own("memory", &own, why)) {
        *out = pl_memory_groups_open(&own, state_fd, why);
    }
    if (*out) {
        pl_logf(PL_LEVEL_INFO, "each worker has its own memory group in %s (version %d)",
                (*out)->path, (*out)->version);
    } else if (o->memory_groups == PL_MEMORY_GROUPS_ON) {
        pl_logf(PL_LEVEL_ERROR,
                "--memory-groups on: cannot create control groups for workers: %s; see "
                "deploy/README.md, or use auto",
                why);
        return false;
    } else {
        pl_logf(PL_LEVEL_INFO, "memory of workers is limited by RLIMIT_DATA only: %s", why);
    }
    return true;
}

void pl_memory_groups_close(pl_memory_groups *g)
{
    if (g && g->fd >= 0) {
        close(g->fd);
    }
    free(g);
}

/* ---- a worker's ---- */

bool pl_memory_groups_make(pl_memory_groups *g, const char *session, int64_t attempt,
                           uint64_t bytes, char name[PL_MEMORY_GROUP_NAME])
{
    const char *what = "its name";
    *name = 0;
    if (!g) {
        return false;
    }
    char wanted[PL_MEMORY_GROUP_NAME];
    int n = snprintf(wanted, sizeof wanted, "%s%s-%" PRId64, g->prefix, session, attempt);
    bool safe = n < PL_MEMORY_GROUP_NAME && *session &&
                session[strspn(session, "0123456789abcdef")] == 0;
    int error = safe ? make(g, wanted, bytes, &what) : EINVAL;
    if (error) {
        pl_logf(PL_LEVEL_WARN, "session %s: its worker is limited by RLIMIT_DATA only: %s: %s",
                session, what, strerror(error));
        return false;
    }
    strcpy(name, wanted);
    return true;
}

bool pl_memory_groups_path(const pl_memory_groups *g, const char *name, char *out, size_t size)
{
    return g && *name && (size_t)snprintf(out, size, "%s/%s", g->path, name) < size;
}

void pl_memory_groups_enter(pl_memory_groups *g, char name[PL_MEMORY_GROUP_NAME], pid_t pid)
{
    if (!g || !*name) {
        return;
    }
    int fd = pl_control_group_open(g->fd, name),
        error = fd < 0 ? errno : pl_control_group_enter(fd, pid);
    if (fd >= 0) {
        close(fd);
    }
    if (error && error != ESRCH) { /* that process has already ended */
        pl_logf(PL_LEVEL_WARN, "process %d is limited by RLIMIT_DATA only: %s: %s", (int)pid, name,
                strerror(error));
        pl_memory_groups_remove(g, name);
        *name = 0;
    }
}

int64_t pl_memory_groups_kills(const pl_memory_groups *g, const char *name)
{
    int fd = g && *name ? pl_control_group_open(g->fd, name) : -1;
    int64_t kills = pl_control_group_kills(fd, g ? g->version : 2);
    if (fd >= 0) {
        close(fd);
    }
    return kills;
}

void pl_memory_groups_remove(pl_memory_groups *g, const char *name)
{
    if (g && *name && unlinkat(g->fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        g->left = true;
    }
}

/* ---- those of earlier daemons ---- */

static DIR *list(const pl_memory_groups *g)
{
    int fd = g ? pl_control_group_open(g->fd, ".") : -1;
    DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
    if (!all && fd >= 0) {
        close(fd);
    }
    return all;
}

bool pl_memory_groups_find(const pl_memory_groups *g, const char *session, int64_t attempt,
                           char name[PL_MEMORY_GROUP_NAME])
{
    char start[PL_MEMORY_GROUP_NAME];
    int64_t newest = attempt - 1;
    DIR *all = list(g);
    *name = 0;
    int n = snprintf(start, sizeof start, "%s%s-", g ? g->prefix : "", session);
    for (struct dirent *e; all && n < (int)sizeof start && (e = readdir(all));) {
        bool fits = strncmp(e->d_name, start, (size_t)n) == 0 &&
                    strlen(e->d_name) < PL_MEMORY_GROUP_NAME;
        int64_t number = fits ? strtoll(e->d_name + n, NULL, 10) : -1;
        if (number > newest) {
            newest = number;
            strcpy(name, e->d_name);
        }
    }
    if (all) {
        closedir(all);
    }
    return *name;
}

int64_t pl_memory_groups_sweep(pl_memory_groups *g, int64_t now_ms,
                               bool (*in_use)(void *context, const char *name), void *context)
{
    if (!g || !g->left || now_ms < g->again_ms) {
        return g && g->left ? g->again_ms : INT64_MAX;
    }
    DIR *all = list(g);
    g->left = false;
    for (struct dirent *e; all && (e = readdir(all));) {
        if (strncmp(e->d_name, g->prefix, strlen(g->prefix)) == 0 && !in_use(context, e->d_name)) {
            pl_memory_groups_remove(g, e->d_name);
        }
    }
    if (all) {
        closedir(all);
    }
    g->again_ms = now_ms + AGAIN_MS;
    return g->left ? g->again_ms : INT64_MAX;
}
