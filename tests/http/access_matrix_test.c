/* Every route x every role x own, group's and other's session: who has access, who is rejected and how. The routes and
 * their scopes are read from the daemon's own description, so a new route is tried at once; one that lets in the wrong
 * users fails here.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A role's highest access to a session. */
typedef enum reach { NOTHING, VIEW, MANAGE } reach;

typedef struct role {
    const char *name, *user, *scopes;
    reach reach[3]; /* of each target */
    char secret[TENANT_SECRET];
} role;

/* alice has her own session (OWN), and one in the group lab (GROUP); NONE is an id that does not exist. */
typedef enum target { OWN, GROUP, NONE, TARGETS } target;

enum { ALICE, STRANGER = 7 };
static role roles[] = {
    {"alice", "alice", "read submit", {MANAGE, MANAGE, NOTHING}, ""},
    {"alice, reading", "alice", "read", {MANAGE, MANAGE, NOTHING}, ""},
    {"alice, submitting", "alice", "submit", {MANAGE, MANAGE, NOTHING}, ""},
    {"alice, metrics", "alice", "metrics", {MANAGE, MANAGE, NOTHING}, ""},
    {"a viewer of the group", "bob", "read submit", {NOTHING, VIEW, NOTHING}, ""},
    {"a manager of the group", "carol", "read submit", {NOTHING, MANAGE, NOTHING}, ""},
    {"a reading manager", "carol", "read", {NOTHING, MANAGE, NOTHING}, ""},
    {"a stranger", "dave", "read submit", {NOTHING, NOTHING, NOTHING}, ""},
    {"an administrator", "erin", "admin", {MANAGE, MANAGE, NOTHING}, ""},
    {"the owner", NULL, "read submit admin metrics", {MANAGE, MANAGE, NOTHING}, ""},
};
enum { ROLES = sizeof roles / sizeof *roles };

static void start(void)
{
    static const char *const options[] = {"--cores", "2", NULL};
    static const char *const users[] = {"alice", "bob", "carol", "dave", "erin"};
    daemon_fixture_start(d, options);
    tenant_group(d, "lab");
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        tenant_user(d, users[i]);
    tenant_member(d, "lab", "alice", "manage");
    tenant_member(d, "lab", "bob", "view");
    tenant_member(d, "lab", "carol", "manage");
    for (int i = 0; i < ROLES; i++)
        tenant_token(d, roles[i].user, roles[i].scopes, roles[i].secret, NULL);
}

/* ---- the routes ---- */

typedef struct route {
    char method[8];
    const char *path;
    const char *scope; /* "" for any; NULL for public */
    bool bytes;        /* takes a file */
} route;

static json_t *description;
static route routes[200];
static int route_count;

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* The scopes that the description must contain, whatever the table says. */
static bool scope_is_right(const route *o)
{
    static const char *const open[] = {"/v1/version", "/v1/login", "/v1/links/open", "/v1/schema/",
                                       NULL};
    bool get = strcmp(o->method, "GET") == 0;
    if (strcmp(o->path, "/v1/sessions/{id}/sign") == 0) /* gives no more than it requires */
        return o->scope && strcmp(o->scope, "read") == 0;
    if (begins(o->path, "/v1/sessions") || begins(o->path, "/v1/sweeps") ||
        begins(o->path, "/v1/meshes"))
        return o->scope && strcmp(o->scope, get ? "read" : "submit") == 0;
    if (begins(o->path, "/v1/users") || begins(o->path, "/v1/groups"))
        return o->scope && strcmp(o->scope, "admin") == 0;
    for (int i = 0; open[i]; i++)
        if (begins(o->path, open[i]))
            return true;
    return o->scope || (get && !begins(o->path, "/v1/"));
}

static void learn_routes(void)
{
    const char *path, *method;
    json_t *methods, *operation;
    http_reply *r = http_get(d, "/openapi.json");
    http_expect(r, 200);
    description = json_incref(r->json);
    http_reply_free(r);
    json_object_foreach(json_object_get(description, "paths"), path, methods)
    {
        json_object_foreach(methods, method, operation)
        {
            route *o = &routes[route_count++];
            ck_assert_int_lt(route_count, 200);
            const json_t *bearer = json_at(operation, "security/0/bearer");
            for (size_t i = 0; method[i]; i++)
                o->method[i] = (char)(method[i] & ~0x20);
            o->path = path;
            o->scope = bearer ? json_text(bearer, "0") : NULL;
            o->bytes = json_object_get(
                           json_object_get(json_object_get(operation, "requestBody"), "content"),
                           "application/octet-stream") != NULL;
            ck_assert_msg(scope_is_right(o), "%s %s asks for %s", o->method, o->path,
                          o->scope ? o->scope : "nothing");
        }
    }
    ck_assert_int_gt(route_count, 25);
}

