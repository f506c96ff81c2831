/* Control groups of workers in a plain directory, whose files appear with each new one as the kernel's would: where the
 * daemon's own is, by texts of every kind; version 1 and 2; who is moved, what is written, what is removed. */
#include "protocol/log/memory_limit.h"
#include "server/run/control_group.h"
#include "server/run/memory_groups.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where the daemon's own group is ---- */

#define V1_MOUNT                                                                                   \
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static bool find(const char *groups, const char *mounts, pl_control_group *out, char *why)
{
    FILE *g = fmemopen((void *)groups, strlen(groups), "r");
    FILE *m = fmemopen((void *)mounts, strlen(mounts), "r");
    bool found = pl_control_group_find(g, m, "memory", out, why);
    fclose(g);
    fclose(m);
    return found;
}

START_TEST(test_own)
{
    static const struct {
        const char *groups, *mounts;
        int version;
        const char *path; /* or what the reason says, for version 0 */
    } cases[] = {
        {"0::/system.slice/pliantd.service\n", V2_MOUNT, 2,
         "/sys/fs/cgroup/system.slice/pliantd.service"},
        {"0::/\n", V2_MOUNT, 2, "/sys/fs/cgroup"},
        {"0::/a:b\n", "x\n" V2_MOUNT, 2, "/sys/fs/cgroup/a:b"},
        {"8:pids:/p\n4:memory:/m\n0::/u\n", V2_MOUNT V1_MOUNT, 1, "/sys/fs/cgroup/memory/m"},
        {"0::/u\n4:cpu,memory,pids:/m\n", V1_MOUNT V2_MOUNT, 1, "/sys/fs/cgroup/memory/m"},
        {"4:memoryx,xmemory:/m\n0::/u\n", V1_MOUNT V2_MOUNT, 2, "/sys/fs/cgroup/u"},
        /* A container that sees its own group alone. */
        {"4:memory:/docker/ab\n", "1 2 0:3 /docker/ab /sys/fs/cgroup/memory rw - cgroup c memory\n",
         1, "/sys/fs/cgroup/memory"},
        {"4:memory:/docker/ab/c\n", "1 2 0:3 /docker/ab /g rw - cgroup c rw,memory\n", 1, "/g/c"},
        {"0::/s\\040e\n", "1 2 0:3 / /with\\040space\\134 rw master:1 shared:2 - cgroup2 c rw\n", 2,
         "/with space\\/s\\040e"},
        {"0::/a\n", "1 2 0:3 /b /first rw - cgroup2 c rw\n" V2_MOUNT, 2, "/sys/fs/cgroup/a"},
        {"0::/..a/b..\n", V2_MOUNT, 2, "/sys/fs/cgroup/..a/b.."},
        {"4:memory:/docker/abc\n", "1 2 0:3 /docker/ab /g rw - cgroup c memory\n", 0,
         "/docker/abc, is outside"},
        {"0::/../other\n", V2_MOUNT, 0, "/../other, is outside"},
        {"0::/a/..\n", V2_MOUNT, 0, "is outside"},
        {"0::/gone (deleted)\n", V2_MOUNT, 0, "is outside"},
        {"0::relative\n", V2_MOUNT, 0, "is outside"},
        {"0::/a\n", V1_MOUNT, 0, "not mounted"},
        {"4:memory:/a\n", V2_MOUNT "1 2 0:3 / /g rw - cgroup c rw,cpu\n", 0, "not mounted"},
        {"0::/a\n", "1 2 0:3 / relative rw - cgroup2 c rw\n", 0, "not mounted"},
        {"0::/a\n", "1 2 0:3 - cgroup2 c rw\n - cgroup2 c rw\n - \n1 - cgroup2\n", 0,
         "not mounted"},
        {"4:cpu:/a\nmemory\n:\n::\n0:\n\n", V2_MOUNT, 0, "lists no control group"},
    };
    char why[PL_WHY_NO_GROUP];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pl_control_group own;
        bool found = find(cases[i].groups, cases[i].mounts, &own, why);
        ck_assert_msg(found == (cases[i].version > 0), "%zu: %s", i, found ? own.path : why);
        if (found) {
            ck_assert_int_eq(own.version, cases[i].version);
            ck_assert_str_eq(own.path, cases[i].path);
        } else {
            ck_assert_msg(strstr(why, cases[i].path), "%zu: %s", i, why);
        }
    }
}
END_TEST

