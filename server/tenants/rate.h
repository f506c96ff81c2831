/* rate.h - how often one may ask: a bucket of tokens a user, and one an address for requests without a credential.
 * A user's rate is one of their limits (limits.h). A bucket fills at its rate and holds ten seconds' worth; each request takes one, a stream one when it is opened.
 * The owner's token, and what asks whether the daemon is well, are never refused.
 *
 * Both tables are of fixed size. Where one is full the bucket that was unused for longest is given to the newcomer:
 * whoever lost it has a full one again. Addresses never take a user's.
 */
#ifndef PLIANT_SERVER_TENANTS_RATE_H
#define PLIANT_SERVER_TENANTS_RATE_H

#include "server/http/http.h"
#include "server/tenants/tenants.h"

typedef struct pl_rate pl_rate;

/* The options say what an address may, the tenants what a user may. NULL out of memory. */
pl_rate *pl_rate_create(const pl_options *options, pl_tenants *tenants, pl_counters *counters);
void pl_rate_destroy(pl_rate *rate);

/* Requests a second of a user that were let in, over about the last ten seconds; those that a limit does not count are
 * not in it. */
double pl_rate_of_user(pl_rate *rate, const char *user, int64_t now_ms);

/* Judge by a pl_rate a request whose route and principal are known; false after replying 429. */
bool pl_rate_allows(void *rate, pl_request *r);

#endif
