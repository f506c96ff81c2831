/* folder.h - a folder of a session directory, opened to be listed. */
#ifndef PLIANT_PROTOCOL_LOG_FOLDER_H
#define PLIANT_PROTOCOL_LOG_FOLDER_H

#include <dirent.h>

/* The folder `name` of a directory, to be closed with closedir; a symbolic link is not followed. NULL with
 * errno. */
DIR *pl_folder_open(int dir_fd, const char *name);

#endif