/* Paths that are too long, and texts with bytes changed: an answer, and never a path with "..". */
START_TEST(test_own_hostile)
{
    static char groups[3 * PATH_MAX], text[512];
    char why[PL_WHY_NO_GROUP];
    pl_control_group own;
    for (size_t n = PATH_MAX - 40; n < PATH_MAX + 40; n++) {
        strcpy(groups, "0::/");
        memset(groups + 4, 'a', n);
        strcpy(groups + 4 + n, "\n");
        bool fits = strlen("/sys/fs/cgroup/") + n < PATH_MAX;
        ck_assert_int_eq(find(groups, V2_MOUNT, &own, why), fits);
    }
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        static const char *const from[] = {"4:memory:/a/../b\n0::/c\n", V1_MOUNT V2_MOUNT};
        char both[2][512];
        for (int k = 0; k < 2; k++) {
            size_t length = strlen(strcpy(text, from[k]));
            for (int j = rand_r(&seed) % 4; j >= 0; j--)
                text[(size_t)rand_r(&seed) % length] = " :/.,\\\n-0m4\x01\xff"[rand_r(&seed) % 13];
            strcpy(both[k], text);
        }
        if (find(both[0], both[1], &own, why)) {
            ck_assert_ptr_null(strstr(own.path, "/../"));
            ck_assert_int_eq(own.path[0], '/');
        } else {
            ck_assert_int_gt((int)strlen(why), 0);
        }
    }
}
END_TEST

/* ---- a kernel of our own ---- */

static char root[64], state[64];
static int version, state_fd;
static const char *lacks; /* a file that new groups do not have */

static const char *path_of(const char *group, const char *file)
{
    static char paths[4][512];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s%s%s%s%s", root, *group ? "/" : "", group, *file ? "/" : "",
             file);
    return path;
}

