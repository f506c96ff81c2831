/* request_id.h - the id of a request, which matches the logs of several programs: the client's trace (traceparent of
 * W3C's Trace Context), or a new one. 32 hex digits, so that no client text is copied.
 */
#ifndef PLIANT_SERVER_HTTP_REQUEST_ID_H
#define PLIANT_SERVER_HTTP_REQUEST_ID_H

/* traceparent may be NULL; an invalid one is ignored. */
void pl_request_id_make(const char *traceparent, char out[33]);

#endif
