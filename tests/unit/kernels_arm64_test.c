/* The kernels and the term groups on arm64, cross-compiled (make arm64) and emulated: the same bits
 * as here. */
#include "tests/support/kernels_hash.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(the_hashes_tell_functions_apart)
{
    char *text = pl_kernels_hash_text(), *again = pl_kernels_hash_text();
    ck_assert_str_eq(text, again);
    int lines = 0;
    for (char *line = text; *line; line = strchr(line, '\n') + 1, lines++) {
        char *end = strchr(line, '\n'), value[18];
        snprintf(value, sizeof value, "%.17s", end - 17); /* blank and 16 digits */
        ck_assert_msg(strstr(end, value) == NULL, "twice:%s", value);
    }
    ck_assert_int_ge(lines, 5 + 3 * 9);
    free(text), free(again);
}
END_TEST

START_TEST(arm64_has_the_same_bits)
{
    static const char emulator[] = "qemu-aarch64-static";
    const char *build = getenv("PLIANT_ARM64") ? getenv("PLIANT_ARM64") : "build/arm64";
    char program[4096], command[4200], theirs[32768];
    snprintf(program, sizeof program, "%s/kernels-hash", build);
    if (access(program, X_OK) != 0) {
        puts("SKIP arm64: not built, as there is no aarch64-linux-gnu-gcc (make arm64-check)");
        return;
    }
    snprintf(command, sizeof command, "command -v %s >/dev/null", emulator);
    if (system(command) != 0) {
        printf("SKIP arm64: compiled, but not run without %s\n", emulator);
        return;
    }
    snprintf(command, sizeof command, "%s '%s'", emulator, program);
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    theirs[fread(theirs, 1, sizeof theirs - 1, out)] = 0;
    ck_assert_int_eq(pclose(out), 0);
    char *ours = pl_kernels_hash_text();
    ck_assert_str_eq(theirs, ours);
    free(ours);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_arm64");
    TCase *cases = tcase_create("arm64");
    tcase_add_test(cases, the_hashes_tell_functions_apart);
    tcase_add_test(cases, arm64_has_the_same_bits);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
