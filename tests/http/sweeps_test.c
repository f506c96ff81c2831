/* Sweeps: rows become sessions, a few at a time; the table agrees with the sessions' own logs; wrong rows are located
 * and nothing is stored; cancel, retry, early stop, delete; access; limits; restarts of the daemon and a lost database
 * lose no row and run none twice.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG "/materials/soft/young"
enum { QUICK = 4, ENDLESS = 1000000 };

/* A bar that falls for so many steps; `more` continues the document after the scene. */
static char *sweep_text(int64_t steps, const char *more)
{
    char *text;
    ck_assert_int_gt(
        asprintf(
            &text,
            "{\"scene\": {\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
            " \"materials\": {\"soft\": {\"young\": 1e5}}, \"bodies\": [{\"name\": \"bar\","
            " \"material\": \"soft\", \"mesh\": {\"box\": {\"size\": [1, 0.2, 0.2],"
            " \"cells\": [5, 1, 1]}}}], \"pins\": [{\"select\": {\"side\": \"-x\"}}],"
            " \"output\": {\"probes\": [{\"name\": \"tip\", \"quantity\": \"position\","
            " \"component\": \"y\", \"body\": \"bar\"}]},"
            " \"expect\": [{\"name\": \"low\", \"quantity\": \"position\", \"component\": \"y\","
            " \"body\": \"bar\", \"at\": \"end\", \"max\": -0.0001}]}, %s}",
            (long long)steps, more),
        0);
    return text;
}

static http_reply *post(const char *secret, const char *target, int64_t steps, const char *more)
{
    char *text = sweep_text(steps, more);
    http_reply *r = secret ? tenant_call(d, secret, "POST", target, NULL, text)
                           : http_post(d, target, text);
    free(text);
    return r;
}

static void make_as(const char *secret, const char *target, int64_t steps, const char *more,
                    char id[33])
{
    http_reply *r = post(secret, target, steps, more);
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    ck_assert_ptr_nonnull(strstr(http_header(r, "Location"), id));
    http_reply_free(r);
}

static void make(int64_t steps, const char *more, char id[33])
{
    make_as(NULL, "/v1/sweeps", steps, more, id);
}

static http_reply *ask(const char *method, const char *id, const char *rest, int status)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/sweeps/%s%s", id, rest);
    http_reply *r = http_call(d, method, target, NULL, NULL, 0);
    http_expect(r, status);
    return r;
}

static void tell(const char *method, const char *id, const char *rest, int status)
{
    http_reply_free(ask(method, id, rest, status));
}

static void remove_session(const char *id)
{
    char target[64];
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    ck_assert_msg(r->status == 202 || r->status == 204, "%d", r->status);
    http_reply_free(r);
}

/* Rows in a state; every row is in one of them. */
static int64_t count(const char *id, const char *state)
{
    char path[64];
    int64_t sum = 0;
    const char *key;
    json_t *value;
    http_reply *r = ask("GET", id, "", 200);
    snprintf(path, sizeof path, "counts/%s", state);
    int64_t n = json_count(r->json, path);
    json_object_foreach(json_object_get(r->json, "counts"), key, value)
        sum += json_integer_value(value);
    ck_assert_int_eq(sum, json_count(r->json, "rows"));
    http_reply_free(r);
    return n;
}

static void await_state(const char *id, const char *state)
{
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    char now[32];
    do {
        http_reply *r = ask("GET", id, "", 200);
        snprintf(now, sizeof now, "%s", json_text(r->json, "state"));
        http_reply_free(r);
        if (strcmp(now, state) == 0)
            return;
        daemon_fixture_nap();
    } while (daemon_fixture_clock() < end);
    ck_abort_msg("sweep %s is %s, not %s", id, now, state);
}

static void await_count(const char *id, const char *state, int64_t least)
{
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    while (count(id, state) < least) {
        ck_assert_msg(daemon_fixture_clock() < end, "fewer than %d rows are %s", (int)least, state);
        daemon_fixture_nap();
    }
}

/* ---- running ---- */

