/* long_form.h - whether tests and benchmarks are asked for at full length. */
#ifndef PLIANT_TESTS_SUPPORT_LONG_FORM_H
#define PLIANT_TESTS_SUPPORT_LONG_FORM_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* PLIANT_LONG=1 in the environment, as `make check-long` sets it. */
static inline bool is_long_form(void)
{
    const char *wanted = getenv("PLIANT_LONG");
    return wanted && strcmp(wanted, "1") == 0;
}

#endif
