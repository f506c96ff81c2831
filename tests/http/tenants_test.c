/* Users, groups and tokens: commands while a daemon runs, tokens that create tokens, revocation that ends streams,
 * limits with name and value, and the audit log. access_matrix_test checks who may reach what.
 */
#include "protocol/log/record.h"
#include "protocol/text/sha256.h"
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void start(void)
{
    static const char *const options[] = {"--cores", "2", "--limit", "queued=100", NULL};
    daemon_fixture_start(d, options);
}

static char said[4096];

#define COMMAND(...)                                                                               \
    daemon_fixture_command(d, (const char *const[]){__VA_ARGS__, NULL}, said, sizeof said)

/* Status of a request of this user. */
static int status_of(const char *secret, const char *method, const char *target, const char *json)
{
    http_reply *r = tenant_call(d, secret, method, target, NULL, json);
    int status = r->status;
    http_reply_free(r);
    return status;
}

static void limit(const char *user, const char *json)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/users/%s", user);
    ck_assert_int_eq(status_of(d->token, "PATCH", target, json), 200);
}

/* ---- commands ---- */

/* A command's changes are in effect when it returns. */
START_TEST(commands_beside_a_daemon)
{
    char secret[TENANT_SECRET];
    ck_assert_int_eq(COMMAND("user", "create", "alice", "--limit", "sessions=3"), 0);
    ck_assert_int_eq(COMMAND("user", "create", "alice"), 1);
    ck_assert_int_eq(COMMAND("user", "create", "al ice"), 1);
    ck_assert_int_eq(COMMAND("user", "create", "owner"), 1);
    ck_assert_int_eq(COMMAND("group", "create", "lab"), 0);
    ck_assert_int_eq(COMMAND("group", "add", "lab", "alice", "--role", "manage"), 0);
    ck_assert_int_eq(COMMAND("group", "add", "lab", "nobody"), 1);
    ck_assert_int_eq(COMMAND("token", "create", "--user", "nobody"), 1);
    ck_assert_int_eq(COMMAND("token", "create", "--user", "alice", "--scopes", "everything"), 2);
    ck_assert_int_eq(COMMAND("token", "create", "--user", "alice", "--expires", "1h"), 0);
    snprintf(secret, sizeof secret, "%.*s", (int)strcspn(said, "\n"), said);
    http_reply *r = tenant_call(d, secret, "GET", "/v1/me", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "user"), "alice");
    ck_assert_str_eq(json_text(r->json, "groups/0/name"), "lab");
    ck_assert_str_eq(json_text(r->json, "groups/0/role"), "manage");
    ck_assert_int_eq(json_count(r->json, "limits/sessions"), 3);
    char *id = strdup(json_text(r->json, "credential"));
    http_reply_free(r);
    ck_assert_int_eq(COMMAND("token", "list", "--json"), 0);
    ck_assert_ptr_nonnull(strstr(said, id));
    ck_assert_ptr_null(strstr(said, secret));
    ck_assert_int_eq(COMMAND("user", "disable", "alice"), 0);
    ck_assert_int_eq(status_of(secret, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(COMMAND("user", "enable", "alice"), 0);
    ck_assert_int_eq(status_of(secret, "GET", "/v1/me", NULL), 200);
    ck_assert_int_eq(COMMAND("token", "revoke", id), 0);
    ck_assert_int_eq(status_of(secret, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(COMMAND("token", "revoke", id), 1);
    ck_assert_int_eq(COMMAND("user", "remove", "alice"), 0);
    ck_assert_int_eq(COMMAND("user", "unknown"), 2);
    free(id);
}
END_TEST

/* Tokens, one after the other, each used once known. */
static void make_and_use_tokens(void)
{
    char secret[TENANT_SECRET];
    for (int k = 0; k < 12; k++) {
        ck_assert_int_eq(COMMAND("token", "create"), 0);
        snprintf(secret, sizeof secret, "%.*s", (int)strcspn(said, "\n"), said);
        ck_assert_int_eq(status_of(secret, "GET", "/v1/me", NULL), 200);
    }
}

/* Also where others come in the same moment. */
START_TEST(commands_at_once)
{
    enum { AT_ONCE = 4 };
    pid_t others[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) {
        others[k] = fork();
        ck_assert_int_ge(others[k], 0);
        if (others[k] == 0) {
            make_and_use_tokens();
            _exit(0);
        }
    }
    for (int k = 0; k < AT_ONCE; k++) {
        int status;
        ck_assert_int_eq(waitpid(others[k], &status, 0), others[k]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_ne(access(daemon_fixture_path(d, "tenants.changed"), F_OK), 0);
    ck_assert_int_ne(access(daemon_fixture_path(d, "tenants.taken"), F_OK), 0);
}
END_TEST

/* The head of a request, which is checked, and the rest that follows. */
static http_connection *begin_request(const char *secret, const char *line, const char *type,
                                      size_t length)
{
    char head[500];
    http_connection *c = http_open(d);
    int n = snprintf(head, sizeof head,
                     "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                     "Content-Type: %s\r\nContent-Length: %zu\r\nExpect: 100-continue\r\n"
                     "Connection: close\r\n\r\n",
                     line, secret, type, length);
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_int_eq(r->status, 100);
    http_reply_free(r);
    return c;
}

static int end_request(http_connection *c, const char *body)
{
    ck_assert(http_write(c, body, strlen(body)));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    int status = r->status;
    http_reply_free(r);
    http_close(c);
    return status;
}

/* A user or group that is removed between the head of a request and its body: nothing of it stays, and the next one of
 * that name has nothing. */
START_TEST(removed_in_the_middle)
{
    static const char mesh[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
        "$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n";
    static const char json[] = "application/json";
    char alice[TENANT_SECRET], bob[TENANT_SECRET], hash[65], put[128];
    char *scene = session_scene(1, 1, "");
    pl_sha256_hex(mesh, sizeof mesh - 1, hash);
    snprintf(put, sizeof put, "PUT /v1/meshes/%s", hash);
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_user(d, "bob");
    tenant_group(d, "lab");
    tenant_member(d, "lab", "bob", "manage");
    tenant_token(d, "bob", "read submit", bob, NULL);
    http_connection *post = begin_request(alice, "POST /v1/sessions", json, strlen(scene));
    http_connection *upload = begin_request(alice, put, "application/octet-stream",
                                            sizeof mesh - 1);
    http_connection *shared = begin_request(bob, "POST /v1/sessions?group=lab", json,
                                            strlen(scene));
    ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/users/alice", NULL), 204);
    ck_assert_int_eq(end_request(post, scene), 401);
    end_request(upload, mesh);
    ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/groups/lab", NULL), 204);
    ck_assert_int_eq(end_request(shared, scene), 403);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    http_reply *r = tenant_call(d, alice, "GET", "/v1/meshes", NULL, NULL);
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 0);
    http_reply_free(r);
    free(scene);
}
END_TEST

/* A key used by an earlier user of the name reveals nothing to the next one. */
START_TEST(keys_go_with_their_user)
{
    char secret[TENANT_SECRET], target[64];
    char *scene = session_scene(1, 1, "");
    for (int i = 0; i < 2; i++) {
        tenant_user(d, "alice");
        tenant_token(d, "alice", "read submit", secret, NULL);
        http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", "Idempotency-Key: one\r\n",
                                    scene);
        http_expect(r, 201);
        ck_assert_ptr_null(http_header(r, "Idempotency-Replayed"));
        session_await(d, json_text(r->json, "id"), "succeeded");
        snprintf(target, sizeof target, "/v1/sessions/%s", json_text(r->json, "id"));
        http_reply_free(r);
        ck_assert_int_eq(status_of(secret, "DELETE", target, NULL), 204);
        ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/users/alice", NULL), 204);
    }
    free(scene);
}
END_TEST

/* Users, tokens and memberships are there again after a restart. */
START_TEST(they_survive_a_restart)
{
    char secret[TENANT_SECRET], id[33];
    tenant_user(d, "alice");
    tenant_group(d, "lab");
    tenant_member(d, "lab", "alice", "view");
    tenant_token(d, "alice", "read submit", secret, NULL);
    tenant_session(d, secret, "lab", id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(COMMAND("user", "create", "bob"), 0); /* with no daemon there */
    daemon_fixture_resume(d);
    tenant_member(d, "lab", "bob", "view");
    http_reply *r = tenant_call(d, secret, "GET", "/v1/sessions", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), id);
    ck_assert_str_eq(json_text(r->json, "items/0/group"), "lab");
    http_reply_free(r);
    ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/groups/lab", NULL), 409);
    ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/users/alice", NULL), 409);
}
END_TEST

/* After loss of the database, they are restored from the copy beside it. */
START_TEST(they_survive_the_database)
{
    char secret[TENANT_SECRET], id[33];
    tenant_user(d, "alice");
    tenant_group(d, "lab");
    tenant_member(d, "lab", "alice", "manage");
    tenant_token(d, "alice", "read submit", secret, NULL);
    limit("alice", "{\"sessions\": 7}");
    tenant_session(d, secret, "lab", id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_lose_database(d);
    ck_assert_int_eq(COMMAND("--reindex"), 0);
    daemon_fixture_resume(d);
    http_reply *r = tenant_call(d, secret, "GET", "/v1/me", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "groups/0/role"), "manage");
    ck_assert_int_eq(json_count(r->json, "limits/sessions"), 7);
    http_reply_free(r);
    r = tenant_call(d, secret, "GET", "/v1/sessions", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), id);
    ck_assert_str_eq(json_text(r->json, "items/0/group"), "lab");
    http_reply_free(r);
    struct stat st;
    ck_assert_int_eq(stat(daemon_fixture_path(d, "tenants.json"), &st), 0);
    ck_assert_int_eq(st.st_mode & 077, 0);
}
END_TEST

/* ---- tokens ---- */

static http_reply *ask_token(const char *secret, const char *json)
{
    return tenant_call(d, secret, "POST", "/v1/tokens", NULL, json);
}

static void token_refused(const char *secret, const char *json, const char *pointer)
{
    http_reply *r = ask_token(secret, json);
    ck_assert_ptr_nonnull(http_fault(http_problem(r, 422, "invalid_body"), pointer));
    http_reply_free(r);
}

/* A token begets none that allows more, lives longer, is another's or outlives its revocation. */
START_TEST(a_token_begets_no_more_than_itself)
{
    char reader[TENANT_SECRET], short_lived[TENANT_SECRET], child[TENANT_SECRET],
        grandchild[TENANT_SECRET], id[33];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read", reader, id);
    token_refused(reader, "{\"scopes\": \"submit\"}", "/scopes");
    token_refused(reader, "{}", "/scopes");
    token_refused(reader, "{\"scopes\": \"read\", \"user\": \"bob\"}", "/user");
    token_refused(reader, "{\"scopes\": \"read\", \"expires_in\": -1}", "/expires_in");
    token_refused(d->token, "{\"scope\": \"read\"}", "/scope");
    http_reply *r = ask_token(reader, "{\"scopes\": \"read\", \"expires_in\": 0}");
    http_expect(r, 201);
    snprintf(child, sizeof child, "%s", json_text(r->json, "token"));
    ck_assert_str_ne(json_text(r->json, "expires"), ""); /* its parent's 90 days */
    http_reply_free(r);
    r = ask_token(child, "{\"scopes\": \"read\"}");
    http_expect(r, 201);
    snprintf(grandchild, sizeof grandchild, "%s", json_text(r->json, "token"));
    http_reply_free(r);
    char target[96];
    snprintf(target, sizeof target, "/v1/tokens/%s", id);
    ck_assert_int_eq(status_of(grandchild, "GET", "/v1/me", NULL), 200);
    ck_assert_int_eq(status_of(reader, "DELETE", target, NULL), 204);
    ck_assert_int_eq(status_of(reader, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(status_of(child, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(status_of(grandchild, "GET", "/v1/me", NULL), 401);
    r = ask_token(d->token, "{\"user\": \"alice\", \"expires_in\": 1}");
    http_expect(r, 201);
    snprintf(short_lived, sizeof short_lived, "%s", json_text(r->json, "token"));
    http_reply_free(r);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        if (status_of(short_lived, "GET", "/v1/me", NULL) == 401)
            break;
        ck_assert_msg(daemon_fixture_clock() < end, "a token outlives its time");
    }
}
END_TEST

/* The maximum number, not counting expired ones. */
START_TEST(tokens_are_bounded)
{
    char last[TENANT_SECRET];
    tenant_user(d, "alice");
    http_reply *r = ask_token(d->token, "{\"user\": \"alice\", \"expires_in\": 1}");
    http_expect(r, 201);
    snprintf(last, sizeof last, "%s", json_text(r->json, "token"));
    http_reply_free(r);
    for (int i = 1; i < 100; i++) {
        r = ask_token(d->token, "{\"user\": \"alice\"}");
        http_expect(r, 201);
        http_reply_free(r);
    }
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         status_of(last, "GET", "/v1/me", NULL) != 401; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    r = ask_token(d->token, "{\"user\": \"alice\"}");
    http_expect(r, 201);
    http_reply_free(r);
    r = ask_token(d->token, "{\"user\": \"alice\"}");
    http_problem(r, 403, "too_many");
    http_reply_free(r);
}
END_TEST

/* One does not see, let alone revoke, another's tokens. */
START_TEST(tokens_are_ones_own)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], id[33], target[96];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, id);
    tenant_token(d, "bob", "read submit", bob, NULL);
    snprintf(target, sizeof target, "/v1/tokens/%s", id);
    ck_assert_int_eq(status_of(bob, "DELETE", target, NULL), 404);
    ck_assert_int_eq(status_of(bob, "GET", "/v1/tokens?user=alice", NULL), 403);
    http_reply *r = tenant_call(d, bob, "GET", "/v1/tokens", NULL, NULL);
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert_str_eq(json_text(r->json, "items/0/user"), "bob");
    http_reply_free(r);
    r = tenant_call(d, d->token, "GET", "/v1/tokens?limit=1", NULL, NULL);
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    snprintf(target, sizeof target, "/v1/tokens?limit=1&cursor=%s", json_text(r->json, "next"));
    http_reply_free(r);
    r = tenant_call(d, d->token, "GET", target, NULL, NULL);
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert(json_is_null(json_at(r->json, "next")));
    http_reply_free(r);
}
END_TEST

/* A stream ends when the token that opened it is revoked. */
START_TEST(revoking_ends_streams)
{
    char secret[TENANT_SECRET], token[33], id[33], target[96], headers[160];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", secret, token);
    char *scene = session_scene_endless("");
    http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", NULL, scene);
    http_expect(r, 201);
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    free(scene);
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics?follow=1", id);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", secret);
    http_stream s = http_stream_open(d, target, headers);
    s.may_be_cut = true;
    free(http_stream_line(&s));
    snprintf(target, sizeof target, "/v1/tokens/%s", token);
    ck_assert_int_eq(status_of(d->token, "DELETE", target, NULL), 204);
    for (char *line; (line = http_stream_line(&s));)
        free(line);
    ck_assert(s.cut);
    http_stream_close(&s);
    session_tell(d, id, "cancel");
}
END_TEST

/* A session is given to a group and taken back, by its owner alone: access changes at once, and what those read who
 * lost it ends. */
START_TEST(a_session_changes_its_group)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], carol[TENANT_SECRET], id[33], target[96],
        follow[128], events[128], headers[200];
    static const char *const names[] = {"alice", "bob", "carol"};
    for (int i = 0; i < 3; i++)
        tenant_user(d, names[i]);
    tenant_group(d, "lab");
    tenant_group(d, "other");
    tenant_member(d, "lab", "alice", "view");
    tenant_member(d, "lab", "bob", "view");
    tenant_member(d, "lab", "carol", "manage");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read", bob, NULL);
    tenant_token(d, "carol", "read submit", carol, NULL);
    char *scene = session_scene_endless("");
    http_reply *r = tenant_call(d, alice, "POST", "/v1/sessions", NULL, scene);
    http_expect(r, 201);
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    free(scene);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    snprintf(follow, sizeof follow, "%s/metrics?follow=1", target);
    snprintf(events, sizeof events, "%s/events", target);
    ck_assert_int_eq(status_of(bob, "GET", target, NULL), 404);
    r = tenant_call(d, alice, "PATCH", target, NULL, "{\"group\": \"other\"}");
    http_problem(r, 403, "no_such_group");
    http_reply_free(r);
    r = tenant_call(d, alice, "PATCH", target, NULL, "{\"group\": \"lab\"}");
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "group"), "lab");
    http_reply_free(r);
    ck_assert_int_eq(status_of(bob, "GET", target, NULL), 200);
    r = tenant_call(d, carol, "PATCH", target, NULL, "{\"group\": null}");
    http_problem(r, 403, "owner_only");
    http_reply_free(r);
    ck_assert_int_eq(status_of(carol, "PATCH", target, "{\"name\": \"ours\"}"), 200);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", bob);
    http_stream metrics = http_stream_open(d, follow, headers);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\nAccept: text/event-stream\r\n",
             bob);
    http_stream told = http_stream_open(d, events, headers);
    free(http_stream_line(&metrics));
    free(http_stream_line(&told));
    r = tenant_call(d, alice, "PATCH", target, "If-Match: \"1\"\r\n", "{\"group\": null}");
    http_problem(r, 412, "changed_meanwhile");
    http_reply_free(r);
    r = tenant_call(d, alice, "PATCH", target, "If-Match: \"2\"\r\n", "{\"group\": null}");
    http_expect(r, 200);
    ck_assert(json_is_null(json_at(r->json, "group")));
    http_reply_free(r);
    ck_assert_int_eq(status_of(bob, "GET", target, NULL), 404);
    http_stream *const streams[] = {&metrics, &told};
    for (int i = 0; i < 2; i++) {
        bool revoked = false;
        for (char *line; (line = http_stream_line(streams[i])); free(line))
            revoked = strstr(line, "revoked") || (revoked && !*line);
        ck_assert_msg(revoked, "stream %d", i);
        http_stream_close(streams[i]);
    }
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    ck_assert_int_eq(status_of(bob, "GET", target, NULL), 404);
    ck_assert_int_eq(status_of(alice, "GET", target, NULL), 200);
    session_tell(d, id, "cancel");
}
END_TEST

