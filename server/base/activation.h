/* activation.h - sockets that a service manager has opened, as sd_listen_fds(3) describes them, without libsystemd.
 * They take the place of --listen, so that connections wait while a daemon is replaced by the next one.
 */
#ifndef PLIANT_SERVER_BASE_ACTIVATION_H
#define PLIANT_SERVER_BASE_ACTIVATION_H

#include "server/base/options.h"

/* Takes the sockets that LISTEN_PID and LISTEN_FDS announce: an address, a unix socket, or both. The options then name
 * their addresses. Unsets LISTEN_*, so that no child process takes them for its own. Call once, before the first
 * thread. False, with the reason in the log or on standard error, if the daemon may not listen there. */
bool pl_activation_take(pl_options *options);
/* Their descriptors; -1: none was given. */
int pl_activation_address(void);
int pl_activation_unix(void);

#endif
