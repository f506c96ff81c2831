/* Sessions on a GPU through the daemon, with a plug-in whose only device is the host, with 1 GiB: they run there, its
 * memory is shared out and kept over a restart, and without a device they are rejected with the reason. */
#include "protocol/log/record.h"
#include "tests/support/emulated_plugin.h"
#include "tests/support/long_form.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char UUID[] = "GPU-emulated";

enum { CONTEXT = 512 << 20 }; /* bytes that a driver takes for a process */

static const char *patience = "10";

static void start_with(const char *gpus)
{
    static const char *options[10];
    const char *const wanted[] = {"--cores", "4",          "--gpu-plugin", plugin, "--gpus",
                                  gpus,      "--patience", patience,       NULL};
    memcpy(options, wanted, sizeof wanted);
    daemon_fixture_start(d, options);
}

static void start(void)
{
    find_plugin();
    start_with("auto");
}

/* A box of as many cells along each edge; `more`: other members of the scene. */
static char *scene_with(int cells, const char *device, int64_t steps, const char *more)
{
    char *text;
    ck_assert_int_ge(
        asprintf(
            &text,
            "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld}, \"solver\": "
            "{\"method\": \"chebyshev_descent\", \"iterations\": 40, \"tolerance\": 0, "
            "\"device\": \"%s\"%s}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [%d, %d, %d]}}"
            "}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]%s}",
            (long long)steps, device,
            strcmp(device, "gpu") == 0 ? ", \"precision\": \"double\"" : "", cells, cells, cells,
            more),
        0);
    return text;
}

static char *scene_of(int cells, const char *device, int64_t steps)
{
    return scene_with(cells, device, steps, "");
}

/* Needs some 540 MB of a GPU, of which a driver's context is 537. */
static char *scene(const char *device, int64_t steps)
{
    return scene_of(4, device, steps);
}

enum { ENDLESS = 1000000 };

static void post(const char *device, int64_t steps, char id[33])
{
    session_post_free(d, scene(device, steps), id);
}

/* A number of the GPU in GET /v1/devices. */
static int64_t of_gpu(const char *member)
{
    http_reply *r = http_get(d, "/v1/devices");
    http_expect(r, 200);
    char path[64];
    ck_assert_str_eq(json_text(r->json, "items/1/device"), UUID);
    snprintf(path, sizeof path, "items/1/%s", member);
    int64_t value = json_count(r->json, path);
    http_reply_free(r);
    return value;
}

/* Wait until it waits for a GPU. */
static void await_reason(const char *id)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        bool waits = strcmp(json_text(session, "state"), "queued") == 0 &&
                     strstr(json_text(session, "queue/reason"), "of a GPU's memory");
        json_decref(session);
        if (waits)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "session %s does not wait for a GPU", id);
    }
}

/* float32 positions of the last frame, of 125 vertices. */
enum { COORDINATES = 3 * 125 };
static void read_frame(const char *id, float x[COORDINATES])
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/frames/latest", id);
    pl_record record;
    http_expect(r, 200);
    ck_assert_int_eq(pl_record_decode((const unsigned char *)r->body, r->length, &record),
                     PL_RECORD_GOOD);
    ck_assert_uint_eq(record.length, 32 + COORDINATES * sizeof *x);
    memcpy(x, r->body + PL_RECORD_HEADER + 32, COORDINATES * sizeof *x);
    http_reply_free(r);
}

START_TEST(sessions_run_on_a_gpu)
{
    char gpu[33], cpu[33];
    post("gpu", 10, gpu);
    session_await(d, gpu, "succeeded");
    json_t *session = session_show(d, gpu);
    ck_assert_str_eq(json_text(session, "resources/gpu"), UUID);
    ck_assert_int_gt(json_count(session, "resources/gpu_memory"), 500 << 20);
    json_decref(session);
    post("cpu", 10, cpu);
    session_await(d, cpu, "succeeded");
    float x[COORDINATES], y[COORDINATES], most = 0;
    read_frame(gpu, x);
    read_frame(cpu, y);
    for (int i = 0; i < COORDINATES; i++)
        most = fmaxf(most, fabsf(x[i] - y[i]));
    ck_assert_double_le(most, 1e-6);
    http_reply *r = http_get(d, "/v1/capabilities");
    ck_assert_str_eq(json_text(r->json, "devices/1/uuid"), UUID);
    http_reply_free(r);
    ck_assert_int_eq(of_gpu("sessions"), 0);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
}
END_TEST