static bool of_session(const route *o)
{
    return strncmp(o->path, "/v1/sessions/{id}", 17) == 0;
}

static bool safe(const route *o)
{
    return strcmp(o->method, "GET") == 0;
}

/* The access that a session's route requires: manage, to change it. But a branch is the user's own session, signing an
 * address changes nothing, and links require manage. */
static reach needed(const route *o)
{
    if (strcmp(o->path, "/v1/sessions/{id}/branch") == 0 ||
        strcmp(o->path, "/v1/sessions/{id}/sign") == 0)
        return VIEW;
    return safe(o) && strcmp(o->path, "/v1/sessions/{id}/links") != 0 ? VIEW : MANAGE;
}

static bool has_scope(const role *who, const char *scope)
{
    return !scope || !*scope || strstr(who->scopes, "admin") || strstr(who->scopes, scope);
}

/* The path with its parameters filled in. */
static void fill(const route *o, const char *id, char *out, size_t size)
{
    size_t at = 0;
    for (const char *p = o->path; *p && at + 70 < size;) {
        if (*p != '{') {
            out[at++] = *p++;
            continue;
        }
        const char *value = strncmp(p, "{id}", 4) == 0       ? id
                            : strncmp(p, "{sha256}", 8) == 0 ? "0000000000000000000000000000000000"
                                                               "000000000000000000000000000000"
                            : strncmp(p, "{k}", 3) == 0      ? "0"
                                                             : "nobody";
        at += (size_t)snprintf(out + at, size - at, "%s", value);
        p = strchr(p, '}') + 1;
    }
    out[at] = 0;
}

/* Status and problem code; a stream is not read to its end, which it may not have. */
static int ask(const route *o, const char *secret, const char *id, char code[64])
{
    char where[256], head[1024];
    fill(o, id, where, sizeof where);
    bool body = !safe(o) && strcmp(o->method, "DELETE") != 0;
    http_connection *c = http_open(d);
    int n = snprintf(head, sizeof head,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%s%s%s%s\r\n%s",
                     o->method, where, secret ? "Authorization: Bearer " : "", secret ? secret : "",
                     secret ? "\r\n" : "",
                     !body      ? ""
                     : o->bytes ? "Content-Type: application/octet-stream\r\nContent-Length: 2\r\n"
                                : "Content-Type: application/json\r\nContent-Length: 2\r\n",
                     body ? "{}" : "");
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    int status = r->status;
    code[0] = 0;
    if (status >= 400) {
        ck_assert(http_read_body(c, r));
        json_t *problem = json_loads(r->body, 0, NULL);
        const char *type = json_text(problem, "type");
        snprintf(code, 64, "%s", strrchr(type, '/') ? strrchr(type, '/') + 1 : type);
        json_decref(problem);
    }
    http_reply_free(r);
    http_close(c);
    return status;
}

