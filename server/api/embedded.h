/* embedded.h - files embedded in the program at build time (deploy/embed): the dashboard, the documentation site and
 * the gallery's scenes, plain and gzipped. */
#ifndef PLIANT_SERVER_API_EMBEDDED_H
#define PLIANT_SERVER_API_EMBEDDED_H

#include "server/http/http.h"

#include <stddef.h>

typedef struct pl_embedded {
    const char *name; /* below its folder: "assets/main-1f2e3d4c5b.js" */
    const char *hash; /* of its bytes, 32 hex digits */
    const char *bytes;
    size_t size;
    const char *packed; /* gzip */
    size_t packed_size;
} pl_embedded;

/* Each list ends with a file without a name. The dashboard and the site are empty if they were not built. */
extern const pl_embedded pl_web_files[], pl_docs_files[], pl_gallery_files[];

/* NULL: no file of that name. */
const pl_embedded *pl_embedded_find(const pl_embedded *files, const char *name);
/* Reply with the file in a form that the client accepts: 200, or 304 if the client has it. */
void pl_reply_embedded(pl_request *r, const pl_embedded *file, const char *type,
                       const char *caching);
/* The same for a file of a page. Names other than .html contain a hash of the contents, so these files never change. */
void pl_reply_page_file(pl_request *r, const pl_embedded *file);
/* Headers for a page or one of its files: its Content-Security-Policy, and a ban on use in pages of other origins. */
void pl_guard_page(pl_request *r, const char *policy);

#endif
