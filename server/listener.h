/* listener.h - the socket that connections come to. */
#ifndef PLIANT_SERVER_LISTENER_H
#define PLIANT_SERVER_LISTENER_H

#include "server/daemon.h"

/* Bound and listening as the options say; sets daemon->url. -1 with a line in the log. */
int pl_listener_open(pl_daemon *daemon);

#endif
