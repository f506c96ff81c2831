/* host.h - the names that the daemon answers to, and the pages that may call it. Both are pure functions
 * of a header's value and the options.
 */
#ifndef PLIANT_SERVER_HTTP_HOST_H
#define PLIANT_SERVER_HTTP_HOST_H

#include "server/base/options.h"

/* Whether a Host header's value names this daemon: a loopback name, the listen address, or one of
 * --allow-host; any port, since a forwarded port is not ours to know. A foreign name is what DNS
 * rebinding looks like. */
bool pl_host_allowed(const pl_options *options, const char *host);

/* Whether an Origin header's value is a page of ours: http or https on the request's own Host. */
bool pl_origin_allowed(const char *origin, const char *host);

#endif
