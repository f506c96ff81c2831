/* branch_request.h - POST /v1/sessions/{id}/branch: decode the edit, find the frame, and admit the edited
 * scene as a session of its own (branch.h).
 */
#ifndef PLIANT_SERVER_RUN_BRANCH_REQUEST_H
#define PLIANT_SERVER_RUN_BRANCH_REQUEST_H

#include "server/http/http.h"

void pl_handle_branch(pl_request *r); /* PL_RUN_CHECKS */

#endif
