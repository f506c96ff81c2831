/* The plug-in's memory, queues, transfers and recordings (engine/backends/cuda/memory_cuda.cu) on the stand-in for
 * CUDA's runtime (standin/standin.h): a session's requests give correct results however late streams run; and if a
 * runtime call fails, no number is wrong without a fault, and nothing is leaked. */
#include "engine/backends/device/bytes_kernels.h"
#include "engine/backends/device/device.h"
#include "engine/backends/device/joint.h"
#include "engine/backends/plugin.h"
#include "tests/gpu/standin/standin.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* memory_cuda.cu */
int32_t pl_cuda_find(pl_gpu *out, int32_t room, char *why, size_t why_size);
bool pl_cuda_select(const char *uuid, char *why, size_t why_size);

/* LARGE: more than goes through pinned memory at a time; SOME of SMALL fill that. */
enum { SMALL = 800, LARGE = 140000, TIMES = 20, SOME = 900 };

static pl_device_queue *q;
static char *a, *b, *c;

static void fill(char *bytes, size_t size, int with)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(with + (int)(i % 61));
}

static bool is_filled(const char *bytes, size_t size, int with)
{
    char wanted[LARGE];
    fill(wanted, size, with);
    return memcmp(bytes, wanted, size) == 0;
}

static void hold(const char *bytes, size_t size, int with)
{
    ck_assert_msg(is_filled(bytes, size, with), "not the bytes that were put there: %d, %d, %d",
                  bytes[0], bytes[size / 2], bytes[size - 1]);
}

static void hold_zeros(const char *bytes, size_t size)
{
    size_t i = 0;
    while (i < size && bytes[i] == 0)
        i++;
    ck_assert_msg(i == size, "no zero at %zu of %zu", i, size);
}

/* A kernel's launch. */
static void copy_by_kernel(void *to, const void *from, size_t bytes)
{
    const pl_bytes_arguments arguments = {to, from, (int64_t)bytes};
    pl_device_bytes_f32(q, &arguments, pl_bytes_threads(bytes));
}

static void choose(void)
{
    pl_gpu gpu;
    char why[256] = "";
    ck_assert_int_eq(pl_cuda_find(&gpu, 1, why, sizeof why), 1);
    ck_assert_msg(pl_cuda_select(gpu.uuid, why, sizeof why), "%s", why);
}

static void open_queue(void)
{
    choose();
    q = pl_device_queue_create(false);
    a = pl_device_alloc(q, LARGE);
    b = pl_device_alloc(q, LARGE);
    c = pl_device_alloc(q, LARGE);
    ck_assert_ptr_nonnull(c);
}

static void hold_nothing_left(void)
{
    standin_counts left = standin_count();
    ck_assert_int_eq(left.live_memory, 0);
    ck_assert_int_eq(left.live_pinned, 0);
    ck_assert_int_eq(left.live_streams, 0);
    ck_assert_int_eq(left.live_events, 0);
    ck_assert_int_eq(left.live_graphs, 0);
}

static void close_queue(void)
{
    pl_device_release(q, a);
    pl_device_release(q, b);
    pl_device_release(q, c);
    pl_device_queue_destroy(q);
    ck_assert_ptr_null(pl_device_fault());
    hold_nothing_left();
}

/* How eager streams are: never before they are waited for, now and then, always. */
static void be_eager(int row)
{
    static const int OF_64[] = {0, 8, 64};
    standin_eagerness(OF_64[row]);
}

START_TEST(new_memory_is_zero)
{
    char out[LARGE];
    be_eager(_i);
    for (int k = 0; k < TIMES; k++) {
        char *fresh = pl_device_alloc(q, LARGE);
        pl_device_get(q, out, fresh, LARGE);
        hold_zeros(out, LARGE);
        pl_device_release(q, fresh);
    }
}
END_TEST

/* Large and small ones, from memory that changes at once. */
START_TEST(what_is_put_has_been_read)
{
    char in[LARGE], out[LARGE];
    be_eager(_i);
    for (int k = 0; k < TIMES; k++) {
        fill(in, LARGE, k);
        pl_device_put(q, a, in, LARGE);
        fill(in, SMALL, 2 * k);
        pl_device_put(q, b, in, SMALL);
        fill(in, SMALL, 3 * k);
        pl_device_put(q, c, in, SMALL);
        memset(in, 'x', sizeof in);
        pl_device_get(q, out, a, LARGE);
        hold(out, LARGE, k);
        pl_device_get(q, out, b, SMALL);
        hold(out, SMALL, 2 * k);
        pl_device_get(q, out, c, SMALL);
        hold(out, SMALL, 3 * k);
    }
}
END_TEST

