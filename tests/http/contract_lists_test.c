/* What one holds and what there is to run on: meshes listed and let go, the queue as each may see it,
 * devices and their draining. */
#include "protocol/text/sha256.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char alice[TENANT_SECRET], bob[TENANT_SECRET], carol[TENANT_SECRET];

/* alice and carol manage the group lab, bob looks on. */
static void start(void)
{
    daemon_fixture_start(d, NULL);
    tenant_group(d, "lab");
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_user(d, "carol");
    tenant_member(d, "lab", "alice", "manage");
    tenant_member(d, "lab", "bob", "view");
    tenant_member(d, "lab", "carol", "manage");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    tenant_token(d, "carol", "read submit", carol, NULL);
}

/* ---- meshes ---- */

/* One tetrahedron, another for each number. */
static void put_mesh(const char *secret, int number, const char *group, char hash[65])
{
    char text[600], target[160], headers[300];
    int n = snprintf(text, sizeof text,
                     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n"
                     "3 0 1 0\n4 0 0 %d\n$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n"
                     "$EndElements\n",
                     number);
    pl_sha256_hex(text, (size_t)n, hash);
    snprintf(target, sizeof target, "/v1/meshes/%s%s%s", hash, group ? "?group=" : "",
             group ? group : "");
    snprintf(headers, sizeof headers,
             "Authorization: Bearer %s\r\nContent-Type: application/octet-stream\r\n", secret);
    http_reply *r = http_call(d, "PUT", target, headers, text, (size_t)n);
    ck_assert_msg(r->status == 200 || r->status == 201, "%d: %s", r->status, r->body);
    http_reply_free(r);
}

static json_t *list(const char *secret, const char *query)
{
    char target[200];
    snprintf(target, sizeof target, "/v1/meshes%s", query);
    http_reply *r = tenant_call(d, secret, "GET", target, NULL, NULL);
    http_expect(r, 200);
    json_t *page = json_incref(r->json);
    http_reply_free(r);
    return page;
}

static size_t held(const char *secret)
{
    json_t *page = list(secret, "");
    size_t n = json_array_size(json_at(page, "items"));
    json_decref(page);
    return n;
}

static int drop(const char *secret, const char *hash, const char *query)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/meshes/%s%s", hash, query);
    http_reply *r = tenant_call(d, secret, "DELETE", target, NULL, NULL);
    int status = r->status;
    http_reply_free(r);
    return status;
}

START_TEST(test_mesh_list)
{
    enum { MESHES = 5 };
    char hashes[MESHES][65], query[200] = "?limit=2", last[65] = "";
    for (int i = 0; i < MESHES; i++)
        put_mesh(alice, 1 + i, NULL, hashes[i]);
    size_t seen = 0;
    for (int page = 0; page < 3; page++) {
        json_t *found = list(alice, query);
        const json_t *items = json_at(found, "items");
        ck_assert_uint_eq(json_array_size(items), page < 2 ? 2 : 1);
        for (size_t i = 0; i < json_array_size(items); i++, seen++) {
            const json_t *item = json_array_get(items, i);
            ck_assert_str_gt(json_text(item, "hash"), last);
            snprintf(last, sizeof last, "%s", json_text(item, "hash"));
            ck_assert_int_eq(json_count(item, "vertices"), 4);
            ck_assert_int_eq(json_count(item, "tets"), 1);
            ck_assert_str_eq(json_text(item, "format"), "gmsh");
            ck_assert(json_is_true(json_at(item, "yours")));
            ck_assert_uint_eq(json_array_size(json_at(item, "groups")), 0);
        }
        ck_assert_int_eq(json_is_null(json_at(found, "next")), page == 2);
        snprintf(query, sizeof query, "?limit=2&cursor=%.100s", json_text(found, "next"));
        json_decref(found);
    }
    ck_assert_uint_eq(seen, MESHES);
    ck_assert_uint_eq(held(bob), 0);
}
END_TEST

START_TEST(test_mesh_delete)
{
    char mine[65], shared[65];
    put_mesh(alice, 1, NULL, mine);
    put_mesh(bob, 1, NULL, mine);
    put_mesh(alice, 2, "lab", shared);
    ck_assert_uint_eq(held(alice), 2);
    ck_assert_uint_eq(held(bob), 2);
    ck_assert_uint_eq(held(carol), 1);
    json_t *found = list(carol, "");
    ck_assert_str_eq(json_text(found, "items/0/groups/0"), "lab");
    ck_assert(json_is_false(json_at(found, "items/0/yours")));
    json_decref(found);
    /* Another's grant is untouched, and a mesh that is not there cannot be let go. */
    ck_assert_int_eq(drop(alice, mine, ""), 204);
    ck_assert_int_eq(drop(alice, mine, ""), 404);
    ck_assert_uint_eq(held(alice), 1);
    ck_assert_uint_eq(held(bob), 2);
    ck_assert_int_eq(drop(carol, shared, ""), 404);
    ck_assert_int_eq(drop(bob, shared, "?group=lab"), 403);
    ck_assert_int_eq(drop(bob, shared, "?group=other"), 403);
    ck_assert_int_eq(drop(carol, shared, "?group=lab"), 204);
    ck_assert_uint_eq(held(carol), 0);
    ck_assert_uint_eq(held(alice), 1); /* she uploaded it herself */
    ck_assert_int_eq(drop(alice, "nothing", ""), 404);
    /* A user who has released a mesh cannot name it in a scene. */
    char scene[400];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"upload\": \"sha256:%s\"}}]}", mine);
    http_reply *r = tenant_call(d, alice, "POST", "/v1/sessions", NULL, scene);
    ck_assert_ptr_nonnull(
        http_fault(http_problem(r, 422, "invalid_scene"), "/bodies/0/mesh/upload"));
    http_reply_free(r);
}
END_TEST

