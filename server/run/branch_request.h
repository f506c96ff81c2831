/* branch_request.h - POST /v1/sessions/{id}/branch: decodes the edit, finds the frame, and admits the edited scene as a
 * new session (branch.h).
 */
#ifndef PLIANT_SERVER_RUN_BRANCH_REQUEST_H
#define PLIANT_SERVER_RUN_BRANCH_REQUEST_H

#include "server/http/http.h"

void pl_handle_branch(pl_request *r); /* PL_RUN_CHECKS */

#endif
