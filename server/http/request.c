#include "server/http/request.h"

#include "protocol/text/problem.h"
#include "protocol/text/sha256.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

pl_daemon *pl_request_daemon(const pl_request *r)
{
    return r->daemon;
}

pl_principal *pl_request_principal(const pl_request *r)
{
    return r->principal;
}

int64_t pl_request_arrived(const pl_request *r)
{
    return r->arrived_ms;
}

const char *pl_request_owner(const pl_request *r)
{
    return r->principal ? r->principal->user : NULL;
}

const char *pl_request_param(const pl_request *r, int i)
{
    return r->params[i];
}

const char *pl_request_body(const pl_request *r, size_t *length)
{
    *length = r->length;
    return r->body ? r->body : "";
}

void *pl_request_sink(const pl_request *r)
{
    return r->sink;
}

bool pl_request_is_head(const pl_request *r)
{
    return r->head;
}

bool pl_request_secure(pl_request *r)
{
    const pl_options *o = pl_http_setup_of(r->http)->options;
    const char *forwarded = o->behind_proxy ? pl_request_header(r, "X-Forwarded-Proto") : NULL;
    return o->tls_cert || o->secure_cookies || (forwarded && strcmp(forwarded, "https") == 0);
}

void pl_request_attach(pl_request *r, void *attached, void (*release)(void *))
{
    r->attached = attached;
    r->attached_release = release;
}

void *pl_request_attached(const pl_request *r)
{
    return r->attached;
}

/* ---- Accept ---- */

/* How closely a media range ("type/subtype", "type/...*", "*") matches a type: 3, 2, 1, or 0 for no match. */
static int range_fit(const char *range, size_t length, const char *type)
{
    if (length == 3 && memcmp(range, "*/*", 3) == 0) {
        return 1;
    }
    size_t slash = strcspn(type, "/") + 1;
    if (length == slash + 1 && range[slash] == '*' && strncasecmp(range, type, slash) == 0) {
        return 2;
    }
    return length == strlen(type) && strncasecmp(range, type, length) == 0 ? 3 : 0;
}

/* Quality of a type under an Accept header: that of the closest matching range. */
static double accept_quality(const char *accept, const char *type)
{
    double quality = 0;
    int best = 0;
    while (*accept) {
        accept += strspn(accept, " \t,");
        size_t item = strcspn(accept, ",");
        size_t range = 0;
        while (range < item && !strchr(" \t;", accept[range])) {
            range++;
        }
        int fit = range_fit(accept, range, type);
        if (fit > best) {
            best = fit;
            quality = 1;
            for (size_t i = range; i + 2 < item; i++) {
                if ((accept[i] == 'q' || accept[i] == 'Q') && accept[i + 1] == '=' &&
                    strchr(" \t;", accept[i - 1])) {
                    quality = strtod(accept + i + 2, NULL);
                    break;
                }
            }
        }
        accept += item;
    }
    return quality;
}

int pl_request_accept(pl_request *r, const char *const *types)
{
    const char *accept = pl_request_header(r, "Accept");
    if (!accept || !*accept) {
        return 0;
    }
    int best = -1;
    double quality = 0;
    for (int i = 0; types[i]; i++) {
        double q = accept_quality(accept, types[i]);
        if (q > quality) {
            quality = q;
            best = i;
        }
    }
    if (best < 0) {
        char list[256] = "";
        for (int i = 0; types[i]; i++) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", types[i]);
        }
        pl_reply_problemf(r, 406, "not_acceptable", "Not acceptable",
                          "this resource is available as: %s", list);
    }
    return best;
}

/* ---- query values ---- */

void pl_reply_bad_query(pl_request *r, const char *key, const char *got, const char *expected)
{
    pl_faults faults = {0};
    char pointer[96];
    snprintf(pointer, sizeof pointer, "/query/%s", key);
    pl_faults_add(&faults, pointer, "bad_query_value", got, expected, "");
    pl_reply_problem(r, 400, "bad_query", "Bad query", "a query value is invalid", &faults);
    pl_faults_clear(&faults);
}

bool pl_request_integer(pl_request *r, const char *key, int64_t minimum, int64_t maximum,
                        int64_t fallback, int64_t *out)
{
    const char *text = pl_request_query(r, key);
    *out = fallback;
    if (!text) {
        return true;
    }
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    bool digits = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    if (errno || end == text || *end || !digits || v < minimum || v > maximum) {
        char expected[96];
        if (maximum == INT64_MAX) {
            snprintf(expected, sizeof expected, "a whole number from %lld", (long long)minimum);
        } else {
            snprintf(expected, sizeof expected, "a whole number from %lld to %lld",
                     (long long)minimum, (long long)maximum);
        }
        pl_reply_bad_query(r, key, text, expected);
        return false;
    }
    *out = v;
    return true;
}

