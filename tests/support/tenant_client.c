#include "tests/support/tenant_client.h"

#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the owner; must be of this status. */
static http_reply *order(const daemon_fixture *d, int status, const char *method,
                         const char *target, const char *json)
{
    http_reply *r = tenant_call(d, d->token, method, target, NULL, json);
    http_expect(r, status);
    return r;
}

void tenant_user(const daemon_fixture *d, const char *name)
{
    char json[128];
    snprintf(json, sizeof json, "{\"name\": \"%s\"}", name);
    http_reply_free(order(d, 201, "POST", "/v1/users", json));
}

void tenant_group(const daemon_fixture *d, const char *name)
{
    char json[128];
    snprintf(json, sizeof json, "{\"name\": \"%s\"}", name);
    http_reply_free(order(d, 201, "POST", "/v1/groups", json));
}

void tenant_member(const daemon_fixture *d, const char *group, const char *user, const char *role)
{
    char json[64], target[200];
    snprintf(json, sizeof json, "{\"role\": \"%s\"}", role);
    snprintf(target, sizeof target, "/v1/groups/%s/members/%s", group, user);
    http_reply_free(order(d, 204, "PUT", target, json));
}

void tenant_token(const daemon_fixture *d, const char *user, const char *scopes,
                  char secret[TENANT_SECRET], char id[33])
{
    char json[256];
    snprintf(json, sizeof json, "{\"scopes\": \"%s\"%s%s%s}", scopes, user ? ", \"user\": \"" : "",
             user ? user : "", user ? "\"" : "");
    http_reply *r = order(d, 201, "POST", "/v1/tokens", json);
    snprintf(secret, TENANT_SECRET, "%s", json_text(r->json, "token"));
    if (id)
        snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
}

http_reply *tenant_call(const daemon_fixture *d, const char *secret, const char *method,
                        const char *target, const char *more, const char *json)
{
    char headers[1024];
    snprintf(headers, sizeof headers, "Authorization: %s%s\r\n%s%s", secret ? "Bearer " : "None",
             secret ? secret : "", json ? "Content-Type: application/json\r\n" : "",
             more ? more : "");
    return http_call(d, method, target, headers, json, json ? strlen(json) : 0);
}

void tenant_session(const daemon_fixture *d, const char *secret, const char *group, char id[33])
{
    char target[128], *scene = session_scene(2, 1, "");
    snprintf(target, sizeof target, "/v1/sessions%s%s", group ? "?group=" : "", group ? group : "");
    http_reply *r = tenant_call(d, secret, "POST", target, "Prefer: wait=60\r\n", scene);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    free(scene);
}
