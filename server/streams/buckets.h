/* buckets.h - the metrics of a long run reduced to a given number of buckets: the minimum and maximum of each number in
 * each bucket, so that a plot shows every peak.
 */
#ifndef PLIANT_SERVER_STREAMS_BUCKETS_H
#define PLIANT_SERVER_STREAMS_BUCKETS_H

#include "server/http/http.h"
#include "server/sessions/session.h"

enum { PL_BUCKETS_MAX = 2000, PL_BUCKET_RECORDS_MAX = 100000 };

/* Reply with lines {"from", "to", "count", "min": {path: number}, "max": {...}}, at most `buckets`, for the existing
 * frames of from..to. For a run with more than PL_BUCKET_RECORDS_MAX frames, only every n-th frame is read; the first
 * line, {"event": "hello", ...}, says so. */
void pl_reply_buckets(pl_request *r, pl_session *session, int64_t buckets);

#endif
