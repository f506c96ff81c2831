/* The description of the API and its links: complete, unique, and as committed. Every reply of every test is checked
 * against it where replies are read (support/api_description.c). */
#include "protocol/text/sha256.h"
#include "tests/support/api_description.h"
#include "tests/support/json_schema.h"
#include "tests/support/one_daemon.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- complete ---- */

static void check_parameters(const char *path, const json_t *operation)
{
    const json_t *parameters = json_at(operation, "parameters");
    for (size_t i = 0; i < json_array_size(parameters); i++) {
        const json_t *p = json_array_get(parameters, i);
        ck_assert_msg(*json_text(p, "description"), "%s: %s is not described", path,
                      json_text(p, "name"));
    }
}

/* A JSON reply has a documented schema. */
static void check_replies(const char *path, const json_t *operation)
{
    const char *status;
    json_t *reply;
    json_object_foreach(json_object_get(operation, "responses"), status, reply)
    {
        const json_t *content = json_object_get(reply, "content");
        const json_t *form = json_object_get(content, "application/json");
        ck_assert_msg(!form || json_object_get(form, "schema"), "%s: %s has no schema", path,
                      status);
    }
}

START_TEST(test_complete)
{
    const json_t *description = api_description(d), *operation;
    const char *path, *method, *ids[256];
    json_t *operations;
    int count = 0;
    json_object_foreach(json_object_get(description, "paths"), path, operations)
    {
        json_t *value;
        json_object_foreach(operations, method, value)
        {
            operation = value;
            ck_assert_msg(*json_text(operation, "summary"), "%s", path);
            check_parameters(path, operation);
            check_replies(path, operation);
            ck_assert_int_lt(count, 256);
            ids[count] = json_text(operation, "operationId");
            for (int i = 0; i < count; i++)
                ck_assert_str_ne(ids[i], ids[count]);
            count++;
        }
    }
    ck_assert_int_ge(count, 25);
}
END_TEST

/* References lead somewhere; a schema without one fits nothing. */
static void check_references(const json_t *root, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach((json_t *)value, key, member)
    {
        const char *at = json_string_value(member);
        if (strcmp(key, "$ref") == 0 && at)
            ck_assert_msg(strncmp(at, "#/", 2) == 0 && json_at(root, at + 2), "%s", at);
        check_references(root, member);
    }
    json_array_foreach((json_t *)value, i, member)
    {
        check_references(root, member);
    }
}

START_TEST(test_references)
{
    check_references(api_description(d), api_description(d));
    http_reply *r = http_get(d, "/v1/schema/scene");
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "$schema"), "https://json-schema.org/draft/2020-12/schema");
    check_references(r->json, r->json);
    http_reply_free(r);
}
END_TEST

/* A program's output, malloc'ed. */
static char *output_of(const char *command, size_t *size)
{
    char *text = calloc(1, 2 << 20);
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    *size = fread(text, 1, (2 << 20) - 1, out);
    ck_assert_int_eq(pclose(out), 0);
    return text;
}

/* The description is generated, not committed; a change shows as a change of openapi.sha256. */
START_TEST(test_committed)
{
    char path[600], hash[65], held[80] = "", command[1200];
    size_t size;
    snprintf(path, sizeof path, "%.500s", __FILE__);
    snprintf(strrchr(path, '/'), 40, "/openapi.sha256");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL && fgets(held, sizeof held, file), "%s cannot be read", path);
    fclose(file);
    const char *build = getenv("PLIANT_BUILD") ? getenv("PLIANT_BUILD") : "build";
    snprintf(command, sizeof command, "'%.1000s/pliantd' --openapi", build);
    char *text = output_of(command, &size);
    json_t *printed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json_equal(printed, api_description(d)), "--openapi prints what is not served");
    pl_sha256 *s = pl_sha256_create();
    pl_sha256_update(s, text, size);
    pl_sha256_finish(s, hash);
    held[strcspn(held, "\n")] = 0;
    ck_assert_msg(
        strcmp(hash, held) == 0,
        "the OpenAPI document has changed: look at it (build/pliantd --openapi), then run "
        "`make openapi` and commit tests/http/openapi.sha256");
    json_decref(printed);
    free(text);
}
END_TEST

