/* A directory made durable as a whole: once for all that wait, and file by file if that cannot be trusted. The calls
 * that reach the disk are this program's own, and counted. */
#include "protocol/log/directory_sync.h"

#include "tests/unit/protocol_files.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/vfs.h>

enum { TOGETHER = 8 };

static temporary t;
static atomic_int whole, single,
    failing_after; /* failing_after: fsyncs until one fails; 0: none does */
static atomic_bool whole_fails, held, held_single;
static long file_system = EXT4_SUPER_MAGIC;
static const char *meminfo = "MemFree: 5 kB\nDirty: 10 kB\nWriteback: 0 kB\n";

int syncfs(int fd)
{
    (void)fd;
    atomic_fetch_add(&whole, 1);
    while (atomic_load(&held))
        usleep(1000);
    errno = EIO;
    return atomic_load(&whole_fails) ? -1 : 0;
}

int fsync(int fd)
{
    (void)fd;
    int n = atomic_fetch_add(&single, 1) + 1;
    while (atomic_load(&held_single))
        usleep(1000);
    errno = ENOSPC;
    return n == atomic_load(&failing_after) ? -1 : 0;
}

int fstatfs(int fd, struct statfs *out)
{
    (void)fd;
    *out = (struct statfs){.f_type = file_system};
    return 0;
}

FILE *fopen(const char *path, const char *mode)
{
    (void)path, (void)mode;
    return fmemopen((void *)meminfo, strlen(meminfo), "r");
}

/* Two files and two folders: 5 to sync with itself, 7 with "a" and "a/b". */
static void setup(void)
{
    temporary_create(&t);
    ck_assert_int_eq(mkdirat(t.fd, "a", 0700), 0);
    ck_assert_int_eq(mkdirat(t.fd, "a/b", 0700), 0);
    ck_assert_int_eq(mkdirat(t.fd, "a/b/c", 0700), 0);
    ck_assert_int_eq(mkdirat(t.fd, "a/b/c/log", 0700), 0);
    ck_assert_int_eq(mkdirat(t.fd, "a/b/c/meshes", 0700), 0);
    put_file(t.fd, "a/b/c/scene.json", "{}", 2);
    put_file(t.fd, "a/b/c/meshes/m", "mesh", 4);
    ck_assert_int_eq(symlinkat("/proc/self/mem", t.fd, "a/b/c/link"), 0);
    ck_assert_int_eq(mkfifoat(t.fd, "a/b/c/fifo", 0600), 0);
}

static void teardown(void)
{
    temporary_destroy(&t);
}

static void check_counts(int64_t shared, int64_t singly)
{
    pl_directory_syncs n = pl_directory_sync_counts();
    ck_assert_int_eq(n.shared, shared);
    ck_assert_int_eq(n.single, singly);
}

START_TEST(once)
{
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(pl_directory_sync(t.fd, "."), PL_OK);
    ck_assert_int_eq(whole, 2);
    ck_assert_int_eq(single, 0);
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/none"), PL_IO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(whole, 2);
    check_counts(2, 0);
}
END_TEST

START_TEST(other_file_systems)
{
    file_system = NFS_SUPER_MAGIC;
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(whole, 0);
    ck_assert_int_eq(single, 7);
    ck_assert_int_eq(pl_directory_sync(t.fd, "."), PL_OK);
    ck_assert_int_eq(single, 7 + 8); /* no entries that lead there */
    check_counts(0, 2);
}
END_TEST

/* What others have written would be waited for. */
START_TEST(much_unwritten)
{
    meminfo = "Dirty: 20000 kB\nWriteback: 20000 kB\n";
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(whole, 0);
    ck_assert_int_eq(single, 7);
    meminfo = "Dirty: 2000 kB\nWriteback: 2000 kB\n";
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(whole, 1);
    ck_assert_int_eq(single, 7);
}
END_TEST

/* After an error of one call its successors are not trusted. */
START_TEST(errors)
{
    whole_fails = true;
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(whole, 1);
    ck_assert_int_eq(single, 7);
    whole_fails = false;
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    ck_assert_int_eq(whole, 1);
    ck_assert_int_eq(single, 14);
    for (int i = 1; i <= 7; i++) {
        single = 0;
        failing_after = i;
        ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_IO);
        ck_assert_int_eq(errno, ENOSPC);
        ck_assert_int_eq(single, i);
    }
}
END_TEST

static void *sync_one(void *context)
{
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK);
    atomic_fetch_add((atomic_int *)context, 1);
    return NULL;
}

/* Requests made during a sync wait together for the next one: the running one may already have passed them. */
START_TEST(together)
{
    pthread_t first, others[TOGETHER];
    atomic_int done = 0;
    held = true;
    ck_assert_int_eq(pthread_create(&first, NULL, sync_one, &done), 0);
    while (atomic_load(&whole) == 0)
        usleep(1000);
    for (int i = 0; i < TOGETHER; i++)
        ck_assert_int_eq(pthread_create(&others[i], NULL, sync_one, &done), 0);
    usleep(200000); /* so that they wait; a late one causes a third */
    ck_assert_int_eq(done, 0);
    held = false;
    pthread_join(first, NULL);
    for (int i = 0; i < TOGETHER; i++)
        pthread_join(others[i], NULL);
    ck_assert_int_eq(done, 1 + TOGETHER);
    ck_assert_int_ge(whole, 2);
    ck_assert_int_lt(whole, TOGETHER);
    ck_assert_int_eq(single, 0);
}
END_TEST

/* Others' data is written once rather than file after file for each of many: 100 MB for four, but not for three. */
START_TEST(much_unwritten_for_many)
{
    pthread_t threads[4];
    atomic_int done = 0;
    meminfo = "Dirty: 102400 kB\nWriteback: 0 kB\n";
    held_single = true;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sync_one, &done), 0);
        while (atomic_load(&whole) + atomic_load(&single) == i)
            usleep(1000);
    }
    ck_assert_int_eq(single, 3);
    ck_assert_int_eq(whole, 1);
    held_single = false;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(single, 3 * 7);
    check_counts(1, 3);
    ck_assert_int_eq(pl_directory_sync(t.fd, "a/b/c"), PL_OK); /* alone again */
    check_counts(1, 4);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("directory_sync");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, once);
    tcase_add_test(cases, other_file_systems);
    tcase_add_test(cases, much_unwritten);
    tcase_add_test(cases, errors);
    tcase_add_test(cases, together);
    tcase_add_test(cases, much_unwritten_for_many);
    return run_cases("protocol/directory_sync", cases);
}
