/* pliant sweep against a real daemon: documents that name files, following, tables in each format, and what goes wrong.
 */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TWO                                                                                        \
    "\"parameters\": [{\"path\": \"/time/step\", \"name\": \"h\", \"values\": [0.01, 0.02]}]"

static char id[40];

static void take_id(void)
{
    snprintf(id, sizeof id, "%.32s", pliant_out);
    ck_assert_uint_eq(strspn(id, "0123456789abcdef"), 32);
}

START_TEST(a_sweep_is_run_and_its_table_written)
{
    char text[2000];
    pliant_write_scene("scene.json", 3, PLIANT_BOX);
    pliant_write("sweep.json", "{\"name\": \"steps\", \"scene\": \"scene.json\", " TWO
                               ", \"results\": [{\"metric\": \"frame\", \"name\": \"last\"}]}");
    ck_assert_int_eq(pliant("sweep submit sweep.json --follow"), 0);
    take_id();
    ck_assert_ptr_nonnull(strstr(pliant_err, "done: 2 of 2 succeeded"));
    ck_assert_int_eq(pliant("sweep list"), 0);
    ck_assert_int_eq(strncmp(pliant_out, id, 32), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "steps\n"));
    ck_assert_int_eq(pliant("sweep show %.6s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "parameter  h  /time/step\n"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "result     last\n"));
    ck_assert_int_eq(pliant("sweep results %s", id), 0);
    ck_assert_int_eq(strncmp(pliant_out, "row,session,state,warnings,h,last\r\n0,", 37), 0);
    ck_assert_msg(strstr(pliant_out, ",succeeded,unconverged,0.02,3\r\n"), "%s", pliant_out);
    ck_assert_int_eq(pliant("sweep results %s --output table.csv", id), 0);
    ck_assert_str_eq(pliant_out, "");
    pliant_read("table.csv", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, ",succeeded,unconverged,0.01,3\r\n"));
    ck_assert_int_eq(pliant("sweep results %s --output table.npz", id), 0);
    pliant_read("table.npz", text, sizeof text);
    ck_assert_mem_eq(text, "PK", 2);
    ck_assert_int_eq(pliant("sweep results %s --format json", id), 0);
    pl_json *table = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_double_eq(pl_json_number(table, "items/1/results/0", 0), 3);
    pl_json_free(table);
    ck_assert_int_eq(pliant("sweep results %s --format xls", id), 2);
    ck_assert_int_eq(pliant("sweep results %s --output table.xls", id), 2);
    ck_assert_int_eq(pliant("list --label sweep=%s", id), 0);
    ck_assert_ptr_nonnull(strchr(pliant_out, '\n'));
    ck_assert_int_eq(pliant("sweep delete %s --sessions", id), 0);
    ck_assert_int_eq(pliant("sweep show %s", id), 5);
    ck_assert_int_eq(pliant("sweep show %.6s", id), 5);
}
END_TEST

START_TEST(files_are_beside_the_document)
{
    pliant_write("cube.msh", PLIANT_CUBE);
    pliant_write_scene("scene.json", 2, "{\"file\": \"cube.msh\"}");
    pliant_write("rows.csv", "/time/step,/name\n0.01,one\n0.03,\"two, three\"\n");
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", \"csv\": {\"file\": \"rows.csv\"}}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 0);
    take_id();
    ck_assert_int_eq(pliant("sweep follow %s", id), 0);
    ck_assert_int_eq(pliant("sweep results %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, ",succeeded,unconverged,0.03,\"two, three\"\r\n"));
}
END_TEST

