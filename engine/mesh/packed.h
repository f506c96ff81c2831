/* packed.h - numbers as VTK's XML files hold them: text, or bytes with a header before them, raw or in
 * base64, deflated in blocks or not.
 */
#ifndef PLIANT_ENGINE_MESH_PACKED_H
#define PLIANT_ENGINE_MESH_PACKED_H

#include "engine/mesh/numbers.h"

#include <stddef.h>

typedef struct pl_packed {
    const char *at, *end; /* the bytes of the file where it begins, and how far it may go */
    bool base64, deflated, swap;
    int header; /* bytes of a number of the header: 4 or 8 */
} pl_packed;

typedef enum pl_packed_outcome {
    PL_PACKED_OK,
    PL_PACKED_SHORT,   /* the file ends before */
    PL_PACKED_SIZE,    /* its header tells another size than is due */
    PL_PACKED_DAMAGED, /* no base64, or no deflated data */
    PL_PACKED_NO_MEMORY,
} pl_packed_outcome;

/* `size` bytes, malloc'ed; not more memory is taken than the bytes of the file can fill. */
pl_packed_outcome pl_packed_read(const pl_packed *p, size_t size, char **out);

#endif
