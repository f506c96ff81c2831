/* shortage.h - replies to requests that failed for lack of something that comes back: room on the disk, a disk that
 * can be written, open files, memory, processes. */
#ifndef PLIANT_SERVER_HTTP_SHORTAGE_H
#define PLIANT_SERVER_HTTP_SHORTAGE_H

#include "server/http/http.h"

/* Whether it will be better to try again: no open files, memory or processes are left. */
bool pl_is_shortage(int error);
/* 507 disk_full, 503 disk_error or 503 busy by this errno, with Retry-After; the daemon notes what is wrong with the
 * disk. False, without a reply, where the errno is another. */
bool pl_reply_shortage(pl_request *r, int error);

#endif
