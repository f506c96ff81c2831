/* memory_delegation.h - version 2: a control group that was delegated to the daemon is made one that
 * shares out memory. A group whose groups have limits holds no process itself, so the daemon moves
 * into a group of its own below it.
 */
#ifndef PLIANT_SERVER_RUN_MEMORY_DELEGATION_H
#define PLIANT_SERVER_RUN_MEMORY_DELEGATION_H

#include "server/run/control_group.h"

#define PL_MEMORY_LEAF "pliant-daemon" /* where the daemon is then */

/* False with `why`, and all is as it was. */
bool pl_memory_delegation_take(int dir_fd, char why[PL_WHY_NO_GROUP]);

#endif
