/* Running sessions with a range of cores: they take idle cores, give them back when another session waits, still have
 * the same bits, and keep their cores over a restart of the daemon. */
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static daemon_fixture fixture;
static daemon_fixture *d = &fixture;

static void start(void)
{
    daemon_fixture_start(d, NULL);
}

static void stop(void)
{
    daemon_fixture_stop(d);
}

/* Of 3,456 tetrahedra, so that a second thread has work. */
static void post_wide(int64_t steps, const char *cores, char id[33])
{
    char scene[600];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %lld},"
             " \"solver\": {\"iterations\": 5, \"tolerance\": 0},"
             " \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"box\": {\"size\": [4, 1, 1],"
             " \"cells\": [16, 6, 6]}}}],"
             " \"pins\": [{\"select\": {\"side\": \"-x\"}}], \"resources\": {\"cores\": %s}}",
             (long long)steps, cores);
    session_post(d, scene, id);
}

static int64_t frame_of(const char *id)
{
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    return frame;
}

static void await_cores(const char *id, int64_t cores)
{
    int64_t has = -1;
    for (int i = 0; i < 12000 && has != cores; i++) {
        json_t *session = session_show(d, id);
        has = json_count(session, "resources/cores");
        json_decref(session);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    ck_assert_int_eq(has, cores);
}

static int count_in_log(const char *id, const char *text)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/log", id);
    int count = 0;
    for (const char *at = r->body; (at = strstr(at, text)); at += strlen(text))
        count++;
    http_reply_free(r);
    return count;
}

static void await_in_log(const char *id, const char *text)
{
    for (int i = 0; i < 12000 && count_in_log(id, text) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_msg(count_in_log(id, text) == 1, "'%s' is not in the log once", text);
}

START_TEST(test_the_same_bits)
{
    char wide[33], other[33], narrow[33];
    session_post_free(d, session_scene_endless(""), other);
    session_await(d, other, "running");
    post_wide(10000000, "\"1-2\"", wide);
    session_await_frame(d, wide, 5);
    await_cores(wide, 1);
    session_tell(d, other, "cancel");
    await_cores(wide, 2);
    await_in_log(wide, "2 threads from step");
    session_await_frame(d, wide, frame_of(wide) + 5);
    session_post_free(d, session_scene_endless(""), other);
    session_await(d, other, "running");
    await_cores(wide, 1);
    await_in_log(wide, "1 threads from step");
    session_await_frame(d, wide, frame_of(wide) + 5);
    session_tell(d, wide, "cancel");
    session_await(d, wide, "cancelled");
    session_tell(d, other, "cancel");
    int64_t last = frame_of(wide);
    post_wide(last, "1", narrow);
    session_await(d, narrow, "succeeded");
    ck_assert(session_same_frame(d, wide, last, narrow, last));
    ck_assert(session_same_frame(d, wide, last / 2, narrow, last / 2));
}
END_TEST

/* A daemon that is killed does not know its sessions' cores by its database. */
START_TEST(test_restart)
{
    char wide[33], first[33], next[33];
    session_post_free(d, session_scene_endless(""), first);
    session_await(d, first, "running");
    post_wide(10000000, "\"1-2\"", wide);
    session_await_frame(d, wide, 1);
    session_tell(d, first, "cancel");
    await_in_log(wide, "2 threads from step");
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    session_await(d, wide, "running");
    session_await_frame(d, wide, frame_of(wide) + 5);
    ck_assert_int_eq(count_in_log(wide, "2 threads from step"), 1); /* it was not asked again */
    await_cores(wide, 2);
    ck_assert_int_eq(session_counter(d, "cores_used"), 2);
    session_post_free(d, session_scene(2, 1, ""), next);
    session_await(d, next, "succeeded");
    await_cores(wide, 2);
    session_tell(d, wide, "cancel");
}
END_TEST

/* A held bar of 6 x 36 x `length` tetrahedra. */
static void post_open(const char *prefer, int length, const char *resources, char id[33])
{
    char scene[600], headers[120];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [%d, 6, 6]}}}],"
             " \"resources\": {\"hold\": true%s}}",
             length, resources);
    snprintf(headers, sizeof headers, "Content-Type: application/json\r\nPrefer: %s\r\n", prefer);
    http_reply *r = http_call(d, "POST", "/v1/sessions", headers, scene, strlen(scene));
    http_expect(r, 201);
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    http_reply_free(r);
}

/* The range of cores of a checked session; NULL: none. */
static void expect_range(const char *id, const char *range)
{
    session_await(d, id, "paused");
    json_t *session = session_show(d, id);
    const char *has =
        json_string_value(json_object_get(json_object_get(session, "resources"), "range"));
    ck_assert_msg(has && range ? strcmp(has, range) == 0 : !has && !range, "%s, not %s",
                  has ? has : "none", range ? range : "none");
    json_decref(session);
}

