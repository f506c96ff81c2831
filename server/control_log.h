/* control_log.h - a session's control.log as the daemon sees it: the one file of the directory that it
 * appends to while a worker lives, and the witness of what its owner asked for. What stands in it was
 * durable before it was answered for.
 */
#ifndef PLIANT_SERVER_CONTROL_LOG_H
#define PLIANT_SERVER_CONTROL_LOG_H

#include <stdbool.h>

/* Append {"action": action}, "cancel", "pause" or "resume", and bring it to the disk. 0, or errno. */
int pl_control_append(const char *directory, const char *action);

/* What was asked: a cancel is for ever; of pause and resume the newest counts. Damaged bytes are
 * skipped, as the worker does. */
typedef struct pl_control_state {
    bool cancelled, paused;
} pl_control_state;
pl_control_state pl_control_read(const char *directory);

#endif
