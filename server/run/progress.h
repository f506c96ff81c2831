/* progress.h - detects workers that make no progress. Three signs count as progress: processor time of the process,
 * frames in the log, and the heartbeat of the stepping thread (pl_session_beat). So a step that takes hours is
 * progress, and so is a session that waits for its clock; a process that was stopped, or that waits for a lock or for
 * the disk, makes none.
 *
 * Plain arithmetic on observations: no clock, no file.
 */
#ifndef PLIANT_SERVER_RUN_PROGRESS_H
#define PLIANT_SERVER_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Signs of a worker at one moment. */
typedef struct pl_signs {
    int64_t cpu_ms;  /* of all its threads */
    int64_t frame;   /* last committed */
    int64_t beat_us; /* time of its last heartbeat, since 1970 */
} pl_signs;

typedef struct pl_progress {
    int64_t moved_ms; /* its last progress, monotonic; 0: not observed yet */
    pl_signs signs;   /* of that moment */
    /* why the run counts as stalled: "stopped", "disk" or "idle"; NULL: it does not */
    const char *why;
} pl_progress;

/* Record the signs of this moment. True if they show progress since the last progress. Waiting threads use a little
 * processor time too: less than 1/200 of the elapsed time does not count. */
bool pl_progress_note(pl_progress *p, const pl_signs *now, int64_t now_ms);
/* The reason, as a word, why a process in this state (the letter of /proc/PID/stat) makes no progress. */
const char *pl_progress_why(char state);

#endif
