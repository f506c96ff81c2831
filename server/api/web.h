/* web.h - the dashboard: its page, the files that it loads, and a replacement page for builds without it. */
#ifndef PLIANT_SERVER_API_WEB_H
#define PLIANT_SERVER_API_WEB_H

#include "server/http/http.h"

void pl_handle_root(pl_request *r);
void pl_handle_asset(pl_request *r);
void pl_handle_front_script(pl_request *r);

#endif
