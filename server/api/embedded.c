#include "server/api/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const pl_embedded *pl_embedded_find(const pl_embedded *files, const char *name)
{
    for (const pl_embedded *file = files; file->name; file++) {
        if (strcmp(file->name, name) == 0) {
            return file;
        }
    }
    return NULL;
}

/* True if an Accept-Encoding allows gzip: "br, gzip;q=0.5" or "*", but not "gzip;q=0". Without the header, the client
 * may be a program that shows the raw bytes. */
static bool takes_gzip(const char *header)
{
    for (const char *at = header ? header : ""; *at;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ","), name = strcspn(at, ",; \t");
        if ((name == 4 && strncasecmp(at, "gzip", 4) == 0) || (name == 1 && *at == '*')) {
            const char *weight = memmem(at, length, "q=", 2);
            return !weight || strtod(weight + 2, NULL) > 0;
        }
        at += length;
    }
    return false;
}

static const char *type_of(const char *ending)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".webp", "image/webp"},
        {".png", "image/png"},
        {".txt", "text/plain; charset=utf-8"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].ending, ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

void pl_reply_page_file(pl_request *r, const pl_embedded *file)
{
    const char *ending = strrchr(file->name, '.');
    ending = ending ? ending : "";
    pl_reply_embedded(r, file, type_of(ending),
                      strcmp(ending, ".html") == 0 ? "no-cache"
                                                   : "public, max-age=31536000, immutable");
}

void pl_guard_page(pl_request *r, const char *policy)
{
    pl_reply_header(r, "Content-Security-Policy", "%s", policy);
    pl_reply_header(r, "X-Frame-Options", "DENY");
    pl_reply_header(r, "Referrer-Policy", "no-referrer");
    pl_reply_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    pl_reply_header(r, "Cross-Origin-Resource-Policy", "same-origin");
}

void pl_reply_embedded(pl_request *r, const pl_embedded *file, const char *type,
                       const char *caching)
{
    bool packed = takes_gzip(pl_request_header(r, "Accept-Encoding"));
    pl_reply_header(r, "Vary", "Accept-Encoding");
    char tag[48];
    snprintf(tag, sizeof tag, "%s%s", file->hash, packed ? "-gzip" : "");
    if (pl_reply_tagged(r, tag, caching)) {
        return;
    }
    size_t size = packed ? file->packed_size : file->size;
    char *text = malloc(size + 1);
    if (text) {
        memcpy(text, packed ? file->packed : file->bytes, size);
        text[size] = 0;
    }
    pl_reply_text(r, 200, type, text, size);
    if (packed) {
        pl_reply_header(r, "Content-Encoding", "gzip");
    }
}
