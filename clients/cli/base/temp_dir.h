/* temp_dir.h - a temporary directory for runs whose frames nobody keeps. */
#ifndef PLIANT_CLIENTS_CLI_BASE_TEMP_DIR_H
#define PLIANT_CLIENTS_CLI_BASE_TEMP_DIR_H

#include <stdbool.h>

typedef struct pl_temp_dir {
    char path[128];
    int dir_fd; /* of a session made there, else -1; closed with it */
} pl_temp_dir;

/* Below $TMPDIR, else /tmp. False with errno. */
bool pl_temp_dir_create(pl_temp_dir *s);
/* Remove it with all that is in it. */
void pl_temp_dir_remove(pl_temp_dir *s);

#endif