/* ---- limits ---- */

static http_reply *post(const char *secret, const char *more)
{
    char *scene = session_scene_endless(more);
    http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", NULL, scene);
    free(scene);
    return r;
}

static void post_refused(const char *secret, const char *more, int status, const char *pointer)
{
    http_reply *r = post(secret, more);
    ck_assert_ptr_nonnull(http_fault(http_problem(r, status, "over_limit"), pointer));
    ck_assert_int_eq(http_header(r, "Retry-After") != NULL, status == 429);
    http_reply_free(r);
}

static void posted(const char *secret, const char *more, char id[33])
{
    http_reply *r = post(secret, more);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
}

/* A group is removed while a session is moved to it: one of the two is rejected; nobody ever sees a session of a
 * missing group, or any other part of such a patch. */
START_TEST(a_group_goes_as_a_session_comes)
{
    char alice[TENANT_SECRET], id[33], target[96], json[80];
    enum { SMALLEST = 250000, LARGEST = 900000000 };
    int given = 0, removed = 0;
    long lead = 0, change = SMALLEST; /* ns that the patch is ahead of the removal */
    bool before = false;
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_session(d, alice, NULL, id);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    for (int i = 0; i < (is_long_form() ? 400 : 60); i++) {
        int status;
        tenant_group(d, "lab");
        tenant_member(d, "lab", "alice", "manage");
        pid_t remover = fork();
        if (remover == 0) {
            nanosleep(&(struct timespec){.tv_nsec = lead > 0 ? lead : 0}, NULL);
            status = status_of(d->token, "DELETE", "/v1/groups/lab", NULL);
            _exit(status == 204 ? 0 : status == 409 ? 1 : 2);
        }
        snprintf(json, sizeof json, "{\"group\": \"lab\", \"name\": \"given %d\"}", i);
        nanosleep(&(struct timespec){.tv_nsec = lead < 0 ? -lead : 0}, NULL);
        int patched = status_of(alice, "PATCH", target, json);
        ck_assert_int_eq(waitpid(remover, &status, 0), remover);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        bool went = WEXITSTATUS(status) == 0;
        ck_assert_msg(patched == (went ? 403 : 200), "%d: the patch %d, the group %s", i, patched,
                      went ? "went" : "stayed");
        http_reply *r = tenant_call(d, alice, "GET", target, NULL, NULL);
        http_expect(r, 200);
        snprintf(json, sizeof json, "given %d", i);
        ck_assert_int_eq(strcmp(json_text(r->json, "name"), json) == 0, !went);
        ck_assert_str_eq(json_text(r->json, "group"), went ? "" : "lab");
        http_reply_free(r);
        given += !went;
        removed += went;
        /* The loser gets a head start, a larger one each time: so both win, on a machine of any speed. */
        change = i > 0 && went == before && change < LARGEST / 4 ? 2 * change : SMALLEST;
        lead += went ? change : -change;
        lead = lead > LARGEST ? LARGEST : lead < -LARGEST ? -LARGEST : lead;
        before = went;
        if (!went) {
            ck_assert_int_eq(status_of(alice, "PATCH", target, "{\"group\": null}"), 200);
            ck_assert_int_eq(status_of(d->token, "DELETE", "/v1/groups/lab", NULL), 204);
        }
    }
    ck_assert_msg(given > 0 && removed > 0, "no race: %d given, %d removed", given, removed);
}
END_TEST