bool pl_request_flag(pl_request *r, const char *key, bool *out)
{
    const char *text = pl_request_query(r, key);
    *out = text && (!*text || strcmp(text, "1") == 0 || strcmp(text, "true") == 0);
    if (text && !*out && strcmp(text, "0") != 0 && strcmp(text, "false") != 0) {
        pl_reply_bad_query(r, key, text, "1, 0, true or false");
        return false;
    }
    return true;
}

bool pl_request_surface(pl_request *r, bool *out)
{
    const char *text = pl_request_query(r, "vertices");
    *out = text && strcmp(text, "surface") == 0;
    if (text && !*out && strcmp(text, "all") != 0) {
        pl_reply_bad_query(r, "vertices", text, "all or surface");
        return false;
    }
    return true;
}

/* ---- replies ---- */

static void clear_headers(pl_reply *reply)
{
    for (int i = 0; i < reply->header_count; i++) {
        free(reply->names[i]);
        free(reply->values[i]);
    }
    reply->header_count = 0;
}

void pl_reply_clear(pl_reply *reply)
{
    clear_headers(reply);
    free(reply->text);
    if (reply->source) {
        reply->source->close(reply->context);
    }
    memset(reply, 0, sizeof *reply);
}

void pl_reply_header(pl_request *r, const char *name, const char *format, ...)
{
    if (r->reply.header_count == PL_REPLY_HEADERS) {
        return;
    }
    char *value = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&value, format, args);
    va_end(args);
    char *copy = strdup(name);
    if (n < 0 || !copy) {
        free(n < 0 ? NULL : value);
        free(copy);
        return;
    }
    r->reply.names[r->reply.header_count] = copy;
    r->reply.values[r->reply.header_count++] = value;
}

void pl_reply_text(pl_request *r, int status, const char *type, char *text, size_t length)
{
    snprintf(r->reply.type, sizeof r->reply.type, "%s", type);
    r->reply.status = text ? status : 500;
    r->reply.text = text;
    r->reply.length = text ? length : 0;
}

void pl_reply_json(pl_request *r, int status, char *text)
{
    pl_reply_text(r, status, "application/json", text, text ? strlen(text) : 0);
}

void pl_reply_empty(pl_request *r, int status)
{
    r->reply.status = status;
}