#define REQUIRE(condition)                                                                         \
    ck_assert_msg(condition, "%s %s by %s on %s: %d %s (%s)", o->method, o->path, who->name,       \
                  target_names[t], status, code, #condition)

static const char *const target_names[] = {"alice's", "the group's", "nobody's"};

static void try_session(const route *o, const role *who, target t, const char *shared)
{
    char id[33], code[64];
    bool allowed = has_scope(who, o->scope) && who->reach[t] >= needed(o);
    snprintf(id, sizeof id, "%s", t == NONE ? "0123456789abcdef0123456789abcdef" : shared);
    bool deadly = strcmp(o->method, "DELETE") == 0 && strcmp(o->path, "/v1/sessions/{id}") == 0;
    if (allowed && deadly) /* the others have no effect on a session that has ended */
        tenant_session(d, roles[ALICE].secret, t == GROUP ? "lab" : NULL, id);
    int status = ask(o, who->secret, id, code);
    REQUIRE(status != 401 && status < 500);
    if (!has_scope(who, o->scope)) {
        REQUIRE(status == 403 && strcmp(code, "missing_scope") == 0);
    } else if (who->reach[t] == NOTHING) {
        REQUIRE(status == 404 && strcmp(code, "no_such_session") == 0);
    } else if (who->reach[t] < needed(o)) {
        REQUIRE(status == 403 && strcmp(code, "view_only") == 0);
    } else {
        REQUIRE(status != 403 && strcmp(code, "no_such_session") != 0);
    }
}

static void try_other(const route *o, const role *who)
{
    char code[64];
    int status = ask(o, who->secret, "0123456789abcdef0123456789abcdef", code);
    const target t = NONE;
    REQUIRE(status != 401 && status < 500);
    if (has_scope(who, o->scope))
        REQUIRE(strcmp(code, "missing_scope") != 0);
    else
        REQUIRE(status == 403 && strcmp(code, "missing_scope") == 0);
}

START_TEST(every_cell)
{
    char shared[2][33], code[64];
    learn_routes();
    for (int t = 0; t < NONE; t++) {
        tenant_session(d, roles[ALICE].secret, t == GROUP ? "lab" : NULL, shared[t]);
        session_await(d, shared[t], "succeeded");
    }
    int cells = 0;
    for (int i = 0; i < route_count; i++) {
        const route *o = &routes[i];
        int nobody = ask(o, NULL, shared[OWN], code);
        int forged = ask(o, "plt_0000000000000000000000000000000000000000000000000000000000000000",
                         shared[OWN], code);
        ck_assert_msg((nobody == 401) == (o->scope != NULL), "%s %s by nobody: %d", o->method,
                      o->path, nobody);
        ck_assert_msg((forged == 401) == (o->scope != NULL), "%s %s by a forged token: %d",
                      o->method, o->path, forged);
        for (int who = 0; who < ROLES; who++) {
            if (!of_session(o)) {
                try_other(o, &roles[who]);
                cells++;
                continue;
            }
            for (target t = OWN; t < TARGETS; t++, cells++)
                try_session(o, &roles[who], t, t == GROUP ? shared[GROUP] : shared[OWN]);
        }
    }
    ck_assert_int_gt(cells, 400);
    json_decref(description);
}
END_TEST

/* Of what happens to a session a stranger hears nothing, in no list, stream or number of its own. */
START_TEST(strangers_hear_nothing)
{
    static const char *const where[] = {"/v1/events?since=0&wait=0",
                                        "/v1/queue",
                                        "/v1/sessions",
                                        "/v1/audit",
                                        "/v1/tokens",
                                        "/v1/meshes",
                                        "/v1/usage"};
    char id[33];
    tenant_session(d, roles[ALICE].secret, "lab", id);
    session_await(d, id, "succeeded");
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        for (int who = STRANGER; who >= ALICE; who -= STRANGER) {
            http_reply *r = tenant_call(d, roles[who].secret, "GET", where[i],
                                        "Accept: application/json\r\n", NULL);
            http_expect(r, 200);
            if (who == STRANGER)
                ck_assert_msg(!strstr(r->body, id) && !strstr(r->body, "alice"), "%s: %s", where[i],
                              r->body);
            else if (i == 0) /* every permitted user receives it */
                ck_assert_ptr_nonnull(strstr(r->body, id));
            http_reply_free(r);
        }
    }
}
END_TEST

/* A list contains exactly what the user may see. */
START_TEST(lists_show_what_is_yours)
{
    char own[33], shared[33];
    static const int expected[] = {2, 2, 0, 0, 1, 1, 1, 0, 2, 2};
    tenant_session(d, roles[ALICE].secret, NULL, own);
    tenant_session(d, roles[ALICE].secret, "lab", shared);
    for (int i = 0; i < ROLES; i++) {
        http_reply *r = tenant_call(d, roles[i].secret, "GET", "/v1/sessions", NULL, NULL);
        bool reads = has_scope(&roles[i], "read");
        http_expect(r, reads ? 200 : 403);
        if (reads) {
            const json_t *items = json_at(r->json, "items");
            ck_assert_msg((int)json_array_size(items) == expected[i], "%s: %zu", roles[i].name,
                          json_array_size(items));
            for (size_t k = 0; k < json_array_size(items); k++)
                ck_assert_str_eq(json_text(json_array_get(items, k), "owner"), "alice");
        }
        http_reply_free(r);
    }
}
END_TEST

static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
static const char triangle_hash[] =
    "697b00ab13410c52a542d2e9c63711fcc04e9cbf6c0d3439a9b43cc812e6e713";

static int mesh(const role *who, const char *method, const char *group)
{
    char where[160], headers[256];
    snprintf(where, sizeof where, "/v1/meshes/%s%s%s", triangle_hash, group ? "?group=" : "",
             group ? group : "");
    snprintf(headers, sizeof headers,
             "Authorization: Bearer %s\r\nContent-Type: application/octet-stream\r\n", who->secret);
    bool put = strcmp(method, "PUT") == 0;
    http_reply *r = http_call(d, method, where, headers, put ? triangle : NULL,
                              put ? strlen(triangle) : 0);
    int status = r->status;
    http_reply_free(r);
    return status;
}

/* Status, headers but Date and the random id, and body, in one text. */
static void whole_reply(const char *secret, const char *method, const char *where, char out[4096])
{
    http_reply *r = tenant_call(d, secret, method, where, NULL, NULL);
    int at = snprintf(out, 4096, "%d\n", r->status);
    for (int i = 0; i < r->header_count; i++)
        if (strcmp(r->headers[i].name, "Date") != 0 &&
            strcmp(r->headers[i].name, "X-Request-Id") != 0)
            at += snprintf(out + at, (size_t)(4096 - at), "%s: %s\n", r->headers[i].name,
                           r->headers[i].value);
    snprintf(out + at, (size_t)(4096 - at), "%s", r->body);
    http_reply_free(r);
}

