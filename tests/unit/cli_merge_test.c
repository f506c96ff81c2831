/* Merge patches: RFC 7386's own examples, and arrays by index. */
#include "clients/cli/session/merge_patch.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *base, *patch, *merged;
} rows[] = {
    /* RFC 7386, appendix A */
    {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
    {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
    {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
    {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
    {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    /* into arrays */
    {"{\"a\":[1,{\"b\":2,\"c\":3},4]}", "{\"a\":{\"1\":{\"b\":5}}}",
     "{\"a\":[1,{\"b\":5,\"c\":3},4]}"},
    {"{\"a\":[1,2,3]}", "{\"a\":{\"0\":7,\"2\":null}}", "{\"a\":[7,2]}"},
    {"{\"a/b\":{\"c\":1}}", "{\"a/b\":{\"c\":2}}", "{\"a/b\":{\"c\":2}}"},
};

START_TEST(patches_merge)
{
    size_t length;
    char *merged = pl_merge_patch_texts(rows[_i].base, strlen(rows[_i].base), rows[_i].patch,
                                        &length);
    ck_assert_str_eq(merged, rows[_i].merged);
    ck_assert_uint_eq(length, strlen(merged));
    free(merged);
}
END_TEST

START_TEST(what_is_no_json_is_refused)
{
    size_t length;
    ck_assert_ptr_null(pl_merge_patch_texts("{", 1, "{}", &length));
    ck_assert_ptr_null(pl_merge_patch_texts("{}", 2, "", &length));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_merge");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, patches_merge, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, what_is_no_json_is_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
