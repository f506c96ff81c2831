/* starving.h - a daemon whose n-th allocation fails (preload/failing_memory.c), and requests to it, which may fail.
 */
#ifndef PLIANT_TESTS_SUPPORT_STARVING_H
#define PLIANT_TESTS_SUPPORT_STARVING_H

#include "tests/support/daemon_fixture.h"

#include <stddef.h>
#include <stdint.h>

/* Make programs started from now on starvable, until LD_PRELOAD is unset. */
void starving_begin(void);
void starving_end(void);
/* Fail the n-th allocation from now on and the span - 1 after it; n = 0: none. */
void starving_arm(int64_t n, int64_t span);
/* Number of failed allocations since then. */
int64_t starving_failures(void);
/* Number of allocations since starving_arm(STARVING_COUNT, 1). */
int64_t starving_counted(void);
#define STARVING_COUNT (1LL << 40)

extern char starving_answer[1 << 20]; /* the last reply's body, unless it is too long */
extern size_t starving_length;        /* its length */

/* Status of the reply; 0 if the connection was closed before its end. `more`: headers. */
int starving_ask(const daemon_fixture *d, const char *method, const char *target, const char *more,
                 const char *body);

#endif
