/* validate.h - POST /v1/validate: decode and check a scene, reply with the estimate and, if asked, with what there
 * is to draw; keep nothing. */
#ifndef PLIANT_SERVER_RUN_VALIDATE_H
#define PLIANT_SERVER_RUN_VALIDATE_H

#include "server/http/http.h"

void pl_handle_validate(pl_request *r);

#endif
