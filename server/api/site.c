#include "server/api/site.h"

#include "server/api/embedded.h"

#include <string.h>

/* Pages have no scripts, and nothing from elsewhere or inline. A drawing may have a sheet of its own. */
#define NOTHING_ELSE "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
static const char page_policy[] =
    "default-src 'none'; style-src 'self'; img-src 'self'" NOTHING_ELSE;
static const char drawing_policy[] = "default-src 'none'; style-src 'unsafe-inline'" NOTHING_ELSE;

static const char plain_page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<title>Documentation - Pliant</title></head>\n<body>\n<h1>Pliant " PLIANT_VERSION "</h1>\n"
    "<p>The documentation was not built into this daemon. With Node.js 18 or newer and npm, which "
    "<code>deploy/install-deps</code> installs, <code>make docs</code> and <code>make</code> build "
    "it; then start the daemon again. Its text is in the folder <code>clients/docs</code> of the "
    "source, and in <code>share/doc/pliant</code> of an installation.</p>\n"
    "<p><a href=\"/openapi.json\">/openapi.json</a> describes every request.</p>\n"
    "</body></html>\n";

void pl_handle_docs(pl_request *r)
{
    pl_reply_empty(r, 308);
    pl_reply_header(r, "Location", "/docs/");
}

static void reply_file(pl_request *r, const pl_embedded *file)
{
    const char *ending = strrchr(file->name, '.');
    bool drawing = ending && strcmp(ending, ".svg") == 0;
    pl_reply_page_file(r, file);
    pl_guard_page(r, drawing ? drawing_policy : page_policy);
}

void pl_handle_docs_root(pl_request *r)
{
    const pl_embedded *page = pl_embedded_find(pl_docs_files, "index.html");
    if (page) {
        reply_file(r, page);
    } else {
        pl_reply_document(r, "text/html; charset=utf-8", strdup(plain_page));
        pl_guard_page(r, page_policy);
    }
}

void pl_handle_docs_file(pl_request *r)
{
    const pl_embedded *file = pl_embedded_find(pl_docs_files, pl_request_param(r, 0));
    if (file) {
        reply_file(r, file);
    } else {
        pl_reply_problem(r, 404, "not_found", "No such page",
                         "the documentation has no such page; /docs/ lists every page", NULL);
    }
}
