/* The progress line and the plot, as text. */
#include "clients/cli/draw/plot.h"
#include "clients/cli/base/progress.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_progress at_frame_72(void)
{
    pl_progress p;
    pl_metrics_digest d = {.frame = 72,
                           .iterations = 12,
                           .time = 2.4,
                           .primal_residual = 2e-7,
                           .dual_residual = 3.1e-7,
                           .gradient_norm = NAN,
                           .ms_step = 8.4};
    pl_progress_init(&p, 120);
    pl_progress_note(&p, &d);
    return p;
}

START_TEST(plain_line_says_everything)
{
    char text[PL_PROGRESS_TEXT];
    pl_progress p = at_frame_72();
    pl_progress_plain(&p, text);
    /* 1/30 s in 8.4 ms is 3.97 times real time; 48 frames of 8.4 ms are 0.4 s */
    ck_assert_str_eq(text, "72/120   60%  residual 3.1e-07  12 it  8.4 ms/frame  3.97x real time"
                           "  0:01 left");
}
END_TEST

START_TEST(what_is_not_known_is_left_out)
{
    char text[PL_PROGRESS_TEXT];
    pl_progress p;
    pl_progress_init(&p, 10);
    pl_progress_plain(&p, text);
    ck_assert_str_eq(text, "0/10    0%");
    pl_metrics_digest d = {.frame = 10,
                           .iterations = -1,
                           .time = NAN,
                           .primal_residual = NAN,
                           .dual_residual = NAN,
                           .gradient_norm = 4e-3,
                           .ms_step = NAN};
    pl_progress_note(&p, &d);
    pl_progress_plain(&p, text);
    ck_assert_str_eq(text, "10/10  100%  residual 4.0e-03");
}
END_TEST

START_TEST(bar_fits_the_terminal)
{
    char text[PL_PROGRESS_TEXT];
    pl_progress p = at_frame_72();
    pl_terminal t = {.columns = 110};
    pl_progress_line(&p, &t, text);
    ck_assert_uint_lt(strlen(text), 110);
    size_t full = strspn(text, "#"), rest = strspn(text + full, ".");
    ck_assert_uint_eq(full * 10 / (full + rest), 5); /* 60 % of 29, whole characters */
    t.columns = 40;
    pl_progress_line(&p, &t, text);
    ck_assert_uint_lt(strlen(text), 40);
    ck_assert_int_eq(text[0], '7'); /* the numbers, without a bar */
}
END_TEST

START_TEST(times_and_sizes_read_well)
{
    char text[24];
    pl_duration_text(59.2, text);
    ck_assert_str_eq(text, "1:00");
    pl_duration_text(3725, text);
    ck_assert_str_eq(text, "1:02:05");
    pl_duration_text(NAN, text);
    ck_assert_str_eq(text, "0:00");
    pl_bytes_text(1536, text);
    ck_assert_str_eq(text, "1.5 KiB");
    pl_bytes_text(999, text);
    ck_assert_str_eq(text, "999 B");
}
END_TEST

static char plot_buffer[1 << 14];

static char *plot_text(pl_plot *plot, bool utf8)
{
    pl_terminal t = {.utf8 = utf8};
    FILE *f = fmemopen(plot_buffer, sizeof plot_buffer, "w");
    pl_plot_print(plot, &t, f);
    fclose(f);
    return plot_buffer;
}

/* 1, 0.1, .., 1e-9: a straight line down the plot. */
static void descending(double values[10])
{
    for (int i = 0; i < 10; i++)
        values[i] = pow(10, -i);
}

START_TEST(decades_make_a_straight_line)
{
    double values[10];
    descending(values);
    pl_plot plot = {.title = "bar",
                    .count = 10,
                    .x_last = 9,
                    .series_count = 1,
                    .series = {{"primal_residual", values}},
                    .width = 20,
                    .height = 10};
    char *text = plot_text(&plot, false), *line = strchr(text, '\n') + 1;
    ck_assert_ptr_nonnull(strstr(text, "bar   * primal_residual 1.00e-09"));
    ck_assert_int_eq(strncmp(line, " 1e+00 |**", 10), 0);
    for (int row = 0; row < 9; row++)
        line = strchr(line, '\n') + 1;
    ck_assert_int_eq(strncmp(line, " 1e-09 |", 8), 0);
    ck_assert_int_eq(strncmp(line + 8 + 18, "**", 2), 0);
    ck_assert_ptr_nonnull(strstr(line, "frame 9"));
}
END_TEST

