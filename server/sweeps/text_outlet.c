#include "server/sweeps/text_outlet.h"

#include <stdlib.h>
#include <string.h>

static bool write_text(void *context, const void *data, size_t size)
{
    pl_text *t = context;
    char *room = pl_text_room(t, size + 1);
    if (room) {
        memcpy(room, data, size);
        t->length += size;
    }
    return room;
}

char *pl_outlet_gather(bool (*put)(const void *context, pl_outlet *o), const void *context,
                       size_t *size)
{
    pl_text out = {0};
    pl_outlet *outlet = calloc(1, sizeof *outlet);
    if (!outlet) {
        return NULL;
    }
    outlet->write = write_text;
    outlet->context = &out;
    bool good = put(context, outlet);
    good = pl_outlet_flush(outlet) && good && !out.failed;
    free(outlet);
    if (!good) {
        free(out.text);
        return NULL;
    }
    *size = out.length;
    return out.text;
}
