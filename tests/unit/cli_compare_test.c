/* A comparison read from a worker's lines, and its chart. */
#include "clients/cli/draw/chart.h"
#include "clients/cli/session/compare_result.h"
#include "clients/cli/session/compare_scene.h"
#include "protocol/scene/scene_json.h"

#include "tests/unit/cli_files.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const char *const labels[] = {"a", "b", "c", "reference", "other reference"};

static void take(pl_compare_result *r, const char *line)
{
    pl_compare_result_take(r, line, strlen(line));
}

/* e* = 2 by the reference and e(x0) = 12, so that an objective of 2 + 10 t has error t. */
static void take_all(pl_compare_result *r, const char *lowest)
{
    char line[256];
    ck_assert(pl_compare_result_init(r, 5, 3, labels));
    take(r, "{\"event\": \"approach\", \"entry\": null, \"step\": 3, \"of\": 9}");
    ck_assert_int_eq(r->approach, 3);
    ck_assert_int_eq(r->approach_of, 9);
    take(r, "{\"event\": \"begin\", \"entry\": 0}");
    snprintf(line, sizeof line,
             "{\"event\": \"done\", \"entry\": 0, \"ms\": 5, \"setup_ms\": 1, \"rows\":"
             " [[12, 1, 1, 2], [2.1, null, 1, 6], [null, 1, 1, 8], [%s, 1, 0, 10]]}",
             lowest);
    take(r, line);
    take(r, "{\"event\": \"begin\", \"entry\": 1}");
    take(r,
         "{\"event\": \"refused\", \"entry\": 1, \"faults\": [{\"pointer\": \"/p\", \"got\": \"g\","
         " \"expected\": \"e\", \"hint\": \"h\"}]}");
    take(r, "{\"event\": \"failed\", \"entry\": 2, \"code\": \"inverted\", \"message\": \"m\","
            " \"advice\": \"d\"}");
    take(r, "{\"event\": \"done\", \"entry\": 3, \"ms\": 1, \"setup_ms\": 1, \"rows\":"
            " [[12, 1, 1, 0], [2, 1, 1, 1], [null, 1, 1, 2]]}");
    ck_assert_int_eq(r->current, 1);
    ck_assert(!r->ended);
    take(r, "{\"event\": \"end\", \"entry\": null}");
    take(r, "not json");
    take(r, "{\"event\": \"done\", \"entry\": 99}");
    ck_assert(r->ended);
}

START_TEST(errors_are_relative_to_the_reference)
{
    pl_compare_result r;
    take_all(&r, "2.000001");
    ck_assert(pl_compare_result_settle(&r, false));
    ck_assert_int_eq(r.reference, 3);
    ck_assert_double_eq(r.best, 2);
    ck_assert_double_eq(r.start, 12);
    const pl_compared *a = &r.entries[0];
    const double expected[] = {1, 0.01, NAN, 1e-7};
    for (int i = 0; i < 4; i++)
        ck_assert(isnan(expected[i]) ? isnan(a->error[i])
                                     : fabs(a->error[i] - expected[i]) < 1e-12);
    ck_assert_int_eq(pl_compared_reach(a, 0.011), 1);
    ck_assert_int_eq(pl_compared_reach(a, 1e-6), 3);
    ck_assert_int_eq(pl_compared_reach(a, 1e-9), -1);
    /* 10 ms with recording, 5 without: half of each. */
    ck_assert_double_eq_tol(a->time[1], 3, 1e-12);
    ck_assert_double_eq_tol(a->time[3], 5, 1e-12);
    ck_assert_int_eq(r.entries[1].state, PL_COMPARED_REFUSED);
    ck_assert_str_eq(r.entries[1].reason, "/p: got g, expected e; h");
    ck_assert_int_eq(r.entries[2].state, PL_COMPARED_FAILED);
    ck_assert_str_eq(r.entries[2].reason, "inverted: m d");
    pl_compare_result_clear(&r);
}
END_TEST

/* A method that goes below the reference defines the minimum, except with hard constraints. */
START_TEST(lower_objectives_count_without_constraints)
{
    pl_compare_result r;
    take_all(&r, "1");
    ck_assert(pl_compare_result_settle(&r, false));
    ck_assert_double_eq(r.best, 1);
    ck_assert_double_eq(r.entries[0].error[3], 0);
    pl_compare_result_clear(&r);
    take_all(&r, "1");
    ck_assert(pl_compare_result_settle(&r, true));
    ck_assert_double_eq(r.best, 2);
    ck_assert_double_eq_tol(r.entries[0].error[3], 0.1, 1e-12);
    pl_compare_result_clear(&r);
    ck_assert(pl_compare_result_init(&r, 5, 3, labels));
    ck_assert(!pl_compare_result_settle(&r, false));
    pl_compare_result_clear(&r);
}
END_TEST

