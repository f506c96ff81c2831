#include "server/http/request_check.h"

#include "server/base/disk.h"
#include "server/http/host.h"
#include "protocol/text/problem.h"
#include "server/http/route.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SMALL_BODY_MAX = 64 * 1024 }; /* for routes that expect no body */

typedef struct framing {
    int hosts, lengths, codings, origins, authorizations, cookies, bad_names, bad_values,
        bad_lengths;
    pl_claims claims;
    const char *host, *origin, *type, *coding;
    uint64_t length;
    const char *unknown_key; /* of the query */
    const char *repeated_key;
    const pl_route *route;
    bool is_signed;
    char keys[PL_QUERY_KEYS][32];
    int key_count;
} framing;

/* The library appends a folded line to the header's name: a header that another parser reads as a longer Content-Length
 * is no such header here. */
static bool is_folded(const char *name)
{
    return (strncasecmp(name, "Content-Length", 14) == 0 && name[14]) ||
           (strncasecmp(name, "Transfer-Encoding", 17) == 0 && name[17]) ||
           (strncasecmp(name, "Host", 4) == 0 && name[4]);
}

static bool see_header(void *context, const char *name, const char *value)
{
    framing *f = context;
    /* "Content-Length : 2" is a different name here */
    f->bad_names += strpbrk(name, " \t") != NULL;
    f->bad_names += is_folded(name);
    for (const char *at = value; *at; at++) { /* such as a lone CR */
        f->bad_values += ((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F;
    }
    if (strcasecmp(name, "Host") == 0) {
        f->hosts++;
        f->host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        f->lengths++;
        f->length = strtoull(value, NULL, 10);
        f->bad_lengths += !*value || value[strspn(value, "0123456789")] != 0;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        f->codings++;
        f->coding = value;
    } else if (strcasecmp(name, "Origin") == 0) {
        f->origins++;
        f->origin = value;
    } else if (strcasecmp(name, "Authorization") == 0) {
        f->authorizations++;
        f->claims.authorization = value;
    } else if (strcasecmp(name, "Cookie") == 0) {
        f->cookies++;
        f->claims.cookie = value;
    } else if (strcasecmp(name, "Content-Type") == 0) {
        f->type = value;
    }
    return true;
}

static bool see_query(void *context, const char *name, const char *value)
{
    framing *f = context;
    if (!pl_route_knows(f->route, name) && !(f->is_signed && strcmp(name, "signature") == 0)) {
        f->unknown_key = name;
        return false;
    }
    for (int i = 0; i < f->key_count; i++) {
        if (strcmp(f->keys[i], name) == 0) {
            f->repeated_key = name;
            return false;
        }
    }
    snprintf(f->keys[f->key_count++], sizeof f->keys[0], "%s", name);
    return true;
}

/* Reject heads that two parsers in a row may read differently (request smuggling). */
static const char *framing_fault(const framing *f)
{
    if (f->bad_names) {
        return "a header name with a space in it, or a folded header";
    }
    if (f->bad_values) {
        return "a control character in a header's value";
    }
    if (f->bad_lengths) {
        return "a Content-Length that is not a number";
    }
    if (f->hosts != 1) {
        return f->hosts ? "more than one Host header" : "no Host header";
    }
    if (f->lengths > 1) {
        return "more than one Content-Length header";
    }
    if (f->lengths && f->codings) {
        return "Content-Length beside Transfer-Encoding";
    }
    if (f->codings > 1 || (f->codings && strcasecmp(f->coding, "chunked") != 0)) {
        return "a Transfer-Encoding other than chunked";
    }
    if (f->origins > 1 || f->authorizations > 1 || f->cookies > 1) {
        return "Origin, Authorization or Cookie sent twice";
    }
    return NULL;
}

static void check_query(pl_request *r, framing *f)
{
    f->route = r->route;
    f->is_signed = r->principal && r->principal->came == PL_CAME_SIGNED;
    pl_request_each(r, true, see_query, f);
    const char *key = f->unknown_key ? f->unknown_key : f->repeated_key;
    if (!key) {
        return;
    }
    pl_faults faults = {0};
    char pointer[128], expected[256] = "no query", hint[96] = "";
    snprintf(pointer, sizeof pointer, "/query/%.100s", key);
    size_t count = 0;
    for (size_t used = 0; count < PL_QUERY_KEYS && r->route->query[count]; count++) {
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", count ? ", " : "",
                                 r->route->query[count]);
    }
    const char *near = pl_nearest(key, r->route->query, count);
    if (near && f->unknown_key) {
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    }
    pl_faults_add(&faults, pointer, f->unknown_key ? "unknown_key" : "duplicate_key", key, expected,
                  hint);
    pl_reply_problem(r, 400, "bad_query", "Bad query",
                     f->unknown_key ? "the query has a key that this resource does not accept"
                                    : "the query contains a key twice",
                     &faults);
    pl_faults_clear(&faults);
}

static bool type_is(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);
    return type && strncasecmp(type, wanted, n) == 0 && (!type[n] || strchr("; \t", type[n]));
}

