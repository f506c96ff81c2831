/* Usage of the machine: runs that end, continue, or outlast their daemon are counted once; access to it; limits and
 * shares of groups.
 */
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static daemon_fixture fixture;
static daemon_fixture *d = &fixture;

static void start_with(const char *cores)
{
    daemon_fixture_start(d, (const char *[]){"--cores", cores, NULL});
}

static void start(void)
{
    start_with("1");
}

static void stop(void)
{
    daemon_fixture_stop(d);
}

static void user_token(const char *name, char secret[TENANT_SECRET])
{
    tenant_user(d, name);
    tenant_token(d, name, "submit read", secret, NULL);
}

/* GET as a user (NULL: the owner), which must be a 200; the JSON is the caller's. */
static json_t *get(const char *secret, const char *target)
{
    http_reply *r = tenant_call(d, secret ? secret : d->token, "GET", target, NULL, NULL);
    http_expect(r, 200);
    json_t *json = json_incref(r->json);
    http_reply_free(r);
    return json;
}

/* The row of items whose `by` has this value, or NULL. */
static const json_t *row(const json_t *usage, const char *by, const char *value)
{
    const json_t *items = json_at(usage, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (strcmp(json_text(item, by), value) == 0) {
            return item;
        }
    }
    return NULL;
}

static double number(const json_t *value, const char *path)
{
    return json_number_value(json_at(value, path));
}

/* Posts as a user, in a group or (NULL) none: the status; of a 201 the id. */
static int post(const char *secret, const char *group, char *scene, char id[33])
{
    char target[120];
    snprintf(target, sizeof target, "/v1/sessions%s%s", group ? "?group=" : "", group ? group : "");
    http_reply *r = tenant_call(d, secret, "POST", target, "Prefer: wait=60\r\n", scene);
    int status = r->status;
    snprintf(id, 33, "%.32s", json_text(r->json, "id"));
    free(scene);
    http_reply_free(r);
    return status;
}

static void patch(const char *target, const char *body, int status)
{
    http_reply *r = tenant_call(d, d->token, "PATCH", target, NULL, body);
    http_expect(r, status);
    http_reply_free(r);
}

/* A finished run is a row of its user, its group and its day, and of the machine. */
START_TEST(test_a_run_counts)
{
    char anna[TENANT_SECRET], id[33];
    user_token("anna", anna);
    tenant_group(d, "lab");
    tenant_member(d, "lab", "anna", "manage");
    ck_assert_int_eq(post(anna, "lab", session_scene(40, 1, ""), id), 201);
    session_await(d, id, "succeeded");
    json_t *users = get(NULL, "/v1/usage?by=user"), *groups = get(NULL, "/v1/usage?by=group");
    int64_t bytes = 0;
    json_t *days = get(anna, "/v1/usage?by=day");
    const json_t *one = row(users, "user", "anna");
    ck_assert_int_eq(json_count(one, "runs"), 1);
    ck_assert_double_gt(number(one, "core_seconds"), 0);
    ck_assert_double_eq(number(one, "core_seconds"),
                        number(row(groups, "group", "lab"), "core_seconds"));
    ck_assert_double_eq(number(one, "core_seconds"), number(days, "items/0/core_seconds"));
    ck_assert_double_eq(number(one, "core_seconds"), number(users, "machine/core_seconds"));
    json_t *before = get(NULL, "/v1/usage?by=user&from=2026-01-01&to=2026-01-02");
    ck_assert_uint_eq(json_array_size(json_at(before, "items")), 0);
    json_decref(before);
    json_decref(users);
    do { /* sampled each few seconds at the most */
        daemon_fixture_nap();
        users = get(NULL, "/v1/usage?by=user");
        one = row(users, "user", "anna");
        bytes = json_count(one, "bytes");
        json_decref(bytes < 1000 ? users : NULL);
    } while (bytes < 1000);
    json_decref(users);
    json_decref(groups);
    json_decref(days);
}
END_TEST

/* The same as CSV, by the query or by Accept. */
START_TEST(test_csv)
{
    char id[33];
    session_run(d, session_scene(3, 1, ""), id);
    http_reply *a = http_get(d, "/v1/usage?by=user&format=csv");
    http_reply *b = http_get_as(d, "/v1/usage?by=user", "text/csv");
    http_expect(a, 200);
    ck_assert_str_eq(http_header(a, "Content-Type"), "text/csv");
    ck_assert_str_eq(a->body, b->body);
    double cores, gpus;
    int runs, bytes;
    ck_assert_int_eq(sscanf(a->body,
                            "user,core_seconds,gpu_seconds,runs,bytes\nowner,%lf,%lf,%d,%d\n",
                            &cores, &gpus, &runs, &bytes),
                     4);
    ck_assert_double_gt(cores, 0);
    ck_assert_double_eq(gpus, 0);
    ck_assert_int_eq(runs, 1);
    http_reply_free(a);
    http_reply_free(b);
}
END_TEST

