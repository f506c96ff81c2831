/* control_log.h - a session's control.log as the daemon sees it: the only file of the directory that the daemon appends
 * to while a worker lives, and the record of its owner's requests. Every entry was durable before the reply.
 */
#ifndef PLIANT_SERVER_SESSIONS_CONTROL_LOG_H
#define PLIANT_SERVER_SESSIONS_CONTROL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append {"action": action}, "cancel", "pause" or "resume", and sync it. 0, or errno. */
int pl_control_append(const char *directory, const char *action);
/* Append {"action": "step", "until": frame} likewise: continue to that frame, then pause. */
int pl_control_append_step(const char *directory, int64_t frame);
/* Append {"action": "retention", "last", "every"} likewise. */
int pl_control_append_retention(const char *directory, int64_t last, int64_t every);
/* Append {"action": "control", "id": number, "control": ...} likewise; `control` is a JSON text. EFBIG: there are too
 * many controls; other actions are still accepted. */
int pl_control_append_change(const char *directory, int64_t number, const char *control);

/* Write "pause" as the first entry of a new directory, without a separate sync, because the directory is synced as a
 * whole. 0, or errno. */
int pl_control_begin_paused(const char *directory);

/* The requests so far: a cancel is final; of pause and resume, the newest counts. A step ends in a pause. Damaged bytes
 * are skipped, as in the worker. */
typedef struct pl_control_state {
    bool cancelled, paused;
    int64_t controls; /* number of the newest control */
} pl_control_state;
/* 0, also if the file does not exist; otherwise errno, usually ENOMEM, with *out empty. */
int pl_control_read(const char *directory, pl_control_state *out);

typedef struct pl_control_entry {
    int64_t number;
    char *text; /* JSON, malloc'ed */
} pl_control_entry;
/* The first `most` controls with a number above `after`, *count of them. 0, also if the file does not exist; otherwise
 * errno, with no entry. */
int pl_control_list(const char *directory, int64_t after, pl_control_entry *entries, size_t most,
                    size_t *count);

#endif
