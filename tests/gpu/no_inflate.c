/* In place of engine/mesh/inflate.c: programs for a machine with a GPU read no deflated mesh, and link
 * no zlib. */
#include "engine/mesh/inflate.h"

pl_status pl_inflate(const void *data, size_t length, void *out, size_t size)
{
    return PL_INVALID;
}
