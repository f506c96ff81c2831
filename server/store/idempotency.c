#include "server/store/idempotency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 24 * 3600 };

typedef struct found {
    bool any;
    int status;
    char *body_hash, *reply, *location;
} found;

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void see(void *context, const char *const *columns)
{
    found *f = context;
    *f = (found){true, atoi(columns[1] ? columns[1] : "0"), copy(columns[0]), copy(columns[2]),
                 copy(columns[3])};
}

pl_key_outcome pl_key_begin(pl_store *store, const char *owner, const char *route, const char *key,
                            const char *body_hash, int *status, char **reply, char **location)
{
    /* Reserve before reading: a request that commits a reply releases the key only afterwards. */
    if (!pl_busy_keys_take(pl_store_busy(store), owner, route, key)) {
        return PL_KEY_IN_PROGRESS;
    }
    char day_ago[24];
    snprintf(day_ago, sizeof day_ago, "%lld", (long long)(time(NULL) - DAY_S));
    pl_statement s = {"SELECT body_hash, status, reply, location FROM keys"
                      " WHERE owner=? AND route=? AND key=? AND created>=?",
                      {owner, route, key, day_ago},
                      4};
    found f = {0};
    bool read = pl_store_read(store, &s, see, &f);
    if (read && !f.any) {
        return PL_KEY_NEW;
    }
    bool broken = !read || !f.body_hash || !f.reply || !f.location;
    bool same = !broken && strcmp(f.body_hash, body_hash) == 0;
    free(f.body_hash);
    if (same) {
        *status = f.status;
        *reply = f.reply;
        *location = f.location;
    } else {
        free(f.reply);
        free(f.location);
    }
    pl_key_end(store, owner, route, key);
    return broken ? PL_KEY_BROKEN : same ? PL_KEY_SEEN : PL_KEY_OTHER_BODY;
}

void pl_key_end(pl_store *store, const char *owner, const char *route, const char *key)
{
    pl_busy_keys_remove(pl_store_busy(store), owner, route, key);
}

void pl_keys_sweep(pl_store *store)
{
    char day_ago[24];
    snprintf(day_ago, sizeof day_ago, "%lld", (long long)(time(NULL) - DAY_S));
    pl_store_change(store, &(pl_statement){"DELETE FROM keys WHERE created<?", {day_ago}, 1}, 1);
}
