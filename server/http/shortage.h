/* shortage.h - replies to requests that failed for lack of a resource that may become available: disk space, a writable
 * disk, open files, memory, processes. */
#ifndef PLIANT_SERVER_HTTP_SHORTAGE_H
#define PLIANT_SERVER_HTTP_SHORTAGE_H

#include "server/http/http.h"

/* True if a later try may succeed: no open files, memory or processes are left. */
bool pl_is_shortage(int error);
/* Reply 507 disk_full, 503 disk_error or 503 busy for this errno, with Retry-After, and record a disk error. False,
 * without a reply, for any other errno. */
bool pl_reply_shortage(pl_request *r, int error);

#endif
