/* search_key.h - a compact prefilter for searches: 40 bytes per session in one array, whereas the sessions' texts are
 * scattered in memory. A key never rejects a matching session; if it does not reject, the texts decide.
 */
#ifndef PLIANT_SERVER_SESSIONS_SEARCH_KEY_H
#define PLIANT_SERVER_SESSIONS_SEARCH_KEY_H

#include "server/sessions/session.h"

#include <stdbool.h>
#include <stdint.h>

/* One bit per three consecutive bytes: a text that contains another has all of the other's bits. */
typedef struct pl_signature {
    uint64_t word[2];
} pl_signature;

typedef struct pl_search_key {
    pl_signature name, labels;
    uint32_t owner, group; /* hashes, never 0; 0: no group */
} pl_search_key;

/* The table's mutex is held. */
pl_search_key pl_search_key_of(const pl_session *session);

/* Add the bits of a text; NULL has none. */
void pl_signature_add(pl_signature *signature, const char *text);
/* True if the first has all bits of the second. */
bool pl_signature_has(const pl_signature *signature, const pl_signature *other);
/* The hash of a user's or group's name; 0 for NULL. */
uint32_t pl_search_hash(const char *name);

#endif
