/* A sync of the log reaches the disk only if something was written since the last one. The calls are this program's
 * own, and counted. */
#include "tests/unit/protocol_log_files.h"
#include "tests/support/suite.h"

#include <errno.h>

static int syncs;    /* so far */
static bool failing; /* they fail */

static int count_sync(void)
{
    syncs++;
    errno = EIO;
    return failing ? -1 : 0;
}

int fsync(int fd)
{
    (void)fd;
    return count_sync();
}

int fdatasync(int fd)
{
    (void)fd;
    return count_sync();
}

/* How many syncs pl_log_sync takes now; it succeeds. */
static int cost(pl_log_writer *w)
{
    int before = syncs;
    ck_assert_int_eq(pl_log_sync(w), PL_OK);
    return syncs - before;
}

static pl_log_writer *open_log(void)
{
    pl_log_writer *w;
    ck_assert_int_eq(pl_log_writer_open(t.fd, 1, 0, "{\"event\":\"attempt\"}", &w), PL_OK);
    return w;
}

/* Segment and index; and the folders with their names, while these are new. */
START_TEST(only_what_is_new)
{
    enum { ALL = 4, FILES = 2 };
    pl_log_writer *w = open_log();
    ck_assert_int_eq(cost(w), ALL);
    ck_assert_int_eq(cost(w), 0);
    ck_assert_int_eq(append(w, 0), PL_OK);
    ck_assert_int_eq(cost(w), FILES);
    ck_assert_int_eq(cost(w), 0);
    ck_assert_int_eq(pl_log_append_epoch(w, "{\"event\":\"applied\"}"), PL_OK);
    ck_assert_int_eq(cost(w), FILES);
    ck_assert_int_eq(append(w, 1), PL_OK);
    int before = syncs;
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(syncs - before, FILES + 1); /* and of head.json */
}
END_TEST

/* Nothing but head.json is left to sync at the end. */
START_TEST(closing_a_synced_log)
{
    pl_log_writer *w = open_log();
    ck_assert_int_eq(append(w, 0), PL_OK);
    cost(w);
    int before = syncs;
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(syncs - before, 1);
}
END_TEST

/* What could not be synced is tried again, and so is a new head.json that lists a new segment. */
START_TEST(after_failures_and_new_segments)
{
    pl_log_writer *w = open_log();
    failing = true;
    ck_assert_int_eq(pl_log_sync(w), PL_IO);
    ck_assert_int_eq(pl_log_sync(w), PL_IO);
    failing = false;
    ck_assert_int_eq(cost(w), 4);
    for (int64_t k = 0; k < PL_SEGMENT_FRAMES; k++)
        ck_assert_int_eq(append(w, k), PL_OK);
    cost(w);
    ck_assert_int_eq(append(w, PL_SEGMENT_FRAMES), PL_OK);
    ck_assert_int_eq(cost(w), 2 + 4); /* the earlier segment, too, and head.json lists a new one */
    ck_assert_int_eq(cost(w), 0);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("log_sync");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, only_what_is_new);
    tcase_add_test(cases, closing_a_synced_log);
    tcase_add_test(cases, after_failures_and_new_segments);
    return run_cases("protocol/log_sync", cases);
}
