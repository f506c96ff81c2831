/* inflate.h - deflated bytes in the zlib format (RFC 1950, 1951), as packed arrays of mesh files have
 * them. Here and not the library's, because what reads hostile files links as little as it can.
 */
#ifndef PLIANT_ENGINE_MESH_INFLATE_H
#define PLIANT_ENGINE_MESH_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/* No byte of deflate makes more of them than this. */
enum { PL_INFLATE_RATIO = 1032 };

/* Exactly `size` bytes at `out` from the zlib stream [data, data + length); false where it holds fewer
 * or more, is damaged, or its checksum is another. */
bool pl_inflate(const void *data, size_t length, void *out, size_t size);

#endif
