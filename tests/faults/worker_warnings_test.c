/* Warnings for users: from the preflight, about bodies that bend too stiffly or overlap; from the worker, about frames,
 * counted here a second time from the log.
 */
#include "protocol/log/log.h"
#include "protocol/text/json.h"
#include "tests/support/session_fixture.h"
#include "tests/support/suite.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pl_warnings warnings_of(const session_fixture *f, pl_run_totals *totals)
{
    pl_warnings list = {0};
    pl_run_totals own;
    ck_assert_int_eq(pl_run_warnings_read(f->directory, totals ? totals : &own, &list), PL_OK);
    return list;
}

static const pl_warning *find(const pl_warnings *list, pl_warning_code code)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->items[i].code == code)
            return &list->items[i];
    return NULL;
}

/* Frames from 1 on whose metrics have a number above `most` at `path`; NaN: any above none. */
static int64_t frames_with(const session_fixture *f, const char *path, double most)
{
    pl_log_reader *reader;
    int64_t found = 0;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    int64_t count = pl_log_reader_refresh(reader);
    for (int64_t frame = 1; frame < count; frame++) {
        char *text;
        uint64_t length;
        ck_assert_int_eq(pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length), PL_LOG_OK);
        pl_json *m = pl_json_parse(text, (size_t)length, NULL);
        found += pl_json_number(m, path, NAN) > most;
        pl_json_free(m);
        free(text);
    }
    pl_log_reader_close(reader);
    return found;
}

/* ---- before the run ---- */

static pl_preflight checked(session_fixture *f, const char *scene)
{
    pl_preflight report;
    session_fixture_create(f, NULL, scene);
    ck_assert_int_eq(session_fixture_preflight(f), 0);
    ck_assert_int_eq(pl_preflight_read(f->directory, &report), PL_OK);
    return report;
}

/* Bars of two to six cells across; with nu = 0.3 two cells are half as soft as they should be, with 0.45 a third
 * (../physics measures both). What nothing holds is not there to bend. */
