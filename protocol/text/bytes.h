/* bytes.h - little-endian numbers in byte buffers; private to protocol/. */
#ifndef PLIANT_PROTOCOL_TEXT_BYTES_H
#define PLIANT_PROTOCOL_TEXT_BYTES_H

#include <stdint.h>
#include <string.h>

/* Frames are written as the arrays lie in memory. A big-endian machine would need a copy of every
 * frame, turned round; nobody has asked for one. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are little-endian");

static inline void pl_put_u16(unsigned char *out, uint16_t v)
{
    memcpy(out, &v, sizeof v);
}
static inline void pl_put_u32(unsigned char *out, uint32_t v)
{
    memcpy(out, &v, sizeof v);
}
static inline void pl_put_u64(unsigned char *out, uint64_t v)
{
    memcpy(out, &v, sizeof v);
}
static inline void pl_put_f64(unsigned char *out, double v)
{
    memcpy(out, &v, sizeof v);
}

static inline uint16_t pl_get_u16(const unsigned char *in)
{
    uint16_t v;
    memcpy(&v, in, sizeof v);
    return v;
}

static inline uint32_t pl_get_u32(const unsigned char *in)
{
    uint32_t v;
    memcpy(&v, in, sizeof v);
    return v;
}

static inline uint64_t pl_get_u64(const unsigned char *in)
{
    uint64_t v;
    memcpy(&v, in, sizeof v);
    return v;
}

static inline double pl_get_f64(const unsigned char *in)
{
    double v;
    memcpy(&v, in, sizeof v);
    return v;
}

#endif
