/* listener.h - the sockets that connections come to: an address, a unix socket, or both. */
#ifndef PLIANT_SERVER_HTTP_LISTENER_H
#define PLIANT_SERVER_HTTP_LISTENER_H

#include "server/base/options.h"

/* Open the address of the options, or take the service manager's socket; sets the url. -1 with a line in the log. */
int pl_listener_open_address(const pl_options *options, char url[PL_URL_MAX]);
/* The same of a unix socket, whose file is made; sets the url only where there is no address. */
int pl_listener_open_unix(const pl_options *options, char url[PL_URL_MAX]);
/* Removes that file, unless it belongs to the service manager. */
void pl_listener_remove_unix(const pl_options *options);
/* The uid at the other end of a connection's descriptor; -1 where that is no unix socket. */
int64_t pl_listener_peer(int fd);

struct sockaddr;
/* What connections are counted by: an address, of IPv6 its network of 64 bits; never 0. */
uint64_t pl_listener_key(const struct sockaddr *address);
/* The other end as text: "127.0.0.1", "unix", "" for NULL. */
void pl_listener_name(const struct sockaddr *address, char out[64]);

/* What was sent and is not acknowledged, because the peer is gone without a word, for as long as an idle
 * connection may be: then it is over. The kernel alone would try for a quarter of an hour. Of no use on a unix socket. */
void pl_listener_bound_silence(int fd, int idle_s);

#endif
