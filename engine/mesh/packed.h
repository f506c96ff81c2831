/* packed.h - arrays of numbers in VTK's XML files: text, or bytes after a header, raw or in base64, compressed in
 * blocks or not.
 */
#ifndef PLIANT_ENGINE_MESH_PACKED_H
#define PLIANT_ENGINE_MESH_PACKED_H

#include "engine/mesh/numbers.h"

#include <stddef.h>

typedef struct pl_packed {
    const char *at, *end; /* start of the data in the file, and its limit */
    bool base64, deflated, swap;
    int header; /* bytes per number of the header: 4 or 8 */
} pl_packed;

typedef enum pl_packed_outcome {
    PL_PACKED_OK,
    PL_PACKED_SHORT,   /* the file ends too early */
    PL_PACKED_SIZE,    /* its header gives a size other than the expected */
    PL_PACKED_DAMAGED, /* invalid base64, or invalid deflated data */
    PL_PACKED_NO_MEMORY,
} pl_packed_outcome;

/* Returns `size` bytes, malloc'ed. Never allocates more memory than the file's bytes can fill. */
pl_packed_outcome pl_packed_read(const pl_packed *p, size_t size, char **out);

#endif
