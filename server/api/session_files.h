/* session_files.h - lists the files in a session's directory, so that a user sees what counts against their quota. */
#ifndef PLIANT_SERVER_API_SESSION_FILES_H
#define PLIANT_SERVER_API_SESSION_FILES_H

#include "server/http/http.h"

void pl_handle_session_files(pl_request *r);

#endif
