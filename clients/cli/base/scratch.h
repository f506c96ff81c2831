/* scratch.h - a temporary directory for runs whose frames nobody keeps. */
#ifndef PLIANT_CLIENTS_CLI_BASE_SCRATCH_H
#define PLIANT_CLIENTS_CLI_BASE_SCRATCH_H

#include <stdbool.h>

typedef struct pl_scratch {
    char path[128];
    int dir_fd; /* of a session made there, else -1; closed with it */
} pl_scratch;

/* Below $TMPDIR, else /tmp. False with errno. */
bool pl_scratch_make(pl_scratch *s);
/* Remove it with all that is in it. */
void pl_scratch_remove(pl_scratch *s);

#endif
