/* session_copy.h - copies a session's directory while its worker may run. The copy is a state that a killed worker
 * could have left, so that the next worker continues from its checkpoint.
 *
 * The order ensures this. Files that refer to frames (exit.json, warnings, checkpoints) are copied before the log, so
 * that the log has those frames. control.log is copied after it, so that it has every control that those frames used.
 * If the chain of segments changes meanwhile, the changed parts of the log are copied again.
 */
#ifndef PLIANT_SERVER_UPKEEP_SESSION_COPY_H
#define PLIANT_SERVER_UPKEEP_SESSION_COPY_H

#include "server/upkeep/copier.h"

/* Copy a session; PL_COPY_MISSING if it was deleted meanwhile, and the copy has nothing of it. */
pl_copied pl_session_copy(pl_copier *c, const char *id);

#endif
