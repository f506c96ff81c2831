/* zpack.h - the parts of zlib that archives and pictures need; zlib itself stays in zpack.c. */
#ifndef PLIANT_PROTOCOL_EXPORT_ZPACK_H
#define PLIANT_PROTOCOL_EXPORT_ZPACK_H

#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as zip and PNG use it; crc is 0 or a previous result. */
uint32_t pl_zpack_crc32(uint32_t crc, const void *data, size_t size);
/* The CRC of two consecutive pieces, from their CRCs and the second's size. */
uint32_t pl_zpack_crc32_combine(uint32_t first, uint32_t second, uint64_t second_size);
/* Compresses the data into one zlib stream; *out is malloc'ed. */
pl_status pl_zpack_deflate(const void *data, size_t size, unsigned char **out, size_t *out_size);

#endif
