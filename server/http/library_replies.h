/* library_replies.h - the HTTP library answers what it cannot parse by itself, with pages of HTML. It queues them as
 * anyone does, through a function that this file puts itself in front of: they become problem documents. Where a build
 * of the library does not let that be done, its own pages go out.
 */
#ifndef PLIANT_SERVER_HTTP_LIBRARY_REPLIES_H
#define PLIANT_SERVER_HTTP_LIBRARY_REPLIES_H

struct MHD_Connection;
struct MHD_Response;

/* Queue a reply of ours. */
int pl_library_queue(struct MHD_Connection *connection, unsigned int status,
                     struct MHD_Response *response);

#endif
