/* routes.h - the table of all requests that the daemon answers. Matching, access, query keys, counters and
 * /openapi.json are based on it. */
#ifndef PLIANT_SERVER_API_ROUTES_H
#define PLIANT_SERVER_API_ROUTES_H

#include "server/http/http.h"

/* Ends with a row whose method is NULL; rows of one path are adjacent. */
extern const pl_route pl_routes[];

#endif