/* A second one waits, those that want no GPU go past it, and it goes on when the first has ended: also where
 * a new daemon has taken the first one over. */
START_TEST(memory_is_shared_out)
{
    char first[33], second[33], other[33];
    post("gpu", ENDLESS, first);
    session_await_frame(d, first, 1);
    post("gpu", ENDLESS, second);
    await_reason(second);
    post("cpu", 3, other);
    session_await(d, other, "succeeded");
    ck_assert_int_eq(of_gpu("sessions"), 1);
    int64_t used = of_gpu("memory_used");
    ck_assert_int_gt(used, 500 << 20);
    http_reply *page = http_get(d, "/metrics");
    ck_assert_ptr_nonnull(strstr(page->body, "pliant_gpu_sessions{uuid=\"GPU-emulated\"} 1\n"));
    http_reply_free(page);

    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    await_reason(second);
    ck_assert_int_eq(of_gpu("sessions"), 1);
    ck_assert_int_eq(of_gpu("memory_used"), used);

    session_tell(d, first, "cancel");
    session_await(d, first, "cancelled");
    session_await_frame(d, second, 1);
    ck_assert_int_eq(of_gpu("sessions"), 1);
}
END_TEST

/* A preemptible session gives its GPU to another, goes on from its checkpoint and ends with the same bits. */
START_TEST(it_is_given_to_another)
{
    enum { STEPS = 150 };
    static const char preemptible[] = ", \"resources\": {\"preemptible\": true}";
    char yielding[33], urgent[33];
    session_post_free(d, scene_with(4, "gpu", STEPS, preemptible), yielding);
    session_await_frame(d, yielding, 5);
    post("gpu", 2, urgent);
    session_check_preempted(d, yielding, urgent, scene("gpu", STEPS), STEPS);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
}
END_TEST

static void set_drained(bool drained)
{
    http_reply *r = http_post(
        d, drained ? "/v1/devices/GPU-emulated/drain" : "/v1/devices/GPU-emulated/resume", NULL);
    http_expect(r, 202);
    http_reply_free(r);
}

/* As many that have no end, in one worker, with a frame each. */
static void start_together(char (*ids)[33], int count)
{
    set_drained(true);
    for (int i = 0; i < count; i++)
        session_post_free(d, scene_of(2, "gpu", ENDLESS), ids[i]);
    set_drained(false);
    for (int i = 0; i < count; i++)
        session_await_frame(d, ids[i], 1);
}

/* Those that wait together run in one process, with one context in 1 GiB; each ends for itself, also under a new
 * daemon. */
