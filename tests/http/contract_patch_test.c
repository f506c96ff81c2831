/* PATCH of a session under If-Match, labels and metadata from scene to list, and the priority in the queue; all of it
 * outlives the daemon and the database; and a database of the previous format.
 */
#include "protocol/log/record.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define JSON "Content-Type: application/json\r\n"

static http_reply *patch(const char *id, const char *headers, const char *body)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    return http_call(d, "PATCH", target, headers, body, strlen(body));
}

static void expect_notes(const char *id, const char *name, const char *labels, const char *metadata)
{
    json_t *session = session_show(d, id);
    json_t *wanted_labels = json_loads(labels, 0, NULL), *wanted = json_loads(metadata, 0, NULL);
    ck_assert_str_eq(json_text(session, "name"), name);
    ck_assert(json_equal(json_at(session, "labels"), wanted_labels));
    ck_assert(json_equal(json_at(session, "metadata"), wanted));
    json_decref(wanted_labels);
    json_decref(wanted);
    json_decref(session);
}

#define NOTED                                                                                      \
    ", \"labels\": {\"project\": \"leg\", \"run\": \"7\"}, \"metadata\": {\"author\": {\"n\": "    \
    "[1, null]}}"

/* ---- changing ---- */

START_TEST(test_change)
{
    char id[33];
    session_run(d, session_scene(1, 1, NOTED), id);
    expect_notes(id, "cube", "{\"project\": \"leg\", \"run\": \"7\"}",
                 "{\"author\": {\"n\": [1, null]}}");
    http_reply *r = patch(id, "Content-Type: application/merge-patch+json\r\n",
                          "{\"name\": \"bar \\\"x\\\" \\u00e9\", \"labels\": {\"run\": \"8\", "
                          "\"new\": \"a,b\"}, \"metadata\": {\"author\": null}}");
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "id"), id);
    ck_assert_str_eq(http_header(r, "ETag"), "\"1\"");
    ck_assert_int_eq(json_count(r->json, "revision"), 1);
    http_reply_free(r);
    const char *labels = "{\"project\": \"leg\", \"run\": \"8\", \"new\": \"a,b\"}";
    expect_notes(id, "bar \"x\" \xc3\xa9", labels, "{}");
    r = patch(id, JSON, "{\"labels\": {\"project\": null}, \"name\": null}");
    http_expect(r, 200);
    http_reply_free(r);
    expect_notes(id, "", "{\"run\": \"8\", \"new\": \"a,b\"}", "{}");
    r = patch(id, JSON, "{\"labels\": null}");
    http_expect(r, 200);
    http_reply_free(r);
    expect_notes(id, "", "{}", "{}");
    /* The scene is as it was posted. */
    r = http_getf(d, "/v1/sessions/%s/scene", id);
    ck_assert_str_eq(json_text(r->json, "labels/run"), "7");
    http_reply_free(r);
}
END_TEST

START_TEST(test_if_match)
{
    char id[33], tag[64];
    session_run(d, session_scene(1, 1, ""), id);
    http_reply *r = http_getf(d, "/v1/sessions/%s", id);
    ck_assert_ptr_nonnull(http_header(r, "ETag"));
    snprintf(tag, sizeof tag, JSON "If-Match: %s\r\n", http_header(r, "ETag"));
    http_reply_free(r);
    r = patch(id, tag, "{\"name\": \"first\"}");
    http_expect(r, 200);
    http_reply_free(r);
    r = patch(id, tag, "{\"name\": \"second\"}");
    http_problem(r, 412, "changed_meanwhile");
    ck_assert_str_eq(http_header(r, "ETag"), "\"1\"");
    http_reply_free(r);
    static const char *const never[] = {"W/\"1\"", "1", "\"11\"", "\"0\", \"2\"", ""};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        snprintf(tag, sizeof tag, JSON "If-Match: %s\r\n", never[i]);
        r = patch(id, tag, "{\"name\": \"never\"}");
        ck_assert_msg(r->status == 412, "%s: %d", never[i], r->status);
        http_reply_free(r);
    }
    expect_notes(id, "first", "{}", "{}");
    static const char *const good[] = {"*", "\"0\", \"2\"", "\"3\""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(tag, sizeof tag, JSON "If-Match: %s\r\n", good[i]);
        r = patch(id, tag, "{\"name\": \"again\"}");
        http_expect(r, 200);
        http_reply_free(r);
    }
}
END_TEST

