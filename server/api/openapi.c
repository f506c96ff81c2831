#include "server/api/openapi.h"

#include "protocol/export/export.h"
#include "protocol/text/json.h"
#include "protocol/scene/schema.h"
#include "server/base/daemon.h"
#include "server/http/problems.h"
#include "server/api/replies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key in braces is a path parameter. */
typedef struct parameter {
    const char *key, *type, *text;
} parameter;
/* A key that only one path has is listed after that path's. */
static const parameter known_parameters[] = {
    {"{id}", "string", "ID, 32 hex digits"},
    {"{k}", "string", "frame number from 0, or latest"},
    {"{sha256}", "string", "SHA-256 of a file, 64 hex digits"},
    {"{code}", "string", "last word of a problem's type"},
    {"{device}", "string", "cpu"},
    {"{name}", "string", "name of the user or group"},
    {"{user}", "string", "name of a user"},
    {"{link}", "string", "ID of a share link, 32 hex digits"},
    {"{file}", "string", "name of the file in the page"},
    {"{scene}", "string", "name of the scene in the gallery"},
    {"from", "integer", "first frame to send (0)"},
    {"to", "integer", "last frame to send"},
    {"limit", "integer", "most items"},
    {"follow", "boolean", "continue with new frames"},
    {"mode", "string", "all: every frame (default); latest: skip to the newest"},
    {"since", "integer", "only events after this number"},
    {"buckets", "integer", "number of buckets; each gives the minimum and maximum of every number"},
    {"every", "integer",
     "only frames divisible by N; in an export every N-th, counted from its first (1)"},
    {"format", "string", PL_EXPORT_NAMES},
    {"frame", "string",
     "one frame of a series (vtu, obj, ply): a number, first or last; returns the file itself"},
    {"prefix", "string", "prefix of the file names (the session's name)"},
    {"body", "string", "name of the only body to export (all)"},
    {"offset", "integer", "bytes to skip at the beginning (0); beyond the end: 416"},
    {"frames", "integer", "number of frames to compute (1)"},
    {"max_fps", "integer", "maximum frames per second, 1 to 1000"},
    {"dtype", "string", "number type of a frame: f32, f64 or u16 (as stored)"},
    {"vertices", "string",
     "all (default), or surface: those of topology?array=surface; an export then has no "
     "tetrahedra"},
    {"fields", "string",
     "position, velocity, stress, contacts, or several, separated by commas; only stored fields"},
    {"wait", "integer", "seconds to wait for a new state, at most 60"},
    {"sessions", "boolean", "also remove its sessions"},
    {"geometry", "boolean", "also return the geometry to draw"},
    {"prune", "boolean", "allow the change to delete stored frames"},
    {"state", "string", "only sessions in this state"},
    {"name", "string", "only sessions whose name contains this"},
    {"owner", "string", "only sessions of this owner"},
    {"label", "string", "only sessions with these labels: key=value or key, joined by commas"},
    {"cursor", "string", "`next` of the previous page"},
    {"group", "string", "group that shares the session"},
    {"user", "string", "user, for administrators"},
    {"target", "string", "only changes to this ID or name"},
    {"array", "string", "array to return as npy: triangles, tets or surface"},
    {"form", "string", "posted (default), or effective: with every default filled in"},
    {"by", "string", "grouping of the rows: user, group or day; without it no rows are returned"},
    {"/v1/sweeps/{id}/results?from", "integer", "first row (0)"},
    {"/v1/sweeps/{id}/results?limit", "integer", "maximum number of rows of the JSON table"},
    {"/v1/sweeps/{id}/results?format", "string", "json, csv or npz; overrides Accept"},
    {"/v1/sweeps/{id}/residuals?format", "string", "json or csv; overrides Accept"},
    {"/v1/usage?from", "string", "first day, UTC (29 days before the last)"},
    {"/v1/usage?to", "string", "last day (today)"},
    {"/v1/usage?group", "string",
     "only sessions of this group; its managers see those of all members"},
    {"/v1/usage?format", "string", "json or csv; overrides Accept"},
    {"/v1/usage/spans?from", "string", "a time or a day, UTC (a day before the end)"},
    {"/v1/usage/spans?to", "string", "a time or a day, at most 31 days later (now)"},
};

static const parameter *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_parameters / sizeof *known_parameters; i++) {
        if (strcmp(known_parameters[i].key, name) == 0) {
            return &known_parameters[i];
        }
    }
    return NULL;
}

static const parameter *find_parameter(const char *path, const char *in, const char *key)
{
    char name[160];
    snprintf(name, sizeof name, "%s?%s", path, key);
    const parameter *own = find_known(name);
    snprintf(name, sizeof name, strcmp(in, "path") == 0 ? "{%s}" : "%s", key);
    return own ? own : find_known(name);
}

