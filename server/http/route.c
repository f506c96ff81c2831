#include "server/http/route.h"

#include <stdio.h>
#include <string.h>

static bool path_matches(const char *template, const char *path, char params[PL_PATH_PARAMS][80])
{
    int count = 0;
    for (;;) {
        size_t t = strcspn(template, "/"), p = strcspn(path, "/");
        if (template[0] == '{') {
            if (p == 0 || p >= 80) {
                return false;
            }
            memcpy(params[count], path, p);
            params[count++][p] = 0;
        } else if (t != p || memcmp(template, path, t) != 0) {
            return false;
        }
        template += t;
        path += p;
        if (!*template || !*path) {
            return *template == *path;
        }
        template ++;
        path++;
    }
}

pl_match pl_route_find(const pl_route *routes, const char *method, const char *path,
                       const pl_route **out, char params[PL_PATH_PARAMS][80], char *allow)
{
    bool path_known = false;
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    allow[0] = 0;
    for (const pl_route *r = routes; r->method; r++) {
        if (!path_matches(r->path, path, params)) {
            continue;
        }
        if (strcmp(r->method, wanted) == 0) {
            *out = r;
            return PL_MATCH_FOUND;
        }
        size_t used = strlen(allow);
        bool get = strcmp(r->method, "GET") == 0;
        snprintf(allow + used, 64 - used, "%s%s%s", path_known ? ", " : "", r->method,
                 get ? ", HEAD" : "");
        path_known = true;
    }
    return path_known ? PL_MATCH_NO_METHOD : PL_MATCH_NO_PATH;
}

bool pl_route_knows(const pl_route *route, const char *key)
{
    for (int i = 0; i < PL_QUERY_KEYS && route->query[i]; i++) {
        if (strcmp(route->query[i], key) == 0) {
            return true;
        }
    }
    return false;
}
