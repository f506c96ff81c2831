/* validate.h - POST /v1/validate: decodes and checks a scene, replies with the estimate and, on request, with the data
 * to draw it; stores nothing. */
#ifndef PLIANT_SERVER_RUN_VALIDATE_H
#define PLIANT_SERVER_RUN_VALIDATE_H

#include "server/http/http.h"

void pl_handle_validate(pl_request *r);

#endif
