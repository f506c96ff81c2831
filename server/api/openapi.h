/* openapi.h - the API's description, generated from the tables of routes, replies, problems and
 * parameters. */
#ifndef PLIANT_SERVER_API_OPENAPI_H
#define PLIANT_SERVER_API_OPENAPI_H

#include "server/http/http.h"

void pl_handle_openapi(pl_request *r);
void pl_handle_scene_schema(pl_request *r);
/* OpenAPI 3.1 as JSON; malloc'ed. */
char *pl_openapi_print(const pl_route *routes); /* the same for people, a line a value */

#endif
