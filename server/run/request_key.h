/* request_key.h - the Idempotency-Key of a request that makes something: where it came before, the reply of then is
 * the answer. */
#ifndef PLIANT_SERVER_RUN_REQUEST_KEY_H
#define PLIANT_SERVER_RUN_REQUEST_KEY_H

#include "server/http/http.h"
#include "server/store/store.h"

/* Zeros: the request has none. */
typedef struct pl_request_key {
    pl_store *store;
    const char *owner, *route, *text; /* lent; text is the request's */
    char body_hash[65];
} pl_request_key;

/* Read it and reserve it, until pl_request_key_end. True where the request is to go on; false after a reply, and
 * then there is nothing to end. `owner` and `route` are kept. */
bool pl_request_key_begin(pl_request_key *key, pl_request *r, pl_store *store, const char *owner,
                          const char *route);
void pl_request_key_end(pl_request_key *key);

/* What is to be committed with what was made, whose reply is a 201; false where the request has no key. */
bool pl_request_key_keep(const pl_request_key *key, const char *reply, const char *location,
                         pl_kept_reply *out);

#endif
