/* follow.h - watches a session until it ends. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_FOLLOW_H
#define PLIANT_CLIENTS_CLI_SESSION_FOLLOW_H

#include "clients/cli/net/api.h"

/* Show the progress of session `id` from frame `from` until it ends; with --json, or with `lines` regardless of the
 * output, print its metrics instead. Then print how it ended. Returns 0 only if it succeeded. Broken connections are
 * reopened, at the next frame. */
int pl_follow(pl_cli *cli, const char *id, int64_t from, bool lines);

/* Print on standard error how an ended session ended, from its document, with its warnings. With --strict, warnings
 * make the exit status 1. */
int pl_follow_outcome(pl_cli *cli, const pl_json *session);

#endif
