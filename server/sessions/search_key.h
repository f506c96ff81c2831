/* search_key.h - what a search looks at before it looks at a session: 40 bytes in an array, where the session's own texts
 * lie all over the memory. A key never says no where the session fits; where it does not say no, the texts decide.
 */
#ifndef PLIANT_SERVER_SESSIONS_SEARCH_KEY_H
#define PLIANT_SERVER_SESSIONS_SEARCH_KEY_H

#include "server/sessions/session.h"

#include <stdbool.h>
#include <stdint.h>

/* A bit for each three bytes in a row: a text that has another in it has all of that one's bits. */
typedef struct pl_signature {
    uint64_t word[2];
} pl_signature;

typedef struct pl_search_key {
    pl_signature name, labels;
    uint32_t owner, group; /* hashes, never 0; 0: of no group */
} pl_search_key;

/* The table's mutex is held. */
pl_search_key pl_search_key_of(const pl_session *session);

/* Adds the bits of a text; NULL has none. */
void pl_signature_add(pl_signature *signature, const char *text);
/* Whether one has all bits of the other. */
bool pl_signature_has(const pl_signature *signature, const pl_signature *other);
/* Of a user or a group; 0 for NULL. */
uint32_t pl_search_hash(const char *name);

#endif
