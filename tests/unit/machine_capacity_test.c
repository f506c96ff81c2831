/* Cores and memory available to a process, in trees of control groups made for the test: version 1, version 2 and both,
 * limits of the group and of its ancestors, containers that see only their own group. */
#include "protocol/machine/capacity.h"
#include "tests/support/suite.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t gigabyte = 1000000000;
static char root[64];

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    return remove(path);
}

static void begin(void)
{
    strcpy(root, "/tmp/pliant-capacity-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void end(void)
{
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes a file of a group, and its folders. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *at = whole + strlen(root); (at = strchr(at + 1, '/'));) {
        *at = 0;
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *out = fopen(whole, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

/* "%s" of mounts is the tree's root. */
static pl_capacity find(int affinity, const char *groups, const char *mounts)
{
    static char table[1024];
    pl_capacity found;
    snprintf(table, sizeof table, mounts, root, root, root);
    FILE *g = fmemopen((void *)groups, strlen(groups), "r");
    FILE *m = fmemopen(table, strlen(table), "r");
    pl_capacity_find(&(pl_machine_size){16, affinity, 64 * gigabyte}, g, m, &found);
    fclose(g);
    fclose(m);
    return found;
}

static void expect(const pl_capacity *c, int cores, const char *cores_by, int64_t memory,
                   const char *memory_by)
{
    ck_assert_int_eq(c->cores, cores);
    ck_assert_str_eq(c->cores_by, cores_by);
    ck_assert_int_eq(c->memory, memory);
    ck_assert_str_eq(c->memory_by, memory_by);
    ck_assert_int_eq(*c->cores_file != 0, strcmp(cores_by, "control_group") == 0);
    ck_assert_int_eq(*c->memory_file != 0, strcmp(memory_by, "control_group") == 0);
}

#define V2 "30 23 0:26 / %s rw,nosuid - cgroup2 cgroup2 rw\n"
#define V1                                                                                         \
    "31 23 0:27 / %s/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"                                      \
    "32 23 0:28 / %s/memory rw - cgroup cgroup rw,memory\n"

START_TEST(test_none)
{
    pl_capacity c = find(0, "0::/a\n", V2);
    expect(&c, 16, "machine", 64 * gigabyte, "machine");
    c = find(3, "0::/a\n", V2);
    expect(&c, 3, "affinity", 64 * gigabyte, "machine");
    c = find(16, "", "");
    expect(&c, 16, "machine", 64 * gigabyte, "machine");
    pl_capacity_find(&(pl_machine_size){0, 0, gigabyte}, NULL, NULL, &c);
    expect(&c, 1, "machine", gigabyte, "machine");
}
END_TEST

START_TEST(test_version_2)
{
    put("a/b/cpu.max", "max 100000\n");
    put("a/b/memory.max", "max\n");
    put("a/b/memory.high", "max\n");
    pl_capacity c = find(16, "0::/a/b\n", V2);
    expect(&c, 16, "machine", 64 * gigabyte, "machine");
    put("a/b/cpu.max", "450000 100000\n");
    put("a/b/memory.max", "8000000000\n");
    c = find(16, "0::/a/b\n", V2);
    expect(&c, 4, "control_group", 8 * gigabyte, "control_group");
    ck_assert_ptr_nonnull(strstr(c.cores_file, "/a/b/cpu.max"));
    ck_assert_ptr_nonnull(strstr(c.memory_file, "/a/b/memory.max"));
    put("a/b/memory.high", "7000000000\n"); /* throttles below the maximum */
    put("a/cpu.max", "20000 10000\n");      /* the parent group has less */
    c = find(16, "0::/a/b\n", V2);
    expect(&c, 2, "control_group", 7 * gigabyte, "control_group");
    ck_assert_ptr_nonnull(strstr(c.cores_file, "/a/cpu.max"));
    ck_assert_ptr_nonnull(strstr(c.memory_file, "/a/b/memory.high"));
    put("memory.max", "5000000000\n"); /* in a container, whose group is the hierarchy's root */
    put("cpu.max", "50000 100000\n");
    c = find(16, "0::/a/b\n", V2);
    expect(&c, 1, "control_group", 5 * gigabyte, "control_group");
    c = find(16, "0::/\n", V2);
    expect(&c, 1, "control_group", 5 * gigabyte, "control_group");
}
END_TEST

START_TEST(test_version_1)
{
    static const char groups[] = "5:cpu,cpuacct:/x/y\n4:memory:/m\n0::/ignored\n";
    put("cpu/x/y/cpu.cfs_quota_us", "-1\n");
    put("cpu/x/y/cpu.cfs_period_us", "100000\n");
    put("memory/m/memory.limit_in_bytes", "9223372036854771712\n");
    pl_capacity c = find(16, groups, V1);
    expect(&c, 16, "machine", 64 * gigabyte, "machine");
    put("cpu/x/cpu.cfs_quota_us", "300000\n");
    put("cpu/x/cpu.cfs_period_us", "100000\n");
    put("memory/memory.limit_in_bytes", "6000000000\n");
    c = find(16, groups, V1);
    expect(&c, 3, "control_group", 6 * gigabyte, "control_group");
    c = find(2, groups, V1); /* limited by affinity */
    expect(&c, 2, "affinity", 6 * gigabyte, "control_group");
}
END_TEST

/* Docker with version 1: the path is the host's, but the mount begins at the container's group. */
START_TEST(test_container)
{
    put("memory.limit_in_bytes", "2000000000\n");
    pl_capacity c = find(16, "4:memory:/docker/ab\n",
                         "1 2 0:3 /docker/ab %s rw - cgroup c rw,memory\n");
    expect(&c, 16, "machine", 2 * gigabyte, "control_group");
    c = find(16, "4:memory:/docker/cd\n", "1 2 0:3 /docker/ab %s rw - cgroup c rw,memory\n");
    expect(&c, 16, "machine", 64 * gigabyte, "machine");
}
END_TEST

/* Text that is not a number is no limit; nothing above the mount is read. */
START_TEST(test_strange)
{
    static const char *const cpus[] = {"",           "\n",          "x 100000\n",   "100000\n",
                                       "100000 0\n", "-5 100000\n", "1e5 100000\n", "0 100000\n"};
    static const char *const sizes[] = {"", "\n", "8G\n", "-1\n", "0\n", "max"};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        put("in/a/cpu.max", cpus[i]);
        put("in/a/memory.max", sizes[i % (sizeof sizes / sizeof *sizes)]);
        put("cpu.max", "100000 100000\n");
        put("memory.max", "1\n");
        pl_capacity c = find(16, "0::/a\n", "30 23 0:26 / %s/in rw,nosuid - cgroup2 cgroup2 rw\n");
        expect(&c, 16, "machine", 64 * gigabyte, "machine");
    }
}
END_TEST

START_TEST(test_own)
{
    pl_capacity c;
    pl_capacity_own(&c);
    ck_assert_int_ge(c.cores, 1);
    ck_assert_int_le(c.cores, (int)sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert_int_ge(c.memory, 1 << 20);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("capacity");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, test_none);
    tcase_add_test(tests, test_version_2);
    tcase_add_test(tests, test_version_1);
    tcase_add_test(tests, test_container);
    tcase_add_test(tests, test_strange);
    tcase_add_test(tests, test_own);
    return run_cases("capacity of the machine", tests);
}
