/* Capabilities, version, health, Prometheus, the API's description and the front page.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANONYMOUS "Authorization: none\r\n"

/* ---- capabilities ---- */

/* A parameter has a type, a description, and allowed values. */
static void check_parameter(const char *table, const char *key, const json_t *p,
                            const json_t *tables)
{
    const char *type = json_text(p, "type"), *below = json_text(p, "table");
    ck_assert_msg(*type && *json_text(p, "description"), "%s.%s", table, key);
    ck_assert_msg(json_is_boolean(json_at(p, "required")), "%s.%s", table, key);
    if (!json_is_true(json_at(p, "required")))
        ck_assert_msg(json_object_get(p, "default") || json_object_get(p, "default_text"),
                      "%s.%s has no default", table, key);
    if (strcmp(type, "number") == 0)
        ck_assert_msg(
            json_is_string(json_at(p, "unit")) &&
                (json_object_get(p, "minimum") || json_object_get(p, "exclusive_minimum")) &&
                json_object_get(p, "maximum"),
            "%s.%s has no unit or range", table, key);
    if (*below)
        ck_assert_msg(json_object_get(tables, below) != NULL, "%s.%s: %s", table, key, below);
}

START_TEST(test_capabilities)
{
    static const char *const lists[] = {"materials", "methods", "integrators", "devices",
                                        "exports"};
    static const char *const limits[] = {"body_bytes", "mesh_bytes", "sessions_queued", "cores"};
    http_reply *r = http_get(d, "/v1/capabilities");
    http_expect(r, 200);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ck_assert_msg(json_array_size(json_at(r->json, lists[i])) > 0, "%s", lists[i]);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        ck_assert_int_gt(json_count(json_at(r->json, "limits"), limits[i]), 0);
    ck_assert_str_eq(json_text(r->json, "materials/0"), "neo_hookean");
    ck_assert_str_eq(json_text(r->json, "methods/0"), "admm");
    ck_assert_str_eq(json_text(r->json, "integrators/0"), "backward_euler");
    ck_assert_str_eq(json_text(r->json, "devices/0/device"), "cpu");
    ck_assert_int_eq(json_count(r->json, "devices/0/cores"), 2);
    const json_t *tables = json_at(r->json, "parameters");
    const char *table, *key;
    json_t *parameters, *p;
    json_object_foreach((json_t *)tables, table, parameters)
    {
        json_object_foreach(parameters, key, p)
        {
            check_parameter(table, key, p, tables);
        }
    }
    ck_assert_double_eq(json_number_value(json_at(tables, "material/young/default")), 1e5);
    ck_assert_str_eq(json_text(tables, "material/young/unit"), "Pa");
    http_reply_free(r);
}
END_TEST

/* ---- without a token ---- */

