/* suite.h - the end of every test program's main(). CK_VERBOSITY is heard. */
#ifndef PLIANT_TESTS_SUPPORT_SUITE_H
#define PLIANT_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Leaves the test at hand, which run-tests then counts as skipped and not as passed. One in a test. */
#define skip_test(...)                                                                             \
    do {                                                                                           \
        printf("SKIP " __VA_ARGS__);                                                               \
        putchar('\n');                                                                             \
        return;                                                                                    \
    } while (0)

/* What hangs is ended, by libcheck after 4 s where nothing is said: too little on a busy machine. Longer than a
 * helper waits, which says what for. */
__attribute__((constructor)) static inline void be_patient(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "180", 0);
}

/* Run a suite and let go of it: the program's exit status. */
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