START_TEST(limits_refuse_and_say_why)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], id[33], target[96];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    limit("alice", "{\"sessions\": 1, \"cores\": 1, \"mesh_bytes\": 10}");
    post_refused(alice, ", \"resources\": {\"cores\": 2}", 403, "/limits/cores");
    posted(alice, "", id);
    post_refused(alice, "", 429, "/limits/sessions");
    http_reply *r = tenant_call(d, alice, "GET", "/v1/usage", NULL, NULL);
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "used/sessions"), 1);
    ck_assert_int_eq(json_count(r->json, "limits/sessions"), 1);
    ck_assert_int_eq(json_count(r->json, "limits/queued"), 100);
    ck_assert_int_gt(json_count(r->json, "used/bytes"), 0);
    http_reply_free(r);
    ck_assert_int_eq(status_of(bob, "GET", "/v1/usage?user=alice", NULL), 403);
    ck_assert_int_eq(status_of(d->token, "GET", "/v1/usage?user=alice", NULL), 200);
    limit("alice", "{\"sessions\": null, \"bytes\": 1}");
    post_refused(alice, "", 403, "/limits/bytes");
    limit("alice", "{\"bytes\": null, \"queued\": 0}");
    post_refused(alice, "", 429, "/limits/queued");
    snprintf(target, sizeof target, "/v1/meshes/%064d", 0);
    r = http_call(d, "PUT",
                  "/v1/meshes/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                  "Content-Type: application/octet-stream\r\n", "test", 4);
    ck_assert_int_eq(r->status, 422); /* the owner has no limit, but that is no mesh */
    http_reply_free(r);
    snprintf(target, sizeof target, "/v1/sessions/%s/cancel", id);
    ck_assert_int_eq(status_of(alice, "POST", target, NULL), 202);
}
END_TEST