START_TEST(test_public)
{
    static const struct {
        const char *path, *type, *says;
    } rows[] = {
        {"/v1/version", "application/json", "\"version\""},
        {"/healthz", "application/json", "ok"},
        {"/readyz", "application/json", "ready"},
        {"/metrics", "text/plain", "pliant_build_info"},
        {"/openapi.json", "application/json", "\"openapi\""},
        {"/", "text/html", "Pliant"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_reply *r = http_call(d, "GET", rows[i].path, ANONYMOUS, NULL, 0);
        http_expect(r, 200);
        ck_assert(strncmp(http_header(r, "Content-Type"), rows[i].type, strlen(rows[i].type)) == 0);
        ck_assert_ptr_nonnull(strstr(r->body, rows[i].says));
        ck_assert_str_eq(http_header(r, "Pliant-Version"), PLIANT_VERSION);
        ck_assert_str_eq(http_header(r, "X-Content-Type-Options"), "nosniff");
        http_reply *head = http_call(d, "HEAD", rows[i].path, ANONYMOUS, NULL, 0);
        http_expect(head, 200);
        ck_assert_uint_eq(head->length, 0);
        ck_assert_str_eq(http_header(head, "Content-Type"), http_header(r, "Content-Type"));
        http_reply_free(head);
        http_reply_free(r);
    }
}
END_TEST

START_TEST(test_version)
{
    http_reply *r = http_get(d, "/v1/version");
    ck_assert_str_eq(json_text(r->json, "name"), "pliant");
    ck_assert_str_eq(json_text(r->json, "version"), PLIANT_VERSION);
    http_reply_free(r);
}
END_TEST

/* ---- the description ---- */

static const struct {
    const char *method, *path;
} contract[] = {
    {"post", "/v1/sessions"},
    {"get", "/v1/sessions"},
    {"get", "/v1/sessions/{id}"},
    {"delete", "/v1/sessions/{id}"},
    {"post", "/v1/sessions/{id}/cancel"},
    {"get", "/v1/sessions/{id}/topology"},
    {"get", "/v1/sessions/{id}/frames/{k}"},
    {"get", "/v1/sessions/{id}/frames"},
    {"get", "/v1/sessions/{id}/metrics"},
    {"get", "/v1/sessions/{id}/scene"},
    {"get", "/v1/sessions/{id}/files"},
    {"get", "/v1/sessions/{id}/log"},
    {"post", "/v1/validate"},
    {"put", "/v1/meshes/{sha256}"},
    {"get", "/v1/meshes/{sha256}"},
    {"get", "/v1/capabilities"},
    {"get", "/v1/version"},
    {"get", "/healthz"},
    {"get", "/readyz"},
    {"get", "/metrics"},
    {"get", "/openapi.json"},
    {"get", "/"},
};
static const struct {
    const char *path, *key;
} queries[] = {
    {"/v1/sessions", "state"},
    {"/v1/sessions", "limit"},
    {"/v1/sessions", "cursor"},
    {"/v1/sessions/{id}", "wait"},
    {"/v1/sessions/{id}/topology", "array"},
    {"/v1/sessions/{id}/frames", "from"},
    {"/v1/sessions/{id}/frames", "follow"},
    {"/v1/sessions/{id}/metrics", "from"},
    {"/v1/sessions/{id}/metrics", "follow"},
    {"/v1/sessions/{id}/scene", "form"},
};

START_TEST(test_openapi)
{
    http_reply *r = http_get(d, "/openapi.json");
    const json_t *paths = json_object_get(r->json, "paths");
    ck_assert(strncmp(json_text(r->json, "openapi"), "3.", 2) == 0);
    ck_assert_str_eq(json_text(r->json, "info/version"), PLIANT_VERSION);
    for (size_t i = 0; i < sizeof contract / sizeof *contract; i++) {
        const json_t *operation = json_object_get(json_object_get(paths, contract[i].path),
                                                  contract[i].method);
        ck_assert_msg(json_is_object(operation), "%s %s", contract[i].method, contract[i].path);
        ck_assert_str_ne(json_text(operation, "summary"), "");
        ck_assert(json_is_object(json_at(operation, "responses")));
        bool open = strncmp(contract[i].path, "/v1/", 4) != 0 ||
                    strcmp(contract[i].path, "/v1/version") == 0;
        const json_t *security = json_at(operation, "security");
        bool may_be_open = json_array_size(security) == 0 ||
                           json_object_size(json_array_get(security, 0)) == 0;
        ck_assert_msg(may_be_open == open, "%s", contract[i].path);
    }
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const json_t *parameters =
            json_at(json_object_get(json_object_get(paths, queries[i].path), "get"), "parameters");
        bool found = false;
        for (size_t k = 0; k < json_array_size(parameters); k++)
            found |= strcmp(json_text(json_array_get(parameters, k), "name"), queries[i].key) == 0;
        ck_assert_msg(found, "%s?%s", queries[i].path, queries[i].key);
    }
    http_reply_free(r);
}
END_TEST

/* ---- Prometheus ---- */

/* name{label="value",...} number: returns the number, or fails the test. */
static double check_sample(const char *line)
{
    const char *at = line;
    ck_assert_msg(isalpha((unsigned char)*at) || *at == '_', "%s", line);
    at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
    if (*at == '{') {
        do {
            at++;
            size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
            ck_assert_msg(name > 0 && at[name] == '=' && at[name + 1] == '"', "%s", line);
            at = strchr(at + name + 2, '"');
            ck_assert_msg(at != NULL, "%s", line);
            at++;
        } while (*at == ',');
        ck_assert_msg(*at == '}', "%s", line);
        at++;
    }
    char *end;
    double value = strtod(at + 1, &end);
    ck_assert_msg(*at == ' ' && end > at + 1 && *end == 0, "%s", line);
    return value;
}

/* A series is its name with its labels, as on the page; -1 if missing. */
static double sample(const char *page, const char *series)
{
    size_t n = strlen(series);
    for (const char *at = page; (at = strstr(at, series)); at += n)
        if ((at == page || at[-1] == '\n') && at[n] == ' ')
            return strtod(at + n, NULL);
    return -1;
}

