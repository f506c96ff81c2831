/* privileges.h - drops from root to a separate uid before reading a stranger's scene. The session's directory (or those
 * of all sessions in the process) is given to that uid, which owns nothing else.
 */
#ifndef PLIANT_SERVER_WORKER_PRIVILEGES_H
#define PLIANT_SERVER_WORKER_PRIVILEGES_H

#include "engine/scene/fault.h"

#include <sys/types.h>

/* Give the directories and their contents to the uid (meshes, which other sessions share, are made readable instead),
 * then switch to that uid and the group of the same number, with no other groups. PL_IO with errno. */
pl_status pl_privileges_drop(const int *directories, int count, uid_t uid);

#endif
