#include "server/streams/frame_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };
_Static_assert(sizeof(pl_frame_key) % sizeof(uint64_t) == 0, "keys are hashed by words");

/* One entry. Listed while it can be found; freed when it is neither listed nor held. */
typedef struct entry {
    pl_blob blob; /* first: what callers hold */
    pl_frame_key key;
    struct entry *bucket_next;
    struct entry *newer, *older; /* by use; only entries that are complete and listed */
    int holders;
    bool made, listed;
    int error; /* the maker's errno if there are no bytes */
} entry;

struct pl_frame_cache {
    pl_counters *counters;
    pthread_mutex_t mutex;
    pthread_cond_t made;
    int64_t limit, bytes;
    entry *buckets[BUCKETS];
    entry *newest, *oldest;
};

pl_frame_cache *pl_frame_cache_create(int64_t bytes, pl_counters *counters)
{
    pl_frame_cache *c = calloc(1, sizeof *c);
    if (c) {
        c->counters = counters;
        c->limit = bytes;
        pthread_mutex_init(&c->mutex, NULL);
        pthread_cond_init(&c->made, NULL);
    }
    return c;
}

static void entry_free(entry *e)
{
    free(e->blob.bytes);
    free(e);
}

static entry **bucket_of(pl_frame_cache *c, const pl_frame_key *key)
{
    uint64_t words[sizeof *key / sizeof(uint64_t)];
    uint64_t hash = 1469598103934665603u; /* FNV-1a, of words */
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hash = (hash ^ words[i]) * 1099511628211u;
    }
    return &c->buckets[(hash ^ (hash >> 32)) % BUCKETS];
}

/* ---- the order of use ---- */

static void order_remove(pl_frame_cache *c, entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void order_push(pl_frame_cache *c, entry *e)
{
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

/* Remove from the table; its holders keep it until they put it back. */
static void unlist(pl_frame_cache *c, entry *e)
{
    entry **link = bucket_of(c, &e->key);
    while (*link != e) {
        link = &(*link)->bucket_next;
    }
    *link = e->bucket_next;
    e->listed = false;
    if (e->made) {
        order_remove(c, e);
        c->bytes -= (int64_t)e->blob.size;
        atomic_store(&c->counters->frame_cache_bytes, c->bytes);
    }
    if (e->holders == 0) {
        entry_free(e);
    }
}

/* ---- getting ---- */

static entry *find(pl_frame_cache *c, const pl_frame_key *key)
{
    entry *e = *bucket_of(c, key);
    while (e && memcmp(&e->key, key, sizeof *key) != 0) {
        e = e->bucket_next;
    }
    return e;
}

/* Add an empty entry to the table: later callers for the same frame wait for it. */
static entry *announce(pl_frame_cache *c, const pl_frame_key *key)
{
    entry *e = calloc(1, sizeof *e);
    if (e) {
        entry **head = bucket_of(c, key);
        e->key = *key;
        e->holders = 1;
        e->listed = true;
        e->bucket_next = *head;
        *head = e;
    }
    return e;
}

/* The mutex is held, except while the bytes are made. */
static void make_entry(pl_frame_cache *c, entry *e, pl_blob_maker make, void *context)
{
    size_t size = 0;
    pthread_mutex_unlock(&c->mutex);
    char *bytes = make(context, &size);
    int error = errno;
    pthread_mutex_lock(&c->mutex);
    e->blob = (pl_blob){size, bytes};
    e->error = bytes ? 0 : error ? error : EIO;
    if (bytes) {
        order_push(c, e);
        e->made = true;
        c->bytes += (int64_t)size;
        atomic_store(&c->counters->frame_cache_bytes, c->bytes);
        while (c->bytes > c->limit && c->oldest) {
            unlist(c, c->oldest); /* may be this very entry: it then lives as long as it is held */
        }
    } else {
        unlist(c, e);
    }
    pthread_cond_broadcast(&c->made);
}

const pl_blob *pl_frame_cache_get(pl_frame_cache *c, const pl_frame_key *key, pl_blob_maker make,
                                  void *context)
{
    pthread_mutex_lock(&c->mutex);
    entry *e = find(c, key);
    if (e) {
        e->holders++;
        while (!e->made && !e->error) {
            pthread_cond_wait(&c->made, &c->mutex);
        }
        if (e->made && e->listed && e != c->newest) {
            order_remove(c, e);
            order_push(c, e);
        }
        atomic_fetch_add_explicit(&c->counters->frames_shared, 1, memory_order_relaxed);
    } else if ((e = announce(c, key))) {
        make_entry(c, e, make, context);
        atomic_fetch_add_explicit(&c->counters->frames_encoded, e->error == 0,
                                  memory_order_relaxed);
    }
    int error = e ? e->error : ENOMEM;
    pthread_mutex_unlock(&c->mutex);
    if (error) {
        if (e) {
            pl_frame_cache_put(c, &e->blob);
        }
        errno = error;
        return NULL;
    }
    return &e->blob;
}

void pl_frame_cache_put(pl_frame_cache *c, const pl_blob *blob)
{
    entry *e = (entry *)(void *)blob;
    pthread_mutex_lock(&c->mutex);
    bool last = --e->holders == 0 && !e->listed;
    pthread_mutex_unlock(&c->mutex);
    if (last) {
        entry_free(e);
    }
}

void pl_frame_cache_destroy(pl_frame_cache *c)
{
    if (!c) {
        return;
    }
    while (c->oldest) {
        unlist(c, c->oldest);
    }
    pthread_cond_destroy(&c->made);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}
