/* routes.h - every request that the daemon answers, as one table. Matching, access, query keys,
 * counters and /openapi.json all read it. */
#ifndef PLIANT_SERVER_API_ROUTES_H
#define PLIANT_SERVER_API_ROUTES_H

#include "server/http/http.h"

/* Ends with a row whose method is NULL; rows of one path stand together. */
extern const pl_route pl_routes[];

#endif