static void check_query(const char *target, const char *key)
{
    http_reply *r = http_get(d, target);
    const json_t *faults = http_problem(r, 400, "bad_query");
    char pointer[40];
    snprintf(pointer, sizeof pointer, "?%s", key);
    ck_assert_msg(strstr(json_text(json_array_get(faults, 0), "pointer"), key), "%s", target);
    http_reply_free(r);
}

START_TEST(test_wrong_queries)
{
    check_query("/v1/usage?by=week", "by");
    check_query("/v1/usage?from=2026-01-01", "by");
    check_query("/v1/usage?by=day&from=2026-02-30", "from");
    check_query("/v1/usage?by=day&from=2026-02-02&to=2026-02-01", "from");
    check_query("/v1/usage?by=day&format=xml", "format");
    check_query("/v1/usage/spans?from=2026-01-01&to=2026-03-01", "from");
    check_query("/v1/usage/spans?to=tomorrow", "to");
}
END_TEST

/* Ordinary users see their own rows and names, and one total for all others. */
START_TEST(test_who_sees_what)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], id[33], other[33], target[64];
    user_token("anna", anna);
    user_token("bob", bob);
    ck_assert_int_eq(post(anna, NULL, session_scene(20, 1, ""), id), 201);
    session_await(d, id, "succeeded");
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    patch(target, "{\"name\": \"secret\"}", 200);
    ck_assert_int_eq(post(bob, NULL, session_scene(3, 1, ""), other), 201);
    session_await(d, other, "succeeded");
    json_t *mine = get(bob, "/v1/usage?by=user"), *all = get(NULL, "/v1/usage?by=user");
    ck_assert_uint_eq(json_array_size(json_at(mine, "items")), 1);
    ck_assert_int_eq(json_count(mine, "items/0/runs"), 1);
    ck_assert_double_eq(number(mine, "machine/core_seconds"), number(all, "machine/core_seconds"));
    ck_assert_int_eq(json_count(mine, "machine/runs"), 2);
    http_reply *r = tenant_call(d, bob, "GET", "/v1/usage?by=day&user=anna", NULL, NULL);
    http_problem(r, 403, "missing_scope");
    http_reply_free(r);
    json_t *spans = get(bob, "/v1/usage/spans"), *every = get(NULL, "/v1/usage/spans");
    char *text = json_dumps(spans, 0);
    ck_assert_uint_eq(json_array_size(json_at(spans, "items")), 1);
    ck_assert_str_eq(json_text(spans, "items/0/session"), other);
    ck_assert_ptr_null(strstr(text, "anna"));
    ck_assert_ptr_null(strstr(text, "secret"));
    ck_assert_ptr_null(strstr(text, id));
    ck_assert_uint_eq(json_array_size(json_at(every, "items")), 2);
    ck_assert_str_eq(json_text(every, "items/0/name"), "secret");
    ck_assert_uint_eq(json_array_size(json_at(every, "others")), 0);
    free(text);
    json_decref(spans);
    json_decref(every);
    json_decref(mine);
    json_decref(all);
}
END_TEST

/* What runs for others is there as cores without a name. */
START_TEST(test_others_run)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], id[33], from[33];
    user_token("anna", anna);
    user_token("bob", bob);
    ck_assert_int_eq(post(anna, NULL, session_scene_endless(""), id), 201);
    session_await(d, id, "running");
    json_t *mine = get(anna, "/v1/usage/spans");
    ck_assert(json_is_true(json_at(mine, "items/0/running")));
    snprintf(from, sizeof from, "%s", json_text(mine, "items/0/from"));
    json_decref(mine);
    json_t *spans = NULL;
    do { /* times are in whole seconds */
        json_decref(spans);
        daemon_fixture_nap();
        spans = get(bob, "/v1/usage/spans");
    } while (json_array_size(json_at(spans, "others")) == 0);
    ck_assert_int_eq(json_count(spans, "others/0/cores"), 1);
    ck_assert_str_eq(json_text(spans, "others/0/from"), from);
    ck_assert_uint_eq(json_array_size(json_at(spans, "items")), 0);
    json_decref(spans);
}
END_TEST

