/* sink_memory.h - an outlet whose bytes are kept, for tests of what exports write. */
#ifndef PLIANT_TESTS_SUPPORT_SINK_MEMORY_H
#define PLIANT_TESTS_SUPPORT_SINK_MEMORY_H

#include "protocol/export/outlet.h"

#include <check.h>
#include <string.h>

static inline bool sink_memory_write(void *context, const void *data, size_t size)
{
    pl_text *kept = context;
    char *at = pl_text_room(kept, size + 1);
    ck_assert_ptr_nonnull(at);
    memcpy(at, data, size);
    at[size] = 0;
    kept->length += size;
    return true;
}

#endif
