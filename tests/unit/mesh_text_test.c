/* Numbers as text: every double that printf writes comes back to the bit, whatever the locale. */
#include "engine/mesh/text.h"
#include "tests/unit/mesh_files.h"

#include <locale.h>
#include <math.h>

static pl_text_outcome real(const char *text, double *value)
{
    pl_blob b = exact(text, strlen(text));
    pl_text_outcome outcome = pl_text_real(b.data, b.size, value);
    free((void *)b.data);
    return outcome;
}

static pl_text_outcome integer(const char *text, int64_t *value)
{
    pl_blob b = exact(text, strlen(text));
    pl_text_outcome outcome = pl_text_integer(b.data, b.size, value);
    free((void *)b.data);
    return outcome;
}

START_TEST(integers_are_judged_whole)
{
    int64_t v = 0;
    ck_assert_int_eq(integer("0", &v), PL_TEXT_FINE);
    ck_assert_int_eq(v, 0);
    ck_assert_int_eq(integer("-12", &v), PL_TEXT_FINE);
    ck_assert_int_eq(v, -12);
    ck_assert_int_eq(integer("+007", &v), PL_TEXT_FINE);
    ck_assert_int_eq(v, 7);
    ck_assert_int_eq(integer("9223372036854775807", &v), PL_TEXT_FINE);
    ck_assert_int_eq(v, INT64_MAX);
    ck_assert_int_eq(integer("9223372036854775808", &v), PL_TEXT_OUT_OF_RANGE);
    ck_assert_int_eq(integer("99999999999999999999999999", &v), PL_TEXT_OUT_OF_RANGE);
    const char *bad[] = {"", "-", "+", "1.0", "1e3", "x", "1x", "--1", "0x10", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(integer(bad[i], &v) == PL_TEXT_NOT_A_NUMBER, "'%s' was read", bad[i]);
}
END_TEST

START_TEST(reals_are_the_nearest_double)
{
    const char *texts[] = {"0",
                           "-0",
                           "1.",
                           ".5",
                           "-.5e1",
                           "1e22",
                           "1e23",
                           "5e-324",
                           "1e-400",
                           "9007199254740993",
                           "0.1",
                           "1E+2",
                           "2.2250738585072011e-308",
                           "123456789012345678901234567890",
                           "0.15273100000000001",
                           "1.7976931348623157e308",
                           "00000000000000000000000000001.5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double v = NAN, expected = strtod(texts[i], NULL);
        ck_assert_int_eq(real(texts[i], &v), PL_TEXT_FINE);
        ck_assert_msg(memcmp(&v, &expected, sizeof v) == 0, "%s: %.17g", texts[i], v);
    }
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state ^ state >> 29;
        double x, v = NAN;
        if (i % 2)
            x = (double)(int64_t)bits * 1e-19;
        else
            memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        char text[40];
        snprintf(text, sizeof text, i % 3 ? "%.17g" : "%.9g", x);
        double expected = strtod(text, NULL);
        ck_assert_int_eq(real(text, &v), PL_TEXT_FINE);
        ck_assert_msg(memcmp(&v, &expected, sizeof v) == 0, "%s: %.17g", text, v);
    }
}
END_TEST

START_TEST(other_words_are_no_reals)
{
    double v;
    const char *bad[] = {"", ".", "-", "e5", "1e", "1e+", "1,5", "0x1p3", "1.2.3", "1-2", "abc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(real(bad[i], &v) == PL_TEXT_NOT_A_NUMBER, "'%s' was read", bad[i]);
    const char *wild[] = {"nan",      "NaN",       "-nan",
                          "inf",      "-Infinity", "+INF",
                          "nan(ind)", "1e400",     "-1e999999999999999999"};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        ck_assert_msg(real(wild[i], &v) == PL_TEXT_NOT_FINITE, "'%s' was read", wild[i]);
    char endless[2000];
    memset(endless, '7', sizeof endless);
    ck_assert_int_eq(pl_text_real(endless, sizeof endless, &v), PL_TEXT_OUT_OF_RANGE);
}
END_TEST

/* Numbers with a point stay numbers where the process writes a comma, if such a locale exists. */
START_TEST(the_locale_changes_nothing)
{
    const char *locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_ALL, locales[i]))
            break;
    double v = 0;
    ck_assert_int_eq(real("0.15273100000000001", &v), PL_TEXT_FINE);
    ck_assert(v == 0.15273100000000001);
    ck_assert_int_eq(real("0.5", &v), PL_TEXT_FINE);
    ck_assert(v == 0.5);
}
END_TEST

START_TEST(quotes_and_names_are_printable)
{
    char quote[PL_TEXT_QUOTE_MAX], name[16];
    ck_assert_str_eq(pl_text_quote("a\x01\xFFz", 4, quote), "'a??z'");
    ck_assert_str_eq(pl_text_quote("123456789012345678901234567890", 30, quote),
                     "'123456789012345678901234567..'");
    pl_text_copy_name("Fu\xC3\x9F\n\xFF\xC3", 7, name, 15);
    ck_assert_str_eq(name, "Fu\xC3\x9F???");
    pl_text_copy_name("ab\xE2\x82\xAC", 5, name, 4);
    ck_assert_str_eq(name, "ab");
    pl_text_copy_name("\xC0\x80\xED\xA0\x80", 5, name, 15);
    ck_assert_str_eq(name, "?????");
    const char lines[] = "a\nb\n\nc";
    ck_assert_int_eq(pl_text_line(lines, lines), 1);
    ck_assert_int_eq(pl_text_line(lines, lines + 1), 1);
    ck_assert_int_eq(pl_text_line(lines, lines + 5), 4);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("text");
    tcase_add_test(cases, integers_are_judged_whole);
    tcase_add_test(cases, reals_are_the_nearest_double);
    tcase_add_test(cases, other_words_are_no_reals);
    tcase_add_test(cases, the_locale_changes_nothing);
    tcase_add_test(cases, quotes_and_names_are_printable);
    return run_cases("mesh_text", cases);
}
