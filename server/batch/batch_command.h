/* batch_command.h - runs one command of a batch system: no shell, nothing inherited, killed at its time limit. */
#ifndef PLIANT_SERVER_BATCH_BATCH_COMMAND_H
#define PLIANT_SERVER_BATCH_BATCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Result of a command. The text is malloc'ed. */
typedef struct pl_batch_result {
    bool good;       /* it ended with status 0 */
    char *output;    /* standard output; NULL if it went to a file or is unknown */
    char error[240]; /* why it failed: the last line of standard error, or a description */
} pl_batch_result;

/* argv[0] is a path or a name in PATH. Output goes to out_fd, or into the result if that is -1. Returns early when
 * stop_fd becomes readable; the command keeps running then. */
void pl_batch_run(char *const argv[], int timeout_ms, int out_fd, int stop_fd,
                  pl_batch_result *out);
void pl_batch_result_clear(pl_batch_result *result);

#endif
