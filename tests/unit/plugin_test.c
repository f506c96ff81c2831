/* The built libpliant_cuda.so: one symbol, from this build, that also answers without a device; and ptxas's report on
 * its kernels: the hot ones keep everything in registers. SKIP without nvcc, and so without a plug-in. */
#include "engine/backends/plugin.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *build(void)
{
    const char *folder = getenv("PLIANT_BUILD");
    return folder ? folder : "build";
}

static const pl_plugin *plugin(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libpliant_cuda.so", build());
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", library ? "" : dlerror());
    pl_plugin_entry entry;
    *(void **)&entry = dlsym(library, "pliant_plugin");
    ck_assert(entry != NULL);
    return entry();
}

START_TEST(fits_and_answers)
{
    const pl_plugin *p = plugin();
    char why[256] = "";
    ck_assert_msg(pl_plugin_fits(p, why, sizeof why), "%s", why);
    ck_assert_str_eq(p->version, PLIANT_VERSION);
    ck_assert_str_eq(p->f32->name, "cuda");
    ck_assert_double_gt(p->f32->epsilon, p->f64->epsilon);
    pl_gpu gpus[8];
    int32_t count = p->find(gpus, 8, why, sizeof why);
    ck_assert_msg(count > 0 || strncmp(why, "no device, because ", 19) == 0, "%s", why);
    for (int32_t i = 0; i < count; i++) {
        ck_assert_int_eq(strncmp(gpus[i].uuid, "GPU-", 4), 0);
        ck_assert_int_gt(gpus[i].memory, 0);
    }
    ck_assert(!p->select("GPU-00000000-0000-0000-0000-000000000000", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "GPU-00000000"));
}
END_TEST

START_TEST(another_build_is_unfit)
{
    char why[256] = "";
    pl_plugin other = *plugin();
    other.layout++;
    ck_assert(!pl_plugin_fits(&other, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "layout"));
    other = *plugin();
    other.engine_abi = "0123456789abcdef";
    ck_assert(!pl_plugin_fits(&other, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "0123456789abcdef"));
    ck_assert_ptr_nonnull(strstr(why, pl_engine_abi()));
}
END_TEST

/* Nothing else of the plug-in is to be seen, so that it cannot take the place of the program's own. */
START_TEST(one_symbol)
{
    char command[2 * PATH_MAX], line[256];
    snprintf(command, sizeof command, "nm -D --defined-only '%s/libpliant_cuda.so'", build());
    FILE *f = popen(command, "r");
    int lines = 0;
    while (fgets(line, sizeof line, f)) {
        ck_assert_msg(strstr(line, " T pliant_plugin\n") != NULL, "%s", line);
        lines++;
    }
    ck_assert_int_eq(pclose(f), 0);
    ck_assert_int_eq(lines, 1);
}
END_TEST

/* "Compiling entry function 'NAME' for", then "N bytes stack frame, S bytes spill stores, L bytes spill
 * loads", a kernel. */
static int hot_kernels(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    char line[1024], name[256] = "";
    int hot = 0, is_hot = 0;
    while (fgets(line, sizeof line, f)) {
        int stack, stores, loads;
        if (sscanf(line, "ptxas info : Compiling entry function '%255[^']'", name) == 1)
            is_hot = strstr(name, "energy_gradient") || strstr(name, "chebyshev") ||
                     strstr(name, "gradient_threads") || strstr(name, "move") ||
                     strstr(name, "sums") || strstr(name, "local") || strstr(name, "iterate") ||
                     strstr(name, "gather") || strstr(name, "stage_rows") ||
                     (strstr(name, "hessian_diagonal") && !strstr(name, "damping"));
        if (sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                   &stack, &stores, &loads) != 3)
            continue;
        ck_assert_msg(!is_hot || stores + loads == 0, "%s: %s spills %d and %d bytes", path, name,
                      stores, loads);
        hot += is_hot;
    }
    fclose(f);
    return hot;
}

