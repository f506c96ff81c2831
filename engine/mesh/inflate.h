/* inflate.h - decompression of data in the zlib format (RFC 1950, 1951), for packed arrays of mesh files. */
#ifndef PLIANT_ENGINE_MESH_INFLATE_H
#define PLIANT_ENGINE_MESH_INFLATE_H

#include "engine/scene/fault.h"

#include <stddef.h>

/* Maximum expansion of one deflated byte. */
enum { PL_INFLATE_RATIO = 1032 };

/* Writes exactly `size` bytes to `out` from the zlib stream at the start of [data, data + length). PL_INVALID if
 * the stream holds fewer or more bytes, is damaged, or has a wrong checksum; PL_NO_MEMORY. Uses less than 64 KB
 * beside `out`. */
pl_status pl_inflate(const void *data, size_t length, void *out, size_t size);

#endif
