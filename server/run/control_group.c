#include "server/run/control_group.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char memory[] = "memory"; /* the controller */

/* Whether the word stands in a list with commas between. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if (n == length && strncmp(at, word, n) == 0) {
            return true;
        }
        at += n;
    }
    return false;
}

/* A path from the hierarchy's root that leads downwards only. */
static bool leads_down(const char *path)
{
    static const char gone[] = " (deleted)"; /* the kernel's mark of a group that was removed */
    size_t n = strlen(path), mark = sizeof gone - 1;
    if (*path != '/' || (n >= mark && strcmp(path + n - mark, gone) == 0)) {
        return false;
    }
    for (const char *at = path; (at = strstr(at, "/..")); at += 3) {
        if (!at[3] || at[3] == '/') {
            return false;
        }
    }
    return true;
}

/* The path of "ID:CONTROLLERS:PATH" of the hierarchy that has the controller, malloc'ed: version 1
 * where it has one of its own, else version 2. NULL: none. */
static char *read_group(FILE *groups, int *version)
{
    char *line = NULL, *path = NULL;
    size_t room = 0;
    *version = 0;
    while (*version != 1 && getline(&line, &room, groups) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
        if (!at) {
            continue;
        }
        *at++ = 0;
        int found = has_word(list + 1, memory) ? 1 : strcmp(line, "0:") == 0 ? 2 : 0;
        if (found) {
            free(path);
            path = strdup(at);
            *version = path ? found : 0;
        }
    }
    free(line);
    return path;
}

/* Spaces and the like are \040 and so on. In place. */
static void decode(char *text)
{
    char *to = text;
    for (const char *at = text; *at; to++) {
        bool coded = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
                     at[2] <= '7' && at[3] >= '0' && at[3] <= '7';
        *to = (char)(coded ? (at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0') : *at);
        at += coded ? 4 : 1;
    }
    *to = 0;
}

/* A line of mountinfo: "ID PARENT DEVICE ROOT PLACE OPTIONS [TAGS] - TYPE SOURCE SUPER". Whether it
 * mounts the hierarchy; then root and place point into the line. */
static bool read_mount(char *line, int version, char **root, char **place)
{
    char *after = strstr(line, " - "), *state = NULL;
    if (!after) {
        return false;
    }
    *after = 0;
    char *type = strtok_r(after + 3, " \n", &state);
    char *source = type ? strtok_r(NULL, " \n", &state) : NULL;
    char *super = source ? strtok_r(NULL, " \n", &state) : NULL;
    bool fits = super && (version == 1 ? strcmp(type, "cgroup") == 0 && has_word(super, memory)
                                       : strcmp(type, "cgroup2") == 0);
    char *word = fits ? strtok_r(line, " ", &state) : NULL;
    for (int i = 0; word && i < 3; i++) {
        word = strtok_r(NULL, " ", &state);
    }
    *root = word;
    *place = word ? strtok_r(NULL, " ", &state) : NULL;
    if (!*place) {
        return false;
    }
    decode(*root);
    decode(*place);
    return **place == '/';
}

/* What follows the mount's root in the group's path; NULL: it lies outside. */
static const char *below_root(const char *path, const char *root)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, n) == 0 && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* Into out->path. */
static bool find_directory(FILE *mounts, const char *path, pl_control_group *out, bool *mounted)
{
    char *line = NULL, *root, *place;
    size_t room = 0;
    bool found = false;
    *mounted = false;
    while (!found && getline(&line, &room, mounts) > 0) {
        if (read_mount(line, out->version, &root, &place)) {
            const char *rest = below_root(path, root);
            *mounted = true;
            if (rest) {
                rest = strcmp(rest, "/") == 0 ? "" : rest;
                found = (size_t)snprintf(out->path, sizeof out->path, "%s%s", place, rest) <
                        sizeof out->path;
            }
        }
    }
    free(line);
    return found;
}

bool pl_control_group_find(FILE *groups, FILE *mounts, pl_control_group *out,
                           char why[PL_WHY_NO_GROUP])
{
    bool mounted = false;
    *out = (pl_control_group){0};
    char *path = read_group(groups, &out->version);
    bool down = path && leads_down(path);
    bool found = down && find_directory(mounts, path, out, &mounted);
    if (!path) {
        snprintf(why, PL_WHY_NO_GROUP, "the kernel lists no control group for this process");
    } else if (!down || (!found && mounted)) {
        snprintf(why, PL_WHY_NO_GROUP,
                 "the daemon's control group, %.200s, is not below what is mounted", path);
    } else if (!found) {
        snprintf(why, PL_WHY_NO_GROUP, "the hierarchy of control groups is not mounted");
    }
    free(path);
    return found;
}

bool pl_control_group_own(pl_control_group *out, char why[PL_WHY_NO_GROUP])
{
    FILE *groups = fopen("/proc/self/cgroup", "re"), *mounts = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    if (groups && mounts) {
        found = pl_control_group_find(groups, mounts, out, why);
    } else {
        snprintf(why, PL_WHY_NO_GROUP, "/proc/self: %s", strerror(errno));
    }
    if (groups) {
        fclose(groups);
    }
    if (mounts) {
        fclose(mounts);
    }
    return found;
}

/* ---- files of a group ---- */

int pl_control_group_open(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* One write: the kernel takes each as a whole. */
int pl_control_group_put(int dir_fd, const char *file, const char *text)
{
    int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno;
    }
    int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return error;
}

int pl_control_group_enter(int dir_fd, pid_t pid)
{
    char text[24];
    snprintf(text, sizeof text, "%d", (int)pid);
    return pl_control_group_put(dir_fd, "cgroup.procs", text);
}

FILE *pl_control_group_read(int dir_fd, const char *file)
{
    int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!stream && fd >= 0) {
        close(fd);
    }
    return stream;
}

int64_t pl_control_group_kills(int dir_fd, int version)
{
    FILE *file = dir_fd < 0 ? NULL
                            : pl_control_group_read(dir_fd, version == 1 ? "memory.oom_control"
                                                                         : "memory.events");
    char line[128];
    long long value = -1, found;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "oom_kill %lld", &found) == 1 && found >= 0) {
            value = found;
        }
    }
    if (file) {
        fclose(file);
    }
    return value;
}

/* Looked for once: a machine may have thousands of mounts. */
static pl_control_group own;

static void find_own(void)
{
    char why[PL_WHY_NO_GROUP];
    if (!pl_control_group_own(&own, why)) {
        own.path[0] = 0;
    }
}

int64_t pl_memory_kills(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_own);
    int dir_fd = open(own.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t kills = pl_control_group_kills(dir_fd, own.version);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return kills;
}