START_TEST(test_refused)
{
    static const struct {
        const char *body;
        int status;
        const char *code, *pointer, *fault;
    } bad[] = {
        {"{", 400, "bad_json", "", "json_syntax"},
        {"{\"name\": \"a\", \"name\": \"b\"}", 400, "bad_json", "", "duplicate_key"},
        {"[]", 422, "invalid_patch", "", "wrong_type"},
        {"{\"nam\": \"a\"}", 422, "invalid_patch", "/nam", "unknown_key"},
        {"{\"state\": \"succeeded\"}", 422, "invalid_patch", "/state", "unknown_key"},
        {"{\"name\": 7}", 422, "invalid_patch", "/name", "wrong_type"},
        {"{\"labels\": {\"a\": 1}}", 422, "invalid_patch", "/labels/a", "wrong_type"},
        {"{\"labels\": []}", 422, "invalid_patch", "/labels", "wrong_type"},
        {"{\"metadata\": 3}", 422, "invalid_patch", "/metadata", "wrong_type"},
        {"{\"priority\": 101}", 422, "invalid_patch", "/priority", "out_of_range"},
        {"{\"priority\": 0.5}", 422, "invalid_patch", "/priority", "wrong_type"},
    };
    char id[33];
    session_run(d, session_scene(1, 1, NOTED), id);
    json_t *before = session_show(d, id);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = patch(id, JSON, bad[i].body);
        const json_t *faults = http_problem(r, bad[i].status, bad[i].code);
        const json_t *fault = http_fault(faults, bad[i].pointer);
        ck_assert_msg(fault != NULL, "%s: %s", bad[i].body, r->body);
        ck_assert_str_eq(json_text(fault, "code"), bad[i].fault);
        http_reply_free(r);
    }
    /* 16 KiB of metadata, and not one byte more. */
    static char big[20000];
    for (int more = 0; more < 2; more++) {
        int n = snprintf(big, sizeof big, "{\"metadata\": {\"author\": null, \"x\": \"%0*d\"}}",
                         16384 - 8 + more, 0);
        http_reply *r = patch(id, JSON, big);
        ck_assert_msg(r->status == (more ? 422 : 200), "%d of %d bytes: %.300s", r->status, n,
                      r->body);
        http_reply_free(r);
    }
    http_reply *r = patch(id, JSON,
                          "{\"metadata\": {\"author\": {\"n\": [1, null]}, \"x\": null}}");
    http_expect(r, 200);
    http_reply_free(r);
    r = patch("00000000000000000000000000000000", JSON, "{}");
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
    r = patch(id, "Content-Type: text/plain\r\n", "{}");
    http_problem(r, 415, "unsupported_media_type");
    http_reply_free(r);
    /* Null inside a patch of metadata takes away, as RFC 7396 has it; within an array it stays. */
    json_t *after = session_show(d, id);
    json_object_del(before, "revision");
    json_object_del(after, "revision");
    ck_assert(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}
END_TEST

/* ---- finding ---- */

static void expect_listed(const char *query, const char *const *ids, size_t count)
{
    http_reply *r = http_getf(d, "/v1/sessions%s", query);
    http_expect(r, 200);
    const json_t *items = json_at(r->json, "items");
    ck_assert_msg(json_array_size(items) == count, "%s: %zu", query, json_array_size(items));
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(json_text(json_array_get(items, i), "id"), ids[i]);
    http_reply_free(r);
}

