/* Lists of jobs from a query's output. Unreadable output is not a list. */
#include "server/batch/batch_list.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define A "00000000000000000000000000000000"
#define B "11111111111111111111111111111111"

static pl_batch_system *slurm;

static bool read_list(const char *text, pl_batch_list *out)
{
    char error[200], *copy = strdup(text);
    slurm = pl_batch_system_create(NULL, error, sizeof error);
    bool good = pl_batch_list_read(slurm, copy, out);
    pl_batch_system_destroy(slurm);
    free(copy);
    return good;
}

START_TEST(test_jobs)
{
    pl_batch_list list;
    ck_assert(read_list("3|pliant-" A "-2|PENDING|2026-11-28T01:02:03|5|Resources\n"
                        "4|pliant-" B "-1|PENDING|N/A|7|Priority\n"
                        "2|pliant-" A "-1|FAILED|N/A|5|NonZeroExitCode\n"
                        "9|another|RUNNING|N/A|5|None\n\n",
                        &list));
    ck_assert_int_eq(list.count, 3);
    const pl_batch_job *three = pl_batch_list_find(&list, "3");
    ck_assert_int_eq(three->attempt, 2);
    ck_assert_int_eq(three->position, 2); /* lower priority than 4 */
    ck_assert_int_gt(three->start, 0);
    ck_assert_str_eq(three->reason, "Resources");
    ck_assert_int_eq(pl_batch_list_find(&list, "4")->position, 1);
    ck_assert_int_eq(pl_batch_list_find(&list, "4")->start, -1);
    ck_assert_int_eq(pl_batch_list_find(&list, "2")->position, 0);
    ck_assert_ptr_null(pl_batch_list_find(&list, "9"));
    ck_assert_ptr_eq(pl_batch_list_live(&list, A, NULL), three);
    ck_assert_ptr_null(pl_batch_list_live(&list, A, three));
    pl_batch_list_clear(&list);
}
END_TEST

static const char *const unreadable[] = {"slurm_load_jobs error: Zero Bytes were transmitted",
                                         "3|pliant-" A "-2\n", "|pliant-" A "-2|PENDING|||\n"};

START_TEST(test_unreadable)
{
    pl_batch_list list;
    ck_assert(!read_list(unreadable[_i], &list));
}
END_TEST

START_TEST(test_names)
{
    char name[PL_BATCH_NAME_MAX], text[400];
    pl_batch_list list;
    pl_batch_job_name(A, INT32_MAX, name);
    ck_assert_str_eq(name, "pliant-" A "-2147483647");
    snprintf(text, sizeof text,
             "1|%s|RUNNING|||\n2|pliant-" A "-0|RUNNING|||\n3|pliant-" A "-1x|RUNNING|||\n"
             "4|pliant-123-1|RUNNING|||\n",
             name);
    ck_assert(read_list(text, &list));
    ck_assert_int_eq(list.count, 1);
    pl_batch_list_clear(&list);
    ck_assert(read_list("", &list));
    ck_assert_int_eq(list.count, 0);
    pl_batch_list_clear(&list);
    pl_batch_pilot_name(B, name);
    snprintf(text, sizeof text,
             "7|%s|RUNNING|||\n8|pliant-pilot-12|RUNNING|||\n9|%s-1|RUNNING|||\n", name, name);
    ck_assert(read_list(text, &list));
    ck_assert_int_eq(list.count, 1);
    ck_assert_str_eq(pl_batch_list_live(&list, B, NULL)->id, "7");
    pl_batch_list_clear(&list);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("lists");
    tcase_add_test(cases, test_jobs);
    tcase_add_loop_test(cases, test_unreadable, 0, sizeof unreadable / sizeof *unreadable);
    tcase_add_test(cases, test_names);
    return run_cases("batch: lists", cases);
}
