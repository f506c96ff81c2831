/* suite.h - the end of every test program's main(). CK_VERBOSITY is heard. */
#ifndef PLIANT_TESTS_SUPPORT_SUITE_H
#define PLIANT_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Leaves the current test, which run-tests then counts as skipped rather than passed. At most once per test. */
#define skip_test(...)                                                                             \
    do {                                                                                           \
        printf("SKIP " __VA_ARGS__);                                                               \
        putchar('\n');                                                                             \
        return;                                                                                    \
    } while (0)

/* A hanging test is ended; libcheck's default of 4 s is too short on a busy machine. Longer than a helper waits,
 * because helpers report what they waited for. */
__attribute__((constructor)) static inline void be_patient(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "180", 0);
}

/* Run a suite and free it: returns the program's exit status. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The same with one list of cases. */
static inline int run_cases(const char *name, TCase *cases)
{
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}

#endif