/* Many small ones in a row wait only when the pinned memory is full. */
START_TEST(small_uploads_follow_each_other)
{
    static char in[SMALL], out[SMALL];
    be_eager(_i);
    char *each = pl_device_alloc(q, SOME * SMALL);
    pl_device_get(q, out, each, SMALL);
    int64_t before = standin_count().waits;
    for (int k = 0; k < SOME; k++) {
        fill(in, SMALL, k);
        pl_device_put(q, each + k * SMALL, in, SMALL);
    }
    ck_assert_int_eq(standin_count().waits - before, 1);
    for (int k = 0; k < SOME; k += 20) {
        pl_device_get(q, out, each + k * SMALL, SMALL);
        hold(out, SMALL, k);
    }
    pl_device_release(q, each);
}
END_TEST

/* Uploads, copies, launches and clears happen in order. */
START_TEST(a_queue_keeps_its_order)
{
    char in[LARGE], out[LARGE];
    be_eager(_i);
    for (int k = 0; k < TIMES; k++) {
        size_t size = k % 2 ? SMALL : LARGE;
        fill(in, size, k);
        pl_device_put(q, a, in, size);
        pl_device_copy(q, b, a, size);
        pl_device_clear(q, a, size);
        copy_by_kernel(c, b, size);
        pl_device_clear(q, b, size);
        ck_assert(pl_device_launching(q));
        pl_device_get(q, out, c, size);
        ck_assert(!pl_device_launching(q));
        hold(out, size, k);
        pl_device_get(q, out, a, size);
        hold_zeros(out, size);
    }
}
END_TEST

/* Work launched earlier may still use memory being released. */
START_TEST(memory_is_released_when_nothing_uses_it)
{
    be_eager(_i);
    for (int k = 0; k < TIMES; k++) {
        char *fresh = pl_device_alloc(q, LARGE);
        copy_by_kernel(fresh, a, LARGE);
        pl_device_copy(q, b, fresh, LARGE);
        pl_device_release(q, fresh);
    }
    pl_device_release(NULL, NULL); /* something that was never created */
}
END_TEST

/* A transfer brings the values after earlier launches, while the queue continues. */
START_TEST(a_transfer_is_of_its_moment)
{
    char in[LARGE], out[LARGE];
    pl_device_transfer t = {0};
    ck_assert(pl_device_transfer_create(q, &t, LARGE));
    be_eager(_i);
    for (int k = 0; k < TIMES; k++) {
        fill(in, LARGE, k);
        pl_device_put(q, a, in, LARGE);
        copy_by_kernel(b, a, LARGE);
        pl_device_transfer_begin(&t, b, LARGE);
        pl_device_clear(q, a, LARGE);
        copy_by_kernel(c, a, LARGE);
        if (k % 2) {
            pl_device_get(q, out, c, SMALL);
            while (!pl_device_transfer_arrived(&t, false))
                continue;
        }
        ck_assert(pl_device_transfer_arrived(&t, true));
        hold(t.host, LARGE, k);
    }
    pl_device_transfer_begin(&t, b, LARGE);
    pl_device_transfer_destroy(&t); /* in flight */
}
END_TEST

static void record(pl_device_recording *r, const char *from, int copies)
{
    ck_assert(pl_device_record_begin(q));
    copy_by_kernel(b, from, SMALL);
    for (int k = 1; k < copies; k++)
        pl_device_copy(q, b, from, SMALL);
    pl_device_clear(q, b + SMALL, SMALL);
    ck_assert(pl_device_record_end(q, r));
}

/* A recording is run with the arguments of its last record, whether that is of like launches or of others. */
START_TEST(recordings_are_of_their_last_record)
{
    char in[SMALL], out[SMALL];
    pl_device_recording r = {0};
    be_eager(_i);
    copy_by_kernel(b, a, SMALL); /* no kernel is loaded in a recording */
    for (int k = 0; k < TIMES; k++) {
        char *from = k % 2 ? a : c;
        fill(in, SMALL, k);
        record(&r, from, 1 + k / 4 % 3);
        pl_device_put(q, from, in, SMALL);
        pl_device_replay(q, &r);
        pl_device_get(q, out, b, SMALL);
        hold(out, SMALL, k);
    }
    ck_assert_int_gt(standin_count().graph_updates, TIMES / 2);
    ck_assert_int_gt(standin_count().graph_instances, 1);
    ck_assert_ptr_null(pl_device_recording_error());
    pl_device_replay(q, &r);
    pl_device_forget(&r); /* while it may run */
    pl_device_get(q, out, b, SMALL);
    hold(out, SMALL, TIMES - 1);
}
END_TEST

