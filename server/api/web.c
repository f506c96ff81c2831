#include "server/api/web.h"

#include "server/api/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No content from other origins, nothing inline, no eval, no embedding in frames. Pictures and films that the page
 * makes from its own drawing have blob addresses. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* ---- for builds without the dashboard ---- */

static const char plain_page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>Pliant</title></head>\n"
    "<body>\n<h1>Pliant " PLIANT_VERSION "</h1>\n"
    "<p>This daemon simulates deformable bodies. Clients post a scene and stream frames and "
    "metrics "
    "back.</p>\n"
    "<p>Its dashboard was not built. With Node.js 18 or newer and npm, which "
    "<code>deploy/install-deps"
    "</code> installs, <code>make web</code> builds it; then start the daemon again.</p>\n"
    "<ul>\n<li><a href=\"/openapi.json\">/openapi.json</a>: all its requests</li>\n"
    "<li><a href=\"/healthz\">/healthz</a>, <a href=\"/readyz\">/readyz</a>, "
    "<a href=\"/metrics\">/metrics</a>: for operators</li>\n"
    "<li><a href=\"/v1/version\">/v1/version</a></li>\n</ul>\n"
    "<p>Everything else below <code>/v1</code> requires the header <code>Authorization: Bearer "
    "TOKEN</code>; the owner's token is in the file <code>token</code> of the state directory, "
    "where the command line finds it:</p>\n"
    "<pre>pliant submit scene.json --follow</pre>\n"
    "<p id=\"said\"></p>\n<script src=\"/front.js\"></script>\n</body></html>\n";

/* The fragment of an address, which was not part of any request: a login code, or a share link's secret. It is removed
 * from the address before anything else. */
static const char plain_script[] =
    "(function () {\n"
    "  const found = /^#(code|link)=([A-Za-z0-9_]+)$/.exec(location.hash);\n"
    "  if (!found) return;\n"
    "  history.replaceState(null, '', location.pathname);\n"
    "  const said = document.getElementById('said'), login = found[1] === 'code';\n"
    "  const body = JSON.stringify(login ? {code: found[2]} : {secret: found[2]});\n"
    "  fetch(login ? '/v1/login' : '/v1/links/open',\n"
    "        {method: 'POST', headers: {'Content-Type': 'application/json'}, body: body})\n"
    "    .then(reply => reply.json().then(value => {\n"
    "      if (!reply.ok) {\n"
    "        said.textContent = value.detail;\n"
    "      } else if (login) {\n"
    "        said.textContent = 'Logged in as ' + value.user + ' until ' + value.expires + '.';\n"
    "      } else {\n"
    "        const link = document.createElement('a');\n"
    "        link.href = value.links.self;\n"
    "        link.textContent = value.name || value.id;\n"
    "        said.replaceChildren('You can view the session ', link, ': ' + value.state + '.');\n"
    "      }\n"
    "    }))\n"
    "    .catch(error => { said.textContent = String(error); });\n"
    "})();\n";

void pl_handle_front_script(pl_request *r)
{
    pl_reply_document(r, "text/javascript; charset=utf-8", strdup(plain_script));
    pl_guard_page(r, policy);
}

/* ---- the dashboard ---- */

void pl_handle_root(pl_request *r)
{
    const pl_embedded *page = pl_embedded_find(pl_web_files, "index.html");
    if (page) {
        pl_reply_page_file(r, page);
    } else {
        pl_reply_document(r, "text/html; charset=utf-8", strdup(plain_page));
    }
    pl_guard_page(r, policy);
}

void pl_handle_asset(pl_request *r)
{
    char name[96];
    snprintf(name, sizeof name, "assets/%s", pl_request_param(r, 0));
    const pl_embedded *file = pl_embedded_find(pl_web_files, name);
    if (file) {
        pl_reply_page_file(r, file);
        pl_guard_page(r, policy);
    } else {
        pl_reply_problem(r, 404, "not_found", "No such file",
                         "the dashboard has no such file; reload the page", NULL);
    }
}
