/* frame_cache.h - frames in the form that streams send, made once for all: a thousand viewers of a session cost one
 * read and one encoding of each frame. Bounded in bytes; the least recently used goes first. A missing entry is made by
 * the first caller, and the others wait for it.
 *
 * A stream never keeps an entry while it waits for its reader: it asks again by the same key, and if the bytes are
 * gone, the same bytes are made again. So the cache's bound holds for any number of slow readers.
 *
 * One mutex, held for a look-up and never while an entry is made. Innermost: `make` may lock nothing.
 */
#ifndef PLIANT_SERVER_STREAMS_FRAME_CACHE_H
#define PLIANT_SERVER_STREAMS_FRAME_CACHE_H

#include "server/base/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forms of a frame, each made in a different way. */
typedef enum pl_frame_form {
    PL_FRAME_RECORD,  /* the record in a variant */
    PL_FRAME_LINE,    /* a line of JSON */
    PL_FRAME_METRICS, /* the record of its metrics */
    PL_FRAME_SURFACE, /* not a frame: the session's surface map, int32 */
} pl_frame_form;

/* Compared as bytes: begin with {0}. */
typedef struct pl_frame_key {
    char session[40];
    int64_t frame;
    uint32_t dtype, fields;
    uint32_t surface, form;
} pl_frame_key;

typedef struct pl_blob {
    size_t size;
    char *bytes;
} pl_blob;

typedef struct pl_frame_cache pl_frame_cache;
pl_frame_cache *pl_frame_cache_create(int64_t bytes, pl_counters *counters);
void pl_frame_cache_destroy(pl_frame_cache *cache); /* no entry may be held any more */

/* Make the bytes (malloc'ed, *size of them). NULL with errno on failure. */
typedef char *(*pl_blob_maker)(void *context, size_t *size);
/* The bytes of a key, held for the caller until pl_frame_cache_put; NULL with the maker's errno, also for callers that
 * waited for the same entry. */
const pl_blob *pl_frame_cache_get(pl_frame_cache *cache, const pl_frame_key *key,
                                  pl_blob_maker make, void *context);
void pl_frame_cache_put(pl_frame_cache *cache, const pl_blob *blob);

#endif