static char *metrics_page(void)
{
    http_reply *r = http_get(d, "/metrics");
    http_expect(r, 200);
    char *page = strdup(r->body);
    http_reply_free(r);
    return page;
}

/* Every line is a comment or a sample; every series has its type before it; none comes twice. */
START_TEST(test_prometheus_text)
{
    char *page = metrics_page(), *rest = page, type[128] = "";
    char *names = calloc(1, strlen(page) + 2);
    ck_assert_int_eq(page[strlen(page) - 1], '\n');
    for (char *line; (line = strsep(&rest, "\n")) && rest;) {
        if (strncmp(line, "# TYPE ", 7) == 0) {
            char kind[16];
            ck_assert_int_eq(sscanf(line, "# TYPE %120s %15s", type, kind), 2);
            ck_assert(strcmp(kind, "counter") == 0 || strcmp(kind, "gauge") == 0 ||
                      strcmp(kind, "histogram") == 0);
            ck_assert_int_eq(strcmp(kind, "counter") == 0,
                             strlen(type) > 6 && strcmp(type + strlen(type) - 6, "_total") == 0);
        } else if (line[0] != '#') {
            ck_assert_double_ge(check_sample(line), 0);
            ck_assert(strncmp(line, type, strlen(type)) == 0);
            char key[256];
            snprintf(key, sizeof key, "\n%.*s ", (int)(strrchr(line, ' ') - line), line);
            ck_assert_msg(strstr(names, key) == NULL, "twice: %s", key);
            strcat(names, key);
        } else {
            ck_assert_msg(strncmp(line, "# HELP ", 7) == 0, "%s", line);
        }
    }
    free(names);
    free(page);
}
END_TEST

/* Series are there from the start, at 0, and count. */
START_TEST(test_prometheus_series)
{
    static const char *const series[] = {
        "pliant_sessions{state=\"queued\"}",
        "pliant_sessions{state=\"running\"}",
        "pliant_sessions{state=\"succeeded\"}",
        "pliant_sessions{state=\"failed\"}",
        "pliant_sessions{state=\"cancelled\"}",
        "pliant_cores_used",
        "pliant_sessions_created_total",
        "pliant_sweeps_created_total",
        "pliant_fits_created_total",
        "pliant_sweep_runs_total",
        "pliant_sweep_runs_stopped_total",
        "pliant_streams",
        "pliant_streams_total",
        "pliant_stream_bytes_total",
        "pliant_workers_started_total",
        "pliant_workers_crashed_total",
        "pliant_preflights_total",
        "pliant_preflights_refused_total",
        "pliant_meshes_stored_total",
        "pliant_http_requests_total{method=\"POST\",route=\"/v1/sessions\",status=\"2xx\"}",
        "pliant_http_requests_total{method=\"POST\",route=\"/v1/sessions\",status=\"4xx\"}",
    };
    char *page = metrics_page(), id[33];
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        ck_assert_msg(sample(page, series[i]) == 0, "%s %g", series[i], sample(page, series[i]));
    ck_assert_double_eq(sample(page, "pliant_cores"), 2);
    free(page);
    session_run(d, session_scene(2, 1, ""), id);
    http_reply_free(http_getf(d, "/v1/sessions/%s/frames", id));
    http_reply_free(http_post(d, "/v1/sessions", "{}"));
    page = metrics_page();
    ck_assert_double_eq(sample(page, "pliant_sessions{state=\"succeeded\"}"), 1);
    ck_assert_double_eq(sample(page, "pliant_sessions_created_total"), 1);
    ck_assert_double_eq(sample(page, "pliant_workers_started_total"), 1);
    ck_assert_double_eq(sample(page, "pliant_streams_total"), 1);
    ck_assert_double_ge(sample(page, "pliant_stream_bytes_total"), 3 * 64 * 12);
    ck_assert_double_eq(sample(page, "pliant_workers_crashed_total"), 0);
    ck_assert_double_eq(sample(page, series[19]), 1);
    ck_assert_double_eq(sample(page, series[20]), 1);
    free(page);
}
END_TEST

/* Of "pliant_http_request_seconds": the series of a route and a status class, by its suffix. */
static double timing(const char *page, const char *method, const char *route, int class,
                     const char *suffix)
{
    char series[256];
    snprintf(series, sizeof series,
             "pliant_http_request_seconds_%s{method=\"%s\",route=\"%s\",status=\"%dxx\"}", suffix,
             method, route, class);
    return sample(page, series);
}