/* ---- problems ---- */

/* Every source of the daemon but the table, one after the other. */
static char *read_sources(void)
{
    char pattern[600];
    glob_t found;
    size_t used = 0;
    char *text = calloc(1, 4 << 20);
    snprintf(pattern, sizeof pattern, "%.500s", __FILE__);
    *strrchr(pattern, '/') = 0;
    snprintf(pattern + strlen(pattern), 40, "/../../server/*/*.c");
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], "/problems.c") || strstr(found.gl_pathv[i], "/worker/"))
            continue;
        FILE *file = fopen(found.gl_pathv[i], "r");
        used += fread(text + used, 1, (4 << 20) - 1 - used, file);
        fclose(file);
    }
    globfree(&found);
    return text;
}

/* The codes of a call of pl_reply_problem or pl_reply_problemf: the words before its title. */
static int take_codes(const char *call, char codes[8][64])
{
    int count = 0;
    const char *end = strchr(call, ';');
    for (const char *at = strchr(call, '"'); at && at < end && count < 8; at = strchr(at, '"')) {
        size_t n = strspn(++at, "abcdefghijklmnopqrstuvwxyz_");
        if (at[n] != '"' || n == 0)
            break;
        snprintf(codes[count++], 64, "%.*s", (int)n, at);
        at += n + 1;
    }
    return count;
}

/* Each problem that the daemon can report has a page, and each page a problem. */
START_TEST(test_problems_are_those)
{
    const json_t *types = json_at(api_description(d),
                                  "components/schemas/Problem/properties/type/enum");
    char *text = read_sources(), codes[8][64];
    int calls = 0;
    for (char *at = text; (at = strstr(at, "pl_reply_problem")); at++) {
        int count = take_codes(at, codes);
        calls += count;
        for (int i = 0; i < count; i++) {
            bool listed = false;
            for (size_t k = 0; k < json_array_size(types); k++)
                listed |= strcmp(json_string_value(json_array_get(types, k)) + 10, codes[i]) == 0;
            ck_assert_msg(listed, "server/http/problems.c lacks %s", codes[i]);
        }
    }
    ck_assert_int_ge(calls, 40);
    for (size_t k = 0; k < json_array_size(types); k++) {
        char word[80];
        snprintf(word, sizeof word, "\"%.70s\"", json_string_value(json_array_get(types, k)) + 10);
        ck_assert_msg(strstr(text, word) != NULL, "nothing reports %s", word);
    }
    free(text);
}
END_TEST

START_TEST(test_problem_pages)
{
    const json_t *types = json_at(api_description(d),
                                  "components/schemas/Problem/properties/type/enum");
    ck_assert_uint_ge(json_array_size(types), 40);
    http_reply *list = http_get_as(d, "/problems", "text/plain");
    http_expect(list, 200);
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const char *code = type + strlen("/problems/");
        http_reply *r = http_get_as(d, type, "text/plain");
        http_expect(r, 200);
        ck_assert_ptr_nonnull(strstr(r->body, code));
        ck_assert_ptr_nonnull(strstr(r->body, "What to do: "));
        ck_assert_ptr_nonnull(strstr(list->body, code));
        http_reply_free(r);
        r = http_get_as(d, type, "text/html, */*;q=0.1");
        ck_assert(strncmp(http_header(r, "Content-Type"), "text/html", 9) == 0);
        ck_assert_ptr_nonnull(http_header(r, "Content-Security-Policy"));
        ck_assert_ptr_nonnull(strstr(r->body, code));
        http_reply_free(r);
    }
    http_reply_free(list);
    static const char *const none[] = {"/problems/nothing", "/problems/%3Cscript%3E",
                                       "/problems/not_yet%00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        http_reply *r = http_get(d, none[i]);
        http_problem(r, 404, "not_found");
        ck_assert_ptr_null(strstr(r->body, "<script"));
        http_reply_free(r);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("description");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_complete);
    tcase_add_test(tests, test_references);
    tcase_add_test(tests, test_committed);
    tcase_add_test(tests, test_problems_are_those);
    tcase_add_test(tests, test_problem_pages);
    return run_cases("contract: description", tests);
}
