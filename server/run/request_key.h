/* request_key.h - the Idempotency-Key of a POST. A repeated key gets the first reply. */
#ifndef PLIANT_SERVER_RUN_REQUEST_KEY_H
#define PLIANT_SERVER_RUN_REQUEST_KEY_H

#include "server/http/http.h"
#include "server/store/store.h"

/* Zeros: the request has no key. */
typedef struct pl_request_key {
    pl_store *store;
    const char *owner, *route, *text; /* lent; text is the request's */
    char body_hash[65];
} pl_request_key;

/* Reserve the request's key until pl_request_key_end. False if it has replied; then nothing is reserved. `owner` and
 * `route` are not copied. */
bool pl_request_key_begin(pl_request_key *key, pl_request *r, pl_store *store, const char *owner,
                          const char *route);
void pl_request_key_end(pl_request_key *key);

/* Fill the 201 reply to commit with the new object; false if the request has no key. */
bool pl_request_key_keep(const pl_request_key *key, const char *reply, const char *location,
                         pl_kept_reply *out);

#endif