START_TEST(test_few_elements)
{
    static const struct {
        const char *mesh, *material, *pins, *said;
    } cases[] = {
        {"\"size\": [2, 0.2, 0.2], \"cells\": [20, 2, 2]", "\"poisson\": 0.45",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", "bends about 3.4 times as stiffly"},
        {"\"size\": [2, 0.2, 0.2], \"cells\": [20, 2, 2]", "\"poisson\": 0.3",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", "bends about 2.1 times as stiffly"},
        {"\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]", "\"poisson\": 0.3",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", "bends about 2.1 times as stiffly"},
        {"\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]", "\"poisson\": 0.3",
         "\"body\": \"cube\", \"select\": {\"side\": \"-x\"}", NULL},
        {"\"size\": [2, 0.2, 0.2], \"cells\": [40, 4, 4]", "\"poisson\": 0.3",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", NULL},
        {"\"size\": [1, 1, 1], \"cells\": [2, 2, 2]", "\"poisson\": 0.45",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", NULL},
        {"\"size\": [1, 1, 1], \"cells\": [2, 2, 2]", "\"poisson\": 0.495",
         "\"body\": \"b\", \"select\": {\"side\": \"-x\"}", "Poisson's ratio of 0.495"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024];
        snprintf(scene, sizeof scene,
                 "{\"pliant\": 1, \"materials\": {\"m\": {%s}, \"plain\": {\"poisson\": 0.2}},"
                 " \"bodies\": [{\"name\": \"b\", \"material\": \"m\", \"mesh\": {\"box\": {%s}},"
                 " \"transform\": {\"rotate\": {\"axis\": [1, 2, 3], \"degrees\": 40}}},"
                 " {\"name\": \"cube\", \"material\": \"plain\", \"mesh\": {\"box\": {\"cells\":"
                 " [1, 1, 1]}}, \"transform\": {\"translate\": [5, 0, 0]}}], \"pins\": [{%s}]}",
                 cases[k].material, cases[k].mesh, cases[k].pins);
        pl_preflight report = checked(&f, scene);
        const pl_warning *w = find(&report.warnings, PL_WARNING_FEW_ELEMENTS);
        ck_assert_msg(!w == !cases[k].said, "%zu: %s", k, w ? w->detail : "nothing");
        ck_assert_int_eq(report.warnings.count, w != NULL);
        if (w) {
            ck_assert_msg(strstr(w->detail, cases[k].said), "%s", w->detail);
            ck_assert_int_eq(w->count, 1);
            ck_assert_int_eq(w->of, 2);
        }
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* Cells of 0.1 m: sound crosses sqrt(E / 1000) h / 0.1 of them in a step, 3.2 for 1e6 Pa and 10 ms. Of a sheet with the
 * same triangles it is the same. auto and newton stay silent. */
START_TEST(test_stiff_step)
{
    static const struct {
        const char *method, *step, *young, *mesh, *said;
    } cases[] = {
        {"quasi_newton", "0.01", "1e9",
         "\"box\": {\"cells\": [2, 3, 4], \"size\": [0.2, 0.3, 0.4]}",
         "body 'b' is too stiff for quasi_newton at a time.step of 0.01 s: sound crosses 100 of "
         "its cells of 0.1 m in a step (material 'm': 1e+09 Pa)"},
        {"admm", "0.01", "1e8", "\"box\": {\"cells\": [1, 1, 1], \"size\": [0.1, 0.1, 0.1]}",
         "\"method\": \"auto\" or \"newton\", or a time.step of 0.009 s"},
        {"quasi_newton", "0.01", "1e8", "\"cloth\": {\"cells\": [2, 2], \"size\": [0.2, 0.2]}",
         "crosses 32 of its cells of 0.1 m"},
        {"quasi_newton", "0.01", "8e7", "\"cloth\": {\"cells\": [2, 2], \"size\": [0.2, 0.2]}",
         NULL},
        {"quasi_newton", "0.001", "1e9",
         "\"box\": {\"cells\": [2, 2, 2], \"size\": [0.2, 0.2, 0.2]}", NULL},
        {"newton", "0.01", "1e9", "\"box\": {\"cells\": [2, 2, 2], \"size\": [0.2, 0.2, 0.2]}",
         NULL},
        {"auto", "0.01", "1e9", "\"box\": {\"cells\": [2, 2, 2], \"size\": [0.2, 0.2, 0.2]}", NULL},
        {"quasi_newton", "0.01", "1e9", "\"rope\": {\"length\": 1, \"segments\": 10}", NULL},
        {"admm", "0.01", "1e10", "\"box\": {\"cells\": [2, 2, 2]}", NULL}, /* no obstacle */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024];
        snprintf(
            scene, sizeof scene,
            "{\"pliant\": 1, \"time\": {\"step\": %s, \"steps\": 1}, \"solver\": {\"method\":"
            " \"%s\"}, \"materials\": {\"m\": {\"young\": %s, \"poisson\": 0.3, \"density\": 1000,"
            " \"model\": \"stvk\"}}, \"bodies\": [{\"name\": \"b\", \"material\": \"m\", \"mesh\": "
            "{%s}}]%s}",
            cases[k].step, cases[k].method, cases[k].young, cases[k].mesh,
            k + 1 == sizeof cases / sizeof *cases
                ? ""
                : ", \"obstacles\": [{\"plane\": {\"offset\": -3}}]");
        pl_preflight report = checked(&f, scene);
        const pl_warning *w = find(&report.warnings, PL_WARNING_STIFF_STEP);
        ck_assert_msg(!w == !cases[k].said, "%zu: %s", k, w ? w->detail : "nothing");
        ck_assert_msg(!w || strstr(w->detail, cases[k].said), "%s", w ? w->detail : "");
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

static const char overlapping[] = "\"transform\": {\"translate\": [0.6, 0.25, 0.25]}";

/* Two cubes, a at the origin. */
static pl_preflight check_cubes(session_fixture *f, const char *second, const char *more)
{
    char scene[1024];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"duration\": 1}, \"bodies\": [{\"name\": \"a\","
             " \"mesh\": {\"box\": {\"cells\": [2, 2, 2]}}}, {\"name\": \"b\", \"mesh\":"
             " {\"box\": {\"cells\": [2, 2, 2]}}, %s}]%s}",
             second, more);
    return checked(f, scene);
}

/* Without contact: in one another, on the way to one another, and apart. */
START_TEST(test_overlap)
{
    static const struct {
        const char *second, *more, *said;
    } cases[] = {
        {overlapping, "", "overlap at the start, with 4"},
        {"\"transform\": {\"translate\": [1, 0, 0]}", "", NULL}, /* side by side, touching */
        {"\"transform\": {\"translate\": [0, 2, 0]}",
         ", \"obstacles\": [{\"plane\": {\"offset\":"
         " -0.5}}]",
         "may meet, and would pass"},
        {"\"transform\": {\"translate\": [2, 0, 0]}",
         ", \"obstacles\": [{\"plane\": {\"offset\": -0.5}}]", NULL},
        {"\"transform\": {\"translate\": [0, 2, 0]}", "", NULL}, /* both fall alike */
        {"\"transform\": {\"translate\": [2, 0, 0]}, \"initial\": {\"velocity\": [-3, 0, 0]}", "",
         "may meet, and would pass"},
        {"\"transform\": {\"translate\": [2, 0, 0]}, \"initial\": {\"velocity\": [3, 0, 0]}", "",
         NULL},
        {"\"transform\": {\"translate\": [0, 2, 0]}",
         ", \"pins\": [{\"body\": \"a\", \"select\": \"all\"}]", "may meet, and would pass"},
        {"\"transform\": {\"translate\": [0, -2, 0]}, \"initial\": {\"velocity\": [0, 9, 0]}",
         ", \"pins\": [{\"body\": \"a\", \"select\": \"all\"}]", "may meet, and would pass"},
        {overlapping,
         ", \"attachments\": [{\"body\": \"b\", \"select\": {\"side\": \"-x\"}, \"to\": \"a\", "
         "\"stiffness\": 100}]",
         NULL},
    };
    for (int with = 0; with < 2; with++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            session_fixture f;
            char more[512];
            snprintf(more, sizeof more, "%s, \"contact\": {\"enabled\": %s}", cases[k].more,
                     with ? "true" : "false");
            pl_preflight report = check_cubes(&f, cases[k].second, more);
            const pl_warning *w = find(&report.warnings, PL_WARNING_OVERLAP);
            /* Contact handles bodies that meet, but not bodies that overlap at the start. */
            const char *said = cases[k].said && with && strstr(cases[k].said, "meet")
                                   ? NULL
                                   : cases[k].said;
            ck_assert_msg(!w == !said, "%zu: %s", k, w ? w->detail : "nothing");
            ck_assert_msg(!w || strstr(w->detail, said), "%s", w ? w->detail : "");
            pl_preflight_clear(&report);
            session_fixture_destroy(&f);
        }
}
END_TEST

/* What there is no contact for, and what to do. */
START_TEST(test_overlap_without_contact)
{
    static const struct {
        const char *more, *said;
    } cases[] = {
        {", \"contact\": {\"enabled\": false}",
         ": contact is off; turn it on, make one an obstacle, or attach them"},
        {", \"contact\": {\"pairs\": [{\"between\": [\"b\","
         " \"a\"], \"enabled\": false}]}",
         NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        pl_preflight report = check_cubes(
            &f,
            "\"transform\": {\"translate\": [2, 0, 0]}, \"initial\": {\"velocity\": [-3, 0, 0]}",
            cases[k].more);
        const pl_warning *w = find(&report.warnings, PL_WARNING_OVERLAP);
        ck_assert_msg(!w == !cases[k].said, "%zu: %s", k, w ? w->detail : "nothing");
        ck_assert_msg(!w || strstr(w->detail, cases[k].said), "%s", w ? w->detail : "");
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* The proposed translation of overlapping bodies separates them, with a margin, regardless of other bodies; it is the
 * shortest, moves a body that is not held, and does not lead through a floor. */
START_TEST(test_overlap_is_undone)
{
    static const struct {
        const char *more;
        double from[3];
        const char *moved;
        double most; /* m, of the way */
    } cases[] = {
        {"", {0.6, 0.25, 0.25}, "'b'", 0.42},
        {"", {0.2, -0.9, 0.1}, "'b'", 0.12},
        {"", {0, 0, 0}, "'b'", 1.1},
        {", \"obstacles\": [{\"plane\": {\"offset\": -9}}]", {0.6, -0.9, 0.25}, "'b'", 0.42},
        {", \"pins\": [{\"body\": \"b\", \"select\": \"all\"}]", {0.6, 0.25, 0.25}, "'a'", 0.42},
        {", \"contact\": {\"thickness\": 0.15}", {0.6, 0.25, 0.25}, "'b'", 0.56},
        {", \"solver\": {\"method\": \"admm\"}", {0.6, 0.25, 0.25}, "'b'", 0.42},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char second[256];
        double move[3] = {0};
        const double *from = cases[k].from;
        snprintf(second, sizeof second, "\"transform\": {\"translate\": [%g, %g, %g]}", from[0],
                 from[1], from[2]);
        pl_preflight report = check_cubes(&f, second, cases[k].more);
        const pl_warning *w = find(&report.warnings, PL_WARNING_OVERLAP);
        ck_assert_msg(w, "%zu", k);
        const char *advice = strstr(w->detail, "translate ");
        ck_assert_msg(advice && strstr(advice, cases[k].moved) == advice + strlen("translate "),
                      "%s", w->detail);
        ck_assert_int_eq(
            sscanf(strchr(advice, '['), "[%lf, %lf, %lf] m", &move[0], &move[1], &move[2]), 3);
        ck_assert_double_le(sqrt(move[0] * move[0] + move[1] * move[1] + move[2] * move[2]),
                            cases[k].most);
        double sign = cases[k].moved[1] == 'a' ? -1 : 1; /* a moves, as if b moved back */
        double gap = -INFINITY;
        for (int c = 0; c < 3; c++)
            gap = fmax(gap, fabs(from[c] + sign * move[c]) - 1);
        ck_assert_msg(gap > (k == 5 ? 0.15 : 0.004), "%zu: %s", k, w->detail);
        ck_assert(k != 3 || move[1] >= 0);
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* A number behind a text. */
static double after(const char *detail, const char *text)
{
    const char *at = strstr(detail, text);
    ck_assert_msg(at != NULL, "%s", detail);
    return strtod(at + strlen(text), NULL);
}

/* Bodies that start closer than contact keeps them are named with their distance and a translation after which there is
 * no warning; it moves a body that is not held, and does not lead through a floor. */
START_TEST(test_close_start)
{
    static const struct {
        double from[3];
        const char *more, *moved; /* NULL: no warning; "": moves nothing */
        double gap;
    } cases[] = {
        {{1.003, 0, 0}, "", "'b'", 0.003},
        {{1, 0, 0}, "", "'b'", 0}, /* side by side, touching */
        {{1.02, 0.3, 0}, "", NULL, 0},
        {{0.2, -1.004, 0.1}, "", "'b'", 0.004},
        {{0.2, -1.004, 0.1}, ", \"obstacles\": [{\"plane\": {\"offset\": -9}}]", "'a'", 0.004},
        {{0.1, 1.004, 0.1}, ", \"obstacles\": [{\"plane\": {\"offset\": -9}}]", "'b'", 0.004},
        {{1.003, 0, 0}, ", \"pins\": [{\"body\": \"b\", \"select\": \"all\"}]", "'a'", 0.003},
        {{1.1, 0, 0}, ", \"contact\": {\"thickness\": 0.2}", "'b'", 0.1},
        {{1.1, 0, 0}, ", \"contact\": {\"thickness\": 0.05}", NULL, 0},
        {{1.003, 0, 0}, ", \"contact\": {\"enabled\": false}", NULL, 0},
        {{1.003, 0, 0},
         ", \"contact\": {\"pairs\": [{\"between\": [\"a\", \"b\"], \"enabled\": false}]}",
         NULL,
         0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char second[256];
        const double *from = cases[k].from;
        double move[3];
        snprintf(second, sizeof second, "\"transform\": {\"translate\": [%g, %g, %g]}", from[0],
                 from[1], from[2]);
        pl_preflight report = check_cubes(&f, second, cases[k].more);
        const pl_warning *w = find(&report.warnings, PL_WARNING_CLOSE_START);
        ck_assert_msg(!w == !cases[k].moved, "%zu: %s", k, w ? w->detail : "nothing");
        ck_assert(!find(&report.warnings, PL_WARNING_OVERLAP) || strstr(cases[k].more, "false"));
        if (w) {
            ck_assert_double_eq_tol(after(w->detail, "'b' begin "), cases[k].gap, 1e-9);
            const char *advice = strstr(w->detail, "translate ");
            ck_assert_msg(advice && strstr(advice, cases[k].moved) == advice + 10, "%s", w->detail);
            ck_assert_int_eq(
                sscanf(strchr(advice, '['), "[%lf, %lf, %lf] m", &move[0], &move[1], &move[2]), 3);
            const double sign = cases[k].moved[1] == 'a' ? -1 : 1; /* a moves, as if b moved back */
            snprintf(second, sizeof second, "\"transform\": {\"translate\": [%.9g, %.9g, %.9g]}",
                     from[0] + sign * move[0], from[1] + sign * move[1], from[2] + sign * move[2]);
        }
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
        report = check_cubes(&f, second, cases[k].more);
        ck_assert_msg(!find(&report.warnings, PL_WARNING_CLOSE_START), "%zu", k);
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* In a row the outer two may move outwards, and the inner two cannot: the advice is a smaller thickness. */
START_TEST(test_close_start_in_a_row)
{
    session_fixture f;
    pl_preflight report = checked(
        &f, "{\"pliant\": 1, \"time\": {\"duration\": 1}, \"contact\": {\"thickness\": 0.01},"
            " \"bodies\": [{\"name\": \"a\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}},"
            " {\"name\": \"b\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}},"
            " \"transform\": {\"translate\": [1.004, 0, 0]}},"
            " {\"name\": \"c\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}},"
            " \"transform\": {\"translate\": [2.009, 0, 0]}},"
            " {\"name\": \"d\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}},"
            " \"transform\": {\"translate\": [3.013, 0, 0]}}]}");
    static const char *const said[] = {"translate 'a' by [-0.0065, 0, 0] m",
                                       "contact.thickness of 0.005 m or less",
                                       "translate 'd' by [0.0065, 0, 0] m"};
    int close = 0;
    for (int32_t k = 0; k < report.warnings.count; k++) {
        const pl_warning *w = &report.warnings.items[k];
        if (w->code == PL_WARNING_CLOSE_START)
            ck_assert_msg(strstr(w->detail, said[close++]), "%s", w->detail);
    }
    ck_assert_int_eq(close, 3);
    pl_preflight_clear(&report);
    session_fixture_destroy(&f);
}
END_TEST

/* A sheet keeps its material's distance; half of it and half of the box's apply. */
START_TEST(test_close_start_of_a_sheet)
{
    for (int k = 0; k < 2; k++) {
        session_fixture f;
        char second[] = "\"material\": \"c\", \"mesh\": {\"cloth\": {\"size\": [0.5, 0.5],"
                        " \"cells\": [3, 3]}}, \"transform\": {\"rotate\": {\"axis\": [1, 0, 0],"
                        " \"degrees\": 90}, \"translate\": [0, 0.515, 0]}",
             scene[1024];
        snprintf(scene, sizeof scene,
                 "{\"pliant\": 1, \"time\": {\"duration\": 1}, \"materials\": {\"m\": {}, \"c\":"
                 " {\"thickness\": %s, \"density\": 300}}, \"bodies\": [{\"name\": \"a\","
                 " \"material\": \"m\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}},"
                 " {\"name\": \"c\", %s}]}",
                 k ? "0.001" : "0.05", second);
        pl_preflight report = checked(&f, scene);
        const pl_warning *w = find(&report.warnings, PL_WARNING_CLOSE_START);
        ck_assert_msg((w == NULL) == (k == 1), "%s", w ? w->detail : "nothing");
        ck_assert_msg(k || (strstr(w->detail, "bodies 'a' and 'c' begin 0.015 m apart") &&
                            strstr(w->detail, "translate 'c' by [0, 0.0")),
                      "%s", w ? w->detail : "");
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* ---- of its frames ---- */

/* Pressed together faster than five iterations a step can follow. */
static const char hard[] =
    "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 40}, \"solver\": {\"method\": \"admm\","
    " \"iterations\": 5, \"tolerance\": 1e-6}, \"contact\": {\"enabled\": false}, \"materials\": "
    "{\"m\": {\"young\": 1e5,"
    " \"model\": \"corotated\"}}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [3, 3, 3]}}}],"
    " \"pins\": [{\"select\": {\"side\": \"-x\"}}, {\"select\": {\"side\": \"+x\"}, \"motion\":"
    " {\"velocity\": [-5, 0, 0]}}]}";

/* A run that converges nowhere and turns elements over: as often as its metrics say. */
START_TEST(test_counts)
{
    session_fixture f;
    session_fixture_create(&f, NULL, hard);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    pl_run_totals totals;
    pl_warnings list = warnings_of(&f, &totals);
    const struct {
        pl_warning_code code;
        const char *path;
    } counted[] = {{PL_WARNING_UNCONVERGED, "unconverged"}, {PL_WARNING_INVERTED, "inverted"}};
    ck_assert_int_eq(totals.frame, 40);
    for (size_t k = 0; k < 2; k++) {
        const pl_warning *w = find(&list, counted[k].code);
        ck_assert_msg(w != NULL, "%s", counted[k].path);
        ck_assert_int_gt(w->count, 0);
        ck_assert_int_eq(w->count, frames_with(&f, counted[k].path, 0));
        ck_assert_int_eq(w->of, 40);
    }
    ck_assert_ptr_nonnull(strstr(find(&list, PL_WARNING_UNCONVERGED)->detail, "auto"));
    pl_warnings_clear(&list);
    session_fixture_destroy(&f);
}
END_TEST

/* The same scene with the default, soft: no warnings, and warnings.json says so. */
START_TEST(test_nothing)
{
    session_fixture f;
    session_fixture_bar(&f, 20, "");
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    pl_run_totals totals;
    pl_warnings list = warnings_of(&f, &totals);
    ck_assert_msg(list.count == 0, "%s", list.count ? list.items[0].detail : "");
    ck_assert_int_eq(totals.frame, 20);
    ck_assert(totals.has_energy);
    pl_warnings_clear(&list);
    session_fixture_destroy(&f);
}
END_TEST

/* Springs, which newton takes by itself, far too soft for what lies on them. */
START_TEST(test_penetration)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 60}, \"solver\": {\"method\": "
        "\"newton\", \"contact_stiffness\": 0.02}, \"bodies\": [{\"mesh\":"
        " {\"box\": {\"cells\": [3, 3, 3]}}, \"transform\": {\"translate\": [0, 0.52, 0]}}],"
        " \"obstacles\": [{\"plane\": {\"offset\": -9}, \"name\": \"far\"}, {\"plane\": {},"
        " \"name\": \"floor\"}]}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    pl_warnings list = warnings_of(&f, NULL);
    const pl_warning *w = find(&list, PL_WARNING_PENETRATION);
    ck_assert_ptr_nonnull(w);
    /* Of a cube of 1 m a hundredth of the diagonal. */
    ck_assert_int_eq(w->count, frames_with(&f, "penetration/floor", 0.01 * sqrt(3)));
    ck_assert_ptr_nonnull(strstr(w->detail, "'floor'"));
    ck_assert_ptr_nonnull(strstr(w->detail, "contact_stiffness"));
    pl_warnings_clear(&list);
    session_fixture_destroy(&f);
}
END_TEST

/* Energy out of nowhere is reported; if a force or a motion does work, nothing is known. */
START_TEST(test_energy)
{
    static const struct {
        const char *more;
        bool known;
    } cases[] = {
        {"", true},
        {", \"forces\": [{\"wind\": {\"velocity\": [1, 0, 0]}}]", false},
        {", \"pins\": [{\"select\": {\"side\": \"-x\"}, \"motion\": {\"velocity\": [1, 0, 0]}}]",
         false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024];
        /* One iteration a step of a method that is not made for so few. */
        snprintf(
            scene, sizeof scene,
            "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 60, \"integrator\":"
            " \"trapezoidal\"}, \"solver\": {\"method\": \"chebyshev_descent\", \"tolerance\": 0,"
            " \"iterations\": 1}, \"gravity\": [0, 0, 0], \"materials\": {\"m\": {\"young\":"
            " 1e6, \"model\": \"arap\"}}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\":"
            " [2, 2, 2]}}, \"initial\": {\"angular_velocity\": [0, 20, 0]}}],"
            " \"contact\": {\"enabled\": false}%s}",
            cases[k].more);
        session_fixture_create(&f, NULL, scene);
        ck_assert_int_eq(session_fixture_run(&f, 1), 0);
        pl_run_totals totals;
        pl_warnings list = warnings_of(&f, &totals);
        const pl_warning *w = find(&list, PL_WARNING_ENERGY_GAINED);
        ck_assert_int_eq(totals.has_energy, cases[k].known);
        ck_assert_msg((w != NULL) == cases[k].known, "%zu: gain %g, exchanged %g", k,
                      totals.most_gain, totals.most_kinetic);
        if (w) {
            ck_assert_int_gt(w->count, 0);
            ck_assert_int_eq(w->of, 60);
            ck_assert_ptr_nonnull(strstr(w->detail, "backward_euler"));
        }
        pl_warnings_clear(&list);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* ---- attempts ---- */

static void expect_same(const session_fixture *f, const pl_run_totals *expected)
{
    pl_run_totals totals;
    pl_warnings list = warnings_of(f, &totals);
    ck_assert_int_eq(totals.frame, expected->frame);
    ck_assert_int_eq(totals.unconverged, expected->unconverged);
    ck_assert_int_eq(totals.inverted, expected->inverted);
    ck_assert_int_eq(totals.most_inverted, expected->most_inverted);
    ck_assert_int_eq(totals.penetrating, expected->penetrating);
    ck_assert_int_eq(totals.gaining, expected->gaining);
    ck_assert(totals.first_energy == expected->first_energy);
    ck_assert(totals.least_energy == expected->least_energy);
    ck_assert(totals.most_kinetic == expected->most_kinetic);
    pl_warnings_clear(&list);
}

/* A worker killed while its warnings file is lost, kept or another session's: the next one counts each frame once. */
START_TEST(test_killed)
{
    session_fixture whole, f;
    session_fixture_create(&whole, NULL, hard);
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    pl_run_totals expected;
    pl_warnings list = warnings_of(&whole, &expected);
    pl_warnings_clear(&list);
    session_fixture_create(&f, NULL, hard);
    for (int attempt = 1; attempt <= 3; attempt++) {
        pid_t pid = session_fixture_start_often(&f, attempt);
        ck_assert(session_fixture_await(&f, 10 * attempt));
        kill(pid, SIGKILL);
        session_fixture_wait(pid);
        if (attempt == 2)
            session_fixture_write(&f, "warnings.json", "{}", 2);
    }
    ck_assert_int_eq(session_fixture_run(&f, 4), 0);
    expect_same(&f, &expected);
    /* And of a run that is over nothing is counted twice. */
    unlinkat(f.directory, "exit.json", 0);
    ck_assert_int_eq(session_fixture_run(&f, 5), 0);
    expect_same(&f, &expected);
    unlinkat(f.directory, "warnings.json", 0);
    ck_assert_int_eq(session_fixture_run(&f, 6), 0);
    expect_same(&f, &expected);
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("worker_warnings");
    TCase *t = tcase_create("warnings");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_few_elements);
    tcase_add_test(t, test_stiff_step);
    tcase_add_test(t, test_overlap);
    tcase_add_test(t, test_overlap_without_contact);
    tcase_add_test(t, test_overlap_is_undone);
    tcase_add_test(t, test_close_start);
    tcase_add_test(t, test_close_start_in_a_row);
    tcase_add_test(t, test_close_start_of_a_sheet);
    tcase_add_test(t, test_counts);
    tcase_add_test(t, test_nothing);
    tcase_add_test(t, test_penetration);
    tcase_add_test(t, test_energy);
    tcase_add_test(t, test_killed);
    suite_add_tcase(s, t);
    return run_suite(s);
}
