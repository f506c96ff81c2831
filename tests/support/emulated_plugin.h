/* emulated_plugin.h - paths of the plug-in whose only device is the host (tests/gpu/emulated_plugin.c), and of CUDA's
 * plug-in on the stand-in for its runtime (tests/gpu/standin). */
#ifndef PLIANT_TESTS_SUPPORT_EMULATED_PLUGIN_H
#define PLIANT_TESTS_SUPPORT_EMULATED_PLUGIN_H

#include <check.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static char plugin[PATH_MAX], standin_plugin[PATH_MAX];

/* build/tests/libpliant_emulated.so: build/tests/KIND/NAME_test -> build/tests; build/standin/libpliant_cuda.so. */
static inline void find_plugin(void)
{
    ssize_t n = readlink("/proc/self/exe", plugin, sizeof plugin - 64);
    ck_assert_int_gt(n, 0);
    plugin[n] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(plugin, '/') = '\0';
    strcpy(standin_plugin, plugin);
    strcpy(strrchr(standin_plugin, '/'), "/standin/libpliant_cuda.so");
    strcat(plugin, "/libpliant_emulated.so");
}

#endif
