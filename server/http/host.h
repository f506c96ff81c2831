/* host.h - the host names that the daemon answers to, and the pages that may call it. Both are pure functions of a
 * header's value and the options.
 */
#ifndef PLIANT_SERVER_HTTP_HOST_H
#define PLIANT_SERVER_HTTP_HOST_H

#include "server/base/options.h"

/* True if a Host header's value names this daemon: a loopback name, the listen address, or one of --allow-host; with
 * any port, since a forwarded port is unknown here. A foreign name suggests DNS rebinding. */
bool pl_host_allowed(const pl_options *options, const char *host);

/* True if an Origin header's value is one of the daemon's own pages: http or https on the request's own Host. */
bool pl_origin_allowed(const char *origin, const char *host);

#endif