START_TEST(test_labels)
{
    char a[33], b[33], c[33];
    session_run(d, session_scene(1, 1, ", \"labels\": {\"k\": \"1\", \"kk\": \"k\"}"), a);
    session_run(d, session_scene(1, 1, ", \"labels\": {\"k\": \"2\", \"q\\\"\\u007f\": \"\"}"), b);
    session_run(
        d, session_scene(1, 1, ", \"labels\": {\"text\": \"\\\"k\\\":\\\"1\\\"\", \"m\": \":x\"}"),
        c);
    expect_listed("?label=k", (const char *[]){b, a}, 2);
    expect_listed("?label=k=1", (const char *[]){a}, 1);
    expect_listed("?label=k%3D2", (const char *[]){b}, 1);
    expect_listed("?label=k=1,kk=k", (const char *[]){a}, 1);
    expect_listed("?label=k=1,kk=x", NULL, 0);
    expect_listed("?label=q%22%7F=", (const char *[]){b}, 1);
    expect_listed("?label=kk", (const char *[]){a}, 1);
    expect_listed("?label=none", NULL, 0);
    expect_listed("?label=:", NULL, 0); /* two quotes and a colon, but no key */
    expect_listed("?label=text,text", (const char *[]){c}, 1);
    expect_listed("?owner=owner&limit=2", (const char *[]){c, b}, 2);
    expect_listed("?owner=nobody", NULL, 0);
    static const char *const bad[] = {"", "=1", "a,", ",a", "a,b,c,d,e,f,g,h,i"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = http_getf(d, "/v1/sessions?label=%s", bad[i]);
        http_problem(r, 400, "bad_query");
        http_reply_free(r);
    }
}
END_TEST

static void change(const char *id, const char *body)
{
    http_reply *r = patch(id, JSON, body);
    http_expect(r, 200);
    http_reply_free(r);
}

/* By its present name, with deleted sessions around. */
START_TEST(test_found_again)
{
    char a[33], b[33], c[33];
    session_run(d, session_scene(1, 1, ", \"labels\": {\"k\": \"one\"}"), a);
    session_run(d, session_scene(1, 1, ""), b);
    session_run(d, session_scene(1, 1, ", \"labels\": {\"k\": \"one\"}"), c);
    change(a, "{\"name\": \"early bird\"}");
    change(b, "{\"name\": \"early worm\"}");
    change(c, "{\"name\": \"late bird\"}");
    expect_listed("?name=bird", (const char *[]){c, a}, 2);
    expect_listed("?name=y+w", (const char *[]){b}, 1);
    expect_listed("?name=a", (const char *[]){c, b, a}, 3);
    expect_listed("?name=birds", NULL, 0);
    change(a, "{\"name\": \"second worm\", \"labels\": {\"k\": \"two\"}}");
    expect_listed("?name=worm", (const char *[]){b, a}, 2);
    expect_listed("?name=bird", (const char *[]){c}, 1);
    expect_listed("?label=k=two", (const char *[]){a}, 1);
    expect_listed("?label=k=one", (const char *[]){c}, 1);
    char target[64];
    snprintf(target, sizeof target, "/v1/sessions/%s", a);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    ck_assert_int_lt(r->status, 300);
    http_reply_free(r);
    session_await_gone(d, a);
    expect_listed("?name=worm", (const char *[]){b}, 1);
    expect_listed("?name=late", (const char *[]){c}, 1);
    expect_listed("?label=k=one&state=succeeded", (const char *[]){c}, 1);
    expect_listed("?state=failed", NULL, 0);
}
END_TEST

/* ---- the queue ---- */

static int64_t position(const char *id)
{
    json_t *session = session_show(d, id);
    int64_t at = json_count(session, "queue/position");
    json_decref(session);
    return at;
}

START_TEST(test_priority)
{
    char blocker[33], low[33], plain[33], high[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(1, 1, ", \"resources\": {\"priority\": -5}"), low);
    session_post_free(d, session_scene(1, 1, ""), plain);
    session_post_free(d, session_scene(1, 1, ", \"resources\": {\"priority\": 5}"), high);
    ck_assert_int_eq(position(high), 1);
    ck_assert_int_eq(position(plain), 2);
    ck_assert_int_eq(position(low), 3);
    /* behind sessions that already have this priority */
    http_reply *r = patch(low, JSON, "{\"priority\": 5}");
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "queue/position"), 2);
    http_reply_free(r);
    ck_assert_int_eq(position(plain), 3);
    r = patch(high, JSON, "{\"priority\": null}");
    ck_assert_int_eq(json_count(r->json, "priority"), 0);
    http_reply_free(r);
    ck_assert_int_eq(position(low), 1);
    ck_assert_int_eq(position(plain), 2);
    ck_assert_int_eq(position(high), 3);
}
END_TEST