/* A kernel that was never launched cannot be recorded: launches are plain ones from then on, and the device has no
 * fault. */
START_TEST(a_recording_may_fail)
{
    char in[SMALL], out[SMALL];
    pl_device_recording r = {0};
    fill(in, SMALL, 5);
    pl_device_put(q, a, in, SMALL);
    ck_assert(pl_device_record_begin(q));
    copy_by_kernel(b, a, SMALL);
    ck_assert(!pl_device_record_end(q, &r));
    ck_assert_ptr_nonnull(pl_device_recording_error());
    ck_assert(!pl_device_record_begin(q));
    copy_by_kernel(b, a, SMALL);
    pl_device_get(q, out, b, SMALL);
    hold(out, SMALL, 5);
}
END_TEST

/* Two queues have two streams each, and waiting for one does not wait for the other. */
START_TEST(queues_share_nothing)
{
    char out[SMALL];
    pl_device_queue *other = pl_device_queue_create(false);
    ck_assert_int_eq(standin_count().live_streams, 4);
    char *there = pl_device_alloc(other, SMALL);
    pl_device_get(other, out, there, SMALL);
    pl_device_get(q, out, a, SMALL);
    standin_eagerness(0);
    copy_by_kernel(a, b, SMALL);
    pl_device_get(other, out, there, SMALL);
    ck_assert(pl_device_launching(q) && !pl_device_launching(other));
    ck_assert_int_eq(standin_under_way(), 1);
    pl_device_release(other, there);
    pl_device_queue_destroy(other);
}
END_TEST

/* ---- threads ---- */

static void *use(void *context)
{
    char in[LARGE], *out = context;
    fill(in, LARGE, 7);
    pl_device_put(q, a, in, LARGE);
    copy_by_kernel(b, a, LARGE);
    pl_device_get(q, out, b, LARGE);
    return NULL;
}

/* A thread other than the queue's creator uses it, one thread at a time. */
START_TEST(any_thread_may_use_a_queue)
{
    static char out[LARGE];
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, use, out), 0);
    pthread_join(thread, NULL);
    ck_assert_msg(!pl_device_fault(), "%s", pl_device_fault());
    hold(out, LARGE, 7);
}
END_TEST

typedef struct sharer {
    pl_device_queue *queue;
    int with;
    size_t size;
    bool good;
} sharer;

static void *share(void *context)
{
    sharer *s = context;
    char in[SMALL], out[LARGE], *there = pl_device_alloc(s->queue, LARGE),
                                *elsewhere = pl_device_alloc(s->queue, SMALL);
    s->good = there && elsewhere;
    if (s->good) { /* small ones use a round trip, large ones the queue's own stream */
        fill(in, s->size, s->with);
        pl_device_put(s->queue, there, in, s->size);
        pl_device_get(s->queue, out, there, 1);
        pl_device_get(s->queue, out, there, LARGE);
        s->good = is_filled(out, s->size, s->with);
    }
    for (int k = 0; s->good && k < TIMES; k++) {
        fill(in, s->size, s->with + k);
        pl_device_put(s->queue, there, in, s->size);
        memset(in, 'x', SMALL);
        pl_device_copy(s->queue, elsewhere, there, s->size);
        pl_device_clear(s->queue, there, s->size);
        pl_device_get(s->queue, out, elsewhere, s->size);
        s->good = is_filled(out, s->size, s->with + k);
    }
    pl_device_release(s->queue, there);
    pl_device_release(s->queue, elsewhere);
    return NULL;
}

/* Queues that launch together: each has its own numbers, and its new memory is cleared before a round uses it. */
START_TEST(queues_launch_together)
{
    enum { SHARERS = 4 };
    sharer all[SHARERS];
    pthread_t threads[SHARERS];
    be_eager(_i);
    pl_device_share(true);
    for (int k = 0; k < SHARERS; k++)
        all[k] = (sharer){.queue = pl_device_queue_create(true),
                          .with = 9 * k,
                          .size = (size_t)(SMALL - 150 * k)};
    pl_joint_set_patience(20);
    for (int k = 0; k < SHARERS; k++)
        ck_assert_int_eq(pthread_create(&threads[k], NULL, share, &all[k]), 0);
    for (int k = 0; k < SHARERS; k++)
        pthread_join(threads[k], NULL);
    pl_shared_launches l = pl_device_shared();
    ck_assert_int_lt(l.made, l.asked);
    for (int k = 0; k < SHARERS; k++) {
        ck_assert_msg(all[k].good, "%d: %s", k, pl_device_fault() ? pl_device_fault() : "bytes");
        pl_device_queue_destroy(all[k].queue);
    }
    pl_device_share(false);
}
END_TEST

