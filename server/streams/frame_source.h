/* frame_source.h - the frames of a session in the form that a request asks for, through the cache that
 * all requests share: dtype, vertices, fields; as records or as lines of JSON.
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

/* What a request asks for and what it will get. */
typedef struct pl_frame_view {
    pl_frame_variant variant; /* settled: dtype and fields are those that are sent */
    bool as_stored;           /* the stored records are what is asked for */
    pl_frame_form form;
    int64_t vertices; /* in each frame that is sent */
} pl_frame_view;

/* The keys dtype, vertices and fields of the query, held against what the session stores. False after
 * replying: 400 for what is no such thing, or is not stored; 404 for a surface that is not known. */
bool pl_frame_view_parse(pl_request *r, const pl_stream_hub *hub, pl_session *session,
                         pl_log_reader *reader, pl_frame_form form, pl_frame_view *out);

/* The key of a frame in the cache, for pl_frame_source_get; with .form = PL_FRAME_METRICS alone that
 * of its metrics. */
pl_frame_key pl_frame_view_key(const pl_frame_view *view, const pl_session *session, int64_t frame);
/* The bytes of the frame that the key names, to be put back to the cache; *reader is opened
 * where it is NULL and needed. NULL with errno:
 * EAGAIN not committed yet, EBADMSG damaged, ENODATA pruned, EINVAL lacks what is asked for, or of the disk. */
const pl_blob *pl_frame_source_get(pl_frame_cache *cache, pl_session *session,
                                   pl_log_reader **reader, const pl_frame_key *key);

#endif
