/* pilot.h - one job of a batch system that runs many short sessions. The daemon and the pilot share a folder:
 *
 *   SESSION-ATTEMPT.todo   the daemon puts it there, and removes it if the session must not run here any more
 *   SESSION-ATTEMPT.run    the pilot has taken it: a worker runs
 *   SESSION-ATTEMPT.done   its worker has ended; the text is its status, as of waitpid
 *   SESSION-ATTEMPT.kill   the daemon asks to end that worker
 *   closed                 the pilot takes no more
 *
 * Each step is one rename or one unlink, so an assignment is either run by one pilot or withdrawn, never both. Its text
 * is a list of words that end with a NUL: cores, memory in MB, and the worker's arguments. A session's outcome is in
 * its own directory.
 */
#ifndef PLIANT_SERVER_WORKER_PILOT_H
#define PLIANT_SERVER_WORKER_PILOT_H

#include <stdint.h>

typedef struct pl_pilot_options {
    const char *directory;
    int32_t cores;   /* of all workers together */
    uint64_t memory; /* bytes; 0: no limit */
    double idle;     /* s without a session after which it ends */
    double seconds;  /* s after which it takes no more sessions; 0: never */
} pl_pilot_options;

/* Run until there is nothing to do, until the time is over and all workers have ended, or until SIGTERM, which is
 * passed on to workers. Returns 0; PL_WORKER_USAGE if the folder cannot be opened. */
int pl_pilot_run(const pl_pilot_options *options);

#endif
