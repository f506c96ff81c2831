/* frame_variant.h - a frame's record in a form other than the stored one: other numbers (half the bytes as u16,
 * quantised in the frame's own box), only the vertices of the surface, some of the fields. Pure functions of bytes;
 * the caller may cache results.
 */
#ifndef PLIANT_PROTOCOL_LOG_FRAME_VARIANT_H
#define PLIANT_PROTOCOL_LOG_FRAME_VARIANT_H

#include "engine/scene/fault.h"
#include "protocol/log/record.h"

typedef struct pl_frame_variant {
    uint32_t dtype;  /* pl_dtype; 0: as stored */
    uint32_t fields; /* bits PL_FIELD_*; 0: as stored */
    bool surface;    /* only the vertices of the surface map, in its order */
} pl_frame_variant;

/* "f32", "f64", "u16"; NULL for another value. */
const char *pl_dtype_name(uint32_t dtype);
bool pl_dtype_parse(const char *name, uint32_t *out);
/* "position", "position,velocity": the bits of a list of field names, each at most once. False if a name is
 * unknown; *wrong then points at it, up to a comma or the end. */
bool pl_fields_parse(const char *list, uint32_t *out, const char **wrong);
/* The name of one bit, including PL_FIELD_ELEMENT_STRESS; NULL for another value. And the bit of one name, or 0. */
const char *pl_field_name(uint32_t field);
uint32_t pl_field_parse(const char *name);

/* Fills in a variant's open choices from the stored record. True if the stored record is then already the requested
 * one. */
bool pl_frame_variant_settle(pl_frame_variant *v, const pl_frame_header *stored);

/* The whole record, header and padding included, malloc'ed, of a stored frame's payload, whose CRC the caller has
 * checked. `map` lists the surface's vertices in ascending order (for a variant with `surface`). PL_INVALID if the
 * payload is not a frame of floats, or lacks a requested field or a vertex of the map; PL_NO_MEMORY. */
pl_status pl_frame_variant_encode(const pl_frame_variant *v, const pl_record *stored,
                                  const char *payload, const int32_t *map, int64_t map_count,
                                  char **out, size_t *size);

/* Values of one field of a frame's payload, whatever its dtype, as floats: out[count][3]. False if the frame has no
 * such field. The header is the payload's. */
bool pl_frame_values(const pl_frame_header *h, const char *payload, uint32_t field, float *out);

#endif