static double bucket(const char *page, const char *method, const char *route, int class,
                     const char *bound)
{
    char series[256];
    snprintf(
        series, sizeof series,
        "pliant_http_request_seconds_bucket{method=\"%s\",route=\"%s\",status=\"%dxx\",le=\"%s\"}",
        method, route, class, bound);
    return sample(page, series);
}

/* A histogram for each route and status class that has had replies; bounds ascend, counts do not fall, and the last bucket is
 * the count. */
START_TEST(test_prometheus_histograms)
{
    http_reply_free(http_get(d, "/v1/version"));
    char *page = metrics_page(), *rest = page, *line;
    int counters = 0, ends = 0, buckets = 0;
    double bound = -1, count = -1;
    while ((line = strsep(&rest, "\n")) && rest) {
        const char *le = strstr(line, "le=\"");
        counters += strncmp(line, "pliant_http_requests_total{", 27) == 0;
        if (le && strncmp(line, "pliant_http_request_seconds_bucket{", 35) == 0) {
            double value = strtod(strrchr(line, ' '), NULL);
            ck_assert_double_gt(strtod(le + 4, NULL), bound);
            ck_assert_double_ge(value, count);
            bound = strtod(le + 4, NULL);
            count = value;
            buckets++;
        } else if (strncmp(line, "pliant_http_request_seconds_count{", 34) == 0) {
            ck_assert(isinf(bound));
            ck_assert_double_eq(strtod(strrchr(line, ' '), NULL), count);
            bound = count = -1;
            ends++;
        }
    }
    ck_assert_int_gt(counters, 4 * 50);
    ck_assert_int_ge(ends, 1);
    ck_assert_int_lt(ends, 10);
    ck_assert_int_eq(buckets, 12 * ends);
    free(page);
}
END_TEST

/* By the route's pattern, or "none": no path and no method as a client wrote it. */
START_TEST(test_requests_timed)
{
    static const char show[] = "/v1/sessions/{id}";
    char id[33], target[80];
    char *page = metrics_page();
    for (int class = 2; class <= 5; class ++) {
        const double none = -1; /* the series does not exist yet */
        ck_assert_double_eq(timing(page, "GET", show, class, "count"), none);
        ck_assert_double_eq(timing(page, "GET", show, class, "sum"), none);
        ck_assert_double_eq(bucket(page, "GET", show, class, "0.0005"), none);
        ck_assert_double_eq(timing(page, "none", "none", class, "count"), none);
    }
    free(page);
    session_run(d, session_scene(2, 1, ""), id);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    page = metrics_page();
    double before = timing(page, "GET", show, 2, "count");
    free(page);
    http_reply_free(http_get(d, target));
    http_reply_free(http_get(d, "/v1/sessions/0123456789abcdef0123456789abcdef"));
    http_reply_free(http_get(d, "/hidden/path"));
    http_reply_free(http_call(d, "BREW", "/v1/version", NULL, NULL, 0));
    http_reply_free(http_call(d, "GET", "/v1/version", "Transfer-Encoding: gzip\r\n", NULL, 0));
    http_reply_free(http_post(d, "/v1/sessions", "{}"));
    page = metrics_page();
    ck_assert_double_eq(timing(page, "GET", show, 2, "count"), before + 1);
    ck_assert_double_gt(timing(page, "GET", show, 2, "sum"), 0);
    ck_assert_double_eq(bucket(page, "GET", show, 2, "+Inf"), before + 1);
    ck_assert_double_eq(timing(page, "GET", show, 4, "count"), 1);
    ck_assert_double_eq(timing(page, "POST", "/v1/sessions", 4, "count"), 1);
    ck_assert_double_eq(timing(page, "none", "none", 4, "count"), 3);
    ck_assert_ptr_null(strstr(page, "hidden"));
    ck_assert_ptr_null(strstr(page, "BREW"));
    ck_assert_ptr_null(strstr(page, id));
    free(page);
}
END_TEST