static void remove_one(const char *target)
{
    http_reply *r = tenant_call(d, d->token, "DELETE", target, NULL, NULL);
    http_expect(r, 204);
    http_reply_free(r);
}

/* Who manages a group sees what its members used in it, and nothing else of theirs; who only views it does not. */
START_TEST(test_managers_see_their_group)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], carl[TENANT_SECRET], id[33];
    user_token("anna", anna);
    user_token("bob", bob);
    user_token("carl", carl);
    tenant_group(d, "lab");
    tenant_group(d, "shop");
    tenant_member(d, "lab", "anna", "view");
    tenant_member(d, "lab", "bob", "manage");
    tenant_member(d, "lab", "carl", "view");
    tenant_member(d, "shop", "anna", "view");
    tenant_member(d, "shop", "bob", "view");
    ck_assert_int_eq(post(anna, "lab", session_scene(20, 1, ""), id), 201);
    session_await(d, id, "succeeded");
    ck_assert_int_eq(post(anna, "shop", session_scene(3, 1, ""), id), 201);
    session_await(d, id, "succeeded");
    ck_assert_int_eq(post(anna, NULL, session_scene(3, 1, ""), id), 201);
    session_await(d, id, "succeeded");
    json_t *of_lab = get(bob, "/v1/usage?by=user&group=lab");
    ck_assert_int_eq(json_count(row(of_lab, "user", "anna"), "runs"), 1);
    ck_assert_str_eq(json_text(of_lab, "user"), "bob");
    json_decref(of_lab);
    json_t *of_anna = get(bob, "/v1/usage?by=day&group=lab&user=anna");
    ck_assert_int_eq(json_count(of_anna, "items/0/runs"), 1);
    ck_assert_str_eq(json_text(of_anna, "user"), "bob"); /* limits are one's own */
    json_decref(of_anna);
    static const char *const none[] = {"/v1/usage?by=user", "/v1/usage?by=user&group=shop"};
    for (size_t i = 0; i < 2; i++) {
        json_t *own = get(bob, none[i]);
        ck_assert_ptr_null(row(own, "user", "anna"));
        json_decref(own);
    }
    json_t *viewed = get(carl, "/v1/usage?by=user&group=lab");
    ck_assert_ptr_null(row(viewed, "user", "anna"));
    json_decref(viewed);
    static const char *const refused[] = {"/v1/usage?by=day&user=anna&group=shop",
                                          "/v1/usage?by=day&user=anna",
                                          "/v1/usage?user=anna&group=lab"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        http_reply *r = tenant_call(d, bob, "GET", refused[i], NULL, NULL);
        ck_assert_int_ge(r->status, 400);
        http_reply_free(r);
    }
}
END_TEST

/* The next user or group of the same name inherits nothing from a removed one; past usage stays. */
START_TEST(test_removed)
{
    char anna[TENANT_SECRET], again[TENANT_SECRET], id[33], target[64];
    for (int i = 0; i < 6; i++) { /* some within a second */
        user_token("anna", anna);
        tenant_group(d, "lab");
        tenant_member(d, "lab", "anna", "manage");
        ck_assert_int_eq(post(anna, "lab", session_scene(3, 1, ""), id), 201);
        session_await(d, id, "succeeded");
        snprintf(target, sizeof target, "/v1/sessions/%s", id);
        remove_one(target);
        remove_one("/v1/users/anna");
        remove_one("/v1/groups/lab");
    }
    user_token("anna", again);
    tenant_group(d, "lab");
    tenant_member(d, "lab", "anna", "view");
    json_t *mine = get(again, "/v1/usage?by=user"), *spans = get(again, "/v1/usage/spans");
    json_t *all = get(NULL, "/v1/usage?by=user"), *groups = get(NULL, "/v1/usage?by=group");
    ck_assert_uint_eq(json_array_size(json_at(mine, "items")), 0);
    ck_assert_uint_eq(json_array_size(json_at(spans, "items")), 0);
    ck_assert_int_eq(strncmp(json_text(all, "items/0/user"), "anna (removed 20", 16), 0);
    ck_assert_int_eq(strncmp(json_text(groups, "items/0/group"), "lab (removed 20", 15), 0);
    json_decref(spans);
    json_decref(mine);
    json_decref(all);
    json_decref(groups);
}
END_TEST

