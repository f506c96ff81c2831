/* frame_source.h - the frames of a session in the form that a request asks for (dtype, vertices, fields; as records or
 * as lines of JSON), through the cache that all requests share.
 */
#ifndef PLIANT_SERVER_STREAMS_FRAME_SOURCE_H
#define PLIANT_SERVER_STREAMS_FRAME_SOURCE_H

#include "protocol/log/frame_variant.h"
#include "protocol/log/log.h"
#include "server/streams/frame_cache.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"
#include "server/streams/stream_hub.h"

enum { PL_LINE_VERTICES_MAX = 10000 }; /* of a frame as a line of JSON */

/* The request's form and its resolution. */
typedef struct pl_frame_view {
    pl_frame_variant variant; /* resolved: the dtype and fields to send */
    bool as_stored;           /* the stored records already have the requested form */
    pl_frame_form form;
    int64_t vertices; /* in each frame that is sent */
} pl_frame_view;

/* Read dtype, vertices and fields of the query and check them against the session. False after replying: 400 for an
 * invalid or unstored value; 404 for an unknown surface. */
bool pl_frame_view_parse(pl_request *r, const pl_stream_hub *hub, pl_session *session,
                         pl_log_reader *reader, pl_frame_form form, pl_frame_view *out);

/* The key of a frame in the cache, for pl_frame_source_get; with .form = PL_FRAME_METRICS, the key of its metrics. */
pl_frame_key pl_frame_view_key(const pl_frame_view *view, const pl_session *session, int64_t frame);
/* The bytes of the key's frame, which the caller must put back to the cache; *reader is opened if it is NULL and
 * needed. NULL with errno: EAGAIN not committed yet, EBADMSG damaged, ENODATA pruned, EINVAL lacks the requested data,
 * or an error of the disk. */
const pl_blob *pl_frame_source_get(pl_frame_cache *cache, pl_session *session,
                                   pl_log_reader **reader, const pl_frame_key *key);

#endif
