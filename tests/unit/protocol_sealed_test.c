/* Sealed documents: no single flipped bit, missing byte or added byte is believed. */
#include "protocol/log/sealed.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

#include <errno.h>

static temporary t;

static void setup(void)
{
    temporary_create(&t);
}
static void teardown(void)
{
    temporary_destroy(&t);
}

static void write_document(int64_t format, int64_t value)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", format);
    pl_json_set_integer(&w, "value", value);
    pl_json_set_string(&w, "text", "caf\u00e9 \"quoted\"");
    ck_assert_int_eq(pl_sealed_write(t.fd, "d", &w, true), PL_OK);
    ck_assert_ptr_null(w.text);
}

/* Reads as specified by `since`; the result must be the document. */
static bool readable(int32_t since, int32_t format)
{
    pl_json *document;
    pl_status status = pl_sealed_read_since(t.fd, "d", 1 << 16, since, format, &document);
    if (status != PL_OK) {
        ck_assert_int_eq(status, PL_IO);
        ck_assert_int_eq(errno, EBADMSG);
        return false;
    }
    ck_assert_int_eq(pl_json_integer(document, "value", 0), 71);
    ck_assert_str_eq(pl_json_string(document, "text", ""), "caf\u00e9 \"quoted\"");
    pl_json_free(document);
    return true;
}

START_TEST(written_and_read)
{
    pl_json *document;
    ck_assert_int_eq(pl_sealed_read(t.fd, "d", 1 << 16, 1, &document), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    write_document(1, 71);
    ck_assert(readable(1, 1));
    ck_assert(readable(1, 2));
    ck_assert_int_eq(pl_sealed_read(t.fd, "d", 10, 1, &document), PL_IO);
    ck_assert_int_eq(errno, EFBIG);
    write_document(3, 71);
    ck_assert(!readable(1, 2)); /* of the future */
    write_document(0, 71);
    ck_assert(!readable(1, 2));
}
END_TEST

START_TEST(every_bit)
{
    size_t size;
    write_document(2, 71);
    char *text = take_file(t.fd, "d", &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        put_file(t.fd, "d", text, size);
        ck_assert_msg(!readable(1, 2), "bit %zu", bit);
        ck_assert_msg(!readable(2, 2), "bit %zu, where older ones have no seal", bit);
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(text);
}
END_TEST

START_TEST(every_length)
{
    size_t size;
    write_document(2, 71);
    char *text = take_file(t.fd, "d", &size);
    for (size_t kept = 0; kept < size; kept++) {
        put_file(t.fd, "d", text, kept);
        ck_assert_msg(!readable(2, 2), "cut to %zu bytes", kept);
    }
    text[size] = '\n';
    put_file(t.fd, "d", text, size + 1);
    ck_assert(!readable(2, 2));
    put_file(t.fd, "d", text, size);
    ck_assert(readable(2, 2));
    free(text);
}
END_TEST

START_TEST(unsealed)
{
    static const char text[] = "{\"format\":1,\"value\":71,\"text\":\"caf\u00e9 \\\"quoted\\\"\"}";
    put_file(t.fd, "d", text, sizeof text - 1);
    ck_assert(readable(2, 2));
    ck_assert(!readable(1, 2)); /* a kind that always had a seal */
    char *later = strdup(text);
    later[10] = '2';
    put_file(t.fd, "d", later, sizeof text - 1);
    ck_assert(!readable(2, 2)); /* format 2 has one */
    free(later);
}
END_TEST

START_TEST(texts)
{
    static const char object[] = "{\"hash\": \"ab\", \"tags\": [{}]}";
    char *read;
    size_t size;
    ck_assert_int_eq(pl_sealed_write_text(t.fd, "d", "[]", false), PL_INVALID);
    ck_assert_int_eq(pl_sealed_write_text(t.fd, "d", object, false), PL_OK);
    ck_assert_int_eq(pl_sealed_read_text(t.fd, "d", 1 << 16, &read), PL_OK);
    ck_assert_str_eq(read, object);
    free(read);
    char *text = take_file(t.fd, "d", &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        put_file(t.fd, "d", text, size);
        ck_assert_int_eq(pl_sealed_read_text(t.fd, "d", 1 << 16, &read), PL_IO);
        ck_assert_int_eq(errno, EBADMSG);
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/sealed");
    TCase *tcase = tcase_create("sealed");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, written_and_read);
    tcase_add_test(tcase, every_bit);
    tcase_add_test(tcase, every_length);
    tcase_add_test(tcase, unsealed);
    tcase_add_test(tcase, texts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
