#include "engine/mesh/inflate.h"

#include <stdint.h>
#include <string.h>

enum { BITS_MAX = 15, LENGTHS = 288, DISTANCES = 30, LITERALS = 286 };

typedef struct inflater {
    const uint8_t *at, *end;
    uint8_t *out;
    size_t used, size;
    uint32_t held; /* bits not used yet, the next one lowest */
    int bits;
} inflater;

/* A canonical Huffman code: how many codes have each length, and the symbols in the codes' order. */
typedef struct huffman {
    uint16_t count[BITS_MAX + 1], symbol[LENGTHS];
} huffman;

/* The next `need` (0 to 16) bits; -1 at the end of the data. */
static int take_bits(inflater *f, int need)
{
    while (f->bits < need) {
        if (f->at == f->end)
            return -1;
        f->held |= (uint32_t)*f->at++ << f->bits;
        f->bits += 8;
    }
    int value = (int)(f->held & ((1u << need) - 1));
    f->held >>= need;
    f->bits -= need;
    return value;
}

/* False where the lengths are of more codes than there can be. */
static bool build(huffman *h, const uint8_t *lengths, int n)
{
    uint16_t first[BITS_MAX + 2] = {0};
    int left = 1;
    memset(h->count, 0, sizeof h->count);
    for (int i = 0; i < n; i++)
        h->count[lengths[i]]++;
    h->count[0] = 0;
    for (int b = 1; b <= BITS_MAX; b++) {
        left = 2 * left - h->count[b];
        if (left < 0)
            return false;
        first[b + 1] = (uint16_t)(first[b] + h->count[b]);
    }
    for (int i = 0; i < n; i++)
        if (lengths[i])
            h->symbol[first[lengths[i]]++] = (uint16_t)i;
    return true;
}

/* Bit by bit: codes of one length are consecutive numbers. -1 where there is none. */
static int decode(inflater *f, const huffman *h)
{
    int code = 0, first = 0, index = 0;
    for (int b = 1; b <= BITS_MAX; b++) {
        int bit = take_bits(f, 1);
        if (bit < 0)
            return -1;
        code |= bit;
        if (code - h->count[b] < first)
            return h->symbol[index + (code - first)];
        index += h->count[b];
        first = (first + h->count[b]) * 2;
        code *= 2;
    }
    return -1;
}

/* A match: its length's symbol is `symbol`. */
static bool copy_match(inflater *f, const huffman *distances, int symbol)
{
    static const uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t base[DISTANCES] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    int extra = take_bits(f, length_bits[symbol]);
    int which = decode(f, distances);
    if (extra < 0 || which < 0 || which >= DISTANCES)
        return false;
    size_t length = (size_t)length_base[symbol] + (size_t)extra;
    extra = take_bits(f, which < 2 ? 0 : which / 2 - 1);
    size_t distance = (size_t)base[which] + (size_t)extra;
    if (extra < 0 || distance > f->used || length > f->size - f->used)
        return false;
    for (size_t i = 0; i < length; i++, f->used++)
        f->out[f->used] = f->out[f->used - distance];
    return true;
}

static bool read_codes(inflater *f, const huffman *literals, const huffman *distances)
{
    for (;;) {
        int symbol = decode(f, literals);
        if (symbol == 256)
            return true;
        if (symbol < 0 || symbol >= LITERALS)
            return false;
        if (symbol > 256) {
            if (!copy_match(f, distances, symbol - 257))
                return false;
        } else if (f->used == f->size) {
            return false;
        } else {
            f->out[f->used++] = (uint8_t)symbol;
        }
    }
}

static bool read_stored(inflater *f)
{
    f->held = 0;
    f->bits = 0;
    if (f->end - f->at < 4)
        return false;
    size_t n = (size_t)f->at[0] | (size_t)f->at[1] << 8;
    size_t inverse = (size_t)f->at[2] | (size_t)f->at[3] << 8;
    f->at += 4;
    if ((n ^ inverse) != 0xffff || n > (size_t)(f->end - f->at) || n > f->size - f->used)
        return false;
    memcpy(f->out + f->used, f->at, n);
    f->at += n;
    f->used += n;
    return true;
}

static bool read_fixed(inflater *f)
{
    uint8_t lengths[LENGTHS];
    huffman literals, distances;
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    build(&literals, lengths, LENGTHS);
    memset(lengths, 5, DISTANCES);
    build(&distances, lengths, DISTANCES);
    return read_codes(f, &literals, &distances);
}

/* The code lengths of a dynamic block, themselves coded. */
static bool read_lengths(inflater *f, const huffman *code, uint8_t *lengths, int n)
{
    for (int i = 0; i < n;) {
        int symbol = decode(f, code), before = 0, repeat;
        if (symbol < 0)
            return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0)
            return false;
        if (symbol == 16)
            before = lengths[i - 1];
        int bits = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        repeat = take_bits(f, bits);
        if (repeat < 0)
            return false;
        repeat += symbol == 18 ? 11 : 3;
        if (repeat > n - i)
            return false;
        memset(lengths + i, before, (size_t)repeat);
        i += repeat;
    }
    return true;
}

static bool read_dynamic(inflater *f)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    huffman code, literals, distances;
    int literal_count = take_bits(f, 5), distance_count = take_bits(f, 5),
        code_count = take_bits(f, 4);
    if (literal_count < 0 || distance_count < 0 || code_count < 0)
        return false;
    literal_count += 257;
    distance_count += 1;
    if (literal_count > LITERALS || distance_count > DISTANCES)
        return false;
    for (int i = 0; i < code_count + 4; i++) {
        int length = take_bits(f, 3);
        if (length < 0)
            return false;
        lengths[order[i]] = (uint8_t)length;
    }
    if (!build(&code, lengths, 19))
        return false;
    memset(lengths, 0, 19);
    return read_lengths(f, &code, lengths, literal_count + distance_count) && lengths[256] != 0 &&
           build(&literals, lengths, literal_count) &&
           build(&distances, lengths + literal_count, distance_count) &&
           read_codes(f, &literals, &distances);
}

static uint32_t adler32(const uint8_t *data, size_t size)
{
    uint32_t a = 1, b = 0;
    while (size > 0) {
        /* So many sums fit 32 bits before they are reduced. */
        size_t n = size < 5552 ? size : 5552;
        for (size_t i = 0; i < n; i++) {
            a += data[i];
            b += a;
        }
        a %= 65521;
        b %= 65521;
        data += n;
        size -= n;
    }
    return b << 16 | a;
}

bool pl_inflate(const void *data, size_t length, void *out, size_t size)
{
    const uint8_t *in = data;
    if (length < 6 || (in[0] & 15) != 8 || (in[0] * 256 + in[1]) % 31 != 0 || in[1] & 32)
        return false;
    inflater f = {.at = in + 2, .end = in + length, .out = out, .size = size};
    for (int last = 0; !last;) {
        last = take_bits(&f, 1);
        int kind = take_bits(&f, 2);
        bool good = last >= 0 && (kind == 0   ? read_stored(&f)
                                  : kind == 1 ? read_fixed(&f)
                                  : kind == 2 ? read_dynamic(&f)
                                              : false);
        if (!good)
            return false;
    }
    if (f.used != size || f.end - f.at < 4)
        return false;
    uint32_t sum = (uint32_t)f.at[0] << 24 | (uint32_t)f.at[1] << 16 | (uint32_t)f.at[2] << 8 |
                   f.at[3];
    return sum == adler32(out, size);
}