/* At the limit of cores, a user's sessions wait for each other; other users' sessions pass them. */
START_TEST(cores_are_shared)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], first[33], second[33], third[33];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    limit("alice", "{\"cores\": 1}");
    posted(alice, "", first);
    posted(alice, "", second);
    posted(bob, "", third);
    session_await(d, first, "running");
    session_await(d, third, "running");
    json_t *s = session_show(d, second);
    ck_assert_str_eq(json_text(s, "state"), "queued");
    ck_assert_ptr_nonnull(strstr(json_text(s, "queue/reason"), "limit"));
    json_decref(s);
    limit("alice", "{\"cores\": null}");
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/cancel", third);
    ck_assert_int_eq(status_of(bob, "POST", target, NULL), 202);
    session_await(d, second, "running");
}
END_TEST

/* Of many posted at once, no more are accepted than allowed. */
START_TEST(a_race_gets_no_more)
{
    enum { RACERS = 6 };
    char alice[TENANT_SECRET];
    pid_t pids[RACERS];
    int in = 0, status;
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    limit("alice", "{\"sessions\": 2}");
    for (int i = 0; i < RACERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            http_reply *r = post(alice, "");
            _exit(r->status == 201 ? 0 : r->status == 429 ? 1 : 2);
        }
    }
    for (int i = 0; i < RACERS; i++) {
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        in += WEXITSTATUS(status) == 0;
    }
    ck_assert_int_eq(in, 2);
}
END_TEST

