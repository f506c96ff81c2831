/* rebuild.h - a session's row rebuilt from its directory, which is the truth that the row is an index
 * of: session.json, scene.json, preflight.json, the log, exit.json, verdict.json, control.log and the
 * lock. What only the database knew is lost: how often it crashed, and idempotency keys.
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

/* STATE/sessions/xx/ID. False where that is no session's directory, or memory is out. */
bool pl_rebuild_row(int state_fd, const char *id, pl_rebuilt *out);
void pl_rebuilt_clear(pl_rebuilt *rebuilt);

#endif