/* ---- devices ---- */

/* A query leaves no context, except on the chosen device, which is the one that fits. */
START_TEST(to_ask_takes_no_context)
{
    pl_gpu gpus[4];
    char why[256] = "";
    ck_assert_int_eq(pl_cuda_find(gpus, 4, why, sizeof why), 1);
    ck_assert_str_eq(gpus[0].name, "stand-in");
    ck_assert_int_eq(gpus[0].major, 9);
    ck_assert_int_eq(gpus[0].memory, (int64_t)standin_device_memory());
    ck_assert_int_eq(gpus[0].unused, gpus[0].memory);
    ck_assert_int_eq(standin_count().live_contexts, 0);
    open_queue();
    ck_assert_int_eq(standin_count().live_contexts, 1);
    ck_assert_int_eq(pl_cuda_find(gpus, 4, why, sizeof why), 1);
    ck_assert_int_eq(gpus[0].unused, gpus[0].memory - 3 * LARGE);
    ck_assert_int_eq(standin_count().live_contexts, 1);
    ck_assert(!pl_cuda_select("GPU-0", why, sizeof why));
    close_queue();
}
END_TEST

/* The driver's management library is asked if present, which creates no context; also for instances of cards. */
START_TEST(the_driver_s_library_is_asked)
{
    pl_gpu gpu;
    char why[256] = "", path[PATH_MAX];
    const char *build = getenv("PLIANT_BUILD");
    snprintf(path, sizeof path, "%s/standin/libnvidia-ml.so.1", build ? build : "build");
    ck_assert_msg(dlopen(path, RTLD_NOW) != NULL, "%s", path);
    if (_i)
        setenv("PLIANT_FAKE_MIG", "1", 1);
    ck_assert_int_eq(pl_cuda_find(&gpu, 1, why, sizeof why), 1);
    ck_assert_int_eq(gpu.memory, 80000000000);
    ck_assert_int_eq(gpu.unused, 70000000000);
    ck_assert_int_eq(standin_count().contexts, 0);
}
END_TEST

START_TEST(no_device_is_an_answer)
{
    pl_gpu gpu;
    char why[256] = "";
    static const char *const HOW[] = {"any 1 none", "any 1 driver"},
                             *const WHY[] = {"no CUDA-capable device is detected",
                                             "driver version is insufficient"};
    setenv("PLIANT_STANDIN_FAIL", HOW[_i], 1);
    ck_assert_int_eq(pl_cuda_find(&gpu, 1, why, sizeof why), 0);
    ck_assert_msg(strncmp(why, "no device, because ", 19) == 0 && strstr(why, WHY[_i]), "%s", why);
    ck_assert(!pl_cuda_select("", why, sizeof why));
    ck_assert_ptr_null(pl_device_fault());
}
END_TEST

/* ---- calls that fail ---- */

/* Out of memory on the device or the host: the request fails, and everything else continues. */
START_TEST(no_memory_is_an_answer)
{
    pl_device_transfer t = {0};
    standin_fail("cudaMalloc", 1, cudaErrorMemoryAllocation);
    ck_assert_ptr_null(pl_device_alloc(q, SMALL));
    standin_fail("cudaMallocHost", 1, cudaErrorMemoryAllocation);
    ck_assert(!pl_device_transfer_create(q, &t, SMALL));
    pl_device_transfer_destroy(&t);
    standin_fail("cudaMallocHost", 1, cudaErrorMemoryAllocation);
    ck_assert_ptr_null(pl_device_queue_create(false));
    standin_fail_none();
    ck_assert_ptr_null(pl_device_alloc(q, standin_device_memory()));
    ck_assert_ptr_null(pl_device_fault());
    ck_assert_int_eq(cudaGetLastError(), cudaSuccess);
}
END_TEST

/* A short session; false if a resource was reported as unavailable. Ends the program if a number is wrong without a
 * fault. */
