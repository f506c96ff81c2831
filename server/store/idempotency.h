/* idempotency.h - Idempotency-Key: a request that comes again within a day gets the reply of the first.
 * The reply is committed with the session (pl_kept_reply); keys of requests under way are in memory.
 */
#ifndef PLIANT_SERVER_STORE_IDEMPOTENCY_H
#define PLIANT_SERVER_STORE_IDEMPOTENCY_H

#include "server/store/store.h"

typedef enum pl_key_outcome {
    PL_KEY_NEW,  /* go on, and end with pl_key_end */
    PL_KEY_SEEN, /* *status, *reply and *location (malloc'ed) are those of the first time */
    PL_KEY_OTHER_BODY,
    PL_KEY_IN_PROGRESS,
    PL_KEY_BROKEN, /* the database failed, or there was no memory */
} pl_key_outcome;
pl_key_outcome pl_key_begin(pl_store *store, const char *owner, const char *route, const char *key,
                            const char *body_hash, int *status, char **reply, char **location);
void pl_key_end(pl_store *store, const char *owner, const char *route, const char *key);
/* Forget replies older than a day. */
void pl_keys_sweep(pl_store *store);

#endif
