/* check_session.h - compares a stored session with the expectations of its scene. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_CHECK_SESSION_H
#define PLIANT_CLIENTS_CLI_SESSION_CHECK_SESSION_H

#include "clients/cli/session/session_source.h"

/* Check every expectation and print each with the value found; with --json on one line. PL_EXIT_OK only if there is at
 * least one and all hold. */
int pl_check_session(pl_session_source *s);

#endif