/* One iteration a step is too few for a bar that swings. */
START_TEST(warnings_are_told)
{
    pliant_write(
        "sweep.json",
        "{\"scene\": {\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3},"
        " \"solver\": {\"method\": \"lbfgs\", \"iterations\": 1, \"tolerance\": 1e-9},"
        " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [6, 6, 6]}},"
        " \"material\": \"m\"}], \"materials\": {\"m\": {\"young\": 1e5, \"poisson\": 0.2}},"
        " \"pins\": [{\"select\": {\"side\": \"-x\"}}]}, \"parameters\":"
        " [{\"path\": \"/solver/iterations\", \"values\": [1, 1000]}]}");
    ck_assert_int_eq(pliant("sweep submit sweep.json --follow"), 0);
    take_id();
    ck_assert_ptr_nonnull(strstr(pliant_err, "2 of 2 succeeded, 1 of these with warnings"));
    ck_assert_int_eq(pliant("sweep follow %s --strict", id), 1);
    ck_assert_int_eq(pliant("sweep results %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, ",succeeded,unconverged,1\r\n"));
    ck_assert_ptr_nonnull(strstr(pliant_out, ",succeeded,,1000\r\n"));
}
END_TEST

/* Every row that ended in the sweep ended well, but one did not end by itself. */
START_TEST(a_cancelled_row_is_told)
{
    pliant_write_scene("scene.json", 1000000, PLIANT_BOX);
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", \"parameters\":"
                               " [{\"path\": \"/time/steps\", \"values\": [2, 1000000]}]}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 0);
    take_id();
    char session[33] = "";
    for (int i = 0; i < 200 && !session[0]; i++) {
        ck_assert_int_eq(pliant("sweep results %s", id), 0);
        const char *row = strstr(pliant_out, "\r\n1,");
        if (row && strncmp(row + 36, ",running", 8) == 0)
            snprintf(session, sizeof session, "%.32s", row + 4);
        else
            usleep(50000);
    }
    ck_assert_int_eq(pliant("cancel %s", session), 0);
    ck_assert_int_eq(pliant("sweep follow %s", id), 6);
    ck_assert_msg(strstr(pliant_err, "1 of these with warnings, 1 cancelled"), "%s", pliant_err);
}
END_TEST

START_TEST(a_key_submits_once)
{
    pliant_write_scene("scene.json", 2, PLIANT_BOX);
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", " TWO "}");
    ck_assert_int_eq(pliant("sweep submit sweep.json --idempotency-key k1"), 0);
    take_id();
    ck_assert_int_eq(pliant("sweep submit sweep.json --idempotency-key k1"), 0);
    ck_assert_int_eq(strncmp(pliant_out, id, 32), 0);
    ck_assert_int_eq(pliant("sweep submit sweep.json --idempotency-key k2"), 0);
    ck_assert_int_ne(strncmp(pliant_out, id, 32), 0);
}
END_TEST

START_TEST(a_cancelled_one_is_run_again)
{
    pliant_write_scene("scene.json", 1000000, PLIANT_BOX);
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", " TWO "}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 0);
    take_id();
    ck_assert_int_eq(pliant("sweep cancel %s", id), 0);
    ck_assert_int_eq(pliant("sweep follow %s", id), 6);
    ck_assert_ptr_nonnull(strstr(pliant_err, "cancelled: 0 of 2 succeeded"));
    ck_assert_int_eq(pliant("sweep retry %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "running"));
    ck_assert_int_eq(pliant("sweep cancel %s", id), 0);
    ck_assert_int_eq(pliant("--json sweep follow %s", id), 6);
    pl_json *sweep = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_str_eq(pl_json_string(sweep, "state", ""), "cancelled");
    pl_json_free(sweep);
}
END_TEST

/* Finds the scene's gravity from the fall of a box over 5 frames, measured in a file beside the document. */
START_TEST(a_fit_is_printed_and_written)
{
    char text[4000], csv[400] = "time,height\n";
    for (int i = 1; i < 6; i++) { /* backward Euler's fall: g h^2 i (i + 1) / 2 */
        size_t used = strlen(csv);
        snprintf(csv + used, sizeof csv - used, "%g,%.12g\n", 0.01 * i, -4e-4 * i * (i + 1) / 2);
    }
    pliant_write("fall.csv", csv);
    pliant_write(
        "fit.json",
        "{\"scene\": {\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 5}, \"gravity\":"
        " [0, -1, 0], \"bodies\": [{\"name\": \"b\", \"mesh\": {\"box\": {\"size\":"
        " [1, 1, 1], \"cells\": [1, 1, 1]}}, \"material\": \"m\"}], \"materials\":"
        " {\"m\": {\"young\": 1e5}}, \"output\": {\"probes\": [{\"name\": \"height\","
        " \"quantity\": \"displacement\", \"component\": \"y\", \"body\": \"b\"}]}},"
        " \"parameters\": [{\"path\": \"/gravity/1\", \"name\": \"g\", \"min\": -20,"
        " \"max\": 0}], \"fit\": {\"measured\": [{\"probe\": \"height\", \"csv\":"
        " {\"file\": \"fall.csv\"}}], \"method\": \"subplex\"}}");
    ck_assert_int_eq(pliant("fit fit.json --output runs.csv --residuals points.csv"), 0);
    take_id();
    ck_assert_ptr_nonnull(strstr(pliant_err, "done: "));
    const char *g = strstr(pliant_out, "\ng  ");
    ck_assert_msg(g, "%s", pliant_out);
    ck_assert_double_eq_tol(strtod(g + 4, NULL), -4, 0.01);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\nsession  "));
    pliant_read("runs.csv", text, sizeof text);
    ck_assert_int_eq(strncmp(text, "row,session,state,warnings,g,misfit\r\n", 37), 0);
    pliant_read("points.csv", text, sizeof text);
    ck_assert_int_eq(strncmp(text, "series,x,measured,run,residual\r\nheight,", 39), 0);
    ck_assert_int_eq(pliant("sweep residuals %s --format json", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"against\":\"time\""));
    ck_assert_int_eq(pliant("sweep show %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "fit        converged: "));
    ck_assert_int_eq(pliant("sweep residuals %s --format npz", id), 2);
    ck_assert_int_eq(pliant("fit fit.json --detach --output runs.csv"), 2);
    ck_assert_int_eq(pliant("fit fit.json --detach"), 0);
    take_id();
    ck_assert_int_eq(pliant("sweep cancel %s", id), 0);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
    pliant_write_scene("scene.json", 2, PLIANT_BOX);
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", \"parameters\": [{\"path\":"
                               " \"/time/step\", \"values\": [0.01, -3]}]}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/parameters/0"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "row 1: "));
    pliant_write("sweep.json", "{\"scene\": \"nowhere.json\", " TWO "}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "nowhere.json: No such file"));
    pliant_write("sweep.json", "{\"scene\": \"scene.json\", \"csv\": {\"file\": \"no.csv\"}}");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 7);
    ck_assert_int_eq(pliant("sweep submit missing.json"), 7);
    pliant_write("sweep.json", "{\"scene\": ");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "line 1"));
    pliant_write("sweep.json", "[]");
    ck_assert_int_eq(pliant("sweep submit sweep.json"), 1);
    ck_assert_int_eq(pliant("sweep submit sweep.json --group a/b"), 2);
    ck_assert_int_eq(pliant("sweep show zz"), 2);
    ck_assert_int_eq(pliant("sweep"), 2);
    ck_assert_int_eq(pliant("sweep list"), 0);
    ck_assert_str_eq(pliant_out, "");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("cli_sweep");
    tcase_add_checked_fixture(cases, pliant_setup, pliant_teardown);
    tcase_add_test(cases, a_sweep_is_run_and_its_table_written);
    tcase_add_test(cases, files_are_beside_the_document);
    tcase_add_test(cases, warnings_are_told);
    tcase_add_test(cases, a_cancelled_row_is_told);
    tcase_add_test(cases, a_key_submits_once);
    tcase_add_test(cases, a_cancelled_one_is_run_again);
    tcase_add_test(cases, a_fit_is_printed_and_written);
    tcase_add_test(cases, what_is_wrong_is_said);
    return run_cases("http/cli_sweep", cases);
}
