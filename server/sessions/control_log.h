/* control_log.h - a session's control.log as the daemon sees it: the one file of the directory that it
 * appends to while a worker lives, and the witness of what its owner asked for. What stands in it was
 * durable before it was answered for.
 */
#ifndef PLIANT_SERVER_SESSIONS_CONTROL_LOG_H
#define PLIANT_SERVER_SESSIONS_CONTROL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append {"action": action}, "cancel", "pause" or "resume", and bring it to the disk. 0, or errno. */
int pl_control_append(const char *directory, const char *action);
/* The same with {"action": "step", "until": frame}: go on to that frame, and pause. */
int pl_control_append_step(const char *directory, int64_t frame);
/* The same with {"action": "retention", "last", "every"}. */
int pl_control_append_retention(const char *directory, int64_t last, int64_t every);
/* The same with {"action": "control", "id": number, "control": ...}, the latter a JSON text. EFBIG where
 * there have been so many that only the others are taken. */
int pl_control_append_change(const char *directory, int64_t number, const char *control);

/* "pause" as the first of a new directory, which is synced as a whole: without a sync of its own. 0, or errno. */
int pl_control_begin_paused(const char *directory);

/* What was asked: a cancel is for ever; of pause and resume the newest counts. Damaged bytes are
 * skipped, as the worker does. A step ends in a pause. */
typedef struct pl_control_state {
    bool cancelled, paused;
    int64_t controls; /* number of the newest control */
} pl_control_state;
/* 0, also where there is no such file; otherwise errno, ENOMEM as a rule, with nothing in *out. */
int pl_control_read(const char *directory, pl_control_state *out);

typedef struct pl_control_entry {
    int64_t number;
    char *text; /* JSON, malloc'ed */
} pl_control_entry;
/* The first `most` controls with a number above `after`, *count of them. 0, also where there is no such file; otherwise
 * errno, with no entry. */
int pl_control_list(const char *directory, int64_t after, pl_control_entry *entries, size_t most,
                    size_t *count);

#endif