#define RESULTS                                                                                    \
    "\"results\": [{\"metric\": \"energy/kinetic\"}, {\"metric\": \"energy/kinetic\", \"at\": "    \
    "\"max\"},"                                                                                    \
    " {\"metric\": \"energy/kinetic\", \"at\": \"min\"}, {\"metric\": \"energy/kinetic\","         \
    " \"at\": \"mean\"}, {\"probe\": \"tip\", \"name\": \"t\"}, {\"expect\": true},"               \
    " {\"expect\": \"low\"}, {\"metric\": \"no/such\"}]"

/* The values of results 0 to 4 in the session's own metrics. */
static void check_row(const json_t *row)
{
    char target[120];
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics", json_text(row, "session"));
    http_stream s = http_stream_open(d, target, NULL);
    double last = 0, most = -1, least = 1e30, sum = 0, tip = 0;
    int n = 0;
    for (char *line; (line = http_stream_line(&s)); free(line)) {
        json_t *m = json_loads(line, 0, NULL);
        if (!json_at(m, "energy")) {
            json_decref(m);
            continue; /* of the stream itself */
        }
        last = json_number_value(json_at(m, "energy/kinetic"));
        tip = json_number_value(json_at(m, "probes/tip"));
        most = last > most ? last : most;
        least = last < least ? last : least;
        sum += last;
        n++;
        json_decref(m);
    }
    http_stream_close(&s);
    ck_assert_int_eq(n, QUICK + 1);
    const double expected[] = {last, most, least, sum / n, tip, 1, 1};
    for (int k = 0; k < 7; k++)
        ck_assert_double_eq(json_number_value(json_array_get(json_object_get(row, "results"), k)),
                            expected[k]);
    ck_assert(json_is_null(json_at(row, "results/7")));
    ck_assert_double_gt(most, 0);
}

START_TEST(a_grid_is_run)
{
    static const double steps[] = {0.01, 0.015, 0.02};
    char id[33], label[80];
    make(QUICK,
         "\"name\": \"two by three\", \"parameters\": [{\"path\": \"" YOUNG "\", \"values\":"
         " [1e4, 1e5]}, {\"path\": \"/time/step\", \"range\": [0.01, 0.02], \"count\": "
         "3}], " RESULTS,
         id);
    await_state(id, "done");
    ck_assert_int_eq(count(id, "succeeded"), 6);
    http_reply *r = ask("GET", id, "/results", 200);
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 6);
    for (size_t i = 0; i < 6; i++) {
        json_t *row = json_array_get(json_object_get(r->json, "items"), i);
        ck_assert_int_eq(json_count(row, "row"), (int64_t)i);
        ck_assert_double_eq(json_number_value(json_at(row, "values/0")), i < 3 ? 1e4 : 1e5);
        ck_assert_double_eq(json_number_value(json_at(row, "values/1")), steps[i % 3]);
        check_row(row);
        json_t *scene;
        http_reply *of = http_getf(d, "/v1/sessions/%s/scene?form=posted",
                                   json_text(row, "session"));
        scene = of->json;
        ck_assert_double_eq(json_number_value(json_at(scene, "materials/soft/young")),
                            i < 3 ? 1e4 : 1e5);
        ck_assert_str_eq(json_text(scene, "labels/sweep"), id);
        http_reply_free(of);
    }
    http_reply_free(r);
    snprintf(label, sizeof label, "/v1/sessions?label=sweep=%s", id);
    r = http_get(d, label);
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 6);
    http_reply_free(r);
    r = ask("GET", id, "/results?from=4&limit=1", 200);
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 1);
    ck_assert_int_eq(json_count(r->json, "items/0/row"), 4);
    http_reply_free(r);
    r = ask("GET", id, "/results?from=99", 200);
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 0);
    http_reply_free(r);
    r = ask("GET", id, "/results?format=csv", 200);
    ck_assert_str_eq(http_header(r, "Content-Type"), "text/csv");
    static const char head[] =
        "row,session,state,warnings,materials/soft/young,time/step,energy/kinetic,"
        "energy/kinetic max,energy/kinetic min,energy/kinetic mean,t,expect,"
        "expect low,no/such\r\n0,";
    ck_assert_int_eq(strncmp(r->body, head, sizeof head - 1), 0);
    ck_assert_ptr_nonnull(strstr(r->body, ",succeeded,few_elements,100000,0.015,"));
    ck_assert_ptr_nonnull(strstr(r->body, ",1,1,\r\n"));
    http_reply_free(r);
    r = ask("GET", id, "/results?format=npz", 200);
    ck_assert_mem_eq(r->body, "PK", 2);
    ck_assert_ptr_nonnull(memmem(r->body, r->length, "time/step.npy", 13));
    ck_assert_ptr_nonnull(memmem(r->body, r->length, "'shape': (6,)", 13));
    http_reply_free(r);
    tell("GET", id, "/results?format=xls", 400);
}
END_TEST