static void put_parameter(pl_json_writer *w, const char *path, const char *name, size_t length,
                          const char *in)
{
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    const parameter *known = find_parameter(path, in, key);
    const char *type = known ? known->type : "string", *text = known ? known->text : "";
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", key);
    pl_json_set_string(w, "in", in);
    pl_json_set_boolean(w, "required", strcmp(in, "path") == 0);
    pl_json_set_string(w, "description", text);
    pl_json_key(w, "schema");
    pl_json_begin_object(w);
    pl_json_set_string(w, "type", type);
    pl_json_end_object(w);
    pl_json_end_object(w);
}

static void put_parameters(pl_json_writer *w, const pl_route *r)
{
    pl_json_key(w, "parameters");
    pl_json_begin_array(w);
    for (const char *p = strchr(r->path, '{'); p; p = strchr(p + 1, '{')) {
        put_parameter(w, r->path, p + 1, strcspn(p + 1, "}"), "path");
    }
    for (int i = 0; i < PL_QUERY_KEYS && r->query[i]; i++) {
        put_parameter(w, r->path, r->query[i], strlen(r->query[i]), "query");
    }
    pl_json_end_array(w);
}

/* ---- bodies ---- */

/* A list of media types, with this schema for JSON types; NULL: none. */
static void put_content(pl_json_writer *w, const char *types, const char *schema)
{
    pl_json_key(w, "content");
    pl_json_begin_object(w);
    while (*types) {
        char type[64];
        size_t n = strcspn(types, ", ");
        snprintf(type, sizeof type, "%.*s", (int)n, types);
        pl_json_key(w, type);
        pl_json_begin_object(w);
        if (schema && strstr(type, "json") && !strstr(type, "ndjson")) {
            pl_json_key(w, "schema");
            pl_reply_type_put(w, schema, NULL);
        }
        pl_json_end_object(w);
        types += n + strspn(types + n, ", ");
    }
    pl_json_end_object(w);
}

static void put_request(pl_json_writer *w, const pl_route *r)
{
    bool patch = strcmp(r->method, "PATCH") == 0;
    pl_json_key(w, "requestBody");
    pl_json_begin_object(w);
    pl_json_set_boolean(w, "required", true);
    put_content(w,
                r->takes == PL_TAKES_BYTES ? "application/octet-stream"
                : patch                    ? "application/json, application/merge-patch+json"
                                           : "application/json",
                r->body);
    pl_json_end_object(w);
}

static void put_reply(pl_json_writer *w, const char *status, const char *doc, const char *types,
                      const char *schema)
{
    pl_json_key(w, status);
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", doc);
    pl_json_set_raw(w, "headers",
                    "{\"Pliant-Version\": {\"schema\": {\"type\": \"string\"}, \"required\": "
                    "true}, \"X-Request-Id\": {\"schema\": {\"type\": \"string\"}, "
                    "\"required\": true}}");
    if (types) {
        put_content(w, types, schema);
    }
    pl_json_end_object(w);
}

/* "201 Session, 202 Session, 204, 304": each status with its document, if any. */
static void put_replies(pl_json_writer *w, const pl_route *r)
{
    const char *at = r->replies ? r->replies : "200";
    pl_json_key(w, "responses");
    pl_json_begin_object(w);
    while (*at) {
        char status[4], schema[64] = "#";
        size_t n = strcspn(at, ","), name = n > 4 ? n - 4 : 0;
        snprintf(status, sizeof status, "%.3s", at);
        snprintf(schema + 1, sizeof schema - 1, "%.*s", (int)name, at + 4);
        bool kept = strcmp(status, "304") == 0, moved = strcmp(status, "308") == 0;
        bool empty = kept || moved || strcmp(status, "204") == 0;
        put_reply(w, status,
                  kept    ? "not modified"
                  : moved ? "moved"
                          : "done",
                  empty ? NULL : r->produces, name ? schema : NULL);
        at += n + strspn(at + n, ", ");
    }
    put_reply(w, "4XX", "problem with the request (RFC 9457), with every fault",
              "application/problem+json", "#Problem");
    put_reply(w, "5XX", "problem in the daemon", "application/problem+json", "#Problem");
    pl_json_end_object(w);
}

/* ---- operations ---- */

/* "GET /v1/sessions/{id}/frames" as "getSessionsIdFrames", "GET /" as "getRoot". */
static void set_operation_id(pl_json_writer *w, const pl_route *r, const char *method)
{
    char id[128];
    size_t n = (size_t)snprintf(id, sizeof id, "%s", method);
    bool upper = false;
    const char *path = strncmp(r->path, "/v1", 3) == 0 ? r->path + 3 : r->path;
    for (; *path && n + 1 < sizeof id; path++) {
        bool letter = (*path >= 'a' && *path <= 'z') || (*path >= '0' && *path <= '9');
        if (letter) {
            id[n++] = upper && *path >= 'a' ? (char)(*path - 32) : *path;
        }
        upper = !letter;
    }
    snprintf(id + n, sizeof id - n, "%s", path[-1] == '/' ? "Root" : "");
    pl_json_set_string(w, "operationId", id);
}