static double used_by(const char *user, int64_t runs)
{
    json_t *usage = get(NULL, "/v1/usage?by=user");
    const json_t *one = row(usage, "user", user);
    ck_assert_int_eq(json_count(one, "runs"), runs);
    double used = number(one, "core_seconds");
    json_decref(usage);
    return used;
}

/* A run counts while it runs, and counts as one across a killed daemon; one that ends meanwhile counts until its
 * end. */
START_TEST(test_restarts)
{
    char id[33], ends[33], at[32];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 5);
    double first = used_by("owner", 1);
    ck_assert_double_gt(first, 0);
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    session_await(d, id, "running");
    double second = used_by("owner", 1);
    ck_assert_double_gt(second, first);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    double third = used_by("owner", 1);
    ck_assert_double_ge(third, second);
    session_post_free(d, session_scene(60, 1, ""), ends);
    session_await_frame(d, ends, 1);
    pid_t worker = daemon_fixture_await_worker(ends);
    daemon_fixture_end(d, SIGKILL);
    while (kill(worker, 0) == 0) {
        daemon_fixture_nap();
    }
    double away = daemon_fixture_clock();
    time_t over = time(NULL);
    while (daemon_fixture_clock() - away < 2) {
        daemon_fixture_nap();
    }
    daemon_fixture_resume(d);
    session_await(d, ends, "succeeded");
    json_t *spans = get(NULL, "/v1/usage/spans");
    ck_assert_uint_eq(json_array_size(json_at(spans, "items")), 2);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&over));
    ck_assert_str_le(json_text(spans, "items/1/to"), at);
    json_decref(spans);
    used_by("owner", 2);
}
END_TEST

/* While nothing starts, the second user's session is ahead of the first's, which was posted before. */
static void check_goes_first(const char *second, const char *first)
{
    char early[33], late[33];
    http_reply_free(http_post(d, "/v1/devices/cpu/drain", "{}"));
    ck_assert_int_eq(post(first, NULL, session_scene(3, 1, ""), early), 201);
    ck_assert_int_eq(post(second, NULL, session_scene(3, 1, ""), late), 201);
    json_t *waits = session_show(d, late);
    ck_assert_int_eq(json_count(waits, "queue/position"), 1);
    json_decref(waits);
}

/* Usage survives a restart: the user who used less goes first. */
START_TEST(test_shares_survive)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], used[33];
    user_token("anna", anna);
    user_token("bob", bob);
    ck_assert_int_eq(post(anna, NULL, session_scene(40, 1, ""), used), 201);
    session_await(d, used, "succeeded");
    http_reply_free(http_post(d, "/v1/devices/cpu/drain", "{}"));
    daemon_fixture_end(d, SIGTERM);
    daemon_fixture_resume(d);
    check_goes_first(bob, anna);
}
END_TEST

static char *reindex(char said[4000])
{
    ck_assert_int_eq(
        daemon_fixture_command(d, (const char *const[]){"--reindex", NULL}, said, 4000), 0);
    return said;
}

/* As if 5 s on a core had been used in runs that are not kept any more. */
static void use_earlier(void)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "UPDATE usage_days SET core_ms = core_ms + 5000 WHERE user = "
                                  "'anna'; INSERT INTO run_times VALUES('probe', 0.25, 3)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static int64_t probe_times(void)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT count(*) FROM run_times WHERE kind = 'probe' AND "
                                        "log_ratio = 0.25 AND runs = 3",
                                        -1, &s, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

/* After loss of the database, usage is restored from the copy beside it, and with it the order of turns; runs count
 * once. */
START_TEST(test_survives_the_database)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], used[33], said[4000];
    user_token("anna", anna);
    user_token("bob", bob);
    ck_assert_int_eq(post(anna, NULL, session_scene(40, 1, ""), used), 201);
    session_await(d, used, "succeeded");
    daemon_fixture_end(d, SIGTERM);
    use_earlier();
    daemon_fixture_resume(d);
    http_reply *before = http_get(d, "/v1/usage?by=user"), *spans = http_get(d, "/v1/usage/spans");
    daemon_fixture_end(d, SIGTERM);
    daemon_fixture_lose_database(d);
    ck_assert_ptr_nonnull(
        strstr(reindex(said), "Usage: 1 sums by day and user from usage.json, written"));
    daemon_fixture_resume(d);
    http_reply *after = http_get(d, "/v1/usage?by=user"), *again = http_get(d, "/v1/usage/spans");
    const json_t *one = row(before->json, "user", "anna"), *two = row(after->json, "user", "anna");
    ck_assert_double_gt(number(one, "core_seconds"), 5);
    ck_assert_int_eq(probe_times(), 1);
    ck_assert_double_eq(number(one, "core_seconds"), number(two, "core_seconds"));
    ck_assert_int_eq(json_count(two, "runs"), 1);
    ck_assert_uint_eq(json_array_size(json_at(again->json, "items")), 1);
    ck_assert_str_eq(json_text(again->json, "items/0/from"),
                     json_text(spans->json, "items/0/from"));
    check_goes_first(bob, anna);
    http_reply *const all[] = {before, spans, after, again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        http_reply_free(all[i]);
    }
}
END_TEST