/* At no time are more than `running` sessions unfinished. */
START_TEST(few_run_at_once)
{
    char id[33];
    make(ENDLESS,
         "\"running\": 2, \"parameters\": [{\"path\": \"" YOUNG "\", \"range\": [1e4, 1e5],"
         " \"count\": 5}]",
         id);
    await_count(id, "running", 2);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(count(id, "waiting"), 3);
        daemon_fixture_nap();
    }
    ck_assert_int_eq(daemon_fixture_sessions(d), 2);
    tell("POST", id, "/cancel", 202);
    await_state(id, "cancelled");
    ck_assert_int_eq(count(id, "cancelled"), 2);
    ck_assert_int_eq(count(id, "skipped"), 3);
    ck_assert_int_eq(daemon_fixture_sessions(d), 2);
    tell("POST", id, "/cancel", 202); /* repeating it changes nothing */
    await_state(id, "cancelled");
}
END_TEST

static void session_of(const char *id, int row, char session[33])
{
    char path[40];
    http_reply *r = ask("GET", id, "/results", 200);
    snprintf(path, sizeof path, "items/%d/session", row);
    snprintf(session, 33, "%s", json_text(r->json, path));
    http_reply_free(r);
}

START_TEST(what_failed_is_run_again)
{
    char id[33], first[33], second[33];
    make(QUICK,
         "\"running\": 1, \"parameters\": [{\"path\": \"/time/steps\", \"values\": [1000000, 4]}]",
         id);
    await_count(id, "running", 1);
    session_of(id, 0, first);
    session_tell(d, first, "cancel");
    await_state(id, "done");
    ck_assert_int_eq(count(id, "cancelled"), 1);
    ck_assert_int_eq(count(id, "succeeded"), 1);
    tell("POST", id, "/retry", 202);
    await_count(id, "running", 1);
    session_of(id, 0, second);
    ck_assert_str_ne(first, second);
    ck_assert_int_eq(count(id, "succeeded"), 1);
    http_reply *r = ask("GET", id, "/results", 200);
    ck_assert_int_eq(json_count(r->json, "items/0/tries"), 2);
    ck_assert_int_eq(json_count(r->json, "items/1/tries"), 1);
    http_reply_free(r);
    tell("POST", id, "/cancel", 202);
    await_state(id, "cancelled");
    ck_assert_int_eq(daemon_fixture_sessions(d), 3);
}
END_TEST

START_TEST(a_bound_stops_it)
{
    char id[33];
    make(QUICK,
         "\"running\": 1, \"parameters\": [{\"path\": \"" YOUNG "\", \"range\": [1e4, 2e4],"
         " \"count\": 4}], \"results\": [{\"metric\": \"frame\"}],"
         " \"stop\": {\"result\": \"frame\", \"above\": 3.5}",
         id);
    await_state(id, "stopped");
    ck_assert_int_eq(count(id, "succeeded"), 1);
    ck_assert_int_eq(count(id, "skipped"), 3);
    make(QUICK,
         "\"running\": 1, \"parameters\": [{\"path\": \"" YOUNG "\", \"range\": [1e4, 2e4],"
         " \"count\": 2}], \"results\": [{\"metric\": \"frame\"}],"
         " \"stop\": {\"result\": \"frame\", \"below\": 3.5}",
         id);
    await_state(id, "done");
    ck_assert_int_eq(count(id, "succeeded"), 2);
}
END_TEST