/* ---- what outlives the daemon ---- */

static void reindex(void)
{
    char program[300], *slash;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n] = 0;
    for (int up = 0; up < 3; up++)
        if ((slash = strrchr(program, '/')))
            *slash = 0;
    char command[1000];
    const char *build = getenv("PLIANT_BUILD");
    snprintf(command, sizeof command, "%s/pliantd --reindex --state %s > /dev/null",
             build ? build : program, d->state);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_kept)
{
    char id[33], untouched[33];
    session_run(d, session_scene(1, 1, NOTED), id);
    session_run(d, session_scene(1, 1, NOTED), untouched);
    http_reply *r = patch(id, JSON,
                          "{\"name\": \"kept\", \"labels\": {\"run\": \"9\"}, "
                          "\"priority\": -3}");
    http_expect(r, 200);
    http_reply_free(r);
    json_t *before = session_show(d, id), *other = session_show(d, untouched);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(daemon_fixture_end(d, again ? SIGTERM : SIGKILL), 0 + (again ? 0 : 137));
        if (again)
            reindex();
        daemon_fixture_resume(d);
        json_t *after = session_show(d, id), *same = session_show(d, untouched);
        json_object_del(before, "since");
        json_object_del(after, "since");
        ck_assert_msg(json_equal(before, after), "%d: %s", again, json_dumps(after, JSON_COMPACT));
        json_object_del(other, "since");
        json_object_del(same, "since");
        ck_assert(json_equal(other, same));
        json_decref(after);
        json_decref(same);
    }
    json_decref(before);
    json_decref(other);
}
END_TEST

/* ---- a database that takes nothing ---- */

static void change_database(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 20000); /* the daemon writes it, too */
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Then nothing is changed elsewhere either, except the revision, which is reported. */
START_TEST(test_not_stored)
{
    char id[33], path[96];
    session_run(d, session_scene(1, 1, NOTED), id);
    json_t *before = session_show(d, id);
    snprintf(path, sizeof path, "sessions/%.2s/%s/session.json", id, id);
    change_database("CREATE TRIGGER broken BEFORE UPDATE ON sessions "
                    "BEGIN SELECT RAISE(ABORT, 'broken'); END");
    http_reply *r = patch(id, JSON, "{\"name\": \"other\", \"priority\": -5, \"labels\": null}");
    http_problem(r, 500, "internal");
    json_t *after = session_show(d, id);
    json_t *kept = json_load_file(daemon_fixture_path(d, "%s", path), 0, NULL);
    char etag[32];
    snprintf(etag, sizeof etag, "\"%lld\"", (long long)json_count(after, "revision"));
    ck_assert_str_eq(http_header(r, "ETag"), etag);
    ck_assert_str_eq(json_text(kept, "name"), json_text(before, "name"));
    ck_assert_int_eq(json_count(kept, "revision"), json_count(after, "revision"));
    json_object_del(before, "revision");
    json_object_del(after, "revision");
    ck_assert(json_equal(before, after));
    http_reply_free(r);
    r = http_get(d, "/metrics");
    ck_assert_ptr_nonnull(strstr(r->body, "\npliant_store_failures_total "));
    ck_assert_ptr_null(strstr(r->body, "\npliant_store_failures_total 0\n"));
    http_reply_free(r);
    change_database("DROP TRIGGER broken");
    char headers[128];
    snprintf(headers, sizeof headers, JSON "If-Match: %s\r\n", etag);
    r = patch(id, headers, "{\"name\": \"other\"}");
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "name"), "other");
    http_reply_free(r);
    json_decref(before);
    json_decref(after);
    json_decref(kept);
}
END_TEST

