#include "server/base/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *pl_limit_name(pl_limit limit)
{
    static const char *const names[] = {"sessions", "queued",  "cores", "bytes", "mesh_bytes",
                                        "requests", "running", "gpus",  "share"};
    return names[limit];
}

/* Limits on requests, running sessions and the share must be above 0: disable a user who may have none. */
int64_t pl_limit_least(pl_limit limit)
{
    return limit == PL_LIMIT_REQUESTS || limit == PL_LIMIT_RUNNING || limit == PL_LIMIT_SHARE;
}

int64_t pl_limit_most(pl_limit limit)
{
    return limit == PL_LIMIT_SHARE ? 1000000 : INT64_MAX;
}

bool pl_limit_of_group(pl_limit limit)
{
    return limit != PL_LIMIT_MESH_BYTES && limit != PL_LIMIT_REQUESTS;
}

pl_limits pl_limits_all(int64_t value)
{
    pl_limits limits;
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        limits.value[i] = value;
    }
    return limits;
}

static bool parse_one(const char *text, size_t length, pl_limits *out)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        const char *name = pl_limit_name((pl_limit)i);
        size_t n = strlen(name);
        if (length > n && strncmp(text, name, n) == 0 && text[n] == '=') {
            if (length == n + 5 && strncmp(text + n + 1, "none", 4) == 0) {
                out->value[i] = PL_LIMIT_UNSET;
                return true;
            }
            char *end;
            errno = 0;
            long long v = strtoll(text + n + 1, &end, 10);
            out->value[i] = v;
            return !errno && end == text + length && end > text + n + 1 &&
                   v >= pl_limit_least((pl_limit)i) && v <= pl_limit_most((pl_limit)i);
        }
    }
    return false;
}

bool pl_limits_parse(const char *text, pl_limits *out)
{
    for (;; text++) {
        size_t length = strcspn(text, ",");
        if (!parse_one(text, length, out)) {
            return false;
        }
        text += length;
        if (!*text) {
            return true;
        }
    }
}
