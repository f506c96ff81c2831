/* POST /v1/sessions, /v1/validate and GET .../scene: accepted scenes, rejected scenes with their faults, and nothing is
 * left of a rejected scene.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- accepted ---- */

static void check_time(const char *text)
{
    int n = 0;
    ck_assert_int_eq(sscanf(text, "%*4d-%*2d-%*2dT%*2d:%*2d:%*2dZ%n", &n), 0);
    ck_assert_int_eq(n, 20);
}

static void check_links(const json_t *session, const char *id)
{
    static const char *const parts[] = {"topology", "frames", "metrics", "scene", "log", "cancel"};
    char link[128];
    snprintf(link, sizeof link, "/v1/sessions/%s", id);
    ck_assert_str_eq(json_text(session, "links/self"), link);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char path[64];
        snprintf(path, sizeof path, "links/%s", parts[i]);
        snprintf(link, sizeof link, "/v1/sessions/%s/%s", id, parts[i]);
        ck_assert_str_eq(json_text(session, path), link);
    }
}

/* The members that the contract lists, with their types. */
static void check_session(const json_t *session)
{
    static const char *const texts[] = {"id",    "name",   "state",   "created",     "since",
                                        "owner", "reason", "message", "queue/reason"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(json_is_string(json_at(session, texts[i])), "%s", texts[i]);
    check_time(json_text(session, "created"));
    check_time(json_text(session, "since"));
    ck_assert(json_object_get(json_at(session, "progress"), "frame") != NULL);
    ck_assert(json_is_number(json_at(session, "progress/time")));
    ck_assert_int_eq(json_count(session, "progress/frames"), 6);
    ck_assert(json_is_integer(json_at(session, "queue/position")));
    ck_assert_int_eq(json_count(session, "resources/cores"), 1);
    ck_assert(json_is_null(json_at(session, "resources/gpu")));
    ck_assert(json_is_null(json_at(session, "failure")));
    ck_assert_uint_eq(json_array_size(json_at(session, "bodies")), 1);
    ck_assert_str_eq(json_text(session, "bodies/0/name"), "cube");
    ck_assert_int_eq(json_count(session, "bodies/0/vertices"), 64);
    ck_assert_int_eq(json_count(session, "bodies/0/first_vertex"), 0);
    check_links(session, json_text(session, "id"));
}

START_TEST(test_created)
{
    static const char digits[] = "0123456789abcdef";
    char *scene = session_scene(6, 1, ""), location[96];
    http_reply *r = http_post(d, "/v1/sessions", scene);
    http_expect(r, 201);
    check_session(r->json);
    const char *id = json_text(r->json, "id"), *state = json_text(r->json, "state");
    ck_assert_uint_eq(strspn(id, digits), 32);
    ck_assert_uint_eq(strlen(id), 32);
    snprintf(location, sizeof location, "/v1/sessions/%s", id);
    ck_assert_str_eq(http_header(r, "Location"), location);
    ck_assert_str_eq(http_header(r, "Content-Type"), "application/json");
    ck_assert_str_eq(json_text(r->json, "name"), "cube");
    ck_assert_msg(strcmp(state, "checking") == 0 || strcmp(state, "queued") == 0 ||
                      strcmp(state, "running") == 0,
                  "%s", state);
    session_await(d, id, "succeeded");
    http_reply *shown = http_get(d, location);
    http_expect(shown, 200);
    check_session(shown->json);
    ck_assert_int_eq(json_count(shown->json, "progress/frame"), 6);
    ck_assert_double_eq_tol(json_number_value(json_at(shown->json, "progress/time")), 0.06, 1e-12);
    ck_assert_str_eq(json_text(shown->json, "created"), json_text(r->json, "created"));
    http_reply_free(shown);
    http_reply_free(r);
    free(scene);
}
END_TEST

/* A client that prefers waiting to the state `checking`. */
START_TEST(test_prefer_wait)
{
    char *scene = session_scene(2, 1, "");
    http_reply *r = http_call(d, "POST", "/v1/sessions",
                              "Content-Type: application/json\r\nPrefer: wait=30\r\n", scene,
                              strlen(scene));
    http_expect(r, 201);
    ck_assert_str_ne(json_text(r->json, "state"), "checking");
    http_reply_free(r);
    free(scene);
}
END_TEST

/* ---- not JSON: 400 ---- */

static const struct {
    const char *body;
    size_t length; /* 0: of the text */
} no_json[] = {
    {"{", 0},
    {"", 0},
    {" ", 0},
    {"\xff\xfe", 0},
    {"{\"pliant\": 1,}", 0},
    {"{\"pliant\": 1} {}", 0},
    {"{'pliant': 1}", 0},
    {"{\"pliant\": 1, \"gravity\": [NaN, 0, 0], \"bodies\": [{\"mesh\": {\"box\": {}}}]}", 0},
    {"{\"pliant\": 1, \"gravity\": [0, Infinity, 0], \"bodies\": [{\"mesh\": {\"box\": {}}}]}", 0},
    {"{\"pliant\": 1, \"gravity\": [1e400, 0, 0], \"bodies\": [{\"mesh\": {\"box\": {}}}]}", 0},
    {"{\"pliant\": 1, \"name\": \"\xc3\x28\", \"bodies\": [{\"mesh\": {\"box\": {}}}]}", 0},
    {"{\"pliant\": 1}\0", 14},
    {"{\"pliant\": 1, \"name\": \"a\", \"name\": \"b\", \"bodies\": [{\"mesh\": {\"box\": {}}}]}",
     0},
};

START_TEST(test_no_json)
{
    static const char *const routes[] = {"/v1/sessions", "/v1/validate"};
    size_t length = no_json[_i].length ? no_json[_i].length : strlen(no_json[_i].body);
    for (int k = 0; k < 2; k++) {
        http_reply *r = http_call(d, "POST", routes[k], "Content-Type: application/json\r\n",
                                  no_json[_i].body, length);
        const json_t *faults = http_problem(r, 400, "bad_json");
        ck_assert_uint_ge(json_array_size(faults), 1);
        /* The place: a line and column, or the duplicate key. */
        ck_assert_str_ne(json_text(faults, "0/got"), "");
        http_reply_free(r);
    }
}
END_TEST

/* ---- faults: 422 ---- */

static const char BOX[] = "\"bodies\": [{\"name\": \"b\", \"mesh\": {\"box\": {\"cells\": "
                          "[2, 2, 2]}}}]";

/* One fault each; %s is the body above. */
static const struct {
    const char *scene, *pointer, *code;
} refused[] = {
    {"[]", "", "wrong_type"},
    {"{\"pliant\": 1}", "/bodies", "missing_key"},
    {"{%s}", "/pliant", "missing_key"},
    {"{\"pliant\": 2, %s}", "/pliant", "unsupported"},
    {"{\"pliant\": 1, \"nmae\": \"x\", %s}", "/nmae", "unknown_key"},
    {"{\"pliant\": 1, \"gravity\": \"down\", %s}", "/gravity", "wrong_type"},
    {"{\"pliant\": 1, \"gravity\": [0, 0], %s}", "/gravity", "wrong_type"},
    {"{\"pliant\": 1, \"time\": {\"step\": -1}, %s}", "/time/step", "out_of_range"},
    {"{\"pliant\": 1, \"time\": {\"steps\": 1.5}, %s}", "/time/steps", "wrong_type"},
    {"{\"pliant\": 1, \"obstacles\": [{\"plane\": {}, \"restitution\": 1.5}], %s}",
     "/obstacles/0/restitution", "out_of_range"},
    {"{\"pliant\": 1, \"time\": {\"integrator\": \"bdf9\"}, %s}", "/time/integrator",
     "unknown_value"},
    {"{\"pliant\": 1, \"solver\": {\"device\": \"gpu\"}, %s}", "/solver/device", "no_gpu"},
    {"{\"pliant\": 1, \"solver\": {\"precision\": \"single\"}, %s}", "/solver/precision",
     "unsupported"},
    {"{\"pliant\": 1, \"bodies\": []}", "/bodies", "out_of_range"},
    {"{\"pliant\": 1, \"materials\": {\"rubber\": {}}, \"bodies\": [{\"mesh\": {\"box\": {}}, "
     "\"material\": \"rubbr\"}]}",
     "/bodies/0/material", "unknown_name"},
    {"{\"pliant\": 1, \"pins\": [{\"body\": \"c\", \"select\": \"all\"}], %s}", "/pins/0/body",
     "unknown_name"},
    {"{\"pliant\": 1, \"pins\": [{\"select\": {\"box\": {\"min\": [5, 5, 5], \"max\": "
     "[6, 6, 6]}}}], %s}",
     "/pins/0/select", "empty_selection"},
    {"{\"pliant\": 1, \"pins\": [{\"select\": {\"tag\": \"left\"}}], %s}", "/pins/0/select/tag",
     "unknown_tag"},
    {"{\"pliant\": 1, \"resources\": {\"cores\": 200}, %s}", "/resources/cores", "too_many_cores"},
    {"{\"pliant\": 1, \"resources\": {\"memory\": 9e14}, %s}", "/resources/memory",
     "too_much_memory"},
    {"{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"vertices\": [0,0,0, 1,0,0, 0,1,0, 0,0,1], "
     "\"tets\": [0, 2, 1, 3], \"orientation\": \"refuse\"}}]}",
     "/bodies/0/mesh", "mesh_orientation"},
    {"{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"vertices\": [0,0,0, 1,0,0, 0,1,0, 1,1,0], "
     "\"tets\": [0, 1, 2, 3]}}]}",
     "/bodies/0/mesh", "mesh_degenerate"},
    {"{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"vertices\": [0,0,0, 1,0,0, 0,1,0, 0,0,1], "
     "\"tets\": [0, 1, 2, 4]}}]}",
     "/bodies/0/mesh", "mesh_index"},
    {"{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"upload\": \"sha256:"
     "1111111111111111111111111111111111111111111111111111111111111111\"}}]}",
     "/bodies/0/mesh/upload", "unknown_mesh"},
};

START_TEST(test_refused)
{
    static const char *const routes[] = {"/v1/sessions", "/v1/validate"};
    char scene[1024];
    snprintf(scene, sizeof scene, refused[_i].scene, BOX);
    for (int k = 0; k < 2; k++) {
        http_reply *r = http_post(d, routes[k], scene);
        const json_t *faults = http_problem(r, 422, "invalid_scene");
        const json_t *fault = http_fault(faults, refused[_i].pointer);
        ck_assert_msg(fault && strcmp(json_text(fault, "code"), refused[_i].code) == 0,
                      "no %s at '%s': %s", refused[_i].code, refused[_i].pointer, r->body);
        ck_assert_uint_eq(json_array_size(faults), 1);
        ck_assert_str_ne(json_text(fault, "expected"), "");
        http_reply_free(r);
    }
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
}
END_TEST

/* Every fault in one report, each with place, value found, expected value and nearest alternative. */
START_TEST(test_all_faults)
{
    static const char scene[] =
        "{\"pliant\": 1, \"nmae\": \"x\", \"gravity\": [0, 1, \"q\"], \"time\": {\"stpe\": 1},"
        " \"materials\": {\"rubber\": {\"young\": -5, \"poison\": 0.3}},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [0, 1, 1]}}, \"material\": \"rubbr\"}],"
        " \"pins\": [{\"select\": {\"side\": \"-w\"}}]}";
    static const struct {
        const char *pointer, *code, *got, *hint;
    } expected[] = {
        {"/nmae", "unknown_key", "nmae", "name"},
        {"/time/stpe", "unknown_key", "stpe", "step"},
        {"/gravity/2", "wrong_type", "q", ""},
        {"/materials/rubber/young", "out_of_range", "-5", ""},
        {"/materials/rubber/poison", "unknown_key", "poison", "poisson"},
        {"/bodies/0/mesh/box/cells/0", "out_of_range", "0", ""},
        {"/bodies/0/material", "unknown_name", "rubbr", "rubber"},
        {"/pins/0/select/side", "unknown_value", "-w", ""},
    };
    http_reply *r = http_post(d, "/v1/sessions", scene);
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    size_t count = sizeof expected / sizeof *expected;
    for (size_t i = 0; i < count; i++) {
        const json_t *f = http_fault(faults, expected[i].pointer);
        ck_assert_msg(f != NULL, "%s: %s", expected[i].pointer, r->body);
        ck_assert_str_eq(json_text(f, "code"), expected[i].code);
        ck_assert_ptr_nonnull(strstr(json_text(f, "got"), expected[i].got));
        ck_assert_ptr_nonnull(strstr(json_text(f, "hint"), expected[i].hint));
        ck_assert_str_ne(json_text(f, "expected"), "");
    }
    ck_assert_uint_eq(json_array_size(faults), count);
    http_reply_free(r);
}
END_TEST

/* ---- Idempotency-Key ---- */

static http_reply *post_with_key(const char *key, const char *scene)
{
    char headers[400];
    snprintf(headers, sizeof headers, "Content-Type: application/json\r\nIdempotency-Key: %s\r\n",
             key);
    return http_call(d, "POST", "/v1/sessions", headers, scene, strlen(scene));
}

START_TEST(test_idempotency)
{
    char *scene = session_scene(2, 1, ""), *other = session_scene(3, 1, ""), long_key[301];
    http_reply *first = post_with_key("one", scene);
    http_expect(first, 201);
    session_await(d, json_text(first->json, "id"), "succeeded");
    http_reply *again = post_with_key("one", scene);
    http_expect(again, 201);
    ck_assert_str_eq(again->body, first->body);
    ck_assert_str_eq(http_header(again, "Location"), http_header(first, "Location"));
    http_reply *clash = post_with_key("one", other);
    http_problem(clash, 422, "idempotency_key_reused");
    http_reply *fresh = post_with_key("two", scene);
    http_expect(fresh, 201);
    ck_assert_str_ne(json_text(fresh->json, "id"), json_text(first->json, "id"));
    memset(long_key, 'k', 300);
    long_key[300] = 0;
    http_reply *refusal = post_with_key(long_key, scene);
    http_problem(refusal, 400, "bad_idempotency_key");
    ck_assert_int_eq(daemon_fixture_sessions(d), 2);
    /* A rejected scene keeps no key: the corrected one may use it. */
    http_reply *bad = post_with_key("three", "{\"pliant\": 1}");
    http_expect(bad, 422);
    http_reply *good = post_with_key("three", scene);
    http_expect(good, 201);
    /* The keys are in the database, not in memory. */
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    http_reply *later = post_with_key("one", scene);
    http_expect(later, 201);
    ck_assert_str_eq(later->body, first->body);
    http_reply *all[] = {first, again, clash, fresh, refusal, bad, good, later};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        http_reply_free(all[i]);
    free(scene);
    free(other);
}
END_TEST

/* ---- validate ---- */

static const char drawn_scene[] =
    "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [4, 4, "
    "4]}}},"
    " {\"name\": \"sheet\", \"mesh\": {\"cloth\": {\"size\": [2, 2], \"cells\": [1, 1]}},"
    " \"transform\": {\"scale\": 2, \"translate\": [0, 5, 0]}}],"
    " \"pins\": [{\"body\": \"sheet\", \"select\": {\"side\": \"-x\"}}],"
    " \"obstacles\": [{\"sphere\": {\"center\": [0, -3, 0], \"radius\": 1}}]}";

/* A box, of whose 125 vertices 27 are inside, and a square of cloth twice as large about (0, 5, 0). */
START_TEST(test_validate_geometry)
{
    http_reply *r = http_post(d, "/v1/validate?geometry=true", drawn_scene);
    http_expect(r, 200);
    const json_t *surface = json_at(r->json, "geometry/surface");
    const json_t *positions = json_at(r->json, "geometry/positions");
    ck_assert_uint_eq(json_array_size(surface), 98 + 4);
    ck_assert_int_eq(json_integer_value(json_array_get(surface, 98)), 125);
    ck_assert_uint_eq(json_array_size(positions), 3 * json_array_size(surface));
    for (size_t i = 0; i < json_array_size(positions); i++) {
        double x = json_number_value(json_array_get(positions, i));
        double centre = i >= 294 && i % 3 == 1 ? 5 : 0, reach = i >= 294 ? 2 : 0.5;
        ck_assert_double_le(fabs(x - centre), reach);
    }
    ck_assert_double_eq(fabs(json_number_value(json_array_get(positions, 294))), 2);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "geometry/topology/pins/0/at")), 2);
    ck_assert(json_is_object(json_at(r->json, "geometry/topology/obstacle_surfaces/0")));
    http_reply_free(r);
    r = http_post(d, "/v1/validate?geometry=0", drawn_scene);
    http_expect(r, 200);
    ck_assert_ptr_null(json_object_get(r->json, "geometry"));
    http_reply_free(r);
    r = http_post(d, "/v1/validate?geometry=yes", drawn_scene);
    http_expect(r, 400);
    http_reply_free(r);
    /* Too large. */
    r = http_post(d, "/v1/validate?geometry=true",
                  "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"cloth\": {\"size\": [1, 1], "
                  "\"cells\": [500, 500]}}}]}");
    http_expect(r, 200);
    ck_assert(json_is_null(json_object_get(r->json, "geometry")));
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
}
END_TEST