/* Of all objects of a precision. */
static int hot_kernels_of(const char *precision)
{
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/obj/engine/backends/cuda/*_kernels.%s.o.ptxas", build(),
             precision);
    glob_t found;
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    int hot = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        hot += hot_kernels(found.gl_pathv[i]);
    globfree(&found);
    return hot;
}

/* Two of each kind, and rows'. A check on a machine without a GPU makes no machine code of single precision. */
START_TEST(hot_kernels_spill_nothing)
{
    const int least = 2 * 8 + 5, single = hot_kernels_of("f32");
    ck_assert_int_ge(hot_kernels_of("f64"), least);
    ck_assert(single == 0 || single >= least);
}
END_TEST

/* The programs for a machine with a GPU: they report its absence, or that its results are right; and their reference
 * results are right with the kernels run on the host. */
static int status_of(const char *arguments, char *text, size_t size)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "'%s/gpu/%s 2>&1 </dev/null", build(), arguments);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, size - 1, f)] = '\0';
    while (fgetc(f) != EOF)
        continue;
    int status = pclose(f);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(programs_for_a_gpu)
{
    static char text[1 << 16];
    int status = status_of("gpu-check' --emulated --quick", text, sizeof text);
    const char *failed = strstr(text, "FAILED");
    ck_assert_msg(status == 0, "%.2000s", failed ? failed : text);
    ck_assert_ptr_nonnull(strstr(text, "passed, 0 failed"));
    ck_assert_msg(status_of("gpu-bench' --emulated", text, sizeof text) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "sessions of"));
    status = status_of("gpu-check'", text, sizeof text);
    ck_assert_msg(status == 0 || status == 77, "%s", text);
    if (status == 77)
        ck_assert_ptr_nonnull(strstr(text, "no device, because"));
}
END_TEST

/* tests/gpu/sanitize with a compute-sanitizer that records its arguments, and ends with `status`. */
static int sanitized(int status, const char *environment, char *text, size_t size)
{
    char folder[] = "/tmp/pliant-sanitize-XXXXXX", path[64], command[2 * PATH_MAX];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/compute-sanitizer", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\necho told \"$@\"\nexit %d\n", status);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    snprintf(command, sizeof command,
             "PATH=%s:$PATH COMPUTE_SANITIZER=%s tests/gpu/sanitize 'a program' --quick 2>&1",
             folder, environment);
    f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, size - 1, f)] = '\0';
    int ended = pclose(f);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

START_TEST(memory_checkers)
{
    char text[4096];
    ck_assert_int_eq(sanitized(0, "", text, sizeof text), 0);
    ck_assert_str_eq(text, "compute-sanitizer, memcheck --leak-check full:\n"
                           "told --error-exitcode 3 --report-api-errors no --tool memcheck "
                           "--leak-check full a program --quick\n"
                           "compute-sanitizer, initcheck:\n"
                           "told --error-exitcode 3 --report-api-errors no --tool initcheck "
                           "a program --quick\n");
    ck_assert_int_eq(sanitized(3, "", text, sizeof text), 3);
    ck_assert_ptr_null(strstr(text, "initcheck"));
    ck_assert_int_eq(sanitized(0, "/not/there", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "was not found at /not/there"));
}
END_TEST

START_TEST(not_built)
{
    printf("SKIP plugin: there is no nvcc, so no libpliant_cuda.so was built\n");
}
END_TEST

int main(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libpliant_cuda.so", build());
    TCase *t = tcase_create("plugin");
    tcase_add_test(t, memory_checkers);
    if (access(path, R_OK) != 0) {
        tcase_add_test(t, not_built);
        return run_cases("plugin", t);
    }
    tcase_add_test(t, fits_and_answers);
    tcase_add_test(t, another_build_is_unfit);
    tcase_add_test(t, one_symbol);
    tcase_add_test(t, hot_kernels_spill_nothing);
    tcase_add_test(t, programs_for_a_gpu);
    return run_cases("plugin", t);
}