/* So it is where bodies touch: iterates that cross lie below, and an error counts once it stays. */
START_TEST(iterates_that_cross_do_not_count)
{
    pl_compare_result r;
    ck_assert(pl_compare_result_init(&r, 5, 3, labels));
    take(&r, "{\"event\": \"done\", \"entry\": 0, \"ms\": 5, \"setup_ms\": 1, \"contact_pairs\": 3,"
             " \"rows\": [[12, 1, 1, 2], [2.001, 1, 1, 3], [1, 1, 1, 6], [2.01, 1, 1, 8], [2, 1, "
             "0, 10]]}");
    take(&r, "{\"event\": \"done\", \"entry\": 3, \"ms\": 1, \"setup_ms\": 1, \"contact_pairs\": 3,"
             " \"rows\": [[12, 1, 1, 0], [0.5, 1, 1, 1], [2, 1, 1, 2]]}");
    ck_assert(pl_compare_result_settle(&r, false));
    ck_assert(r.touches);
    ck_assert_double_eq(r.best, 2);
    ck_assert_int_eq(pl_compared_reach(&r.entries[0], 0.01), 3);
    ck_assert_int_eq(pl_compared_reach(&r.entries[0], 0.5), 1);
    pl_compare_result_clear(&r);
}
END_TEST

static char *read_chart(const pl_chart *chart)
{
    size_t size;
    ck_assert_int_eq(pl_chart_write(chart, cli_path("chart.svg")), PL_OK);
    return (char *)cli_read("chart.svg", &size);
}

/* A panel is 460 x 320 at (74, 62). The vertical axis spans 1 down to 1e-4, so a decade is 80. */
START_TEST(a_chart_has_its_points_where_they_belong)
{
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 0.1, NAN, 1e-3, 1e-4}, z[] = {-1, 0, 1, 2, 3};
    pl_chart chart = {.title = "a < b & \"c\"",
                      .panels = 2,
                      .x_label = {"k", "t"},
                      .y_label = {"e", "f"},
                      .log_y = {true, false},
                      .series_count = 1,
                      .series = {{.name = "one", .count = 5, .x = {x, x}, .y = {y, z}}}};
    char *text = read_chart(&chart);
    ck_assert_ptr_nonnull(strstr(text, "a &lt; b &amp; &quot;c&quot;"));
    ck_assert_ptr_nonnull(strstr(text, "d=\"M90.0 62.0L205.0 142.0M435.0 302.0L550.0 382.0\""));
    ck_assert_ptr_nonnull(strstr(text, ">1e-4<"));
    ck_assert_ptr_nonnull(strstr(text, ">one<"));
    /* The second panel lies 544 to the right; -1 at the bottom, 3 on top. */
    ck_assert_ptr_nonnull(strstr(text, "d=\"M650.0 382.0L765.0 302.0L880.0 222.0L995.0 142.0"));
    ck_assert_str_eq(text + strlen(text) - 7, "</svg>\n");
    free(text);
    chart.series_count = 0; /* nothing to draw is drawn all the same */
    text = read_chart(&chart);
    ck_assert_ptr_null(strstr(text, "nan"));
    free(text);
}
END_TEST

/* True if a compared scene has contact between bodies; -1 if it is rejected. */
static int has_contact(const char *text)
{
    pl_outline outline;
    pl_faults faults = {0};
    int contact = -1;
    if (pl_scene_outline(text, strlen(text), &outline, &faults) == PL_DECODE_OK) {
        contact = outline.contact;
        pl_outline_clear(&outline);
    }
    pl_faults_clear(&faults);
    return contact;
}

/* Contact between bodies is part of all compared methods, or of none if the scene says so. */
START_TEST(all_have_contact_or_none)
{
    static const struct {
        const char *more, *methods;
        int approach, contact[2];
    } cases[] = {
        {"", "newton,lbfgs", 1, {1, 1}},
        {"", "newton,admm", 1, {1, 1}},
        {"", "newton,projective_dynamics", 1, {1, 1}},
        {"", "newton,lbfgs:device=gpu", 1, {1, 1}},
        {", \"solver\": {\"device\": \"gpu\", \"method\": \"lbfgs\"}",
         "newton:device=cpu,lbfgs:device=cpu",
         1,
         {1, 1}},
        {", \"contact\": {\"enabled\": false}", "newton,lbfgs", 0, {0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char scene[256];
        pl_cli cli = {.json = true};
        pl_compare_scene s;
        snprintf(scene, sizeof scene, "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {}}}]%s}",
                 cases[i].more);
        cli_write("scene.json", scene);
        ck_assert_int_eq(
            pl_compare_scene_open(&cli, cli_path("scene.json"), cases[i].methods, 1, 10, &s), 0);
        ck_assert_int_eq(has_contact(s.approach), cases[i].approach);
        ck_assert_int_eq(s.methods, 2);
        for (int k = 0; k < 2; k++)
            ck_assert_msg(has_contact(s.text[k]) == cases[i].contact[k], "%zu %d", i, k);
        ck_assert_int_eq(has_contact(s.text[2]), cases[i].approach); /* newton, the reference */
        pl_compare_scene_close(&s);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_compare");
    TCase *t = tcase_create("all");
    tcase_add_unchecked_fixture(t, cli_folder_make, cli_folder_remove);
    tcase_add_test(t, errors_are_relative_to_the_reference);
    tcase_add_test(t, lower_objectives_count_without_constraints);
    tcase_add_test(t, iterates_that_cross_do_not_count);
    tcase_add_test(t, all_have_contact_or_none);
    tcase_add_test(t, a_chart_has_its_points_where_they_belong);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
