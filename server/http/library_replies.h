/* library_replies.h - replaces the HTML pages that the HTTP library sends for requests that it cannot parse. The
 * library queues them through a public function, which this file overrides to turn them into problem documents. If a
 * build of the library prevents that, its own pages go out.
 */
#ifndef PLIANT_SERVER_HTTP_LIBRARY_REPLIES_H
#define PLIANT_SERVER_HTTP_LIBRARY_REPLIES_H

struct MHD_Connection;
struct MHD_Response;

/* Queue a reply of the daemon. */
int pl_library_queue(struct MHD_Connection *connection, unsigned int status,
                     struct MHD_Response *response);

#endif
