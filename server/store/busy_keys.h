/* busy_keys.h - Idempotency-Keys of requests in progress: in memory only, so that a crashed daemon leaves none
 * behind. */
#ifndef PLIANT_SERVER_STORE_BUSY_KEYS_H
#define PLIANT_SERVER_STORE_BUSY_KEYS_H

#include <pthread.h>
#include <stdbool.h>

typedef struct pl_busy_keys {
    pthread_mutex_t mutex;
    struct pl_busy_key *first;
} pl_busy_keys;

void pl_busy_keys_init(pl_busy_keys *keys);
void pl_busy_keys_clear(pl_busy_keys *keys);
/* Mark a key as in progress; false if it already is, or if out of memory. */
bool pl_busy_keys_take(pl_busy_keys *keys, const char *owner, const char *route, const char *key);
void pl_busy_keys_remove(pl_busy_keys *keys, const char *owner, const char *route, const char *key);

#endif