/* A damaged usage.json is reported, and --reindex succeeds without it. */
START_TEST(test_damaged_copy)
{
    char said[4000], id[33];
    session_run(d, session_scene(3, 1, ""), id);
    daemon_fixture_end(d, SIGTERM);
    daemon_fixture_lose_database(d);
    ck_assert_int_eq(truncate(daemon_fixture_path(d, "usage.json"), 40), 0);
    ck_assert_ptr_nonnull(strstr(reindex(said), "Usage: 0 sums"));
    daemon_fixture_resume(d);
    ck_assert_double_eq(used_by("owner", 0), 0);
    session_await(d, id, "succeeded");
}
END_TEST

/* A group's sessions together: how many may wait, and how many run; the error names the group whose limit it is. */
START_TEST(test_limits_of_a_group)
{
    char anna[TENANT_SECRET], bob[TENANT_SECRET], one[33], two[33], three[33];
    stop();
    start_with("3");
    user_token("anna", anna);
    user_token("bob", bob);
    tenant_group(d, "lab");
    tenant_member(d, "lab", "anna", "manage");
    tenant_member(d, "lab", "bob", "manage");
    patch("/v1/groups/lab", "{\"running\": 1, \"queued\": 1, \"share\": 3}", 200);
    patch("/v1/groups/lab", "{\"requests\": 1}", 422);
    patch("/v1/groups/nobody", "{\"running\": 1}", 404);
    ck_assert_int_eq(post(anna, "lab", session_scene_endless(""), one), 201);
    session_await(d, one, "running");
    ck_assert_int_eq(post(bob, "lab", session_scene_endless(""), two), 201);
    json_t *waits = session_show(d, two);
    ck_assert_str_eq(json_text(waits, "queue/code"), "group_limit");
    ck_assert_str_eq(json_text(waits, "queue/reason"),
                     "waits for its group's limit: 1 of 1 sessions run");
    json_decref(waits);
    char *scene = session_scene(3, 1, "");
    http_reply *r = tenant_call(d, bob, "POST", "/v1/sessions?group=lab", NULL, scene);
    const json_t *faults = http_problem(r, 429, "over_limit");
    ck_assert_ptr_nonnull(http_fault(faults, "/groups/lab/limits/queued"));
    ck_assert_ptr_nonnull(http_header(r, "Retry-After"));
    http_reply_free(r);
    free(scene);
    ck_assert_int_eq(post(bob, NULL, session_scene_endless(""), three), 201);
    session_await(d, three, "running");
    json_t *groups = get(NULL, "/v1/groups");
    ck_assert_int_eq(json_count(groups, "items/0/limits/share"), 3);
    json_decref(groups);
    patch("/v1/groups/lab", "{\"running\": null}", 200);
    session_await(d, two, "running");
}
END_TEST

static void move(const char *token, const char *id, const char *group, int status,
                 const char *pointer)
{
    char target[80], body[80];
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    snprintf(body, sizeof body, "{\"group\": %s%s%s}", group ? "\"" : "", group ? group : "null",
             group ? "\"" : "");
    http_reply *r = tenant_call(d, token, "PATCH", target, NULL, body);
    if (status == 200) {
        http_expect(r, 200);
    } else {
        ck_assert_ptr_nonnull(http_fault(http_problem(r, status, "over_limit"), pointer));
    }
    http_reply_free(r);
}

/* Moving a session to a group is checked against its limits: unfinished sessions, waiting sessions, their cores and
 * bytes. */
