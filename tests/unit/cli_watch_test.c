/* The table of pliant watch, as text: widths, order, bars, and names that cannot affect the terminal. */
#include "clients/cli/draw/watch_view.h"

#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pl_terminal plain = {.columns = 80}, fine = {.columns = 110, .utf8 = true};

static pl_watch_row row_of(const char *text)
{
    pl_watch_row row = {.bars_of = -1};
    pl_json *session = pl_json_parse(text, strlen(text), NULL);
    ck_assert_ptr_nonnull(session);
    pl_watch_take(session, &row);
    pl_json_free(session);
    return row;
}

static pl_watch_row running(void)
{
    static const char lines[] =
        "{\"event\":\"hello\",\"from\":1,\"to\":8,\"every\":1}\n"
        "{\"from\":1,\"to\":4,\"count\":4,\"min\":{},\"max\":{\"primal_residual\":1e-2,"
        "\"dual_residual\":1e-5,\"gradient_norm\":7}}\n"
        "{\"from\":5,\"to\":6,\"count\":2,\"min\":{},\"max\":{\"primal_residual\":1e-4}}\n"
        "{\"from\":7,\"to\":8,\"count\":2,\"min\":{},\"max\":{\"gradient_norm\":2e-3}}\n"
        "{\"event\":\"end\"}\n";
    /* 2 simulated seconds a second, of 50 frames each: 100 frames/s; 75 are left: 0.75 s */
    pl_watch_row row = row_of(
        "{\"id\": \"0123456789abcdef0123456789abcdef\", \"name\": \"flag\","
        " \"state\": \"running\", \"progress\": {\"frame\": 25, \"frames\": 100,"
        " \"time\": 0.5, \"rate\": 2}, \"queue\": {\"reason\": \"\"}}");
    pl_watch_take_buckets(lines, sizeof lines - 1, &row);
    return row;
}

static pl_watch_row of_state(const char *state, const char *name)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"id\": \"ffffffffffffffffffffffffffffffff\", \"name\": \"%s\", \"state\": \"%s\","
             " \"progress\": {\"frame\": null, \"frames\": null, \"time\": 0, \"rate\": null},"
             " \"queue\": {\"reason\": \"waits for cores\"}, \"failure\": {\"message\": \"no\"}}",
             name, state);
    return row_of(text);
}

static void expect_table(const pl_watch_row *rows, int count, int most, int columns,
                         const pl_terminal *t, const char *wanted)
{
    char *text = pl_watch_table(rows, count, most, columns, t);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(a_row_says_what_there_is)
{
    pl_watch_row row = running();
    expect_table(
        &row, 1, 9, 80, &plain,
        "id        state     name                          frame frame/s     left residual\n"
        "01234567  running   flag                         25/100     100     0:01  2.0e-03\n");
    expect_table(&row, 1, 9, 110, &fine,
                 "id        state     name                              frame frame/s     left "
                 "residual  last 240 frames\n"
                 "01234567  running   flag                             25/100     100     0:01  "
                 "2.0e-03  █▁▆\n");
    expect_table(
        &row, 0, 9, 80, &plain,
        "id        state     name                          frame frame/s     left residual\n"
        "no session\n");
}
END_TEST

/* A session without an end and without frames; the reason for waiting or failing replaces the bars. */
START_TEST(what_is_not_known_is_empty)
{
    pl_watch_row rows[] = {of_state("queued", "a"), of_state("failed", "b")};
    expect_table(rows, 2, 1, 110, &plain,
                 "id        state     name                              frame frame/s     left "
                 "residual  last 240 frames\n"
                 "ffffffff  queued    a                                     0                 "
                 "           waits for cores\n"
                 "1 more\n");
    char *text = pl_watch_table(&rows[1], 1, 1, 110, &plain);
    ck_assert_ptr_nonnull(strstr(text, "  no\n"));
    free(text);
}
END_TEST

START_TEST(those_that_run_come_first)
{
    static const char *const states[] = {"failed",  "queued", "running", "succeeded",
                                         "running", "paused", "checking"};
    static const char sorted[] = "cefbgad"; /* of alike ones as they came */
    pl_watch_row rows[7];
    for (int i = 0; i < 7; i++)
        rows[i] = of_state(states[i], (char[2]){(char)('a' + i), 0});
    pl_watch_sort(rows, 7);
    for (int i = 0; i < 7; i++)
        ck_assert_msg(rows[i].name[0] == sorted[i], "%d: %s", i, rows[i].name);
    ck_assert(pl_watch_over(&rows[6]) && !pl_watch_over(&rows[4]));
}
END_TEST

/* No name moves the cursor; invalid text gives one '?' per byte; a cell has the specified width. */
START_TEST(cells_are_harmless)
{
    static const struct {
        const char *text;
        int columns;
        const char *cell;
    } cases[] = {
        {"plain", 8, "plain   "},
        {"plain", 3, "pla"},
        {"\x1b[31mred", 9, "?[31mred "},
        {"a\tb\n\x7f", 6, "a?b?? "},
        {"\xc2\x9b", 2,
         "?"
         "?"},
        {"\xc3\xa4\xe2\x82\xac", 3, "\xc3\xa4\xe2\x82\xac "},
        {"\xe2\x82", 3, "?? "},
        {"\xff\xc0\x80", 4, "??? "},
        {"", 2, "  "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char cell[64];
        pl_terminal_cell(cases[i].text, cases[i].columns, cell, sizeof cell);
        ck_assert_str_eq(cell, cases[i].cell);
    }
    char small[8];
    pl_terminal_cell("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 9, small, sizeof small);
    ck_assert_uint_lt(strlen(small), sizeof small);
}
END_TEST

START_TEST(as_json)
{
    pl_watch_row rows[] = {running(), of_state("queued", "b")};
    char *text = pl_watch_json(rows, 2);
    ck_assert_str_eq(
        text, "{\"sessions\":[{\"id\":\"0123456789abcdef0123456789abcdef\",\"name\":\"flag\","
              "\"state\":\"running\",\"frame\":25,\"frames\":100,\"rate\":100,"
              "\"residual\":0.002,\"note\":\"\"},"
              "{\"id\":\"ffffffffffffffffffffffffffffffff\",\"name\":\"b\",\"state\":"
              "\"queued\",\"frame\":-1,\"frames\":-1,\"rate\":null,\"residual\":null,"
              "\"note\":\"waits for cores\"}]}");
    free(text);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("watch");
    tcase_add_test(c, a_row_says_what_there_is);
    tcase_add_test(c, what_is_not_known_is_empty);
    tcase_add_test(c, those_that_run_come_first);
    tcase_add_test(c, cells_are_harmless);
    tcase_add_test(c, as_json);
    return run_cases("the table of sessions", c);
}
