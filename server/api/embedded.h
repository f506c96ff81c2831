/* embedded.h - files that were put into the program when it was built (deploy/embed): the dashboard, the
 * documentation site and the gallery's scenes, as they are and gzipped. */
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

/* Each ends with a file without a name. The dashboard and the site are empty where they were not built. */
extern const pl_embedded pl_web_files[], pl_docs_files[], pl_gallery_files[];

/* NULL: no file of that name. */
const pl_embedded *pl_embedded_find(const pl_embedded *files, const char *name);
/* The file as the client takes it: 200, or 304 where it has it. */
void pl_reply_embedded(pl_request *r, const pl_embedded *file, const char *type,
                       const char *caching);
/* The same for a file of a page. A name other than .html has a hash of what is in it, so that file never changes. */
void pl_reply_page_file(pl_request *r, const pl_embedded *file);
/* Headers for a page or a file of one: its Content-Security-Policy, and nothing of it in pages of others. */
void pl_guard_page(pl_request *r, const char *policy);

#endif
