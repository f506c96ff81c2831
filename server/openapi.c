#include "server/openapi.h"

#include "protocol/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *type, *text;
} known_parameters[] = {
    {"id", "string", "a session's id, 32 hex digits"},
    {"k", "string", "a frame's number from 0, or latest"},
    {"sha256", "string", "a file's SHA-256, 64 hex digits"},
    {"from", "integer", "first frame to send (0)"},
    {"to", "integer", "last frame to send"},
    {"limit", "integer", "how many, at most"},
    {"follow", "boolean", "go on with frames as they are made"},
    {"mode", "string", "all: every frame (default); latest: skip to the newest"},
    {"since", "integer", "events after the one of this number"},
    {"every", "integer", "only frames that this divides (1)"},
    {"max_fps", "integer", "at most so many frames a second, 1 to 1000"},
    {"dtype", "string", "f32, f64 or u16: the numbers of a frame (as stored)"},
    {"vertices", "string", "all (default), or surface: those of topology?array=surface"},
    {"fields", "string", "position, velocity or both with a comma, as far as stored"},
    {"wait", "integer", "seconds to wait for another state, at most 60"},
    {"state", "string", "only sessions in this state"},
    {"name", "string", "only sessions whose name contains this"},
    {"owner", "string", "only sessions of this owner"},
    {"label", "string", "only sessions with these labels: key=value or key, joined by commas"},
    {"cursor", "string", "next of the page before"},
    {"array", "string", "triangles, tets or surface: that array as npy"},
    {"form", "string", "posted (default) or effective: with every default filled in"},
};

static void put_parameter(pl_json_writer *w, const char *name, size_t length, const char *in)
{
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    const char *type = "string", *text = "";
    for (size_t i = 0; i < sizeof known_parameters / sizeof *known_parameters; i++) {
        if (strcmp(known_parameters[i].key, key) == 0) {
            type = known_parameters[i].type;
            text = known_parameters[i].text;
        }
    }
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
        put_parameter(w, p + 1, strcspn(p + 1, "}"), "path");
    }
    for (int i = 0; i < PL_QUERY_KEYS && r->query[i]; i++) {
        put_parameter(w, r->query[i], strlen(r->query[i]), "query");
    }
    pl_json_end_array(w);
}

static void put_content(pl_json_writer *w, const char *types)
{
    pl_json_key(w, "content");
    pl_json_begin_object(w);
    while (*types) {
        char type[64];
        size_t n = strcspn(types, ", ");
        snprintf(type, sizeof type, "%.*s", (int)n, types);
        pl_json_key(w, type);
        pl_json_begin_object(w);
        pl_json_end_object(w);
        types += n + strspn(types + n, ", ");
    }
    pl_json_end_object(w);
}

static void put_operation(pl_json_writer *w, const pl_route *r)
{
    char method[8] = "";
    for (size_t i = 0; r->method[i] && i + 1 < sizeof method; i++) {
        method[i] = (char)(r->method[i] | 0x20);
    }
    pl_json_key(w, method);
    pl_json_begin_object(w);
    pl_json_set_string(w, "summary", r->summary);
    put_parameters(w, r);
    if (r->takes != PL_TAKES_NOTHING) {
        pl_json_key(w, "requestBody");
        pl_json_begin_object(w);
        pl_json_set_boolean(w, "required", true);
        put_content(w, r->takes == PL_TAKES_JSON ? "application/json" : "application/octet-stream");
        pl_json_end_object(w);
    }
    pl_json_key(w, "responses");
    pl_json_begin_object(w);
    pl_json_key(w, "2XX");
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", "done");
    put_content(w, r->produces);
    pl_json_end_object(w);
    pl_json_key(w, "default");
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", "a problem report (RFC 9457) with every fault");
    put_content(w, "application/problem+json");
    pl_json_end_object(w);
    pl_json_end_object(w);
    pl_json_key(w, "security");
    pl_json_begin_array(w);
    if (r->scope != PL_SCOPE_PUBLIC) {
        char scope[64], row[96];
        pl_scopes_write(r->scope, scope);
        snprintf(row, sizeof row, *scope ? "{\"bearer\": [\"%s\"]}" : "{\"bearer\": []}", scope);
        pl_json_put_raw(w, row);
    }
    pl_json_end_array(w);
    pl_json_end_object(w);
}

char *pl_openapi_build(const pl_route *routes)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "openapi", "3.1.0");
    pl_json_set_raw(&w, "info",
                    "{\"title\": \"Pliant\", \"version\": \"" PLIANT_VERSION
                    "\", \"description\": \"Simulation of deformable bodies: post a scene, stream "
                    "frames and metrics back.\"}");
    pl_json_set_raw(&w, "components",
                    "{\"securitySchemes\": {\"bearer\": {\"type\": \"http\", \"scheme\": "
                    "\"bearer\"}}}");
    pl_json_key(&w, "paths");
    pl_json_begin_object(&w);
    /* Rows of one path stand together in the table. */
    for (const pl_route *r = routes; r->method; r++) {
        bool first = r == routes || strcmp(r[-1].path, r->path) != 0;
        bool last = !r[1].method || strcmp(r[1].path, r->path) != 0;
        if (first) {
            pl_json_key(&w, r->path);
            pl_json_begin_object(&w);
        }
        put_operation(&w, r);
        if (last) {
            pl_json_end_object(&w);
        }
    }
    pl_json_end_object(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

void pl_handle_openapi(pl_request *r)
{
    pl_reply_document(r, "application/json",
                      pl_openapi_build(pl_http_routes(pl_request_daemon(r)->http)));
}