/* A scene that does not say how many cores it wants has as many as pay: by its size, and of this daemon. */
START_TEST(test_as_many_as_pay)
{
    char id[33];
    post_open("wait=60", 42, "", id); /* 9,072 tetrahedra */
    expect_range(id, "1-2");
    http_reply *r = http_getf(d, "/v1/sessions/%s/scene?form=effective", id);
    ck_assert_str_eq(json_text(r->json, "resources/cores"), "1-2");
    http_reply_free(r);
    post_open("wait=60", 36, "", id);
    expect_range(id, NULL);
    post_open("wait=60", 80, "", id); /* enough for four */
    expect_range(id, "1-2");
    post_open("wait=60", 80, ", \"cores\": 1", id);
    expect_range(id, NULL);
    post_open("wait=60", 80, ", \"cores\": \"1-3\"", id);
    expect_range(id, "1-3");
    post_open("wait=0", 80, "", id); /* the reply came before the check */
    expect_range(id, "1-2");
}
END_TEST

/* A worker's CPUs according to the kernel: of its first thread, and whether all threads have the same. */
static void worker_cpus(pid_t worker, char out[64])
{
    char path[64], line[256], list[64];
    DIR *tasks;
    out[0] = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)worker);
    ck_assert_ptr_nonnull(tasks = opendir(path));
    for (struct dirent *e; (e = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.10s/status", (int)worker, e->d_name);
        FILE *file = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "Cpus_allowed_list: %63s", list) == 1) {
                bool same = !out[0] || strcmp(out, list) == 0;
                snprintf(out, 64, "%s", same ? list : "mixed");
            }
        if (file)
            fclose(file);
    }
    closedir(tasks);
}

static int count_cpus(const char *list)
{
    int count = 0, first, last;
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        int numbers = sscanf(at, "%d-%d", &first, &last);
        count += numbers == 2 ? last - first + 1 : numbers == 1;
    }
    return count;
}

/* The session eventually reports what the kernel has: a set of so many CPUs, copied to `out`. */
static void await_cpus(const char *id, int count, char out[64])
{
    pid_t worker = daemon_fixture_await_worker(id);
    char has[64] = "", said[64] = "";
    for (int i = 0; i < 12000; i++) {
        json_t *session = session_show(d, id);
        const char *text =
            json_string_value(json_object_get(json_object_get(session, "resources"), "cpus"));
        snprintf(said, sizeof said, "%s", text ? text : "");
        json_decref(session);
        worker_cpus(worker, has);
        if (strcmp(has, said) == 0 && count_cpus(has) == count) {
            snprintf(out, 64, "%s", has);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    ck_abort_msg("it has CPUs %s, and says %s; they are to be %d", has, said, count);
}

/* Each worker has CPUs of its own, also after its cores have changed and under the next daemon. */
START_TEST(test_pinning)
{
    char wide[33], other[33], both[64], a[64], b[64], again[64];
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip_test("pinning: the machine has one CPU");
    daemon_fixture_stop(d);
    daemon_fixture_pin();
    daemon_fixture_start(d, NULL);
    post_wide(10000000, "\"1-2\"", wide);
    await_cpus(wide, 2, both);
    session_post_free(d, session_scene_endless(""), other);
    await_cpus(other, 1, a);
    await_cpus(wide, 1, b);
    ck_assert_str_ne(a, b);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0); /* it leaves them */
    daemon_fixture_resume(d);
    session_await(d, wide, "running");
    await_cpus(wide, 1, again);
    ck_assert_str_eq(b, again);
    await_cpus(other, 1, again);
    ck_assert_str_eq(a, again);
    session_tell(d, other, "cancel");
    await_cpus(wide, 2, again);
    ck_assert_str_eq(both, again);
    session_tell(d, wide, "cancel");
}
END_TEST

/* Two sessions that may have both cores share them. */
START_TEST(test_shared_evenly)
{
    char a[33], b[33];
    post_wide(10000000, "\"1-2\"", a);
    session_await(d, a, "running");
    await_cores(a, 2);
    post_wide(10000000, "\"1-2\"", b);
    session_await(d, b, "running");
    await_cores(a, 1);
    await_cores(b, 1);
    session_tell(d, a, "cancel");
    await_cores(b, 2);
    session_tell(d, b, "cancel");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("elastic");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_the_same_bits);
    tcase_add_test(cases, test_restart);
    tcase_add_test(cases, test_shared_evenly);
    tcase_add_test(cases, test_pinning);
    tcase_add_test(cases, test_as_many_as_pay);
    return run_cases("elastic", cases);
}