/* One of two bars bends far enough to stop; a retry leaves it stopped. */
START_TEST(a_record_stops_a_run)
{
    char id[33];
    make(ENDLESS,
         "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e3, 1e9]}],"
         " \"results\": [{\"metric\": \"frame\"}, {\"probe\": \"tip\", \"at\": \"min\"}],"
         " \"stop_runs\": {\"probe\": \"tip\", \"below\": -0.001}",
         id);
    await_count(id, "stopped", 1);
    ck_assert_int_eq(count(id, "running"), 1);
    http_reply *r = ask("GET", id, "/results", 200);
    const json_t *row = json_at(r->json, "items/0");
    ck_assert_str_eq(json_text(row, "state"), "stopped");
    ck_assert_ptr_nonnull(strstr(json_text(row, "message"), "stopped: tip is -0.00"));
    ck_assert_double_ge(json_number_value(json_at(row, "results/0")), 1);
    ck_assert_double_lt(json_number_value(json_at(row, "results/1")), -0.001);
    http_reply_free(r);
    r = ask("GET", id, "", 200);
    ck_assert_double_eq(json_number_value(json_at(r->json, "stop_runs/below")), -0.001);
    http_reply_free(r);
    r = http_get(d, "/metrics");
    ck_assert_ptr_nonnull(strstr(r->body, "\npliant_sweeps_created_total 1\n"));
    ck_assert_ptr_nonnull(strstr(r->body, "\npliant_sweep_runs_total 2\n"));
    ck_assert_ptr_nonnull(strstr(r->body, "\npliant_sweep_runs_stopped_total 1\n"));
    http_reply_free(r);
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    await_count(id, "stopped", 1); /* it reads the records again */
    tell("POST", id, "/cancel", 202);
    await_state(id, "cancelled");
    ck_assert_int_eq(count(id, "stopped"), 1);
    tell("POST", id, "/retry", 202);
    await_count(id, "running", 1);
    ck_assert_int_eq(count(id, "stopped"), 1);
    tell("POST", id, "/cancel", 202);
    await_state(id, "cancelled");
    r = post(NULL, "/v1/sweeps", QUICK,
             "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e5]}],"
             " \"stop_runs\": {\"probe\": \"tap\", \"below\": 1, \"above\": 2}");
    http_problem(r, 422, "invalid_sweep");
    ck_assert_str_eq(json_text(r->json, "faults/0/pointer"), "/stop_runs/probe");
    ck_assert_str_eq(json_text(r->json, "faults/1/pointer"), "/stop_runs");
    http_reply_free(r);
}
END_TEST

START_TEST(deleted_with_or_without_sessions)
{
    char id[33], kept[33];
    static const char one[] = "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e4, 2e4]}]";
    make(QUICK, one, id);
    await_state(id, "done");
    session_of(id, 0, kept);
    ck_assert_int_eq(daemon_fixture_entries(d, "sweeps"), 1);
    tell("DELETE", id, "", 204);
    tell("GET", id, "", 404);
    tell("DELETE", id, "", 404);
    ck_assert_int_eq(daemon_fixture_entries(d, "sweeps"), 0);
    json_decref(session_show(d, kept));
    make(ENDLESS, one, id);
    await_count(id, "running", 1);
    session_of(id, 0, kept);
    tell("DELETE", id, "?sessions=true", 204);
    session_await_gone(d, kept);
    make(ENDLESS, one, id);
    await_count(id, "running", 1);
    session_of(id, 0, kept);
    remove_session(kept);
    await_count(id, "deleted", 1); /* its owner took it away */
    tell("DELETE", id, "", 204);
    session_await_gone(d, kept);
}
END_TEST

/* ---- wrong ones ---- */

static void refused(const char *more, const char *pointer, const char *got)
{
    http_reply *r = post(NULL, "/v1/sweeps", QUICK, more);
    const json_t *fault = http_fault(http_problem(r, 422, "invalid_sweep"), pointer);
    ck_assert_msg(fault, "%s: no fault at %s: %s", more, pointer, r->body);
    ck_assert_msg(strstr(json_text(fault, "got"), got), "%s: %s", more, json_text(fault, "got"));
    http_reply_free(r);
}

