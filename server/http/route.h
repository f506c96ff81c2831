/* route.h - matches a path with the route table. */
#ifndef PLIANT_SERVER_HTTP_ROUTE_H
#define PLIANT_SERVER_HTTP_ROUTE_H

#include "server/http/http.h"

typedef enum pl_match { PL_MATCH_FOUND, PL_MATCH_NO_PATH, PL_MATCH_NO_METHOD } pl_match;

/* The row for method and path; GET's row serves HEAD. params gets the values of the {...}. On PL_MATCH_NO_METHOD
 * `allow` (of 64 bytes) gets the methods of the path. */
pl_match pl_route_find(const pl_route *routes, const char *method, const char *path,
                       const pl_route **out, char params[PL_PATH_PARAMS][80], char *allow);

/* True if the row has the query key. */
bool pl_route_knows(const pl_route *route, const char *key);

#endif
