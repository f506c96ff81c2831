/* memory_delegation.h - control groups version 2: prepares a group that was delegated to the daemon to share out
 * memory. A group whose subgroups have limits cannot contain processes itself, so the daemon moves into its own
 * subgroup.
 */
#ifndef PLIANT_SERVER_RUN_MEMORY_DELEGATION_H
#define PLIANT_SERVER_RUN_MEMORY_DELEGATION_H

#include "server/run/control_group.h"

#define PL_MEMORY_LEAF "pliant-daemon" /* the daemon's subgroup */

/* False with `why`; then nothing has changed. */
bool pl_memory_delegation_take(int dir_fd, char why[PL_WHY_NO_GROUP]);

#endif
