/* pilot.h - one job of a batch system that runs many short sessions. The daemon and the pilot have a folder in common:
 *
 *   SESSION-ATTEMPT.todo   the daemon puts it there, and takes it away where the session is not to run here any more
 *   SESSION-ATTEMPT.run    the pilot has taken it: a worker runs
 *   SESSION-ATTEMPT.done   its worker has ended; the text is its status, as of waitpid
 *   SESSION-ATTEMPT.kill   the daemon asks to end that worker
 *   closed                 the pilot takes nothing more
 *
 * Each step is one rename or one unlink, so an assignment is run by one pilot or taken away, never both. Its text is words
 * that end with a NUL: cores, memory in MB, and the worker's arguments. How a session has gone stands in its own directory.
 */
#ifndef PLIANT_SERVER_WORKER_PILOT_H
#define PLIANT_SERVER_WORKER_PILOT_H

#include <stdint.h>

typedef struct pl_pilot_options {
    const char *directory;
    int32_t cores;   /* that workers have together */
    uint64_t memory; /* bytes; 0: no limit */
    double idle;     /* s without a session after which it ends */
    double seconds;  /* after which it takes no session any more; 0: never */
} pl_pilot_options;

/* Run until there is nothing to do, the time is over and all workers have ended, or SIGTERM, which workers get as well.
 * 0; PL_WORKER_USAGE where the folder cannot be opened. */
int pl_pilot_run(const pl_pilot_options *options);

#endif
