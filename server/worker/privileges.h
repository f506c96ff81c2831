/* privileges.h - from root to a uid of its own, before a stranger's scene is read: the session's directory (those of
 * all that share the process) is given to that uid, which then owns nothing else.
 */
#ifndef PLIANT_SERVER_WORKER_PRIVILEGES_H
#define PLIANT_SERVER_WORKER_PRIVILEGES_H

#include "engine/scene/fault.h"

#include <sys/types.h>

/* Give the directories and what lies in them to the uid (meshes, which other sessions share, are made readable instead),
 * then become that uid and the group of the same number, with no others. PL_IO with errno. */
pl_status pl_privileges_drop(const int *directories, int count, uid_t uid);

#endif
