/* frame_contacts.h - the contacts in a frame's record: points at which two bodies, or parts of one body, push each
 * other.
 *
 * A point is, little-endian: the two bodies, i32 each, the lower first; then, f64 in a record of dtype F64 and else
 * f32: its position, x y z, m; the force of the first body on the second, x y z, N; the gap between them, m.
 */
#ifndef PLIANT_PROTOCOL_LOG_FRAME_CONTACTS_H
#define PLIANT_PROTOCOL_LOG_FRAME_CONTACTS_H

#include "engine/scene/metrics.h"
#include "protocol/log/record.h"

/* Write points into, and read them from, a record with this header: pl_frame_point_bytes each. A number beyond a
 * float's range becomes the greatest float. */
void pl_frame_contacts_encode(const pl_frame_header *h, const pl_contact_point *points,
                              int64_t count, unsigned char *out);
void pl_frame_contacts_decode(const pl_frame_header *h, const unsigned char *stored, int64_t count,
                              pl_contact_point *out);

/* Their offset in a payload. */
const unsigned char *pl_frame_contacts_at(const pl_frame_header *h, const unsigned char *payload);

#endif
