#include "server/http/host.h"

#include <string.h>
#include <strings.h>

/* The name in "name", "name:port", "[v6]" or "[v6]:port". False for any other form. */
static bool host_name(const char *host, char *out, size_t size)
{
    const char *begin = host, *end, *rest;
    if (*host == '[') {
        begin = host + 1;
        end = strchr(begin, ']');
        if (!end) {
            return false;
        }
        rest = end + 1;
    } else {
        end = begin + strcspn(begin, ":");
        rest = end;
    }
    size_t length = (size_t)(end - begin);
    if (*rest == ':') {
        rest++;
        rest += strspn(rest, "0123456789");
    }
    if (*rest || length == 0 || length >= size) {
        return false;
    }
    memcpy(out, begin, length);
    out[length] = 0;
    return true;
}

bool pl_host_allowed(const pl_options *options, const char *host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
    char name[256];
    if (!host || !host_name(host, name, sizeof name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
        if (strcasecmp(name, loopback[i]) == 0) {
            return true;
        }
    }
    for (int i = 0; i < options->allow_host_count; i++) {
        if (strcasecmp(name, options->allow_hosts[i]) == 0) {
            return true;
        }
    }
    return strcasecmp(name, options->listen_host) == 0;
}

bool pl_origin_allowed(const char *origin, const char *host)
{
    const char *authority = NULL;
    if (strncasecmp(origin, "http://", 7) == 0) {
        authority = origin + 7;
    } else if (strncasecmp(origin, "https://", 8) == 0) {
        authority = origin + 8;
    }
    return authority && host && strcasecmp(authority, host) == 0;
}