uint64_t pl_request_body_limit(const pl_request *r)
{
    switch (r->route ? r->route->takes : PL_TAKES_NOTHING) {
    case PL_TAKES_JSON:
        if (r->route->scope == PL_SCOPE_PUBLIC) {
            return SMALL_BODY_MAX; /* for any caller */
        }
        return (uint64_t)pl_http_setup_of(r->http)->options->max_body;
    case PL_TAKES_BYTES:
        return (uint64_t)pl_http_setup_of(r->http)->options->max_mesh;
    default:
        return SMALL_BODY_MAX;
    }
}

void pl_request_check_too_large(pl_request *r)
{
    pl_reply_problemf(
        r, 413, "too_large", "Body too large", "the body may have at most %llu bytes here%s",
        (unsigned long long)pl_request_body_limit(r),
        r->route->takes == PL_TAKES_JSON ? "; upload meshes with PUT /v1/meshes/{sha256}" : "");
}

static void check_body(pl_request *r, const framing *f)
{
    bool has_body = r->chunked || r->declared > 0;
    const char *wanted = r->route->takes == PL_TAKES_BYTES ? "application/octet-stream"
                                                           : "application/json";
    bool unsafe = strcmp(r->route->method, "GET") != 0;
    bool right = type_is(f->type, wanted) || (strcmp(r->route->method, "PATCH") == 0 &&
                                              type_is(f->type, "application/merge-patch+json"));
    if (unsafe && has_body && !right) {
        pl_reply_problemf(r, 415, "unsupported_media_type", "Unsupported media type",
                          "Content-Type is '%.80s'; a body must be sent as %s",
                          f->type ? f->type : "", wanted);
    } else if (r->declared > pl_request_body_limit(r)) {
        pl_request_check_too_large(r);
    }
}

/* A link gives access only to its session. */
static bool outside_link(const pl_request *r)
{
    static const char below[] = "/v1/sessions/{id}";
    return r->principal->session[0] && strncmp(r->route->path, below, sizeof below - 1) != 0;
}

static void check_scope(pl_request *r)
{
    char scope[64];
    pl_scopes_write(r->route->scope, scope);
    if (outside_link(r)) {
        pl_reply_problem(r, 403, "link_only", "Not allowed",
                         "this link shows one session and nothing else", NULL);
    } else if (!pl_principal_has(r->principal, r->route->scope)) {
        pl_reply_problemf(r, 403, "missing_scope", "Not allowed",
                          "this request needs a credential with the scope '%s'", scope);
    }
}

/* Browsers send a cookie with any page's request, so the request must prove that its page is the daemon's; browsers
 * send the origin with every request that is not a GET. */
static bool forged(const pl_request *r, const framing *f)
{
    return (r->principal->came == PL_CAME_COOKIE || r->principal->came == PL_CAME_LINK) &&
           strcmp(r->route->method, "GET") != 0 && !f->origin;
}

/* The metrics page is public only if everybody is on this machine. */
static bool is_public(const pl_request *r)
{
    const pl_options *o = pl_http_setup_of(r->http)->options;
    return r->route->scope == PL_SCOPE_PUBLIC ||
           (r->route->scope == PL_SCOPE_METRICS && pl_options_loopback(o) && !o->behind_proxy);
}

static void check_access(pl_request *r, const framing *f, const char *path)
{
    const pl_http_policy *policy = &pl_http_setup_of(r->http)->policy;
    pl_claims claims = f->claims;
    claims.uid = pl_request_peer(r);
    errno = 0;
    r->principal = policy->authenticate(policy->authenticator, &claims);
    if (!r->principal && errno == ENOMEM) { /* the credential may be valid */
        pl_reply_shortage(r, ENOMEM);
        return;
    }
    if (!r->principal && r->route->scope == PL_SCOPE_READ) {
        r->principal = policy->authenticate_address(policy->signer, r, path);
    }
    snprintf(r->subject.user, sizeof r->subject.user, "%s", r->principal ? r->principal->user : "");
    if (!policy->rate_allows(policy->rate, r)) {
        return;
    }
    if (r->principal && forged(r, f)) {
        pl_reply_problem(r, 403, "foreign_origin", "No origin",
                         "a request with a cookie, other than GET, needs an Origin header", NULL);
    } else if (r->principal && !is_public(r)) {
        check_scope(r);
    } else if (!r->principal && !is_public(r)) {
        atomic_fetch_add(&pl_http_setup_of(r->http)->counters->auth_failures,
                         f->claims.authorization != NULL);
        pl_reply_problem(r, 401, "unauthorized", "Unauthorized",
                         f->claims.authorization
                             ? "the token is unknown to this daemon, or has expired"
                             : "send the header 'Authorization: Bearer TOKEN'; the "
                               "owner's token is in the file token of the state "
                               "directory",
                         NULL);
        pl_reply_header(r, "WWW-Authenticate", "Bearer realm=\"pliant\"");
    }
}