void pl_reply_problem(pl_request *r, int status, const char *code, const char *title,
                      const char *detail, const pl_faults *faults)
{
    char *text = pl_problem_encode(status, code, title, detail, faults);
    clear_headers(&r->reply); /* an ETag meant for the document */
    pl_reply_text(r, status, "application/problem+json", text, text ? strlen(text) : 0);
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_reply_problemf(pl_request *r, int status, const char *code, const char *title,
                       const char *format, ...)
{
    char detail[512];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    pl_reply_problem(r, status, code, title, detail, NULL);
}

void pl_reply_source(pl_request *r, const char *type, const pl_source *source, void *context)
{
    snprintf(r->reply.type, sizeof r->reply.type, "%s", type);
    r->reply.status = 200;
    r->reply.source = source;
    r->reply.context = context;
    r->reply.size = -1;
}

/* If-None-Match and If-Match contain a list of tags, or "*". */
bool pl_etag_listed(const char *list, const char *etag, bool strong)
{
    size_t length = strlen(etag);
    if (strcmp(list, "*") == 0) {
        return true;
    }
    for (const char *at = list; *at;) {
        at += strspn(at, ", \t");
        bool weak = strncmp(at, "W/", 2) == 0;
        at += weak ? 2 : 0;
        if (*at != '"') {
            return false; /* not a list of tags */
        }
        size_t n = strcspn(at + 1, "\"") + 2;
        if (n == length && strncmp(at, etag, n) == 0 && !(weak && strong)) {
            return true;
        }
        at += strnlen(at, n);
    }
    return false;
}

bool pl_reply_tagged(pl_request *r, const char *name, const char *caching)
{
    char etag[208];
    snprintf(etag, sizeof etag, "\"%.200s\"", name);
    pl_reply_header(r, "ETag", "%s", etag);
    pl_reply_header(r, "Cache-Control", "%s", caching);
    const char *have = pl_request_header(r, "If-None-Match");
    if (have && pl_etag_listed(have, etag, false)) {
        pl_reply_empty(r, 304);
        return true;
    }
    return false;
}

/* Seconds that a shared cache may keep this reply; 0: not at all. The cache compares the share link's cookie or the
 * signature in the address, so nobody gains access. */
static int64_t shared_for(pl_request *r)
{
    const pl_principal *p = r->principal;
    int64_t most = pl_http_setup_of(r->http)->options->shared_cache;
    if (!p || (p->came != PL_CAME_LINK && p->came != PL_CAME_SIGNED)) {
        return 0;
    }
    const char *signature = p->came == PL_CAME_SIGNED ? pl_request_query(r, "signature") : NULL;
    int64_t expires = signature ? strtoll(signature, NULL, 10) : p->expires;
    int64_t left = expires ? expires - (int64_t)time(NULL) : most;
    return left < 0 ? 0 : left < most ? left : most;
}

bool pl_reply_unchanged(pl_request *r, const char *etag_format, ...)
{
    char name[200], caching[100] = "private, max-age=31536000, immutable";
    int64_t shared = shared_for(r);
    va_list args;
    va_start(args, etag_format);
    vsnprintf(name, sizeof name, etag_format, args);
    va_end(args);
    if (shared) {
        snprintf(caching, sizeof caching, "public, max-age=31536000, s-maxage=%lld, immutable",
                 (long long)shared);
    }
    /* One line: nginx before 1.23 reads only the last Vary header. */
    pl_reply_header(r, "Vary", shared ? "Accept, Cookie" : "Accept");
    return pl_reply_tagged(r, name, caching);
}

bool pl_reply_settled(pl_request *r)
{
    int64_t shared = shared_for(r);
    if (shared) {
        pl_reply_header(r, "Cache-Control", "public, max-age=0, s-maxage=%lld, must-revalidate",
                        (long long)shared);
        pl_reply_header(r, "Vary", "Accept, Cookie");
    } else {
        pl_reply_header(r, "Cache-Control", "private, no-cache");
    }
    return shared;
}

void pl_reply_settled_text(pl_request *r, bool settled, const char *type, char *text, size_t length)
{
    char hash[65], etag[40];
    const char *have = pl_request_header(r, "If-None-Match");
    if (!settled || !text) {
        pl_reply_text(r, 200, type, text, length);
        pl_reply_header(r, "Cache-Control", "no-store");
        return;
    }
    pl_sha256_hex(text, length, hash);
    snprintf(etag, sizeof etag, "\"%.32s\"", hash);
    pl_reply_header(r, "ETag", "%s", etag);
    pl_reply_settled(r);
    if (have && pl_etag_listed(have, etag, false)) {
        free(text);
        pl_reply_empty(r, 304);
    } else {
        pl_reply_text(r, 200, type, text, length);
    }
}

void pl_reply_document(pl_request *r, const char *type, char *text)
{
    char hash[65];
    if (text) {
        pl_sha256_hex(text, strlen(text), hash);
        hash[32] = 0;
        if (pl_reply_tagged(r, hash, "no-cache")) {
            free(text);
            return;
        }
    }
    pl_reply_text(r, 200, type, text, text ? strlen(text) : 0);
}

/* ---- a range of a file ---- */

typedef struct file_source {
    int fd;
    uint64_t offset, left;
    size_t prefix_at, prefix_size;
    char prefix[];
} file_source;

static ssize_t file_read(void *context, char *out, size_t room)
{
    file_source *f = context;
    if (f->prefix_at < f->prefix_size) {
        size_t n = f->prefix_size - f->prefix_at;
        n = n < room ? n : room;
        memcpy(out, f->prefix + f->prefix_at, n);
        f->prefix_at += n;
        return (ssize_t)n;
    }
    size_t n = f->left < room ? (size_t)f->left : room;
    ssize_t got = pread(f->fd, out, n, (off_t)f->offset);
    if (got <= 0) {
        return f->left == 0 ? PL_SOURCE_END : PL_SOURCE_ERROR;
    }
    f->offset += (uint64_t)got;
    f->left -= (uint64_t)got;
    return got;
}

static void file_close(void *context)
{
    file_source *f = context;
    close(f->fd);
    free(f);
}

static const pl_source file_operations = {file_read, file_close};

void pl_reply_file(pl_request *r, const char *type, int fd, uint64_t offset, uint64_t size,
                   const void *prefix, size_t prefix_size)
{
    file_source *f = malloc(sizeof *f + prefix_size);
    if (!f) {
        close(fd);
        pl_reply_empty(r, 500);
        return;
    }
    *f = (file_source){fd, offset, size, 0, prefix_size};
    memcpy(f->prefix, prefix_size ? prefix : "", prefix_size);
    pl_reply_source(r, type, &file_operations, f);
    r->reply.size = (int64_t)(size + prefix_size);
}
