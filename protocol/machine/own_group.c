#include "protocol/machine/own_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* True if the word is in a comma-separated list. */
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

/* True if a path from the hierarchy's root only leads downwards. */
static bool leads_down(const char *path)
{
    static const char gone[] = " (deleted)"; /* the kernel's mark of a removed group */
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

/* The path of "ID:CONTROLLERS:PATH" for the controller's hierarchy, malloc'ed: its own of version 1, else version 2.
 * NULL: none. */
static char *read_group(FILE *groups, const char *controller, int *version)
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
        int found = has_word(list + 1, controller) ? 1 : strcmp(line, "0:") == 0 ? 2 : 0;
        if (found) {
            free(path);
            path = strdup(at);
            *version = path ? found : 0;
        }
    }
    free(line);
    return path;
}

/* Decodes \040 (a space) and similar escapes in place. */
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

/* A line of mountinfo: "ID PARENT DEVICE ROOT PLACE OPTIONS [TAGS] - TYPE SOURCE SUPER". True if it mounts the
 * hierarchy; root and place then point into the line. */
static bool read_mount(char *line, int version, const char *controller, char **root, char **place)
{
    char *after = strstr(line, " - "), *state = NULL;
    if (!after) {
        return false;
    }
    *after = 0;
    char *type = strtok_r(after + 3, " \n", &state);
    char *source = type ? strtok_r(NULL, " \n", &state) : NULL;
    char *super = source ? strtok_r(NULL, " \n", &state) : NULL;
    bool fits = super && (version == 1 ? strcmp(type, "cgroup") == 0 && has_word(super, controller)
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

/* The part of the group's path below the mount's root; NULL if the path lies outside. */
static const char *below_root(const char *path, const char *root)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, n) == 0 && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* Writes the group's directory into out->path. */
static bool find_directory(FILE *mounts, const char *path, const char *controller,
                           pl_control_group *out, bool *mounted)
{
    char *line = NULL, *root, *place;
    size_t room = 0;
    bool found = false;
    *mounted = false;
    while (!found && getline(&line, &room, mounts) > 0) {
        if (read_mount(line, out->version, controller, &root, &place)) {
            const char *rest = below_root(path, root);
            *mounted = true;
            if (rest) {
                rest = strcmp(rest, "/") == 0 ? "" : rest;
                out->top = strlen(place);
                found = (size_t)snprintf(out->path, sizeof out->path, "%s%s", place, rest) <
                        sizeof out->path;
            }
        }
    }
    free(line);
    return found;
}

bool pl_control_group_find(FILE *groups, FILE *mounts, const char *controller,
                           pl_control_group *out, char why[PL_WHY_NO_GROUP])
{
    bool mounted = false;
    *out = (pl_control_group){0};
    char *path = read_group(groups, controller, &out->version);
    bool down = path && leads_down(path);
    bool found = down && find_directory(mounts, path, controller, out, &mounted);
    if (!path) {
        snprintf(why, PL_WHY_NO_GROUP, "the kernel lists no control group for this process");
    } else if (!down || (!found && mounted)) {
        snprintf(why, PL_WHY_NO_GROUP,
                 "this process's control group, %.200s, is outside the mounted hierarchy", path);
    } else if (!found) {
        snprintf(why, PL_WHY_NO_GROUP, "the hierarchy of control groups is not mounted");
    }
    free(path);
    return found;
}

bool pl_control_group_own(const char *controller, pl_control_group *out, char why[PL_WHY_NO_GROUP])
{
    FILE *groups = fopen("/proc/self/cgroup", "re"), *mounts = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    if (groups && mounts) {
        found = pl_control_group_find(groups, mounts, controller, out, why);
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
