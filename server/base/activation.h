/* activation.h - sockets opened by a service manager, as in sd_listen_fds(3), without libsystemd. They replace
 * --listen; connections wait while one daemon replaces another.
 */
#ifndef PLIANT_SERVER_BASE_ACTIVATION_H
#define PLIANT_SERVER_BASE_ACTIVATION_H

#include "server/base/options.h"

/* Takes the sockets that LISTEN_PID and LISTEN_FDS announce: an address, a unix socket, or both. The options then name
 * their addresses. Unsets LISTEN_*, so that no child process uses them. Call once, before the first thread. False, with
 * the reason in the log or on standard error, if the daemon must not listen there. */
bool pl_activation_take(pl_options *options);
/* Descriptors of the sockets; -1 if not given. */
int pl_activation_address(void);
int pl_activation_unix(void);

#endif
