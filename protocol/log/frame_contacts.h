/* frame_contacts.h - the contacts in a frame's record: points where two bodies, or a body and itself, push
 * each other.
 *
 * A point is, little-endian: the two bodies, i32 each, the lower first; then, f64 in a record of dtype F64 and
 * else f32: where it is, x y z, m; the force of the first body on the second, x y z, N; the gap between them, m.
 */
#ifndef PLIANT_PROTOCOL_LOG_FRAME_CONTACTS_H
#define PLIANT_PROTOCOL_LOG_FRAME_CONTACTS_H

#include "engine/scene/metrics.h"
#include "protocol/log/record.h"

/* Points go to, and come from, a record with this header: pl_frame_point_bytes each. What exceeds a float's
 * range becomes the greatest there is. */
void pl_frame_contacts_encode(const pl_frame_header *h, const pl_contact_point *points,
                              int64_t count, unsigned char *out);
void pl_frame_contacts_decode(const pl_frame_header *h, const unsigned char *stored, int64_t count,
                              pl_contact_point *out);

/* Where they begin in a payload. */
const unsigned char *pl_frame_contacts_at(const pl_frame_header *h, const unsigned char *payload);

#endif
