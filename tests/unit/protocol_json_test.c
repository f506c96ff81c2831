/* JSON input and output, problem reports, metrics. The writer's output is checked with jansson. */
#include "engine/scene/scene.h"
#include "protocol/text/json.h"
#include "protocol/log/metrics_json.h"
#include "protocol/text/problem.h"
#include "tests/support/suite.h"

#include <check.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_json *parse(const char *text)
{
    char error[160] = "";
    pl_json *document = pl_json_parse(text, strlen(text), error);
    ck_assert_msg(document != NULL, "%s: %s", text, error);
    return document;
}

START_TEST(reading)
{
    pl_json *d = parse("{\"progress\": {\"frame\": 12, \"time\": 0.5}, \"items\": [{\"id\": \"a\"},"
                       " {\"id\": \"b\"}], \"done\": true, \"none\": null, \"whole\": 3.0}");
    ck_assert_int_eq(pl_json_integer(d, "progress/frame", -1), 12);
    ck_assert(pl_json_number(d, "progress/frame", -1) == 12);
    ck_assert(pl_json_number(d, "progress/time", -1) == 0.5);
    ck_assert_int_eq(pl_json_integer(d, "progress/time", -1), -1);
    ck_assert_int_eq(pl_json_integer(d, "whole", -1), 3);
    ck_assert_str_eq(pl_json_string(d, "items/1/id", ""), "b");
    ck_assert_str_eq(pl_json_string(d, "items/2/id", "none"), "none");
    ck_assert_str_eq(pl_json_string(d, "items/x/id", "none"), "none");
    ck_assert_str_eq(pl_json_string(d, "items/99999999999999999999/id", "none"), "none");
    ck_assert_str_eq(pl_json_string(d, "progress", "none"), "none");
    ck_assert(pl_json_boolean(d, "done", false));
    ck_assert(pl_json_is_null(pl_json_at(d, "none")) && pl_json_is_null(NULL));
    ck_assert_ptr_null(pl_json_at(d, "progress/frame/deeper"));
    ck_assert_ptr_null(pl_json_at(d, "progress/"));
    ck_assert_ptr_null(pl_json_at(NULL, "a/b"));
    ck_assert_uint_eq(pl_json_count(d), 5);
    ck_assert_uint_eq(pl_json_count(pl_json_at(d, "items")), 2);
    ck_assert_uint_eq(pl_json_count(pl_json_at(d, "done")), 0);
    const pl_json *value;
    ck_assert_str_eq(pl_json_member(d, 1, &value), "items");
    ck_assert_str_eq(pl_json_string(pl_json_item(value, 0), "id", ""), "a");
    ck_assert_ptr_null(pl_json_member(d, 5, &value));
    ck_assert_ptr_null(value);
    char *text = pl_json_dump(pl_json_at(d, "items"), false);
    ck_assert_str_eq(text, "[{\"id\":\"a\"},{\"id\":\"b\"}]");
    free(text);
    pl_json_free(d);
}
END_TEST

START_TEST(refusing)
{
    static const char *const bad[] = {
        "",    "{",           "{\"a\":1,}", "[1 2]", "{\"a\":1,\"a\":2}",
        "nan", "\"\\u0000\"", "\"\xFF\"",   "1e999", "{} {}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char error[160] = "";
        ck_assert_msg(pl_json_parse(bad[i], strlen(bad[i]), error) == NULL, "%s", bad[i]);
        ck_assert_uint_eq(strncmp(error, "line ", 5), 0);
        ck_assert_ptr_null(pl_json_parse(bad[i], strlen(bad[i]), NULL));
    }
    char raw[3] = {'[', 0, ']'};
    ck_assert_ptr_null(pl_json_parse(raw, 3, NULL));
}
END_TEST

START_TEST(writing)
{
    pl_json_writer w = {0};
    size_t length;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "s", "a\"b\\c\n\t\x01/\xC3\xA9\xF0\x9F\x98\x80");
    pl_json_set_string(&w, "none", NULL);
    pl_json_set_integer(&w, "i", INT64_MIN);
    pl_json_set_number(&w, "x", 0.1);
    pl_json_set_number(&w, "nan", NAN);
    pl_json_set_number(&w, "inf", -INFINITY);
    pl_json_set_boolean(&w, "b", false);
    pl_json_set_raw(&w, "raw", "{\"k\":[]}");
    pl_json_key(&w, "a");
    pl_json_begin_array(&w);
    pl_json_begin_array(&w);
    pl_json_end_array(&w);
    pl_json_put_number(&w, 1.0 / 3, 3);
    pl_json_begin_object(&w);
    pl_json_end_object(&w);
    pl_json_end_array(&w);
    pl_json_set_null(&w, "\"key\"");
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, &length);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(text, "{\"s\":\"a\\\"b\\\\c\\n\\t\\u0001/\xC3\xA9\xF0\x9F\x98\x80\",\"none\":"
                           "null,\"i\":-9223372036854775808,\"x\":0.1,\"nan\":null,\"inf\":null,"
                           "\"b\":false,\"raw\":{\"k\":[]},\"a\":[[],0.333,{}],\"\\\"key\\\"\":"
                           "null}");
    pl_json_free(parse(text));
    free(text);
}
END_TEST

