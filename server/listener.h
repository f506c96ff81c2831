/* listener.h - the socket that connections come to. */
#ifndef PLIANT_SERVER_LISTENER_H
#define PLIANT_SERVER_LISTENER_H

#include "server/daemon.h"

/* Bound and listening as the options say; sets daemon->url. -1 with a line in the log. */
int pl_listener_open(pl_daemon *daemon);

struct sockaddr;
/* The other end as text: "127.0.0.1", "unix", "" for NULL. */
void pl_listener_name(const struct sockaddr *address, char out[64]);

#endif
