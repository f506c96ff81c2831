/* The database parses each of its statements once, however often it runs, and can be closed with those that it keeps.
 * Changes that nobody waits for are committed together. SQLite's functions are called through this program's own, which
 * count. */
#include "server/base/counters.h"
#include "server/store/store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int parsed, closed;

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out, const char **end)
{
    __typeof__(sqlite3_prepare_v2) *real = dlsym(RTLD_NEXT, "sqlite3_prepare_v2");
    atomic_fetch_add(&parsed, 1);
    return real(db, sql, size, out, end);
}

int sqlite3_close(sqlite3 *db)
{
    __typeof__(sqlite3_close) *real = dlsym(RTLD_NEXT, "sqlite3_close");
    int r = real(db);
    atomic_fetch_add(&closed, r == SQLITE_OK);
    return r;
}

static char folder[32];
static pl_counters counters;
static pl_store *store;

static void start(void)
{
    snprintf(folder, sizeof folder, "/tmp/pliant-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    store = pl_store_open(folder, true, &counters);
    ck_assert_ptr_nonnull(store);
}

static void stop(void)
{
    static const char *const files[] = {"pliant.db", "pliant.db-wal", "pliant.db-shm"};
    pl_store_close(store);
    ck_assert_int_eq(closed, 2); /* writer and reader */
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static void name_row(pl_row *row, int number)
{
    *row = (pl_row){.owner = (char *)"owner", .name = (char *)"cube", .state = (char *)"queued"};
    snprintf(row->id, sizeof row->id, "%032d", number);
}

static int64_t count_rows(void)
{
    int64_t count = -1;
    pl_statement s = {"SELECT count(*) FROM sessions WHERE name=?", {"cube"}, 1};
    ck_assert(pl_store_read_integer(store, &s, &count));
    return count;
}

/* A session as the daemon writes it: a new row, a change of it, a note, a look, and the end. */
static void write_one(int number)
{
    pl_row row;
    name_row(&row, number);
    ck_assert_int_eq(pl_store_create(store, &row, NULL), PL_CREATED_DONE);
    ck_assert(pl_store_note(store, &(pl_statement){"UPDATE meshes SET last_used=?", {"1"}, 1}));
    ck_assert(pl_store_replace(store, &row));
    ck_assert_int_eq(count_rows(), 1);
    ck_assert(pl_store_delete(store, row.id));
    ck_assert(pl_store_flush(store));
}

START_TEST(parsed_once)
{
    write_one(1);
    int after_one = parsed;
    for (int i = 2; i < 20; i++)
        write_one(i);
    ck_assert_int_eq(parsed, after_one);
}
END_TEST

/* A statement that failed is as good as new, and nothing of its values is left. */
START_TEST(after_a_failure)
{
    pl_row row;
    name_row(&row, 1);
    ck_assert_int_eq(pl_store_create(store, &row, NULL), PL_CREATED_DONE);
    ck_assert_int_eq(pl_store_create(store, &row, NULL), PL_CREATED_BROKEN);
    name_row(&row, 2);
    ck_assert_int_eq(pl_store_create(store, &row, NULL), PL_CREATED_DONE);
    ck_assert_int_eq(count_rows(), 2);
}
END_TEST

/* Texts that never come again are not kept without a limit. */
START_TEST(bounded)
{
    sqlite3_int64 before = 0;
    for (int i = 0; i < 400; i++) {
        char sql[96];
        int64_t value = 0;
        snprintf(sql, sizeof sql, "SELECT %d+count(*) FROM sessions", i);
        ck_assert(pl_store_read_integer(store, &(pl_statement){.sql = sql}, &value));
        ck_assert_int_eq(value, i);
        if (i == 200)
            before = sqlite3_memory_used();
    }
    ck_assert_int_le(sqlite3_memory_used(), before + 4096);
}
END_TEST

/* Changes that nobody waits for, a few milliseconds apart, are committed together; one that is waited for, at once. On a
 * busy machine they may be further apart: the least of several rounds counts. */
START_TEST(gathered)
{
    enum { ROUNDS = 20, NOTES = 4 };
    int64_t least = INT64_MAX;
    for (int round = 0; round < ROUNDS && least > 1; round++) {
        int64_t before = counters.store_commits, rows = counters.store_rows;
        for (int i = 0; i < NOTES; i++) {
            ck_assert(
                pl_store_note(store, &(pl_statement){"UPDATE meshes SET last_used=?", {"1"}, 1}));
            usleep(1500);
        }
        ck_assert(pl_store_flush(store));
        ck_assert_int_eq(counters.store_rows - rows, NOTES + 1);
        int64_t commits = counters.store_commits - before;
        least = commits < least ? commits : least;
    }
    ck_assert_int_eq(least, 1);
}
END_TEST

/* Without anything that is waited for they are committed as well. */
START_TEST(gathered_without_a_waiter)
{
    int64_t rows = counters.store_rows;
    ck_assert(pl_store_note(store, &(pl_statement){"UPDATE meshes SET last_used=?", {"1"}, 1}));
    for (int i = 0; counters.store_rows == rows; i++) {
        ck_assert_int_lt(i, 60000);
        usleep(1000);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("statements");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, parsed_once);
    tcase_add_test(cases, after_a_failure);
    tcase_add_test(cases, bounded);
    tcase_add_test(cases, gathered);
    tcase_add_test(cases, gathered_without_a_waiter);
    return run_cases("store/statements", cases);
}