START_TEST(small_sessions_share_a_worker)
{
    enum { MANY = 4 };
    char ids[MANY][33], single[33];
    set_drained(true);
    for (int i = 0; i < MANY; i++)
        session_post_free(d, scene_of(2, "gpu", i == 0 ? 20 : ENDLESS), ids[i]);
    int64_t before = session_counter(d, "workers_started_total");
    set_drained(false);
    for (int i = 1; i < MANY; i++)
        session_await_frame(d, ids[i], 1);
    ck_assert_int_eq(session_counter(d, "workers_started_total"), before + 1);
    session_await(d, ids[0], "succeeded");
    ck_assert_int_eq(of_gpu("sessions"), MANY - 1);
    int64_t used = of_gpu("memory_used");
    ck_assert_int_gt(used, CONTEXT);
    ck_assert_int_lt(used, 600 << 20);

    session_tell(d, ids[1], "pause");
    session_await(d, ids[1], "paused");
    session_tell(d, ids[2], "cancel");
    session_await(d, ids[2], "cancelled");
    json_t *session = session_show(d, ids[3]);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    session_await_frame(d, ids[3], frame + 3);

    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    session_await_frame(d, ids[3], frame + 6);
    ck_assert_int_eq(of_gpu("sessions"), 1);
    char target[64];
    snprintf(target, sizeof target, "/v1/sessions/%s", ids[3]);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    http_expect(r, 202);
    http_reply_free(r);
    session_await_gone(d, ids[3]);
    session_tell(d, ids[1], "resume");
    session_await_frame(d, ids[1], 2);
    session_tell(d, ids[1], "cancel");
    session_await(d, ids[1], "cancelled");
    ck_assert_int_eq(of_gpu("sessions"), 0);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    session_run(d, scene_of(2, "gpu", 3), single);
}
END_TEST

/* The worker's core is used once, the GPU by each session. */
START_TEST(a_shared_worker_is_used_once)
{
    enum { MANY = 3 };
    char ids[MANY][33];
    start_together(ids, MANY);
    session_await_frame(d, ids[0], 40);
    for (int i = 0; i < MANY; i++)
        session_tell(d, ids[i], "cancel");
    for (int i = 0; i < MANY; i++)
        session_await(d, ids[i], "cancelled");
    while (session_counter(d, "cores_used") > 0)
        daemon_fixture_nap();
    http_reply *r = http_get(d, "/v1/usage?by=user");
    http_expect(r, 200);
    double cores = json_number_value(json_at(r->json, "items/0/core_seconds"));
    double gpus = json_number_value(json_at(r->json, "items/0/gpu_seconds"));
    ck_assert_int_eq(json_count(r->json, "items/0/runs"), MANY);
    ck_assert_double_gt(cores, 0);
    ck_assert_double_gt(gpus, 2 * cores);
    ck_assert_double_lt(gpus, 4 * cores);
    http_reply_free(r);
    r = http_get(d, "/v1/usage/spans");
    ck_assert_str_eq(json_text(r->json, "devices/0/uuid"), UUID);
    int there = 0;
    for (size_t i = 0; i < json_array_size(json_at(r->json, "items")); i++) {
        const json_t *span = json_array_get(json_at(r->json, "items"), i);
        there += strcmp(json_text(span, "gpu"), UUID) == 0;
    }
    ck_assert_int_eq(there, MANY);
    http_reply_free(r);
}
END_TEST

/* 24 MB of its own are too many: what waits with it needs another context, for which there is no room. */
START_TEST(a_larger_one_shares_with_nobody)
{
    char large[33], small[33];
    set_drained(true);
    session_post_free(d, scene_of(20, "gpu", ENDLESS), large);
    session_post_free(d, scene_of(2, "gpu", 3), small);
    set_drained(false);
    session_await(d, large, "running");
    await_reason(small);
    session_tell(d, large, "cancel");
    session_await(d, large, "cancelled");
    session_await(d, small, "succeeded");
}
END_TEST

/* All that still run under a new daemon are counted with one context, and the cores of one, until the last of them
 * has ended. */
START_TEST(a_new_daemon_takes_all_over)
{
    enum { MANY = 3 };
    char ids[MANY][33];
    start_together(ids, MANY);
    int64_t used = of_gpu("memory_used");
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    ck_assert_int_eq(of_gpu("sessions"), MANY);
    ck_assert_int_eq(of_gpu("memory_used"), used);
    ck_assert_int_eq(session_counter(d, "cores_used"), 1);
    session_tell(d, ids[0], "cancel");
    session_await(d, ids[0], "cancelled");
    for (int i = 1; i < MANY; i++) {
        ck_assert_int_gt(of_gpu("memory_used"), CONTEXT);
        ck_assert_int_eq(session_counter(d, "cores_used"), 1);
        json_t *session = session_show(d, ids[i]);
        ck_assert_str_eq(json_text(session, "state"), "running");
        session_await_frame(d, ids[i], json_count(session, "progress/frame") + 3);
        json_decref(session);
        session_tell(d, ids[i], "cancel");
        session_await(d, ids[i], "cancelled");
    }
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    ck_assert_int_eq(session_counter(d, "cores_used"), 0);
}
END_TEST

