/* idempotency.h - Idempotency-Key: a request repeated within a day gets the first reply. The reply is committed with
 * the session (pl_kept_reply); keys of requests in progress are in memory.
 */
#ifndef PLIANT_SERVER_STORE_IDEMPOTENCY_H
#define PLIANT_SERVER_STORE_IDEMPOTENCY_H

#include "server/store/store.h"

typedef enum pl_key_outcome {
    PL_KEY_NEW,  /* continue, and call pl_key_end at the end */
    PL_KEY_SEEN, /* *status, *reply and *location (malloc'ed) are those of the first request */
    PL_KEY_OTHER_BODY,
    PL_KEY_IN_PROGRESS,
    PL_KEY_BROKEN, /* the database failed, or out of memory */
} pl_key_outcome;
pl_key_outcome pl_key_begin(pl_store *store, const char *owner, const char *route, const char *key,
                            const char *body_hash, int *status, char **reply, char **location);
void pl_key_end(pl_store *store, const char *owner, const char *route, const char *key);
/* Delete replies older than a day. */
void pl_keys_sweep(pl_store *store);

#endif
