#include "engine/mesh/numbers.h"

#include <math.h>
#include <string.h>

int pl_number_bytes(pl_number_type type)
{
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};
    return bytes[type];
}

/* The bytes as an unsigned number of this machine's order. */
static uint64_t load(const char *at, int bytes, bool swap)
{
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (bytes) {
    case 1:
        memcpy(&a, at, sizeof a);
        return a;
    case 2:
        memcpy(&b, at, sizeof b);
        return swap ? __builtin_bswap16(b) : b;
    case 4:
        memcpy(&c, at, sizeof c);
        return swap ? __builtin_bswap32(c) : c;
    default:
        memcpy(&d, at, sizeof d);
        return swap ? __builtin_bswap64(d) : d;
    }
}

static double as_float(uint64_t bits, pl_number_type type)
{
    double wide;
    float narrow;
    uint32_t low = (uint32_t)bits;
    if (type == PL_NUMBER_F32) {
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

int64_t pl_number_integer(const char *at, pl_number_type type, bool swap)
{
    uint64_t bits = load(at, pl_number_bytes(type), swap);
    switch (type) {
    case PL_NUMBER_I8:
        return (int8_t)bits;
    case PL_NUMBER_I16:
        return (int16_t)bits;
    case PL_NUMBER_I32:
        return (int32_t)bits;
    case PL_NUMBER_I64:
        return (int64_t)bits;
    case PL_NUMBER_F32:
    case PL_NUMBER_F64: {
        double value = as_float(bits, type);
        return fabs(value) < 9e15 && value == floor(value) ? (int64_t)value : -1;
    }
    default:
        return bits > INT64_MAX ? -1 : (int64_t)bits;
    }
}

double pl_number_real(const char *at, pl_number_type type, bool swap)
{
    if (pl_number_is_float(type))
        return as_float(load(at, pl_number_bytes(type), swap), type);
    return (double)pl_number_integer(at, type, swap);
}
