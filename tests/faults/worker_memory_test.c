/* The worker's n-th allocation fails, for n = 1, 2, ... over a whole session: it ends with the usual bits, or reports
 * out of memory and the next attempt reaches the same bits. It never crashes, hangs or computes other bits. Allocations
 * of libraries count too. `check` tries a few n, PLIANT_LONG=1 all.
 */
#include "tests/support/built_path.h"
#include "tests/support/long_form.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHECKED = 32, KINDS = 4 };
#define MANY (1LL << 40)

static _Atomic int64_t *memory; /* of preload/failing_memory.c */
static char shared_path[64], library[BUILT_PATH_MAX];

static void begin(void)
{
    strcpy(shared_path, "/tmp/pliant-memory-XXXXXX");
    int fd = mkstemp(shared_path);
    ck_assert_int_eq(ftruncate(fd, 24), 0);
    memory = mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne((void *)memory, MAP_FAILED);
    close(fd);
    built_path("tests/libfailing_memory.so", R_OK, library);
}

static void end(void)
{
    munmap((void *)memory, 24);
    unlink(shared_path);
}

/* Runs in the child. One start of the worker is enough, because no BLAS has its own threads. */
static void preload(void)
{
    setenv("LD_PRELOAD", library, 1);
    setenv("PLIANT_FAILING_MEMORY", shared_path, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static void arm(int64_t n, int64_t span)
{
    atomic_store(&memory[1], span);
    atomic_store(&memory[2], 0);
    atomic_store(&memory[0], n > 0 ? n + span - 1 : 0);
}

/* ---- sessions ---- */

/* Two boxes that touch each other and a floor, with a given method. */
#define TOUCHING(method)                                                                           \
    "{\"pliant\": 1, \"time\": {\"step\": 0.02, \"steps\": 5}, \"solver\": {\"method\": \"" method \
    "\", \"iterations\": 4, \"tolerance\": 0}, \"materials\": {\"m\": {\"model\": "                \
    "\"neo_hookean\"}}, \"bodies\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"box\": "  \
    "{\"cells\": [1, 1, 1]}}}, {\"name\": \"b\", \"material\": \"m\", \"mesh\": {\"box\": "        \
    "{\"cells\": [1, 1, 1]}}, \"transform\": {\"translate\": [0, 1.002, 0]}}], \"obstacles\": "    \
    "[{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0], \"offset\": -0.501}, "              \
    "\"friction\": 0.5}], \"output\": {\"fields\": [\"position\", \"velocity\", \"stress\", "      \
    "\"contacts\"], "                                                                              \
    "\"probes\": [{\"name\": \"k\", \"quantity\": \"kinetic\"}]}}"

typedef struct kind {
    const char *scene;
    bool again;      /* a second attempt, after one that was stopped at frame 3, */
    bool from_start; /* whose checkpoints are gone */
} kind;

static const kind kinds[KINDS] = {
    {TOUCHING("admm"), false, false},
    {TOUCHING("quasi_newton"), false, false},
    {TOUCHING("admm"), true, false},
    {TOUCHING("quasi_newton"), true, true},
};

static void copy_file(int from_dir, int to_dir, const char *name)
{
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_file_read(from_dir, name, 1 << 24, &bytes, &size), PL_OK);
    ck_assert_int_eq(pl_file_replace(to_dir, name, bytes, size, false), PL_OK);
    free(bytes);
}

/* Copies files and, one level deep, folders. */
static void copy_folder(int from_dir, int to_dir)
{
    DIR *dir = fdopendir(openat(from_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type != DT_DIR) {
            copy_file(from_dir, to_dir, e->d_name);
            continue;
        }
        mkdirat(to_dir, e->d_name, 0700); /* meshes exists */
        int from = openat(from_dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int to = openat(to_dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        copy_folder(from, to);
        close(from);
        close(to);
    }
    closedir(dir);
}

static void copy_session(const session_fixture *from, session_fixture *to)
{
    session_fixture_create(to, SESSION_IN_MEMORY, "");
    copy_folder(from->directory, to->directory);
}

/* Prepares a session directory for its attempt. */
static void make_base(session_fixture *f, const kind *k)
{
    session_fixture_create(f, SESSION_IN_MEMORY, k->scene);
    ck_assert_int_eq(session_fixture_preflight(f), 0);
    session_fixture_control(f, "{\"action\": \"control\", \"id\": 1, \"control\": {\"gravity\": "
                               "[0, -9, 0]}}");
    if (k->again) {
        session_fixture_control(f, "{\"action\": \"step\", \"until\": 3}");
        ck_assert_int_eq(session_fixture_run(f, 1), 7);
        session_fixture_control(f, "{\"action\": \"resume\"}");
    }
    for (int slot = 0; k->from_start && slot < 2; slot++)
        unlinkat(f->directory, slot ? "checkpoint-1.bin" : "checkpoint-0.bin", 0);
}

/* ---- one n ---- */

static int run_preloaded(const session_fixture *f, int attempt, FILE *out)
{
    char number[16];
    snprintf(number, sizeof number, "%d", attempt);
    const char *const arguments[] = {"--session", f->path, "--attempt",          number,
                                     "--threads", "1",     "--checkpoint-every", "0",
                                     NULL};
    return session_fixture_wait(session_fixture_spawn("pliant-worker", arguments, preload, out));
}

/* True if libgomp says in worker.log that it has no memory. It then ends the process with status 1. */
static bool libgomp_had_no_memory(const session_fixture *f)
{
    char *text;
    size_t size;
    if (pl_file_read(f->directory, "worker.log", 1 << 20, &text, &size) != PL_OK)
        return false;
    bool found = memmem(text, size, "libgomp: Out of memory", 22) != NULL;
    free(text);
    return found;
}

/* Checks exit.json, if it exists. `said`: the output of the worker. */
static void check_report(const session_fixture *f, int attempt, int status, const char *said,
                         const char *what)
{
    pl_exit e;
    if (pl_exit_read(f->directory, &e) != PL_OK || e.attempt < attempt) {
        /* 10: exit.json could not be written; others: the worker did not begin. */
        ck_assert_msg(status == 10 || status == 5 || status == 2 || status == 127 ||
                          (status == 1 && libgomp_had_no_memory(f)),
                      "%s: status %d without a report: %s", what, status, said);
        return;
    }
    if (status == 0) {
        ck_assert_str_eq(e.state, "succeeded");
        return;
    }
    ck_assert_msg(strcmp(e.state, "failed") == 0 && e.failure.code == PL_FAILURE_OUT_OF_MEMORY &&
                      *e.failure.message,
                  "%s: %s %d: %s", what, e.state, (int)e.failure.code, e.failure.message);
}

/* True if the first attempt succeeded. */
static bool check_at(const session_fixture *base, const session_fixture *wanted, const kind *k,
                     int64_t n, int64_t span)
{
    session_fixture f;
    char what[80], said[2000] = "";
    FILE *out = tmpfile();
    int attempt = k->again ? 2 : 1;
    copy_session(base, &f);
    arm(n, span);
    int status = run_preloaded(&f, attempt, out);
    arm(0, 0);
    rewind(out);
    said[fread(said, 1, sizeof said - 1, out)] = 0;
    fclose(out);
    snprintf(what, sizeof what, "kind %d, allocation %lld of %lld more", (int)(k - kinds),
             (long long)n, (long long)span);
    ck_assert_msg(status >= 0 && status < 128, "%s: status %d: %s", what, status, said);
    check_report(&f, attempt, status, said, what);
    if (status != 0)
        ck_assert_msg(session_fixture_run(&f, attempt + 1) == 0, "%s: status %d, and again: %s",
                      what, status, said);
    int64_t differs = session_compare(wanted, &f);
    ck_assert_msg(differs < 0, "%s: status %d: frame %lld differs", what, status,
                  (long long)differs);
    ck_assert_msg(session_compare_once(&f), "%s: a frame twice", what);
    session_fixture_destroy(&f);
    return status == 0;
}

/* Number of allocations of an undisturbed run, which goes to `wanted`. */
static int64_t count_allocations(const session_fixture *base, session_fixture *wanted,
                                 const kind *k)
{
    copy_session(base, wanted);
    arm(MANY, 1);
    ck_assert_int_eq(run_preloaded(wanted, k->again ? 2 : 1, NULL), 0);
    int64_t count = MANY - atomic_load(&memory[0]);
    arm(0, 0);
    return count;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

START_TEST(test_each)
{
    const kind *k = &kinds[_i];
    session_fixture base, wanted;
    int64_t good = 0, bad = 0;
    if (sanitized)
        skip_test("worker_memory: test_each: a sanitizer has an allocator of its own");
    make_base(&base, k);
    int64_t count = count_allocations(&base, &wanted, k);
    int64_t step = is_long_form() ? 1 : count / CHECKED;
    ck_assert_int_gt(count, 100);
    for (int64_t n = 1 + _i; n <= count; n += step) {
        bool succeeded = check_at(&base, &wanted, k, n, n % 4 == 3 ? MANY / 4 : 1);
        good += succeeded;
        bad += !succeeded;
    }
    ck_assert(bad > 0 && (good > 0 || !is_long_form()));
    session_fixture_destroy(&wanted);
    session_fixture_destroy(&base);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, is_long_form() ? 7200 : 180);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_loop_test(tests, test_each, 0, KINDS);
    return run_cases("memory of the worker", tests);
}