START_TEST(a_drained_gpu_starts_nothing)
{
    char id[33];
    http_reply *r = http_post(d, "/v1/devices/GPU-emulated/drain", NULL);
    http_expect(r, 202);
    http_reply_free(r);
    post("gpu", 3, id);
    await_reason(id);
    r = http_post(d, "/v1/devices/GPU-emulated/resume", NULL);
    http_expect(r, 202);
    http_reply_free(r);
    session_await(d, id, "succeeded");
    r = http_post(d, "/v1/devices/GPU-other/drain", NULL);
    http_problem(r, 404, "no_such_device");
    http_reply_free(r);
}
END_TEST

/* What others have taken, of 2 GiB. */
static void take(const char *bytes)
{
    char path[PATH_MAX + 8], next[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s.taken", plugin);
    snprintf(next, sizeof next, "%s.next", path);
    FILE *file = fopen(next, "we");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s 2147483648\n", bytes);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(rename(next, path), 0);
}

/* Memory that strangers take is none to give away, not even while what was promised to a session is not
 * taken yet; and is once they let go of it. */
START_TEST(strangers_are_seen)
{
    char folder[] = "/tmp/pliant-gpu-XXXXXX", first[33], second[33], real[PATH_MAX];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    find_plugin();
    memcpy(real, plugin, sizeof real);
    snprintf(plugin, sizeof plugin, "%s/plugin.so", folder);
    ck_assert_int_eq(symlink(real, plugin), 0);
    take("1200000000");
    start_with("auto");
    ck_assert_int_eq(of_gpu("memory_others"), 1200000000);
    post("gpu", ENDLESS, first);
    session_await_frame(d, first, 1);
    post("gpu", ENDLESS, second);
    await_reason(second);
    take("1200000001");
    while (of_gpu("memory_others") == 1200000000)
        daemon_fixture_nap();
    ck_assert_int_eq(of_gpu("memory_others"), 1200000001);
    await_reason(second);
    take("0");
    session_await_frame(d, second, 1);
    ck_assert_int_eq(of_gpu("sessions"), 2);
    stop_daemon();
    const char *const files[] = {"plugin.so", "plugin.so.taken"};
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* A GPU that fails is no failure of the scene: the session goes on from its checkpoint, and one that makes it fail
 * again and again ends as one that crashes. */
START_TEST(a_fault_of_the_gpu_is_a_crash)
{
    char id[33];
    find_plugin();
    setenv("PLIANT_EMULATED", "fault 125 400", 1);
    start_with("auto");
    unsetenv("PLIANT_EMULATED");
    post("gpu", ENDLESS, id);
    session_await(d, id, "failed");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "reason"), "worker_crashed");
    ck_assert_ptr_nonnull(
        strstr(json_text(session, "failure/message"), "the GPU failed: a kernel"));
    ck_assert_int_eq(json_count(session, "attempt"), 4);
    json_decref(session);
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), 4);
    post("cpu", 3, id);
    session_await(d, id, "succeeded");
    stop_daemon();
}
END_TEST

/* Wait until one of these has begun that attempt; its place among them. */
static int await_attempt(char (*ids)[33], int count, int64_t attempt)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        for (int i = 0; i < count; i++) {
            json_t *session = session_show(d, ids[i]);
            int64_t now = json_count(session, "attempt");
            bool runs = strcmp(json_text(session, "state"), "running") == 0;
            json_decref(session);
            if (runs && now >= attempt)
                return i;
        }
        ck_assert_msg(daemon_fixture_clock() < end, "no session has a new attempt");
    }
}

/* Three that share a worker, which is killed, or does not react when one of them is to end: the others go on from
 * their checkpoints, after a crash or without. */