START_TEST(test_validate)
{
    char *scene = session_scene(6, 1, "");
    http_reply *r = http_post(d, "/v1/validate", scene);
    http_expect(r, 200);
    ck_assert(json_is_true(json_at(r->json, "valid")));
    ck_assert_str_eq(json_text(r->json, "bodies/0/name"), "cube");
    ck_assert_int_eq(json_count(r->json, "bodies/0/vertices"), 64);
    ck_assert_int_eq(json_count(r->json, "bodies/0/first_vertex"), 0);
    ck_assert(json_is_object(json_at(r->json, "estimate")));
    ck_assert(json_number_value(json_at(r->json, "estimate/memory_bytes")) > 0);
    ck_assert(json_number_value(json_at(r->json, "estimate/seconds_per_frame")) > 0);
    ck_assert(json_is_array(json_at(r->json, "warnings")));
    ck_assert_uint_eq(json_array_size(json_at(r->json, "warnings")), 0);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "remarks")), 0);
    ck_assert_ptr_null(http_header(r, "Location"));
    http_reply_free(r);
    /* A mesh that was repaired is a remark, and one of 87 m a warning. */
    r = http_post(d, "/v1/validate",
                  "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"vertices\": [0,0,0, 1,0,0, 0,1,0, "
                  "0,0,1], \"tets\": [0, 2, 1, 3]}, \"transform\": {\"scale\": 50}}]}");
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "remarks")), 1);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "warnings")), 1);
    ck_assert_str_eq(json_text(r->json, "warnings/0/code"), "odd_size");
    ck_assert_int_eq(json_count(r->json, "warnings/0/count"), 1);
    ck_assert_int_eq(json_count(r->json, "warnings/0/of"), 1);
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "warnings/0/detail"), "86.6 m across"));
    http_reply_free(r);
    r = http_get(d, "/v1/sessions");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 0);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
    free(scene);
}
END_TEST

