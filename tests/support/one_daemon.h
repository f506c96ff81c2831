/* one_daemon.h - the daemon of a test program, `d`, and the checked fixture that starts it with the usual options and
 * stops it. A test with other options or additional set-up starts `d` in its own function.
 */
#ifndef PLIANT_TESTS_SUPPORT_ONE_DAEMON_H
#define PLIANT_TESTS_SUPPORT_ONE_DAEMON_H

#include "tests/support/daemon_fixture.h"

#include <stddef.h>

static daemon_fixture daemon_;
static daemon_fixture *const d = &daemon_;

static inline void start_daemon(void)
{
    daemon_fixture_start(d, NULL);
}

static inline void stop_daemon(void)
{
    daemon_fixture_stop(d);
}

#endif