/* ---- who changed what ---- */

static void audit_has(const char *secret, const char *query, const char *action, bool expected)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/audit%s", query);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;;
         daemon_fixture_nap()) { /* it is not waited for */
        http_reply *r = tenant_call(d, secret, "GET", target, NULL, NULL);
        http_expect(r, 200);
        bool found = r->body && strstr(r->body, action);
        http_reply_free(r);
        if (found == expected)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "%s: %s", query, action);
    }
}

START_TEST(what_was_changed_is_written_down)
{
    char alice[TENANT_SECRET], bob[TENANT_SECRET], id[33], target[96], action[128];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    tenant_session(d, alice, NULL, id);
    snprintf(target, sizeof target, "/v1/sessions/%s/cancel", id);
    ck_assert_int_eq(status_of(bob, "POST", target, NULL), 404);
    ck_assert_int_eq(COMMAND("group", "create", "lab"), 0);
    snprintf(action, sizeof action,
             "\"action\":\"POST /v1/sessions\",\"target\":\"%s\",\"status\":201", id);
    audit_has(alice, "", action, true);
    audit_has(d->token, "?user=alice", action, true);
    snprintf(action, sizeof action,
             "\"action\":\"POST /v1/sessions/{id}/cancel\",\"target\":\"%s\",\"status\":404", id);
    audit_has(bob, "", action, true);
    audit_has(alice, "", "cancel", false);
    audit_has(d->token, "", "\"by\":\"command\",\"credential\":\"\",\"action\":\"group create\"",
              true);
    ck_assert_int_eq(status_of(bob, "GET", "/v1/audit?user=alice", NULL), 403);
    http_reply *r = tenant_call(d, d->token, "GET", "/v1/audit", NULL, NULL);
    ck_assert_ptr_null(strstr(r->body, alice));
    ck_assert_ptr_null(strstr(r->body, d->token));
    http_reply_free(r);
}
END_TEST