START_TEST(a_shared_worker_that_is_killed_loses_nothing)
{
    enum { MANY = 3 };
    char ids[MANY][33];
    find_plugin();
    patience = "1";
    start_with("auto");
    start_together(ids, MANY);
    pid_t worker = daemon_fixture_worker(ids[0]);
    ck_assert_int_gt(worker, 0);
    ck_assert_int_eq(daemon_fixture_worker(ids[MANY - 1]), worker);
    if (_i == 0) {
        kill(worker, SIGKILL);
        while (session_counter(d, "workers_crashed_total") < MANY)
            daemon_fixture_nap();
        session_tell(d, ids[0], "cancel");
    } else {
        kill(worker, SIGSTOP);
        session_tell(d, ids[0], "cancel");
    }
    session_await(d, ids[0], "cancelled");
    for (int i = 1; i < MANY; i++) {
        /* Those that crashed are alone on the GPU, which has room for one context. */
        const char *id = ids[1 + await_attempt(ids + 1, MANY - 1, 2)];
        session_await_frame(d, id, 2);
        session_tell(d, id, "cancel");
        session_await(d, id, "cancelled");
    }
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), _i == 0 ? MANY : 0);
    ck_assert_int_eq(of_gpu("sessions"), 0);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    stop_daemon();
    patience = "10";
}
END_TEST

/* ---- as many as one worker takes ---- */

/* Of one kind they have the same frames; the four differ in size, method and precision. */
enum { KINDS = 4, OTHERS = 4, SHARE = 16, CROWD = OTHERS + SHARE + 1 };

static char *kind_of_scene(int kind, int64_t steps)
{
    static const char *const cells[] = {"2, 2, 2", "3, 2, 2", "2, 2, 4", "3, 2, 3"};
    char *text;
    ck_assert_int_ge(
        asprintf(&text,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld}, \"solver\": "
                 "{\"method\": \"%s\", \"iterations\": 3, \"tolerance\": 0, \"device\": \"gpu\", "
                 "\"precision\": \"%s\"}, \"output\": {\"precision\": \"double\"}, \"bodies\": "
                 "[{\"mesh\": {\"box\": {\"cells\": [%s]}}}], \"pins\": [{\"select\": {\"side\": "
                 "\"-x\"}}]}",
                 (long long)steps, kind % 2 ? "lbfgs" : "chebyshev_descent",
                 kind < 2 ? "single" : "double", cells[kind]),
        0);
    return text;
}

/* Four of another user's, then the owner's, which are one more than share a worker. All wait. */
static void post_crowd(char (*ids)[33], int64_t steps)
{
    char secret[TENANT_SECRET];
    tenant_user(d, "ada");
    tenant_token(d, "ada", "read submit", secret, NULL);
    for (int i = 0; i < CROWD; i++) {
        char *text = kind_of_scene(i % KINDS, steps);
        if (i < OTHERS) {
            http_reply *r = tenant_call(d, secret, "POST", "/v1/sessions", "Prefer: wait=60\r\n",
                                        text);
            http_expect(r, 201);
            strcpy(ids[i], json_text(r->json, "id"));
            http_reply_free(r);
        } else {
            session_post(d, text, ids[i]);
        }
        free(text);
    }
}

static session_fixture open_session(const char *id)
{
    session_fixture f;
    snprintf(f.path, sizeof f.path, "%s", session_path(d, id, ""));
    f.directory = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(f.directory, 0);
    return f;
}

/* To the bit, and the metrics but for the times. */
static void hold_frames(const char *id, const char *alone)
{
    session_fixture a = open_session(id), b = open_session(alone);
    int64_t differs = session_compare(&a, &b);
    ck_assert_msg(differs == -1, "session %s has another frame %lld than %s", id,
                  (long long)differs, alone);
    close(a.directory);
    close(b.directory);
}

