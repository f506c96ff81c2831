/* built_path.h - the path of a program or a library that a test starts. */
#ifndef PLIANT_TESTS_SUPPORT_BUILT_PATH_H
#define PLIANT_TESTS_SUPPORT_BUILT_PATH_H

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUILT_PATH_MAX = PATH_MAX + 64 };

/* Make the path of a file in $PLIANT_BUILD, or in the test's own build, two folders up. `mode` is as for access().
 * False with errno if access fails. */
static inline bool find_built(const char *name, int mode, char path[BUILT_PATH_MAX])
{
    const char *build = getenv("PLIANT_BUILD");
    char self[PATH_MAX];
    if (!build) { /* build/tests/http/x_test */
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        ck_assert_int_gt(n, 0);
        self[n] = 0;
        for (int up = 0; up < 3; up++) {
            char *slash = strrchr(self, '/');
            ck_assert_ptr_nonnull(slash);
            *slash = 0;
        }
        build = self;
    }
    snprintf(path, BUILT_PATH_MAX, "%s/%s", build, name);
    return access(path, mode) == 0;
}

/* The same for a file that must exist; returns `path`. */
static inline const char *built_path(const char *name, int mode, char path[BUILT_PATH_MAX])
{
    bool found = find_built(name, mode, path);
    ck_assert_msg(found, "%s: %s", path, strerror(errno));
    return path;
}

#endif
