/* sweep_follow.h - submitting a sweep or a fit, and following it. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_SWEEP_FOLLOW_H
#define PLIANT_CLIENTS_CLI_COMMANDS_SWEEP_FOLLOW_H

#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"
#include "protocol/text/json.h"

/* Post the file of the first argument; prints the ID (with --json: the sweep, where it is not followed). */
int pl_sweep_post(pl_cli *cli, bool follows, char id[PL_ID_TEXT]);
/* Until it ends, or until Ctrl-C, which the sweep does not notice. */
int pl_sweep_watch(pl_cli *cli, const char *id);
/* Write a table of a sweep to a file, or to standard output where path is NULL. `which` is "results" or "residuals". */
int pl_sweep_table(pl_cli *cli, const char *id, const char *which, const char *format,
                   const char *path);

/* The verb residuals. */
int pl_sweep_residuals(pl_cli *cli);

/* Of a sweep's document: whether it is a fit; "12 of at most 200 runs, misfit 0.013: young 2.3e5". */
bool pl_fit_is(const pl_json *sweep);
void pl_fit_line(const pl_json *sweep, char *out, size_t size);
/* Its best run: a line for each parameter, then the misfit and the session. */
void pl_fit_print(const pl_json *sweep);

#endif