/* ---- the scene back ---- */

/* Every key that /v1/capabilities lists with a default for a table that the scene uses is there. */
static void check_defaults(const json_t *tables, const char *table, const json_t *value)
{
    const char *key;
    json_t *parameter;
    json_object_foreach(json_object_get(tables, table), key, parameter)
    {
        json_t *given = json_object_get(value, key);
        const json_t *standard = json_object_get(parameter, "default");
        if (standard && !json_is_null(standard))
            ck_assert_msg(given != NULL, "%s has no %s", table, key);
        const char *below = json_text(parameter, "table");
        if (json_is_object(given) && *below && strcmp(json_text(parameter, "type"), "object") == 0)
            check_defaults(tables, below, given);
    }
}

START_TEST(test_scene)
{
    char *scene = session_scene(2, 1, ", \"metadata\": {\"a\": [1, null]}, \"labels\": {}"), id[33],
         again[33];
    session_post(d, scene, id);
    http_reply *posted = http_getf(d, "/v1/sessions/%s/scene?form=posted", id);
    http_expect(posted, 200);
    ck_assert_str_eq(posted->body, scene);
    http_reply *standard = http_getf(d, "/v1/sessions/%s/scene", id);
    http_expect(standard, 200);
    ck_assert_str_eq(standard->body, scene);
    http_reply *effective = http_getf(d, "/v1/sessions/%s/scene?form=effective", id);
    http_expect(effective, 200);
    http_reply *capabilities = http_get(d, "/v1/capabilities");
    const json_t *tables = json_at(capabilities->json, "parameters");
    check_defaults(tables, "scene", effective->json);
    check_defaults(tables, "body", json_at(effective->json, "bodies/0"));
    check_defaults(tables, "material", json_at(effective->json, "materials/rubber"));
    check_defaults(tables, "pin", json_at(effective->json, "pins/0"));
    ck_assert_str_eq(json_text(effective->json, "solver/method"), "auto");
    ck_assert_str_eq(json_text(effective->json, "time/integrator"), "backward_euler");
    ck_assert_double_eq(json_number_value(json_at(effective->json, "gravity/1")), -9.81);
    /* It means the same scene: accepted, and its own effective form. */
    session_post(d, effective->body, again);
    session_await(d, again, "succeeded");
    http_reply *fixed = http_getf(d, "/v1/sessions/%s/scene?form=effective", again);
    ck_assert_str_eq(fixed->body, effective->body);
    http_reply *bad = http_getf(d, "/v1/sessions/%s/scene?form=pretty", id);
    http_problem(bad, 400, "bad_query");
    http_reply *all[] = {posted, standard, effective, capabilities, fixed, bad};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        http_reply_free(all[i]);
    free(scene);
}
END_TEST