START_TEST(wrong_rows_are_located)
{
    refused("\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1, 2, -5, -5]}]",
            "/parameters/0", "row 2: number -5");
    refused("\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1, \"a\"]}]", "/parameters/0",
            "row 1: ");
    refused("\"csv\": \"" YOUNG ",/time/step\\n1,0.1\\n2,-1\"", "/csv/2/1", "row 1: number -1");
    refused("\"parameters\": [{\"path\": \"/materials/hard/young\", \"values\": [1]}]",
            "/parameters/0/path", "hard");
    refused("\"parameters\": [{\"path\": \"/bodies/0/mesh\", \"values\": [{\"upload\": \"sha256:"
            "0000000000000000000000000000000000000000000000000000000000000000\","
            " \"format\": \"gmsh\"}]}]",
            "/parameters/0/upload", "row 0: sha256:000");
    http_reply *r = http_post(d, "/v1/sweeps", "{\"scene\": ");
    http_problem(r, 400, "bad_json");
    http_reply_free(r);
    r = http_post(d, "/v1/sweeps", "{\"scene\": {\"pliant\": 1}, \"csv\": \"/pliant\\n1\"}");
    ck_assert_ptr_nonnull(http_fault(http_problem(r, 422, "invalid_sweep"), "/scene/bodies"));
    http_reply_free(r);
    r = http_get(d, "/v1/sweeps");
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 0);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "sweeps"), 0);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
    tell("GET", "00000000000000000000000000000000", "", 404);
}
END_TEST

START_TEST(lists_have_pages)
{
    char ids[3][33], cursor[40] = "";
    for (int i = 0; i < 3; i++)
        make(QUICK, "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e4]}]", ids[i]);
    for (int i = 2; i >= 0; i--) {
        http_reply *r = http_getf(d, "/v1/sweeps?limit=1%s", cursor);
        http_expect(r, 200);
        ck_assert_str_eq(json_text(r->json, "items/0/id"), ids[i]);
        ck_assert_int_eq(json_is_null(json_object_get(r->json, "next")), i == 0);
        snprintf(cursor, sizeof cursor, "&cursor=%s", json_text(r->json, "next"));
        http_reply_free(r);
    }
}
END_TEST

/* A document counts four times, including blanks. A user's total is bounded; deleting makes room. */
START_TEST(memory_is_bounded)
{
    enum { BLANKS = 7 << 20, FIT = 9 };
    char *blanks = malloc(BLANKS + 100), last[33] = "";
    memset(blanks, ' ', BLANKS);
    strcpy(blanks + BLANKS, "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e4]}]");
    for (int i = 0; i < FIT; i++)
        make(QUICK, blanks, last);
    http_reply *r = post(NULL, "/v1/sweeps", QUICK, blanks);
    http_problem(r, 403, "too_many");
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "sweeps"), FIT);
    tell("DELETE", last, "", 204);
    make(QUICK, blanks, last);
    free(blanks);
}
END_TEST

/* ---- who may ---- */

static void expect_as(const char *secret, const char *method, const char *id, const char *rest,
                      int status)
{
    char target[120];
    snprintf(target, sizeof target, "/v1/sweeps/%s%s", id, rest);
    http_reply *r = tenant_call(d, secret, method, target, NULL, NULL);
    http_expect(r, status);
    http_reply_free(r);
}