static void check_route(pl_request *r, const char *method, const char *path)
{
    char allow[64];
    switch (pl_route_find(pl_http_routes(r->http), method, path, &r->route, r->params, allow)) {
    case PL_MATCH_FOUND:
        return;
    case PL_MATCH_NO_PATH:
        pl_reply_problem(r, 404, "not_found", "Not found",
                         "nothing exists at this path; GET /openapi.json lists every path", NULL);
        return;
    case PL_MATCH_NO_METHOD:
        pl_reply_problemf(r, 405, "method_not_allowed", "Method not allowed",
                          "this path supports: %s", allow);
        pl_reply_header(r, "Allow", "%s", allow);
        return;
    }
}

bool pl_request_check_refuses_now(pl_request *r)
{
    const char *expect = pl_request_header(r, "Expect");
    return r->declared > PL_SWALLOW_MAX || (expect && strcasecmp(expect, "100-continue") == 0);
}

/* 406 if the client asks for a type that the route never produces; among several, the handler chooses. Not for HEAD,
 * which has no body. */
static void check_accept(pl_request *r)
{
    char text[256];
    const char *types[8] = {NULL};
    int count = 0;
    snprintf(text, sizeof text, "%s", r->route->produces);
    for (char *rest = text, *type; count < 7 && (type = strtok_r(rest, ", ", &rest));) {
        types[count++] = type;
    }
    pl_request_accept(r, types);
}

static void check_room(pl_request *r)
{
    struct pl_disk *disk = pl_http_setup_of(r->http)->disk;
    if (!pl_disk_full(disk)) {
        return;
    }
    pl_disk_state seen = pl_disk_look(disk);
    if (seen.full) {
        pl_reply_problemf(r, seen.broken ? 503 : 507, seen.broken ? "disk_error" : "disk_full",
                          seen.broken ? "The disk cannot be written" : "Disk full", "%s",
                          seen.reason);
        pl_reply_header(r, "Retry-After", "60");
    }
}

bool pl_request_check_crowded(pl_request *r)
{
    if ((r->route && r->route->unlimited) ||
        (r->principal && pl_principal_has(r->principal, PL_SCOPE_ADMIN))) {
        return false;
    }
    pl_reply_clear(&r->reply);
    pl_reply_problem(r, 503, "too_many_connections", "Too many connections",
                     "all connections of this daemon, or all that one user can have, are in use",
                     NULL);
    pl_reply_header(r, "Retry-After", "5");
    pl_reply_header(r, "Connection", "close");
    return true;
}

bool pl_request_check_head(pl_request *r, const char *method, const char *path)
{
    framing f = {0};
    pl_request_each(r, false, see_header, &f);
    r->head = strcmp(method, "HEAD") == 0;
    r->declared = f.length;
    r->chunked = f.codings > 0;
    const char *fault = framing_fault(&f);
    if (r->torn) {
        fault = "a NUL byte in the head, or a folded header";
    }
    if (!fault && f.codings && r->old) {
        fault = "a Transfer-Encoding in HTTP/1.0";
    }
    if (fault) {
        pl_reply_problem(r, 400, "bad_framing", "Bad request", fault, NULL);
        pl_reply_header(r, "Connection", "close");
        return true;
    }
    if (!pl_host_allowed(pl_http_setup_of(r->http)->options, f.host)) {
        pl_reply_problemf(r, 421, "misdirected", "Misdirected request",
                          "the Host name '%.100s' is not accepted by this daemon; start it with "
                          "--allow-host to accept it",
                          f.host);
    } else if (f.origin && !pl_origin_allowed(f.origin, f.host)) {
        pl_reply_problem(r, 403, "foreign_origin", "Foreign origin",
                         "pages of another origin cannot call this daemon", NULL);
    } else {
        check_route(r, method, path);
    }
    if (!r->reply.status) {
        check_access(r, &f, path);
    }
    if (!r->reply.status && r->route->stores) {
        check_room(r);
    }
    if (!r->reply.status) {
        check_query(r, &f);
    }
    if (!r->reply.status) {
        check_body(r, &f);
    }
    if (!r->reply.status && strcmp(method, "GET") == 0) {
        check_accept(r);
    }
    return r->reply.status && pl_request_check_refuses_now(r);
}