/* ---- a database of the format before ---- */

static void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    int status = sqlite3_exec(db, sql, NULL, NULL, &message);
    ck_assert_msg(status == SQLITE_OK, "%s: %s", sql, message ? message : "");
}

/* The checksum of format 2, which had the first 25 columns. */
static uint32_t checksum_2(sqlite3_stmt *s)
{
    uint32_t crc = 0;
    for (int i = 0; i < 25; i++) {
        const char *type = sqlite3_column_decltype(s, i);
        if (strncmp(type, "TEXT", 4) == 0) {
            const char *text = (const char *)sqlite3_column_text(s, i);
            uint64_t length = text ? strlen(text) + 1 : 0;
            crc = pl_crc32c(crc, &length, sizeof length);
            crc = text ? pl_crc32c(crc, text, length - 1) : crc;
        } else if (strcmp(type, "REAL") == 0) {
            double value = sqlite3_column_double(s, i);
            crc = pl_crc32c(crc, &value, sizeof value);
        } else {
            int64_t value = sqlite3_column_int64(s, i);
            crc = pl_crc32c(crc, &value, sizeof value);
        }
    }
    return crc;
}

/* The state that a daemon of format 2 would have left. */
static void make_format_2(void)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char sql[128];
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT * FROM sessions", -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    snprintf(sql, sizeof sql, "UPDATE sessions SET crc=%lld", (long long)checksum_2(s));
    char *drops[32];
    int count = 0, columns = sqlite3_column_count(s);
    for (int i = 25; i < columns; i++) {
        const char *name = sqlite3_column_name(s, i);
        if (strcmp(name, "crc") != 0) {
            ck_assert_int_lt(count, 32);
            ck_assert_int_gt(asprintf(&drops[count++], "ALTER TABLE sessions DROP COLUMN %s", name),
                             0);
        }
    }
    ck_assert_int_gt(count, 0);
    sqlite3_finalize(s);
    for (int i = 0; i < count; i++) {
        run_sql(db, drops[i]);
        free(drops[i]);
    }
    run_sql(db, sql);
    run_sql(db, "DROP TABLE users; DROP TABLE user_groups; DROP TABLE members; DROP TABLE tokens;"
                "DROP TABLE audit; DROP INDEX grants_by_hash; PRAGMA user_version=2");
    sqlite3_close(db);
}

