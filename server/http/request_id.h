/* request_id.h - the id of a request, by which logs of several programs are matched: the client's trace (traceparent of
 * W3C's Trace Context), or one of the daemon's. 32 hex digits, so that no client's text is taken over.
 */
#ifndef PLIANT_SERVER_HTTP_REQUEST_ID_H
#define PLIANT_SERVER_HTTP_REQUEST_ID_H

/* traceparent may be NULL; one that is not valid counts as not sent. */
void pl_request_id_make(const char *traceparent, char out[33]);

#endif
