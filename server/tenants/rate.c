#include "server/tenants/rate.h"

#include "server/http/request.h"
#include "server/base/clock.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key is in one of WAYS places, so a look-up checks that many. About 100 bytes per place, 600 KB in all. */
enum { WAYS = 8, SETS = 512, KEY = 72, BURST_S = 10 };

typedef struct bucket {
    char key[KEY]; /* "" for none */
    double tokens;
    double lately; /* requests per second at that time, over about BURST_S */
    int64_t at_ms; /* when it was last filled */
} bucket;

typedef struct table {
    pthread_mutex_t mutex; /* innermost */
    bucket (*sets)[WAYS];
} table;

struct pl_rate {
    table users, addresses;
    const pl_options *options; /* address_rate: requests a second, 0 for no limit */
    pl_tenants *tenants;
    pl_counters *counters;
};

/* ---- the tables ---- */

static bool open_table(table *t)
{
    pthread_mutex_init(&t->mutex, NULL);
    t->sets = calloc(SETS, sizeof *t->sets);
    return t->sets;
}

pl_rate *pl_rate_create(const pl_options *options, pl_tenants *tenants, pl_counters *counters)
{
    pl_rate *rate = calloc(1, sizeof *rate);
    if (!rate) {
        return NULL;
    }
    rate->options = options;
    rate->tenants = tenants;
    rate->counters = counters;
    bool good = open_table(&rate->users);
    if (!open_table(&rate->addresses) || !good) {
        pl_rate_destroy(rate);
        return NULL;
    }
    return rate;
}

void pl_rate_destroy(pl_rate *rate)
{
    if (rate) {
        pthread_mutex_destroy(&rate->users.mutex);
        pthread_mutex_destroy(&rate->addresses.mutex);
        free(rate->users.sets);
        free(rate->addresses.sets);
        free(rate);
    }
}

/* FNV-1a */
static uint32_t hash(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key; key++) {
        h = (h ^ (unsigned char)*key) * 16777619u;
    }
    return h ^ h >> 15;
}

/* The present weight of counted requests: each counts 1 / BURST_S per second, and decays by a factor e in BURST_S. */
static double fade(const bucket *b, int64_t now_ms)
{
    return b->lately * exp(-(double)(now_ms - b->at_ms) / (1000.0 * BURST_S));
}

/* The key's bucket; if it has none, the least recently used one, filled. */
static bucket *find(table *t, const char *key, double rate, int64_t now_ms)
{
    bucket *set = t->sets[hash(key) % SETS], *oldest = set;
    for (int i = 0; i < WAYS; i++) {
        if (strcmp(set[i].key, key) == 0) {
            return &set[i];
        }
        if (set[i].at_ms < oldest->at_ms) {
            oldest = &set[i];
        }
    }
    *oldest = (bucket){.tokens = BURST_S * rate, .at_ms = now_ms};
    snprintf(oldest->key, sizeof oldest->key, "%s", key);
    return oldest;
}

static int take(table *t, const char *key, int64_t a_second, int64_t now_ms)
{
    double rate = (double)a_second, most = BURST_S * rate;
    pthread_mutex_lock(&t->mutex);
    bucket *b = find(t, key, rate, now_ms);
    double tokens = b->tokens + rate * (double)(now_ms - b->at_ms) / 1000;
    b->tokens = tokens > most ? most : tokens;
    bool there = b->tokens >= 1;
    b->lately = fade(b, now_ms) + (there ? 1.0 / BURST_S : 0);
    b->at_ms = now_ms;
    int wait = there ? 0 : 1 + (int)((1 - b->tokens) / rate);
    b->tokens -= there;
    pthread_mutex_unlock(&t->mutex);
    return wait;
}

/* Take a token from a user's or an address's bucket at a time in ms. Returns 0, or the seconds until one is available.
 * A user's rate may have changed since the last time. */
static int take_of_user(pl_rate *rate, const char *user, int64_t a_second, int64_t now_ms)
{
    return a_second == INT64_MAX ? 0 : take(&rate->users, user, a_second, now_ms);
}

double pl_rate_of_user(pl_rate *rate, const char *user, int64_t now_ms)
{
    table *t = &rate->users;
    double lately = 0;
    pthread_mutex_lock(&t->mutex);
    const bucket *set = t->sets[hash(user) % SETS];
    for (int i = 0; i < WAYS; i++) {
        lately += strcmp(set[i].key, user) == 0 ? fade(&set[i], now_ms) : 0;
    }
    pthread_mutex_unlock(&t->mutex);
    return lately;
}

/* An IPv6 network of 64 bits belongs to one party, so it counts as one address. */
static int take_of_address(pl_rate *rate, const char *address, int64_t now_ms)
{
    unsigned char v6[16];
    char key[KEY];
    if (rate->options->address_rate == 0) {
        return 0;
    }
    snprintf(key, sizeof key, "%s", address);
    if (inet_pton(AF_INET6, address, v6) == 1) {
        static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
        if (memcmp(v6, mapped, sizeof mapped) == 0) {
            inet_ntop(AF_INET, v6 + 12, key, sizeof key);
        } else {
            memset(v6 + 8, 0, 8);
            inet_ntop(AF_INET6, v6, key, sizeof key);
        }
    }
    return take(&rate->addresses, key, rate->options->address_rate, now_ms);
}

/* ---- requests ---- */

bool pl_rate_allows(void *context, pl_request *r)
{
    pl_rate *rate = context;
    const pl_principal *p = r->principal;
    if (r->route->unlimited || (p && p->came == PL_CAME_OWNER)) {
        return true;
    }
    /* Many people may have a link: requests count against their address, not against the user who created it. */
    const pl_options *o = rate->options;
    bool of_user = p && p->came != PL_CAME_LINK && p->came != PL_CAME_SIGNED;
    int64_t most = o->address_rate;
    int wait = 0;
    if (of_user) {
        most = pl_tenants_limits(rate->tenants, p->user).value[PL_LIMIT_REQUESTS];
        wait = take_of_user(rate, p->user, most, pl_monotonic_ms());
    } else if (!pl_options_loopback(o) || o->behind_proxy) {
        char address[64];
        pl_request_address(r, address);
        wait = take_of_address(rate, address, pl_monotonic_ms());
    }
    if (wait == 0) {
        return true;
    }
    atomic_fetch_add(&rate->counters->rate_refusals, 1);
    pl_reply_problemf(r, 429, "too_many_requests", "Too many requests",
                      "%s may send %lld requests a second; try again in %d s",
                      of_user ? "this user" : "an address without a credential", (long long)most,
                      wait);
    pl_reply_header(r, "Retry-After", "%d", wait);
    return false;
}