/* The reason is the system's error. */
START_TEST(test_directory_is_gone)
{
    char id[33], away[400], at[400];
    session_run(d, session_scene(1, 1, ""), id);
    snprintf(at, sizeof at, "%s", daemon_fixture_path(d, "sessions/%.2s/%s", id, id));
    snprintf(away, sizeof away, "%s", daemon_fixture_path(d, "away"));
    ck_assert_int_eq(rename(at, away), 0);
    http_reply *r = patch(id, JSON, "{\"name\": \"other\"}");
    http_problem(r, 500, "internal");
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "detail"), "No such file or directory"));
    http_reply_free(r);
    ck_assert_int_eq(rename(away, at), 0);
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "name"), "cube");
    json_decref(session);
}
END_TEST

/* ---- a database of format 2 ---- */

static uint32_t add(uint32_t crc, sqlite3_stmt *s, int i)
{
    if (sqlite3_column_type(s, i) == SQLITE_TEXT || sqlite3_column_type(s, i) == SQLITE_NULL) {
        const char *text = (const char *)sqlite3_column_text(s, i);
        uint64_t length = text ? strlen(text) + 1 : 0;
        crc = pl_crc32c(crc, &length, sizeof length);
        return text ? pl_crc32c(crc, text, length - 1) : crc;
    }
    double real = sqlite3_column_double(s, i);
    int64_t whole = sqlite3_column_int64(s, i);
    bool is_real = sqlite3_column_type(s, i) == SQLITE_FLOAT;
    return pl_crc32c(crc, is_real ? (void *)&real : (void *)&whole, 8);
}

#define FORMAT_2                                                                                   \
    "id, owner, name, state, reason, message, bodies, failure, worker, desired, created_us,"       \
    " since_ms, frames, frame, attempt, cores, memory, time, time_limit, paused_by, crashes,"      \
    " checkpoint, restart_ms, memory_retries, memory_limit"

#define FORMAT_3                                                                                   \
    ", group_name, labels, metadata, priority, revision, webhook, webhook_status, gpu, "           \
    "gpu_memory,"                                                                                  \
    " keep_days"

/* The rows with the columns and the checksum that format 2 had; the row of `flipped` with a bit of
 * its name changed after that. */
static void write_format_2(const char *flipped)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char sql[2000];
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "CREATE TABLE old(%s, crc INTEGER, PRIMARY KEY(id)) WITHOUT ROWID;"
             "INSERT INTO old SELECT %s, 0 FROM sessions; DROP TABLE sessions;"
             "ALTER TABLE old RENAME TO sessions; PRAGMA user_version = 2",
             "id TEXT, owner TEXT, name TEXT, state TEXT, reason TEXT, message TEXT, bodies TEXT,"
             " failure TEXT, worker TEXT, desired TEXT, created_us INTEGER, since_ms INTEGER,"
             " frames INTEGER, frame INTEGER, attempt INTEGER, cores INTEGER, memory REAL,"
             " time REAL, time_limit REAL, paused_by TEXT, crashes INTEGER, checkpoint INTEGER,"
             " restart_ms INTEGER, memory_retries INTEGER, memory_limit REAL",
             FORMAT_2);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT " FORMAT_2 " FROM sessions", -1, &s, NULL),
                     SQLITE_OK);
    char updates[8][200];
    int count = 0;
    while (sqlite3_step(s) == SQLITE_ROW) {
        uint32_t crc = 0;
        for (int i = 0; i < sqlite3_column_count(s); i++)
            crc = add(crc, s, i);
        snprintf(updates[count++], 200, "UPDATE sessions SET crc = %u WHERE id = '%s'", crc,
                 (const char *)sqlite3_column_text(s, 0));
    }
    sqlite3_finalize(s);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(sqlite3_exec(db, updates[i], NULL, NULL, NULL), SQLITE_OK);
    snprintf(sql, sizeof sql, "UPDATE sessions SET name = 'cubf' WHERE id = '%s'", flipped);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(test_format_2)
{
    char good[33], flipped[33];
    session_run(d, session_scene(1, 1, ""), good);
    session_run(d, session_scene(1, 1, ""), flipped);
    json_t *before = session_show(d, good), *before_flipped = session_show(d, flipped);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    write_format_2(flipped);
    daemon_fixture_resume(d);
    json_t *after = session_show(d, good), *after_flipped = session_show(d, flipped);
    ck_assert(json_is_null(json_at(after, "retention/last"))); /* missing in that format */
    json_object_del(before, "retention");
    json_object_del(after, "retention");
    ck_assert(json_equal(before, after));
    json_object_del(before_flipped, "since");
    json_object_del(after_flipped, "since");
    ck_assert(json_equal(before_flipped, after_flipped));
    /* The first was believed, the other was not. */
    char line[128];
    snprintf(line, sizeof line, "session %s: its row in the database was damaged", flipped);
    ck_assert(daemon_fixture_said(d, line));
    snprintf(line, sizeof line, "session %s: its row in the database was damaged", good);
    ck_assert(!daemon_fixture_said(d, line));
    json_t *all[] = {before, after, before_flipped, after_flipped};
    for (int i = 0; i < 4; i++)
        json_decref(all[i]);
}
END_TEST