/* ---- too much ---- */

START_TEST(test_queue_full)
{
    static const char *const options[] = {"--cores", "1", "--max-sessions-queued", "2", NULL};
    char id[33];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, options);
    session_post_free(d, session_scene_endless(""), id);
    session_await(d, id, "running");
    session_post_free(d, session_scene(2, 1, ""), id);
    session_post_free(d, session_scene(2, 1, ""), id);
    char *scene = session_scene(2, 1, "");
    http_reply *r = http_post(d, "/v1/sessions", scene);
    http_problem(r, 503, "queue_full");
    ck_assert_int_gt(atoi(http_header(r, "Retry-After")), 0);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_sessions(d), 3);
    free(scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: create");
    TCase *fresh = tcase_create("on a fresh daemon");
    tcase_set_timeout(fresh, 180);
    tcase_add_checked_fixture(fresh, start_daemon, stop_daemon);
    tcase_add_test(fresh, test_created);
    tcase_add_test(fresh, test_prefer_wait);
    tcase_add_test(fresh, test_all_faults);
    tcase_add_test(fresh, test_idempotency);
    tcase_add_test(fresh, test_validate);
    tcase_add_test(fresh, test_validate_geometry);
    tcase_add_test(fresh, test_scene);
    tcase_add_test(fresh, test_queue_full);
    suite_add_tcase(suite, fresh);
    TCase *shared = tcase_create("refusals on one daemon");
    tcase_set_timeout(shared, 180);
    tcase_add_unchecked_fixture(shared, start_daemon, stop_daemon);
    tcase_add_loop_test(shared, test_no_json, 0, sizeof no_json / sizeof *no_json);
    tcase_add_loop_test(shared, test_refused, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(suite, shared);
    return run_suite(suite);
}