static void write_file(const char *group, const char *file, const char *text)
{
    FILE *out = fopen(path_of(group, file), "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

/* The file's first line, in a static buffer; "-" if there is no file. */
static const char *read_file(const char *group, const char *file)
{
    static char texts[4][256];
    static int turn;
    char *text = texts[turn++ % 4];
    FILE *in = fopen(path_of(group, file), "r");
    strcpy(text, "-");
    if (in) {
        text[fread(text, 1, sizeof texts[0] - 1, in)] = 0;
        text[strcspn(text, "\n")] = 0;
        fclose(in);
    }
    return text;
}

static bool exists(const char *group)
{
    return access(path_of(group, ""), F_OK) == 0;
}

static const char *const files[2][5] = {
    {"cgroup.procs", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control",
     NULL},
    {"cgroup.procs", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events"},
};

int __real_mkdirat(int fd, const char *name, mode_t mode);
int __wrap_mkdirat(int fd, const char *name, mode_t mode);
int __real_unlinkat(int fd, const char *name, int flags);
int __wrap_unlinkat(int fd, const char *name, int flags);

int __wrap_mkdirat(int fd, const char *name, mode_t mode)
{
    int result = __real_mkdirat(fd, name, mode);
    for (int i = 0; result == 0 && i < 5 && files[version - 1][i]; i++) {
        const char *file = files[version - 1][i];
        if (!lacks || strcmp(lacks, file) != 0)
            write_file(name, file, strstr(file, "oom_control") ? "oom_kill 0\n" : "");
    }
    return result;
}

/* Busy while there are processes in it, but for one that has gone back to the root's. */
int __wrap_unlinkat(int fd, const char *name, int flags)
{
    const char *inside = read_file(name, "cgroup.procs");
    if (strcmp(inside, "-") != 0 && *inside && strcmp(inside, read_file("", "cgroup.procs")) != 0) {
        errno = EBUSY;
        return -1;
    }
    struct stat st;
    if (lstat(path_of(name, ""), &st) == 0 && S_ISDIR(st.st_mode))
        for (int i = 0; i < 5 && files[version - 1][i]; i++)
            unlink(path_of(name, files[version - 1][i]));
    return __real_unlinkat(fd, name, flags);
}

static void begin(int which)
{
    version = which;
    lacks = NULL;
    strcpy(root, "/tmp/pliant-groups-XXXXXX");
    strcpy(state, "/tmp/pliant-state-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_ptr_nonnull(mkdtemp(state));
    state_fd = open(state, O_RDONLY | O_DIRECTORY);
    write_file("", "cgroup.procs", "");
    if (which == 2) {
        write_file("", "cgroup.controllers", "cpu memory pids\n");
        write_file("", "cgroup.subtree_control", "\n");
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    return remove(path);
}

static void end(void)
{
    close(state_fd);
    rmdir(state);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static pl_memory_groups *open_at(const char *below, char why[PL_WHY_NO_GROUP])
{
    pl_control_group own = {.version = version};
    snprintf(own.path, sizeof own.path, "%s%s", root, below);
    return pl_memory_groups_open(&own, state_fd, why);
}

static pl_memory_groups *open_groups(void)
{
    char why[PL_WHY_NO_GROUP] = "";
    pl_memory_groups *g = open_at("", why);
    ck_assert_msg(g != NULL, "%s", why);
    return g;
}

/* The name of a group of this state. */
static const char *name_of(const char *session, const char *attempt)
{
    static char names[4][160];
    static int turn;
    char *name = names[turn++ % 4];
    struct stat st;
    fstat(state_fd, &st);
    snprintf(name, sizeof names[0], "pliant-%llx.%llx-%s-%s", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino, session, attempt);
    return name;
}

static const char *pid_text(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)getpid());
    return text;
}

#define ID  "0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210"

/* ---- version 2: the daemon's own group ---- */

static void expect_refused(const char *words)
{
    char why[PL_WHY_NO_GROUP] = "";
    ck_assert_ptr_null(open_at("", why));
    ck_assert_msg(strstr(why, root) && strstr(why, words), "%s", why);
    ck_assert(!exists("pliant-daemon"));
}

START_TEST(test_delegation)
{
    char why[PL_WHY_NO_GROUP], procs[64];
    begin(2);
    /* The daemon is in it: into a leaf. */
    write_file("", "cgroup.procs", pid_text());
    pl_memory_groups *g = open_groups();
    ck_assert_str_eq(read_file("pliant-daemon", "cgroup.procs"), pid_text());
    ck_assert_str_eq(read_file("", "cgroup.subtree_control"), "+memory");
    pl_memory_groups_close(g);
    /* In the leaf already, and shared out: nothing is done again. */
    write_file("", "cgroup.procs", "");
    write_file("", "cgroup.subtree_control", "cpu memory\n");
    g = open_at("/pliant-daemon", why);
    ck_assert_msg(g != NULL, "%s", why);
    ck_assert_str_eq(read_file("", "cgroup.subtree_control"), "cpu memory");
    char name[PL_MEMORY_GROUP_NAME];
    ck_assert(pl_memory_groups_make(g, ID, 1, 5000, name));
    ck_assert(exists(name)); /* beside the leaf and not below it */
    pl_memory_groups_close(g);
    end();

    begin(2);
    write_file("", "cgroup.controllers", "cpu memory_x pids\n");
    expect_refused("Delegate=memory");
    write_file("", "cgroup.controllers", "memory\n");
    snprintf(procs, sizeof procs, "1\n%s\n", pid_text());
    write_file("", "cgroup.procs", procs);
    expect_refused("it contains other processes, such as 1");
    ck_assert_str_eq(read_file("", "cgroup.subtree_control"), "");
    /* What the kernel refuses is taken back. */
    write_file("", "cgroup.procs", pid_text());
    unlink(path_of("", "cgroup.subtree_control"));
    expect_refused("the memory controller cannot be enabled in it: No such file or directory");
    ck_assert_str_eq(read_file("", "cgroup.procs"), pid_text());
    write_file("", "cgroup.subtree_control", "memory");
    lacks = "memory.max";
    char refused[PL_WHY_NO_GROUP] = "";
    ck_assert_ptr_null(open_at("", refused));
    ck_assert_msg(strstr(refused, "memory.max: No such file"), "%s", refused);
    ck_assert(!exists(name_of("t", "ry")));
    end();
    ck_assert_ptr_null(open_at("", refused)); /* no such directory */
}
END_TEST

/* ---- workers' groups ---- */

START_TEST(test_make)
{
    char name[PL_MEMORY_GROUP_NAME], path[PATH_MAX], expected[PATH_MAX];
    for (int which = 1; which <= 2; which++) {
        begin(which);
        pl_memory_groups *g = open_groups();
        ck_assert(pl_memory_groups_make(g, ID, 12, 123456789, name));
        ck_assert_str_eq(name, name_of(ID, "12"));
        ck_assert(pl_memory_groups_path(g, name, path, sizeof path));
        snprintf(expected, sizeof expected, "%s/%s", root, name);
        ck_assert_str_eq(path, expected);
        ck_assert(!pl_memory_groups_path(g, name, path, strlen(expected)));
        if (which == 1) {
            ck_assert_str_eq(read_file(name, "memory.limit_in_bytes"), "123456789");
            ck_assert_str_eq(read_file(name, "memory.memsw.limit_in_bytes"), "123456789");
        } else {
            ck_assert_str_eq(read_file(name, "memory.max"), "123456789");
            ck_assert_str_eq(read_file(name, "memory.swap.max"), "0");
            ck_assert_str_eq(read_file(name, "memory.oom.group"), "1");
        }
        pl_memory_groups_enter(g, name, 4242);
        ck_assert_str_eq(read_file(name, "cgroup.procs"), "4242");
        ck_assert_str_eq(name, name_of(ID, "12"));
        /* One of the same name that is in use is not touched; an empty one is made afresh. */
        char again[PL_MEMORY_GROUP_NAME];
        ck_assert(!pl_memory_groups_make(g, ID, 12, 5, again));
        ck_assert_str_eq(again, "");
        ck_assert_str_eq(read_file(name, "cgroup.procs"), "4242");
        write_file(name, "cgroup.procs", "");
        write_file(name, which == 1 ? "memory.oom_control" : "memory.events", "oom_kill 7\n");
        ck_assert(pl_memory_groups_make(g, ID, 12, 0, again)); /* without a limit */
        ck_assert_str_eq(read_file(again, which == 1 ? "memory.limit_in_bytes" : "memory.max"), "");
        ck_assert_int_le(pl_memory_groups_kills(g, again), 0);
        /* What a kernel may lack, and what it must have. */
        lacks = which == 1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max";
        ck_assert(pl_memory_groups_make(g, ID, 13, 5, name));
        lacks = which == 1 ? "memory.limit_in_bytes" : "memory.max";
        ck_assert(!pl_memory_groups_make(g, ID, 14, 5, name));
        ck_assert(!exists(name_of(ID, "14")));
        ck_assert_str_eq(name, "");
        lacks = "cgroup.procs";
        ck_assert(pl_memory_groups_make(g, ID, 15, 5, name));
        pl_memory_groups_enter(g, name, 4242);
        ck_assert_str_eq(name, "");
        ck_assert(!exists(name_of(ID, "15")));
        pl_memory_groups_close(g);
        end();
    }
}
END_TEST

/* A worker must meet its own limit before the kernel kills it: what the kernel counts beyond it is at most a page table's
 * 512th of all and the first thread's stack. */
START_TEST(test_limits)
{
    static const uint64_t sizes[] = {1, 1 << 20, (uint64_t)1 << 30, (uint64_t)3 << 38};
    for (int i = 0; i < 4; i++)
        for (int64_t threads = 1; threads <= 256; threads *= 4) {
            uint64_t data = pl_memory_limit_data(sizes[i], threads);
            ck_assert_uint_eq(data, sizes[i] + (192 << 20) + (uint64_t)threads * (8 << 20));
            ck_assert_uint_ge(pl_memory_limit_group(sizes[i], threads),
                              data + data / 512 + (8 << 20));
        }
}
END_TEST

START_TEST(test_none)
{
    char name[PL_MEMORY_GROUP_NAME] = "x", path[64];
    ck_assert(!pl_memory_groups_make(NULL, ID, 1, 5, name));
    ck_assert_str_eq(name, "");
    ck_assert(!pl_memory_groups_find(NULL, ID, 1, name));
    ck_assert(!pl_memory_groups_path(NULL, "a", path, sizeof path));
    ck_assert_int_eq(pl_memory_groups_kills(NULL, "a"), -1);
    ck_assert_int_eq(pl_memory_groups_sweep(NULL, 0, NULL, NULL), INT64_MAX);
    pl_memory_groups_enter(NULL, name, 1);
    pl_memory_groups_remove(NULL, "a");
    pl_memory_groups_close(NULL);
}
END_TEST

/* Names that are no session's, and links in the way. */
START_TEST(test_hostile)
{
    static const char *const names[] = {"",     ".",        "..",       "../x",         "a/b",
                                        "ABCD", "0123 456", "abc\ndef", "pliant-daemon"};
    char name[PL_MEMORY_GROUP_NAME], longest[200];
    begin(2);
    pl_memory_groups *g = open_groups();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(!pl_memory_groups_make(g, names[i], 1, 5, name), "%s", names[i]);
        ck_assert_str_eq(name, "");
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ck_assert(!pl_memory_groups_make(g, longest, 1, 5, name));
    ck_assert(!pl_memory_groups_find(g, longest, 1, name));
    /* A link to another place: not followed, and not removed. */
    char outside[128], link[512];
    snprintf(outside, sizeof outside, "%s/kept", state);
    FILE *kept = fopen(outside, "w");
    fputs("as it was", kept);
    fclose(kept);
    ck_assert(pl_memory_groups_make(g, ID, 1, 5, name));
    snprintf(link, sizeof link, "%s", path_of(name, "cgroup.procs"));
    unlink(link);
    ck_assert_int_eq(symlink(outside, link), 0);
    pl_memory_groups_enter(g, name, 4242);
    ck_assert_str_eq(name, "");
    kept = fopen(outside, "r");
    char text[32] = "";
    ck_assert_ptr_nonnull(fgets(text, sizeof text, kept));
    fclose(kept);
    ck_assert_str_eq(text, "as it was");
    unlink(outside);
    ck_assert_int_eq(symlink(state, path_of(name_of(ID2, "1"), "")), 0);
    write_file(name_of(ID2, "1"), "memory.events", "oom_kill 3\n"); /* into the state */
    ck_assert_int_eq(pl_memory_groups_kills(g, name_of(ID2, "1")), -1);
    pl_memory_groups_remove(g, name_of(ID2, "1"));
    ck_assert(exists(name_of(ID2, "1")));
    ck_assert_int_eq(access(state, F_OK), 0);
    unlink(path_of(name_of(ID2, "1"), "memory.events"));
    pl_memory_groups_close(g);
    end();
}
END_TEST

START_TEST(test_kills)
{
    static const struct {
        const char *text;
        int64_t kills;
    } cases[] = {
        {"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 9\n", 2},
        {"oom_kill_disable 5\nunder_oom 6\noom_kill 4\n", 4},
        {"oom_kill_disable 5\nunder_oom 6\n", -1},
        {"oom_kill 0\n", 0},
        {"oom_kill -3\n", -1},
        {"oom_kill x\n", -1},
        {"", -1},
    };
    char name[PL_MEMORY_GROUP_NAME];
    for (int which = 1; which <= 2; which++) {
        begin(which);
        pl_memory_groups *g = open_groups();
        ck_assert(pl_memory_groups_make(g, ID, 1, 5, name));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            write_file(name, which == 1 ? "memory.oom_control" : "memory.events", cases[i].text);
            ck_assert_int_eq(pl_memory_groups_kills(g, name), cases[i].kills);
        }
        ck_assert_int_eq(pl_memory_groups_kills(g, ""), -1);
        pl_memory_groups_close(g);
        end();
    }
}
END_TEST

/* ---- those of an earlier daemon ---- */

static bool is_second(void *context, const char *name)
{
    ++*(int *)context;
    return strcmp(name, name_of(ID2, "1")) == 0;
}

static bool is_none(void *context, const char *name)
{
    return false;
}

START_TEST(test_left)
{
    char attempt[16], name[PL_MEMORY_GROUP_NAME], made[PL_MEMORY_GROUP_NAME];
    int asked = 0;
    begin(1);
    pl_memory_groups *g = open_groups();
    for (int k = 1; k <= 10; k++) {
        snprintf(attempt, sizeof attempt, "%d", k);
        ck_assert(pl_memory_groups_make(g, ID, k, 5, made));
        ck_assert(pl_memory_groups_find(g, ID, 1, name));
        ck_assert_str_eq(name, name_of(ID, attempt));
    }
    ck_assert(pl_memory_groups_make(g, ID2, 1, 5, made));
    mkdir(path_of("pliant-1.1-" ID "-77", ""), 0700); /* another daemon's */
    ck_assert(pl_memory_groups_find(g, ID, 10, name));
    ck_assert(!pl_memory_groups_find(g, ID, 11, name));
    ck_assert_str_eq(name, "");
    pl_memory_groups_close(g);

    g = open_groups();
    write_file(name_of(ID, "9"), "cgroup.procs", "4242"); /* not known to be anybody's, but busy */
    int64_t next = pl_memory_groups_sweep(g, 1000, is_second, &asked);
    ck_assert_int_eq(asked, 11);
    ck_assert(!exists(name_of(ID, "1")) && !exists(name_of(ID, "10")));
    ck_assert(exists(name_of(ID, "9")) && exists(name_of(ID2, "1")));
    ck_assert(exists("pliant-1.1-" ID "-77"));
    ck_assert(next > 1000 && next < 60000);
    write_file(name_of(ID, "9"), "cgroup.procs", "");
    ck_assert_int_eq(pl_memory_groups_sweep(g, next - 1, is_second, &asked), next);
    ck_assert(exists(name_of(ID, "9")));
    ck_assert_int_eq(pl_memory_groups_sweep(g, next, is_second, &asked), INT64_MAX);
    ck_assert(!exists(name_of(ID, "9")));
    asked = 0; /* nothing is left, so nothing is looked at */
    ck_assert_int_eq(pl_memory_groups_sweep(g, next + 60000, is_second, &asked), INT64_MAX);
    ck_assert_int_eq(asked, 0);
    /* One that is busy at its worker's end is for the next sweep. */
    write_file(name_of(ID2, "1"), "cgroup.procs", "4242");
    pl_memory_groups_remove(g, name_of(ID2, "1"));
    ck_assert_int_lt(pl_memory_groups_sweep(g, next + 60000, is_none, NULL), INT64_MAX);
    pl_memory_groups_close(g);
    end();
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("groups");
    tcase_add_test(c, test_own);
    tcase_add_test(c, test_own_hostile);
    tcase_add_test(c, test_delegation);
    tcase_add_test(c, test_make);
    tcase_add_test(c, test_limits);
    tcase_add_test(c, test_none);
    tcase_add_test(c, test_hostile);
    tcase_add_test(c, test_kills);
    tcase_add_test(c, test_left);
    return run_cases("memory groups", c);
}