/* Columns added by formats 4 to 7, in the order of their checksums. */
static const char *const added[][7] = {
    {"keep_last", "keep_every"},
    {"warnings"},
    {"cores_least", "cores_most", "preemptible", "interactive", "after", "estimate"},
    {"executor", "job"}};
enum { LATER = sizeof added / sizeof *added };

/* Rows of an earlier format with its checksum are accepted. Missing columns come from the scene or stay empty. */
START_TEST(test_earlier_formats)
{
    char id[33], select[1000] = "SELECT " FORMAT_2 FORMAT_3, sql[2000] = "";
    int format = 3 + _i;
    sqlite3 *db;
    sqlite3_stmt *s;
    uint32_t crc = 0;
    session_run(d, session_scene(1, 1, ", \"labels\": {\"a\": \"b\"}"), id);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    for (int f = 0; f < LATER; f++)
        for (int i = 0; added[f][i]; i++) {
            char *out = f < _i ? select : sql;
            size_t n = strlen(out), size = f < _i ? sizeof select : sizeof sql;
            snprintf(out + n, size - n, f < _i ? ", %s" : "ALTER TABLE sessions DROP COLUMN %s;",
                     added[f][i]);
        }
    snprintf(select + strlen(select), sizeof select - strlen(select), " FROM sessions");
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, select, -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    for (int i = 0; i < sqlite3_column_count(s); i++)
        crc = add(crc, s, i);
    sqlite3_finalize(s);
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql),
             "UPDATE sessions SET crc = %u; PRAGMA user_version = %d", crc, format);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    daemon_fixture_resume(d);
    ck_assert_msg(!daemon_fixture_said(d, "damaged"), "a row's checksum did not fit any more");
    json_t *shown = session_show(d, id);
    ck_assert(format > 3 || json_is_null(json_at(shown, "retention/last")));
    ck_assert_uint_eq(json_array_size(json_at(shown, "warnings")), 0);
    ck_assert_str_eq(json_text(shown, "resources/executor"), "local");
    json_decref(shown);
    http_reply *r = patch(id, JSON, "{\"retention\": {\"days\": 2}}");
    http_expect(r, 200);
    ck_assert_int_eq(json_count(r->json, "retention/last"), 0);
    ck_assert_int_eq(json_count(r->json, "retention/days"), 2);
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("patch");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_change);
    tcase_add_test(tests, test_if_match);
    tcase_add_test(tests, test_refused);
    tcase_add_test(tests, test_labels);
    tcase_add_test(tests, test_found_again);
    tcase_add_test(tests, test_priority);
    tcase_add_test(tests, test_kept);
    tcase_add_test(tests, test_not_stored);
    tcase_add_test(tests, test_directory_is_gone);
    tcase_add_test(tests, test_format_2);
    tcase_add_loop_test(tests, test_earlier_formats, 0, LATER);
    return run_cases("contract: patch", tests);
}