typedef enum disturbance {
    DISTURBED_NOT,
    WORKER_KILLED,
    DAEMON_KILLED,
    BOTH_KILLED,
    HALF_CANCELLED,
    DISTURBANCES
} disturbance;

/* In the middle of those of one worker, of which `ids` are SHARE. */
static void disturb(char (*ids)[33], disturbance how)
{
    for (int i = 0; i < SHARE; i++)
        session_await_frame(d, ids[i], 2);
    pid_t worker = daemon_fixture_worker(ids[0]);
    ck_assert_int_gt(worker, 0);
    ck_assert_int_eq(daemon_fixture_worker(ids[SHARE - 1]), worker);
    if (how == DAEMON_KILLED || how == BOTH_KILLED)
        ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    if (how == WORKER_KILLED || how == BOTH_KILLED)
        kill(worker, SIGKILL);
    if (how == DAEMON_KILLED || how == BOTH_KILLED)
        daemon_fixture_resume(d);
    for (int i = 0; how == HALF_CANCELLED && i < SHARE; i += 2)
        session_tell(d, ids[i], "cancel");
}

/* Wait until all have ended, as long as one after another does: those that crashed are alone on the GPU, in any order. */
static void await_ends(int count)
{
    int64_t before = -1, now = 0;
    for (double end = 0; now < count; daemon_fixture_nap()) {
        now = session_counter(d, "sessions{state=\"succeeded\"}") +
              session_counter(d, "sessions{state=\"cancelled\"}");
        end = now > before ? daemon_fixture_clock() + HTTP_PATIENCE_S : end;
        before = now;
        ck_assert_msg(daemon_fixture_clock() < end, "%lld of %d have ended, and no more do",
                      (long long)now, count);
    }
}

/* Two owners' wait together: one worker for the four of one, one for sixteen of the other and one for what is left,
 * and all have the frames that they have alone; also where (in the long form) worker, daemon or both are killed or
 * half of them cancelled meanwhile. */
START_TEST(a_crowd_shares_workers)
{
    char alone[KINDS][33], ids[CROWD][33];
    int64_t steps = _i == DISTURBED_NOT ? 6 : 120;
    find_plugin();
    start_with("auto");
    for (int k = 0; k < KINDS; k++)
        session_run(d, kind_of_scene(k, steps), alone[k]);
    set_drained(true);
    post_crowd(ids, steps);
    int64_t before = session_counter(d, "workers_started_total");
    set_drained(false);
    if (_i != DISTURBED_NOT)
        disturb(ids + OTHERS, (disturbance)_i);
    await_ends(KINDS + CROWD);
    for (int i = 0; i < CROWD; i++) {
        bool cancelled = _i == HALF_CANCELLED && i >= OTHERS && i < OTHERS + SHARE &&
                         (i - OTHERS) % 2 == 0;
        session_await(d, ids[i], cancelled ? "cancelled" : "succeeded");
        if (!cancelled)
            hold_frames(ids[i], alone[i % KINDS]);
    }
    ck_assert(daemon_fixture_said(d, "4 sessions share a worker"));
    ck_assert(daemon_fixture_said(d, "16 sessions share a worker"));
    if (_i == DISTURBED_NOT || _i == HALF_CANCELLED)
        ck_assert_int_eq(session_counter(d, "workers_started_total"), before + 3);
    ck_assert_int_eq(of_gpu("sessions"), 0);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    ck_assert_int_eq(session_counter(d, "cores_used"), 0);
    stop_daemon();
}
END_TEST

/* Of several in one worker the one that makes the GPU fail runs alone from then on, until it ends as one that crashes;
 * the others go on from their checkpoints. */