static void put_security(pl_json_writer *w, const pl_route *r)
{
    pl_json_key(w, "security");
    pl_json_begin_array(w);
    if (r->scope != PL_SCOPE_PUBLIC) {
        char scope[64];
        pl_scopes_write(r->scope & PL_SCOPES_ALL, scope);
        if (r->scope == PL_SCOPE_METRICS) { /* public on a loopback address */
            pl_json_put_raw(w, "{}");
        }
        pl_json_begin_object(w);
        pl_json_key(w, "bearer");
        pl_json_begin_array(w);
        if (*scope) {
            pl_json_put_string(w, scope);
        }
        pl_json_end_array(w);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

static void put_operation(pl_json_writer *w, const pl_route *r)
{
    char method[8] = "";
    for (size_t i = 0; r->method[i] && i + 1 < sizeof method; i++) {
        method[i] = (char)(r->method[i] | 0x20);
    }
    pl_json_key(w, method);
    pl_json_begin_object(w);
    set_operation_id(w, r, method);
    pl_json_set_string(w, "summary", r->summary);
    put_parameters(w, r);
    if (r->takes != PL_TAKES_NOTHING) {
        put_request(w, r);
    }
    put_replies(w, r);
    put_security(w, r);
    pl_json_end_object(w);
}

static void put_paths(pl_json_writer *w, const pl_route *routes)
{
    pl_json_key(w, "paths");
    pl_json_begin_object(w);
    /* Rows of one path are adjacent in the table. */
    for (const pl_route *r = routes; r->method; r++) {
        bool first = r == routes || strcmp(r[-1].path, r->path) != 0;
        bool last = !r[1].method || strcmp(r[1].path, r->path) != 0;
        if (first) {
            pl_json_key(w, r->path);
            pl_json_begin_object(w);
        }
        put_operation(w, r);
        if (last) {
            pl_json_end_object(w);
        }
    }
    pl_json_end_object(w);
}

/* ---- documents ---- */

/* A problem's type is one of the types with a page. */
static void put_problem(pl_json_writer *w)
{
    pl_json_key(w, "Problem");
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", "A problem, as in RFC 9457.");
    pl_json_set_string(w, "type", "object");
    pl_json_set_boolean(w, "additionalProperties", false);
    pl_json_set_raw(w, "required", "[\"type\", \"title\", \"status\", \"detail\", \"faults\"]");
    pl_json_key(w, "properties");
    pl_json_begin_object(w);
    pl_json_key(w, "type");
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", "URL of a page that says what to do");
    pl_json_key(w, "enum");
    pl_json_begin_array(w);
    for (const pl_problem *p = pl_problems; p->code; p++) {
        char type[96];
        snprintf(type, sizeof type, "/problems/%s", p->code);
        pl_json_put_string(w, type);
    }
    pl_json_end_array(w);
    pl_json_end_object(w);
    static const pl_reply_field others[] = {
        {"title", "string", "short summary"},
        {"status", "integer", "status of the reply"},
        {"detail", "string", "description of this case"},
        {"faults", "[]#Fault", "faults; very long lists are truncated"},
        {"faults_total", "integer", "number of faults, if the list is truncated"},
        {"first_available", "integer", "first frame still available"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        pl_json_key(w, others[i].key);
        pl_reply_type_put(w, others[i].type, others[i].doc);
    }
    pl_json_end_object(w);
    pl_json_end_object(w);
}

static void put_components(pl_json_writer *w)
{
    pl_json_key(w, "components");
    pl_json_begin_object(w);
    pl_json_set_raw(w, "securitySchemes",
                    "{\"bearer\": {\"type\": \"http\", \"scheme\": \"bearer\", \"description\": "
                    "\"a token; each operation lists the scope that the token must have\"}}");
    pl_json_key(w, "schemas");
    pl_json_begin_object(w);
    put_problem(w);
    pl_json_key(w, "Notes");
    pl_table_schema_put(w, "notes");
    for (const pl_reply_table *const *set = pl_reply_sets; *set; set++) {
        for (const pl_reply_table *t = *set; t->name; t++) {
            pl_json_key(w, t->name);
            pl_reply_schema_put(w, t);
        }
    }
    pl_json_end_object(w);
    pl_json_end_object(w);
}

/* OpenAPI 3.1 as JSON; malloc'ed. */
static char *build_document(const pl_route *routes)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "openapi", "3.1.0");
    pl_json_set_raw(&w, "info",
                    "{\"title\": \"Pliant\", \"version\": \"" PLIANT_VERSION
                    "\", \"description\": \"Simulation of deformable bodies: post a scene, stream "
                    "frames and metrics back.\"}");
    put_paths(&w, routes);
    put_components(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

char *pl_openapi_print(const pl_route *routes)
{
    char *text = build_document(routes);
    pl_json *document = text ? pl_json_parse(text, strlen(text), NULL) : NULL;
    char *pretty = document ? pl_json_dump(document, true) : NULL;
    pl_json_free(document);
    free(text);
    return pretty;
}

void pl_handle_openapi(pl_request *r)
{
    pl_reply_document(r, "application/json",
                      build_document(pl_http_routes(pl_request_daemon(r)->http)));
}

void pl_handle_scene_schema(pl_request *r)
{
    pl_reply_document(r, "application/json", pl_scene_schema_encode());
}
