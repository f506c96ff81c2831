#include "tests/support/api_description.h"

#include "tests/support/json_schema.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the description ---- */

static http_reply *fetch(const daemon_fixture *d)
{
    char head[160];
    http_connection *c = http_open(d);
    int n = snprintf(
        head, sizeof head,
        "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", d->port);
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_msg(r && r->status == 200 && http_read_body(c, r), "no description");
    http_close(c);
    return r;
}

const json_t *api_description(const daemon_fixture *d)
{
    static json_t *description;
    static pid_t of;
    if (of != d->pid) {
        json_error_t error;
        http_reply *r = fetch(d);
        json_decref(description);
        description = json_loadb(r->body, r->length, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(description != NULL, "/openapi.json: %s", error.text);
        http_reply_free(r);
        of = d->pid;
    }
    return description;
}

/* Whether "/v1/sessions/{id}" is the path of a target. */
static bool path_is(const char *template, const char *path)
{
    for (;;) {
        size_t t = strcspn(template, "/"), p = strcspn(path, "/?");
        bool same = template[0] == '{' ? p > 0 : t == p && strncmp(template, path, t) == 0;
        template += t;
        path += p;
        if (!same || !*template || *path != '/')
            return same && !*template && (!*path || *path == '?');
        template ++;
        path++;
    }
}

static const json_t *find_operation(const json_t *description, const char *method,
                                    const char *target)
{
    char lower[16] = "";
    const char *path;
    json_t *operations;
    for (size_t i = 0; method[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)(method[i] | 0x20);
    json_object_foreach(json_object_get(description, "paths"), path, operations)
    {
        if (path_is(path, target))
            return json_object_get(operations, strcmp(lower, "head") == 0 ? "get" : lower);
    }
    return NULL;
}

/* ---- one reply ---- */

static void check_headers(const char *what, const http_reply *r)
{
    static const struct {
        int status;
        const char *header;
    } needed[] = {{201, "Location"}, {304, "ETag"}, {401, "WWW-Authenticate"}, {405, "Allow"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        ck_assert_msg(r->status != needed[i].status || http_header(r, needed[i].header),
                      "%s: %d without %s", what, r->status, needed[i].header);
    const char *sniff = http_header(r, "X-Content-Type-Options");
    ck_assert_msg(sniff && strcmp(sniff, "nosniff") == 0, "%s: no nosniff", what);
}

/* The schema for a body of this media type; NULL: none. */
static const json_t *find_schema(const char *what, const json_t *reply, const http_reply *r)
{
    char type[128];
    const char *sent = http_header(r, "Content-Type");
    const json_t *content = json_object_get(reply, "content");
    snprintf(type, sizeof type, "%.*s", sent ? (int)strcspn(sent, ";") : 0, sent ? sent : "");
    ck_assert_msg(!sent == !content, "%s: %d comes %s a body, the description says %s", what,
                  r->status, sent ? "with" : "without", sent ? "without" : "with");
    const json_t *form = json_object_get(content, type);
    ck_assert_msg(!sent || form, "%s: %d as %s is not described", what, r->status, type);
    return json_object_get(form, "schema");
}

static void check_body(const char *what, const json_t *description, const json_t *schema,
                       const http_reply *r)
{
    char why[JSON_SCHEMA_WHY];
    json_error_t error;
    json_t *value = json_loadb(r->body, r->length, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(value != NULL, "%s: %s", what, error.text);
    ck_assert_msg(json_schema_fits(description, schema, value, why),
                  "%s: %d is not as /openapi.json has it: %s", what, r->status, why);
    json_decref(value);
}

/* For requests that it cannot read, the library replies by itself, without the daemon's headers. */
static bool is_library(const http_reply *r)
{
    return r->status >= 400 && !http_header(r, "Pliant-Version");
}

void api_check_reply(const daemon_fixture *d, const char *method, const char *target,
                     const http_reply *r, bool whole)
{
    char what[300], status[16];
    if (is_library(r))
        return;
    const json_t *description = api_description(d);
    const json_t *operation = method ? find_operation(description, method, target) : NULL;
    const json_t *problem = json_at(description, "components/schemas/Problem"), *schema = problem;
    snprintf(what, sizeof what, "%.10s %.250s", method ? method : "",
             target ? target : "no request");
    check_headers(what, r);
    if (operation) {
        const json_t *replies = json_object_get(operation, "responses");
        snprintf(status, sizeof status, "%d", r->status);
        const json_t *reply = json_object_get(replies, status);
        snprintf(status, sizeof status, "%dXX", r->status / 100);
        reply = reply ? reply : json_object_get(replies, status);
        ck_assert_msg(reply != NULL, "%s: status %d is not described", what, r->status);
        schema = find_schema(what, reply, r);
    } else {
        ck_assert_msg(r->status >= 400, "%s: %d, and it is not described", what, r->status);
    }
    bool head = method && strcmp(method, "HEAD") == 0;
    if (whole && schema && !head && r->length > 0)
        check_body(what, description, schema, r);
}