START_TEST(who_makes_the_gpu_fail_runs_alone)
{
    enum { MANY = 4, CULPRIT = 1 };
    char ids[MANY][33];
    find_plugin();
    setenv("PLIANT_EMULATED", "fault 64 600", 1);
    start_with("auto");
    unsetenv("PLIANT_EMULATED");
    set_drained(true);
    for (int i = 0; i < MANY; i++)
        session_post_free(d, scene_of(i == CULPRIT ? 3 : 2, "gpu", i == CULPRIT ? ENDLESS : 300),
                          ids[i]);
    set_drained(false);
    session_await(d, ids[CULPRIT], "failed");
    json_t *session = session_show(d, ids[CULPRIT]);
    ck_assert_str_eq(json_text(session, "reason"), "worker_crashed");
    ck_assert_int_eq(json_count(session, "attempt"), 4);
    json_decref(session);
    for (int i = 0; i < MANY; i++)
        if (i != CULPRIT)
            session_await(d, ids[i], "succeeded");
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    stop_daemon();
}
END_TEST

/* What they hold on the GPU is free when their process has ended: with it the last of them ends, and not by its
 * exit.json, as the others do. */
START_TEST(the_last_ends_with_its_worker)
{
    enum { MANY = 3 };
    char ids[MANY][33];
    find_plugin();
    setenv("PLIANT_EMULATED", "linger 1200", 1);
    start_with("auto");
    unsetenv("PLIANT_EMULATED");
    start_together(ids, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_gt(daemon_fixture_worker(ids[i]), 0);
        session_tell(d, ids[i], "cancel");
        session_await(d, ids[i], "cancelled");
    }
    ck_assert_int_eq(daemon_fixture_worker(ids[0]), 0);
    ck_assert_int_eq(of_gpu("memory_used"), 0);
    stop_daemon();
}
END_TEST

/* Never the CPU in its place. */
START_TEST(without_a_gpu_it_is_refused)
{
    static const struct {
        const char *gpus, *reason;
    } rows[] = {{"none", "--gpus none"}, {"GPU-other,7", "names none of the existing GPUs"}};
    find_plugin();
    start_with(rows[_i].gpus);
    char *text = scene("gpu", 3);
    http_reply *r = http_post(d, "/v1/sessions", text);
    const json_t *fault = http_fault(http_problem(r, 422, "invalid_scene"), "/solver/device");
    ck_assert_str_eq(json_text(fault, "code"), "no_gpu");
    ck_assert_ptr_nonnull(strstr(json_text(fault, "got"), rows[_i].reason));
    http_reply_free(r);
    free(text);
    r = http_get(d, "/v1/devices");
    ck_assert_ptr_null(json_at(r->json, "items/1"));
    http_reply_free(r);
    stop_daemon();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpus");
    TCase *with = tcase_create("with a GPU"), *without = tcase_create("without"),
          *crowd = tcase_create("crowd");
    tcase_add_checked_fixture(with, start, stop_daemon);
    tcase_set_timeout(with, 180);
    tcase_set_timeout(without, 180);
    tcase_set_timeout(crowd, 600);
    tcase_add_test(with, sessions_run_on_a_gpu);
    tcase_add_test(with, memory_is_shared_out);
    tcase_add_test(with, it_is_given_to_another);
    tcase_add_test(with, small_sessions_share_a_worker);
    tcase_add_test(with, a_larger_one_shares_with_nobody);
    tcase_add_test(with, a_new_daemon_takes_all_over);
    tcase_add_test(with, a_shared_worker_is_used_once);
    tcase_add_test(with, a_drained_gpu_starts_nothing);
    tcase_add_test(without, strangers_are_seen);
    tcase_add_loop_test(without, a_shared_worker_that_is_killed_loses_nothing, 0, 2);
    tcase_add_loop_test(crowd, a_crowd_shares_workers, 0, is_long_form() ? DISTURBANCES : 1);
    tcase_add_test(without, the_last_ends_with_its_worker);
    tcase_add_test(without, who_makes_the_gpu_fail_runs_alone);
    tcase_add_test(without, a_fault_of_the_gpu_is_a_crash);
    tcase_add_loop_test(without, without_a_gpu_it_is_refused, 0, 2);
    suite_add_tcase(suite, with);
    suite_add_tcase(suite, without);
    suite_add_tcase(suite, crowd);
    return run_suite(suite);
}
