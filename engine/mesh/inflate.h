/* inflate.h - deflated bytes in the zlib format (RFC 1950, 1951), as packed arrays of mesh files have
 * them. */
#ifndef PLIANT_ENGINE_MESH_INFLATE_H
#define PLIANT_ENGINE_MESH_INFLATE_H

#include "engine/scene/fault.h"

#include <stddef.h>

/* No byte of deflate makes more of them than this. */
enum { PL_INFLATE_RATIO = 1032 };

/* Exactly `size` bytes at `out` from the zlib stream at the start of [data, data + length); PL_INVALID
 * where it holds fewer or more, is damaged, or its checksum is another; PL_NO_MEMORY. Takes less than
 * 64 KB beside `out`. */
pl_status pl_inflate(const void *data, size_t length, void *out, size_t size);

#endif
