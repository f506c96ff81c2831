/* state_folder.h - STATE, the daemon's directory: made where it is missing, and locked. */
#ifndef PLIANT_SERVER_BASE_STATE_FOLDER_H
#define PLIANT_SERVER_BASE_STATE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* Makes it with what lies directly in it; `path` becomes the absolute one, *fd the open directory. False with a line
 * in the log. */
bool pl_state_open(const char *wanted, char path[PATH_MAX], int *fd);
/* One daemon a state: the lock's descriptor, or -1 with a line in the log where another holds it. */
int pl_state_lock(const char *path, int state_fd);

#endif
