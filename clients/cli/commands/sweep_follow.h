/* sweep_follow.h - submits a sweep or a fit, and follows it. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_SWEEP_FOLLOW_H
#define PLIANT_CLIENTS_CLI_COMMANDS_SWEEP_FOLLOW_H

#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"
#include "protocol/text/json.h"

/* Post the file of the first argument. Prints the ID (with --json: the sweep, unless it is followed). */
int pl_sweep_post(pl_cli *cli, bool follows, char id[PL_ID_TEXT]);
/* Show progress until the sweep ends or Ctrl-C, which does not affect the sweep. */
int pl_sweep_watch(pl_cli *cli, const char *id);
/* Write a table of a sweep to a file, or to standard output if path is NULL. `which` is "results" or "residuals". */
int pl_sweep_table(pl_cli *cli, const char *id, const char *which, const char *format,
                   const char *path);

/* The verb residuals. */
int pl_sweep_residuals(pl_cli *cli);

/* From a sweep's document: true if it is a fit; a line such as "12 of at most 200 runs, misfit 0.013: young 2.3e5". */
bool pl_fit_is(const pl_json *sweep);
void pl_fit_line(const pl_json *sweep, char *out, size_t size);
/* Print a fit's best run: a line for each parameter, then the misfit and the session. */
void pl_fit_print(const pl_json *sweep);

#endif