/* ---- queue and devices ---- */

static void expect_queue(const char *secret, int64_t queued, const char *const *ids, size_t count)
{
    http_reply *r = tenant_call(d, secret, "GET", "/v1/queue", NULL, NULL);
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "running"), 1);
    ck_assert_int_eq(json_count(r->json, "queued"), queued);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), count);
    for (size_t i = 0; i < count; i++) {
        char path[40];
        snprintf(path, sizeof path, "items/%zu/id", i);
        ck_assert_str_eq(json_text(r->json, path), ids[i]);
    }
    http_reply_free(r);
}

/* A page of one item, after `cursor` unless that is "". */
static void expect_page(const char *secret, const char *cursor, const char *id, const char *next)
{
    char target[80];
    snprintf(target, sizeof target, "/v1/queue?limit=1%s%s", *cursor ? "&cursor=" : "", cursor);
    http_reply *r = tenant_call(d, secret, "GET", target, NULL, NULL);
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), id);
    ck_assert_str_eq(json_text(r->json, "next"), next ? next : "");
    http_reply_free(r);
}

START_TEST(test_queue)
{
    char blocker[33], hers[33], groups[33], his[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    tenant_session(d, alice, NULL, hers);
    tenant_session(d, alice, "lab", groups);
    tenant_session(d, bob, NULL, his);
    /* Groups take turns: one without any usage goes before users without a group, who run the blocker; then users
     * do. */
    expect_queue(alice, 3, (const char *[]){groups, hers}, 2);
    expect_queue(bob, 3, (const char *[]){groups, his}, 2);
    expect_queue(d->token, 3, (const char *[]){groups, hers, his}, 3);
    /* Page by page; what bob may not see is no page of his. */
    expect_page(alice, "", groups, groups);
    expect_page(alice, groups, hers, NULL);
    expect_page(bob, groups, his, NULL);
    expect_page(d->token, groups, hers, hers);
    expect_page(d->token, hers, his, NULL);
    http_reply *r = http_get(d, "/v1/queue?cursor=1");
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
    /* The last session of a page no longer waits: no waiting session is skipped. */
    session_tell(d, hers, "cancel");
    expect_page(d->token, hers, groups, groups);
}
END_TEST

START_TEST(test_devices)
{
    char id[33];
    http_reply *r = tenant_call(d, bob, "GET", "/v1/devices", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "items/0/device"), "cpu");
    ck_assert_int_eq(json_count(r->json, "items/0/cores"), 2);
    ck_assert_int_eq(json_count(r->json, "items/0/cores_used"), 0);
    ck_assert(json_is_false(json_at(r->json, "items/0/draining")));
    http_reply_free(r);
    r = tenant_call(d, bob, "POST", "/v1/devices/cpu/drain", NULL, NULL);
    http_problem(r, 403, "missing_scope");
    http_reply_free(r);
    r = http_post(d, "/v1/devices/gpu/drain", NULL);
    http_problem(r, 404, "no_such_device");
    http_reply_free(r);
    r = http_post(d, "/v1/devices/cpu/drain", NULL);
    http_expect(r, 202);
    ck_assert(json_is_true(json_at(r->json, "items/0/draining")));
    http_reply_free(r);
    /* Accepted, and not started; resumed it runs at once. */
    session_post_free(d, session_scene(1, 1, ""), id);
    r = http_getf(d, "/v1/sessions/%s?wait=1", id);
    ck_assert_str_eq(json_text(r->json, "state"), "queued");
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "queue/reason"), "drained"));
    http_reply_free(r);
    r = http_post(d, "/v1/devices/cpu/resume", NULL);
    http_expect(r, 202);
    http_reply_free(r);
    session_await(d, id, "succeeded");
}
END_TEST

/* ---- files ---- */

/* Every file with its size, and the sum; a user without access to the session sees none. */
START_TEST(test_session_files)
{
    char id[33], path[800];
    struct stat st;
    int64_t sum = 0;
    bool log = false;
    session_run(d, session_scene(2, 1, ""), id);
    http_reply *r = http_getf(d, "/v1/sessions/%s/files", id);
    http_expect(r, 200);
    const json_t *items = json_at(r->json, "items");
    ck_assert_uint_ge(json_array_size(items), 8);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const char *name = json_text(item, "name");
        snprintf(path, sizeof path, "%s/sessions/%.2s/%s/%s", d->state, id, id, name);
        ck_assert_msg(stat(path, &st) == 0, "%s", path);
        ck_assert_int_eq(json_integer_value(json_at(item, "bytes")), st.st_size);
        sum += st.st_size;
        log |= strncmp(name, "log/", 4) == 0 && strstr(name, ".seg");
        if (i > 0)
            ck_assert_int_lt(strcmp(json_text(json_array_get(items, i - 1), "name"), name), 0);
    }
    ck_assert(log);
    ck_assert_int_eq(json_integer_value(json_at(r->json, "bytes")), sum);
    http_reply_free(r);
    snprintf(path, sizeof path, "/v1/sessions/%s/files", id);
    r = tenant_call(d, bob, "GET", path, NULL, NULL);
    http_expect(r, 404);
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("lists");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_mesh_list);
    tcase_add_test(tests, test_mesh_delete);
    tcase_add_test(tests, test_queue);
    tcase_add_test(tests, test_devices);
    tcase_add_test(tests, test_session_files);
    return run_cases("contract: lists", tests);
}