START_TEST(test_moves_into_a_group)
{
    char anna[TENANT_SECRET], ended[33], runs[33], waits[33], wide[33];
    stop();
    start_with("2");
    user_token("anna", anna);
    tenant_group(d, "lab");
    tenant_member(d, "lab", "anna", "manage");
    ck_assert_int_eq(post(anna, NULL, session_scene(3, 1, ""), ended), 201);
    session_await(d, ended, "succeeded");
    patch("/v1/groups/lab", "{\"sessions\": 1, \"queued\": 0, \"bytes\": 1000}", 200);
    move(anna, ended, "lab", 403, "/groups/lab/limits/bytes");
    patch("/v1/groups/lab", "{\"bytes\": null}", 200);
    move(anna, ended, "lab", 200, NULL); /* it has ended: no other limit is for it */
    char *scene = session_scene_endless(", \"resources\": {\"cores\": 2}");
    ck_assert_int_eq(post(anna, NULL, scene, wide), 201);
    session_await(d, wide, "running");
    ck_assert_int_eq(post(anna, NULL, session_scene_endless(""), waits), 201);
    move(anna, waits, "lab", 429, "/groups/lab/limits/queued");
    patch("/v1/groups/lab", "{\"queued\": 1, \"cores\": 1}", 200);
    move(anna, wide, "lab", 403, "/groups/lab/limits/cores");
    move(anna, waits, "lab", 200, NULL);
    patch("/v1/groups/lab", "{\"cores\": null}", 200);
    move(anna, wide, "lab", 429, "/groups/lab/limits/sessions");
    move(anna, waits, NULL, 200, NULL);
    move(anna, wide, "lab", 200, NULL);
    session_tell(d, wide, "cancel");
    session_await(d, waits, "running");
    move(anna, waits, "lab", 200, NULL);
    ck_assert_int_eq(post(anna, NULL, session_scene_endless(""), runs), 201);
    session_await(d, runs, "running");
    move(anna, runs, "lab", 429, "/groups/lab/limits/sessions");
}
END_TEST

/* `pliantd` sets the named limits and keeps the rest; a user at the limit of running sessions waits. */
START_TEST(test_limits_by_command)
{
    char anna[TENANT_SECRET], one[33], two[33], said[4000];
    stop();
    start_with("2");
    const char *const commands[][7] = {
        {"user", "create", "anna", "--limit", "running=1,cores=2", NULL},
        {"user", "limit", "anna", "--share", "5", NULL},
        {"user", "limit", "anna", "--limit", "cores=none", NULL},
        {"group", "create", "lab", "--share", "2", "--json", NULL},
        {"group", "limit", "lab", "--limit", "gpus=0", NULL},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        ck_assert_int_eq(daemon_fixture_command(d, commands[i], said, sizeof said), 0);
    }
    const char *const wrong[] = {"group", "limit", "lab", "--limit", "requests=3", NULL};
    ck_assert_int_eq(daemon_fixture_command(d, wrong, said, sizeof said), 2);
    json_t *users = get(NULL, "/v1/users"), *groups = get(NULL, "/v1/groups");
    ck_assert_int_eq(json_count(users, "items/0/limits/running"), 1);
    ck_assert_int_eq(json_count(users, "items/0/limits/share"), 5);
    ck_assert(json_is_null(json_at(users, "items/0/limits/cores")));
    ck_assert_int_eq(json_count(groups, "items/0/limits/share"), 2);
    ck_assert_int_eq(json_count(groups, "items/0/limits/gpus"), 0);
    json_decref(users);
    json_decref(groups);
    tenant_token(d, "anna", "submit read", anna, NULL);
    ck_assert_int_eq(post(anna, NULL, session_scene_endless(""), one), 201);
    session_await(d, one, "running");
    ck_assert_int_eq(post(anna, NULL, session_scene_endless(""), two), 201);
    json_t *waits = session_show(d, two);
    ck_assert_str_eq(json_text(waits, "queue/code"), "user_running");
    json_decref(waits);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("usage");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_a_run_counts);
    tcase_add_test(cases, test_csv);
    tcase_add_test(cases, test_wrong_queries);
    tcase_add_test(cases, test_who_sees_what);
    tcase_add_test(cases, test_others_run);
    tcase_add_test(cases, test_removed);
    tcase_add_test(cases, test_restarts);
    tcase_add_test(cases, test_shares_survive);
    tcase_add_test(cases, test_limits_of_a_group);
    tcase_add_test(cases, test_managers_see_their_group);
    tcase_add_test(cases, test_survives_the_database);
    tcase_add_test(cases, test_damaged_copy);
    tcase_add_test(cases, test_moves_into_a_group);
    tcase_add_test(cases, test_limits_by_command);
    return run_cases("usage", cases);
}
