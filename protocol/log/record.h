/* record.h - the record: the one binary form of everything that a session writes and streams.
 *
 * Layout, little-endian, 8-aligned: a 48-byte header, the payload, zero bytes up to the next multiple of 8 (not
 * counted in `length`). The records in a session's log and in an HTTP stream of frames are the same bytes, so a
 * stored range is sent unchanged.
 *
 *   offset size
 *        0    4  magic "PLR1"
 *        4    2  format version, 1
 *        6    2  type (pl_record_type)
 *        8    4  flags, 0
 *       12    4  attempt that wrote it; 0: the server
 *       16    8  seq: for records of frame k, k
 *       24    8  frame
 *       32    8  payload length in bytes
 *       40    4  CRC-32C of bytes 0..39
 *       44    4  CRC-32C of the payload
 */
#ifndef PLIANT_PROTOCOL_LOG_RECORD_H
#define PLIANT_PROTOCOL_LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_RECORD_HEADER = 48, PL_RECORD_VERSION = 1, PL_FRAME_HEADER = 32 };
#define PL_RECORD_MAX_PAYLOAD ((uint64_t)1 << 32)

typedef enum pl_record_type {
    PL_RECORD_HELLO = 1,     /* JSON, from the server: format, session, topology reference */
    PL_RECORD_FRAME = 2,     /* pl_frame_header, then the values */
    PL_RECORD_METRICS = 3,   /* JSON */
    PL_RECORD_EPOCH = 4,     /* JSON: a worker's attempt begins or its numerics changed */
    PL_RECORD_HEARTBEAT = 5, /* empty, from the server */
    PL_RECORD_GAP = 6,       /* JSON, from the server: unavailable frames, and the reason */
    PL_RECORD_END = 7,       /* JSON, from the server: {"reason", "state"}; nothing follows */
    PL_RECORD_CONTROL = 8,   /* JSON, in control.log: {"action": "cancel"} */
    PL_RECORD_STATE = 9,     /* JSON, from the server: the session's new state */
} pl_record_type;

typedef struct pl_record {
    uint16_t type;
    uint32_t flags, attempt;
    uint64_t seq, frame;
    uint64_t length;      /* of the payload */
    uint32_t payload_crc; /* as in the header */
} pl_record;

/* Size of a record with this payload, padding included. */
static inline uint64_t pl_record_size(uint64_t payload_length)
{
    return PL_RECORD_HEADER + ((payload_length + 7) & ~(uint64_t)7);
}

/* CRC-32C (Castagnoli), reflected, init and xorout ~0; `crc` is 0 or a previous result. */
uint32_t pl_crc32c(uint32_t crc, const void *data, size_t size);
/* The same from tables, without the processor's instruction; pl_crc32c falls back to it. */
uint32_t pl_crc32c_portable(uint32_t crc, const void *data, size_t size);

/* Writes the header of `r` to out[48]; r->payload_crc must be set. */
void pl_record_encode(const pl_record *r, unsigned char *out);

typedef enum pl_record_outcome {
    PL_RECORD_GOOD,
    PL_RECORD_SHORT,   /* fewer than 48 bytes */
    PL_RECORD_CORRUPT, /* magic, header CRC or a length beyond PL_RECORD_MAX_PAYLOAD */
    PL_RECORD_FOREIGN, /* a good header of a format version that this build does not read */
} pl_record_outcome;
/* Reads a header. Does not check the payload: compare its pl_crc32c with payload_crc. */
pl_record_outcome pl_record_decode(const unsigned char *bytes, size_t size, pl_record *out);

/* ---- the payload of a frame record ---- */

/* F32 and F64 are stored and sent; U16 is only sent. */
typedef enum pl_dtype { PL_DTYPE_F32 = 1, PL_DTYPE_F64 = 2, PL_DTYPE_U16 = 3 } pl_dtype;
enum { PL_FIELD_POSITION = 1, PL_FIELD_VELOCITY = 2, PL_FIELD_STRESS = 4, PL_FIELDS_KNOWN = 7 };
/* Fields of elements instead of vertices: stored after the others, and never sent. Fields of the frame: points at
 * which bodies push each other (frame_contacts.h), last of all. */
enum { PL_FIELD_ELEMENT_STRESS = 8, PL_FIELD_CONTACTS = 16 };
enum { PL_FIELDS_SENT = PL_FIELDS_KNOWN | PL_FIELD_CONTACTS };

/* 32 bytes: dtype u32, fields u32 (bit set), vertex count u32, count of contacts u32, simulated time f64, step u64.
 * Then for each field in bit order count x 3 values, (x, y, z) of a vertex together; for stress von Mises, the
 * greatest principal and the mean stress, Pa. Then for PL_FIELD_ELEMENT_STRESS the same three of each tetrahedron
 * and then of each triangle of cloth, and for PL_FIELD_CONTACTS the points, to the payload's end. With U16, boxes
 * of the vertices' fields precede all values: for each field six f64, the least x, y, z and the greatest; a value q
 * stands for least + q (greatest - least) / 65535. */
typedef struct pl_frame_header {
    uint32_t dtype, fields;
    uint64_t count;
    double time;
    uint64_t step;
    uint64_t elements; /* that have values; follows from the payload's length */
    uint64_t contacts; /* points */
} pl_frame_header;
/* Number of fields of vertices. */
static inline uint64_t pl_frame_fields(const pl_frame_header *h)
{
    return (uint64_t)__builtin_popcount(h->fields & PL_FIELDS_KNOWN);
}
/* Bytes of the three values of one vertex in one field. */
static inline uint64_t pl_frame_value_bytes(const pl_frame_header *h)
{
    return h->dtype == PL_DTYPE_F64   ? 3 * sizeof(double)
           : h->dtype == PL_DTYPE_U16 ? 3 * sizeof(uint16_t)
                                      : 3 * sizeof(float);
}
/* Bytes between the header and the first value. */
static inline uint64_t pl_frame_box_bytes(const pl_frame_header *h)
{
    return h->dtype == PL_DTYPE_U16 ? pl_frame_fields(h) * 6 * sizeof(double) : 0;
}
/* Bytes of a point: the two bodies, i32, and seven f64, or f32 unless the dtype is F64. */
static inline uint64_t pl_frame_point_bytes(const pl_frame_header *h)
{
    return 8 + 7 * (h->dtype == PL_DTYPE_F64 ? sizeof(double) : sizeof(float));
}
/* Bytes of everything after the header. */
static inline uint64_t pl_frame_body_bytes(const pl_frame_header *h)
{
    return pl_frame_box_bytes(h) +
           (h->count * pl_frame_fields(h) + h->elements) * pl_frame_value_bytes(h) +
           h->contacts * pl_frame_point_bytes(h);
}
void pl_frame_header_encode(const pl_frame_header *h, unsigned char *out);
/* False if it is not a header, or its counts do not match the payload's length. */
bool pl_frame_header_decode(const unsigned char *payload, uint64_t length, pl_frame_header *out);

#endif