static bool live(void)
{
    char in[LARGE], out[LARGE];
    pl_device_transfer t = {0};
    pl_device_recording r = {0};
    q = pl_device_queue_create(false);
    a = q ? pl_device_alloc(q, LARGE) : NULL;
    b = q ? pl_device_alloc(q, LARGE) : NULL;
    bool good = a && b && pl_device_transfer_create(q, &t, LARGE);
    if (good) {
        fill(in, LARGE, 3);
        pl_device_put(q, a, in, LARGE);
        pl_device_put(q, a, in, SMALL);
        copy_by_kernel(b, a, LARGE);
        pl_device_transfer_begin(&t, b, LARGE);
        if (pl_device_record_begin(q)) {
            copy_by_kernel(b, a, SMALL);
            good = pl_device_record_end(q, &r);
        }
        if (r.list)
            pl_device_replay(q, &r);
        pl_device_copy(q, a, b, LARGE);
        pl_device_get(q, out, a, LARGE);
        good = is_filled(out, LARGE, 3);
        while (!pl_device_transfer_arrived(&t, false))
            continue;
        good = is_filled(t.host, LARGE, 3) && good;
        pl_device_get(q, out, b, SMALL);
        good = is_filled(out, SMALL, 3) && good;
        if (!good && !pl_device_fault())
            _exit(2);
    }
    pl_device_forget(&r);
    if (q && t.queue)
        pl_device_transfer_destroy(&t);
    pl_device_release(q, a);
    pl_device_release(q, b);
    pl_device_queue_destroy(q);
    return good;
}

/* After a call failed that was no fault of the device: nothing is left, and the next session has all it asks for. It
 * may first report that releasing something failed. */
static bool leaves_all_well(bool good)
{
    standin_counts left_over = standin_count();
    bool left = left_over.live_memory + left_over.live_pinned + left_over.live_streams +
                left_over.live_events + left_over.live_graphs;
    return !left && (live() || (good && pl_device_fault()));
}

/* In a process of its own, in which the n-th call fails. */
static int status_of_life(int64_t n, cudaError_t code)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        choose();
        if (!live()) /* whose kernels are loaded */
            _exit(7);
        standin_fail(NULL, n, code);
        bool good = live(), came = standin_calls() >= n;
        standin_fail_none();
        if (code == cudaErrorLaunchFailure) /* noticed now or by the next */
            _exit(!came || pl_device_fault() || (!live() && pl_device_fault()) ? came : 6);
        _exit(pl_device_fault() ? 1 : leaves_all_well(good) ? !good : 3);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Streams' threads do not live on in a child: everything happens there. */
START_TEST(each_call_may_fail)
{
    static const cudaError_t CODES[] = {cudaErrorMemoryAllocation, cudaErrorInvalidValue,
                                        cudaErrorLaunchFailure};
    int64_t calls = 80;
    int seen[2] = {0};
    for (int64_t n = 1; n <= calls; n++) {
        int status = status_of_life(n, CODES[_i]);
        ck_assert_msg(status == 0 || status == 1, "call %lld of %lld fails: %d", (long long)n,
                      (long long)calls, status);
        seen[status]++;
    }
    ck_assert_int_gt(seen[1], 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_memory");
    TCase *t = tcase_create("memory");
    tcase_add_checked_fixture(t, open_queue, close_queue);
    tcase_add_loop_test(t, new_memory_is_zero, 0, 3);
    tcase_add_loop_test(t, what_is_put_has_been_read, 0, 3);
    tcase_add_loop_test(t, small_uploads_follow_each_other, 0, 3);
    tcase_add_loop_test(t, a_queue_keeps_its_order, 0, 3);
    tcase_add_loop_test(t, memory_is_released_when_nothing_uses_it, 0, 3);
    tcase_add_loop_test(t, a_transfer_is_of_its_moment, 0, 3);
    tcase_add_loop_test(t, recordings_are_of_their_last_record, 0, 3);
    tcase_add_test(t, a_recording_may_fail);
    tcase_add_test(t, queues_share_nothing);
    tcase_add_test(t, no_memory_is_an_answer);
    tcase_add_test(t, any_thread_may_use_a_queue);
    tcase_add_loop_test(t, queues_launch_together, 0, 3);
    suite_add_tcase(suite, t);
    t = tcase_create("devices");
    tcase_add_test(t, to_ask_takes_no_context);
    tcase_add_loop_test(t, the_driver_s_library_is_asked, 0, 2);
    tcase_add_loop_test(t, no_device_is_an_answer, 0, 2);
    tcase_add_loop_test(t, each_call_may_fail, 0, 3);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