/* Bytes that are not UTF-8 never make a document that is not JSON. */
START_TEST(writing_any_bytes)
{
    for (int a = 1; a < 256; a++) {
        for (int b = 0; b < 256; b += a < 0x80 ? 51 : 1) {
            char bytes[5] = {(char)a, (char)b, (char)(b ? 0x80 + b % 64 : 0), 'x', 0};
            pl_json_writer w = {0};
            pl_json_begin_array(&w);
            pl_json_put_string(&w, bytes);
            pl_json_end_array(&w);
            char *text = pl_json_finish(&w, NULL);
            json_t *parsed = json_loads(text, 0, NULL);
            ck_assert_msg(parsed != NULL, "%02x %02x: %s", a, b, text);
            json_decref(parsed);
            free(text);
        }
    }
}
END_TEST

START_TEST(numbers_survive)
{
    static const double values[] = {0,        1,         -1,
                                    0.1,      1e-5,      1.0 / 3,
                                    DBL_MAX,  DBL_MIN,   5e-324,
                                    1e22,     1e23,      123456789.123,
                                    1e15,     0.3333333, 4503599627370497.5,
                                    -2.5e-300};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pl_json_writer w = {0};
        pl_json_begin_array(&w);
        pl_json_put_number(&w, values[i], 17);
        pl_json_end_array(&w);
        char *text = pl_json_finish(&w, NULL);
        pl_json *d = parse(text);
        ck_assert_msg(pl_json_number(d, "0", NAN) == values[i], "%s", text);
        pl_json_free(d);
        free(text);
    }
}
END_TEST

START_TEST(nearest)
{
    static const char *const known[] = {"iterations", "tolerance", "method", "step", "young"};
    ck_assert_str_eq(pl_nearest("tolerence", known, 5), "tolerance");
    ck_assert_str_eq(pl_nearest("yuong", known, 5), "young");
    ck_assert_str_eq(pl_nearest("Method", known, 5), "method");
    ck_assert_str_eq(pl_nearest("itterationss", known, 5), "iterations");
    ck_assert_str_eq(pl_nearest("steps", known, 5), "step");
    ck_assert_ptr_null(pl_nearest("gravity", known, 5));
    ck_assert_ptr_null(pl_nearest("", known, 5));
    ck_assert_ptr_null(pl_nearest("x", known, 5));
    ck_assert_ptr_null(pl_nearest("step", known, 0));
    char longest[200];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ck_assert_ptr_null(pl_nearest(longest, known, 5));
}
END_TEST

START_TEST(problems)
{
    pl_faults faults = {0}, read = {0};
    for (int i = 0; i < PL_FAULTS_MAX + 5; i++)
        pl_faults_addf(&faults, "/a~1b", "out_of_range", "number > 0", NULL, "number %d", -i);
    char *text = pl_problem_encode(422, "invalid_scene", "The scene has faults", "69 faults",
                                   &faults);
    int status = 0;
    char *title, *detail;
    ck_assert(pl_problem_decode(text, strlen(text), &status, &title, &detail, &read));
    ck_assert_int_eq(status, 422);
    ck_assert_str_eq(title, "The scene has faults");
    ck_assert_str_eq(detail, "69 faults");
    ck_assert_uint_eq(read.count, PL_FAULTS_MAX);
    ck_assert_uint_eq(read.total, PL_FAULTS_MAX + 5);
    ck_assert_str_eq(read.items[3].pointer, "/a~1b");
    ck_assert_str_eq(read.items[3].got, "number -3");
    ck_assert_str_eq(read.items[3].hint, "");
    pl_json *d = parse(text);
    ck_assert_str_eq(pl_json_string(d, "type", ""), "/problems/invalid_scene");
    pl_json_free(d);
    free(text);
    free(title);
    free(detail);
    pl_faults_clear(&faults);
    pl_faults_clear(&read);
    text = pl_problem_encode(404, "not_found", "Not found", NULL, NULL);
    ck_assert(pl_problem_decode(text, strlen(text), &status, &title, &detail, &read));
    ck_assert_uint_eq(read.total, 0);
    free(text);
    free(title);
    free(detail);
    ck_assert(!pl_problem_decode("{}", 2, &status, &title, &detail, &read));
    ck_assert(!pl_problem_decode("<html>", 6, &status, &title, &detail, &read));
}
END_TEST

