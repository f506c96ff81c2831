/* buckets.h - the metrics of a long run in so many pieces: of each number its least and its greatest in
 * a piece, so that a curve drawn of them shows every peak.
 */
#ifndef PLIANT_SERVER_STREAMS_BUCKETS_H
#define PLIANT_SERVER_STREAMS_BUCKETS_H

#include "server/http/http.h"
#include "server/sessions/session.h"

enum { PL_BUCKETS_MAX = 2000, PL_BUCKET_RECORDS_MAX = 100000 };

/* Replies with lines {"from", "to", "count", "min": {path: number}, "max": {...}}, `buckets` at the most,
 * of the frames from..to that are there. Of a run with more than PL_BUCKET_RECORDS_MAX frames every n-th
 * is looked at, and the first line, {"event": "hello", ...}, says so. */
void pl_reply_buckets(pl_request *r, pl_session *session, int64_t buckets);

#endif
