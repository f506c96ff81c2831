/* follow.h - watching a session until it ends. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_FOLLOW_H
#define PLIANT_CLIENTS_CLI_SESSION_FOLLOW_H

#include "clients/cli/net/api.h"

/* Show the progress of session `id` from frame `from` on until it ends, or print its metrics with
 * --json, or with `lines` whatever the output; then say how it ended. Exit status 0 only where it
 * succeeded. Connections that break are made again, from the next frame. */
int pl_follow(pl_cli *cli, const char *id, int64_t from, bool lines);

/* How a session that is over ended, from its document: says so on standard error, with its warnings, which
 * make the exit status 1 where the command has --strict. */
int pl_follow_outcome(pl_cli *cli, const pl_json *session);

#endif
