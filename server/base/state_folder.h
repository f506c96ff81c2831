/* state_folder.h - STATE, the daemon's directory: created if missing, and locked. */
#ifndef PLIANT_SERVER_BASE_STATE_FOLDER_H
#define PLIANT_SERVER_BASE_STATE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* Creates the directory and its direct subfolders; `path` becomes the absolute path, *fd the open directory. False with
 * a line in the log. */
bool pl_state_open(const char *wanted, char path[PATH_MAX], int *fd);
/* Lock the state, so that only one daemon uses it. Returns the lock's descriptor, or -1 with a line in the log if
 * another process holds it. */
int pl_state_lock(const char *path, int state_fd);

#endif