/* Users of a daemon that had no limit of requests keep theirs, and may get one. */
START_TEST(a_database_without_the_newest_limit)
{
    sqlite3 *db;
    tenant_user(d, "alice");
    limit("alice", "{\"sessions\": 7}");
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    run_sql(db, "ALTER TABLE users DROP COLUMN requests");
    sqlite3_close(db);
    daemon_fixture_resume(d);
    limit("alice", "{\"requests\": 5}");
    http_reply *r = http_get(d, "/v1/usage?user=alice");
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "limits/sessions"), 7);
    ck_assert_int_eq(json_count(r->json, "limits/requests"), 5);
    http_reply_free(r);
}
END_TEST

START_TEST(a_database_of_the_format_before)
{
    char id[33], secret[TENANT_SECRET];
    session_run(d, session_scene(3, 1, ""), id);
    json_t *before = session_show(d, id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    make_format_2();
    daemon_fixture_resume(d);
    json_t *after = session_show(d, id);
    json_object_del(before, "retention"); /* missing in that format */
    json_object_del(after, "retention");
    ck_assert(json_equal(before, after));
    ck_assert_msg(!daemon_fixture_said(d, "damaged"), "a row's checksum did not fit any more");
    json_decref(before);
    json_decref(after);
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", secret, NULL);
    tenant_session(d, secret, NULL, id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT crc, desired FROM sessions", -1, &s, NULL),
                     SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        ck_assert_int_ne(sqlite3_column_type(s, 0), SQLITE_NULL);
    sqlite3_finalize(s);
    sqlite3_close(db);
    daemon_fixture_resume(d);
    ck_assert_int_eq(status_of(secret, "GET", "/v1/me", NULL), 200);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("tenants");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, start, stop_daemon);
    tcase_add_test(c, commands_beside_a_daemon);
    tcase_add_test(c, commands_at_once);
    tcase_add_test(c, removed_in_the_middle);
    tcase_add_test(c, keys_go_with_their_user);
    tcase_add_test(c, they_survive_a_restart);
    tcase_add_test(c, they_survive_the_database);
    tcase_add_test(c, a_token_begets_no_more_than_itself);
    tcase_add_test(c, tokens_are_bounded);
    tcase_add_test(c, tokens_are_ones_own);
    tcase_add_test(c, revoking_ends_streams);
    tcase_add_test(c, a_session_changes_its_group);
    tcase_add_test(c, a_group_goes_as_a_session_comes);
    tcase_add_test(c, limits_refuse_and_say_why);
    tcase_add_test(c, cores_are_shared);
    tcase_add_test(c, a_race_gets_no_more);
    tcase_add_test(c, what_was_changed_is_written_down);
    tcase_add_test(c, a_database_of_the_format_before);
    tcase_add_test(c, a_database_without_the_newest_limit);
    return run_cases("tenants", c);
}
