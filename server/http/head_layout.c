#include "server/http/head_layout.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>

/* Lifetime: one check. */
typedef struct layout {
    const char *at; /* where the next header's name must begin */
    bool broken;
} layout;

/* CR LF or LF, which the library has replaced by NULs; a name never begins with one. */
static const char *after_line(const char *end)
{
    return end[1] ? end + 1 : end + 2;
}

static enum MHD_Result see(void *context, enum MHD_ValueKind kind, const char *name,
                           const char *value)
{
    layout *l = context;
    const char *colon = name + strlen(name);
    l->broken = l->broken || name != l->at || !value || value <= colon;
    for (const char *at = colon + 1; !l->broken && at < value; at++) {
        l->broken = *at != ' ' && *at != '\t';
    }
    if (!l->broken) {
        l->at = after_line(value + strlen(value));
    }
    return MHD_YES;
}

/* After the last header comes an empty line of one or two bytes. The end of the last header's line may have one byte
 * where two are skipped, because the bytes of the empty line follow as NULs. */
bool pl_head_whole(struct MHD_Connection *connection, const char *method, const char *version)
{
    layout l = {.at = after_line(version + strlen(version))};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, see, &l);
    const char *end = info ? method + info->header_size : NULL;
    return end && !l.broken && l.at <= end && end - l.at <= 2;
}

const char *pl_head_version(const char *target)
{
    return target + strlen(target) + 1;
}
