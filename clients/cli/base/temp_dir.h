/* temp_dir.h - a temporary directory for runs whose frames are not kept. */
#ifndef PLIANT_CLIENTS_CLI_BASE_TEMP_DIR_H
#define PLIANT_CLIENTS_CLI_BASE_TEMP_DIR_H

#include <stdbool.h>

typedef struct pl_temp_dir {
    char path[128];
    int dir_fd; /* of a session created there, else -1; closed on removal */
} pl_temp_dir;

/* Below $TMPDIR, else /tmp. False with errno. */
bool pl_temp_dir_create(pl_temp_dir *s);
/* Remove the directory and its contents. */
void pl_temp_dir_remove(pl_temp_dir *s);

#endif
