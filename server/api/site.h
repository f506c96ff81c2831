/* site.h - the documentation site below /docs/, and its replacement page for builds without it. */
#ifndef PLIANT_SERVER_API_SITE_H
#define PLIANT_SERVER_API_SITE_H

#include "server/http/http.h"

void pl_handle_docs(pl_request *r);      /* /docs: redirects to /docs/ */
void pl_handle_docs_root(pl_request *r); /* /docs/: the overview */
void pl_handle_docs_file(pl_request *r); /* a page, the sheet, a picture */

#endif
