/* gpu-check and gpu-bench with the plug-in on the stand-in for CUDA's runtime (standin/standin.h): every comparison
 * succeeds, bench counts an iteration's runtime calls, and neither leaks anything. The quick form; with PLIANT_LONG=1
 * all of gpu-check, with streams in several orders. */
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 16], left[256];

/* Its output and leaks; its exit status. */
static int run(const char *environment, const char *arguments)
{
    char command[2 * PATH_MAX], path[] = "/tmp/pliant-standin-XXXXXX";
    const char *build = getenv("PLIANT_BUILD");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    snprintf(command, sizeof command,
             "PLIANT_STANDIN_REPORT=%s %s '%s/standin/gpu/%s 2>&1 </dev/null", path, environment,
             build ? build : "build", arguments);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    int status = pclose(f);
    ssize_t length = read(file, left, sizeof left - 1);
    left[length > 0 ? length : 0] = '\0';
    close(file);
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void hold_nothing_left(void)
{
    ck_assert_str_eq(left, "left: 0 blocks, 0 pinned, 0 streams, 0 events, 0 graphs, 1 contexts\n");
}

START_TEST(results_are_the_cpu_s)
{
    char environment[64];
    snprintf(environment, sizeof environment, "PLIANT_STANDIN_SEED=%d", _i + 1);
    int status = run(environment, is_long_form() ? "gpu-check'" : "gpu-check' --quick");
    const char *failed = strstr(text, "FAILED");
    ck_assert_msg(status == 0, "%d: %.2000s", status, failed ? failed : text);
    ck_assert_ptr_nonnull(strstr(text, "passed, 0 failed"));
    ck_assert_ptr_null(strstr(text, "plain launches"));
    hold_nothing_left();
}
END_TEST

/* The numbers of a method's row in single precision. */
static void row(const char *method, double *out, int count)
{
    const char *at = strstr(text, method);
    ck_assert_msg(at != NULL, "%s", text);
    int used = 0;
    ck_assert_int_eq(sscanf(at + strlen(method), " single%n", &used), 0);
    at += strlen(method) + (size_t)used;
    for (int k = 0; k < count; k++, at += used)
        ck_assert_int_eq(sscanf(at, "%lf%n", &out[k], &used), 1);
}

/* Per iteration: launches, recorded launches, graphs, waits, copies up and down, copies of pageable memory. */
START_TEST(bench_counts)
{
    double n[7];
    ck_assert_msg(run("", "gpu-bench'") == 0, "%s", text);
    row("chebyshev_descent ", n, 7);
    ck_assert_msg(n[0] < 1.5 && n[1] >= 2 && n[2] <= 0.13 && n[3] <= 0.4 && n[6] == 0, "%s", text);
    row("admm ", n, 7);
    ck_assert_msg(n[0] > 10 && n[3] <= 4, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "recorded, replayed as one"));
    ck_assert_ptr_nonnull(strstr(text, "launches made as"));
    hold_nothing_left();
}
END_TEST

/* The device fails at some launch: the program says so and ends, and no comparison is wrong. */
START_TEST(a_device_that_fails_is_told)
{
    static const char *const HOW[] = {"kernel 300 launch", "any 2000 lost"};
    char environment[64];
    snprintf(environment, sizeof environment, "PLIANT_STANDIN_FAIL='%s'", HOW[_i]);
    ck_assert_int_eq(run(environment, "gpu-check' --quick"), 1);
    ck_assert_msg(strstr(text, "the device has failed: ") != NULL, "%s", text);
}
END_TEST

/* The stand-in's header: its values and calls match NVIDIA's, if the toolkit is installed. */
START_TEST(the_header_is_nvidia_s)
{
    static const char script[] =
        "header=tests/gpu/standin/include/cuda_runtime.h\n"
        "nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)\n"
        "toolkit=$(dirname \"$nvcc\")/../include\n"
        "[ -e \"$toolkit/cuda_runtime_api.h\" ] || exit 77\n"
        "{ echo '#include <cuda_runtime_api.h>'; echo 'extern \"C\" {'\n"
        "  sed -n '/^cudaError_t cuda/{:a;/;/!{N;ba};p}' $header; echo '}'\n"
        "  sed -n 's/^ *\\(cuda[A-Za-z]*\\) = \\([0-9]*\\),$/static_assert(\\1 == \\2);/p' "
        "$header\n"
        "} > \"$1\"\n"
        "[ $(grep -c '^cudaError_t' \"$1\") -ge 28 ] || exit 3\n"
        "[ $(grep -c static_assert \"$1\") -ge 28 ] || exit 4\n"
        "g++ -std=c++20 -fsyntax-only -x c++ -isystem \"$toolkit\" \"$1\"\n";
    char path[] = "/tmp/pliant-header-XXXXXX", command[sizeof script + 64];
    close(mkstemp(path));
    snprintf(command, sizeof command, "set -- %s\n%s", path, script);
    int status = system(command);
    unlink(path);
    if (WEXITSTATUS(status) == 77)
        skip_test("programs: there is no CUDA toolkit, whose header could be compared");
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("programs");
    tcase_set_timeout(t, 1800);
    tcase_add_loop_test(t, results_are_the_cpu_s, 0, is_long_form() ? 4 : 1);
    tcase_add_test(t, bench_counts);
    tcase_add_loop_test(t, a_device_that_fails_is_told, 0, 2);
    Suite *suite = suite_create("programs");
    suite_add_tcase(suite, t);
    t = tcase_create("header");
    tcase_add_test(t, the_header_is_nvidia_s);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