START_TEST(only_who_may)
{
    char alice[TENANT_SECRET], reader[TENANT_SECRET], bob[TENANT_SECRET], viewer[TENANT_SECRET];
    char own[33], shared[33];
    static const char one[] = "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e4]}]";
    tenant_group(d, "lab");
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_user(d, "eve");
    tenant_member(d, "lab", "alice", "manage");
    tenant_member(d, "lab", "eve", "view");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "alice", "read", reader, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    tenant_token(d, "eve", "read submit", viewer, NULL);
    make_as(alice, "/v1/sweeps", QUICK, one, own);
    make_as(alice, "/v1/sweeps?group=lab", QUICK, one, shared);
    http_reply *r = post(bob, "/v1/sweeps?group=lab", QUICK, one);
    http_problem(r, 403, "no_such_group");
    http_reply_free(r);
    r = post(reader, "/v1/sweeps", QUICK, one);
    http_problem(r, 403, "missing_scope");
    http_reply_free(r);
    static const char *const rests[] = {"", "/results"};
    for (int i = 0; i < 2; i++) {
        expect_as(alice, "GET", own, rests[i], 200);
        expect_as(reader, "GET", own, rests[i], 200);
        expect_as(bob, "GET", own, rests[i], 404);
        expect_as(viewer, "GET", own, rests[i], 404);
        expect_as(viewer, "GET", shared, rests[i], 200);
    }
    static const char *const verbs[] = {"/cancel", "/retry"};
    for (int i = 0; i < 2; i++) {
        expect_as(bob, "POST", own, verbs[i], 404);
        expect_as(viewer, "POST", shared, verbs[i], 403);
        expect_as(reader, "POST", own, verbs[i], 403);
    }
    expect_as(bob, "DELETE", own, "", 404);
    expect_as(viewer, "DELETE", shared, "", 403);
    r = tenant_call(d, bob, "GET", "/v1/sweeps", NULL, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(r->json, "items")), 0);
    http_reply_free(r);
    await_state(shared, "done");
    await_state(own, "done");
    r = ask("GET", shared, "/results", 200);
    json_t *session = session_show(d, json_text(r->json, "items/0/session"));
    ck_assert_str_eq(json_text(session, "owner"), "alice");
    ck_assert_str_eq(json_text(session, "group"), "lab");
    json_decref(session);
    http_reply_free(r);
    /* A removed user leaves nothing to the next one of that name. */
    char of_shared[33], of_own[33];
    session_of(shared, 0, of_shared);
    session_of(own, 0, of_own);
    tell("DELETE", shared, "?sessions=true", 204);
    session_await_gone(d, of_shared);
    remove_session(of_own);
    session_await_gone(d, of_own);
    r = http_call(d, "DELETE", "/v1/users/alice", NULL, NULL, 0);
    http_expect(r, 409);
    http_reply_free(r);
    tell("DELETE", own, "", 204);
    r = http_call(d, "DELETE", "/v1/users/alice", NULL, NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
}
END_TEST

/* A user limited to one session gets a sweep's rows one after the other, with the reason. A disabled user starts
 * none. */
START_TEST(limits_hold)
{
    char alice[TENANT_SECRET], id[33];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    http_reply *r = http_call(d, "PATCH", "/v1/users/alice", "Content-Type: application/json\r\n",
                              "{\"sessions\": 1}", 15);
    http_expect(r, 200);
    http_reply_free(r);
    make_as(alice, "/v1/sweeps", ENDLESS,
            "\"running\": 3, \"parameters\": [{\"path\": \"" YOUNG "\","
            " \"range\": [1e4, 2e4], \"count\": 3}]",
            id);
    await_count(id, "running", 1);
    double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    for (bool told = false; !told; daemon_fixture_nap()) {
        r = ask("GET", id, "", 200);
        told = strstr(json_text(r->json, "message"), "limit");
        ck_assert(daemon_fixture_clock() < end);
        http_reply_free(r);
    }
    ck_assert_int_eq(count(id, "waiting"), 2);
    ck_assert_int_eq(count(id, "refused"), 0);
    r = http_call(d, "PATCH", "/v1/users/alice", "Content-Type: application/json\r\n",
                  "{\"disabled\": true, \"sessions\": 9}", 33);
    http_expect(r, 200);
    http_reply_free(r);
    for (bool told = false; !told; daemon_fixture_nap()) {
        r = ask("GET", id, "", 200);
        told = strstr(json_text(r->json, "message"), "disabled");
        ck_assert(daemon_fixture_clock() < end);
        http_reply_free(r);
    }
    ck_assert_int_eq(count(id, "waiting"), 2);
    r = http_call(d, "PATCH", "/v1/users/alice", "Content-Type: application/json\r\n",
                  "{\"disabled\": false}", 19);
    http_expect(r, 200);
    http_reply_free(r);
    await_count(id, "running", 1);
    end = daemon_fixture_clock() + HTTP_PATIENCE_S;
    while (count(id, "waiting")) {
        ck_assert(daemon_fixture_clock() < end);
        daemon_fixture_nap();
    }
    tell("POST", id, "/cancel", 202);
}
END_TEST

