/* batch_command.h - runs one command of a batch system: no shell, nothing inherited, killed when its time is over. */
#ifndef PLIANT_SERVER_BATCH_BATCH_COMMAND_H
#define PLIANT_SERVER_BATCH_BATCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* How it went. The text is malloc'ed. */
typedef struct pl_batch_result {
    bool good;       /* it ended with status 0 */
    char *output;    /* its standard output; NULL where it went to a file, or nothing is known */
    char error[240]; /* why it is not good: the last line of its standard error, or what happened */
} pl_batch_result;

/* argv[0] is a path, or looked for in PATH. Output goes to out_fd, or into the result where that is -1. Ends early where
 * stop_fd becomes readable: the command goes on then. */
void pl_batch_run(char *const argv[], int timeout_ms, int out_fd, int stop_fd,
                  pl_batch_result *out);
void pl_batch_result_clear(pl_batch_result *result);

#endif
