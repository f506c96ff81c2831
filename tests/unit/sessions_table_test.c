/* The table of sessions without memory for its queue: a session that could not join is in neither, and its row leaves
 * the database as soon as SQLite has memory again. */
#include "server/base/counters.h"
#include "server/sessions/removal.h"
#include "server/sessions/events.h"
#include "server/sessions/sessions.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_memory;
static int queued;

static bool push(void *context, pl_session *session, bool first)
{
    queued += has_memory;
    return has_memory;
}

static void note_nothing(void *context, pl_session *ended) {}

static void place_nowhere(void *context, const pl_session *session, pl_queue_place *out)
{
    *out = (pl_queue_place){0};
}

static const pl_session_queue queue = {

    .push = push, .changed = note_nothing, .place = place_nowhere};

static pl_session *session(const char *state_path, char digit)
{
    pl_row row = {.owner = (char *)"owner",
                  .name = (char *)"cube",
                  .state = (char *)"queued",
                  .reason = (char *)"",
                  .message = (char *)"",
                  .bodies = (char *)"[]",
                  .created_us = 1000 + digit,
                  .frame = -1,
                  .cores = 1};
    memset(row.id, digit, 32);
    pl_session *s = pl_session_create(state_path, &row);
    ck_assert_ptr_nonnull(s);
    return s;
}

START_TEST(test_no_memory_for_the_queue)
{
    char folder[] = "/tmp/pliant-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    pl_counters *counters = calloc(1, sizeof *counters);
    _Atomic bool ready = false; /* so that it notifies nobody */
    pl_sessions_setup setup = {.store = pl_store_open(folder, true, counters),
                               .state_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                               .counters = counters,
                               .events = pl_events_create(),
                               .ready = &ready,
                               .queue = &queue};
    ck_assert(setup.store && setup.events && counters && setup.state_fd >= 0);
    pl_sessions *table = pl_sessions_create(&setup);
    pl_session *first = session(folder, 'a'), *second = session(folder, 'b');

    has_memory = true;
    ck_assert(pl_sessions_insert(table, first));
    has_memory = false;
    ck_assert(!pl_sessions_insert(table, second));
    ck_assert_ptr_null(pl_sessions_find_any(table, second->id));
    ck_assert_int_eq(pl_sessions_count(table, PL_STATE_QUEUED), 1);
    ck_assert_int_eq(atomic_load(&second->references), 1);
    pl_session *found = pl_sessions_find_any(table, first->id);
    ck_assert_ptr_eq(found, first);
    pl_session_release(found);

    has_memory = true;
    ck_assert(pl_sessions_insert(table, second));
    ck_assert_int_eq(pl_sessions_count(table, PL_STATE_QUEUED), 2);
    ck_assert_int_eq(queued, 2);

    pl_session_release(first);
    pl_session_release(second);
    pl_sessions_destroy(table);
    pl_events_destroy(setup.events);
    pl_store_close(setup.store);
    close(setup.state_fd);
    free(counters);
    ck_assert_int_eq(pl_remove_tree(AT_FDCWD, folder), 0);
}
END_TEST

/* Rows of sessions, and kept replies, in the database below `folder`. */
static int stored_rows(const char *folder)
{
    char path[64];
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    snprintf(path, sizeof path, "%s/pliant.db", folder);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    const char *sql = "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM keys)";
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    int rows = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return rows;
}

/* Commit a session with a kept reply, and undo that while SQLite may allocate nothing. Returns the store, with the
 * limit still in place. */
static pl_store *undo_without_memory(const char *folder, pl_counters *counters)
{
    pl_store *store = pl_store_open(folder, true, counters);
    ck_assert_ptr_nonnull(store);
    pl_row row = {.owner = (char *)"owner",
                  .state = (char *)"queued",
                  .reason = (char *)"",
                  .message = (char *)"",
                  .bodies = (char *)"[]",
                  .frame = -1};
    memset(row.id, 'c', 32);
    pl_kept_reply kept = {.owner = "owner",
                          .route = "POST /v1/sessions",
                          .key = "once",
                          .status = 201,
                          .reply = "{}",
                          .location = "/v1/sessions/cccccccccccccccccccccccccccccccc"};
    ck_assert_int_eq(pl_store_create(store, &row, &kept), PL_CREATED_DONE);
    ck_assert_int_eq(stored_rows(folder), 2);
    sqlite3_hard_heap_limit64(1);
    pl_store_undo_create(store, row.id);
    return store;
}

START_TEST(test_an_undo_is_tried_again)
{
    char folder[] = "/tmp/pliant-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    pl_counters *counters = calloc(1, sizeof *counters);
    pl_store *store = undo_without_memory(folder, counters);
    sqlite3_hard_heap_limit64(0);
    ck_assert_int_eq(stored_rows(folder), 2);
    for (int i = 0; i < 200 && stored_rows(folder) > 0; i++) {
        usleep(50000);
    }
    ck_assert_int_eq(stored_rows(folder), 0);
    pl_store_close(store);
    free(counters);
    ck_assert_int_eq(pl_remove_tree(AT_FDCWD, folder), 0);
}
END_TEST

START_TEST(test_an_undo_is_tried_again_at_the_end)
{
    char folder[] = "/tmp/pliant-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    pl_counters *counters = calloc(1, sizeof *counters);
    pl_store *store = undo_without_memory(folder, counters);
    sqlite3_hard_heap_limit64(0);
    pl_store_close(store);
    ck_assert_int_eq(stored_rows(folder), 0);
    free(counters);
    ck_assert_int_eq(pl_remove_tree(AT_FDCWD, folder), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sessions_table");
    tcase_add_test(tests, test_no_memory_for_the_queue);
    tcase_add_test(tests, test_an_undo_is_tried_again);
    tcase_add_test(tests, test_an_undo_is_tried_again_at_the_end);
    return run_cases("table of sessions", tests);
}
