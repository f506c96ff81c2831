/* run_profile.h - shows the profile that a run has left in its directory (server/worker/run_profile.h). */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_RUN_PROFILE_H
#define PLIANT_CLIENTS_CLI_COMMANDS_RUN_PROFILE_H

#include "clients/cli/base/command.h"

/* Prints a table on standard output; with --json, one line {"event": "profile", ...}. Returns an exit status. */
int pl_run_profile_print(const pl_cli *cli, const char *path, int dir_fd);

#endif
