/* session_copy.h - a session's directory, copied while its worker may run: what comes out is a state that a killed
 * worker could have left, so that the next one goes on from its checkpoint.
 *
 * The order does it. What says how far a run has come (exit.json, warnings, checkpoints) is copied before the log, so
 * that the log has all that they speak of; control.log is copied after it, so that it has every control that a frame
 * was made with. Where the chain of segments changes meanwhile, the log is copied again, but for what is the same.
 */
#ifndef PLIANT_SERVER_UPKEEP_SESSION_COPY_H
#define PLIANT_SERVER_UPKEEP_SESSION_COPY_H

#include "server/upkeep/copier.h"

/* PL_COPY_MISSING where the session was deleted meanwhile; nothing of it is left then. */
pl_copied pl_session_copy(pl_copier *c, const char *id);

#endif
