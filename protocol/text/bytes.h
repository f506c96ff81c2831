/* bytes.h - little-endian numbers in byte buffers; private to protocol/. */
#ifndef PLIANT_PROTOCOL_TEXT_BYTES_H
#define PLIANT_PROTOCOL_TEXT_BYTES_H

#include <stdint.h>
#include <string.h>

/* Frames are written as the arrays lie in memory. A big-endian machine would need a byte-swapped copy of every
 * frame; none is supported. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are little-endian");

#define PL_NUMBER_BYTES(name, type)                                                                \
    static inline void pl_put_##name(unsigned char *out, type v)                                   \
    {                                                                                              \
        memcpy(out, &v, sizeof v);                                                                 \
    }                                                                                              \
    static inline type pl_get_##name(const unsigned char *in)                                      \
    {                                                                                              \
        type v;                                                                                    \
        memcpy(&v, in, sizeof v);                                                                  \
        return v;                                                                                  \
    }
PL_NUMBER_BYTES(u16, uint16_t)
PL_NUMBER_BYTES(u32, uint32_t)
PL_NUMBER_BYTES(u64, uint64_t)
PL_NUMBER_BYTES(f64, double)
#undef PL_NUMBER_BYTES

#endif