/* ---- restarts ---- */

#define MANY                                                                                       \
    "\"running\": 3, \"sampling\": \"latin_hypercube\", \"samples\": 12, \"seed\": 5,"             \
    " \"parameters\": [{\"path\": \"" YOUNG                                                        \
    "\", \"min\": 1e4, \"max\": 1e6, \"scale\": \"log\"}],"                                        \
    " \"results\": [{\"metric\": \"frame\"}]"

/* Each row has succeeded, with its result, in one session of its own. */
static void check_twelve(const char *id)
{
    await_state(id, "done");
    http_reply *r = ask("GET", id, "/results", 200);
    for (size_t i = 0; i < 12; i++) {
        const json_t *row = json_array_get(json_object_get(r->json, "items"), i);
        ck_assert_str_eq(json_text(row, "state"), "succeeded");
        ck_assert_int_eq(json_count(row, "tries"), 1);
        ck_assert_double_eq(json_number_value(json_at(row, "results/0")), 30);
    }
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_sessions(d), 12);
}

/* They are the row's own: neither the end of its session nor a restart takes them away. */
START_TEST(warnings_stay)
{
    char id[33], session[33];
    http_reply *r = http_post(
        d, "/v1/sweeps",
        "{\"scene\": {\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3}, \"solver\": "
        "{\"method\":"
        " \"lbfgs\", \"iterations\": 1, \"tolerance\": 1e-9}, \"materials\": {\"m\": {\"young\": "
        "1e5, \"poisson\": 0.2}},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [6, 6, 6]}},"
        " \"material\": \"m\"}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]}, \"parameters\":"
        " [{\"path\": \"/solver/iterations\", \"values\": [1, 1000]}]}");
    http_expect(r, 201);
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    await_state(id, "done");
    for (int turn = 0; turn < 2; turn++) {
        r = ask("GET", id, "", 200);
        ck_assert_int_eq(json_count(r->json, "warned"), 1);
        http_reply_free(r);
        r = ask("GET", id, "/results", 200);
        const json_t *items = json_object_get(r->json, "items");
        ck_assert_str_eq(json_text(json_array_get(items, 0), "warnings/0/code"), "unconverged");
        ck_assert_int_eq(json_count(json_array_get(items, 0), "warnings/0/count"), 3);
        ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(items, 1), "warnings")),
                          0);
        snprintf(session, sizeof session, "%s", json_text(json_array_get(items, 0), "session"));
        http_reply_free(r);
        if (turn == 0) {
            remove_session(session);
            ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
            daemon_fixture_resume(d);
        }
    }
}
END_TEST

static http_reply *post_with_key(const char *key, int64_t steps)
{
    char headers[400],
        *text = sweep_text(steps, "\"parameters\": [{\"path\": \"" YOUNG "\", \"values\": [1e5]}]");
    snprintf(headers, sizeof headers, "Content-Type: application/json\r\nIdempotency-Key: %s\r\n",
             key);
    http_reply *r = http_call(d, "POST", "/v1/sweeps", headers, text, strlen(text));
    free(text);
    return r;
}

static size_t sweeps_there(void)
{
    http_reply *r = http_get(d, "/v1/sweeps");
    size_t count = json_array_size(json_object_get(r->json, "items"));
    http_reply_free(r);
    return count;
}

