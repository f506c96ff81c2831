/* folder.h - opens a folder of a session directory for listing. */
#ifndef PLIANT_PROTOCOL_LOG_FOLDER_H
#define PLIANT_PROTOCOL_LOG_FOLDER_H

#include <dirent.h>

/* Opens the folder `name` of a directory; close it with closedir. Does not follow a symbolic link. NULL with errno. */
DIR *pl_folder_open(int dir_fd, const char *name);

#endif