/* Round numbers below the axis, each under its mark. */
START_TEST(the_axis_has_numbers)
{
    double values[101];
    for (int i = 0; i <= 100; i++)
        values[i] = 1 + i;
    pl_plot plot = {.count = 101,
                    .x_last = 100,
                    .series_count = 1,
                    .series = {{"x", values}},
                    .width = 51,
                    .height = 4};
    char *text = plot_text(&plot, false), *axis = strstr(text, "       +");
    ck_assert_ptr_nonnull(axis);
    ck_assert_str_eq(axis, "       ++---------+---------+---------+---------+---------+\n"
                           "        0        20        40        60        80 frame 100\n");
    plot.x_first = plot.x_last; /* a single frame has one number */
    text = plot_text(&plot, false);
    ck_assert_ptr_nonnull(strstr(text, "frame 100"));
}
END_TEST

START_TEST(braille_dots_are_utf8)
{
    double values[10];
    descending(values);
    pl_plot plot = {.count = 10,
                    .x_last = 9,
                    .series_count = 1,
                    .series = {{"x", values}},
                    .width = 5,
                    .height = 3};
    char *text = plot_text(&plot, true);
    const char *first = strstr(text, "┤");
    ck_assert_ptr_nonnull(first);
    first += strlen("┤");
    ck_assert_int_eq((unsigned char)first[0], 0xe2); /* U+2800 .. U+28FF */
    ck_assert_int_eq((unsigned char)first[1] & 0xfc, 0xa0);
}
END_TEST

START_TEST(no_positive_value_is_said)
{
    double values[3] = {0, NAN, -1};
    pl_plot plot = {
        .count = 3, .series_count = 1, .series = {{"x", values}}, .width = 20, .height = 5};
    char *text = plot_text(&plot, false);
    ck_assert_ptr_nonnull(strstr(text, "no value above 0 to draw"));
    values[0] = values[2] = INFINITY;
    plot.linear = true; /* which has room for values below 0, and none for these */
    text = plot_text(&plot, false);
    ck_assert_ptr_nonnull(strstr(text, "no value to draw"));
}
END_TEST

/* Steps taken as halves: counted over frames after frame 0, and not mentioned if none were. */
START_TEST(hardship_is_said_once_there_was_some)
{
    pl_progress p;
    char text[PL_PROGRESS_TEXT];
    pl_progress_init(&p, 4);
    pl_metrics_digest good = {.frame = 1, .unconverged = 0, .ms_step = 1};
    pl_progress_note(&p, &good);
    pl_progress_hardship(&p, text);
    ck_assert_str_eq(text, "");
    pl_metrics_digest bad = {
        .frame = 2, .unconverged = 3, .inverted = 7, .halved = 1, .ms_step = 1};
    pl_progress_note(&p, &bad);
    bad.frame = 3, bad.inverted = 0;
    pl_progress_note(&p, &bad);
    /* A fixed number of iterations has no tolerance to miss. */
    pl_metrics_digest fixed = {.frame = 4, .unconverged = -1, .ms_step = 1};
    pl_progress_note(&p, &fixed);
    pl_progress_hardship(&p, text);
    ck_assert_ptr_nonnull(strstr(text, "2 of 4 frames have steps that were retried as two half"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli_progress");
    TCase *t = tcase_create("text");
    tcase_add_test(t, hardship_is_said_once_there_was_some);
    tcase_add_test(t, plain_line_says_everything);
    tcase_add_test(t, what_is_not_known_is_left_out);
    tcase_add_test(t, bar_fits_the_terminal);
    tcase_add_test(t, times_and_sizes_read_well);
    tcase_add_test(t, decades_make_a_straight_line);
    tcase_add_test(t, the_axis_has_numbers);
    tcase_add_test(t, braille_dots_are_utf8);
    tcase_add_test(t, no_positive_value_is_said);
    suite_add_tcase(s, t);
    return run_suite(s);
}