/* Another user's object gets the same reply, byte for byte, as a missing one: ids and hashes cannot be guessed. */
START_TEST(others_things_are_not_there)
{
    static const struct {
        const char *method, *format;
    } asked[] = {{"GET", "/v1/sessions/%s"},          {"GET", "/v1/sessions/%s/frames/0"},
                 {"GET", "/v1/sessions/%s/metrics"},  {"DELETE", "/v1/sessions/%s"},
                 {"POST", "/v1/sessions/%s/cancel"},  {"GET", "/v1/sessions/%s/scene"},
                 {"GET", "/v1/sessions/%s/topology"}, {"GET", "/v1/sessions/%s/links"}};
    char id[33], where[160], theirs[4096], nobodys[4096];
    const char *stranger = roles[STRANGER].secret;
    tenant_session(d, roles[ALICE].secret, NULL, id);
    session_await(d, id, "succeeded");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *hole = strstr(asked[i].format, "%s");
        int before = (int)(hole - asked[i].format);
        snprintf(where, sizeof where, "%.*s%s%s", before, asked[i].format, id, hole + 2);
        whole_reply(stranger, asked[i].method, where, theirs);
        snprintf(where, sizeof where, "%.*s%s%s", before, asked[i].format,
                 "0123456789abcdef0123456789abcdef", hole + 2);
        whole_reply(stranger, asked[i].method, where, nobodys);
        ck_assert_str_eq(theirs, nobodys);
        ck_assert_int_eq(strncmp(theirs, "404", 3), 0);
    }
    ck_assert_int_eq(mesh(&roles[ALICE], "PUT", NULL), 201);
    snprintf(where, sizeof where, "/v1/meshes/%s", triangle_hash);
    whole_reply(stranger, "GET", where, theirs);
    snprintf(where, sizeof where, "/v1/meshes/%064d", 0);
    whole_reply(stranger, "GET", where, nobodys);
    ck_assert_str_eq(theirs, nobodys);
    session_await(d, id, "succeeded"); /* nothing was done to it */
}
END_TEST

static void join_refused(const role *who, const char *group)
{
    char where[96], *scene = session_scene(2, 1, "");
    snprintf(where, sizeof where, "/v1/sessions?group=%s", group);
    http_reply *r = tenant_call(d, who->secret, "POST", where, NULL, scene);
    http_problem(r, 403, "no_such_group");
    http_reply_free(r);
    free(scene);
}

/* Nobody, not even an administrator, can put a session into a group that they are not in, or that does not exist. */
START_TEST(a_group_is_for_its_members)
{
    join_refused(&roles[STRANGER], "lab");
    join_refused(&roles[ALICE], "other");
    join_refused(&roles[STRANGER + 1], "nowhere");
}
END_TEST

/* A hash alone gives nobody access to a mesh; a group's grant gives it to its members, while they are members. */
START_TEST(a_hash_is_no_key)
{
    const role *alice = &roles[ALICE], *viewer = &roles[4], *stranger = &roles[STRANGER];
    ck_assert_int_eq(mesh(alice, "PUT", NULL), 201);
    ck_assert_int_eq(mesh(alice, "GET", NULL), 200);
    ck_assert_int_eq(mesh(viewer, "GET", NULL), 404);
    ck_assert_int_eq(mesh(stranger, "GET", NULL), 404);
    ck_assert_int_eq(mesh(stranger, "PUT", "lab"), 403);
    ck_assert_int_eq(mesh(viewer, "GET", NULL), 404);
    ck_assert_int_eq(mesh(alice, "PUT", "lab"), 200);
    ck_assert_int_eq(mesh(viewer, "GET", NULL), 200);
    ck_assert_int_eq(mesh(stranger, "GET", NULL), 404);
    http_reply *r = tenant_call(d, d->token, "DELETE", "/v1/groups/lab/members/bob", NULL, NULL);
    http_expect(r, 204);
    http_reply_free(r);
    ck_assert_int_eq(mesh(viewer, "GET", NULL), 404);
}
END_TEST

int main(void)
{
    TCase *cells = tcase_create("access");
    tcase_set_timeout(cells, 180);
    tcase_add_checked_fixture(cells, start, stop_daemon);
    tcase_add_test(cells, every_cell);
    tcase_add_test(cells, lists_show_what_is_yours);
    tcase_add_test(cells, strangers_hear_nothing);
    tcase_add_test(cells, others_things_are_not_there);
    tcase_add_test(cells, a_group_is_for_its_members);
    tcase_add_test(cells, a_hash_is_no_key);
    return run_cases("access: every route, role and session", cells);
}