/* A check is work, and a wait for news is none: long polls that waited and streams are counted, and not timed. */
START_TEST(test_waits_not_timed)
{
    static const char events[] = "/v1/sessions/{id}/events";
    char id[33];
    session_run(d, session_scene(2, 1, ""), id);
    http_reply *r = http_getf(d, "/v1/sessions/%s/events?since=0&wait=5", id); /* has some */
    long long next = (long long)json_integer_value(json_object_get(r->json, "next"));
    http_reply_free(r);
    char *page = metrics_page();
    ck_assert_double_eq(timing(page, "GET", events, 2, "count"), 1);
    free(page);
    http_reply_free(http_getf(d, "/v1/sessions/%s/events?since=%lld&wait=1", id, next));
    http_reply_free(http_getf(d, "/v1/sessions/%s/metrics", id));
    http_reply_free(http_getf(d, "/v1/sessions/%s/export?format=csv", id));
    page = metrics_page();
    ck_assert_double_eq(timing(page, "GET", events, 2, "count"), 1);
    ck_assert_double_eq(
        sample(page, "pliant_http_requests_total{method=\"GET\",route=\"/v1/sessions/{id}/"
                     "events\",status=\"2xx\"}"),
        2);
    ck_assert_double_le(timing(page, "GET", "/v1/sessions/{id}/metrics", 2, "count"), 0);
    ck_assert_double_le(timing(page, "GET", "/v1/sessions/{id}/export", 2, "count"), 0);
    ck_assert_double_eq(timing(page, "POST", "/v1/sessions", 2, "count"), 1);
    free(page);
}
END_TEST

/* One wait for each session, whatever starts follow; each end once. */
START_TEST(test_waits_and_ends)
{
    char id[33], other[33];
    char *page = metrics_page();
    ck_assert_double_eq(sample(page, "pliant_queue_wait_seconds_count"), 0);
    ck_assert_double_eq(sample(page, "pliant_queue_wait_seconds_sum"), 0);
    ck_assert_double_eq(sample(page, "pliant_queue_wait_seconds_bucket{le=\"86400\"}"), 0);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"rejected\"}"), 0);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"failed\"}"), 0);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"cancelled\"}"), 0);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"running\"}"), -1);
    free(page);
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    session_tell(d, id, "resume");
    session_await(d, id, "running");
    session_run(d, session_scene(2, 1, ""), other);
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    page = metrics_page();
    ck_assert_double_eq(sample(page, "pliant_queue_wait_seconds_count"), 2);
    ck_assert_double_eq(sample(page, "pliant_queue_wait_seconds_bucket{le=\"+Inf\"}"), 2);
    ck_assert_double_lt(sample(page, "pliant_queue_wait_seconds_sum"), 3600);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"succeeded\"}"), 1);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"cancelled\"}"), 1);
    ck_assert_double_eq(sample(page, "pliant_sessions_ended_total{state=\"failed\"}"), 0);
    free(page);
}
END_TEST

/* ---- on the cores ---- */

/* How many threads a process has; each under this policy. */
static int threads_under(pid_t pid, int policy)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    ck_assert_ptr_nonnull(tasks);
    int count = 0;
    for (struct dirent *task; (task = readdir(tasks));)
        if (isdigit((unsigned char)*task->d_name)) {
            int found = sched_getscheduler(atoi(task->d_name));
            if (found < 0) /* it has ended meanwhile */
                continue;
            ck_assert_int_eq(found, policy);
            count++;
        }
    closedir(tasks);
    return count;
}

/* Whatever the daemon wakes for takes no core from a worker; a worker that wakes may. */
START_TEST(test_gives_way)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    ck_assert_int_gt(threads_under(d->pid, SCHED_BATCH), 2);
    ck_assert_int_ge(threads_under(daemon_fixture_await_worker(id), SCHED_OTHER), 1);
}
END_TEST

/* A policy that the daemon was started with is its workers' too. */
START_TEST(test_keeps_a_chosen_policy)
{
    char id[33];
    daemon_fixture_stop(d);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}), 0);
    daemon_fixture_start(d, NULL);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0}), 0);
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    ck_assert_int_gt(threads_under(d->pid, SCHED_BATCH), 2);
    ck_assert_int_ge(threads_under(daemon_fixture_worker(id), SCHED_BATCH), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: operations");
    TCase *tests = tcase_create("operations");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_capabilities);
    tcase_add_test(tests, test_public);
    tcase_add_test(tests, test_version);
    tcase_add_test(tests, test_openapi);
    tcase_add_test(tests, test_prometheus_text);
    tcase_add_test(tests, test_prometheus_series);
    tcase_add_test(tests, test_prometheus_histograms);
    tcase_add_test(tests, test_requests_timed);
    tcase_add_test(tests, test_waits_not_timed);
    tcase_add_test(tests, test_waits_and_ends);
    tcase_add_test(tests, test_gives_way);
    tcase_add_test(tests, test_keeps_a_chosen_policy);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
