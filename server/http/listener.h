/* listener.h - the sockets that the daemon listens on: an address, a unix socket, or both. */
#ifndef PLIANT_SERVER_HTTP_LISTENER_H
#define PLIANT_SERVER_HTTP_LISTENER_H

#include "server/base/options.h"

/* Open the address of the options, or use the service manager's socket; sets the url. -1 with a line in the log. */
int pl_listener_open_address(const pl_options *options, char url[PL_URL_MAX]);
/* The same for a unix socket, creating its file; sets the url only if there is no address. */
int pl_listener_open_unix(const pl_options *options, char url[PL_URL_MAX]);
/* Remove the socket's file, unless it belongs to the service manager. */
void pl_listener_remove_unix(const pl_options *options);
/* The uid at the other end of a connection's descriptor; -1 if it is not a unix socket. */
int64_t pl_listener_peer(int fd);

struct sockaddr;
/* The key by which connections are counted: an address, or for IPv6 its 64-bit network; never 0. */
uint64_t pl_listener_key(const struct sockaddr *address);
/* The peer as text: "127.0.0.1", "unix", "" for NULL. */
void pl_listener_name(const struct sockaddr *address, char out[64]);

/* End the connection if the peer does not acknowledge sent data within the idle timeout, because it has vanished. By
 * default the kernel would retry for a quarter of an hour. No effect on a unix socket. */
void pl_listener_bound_silence(int fd, int idle_s);

#endif
