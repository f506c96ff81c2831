/* rebuild.h - rebuilds a session's row from its directory, which is authoritative: session.json, scene.json,
 * preflight.json, the log, exit.json, verdict.json, control.log and the lock. Information that only the database had is
 * lost: the number of crashes, and idempotency keys.
 */
#ifndef PLIANT_SERVER_RUN_REBUILD_H
#define PLIANT_SERVER_RUN_REBUILD_H

#include "server/store/row.h"

#include <stdbool.h>

typedef struct pl_rebuilt {
    pl_row row;
    bool guessed; /* session.json is missing or damaged: owner and time of creation are guesses */
    int upload_count;
    char (*uploads)[65]; /* malloc'ed: hashes of the meshes that its scene names */
} pl_rebuilt;

/* Rebuild the row of STATE/sessions/xx/ID. False if that is not a session's directory, or out of memory. */
bool pl_rebuild_row(int state_fd, const char *id, pl_rebuilt *out);
void pl_rebuilt_clear(pl_rebuilt *rebuilt);

#endif