START_TEST(metrics)
{
    pl_force pins[2] = {{{1, 2, 3}}, {{0, NAN, 0}}};
    pl_iteration detail[2] = {{.objective = INFINITY, .primal_residual = 1e-3}, {.objective = 2}};
    pl_pin named_pins[] = {{.name = "left"}, {.name = "a\"b"}};
    pl_obstacle named_obstacles[] = {{.name = "floor"}, {.name = "wall"}};
    const pl_scene none = {0}, scene = {.pins = named_pins,
                                        .pin_count = 2,
                                        .obstacles = named_obstacles,
                                        .obstacle_count = 2};
    const int64_t contacts[] = {7, -1};
    pl_metrics m = {.frame = 12,
                    .time = 0.4,
                    .steps = 1,
                    .iterations = 20,
                    .unconverged = -1,
                    .halved = 2,
                    .by_euler = 3,
                    .objective = 1.5,
                    .primal_residual = NAN,
                    .dual_residual = 1e-5,
                    .gradient_norm = INFINITY,
                    .decrement = 0.25,
                    .kinetic = 3,
                    .elastic = 4,
                    .dissipated = NAN,
                    .linear = {1, 2, 3},
                    .contacts = -1,
                    .obstacle_contacts = contacts,
                    .max_stretch = 1.2,
                    .ms_step = 3.25,
                    .pins = pins,
                    .detail = detail,
                    .detail_count = 2};
    size_t length;
    char *text = pl_metrics_encode(&m, &scene, &length);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_ptr_null(strchr(text, '\n'));
    pl_json *d = parse(text);
    ck_assert_int_eq(pl_json_integer(d, "seq", -1), 12);
    ck_assert_int_eq(pl_json_integer(d, "iterations", -1), 20);
    ck_assert_int_eq(pl_json_integer(d, "by_euler", -1), 3);
    static const char *const nulls[] = {"primal_residual",
                                        "gradient_norm",
                                        "energy/dissipated",
                                        "unconverged",
                                        "contacts",
                                        "obstacle_contacts/wall",
                                        "reactions/pins/a\"b/1",
                                        "iterations_detail/0/objective"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        ck_assert_msg(pl_json_at(d, nulls[i]) && pl_json_is_null(pl_json_at(d, nulls[i])), "%s",
                      nulls[i]);
    ck_assert_int_eq(pl_json_integer(d, "obstacle_contacts/floor", -1), 7);
    ck_assert(pl_json_number(d, "energy/kinetic", -1) == 3);
    ck_assert(pl_json_number(d, "energy/gravity", -1) == 0);
    ck_assert(pl_json_number(d, "momentum/linear/2", -1) == 3);
    ck_assert(pl_json_number(d, "reactions/pins/left/1", -1) == 2);
    ck_assert_uint_eq(pl_json_count(pl_json_at(d, "reactions/obstacles")), 0);
    ck_assert(pl_json_number(d, "ms/step", -1) == 3.25);
    ck_assert(pl_json_number(d, "iterations_detail/1/objective", -1) == 2);
    pl_json_free(d);
    pl_metrics_digest digest;
    ck_assert_int_eq(pl_metrics_digest_decode(text, length, &digest), 0);
    ck_assert(digest.halved == 2 && digest.unconverged == -1);
    ck_assert(digest.frame == 12 && digest.iterations == 20 && digest.contacts == -1);
    ck_assert(isnan(digest.primal_residual) && digest.dual_residual == 1e-5);
    ck_assert(digest.ms_step == 3.25 && digest.elastic == 4);
    free(text);
    ck_assert_int_ne(pl_metrics_digest_decode("{\"event\":\"end\"}", 15, &digest), 0);
    ck_assert_int_ne(pl_metrics_digest_decode("{", 1, &digest), 0);
    m.detail = NULL;
    text = pl_metrics_encode(&m, &none, &length);
    ck_assert_ptr_null(strstr(text, "iterations_detail"));
    free(text);
}
END_TEST

/* Contact between bodies: null without contact. */
START_TEST(metrics_of_contact)
{
    pl_body bodies[] = {{.name = "a\"b"}, {.name = "ball"}, {.name = "cloth"}};
    const pl_scene scene = {.bodies = bodies, .body_count = 3};
    const pl_body_force forces[] = {{{0, 1}, {1, -2, 3}}, {{2, 2}, {0, 0, 0}}};
    pl_metrics m = {.frame = 1,
                    .contact = {.pairs = 7,
                                .gap = 1e-3,
                                .force_count = 2,
                                .forces = forces,
                                .friction_work = 0.25,
                                .rounds = 2}};
    size_t length;
    char *off = pl_metrics_encode(&m, &scene, &length);
    pl_json *d = parse(off);
    ck_assert(pl_json_is_null(pl_json_at(d, "contact")));
    pl_json_free(d);
    pl_metrics_digest digest;
    ck_assert_int_eq(pl_metrics_digest_decode(off, length, &digest), 0);
    ck_assert(digest.pairs == -1 && isnan(digest.gap));
    m.contact.on = true;
    char *on = pl_metrics_encode(&m, &scene, &length);
    d = parse(on);
    ck_assert_uint_eq(pl_json_count(pl_json_at(d, "contact")), 5);
    ck_assert_int_eq(pl_json_integer(d, "contact/pairs", -1), 7);
    ck_assert(pl_json_number(d, "contact/gap", -1) == 1e-3);
    ck_assert(pl_json_number(d, "contact/friction_work", -1) == 0.25);
    ck_assert_int_eq(pl_json_integer(d, "contact/rounds", -1), 2);
    ck_assert_uint_eq(pl_json_count(pl_json_at(d, "contact/forces")), 2);
    ck_assert_str_eq(pl_json_string(d, "contact/forces/0/between/0", ""), "a\"b");
    ck_assert_str_eq(pl_json_string(d, "contact/forces/0/between/1", ""), "ball");
    ck_assert(pl_json_number(d, "contact/forces/0/force/1", 0) == -2);
    ck_assert_str_eq(pl_json_string(d, "contact/forces/1/between/0", ""), "cloth");
    ck_assert_str_eq(pl_json_string(d, "contact/forces/1/between/1", ""), "cloth");
    pl_json_free(d);
    ck_assert_int_eq(pl_metrics_digest_decode(on, length, &digest), 0);
    ck_assert(digest.pairs == 7 && digest.gap == 1e-3);
    ck_assert(!pl_metrics_same(off, strlen(off), on, length));
    m.contact.gap = NAN;
    char *far = pl_metrics_encode(&m, &scene, &length);
    d = parse(far);
    ck_assert(pl_json_is_null(pl_json_at(d, "contact/gap")));
    ck_assert(!pl_metrics_same(far, length, on, strlen(on)));
    ck_assert(pl_metrics_same(far, length, far, length));
    pl_json_free(d);
    free(far);
    free(on);
    free(off);
}
END_TEST

/* A frame's identity excludes times; everything else counts, to the last bit. */
START_TEST(metrics_alike)
{
    static const char record[] =
        "{\"frame\":3,\"time\":0.1,\"none\":null,\"energy\":{\"kinetic\":-0.0},"
        "\"reactions\":{\"pins\":{\"ms\":[1,2,3]}},\"ms\":{\"local\":1.5,\"step\":2},"
        "\"iterations_detail\":[{\"objective\":1,\"ms\":0.1},{\"objective\":2,\"ms\":0.2}]}";
    static const struct {
        const char *from, *to;
        bool alike;
    } changes[] = {
        {"1.5", "7.25", true},
        {"{\"local\":1.5,\"step\":2}", "null", true},
        {"\"ms\":0.2", "\"ms\":9", true},
        {"0.1,\"none", "0.10000000000000002,\"none", false},
        {"-0.0", "0.0", false},
        {"null", "0", false},
        {"[1,2,3]", "[1,2,4]", false},
        {"\"objective\":2", "\"objective\":3", false},
        {",{\"objective\":2,\"ms\":0.2}", "", false},
        {"\"frame\":3,", "", false},
        {"\"frame\":3", "\"flame\":3", false},
        {"]}", "],\"more\":1}", false},
        {"]}", "]", false},
    };
    ck_assert(pl_metrics_same(record, strlen(record), record, strlen(record)));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char other[512];
        const char *at = strstr(record, changes[i].from);
        ck_assert_ptr_nonnull(at);
        int n = snprintf(other, sizeof other, "%.*s%s%s", (int)(at - record), record, changes[i].to,
                         at + strlen(changes[i].from));
        ck_assert_msg(
            pl_metrics_same(record, strlen(record), other, (size_t)n) == changes[i].alike &&
                pl_metrics_same(other, (size_t)n, record, strlen(record)) == changes[i].alike,
            "%s", other);
    }
    ck_assert(!pl_metrics_same("[]", 2, "[]", 2));
    ck_assert(!pl_metrics_same("", 0, "", 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/json");
    TCase *tcase = tcase_create("json");
    tcase_add_test(tcase, reading);
    tcase_add_test(tcase, refusing);
    tcase_add_test(tcase, writing);
    tcase_add_test(tcase, writing_any_bytes);
    tcase_add_test(tcase, numbers_survive);
    tcase_add_test(tcase, nearest);
    tcase_add_test(tcase, problems);
    tcase_add_test(tcase, metrics);
    tcase_add_test(tcase, metrics_of_contact);
    tcase_add_test(tcase, metrics_alike);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
