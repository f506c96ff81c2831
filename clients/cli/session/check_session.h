/* check_session.h - what a stored session shows, held against what its scene expects. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_CHECK_SESSION_H
#define PLIANT_CLIENTS_CLI_SESSION_CHECK_SESSION_H

#include "clients/cli/session/session_source.h"

/* Judge every expectation and print each with what it got; with --json as one line. PL_EXIT_OK only
 * where all hold and there is at least one. */
int pl_check_session(pl_session_source *s);

#endif
