/* The table of metrics: columns of the first record's numbers, a row a frame. */
#include "protocol/export/export.h"
#include "protocol/log/log.h"

#include "tests/support/sink_memory.h"
#include "tests/support/suite.h"
#include "tests/unit/protocol_files.h"

#include <stdlib.h>

/* The table of a session whose frames have these records. */
static pl_text table_of(const char *const *records, int64_t count)
{
    temporary t;
    pl_log_writer *w;
    pl_export *e;
    pl_export_fault fault;
    pl_text kept = {0};
    temporary_create(&t);
    ck_assert_int_eq(pl_log_writer_open(t.fd, 1, 0, "{}", &w), PL_OK);
    for (int64_t k = 0; k < count; k++) {
        const float values[3] = {0};
        pl_frame_header header = {PL_DTYPE_F32, PL_FIELD_POSITION, 1, 0, (uint64_t)k, 0, 0};
        ck_assert_int_eq(pl_log_append(w, k, &header, values, records[k], strlen(records[k])),
                         PL_OK);
    }
    pl_log_writer_close(w);
    const pl_export_order order = {
        .format = PL_EXPORT_CSV, .from = -1, .to = INT64_MAX, .every = 1, .name = "x"};
    const pl_export_sink sink = {.context = &kept, .write = sink_memory_write};
    ck_assert_msg(pl_export_open(t.fd, &order, &e, &fault), "%s", fault.text);
    ck_assert_msg(pl_export_run(e, &sink, &fault), "%s", fault.text);
    pl_export_close(e);
    temporary_destroy(&t);
    return kept;
}

/* Which bodies touch changes from frame to frame: the forces between them have no columns, the rest of contact
 * has. */
START_TEST(contact_has_its_columns)
{
    static const char *const records[] = {
        "{\"frame\":0,\"contact\":{\"pairs\":1,\"gap\":null,\"forces\":[{\"between\":[\"a\",\"b\"],"
        "\"force\":[1,2,3]}],\"friction_work\":0,\"rounds\":0},\"time\":0}",
        "{\"frame\":1,\"contact\":{\"pairs\":7,\"gap\":0.25,\"forces\":[{\"between\":[\"b\",\"c\"],"
        "\"force\":[4,5,6]},{\"between\":[\"a\",\"b\"],\"force\":[1,2,3]}],\"friction_work\":0.5,"
        "\"rounds\":2},\"time\":0.125}"};
    pl_text table = table_of(records, 2);
    ck_assert_str_eq(table.text,
                     "frame,contact.pairs,contact.gap,contact.friction_work,contact.rounds,time\r\n"
                     "0,1,,0,0,0\r\n"
                     "1,7,0.25,0.5,2,0.125\r\n");
    free(table.text);
}
END_TEST

START_TEST(no_contact_is_an_empty_cell)
{
    static const char *const records[] = {
        "{\"frame\":0,\"contact\":null,\"momentum\":{\"linear\":[1,2,3]}}",
        "{\"frame\":1,\"contact\":null,\"momentum\":{\"linear\":[4,null,6]}}"};
    pl_text table = table_of(records, 2);
    ck_assert_str_eq(table.text,
                     "frame,contact,momentum.linear.0,momentum.linear.1,momentum.linear.2\r\n"
                     "0,,1,2,3\r\n"
                     "1,,4,,6\r\n");
    free(table.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export/csv");
    TCase *t = tcase_create("csv");
    tcase_add_test(t, contact_has_its_columns);
    tcase_add_test(t, no_contact_is_an_empty_cell);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
