/* rate.h - rate limits: a token bucket for each user, and one for each address for requests without a credential. A
 * user's rate is one of their limits (limits.h). A bucket fills at its rate and holds ten seconds' worth. Each request
 * takes one token, a stream one when it is opened. The owner's token and health requests are never rejected.
 *
 * Both tables have a fixed size. When one is full, the least recently used bucket is given to the newcomer; its former
 * user starts again with a full one. Addresses never displace users.
 */
#ifndef PLIANT_SERVER_TENANTS_RATE_H
#define PLIANT_SERVER_TENANTS_RATE_H

#include "server/http/http.h"
#include "server/tenants/tenants.h"

typedef struct pl_rate pl_rate;

/* The options give the rate of an address, the tenants that of a user. NULL: out of memory. */
pl_rate *pl_rate_create(const pl_options *options, pl_tenants *tenants, pl_counters *counters);
void pl_rate_destroy(pl_rate *rate);

/* Accepted requests per second of a user, over about the last ten seconds; requests exempt from limits are not
 * counted. */
double pl_rate_of_user(pl_rate *rate, const char *user, int64_t now_ms);

/* Check a request with known route and principal by a pl_rate; false after replying 429. */
bool pl_rate_allows(void *rate, pl_request *r);

#endif