/* Also by a daemon that was killed since. A sweep that was lost with its directory takes its key along. */
START_TEST(a_key_makes_one)
{
    http_reply *first = post_with_key("one", QUICK);
    http_expect(first, 201);
    for (int turn = 0; turn < 2; turn++) {
        http_reply *again = post_with_key("one", QUICK);
        http_expect(again, 201);
        ck_assert_str_eq(again->body, first->body);
        ck_assert_str_eq(http_header(again, "Location"), http_header(first, "Location"));
        ck_assert_str_eq(http_header(again, "Idempotency-Replayed"), "true");
        http_reply_free(again);
        ck_assert_uint_eq(sweeps_there(), 1);
        if (turn == 0) {
            daemon_fixture_end(d, SIGKILL);
            daemon_fixture_resume(d);
        }
    }
    http_reply *r = post_with_key("one", QUICK + 1);
    http_problem(r, 422, "idempotency_key_reused");
    http_reply_free(r);
    char long_key[257];
    memset(long_key, 'k', 256);
    long_key[256] = 0;
    r = post_with_key(long_key, QUICK);
    http_problem(r, 400, "bad_idempotency_key");
    http_reply_free(r);
    r = post_with_key("two", -1);
    http_expect(r, 422);
    http_reply_free(r);
    r = post_with_key("two", QUICK);
    http_expect(r, 201);
    http_reply_free(r);
    char path[400], *moved;
    snprintf(path, sizeof path, "%s/sweeps/%s", d->state, json_text(first->json, "id"));
    ck_assert_int_gt(asprintf(&moved, "%s/lost", d->state), 0);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(rename(path, moved), 0);
    daemon_fixture_resume(d);
    ck_assert_uint_eq(sweeps_there(), 1);
    r = post_with_key("one", QUICK);
    http_expect(r, 201);
    ck_assert_str_ne(json_text(r->json, "id"), json_text(first->json, "id"));
    ck_assert_uint_eq(sweeps_there(), 2);
    http_reply_free(r);
    http_reply_free(first);
    free(moved);
}
END_TEST

START_TEST(a_killed_daemon_goes_on)
{
    char id[33];
    make(30, MANY, id);
    http_reply *before = ask("GET", id, "/results", 200);
    for (int turn = 0; turn < 3; turn++) {
        await_count(id, "succeeded", 2 + 3 * turn);
        daemon_fixture_end(d, SIGKILL);
        daemon_fixture_resume(d);
    }
    check_twelve(id);
    http_reply *after = ask("GET", id, "/results", 200);
    for (size_t i = 0; i < 12; i++)
        ck_assert(json_equal(
            json_at(json_array_get(json_object_get(before->json, "items"), i), "values"),
            json_at(json_array_get(json_object_get(after->json, "items"), i), "values")));
    http_reply_free(before);
    http_reply_free(after);
}
END_TEST

START_TEST(a_lost_database_is_made_again)
{
    char id[33], said[4000];
    make(30, MANY, id);
    await_count(id, "succeeded", 4);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    static const char *const reindex[] = {"--reindex", NULL};
    ck_assert_int_eq(daemon_fixture_command(d, reindex, said, sizeof said), 0);
    daemon_fixture_resume(d);
    check_twelve(id);
}
END_TEST

START_TEST(cancelled_stays_cancelled)
{
    char id[33];
    make(ENDLESS, MANY, id);
    await_count(id, "running", 1);
    tell("POST", id, "/cancel", 202);
    await_state(id, "cancelled");
    int64_t skipped = count(id, "skipped");
    ck_assert_int_ge(skipped, 9);
    ck_assert_int_eq(count(id, "cancelled"), 12 - skipped);
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    await_state(id, "cancelled");
    ck_assert_int_eq(count(id, "skipped"), skipped);
    ck_assert_int_eq(count(id, "cancelled"), 12 - skipped);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sweeps");
    tcase_add_checked_fixture(cases, start_daemon, stop_daemon);
    tcase_add_test(cases, a_grid_is_run);
    tcase_add_test(cases, few_run_at_once);
    tcase_add_test(cases, what_failed_is_run_again);
    tcase_add_test(cases, a_bound_stops_it);
    tcase_add_test(cases, a_record_stops_a_run);
    tcase_add_test(cases, deleted_with_or_without_sessions);
    tcase_add_test(cases, wrong_rows_are_located);
    tcase_add_test(cases, lists_have_pages);
    tcase_add_test(cases, memory_is_bounded);
    tcase_add_test(cases, only_who_may);
    tcase_add_test(cases, limits_hold);
    tcase_add_test(cases, warnings_stay);
    tcase_add_test(cases, a_key_makes_one);
    tcase_add_test(cases, a_killed_daemon_goes_on);
    tcase_add_test(cases, a_lost_database_is_made_again);
    tcase_add_test(cases, cancelled_stays_cancelled);
    return run_cases("http/sweeps", cases);
}
