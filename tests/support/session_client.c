#include "tests/support/session_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *session_scene(int64_t steps, int64_t every, const char *more)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "{\"pliant\": 1, \"name\": \"cube\","
                     " \"time\": {\"step\": 0.01, \"steps\": %lld},"
                     " \"solver\": {\"iterations\": 5, \"tolerance\": 0},"
                     " \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"box\": {\"size\": [1, 1, 1],"
                     " \"cells\": [3, 3, 3]}}}],"
                     " \"pins\": [{\"name\": \"wall\", \"select\": {\"side\": \"-x\"}}],"
                     " \"output\": {\"every\": %lld}%s}",
                     (long long)steps, (long long)every, more);
    ck_assert_int_gt(n, 0);
    return text;
}

char *session_scene_endless(const char *more)
{
    return session_scene(100000000, 100, more);
}

void session_post(const daemon_fixture *d, const char *scene, char id[33])
{
    static const char headers[] = "Content-Type: application/json\r\nPrefer: wait=60\r\n";
    http_reply *r = http_call(d, "POST", "/v1/sessions", headers, scene, strlen(scene));
    http_expect(r, 201);
    ck_assert_uint_eq(strlen(json_text(r->json, "id")), 32);
    strcpy(id, json_text(r->json, "id"));
    http_reply_free(r);
}

void session_post_free(const daemon_fixture *d, char *scene, char id[33])
{
    session_post(d, scene, id);
    free(scene);
}

json_t *session_show(const daemon_fixture *d, const char *id)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s", id);
    http_expect(r, 200);
    json_t *session = json_incref(r->json);
    http_reply_free(r);
    return session;
}

static bool over(const char *state)
{
    return strcmp(state, "succeeded") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0 || strcmp(state, "rejected") == 0;
}

const char *session_tell(const daemon_fixture *d, const char *id, const char *verb)
{
    static char state[32];
    http_reply *r = http_post(d, session_target(id, verb), NULL);
    http_expect(r, 202);
    snprintf(state, sizeof state, "%s", json_text(r->json, "state"));
    http_reply_free(r);
    return state;
}

/* A result in progress may take long: the patience is for the next frame. */
typedef struct vigil {
    int64_t frame;
    double end;
} vigil;

static bool patient(vigil *v, const json_t *session)
{
    int64_t frame = json_count(session, "progress/frame");
    if (v->end <= 0 || frame != v->frame)
        *v = (vigil){frame, daemon_fixture_clock() + HTTP_PATIENCE_S};
    return daemon_fixture_clock() < v->end;
}

void session_await(const daemon_fixture *d, const char *id, const char *state)
{
    for (vigil v = {0};;) {
        http_reply *r = http_getf(d, "/v1/sessions/%s?wait=1", id);
        http_expect(r, 200);
        const char *now = json_text(r->json, "state");
        bool there = strcmp(now, state) == 0;
        ck_assert_msg(there || (!over(now) && patient(&v, r->json)), "not %s: %s", state, r->body);
        http_reply_free(r);
        if (there)
            return;
    }
}

void session_await_frame(const daemon_fixture *d, const char *id, int64_t frame)
{
    for (vigil v = {0};; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        int64_t now = json_count(session, "progress/frame");
        ck_assert_msg(now >= frame || (!over(json_text(session, "state")) && patient(&v, session)),
                      "frame %lld of session %s, which is %s", (long long)now, id,
                      json_text(session, "state"));
        json_decref(session);
        if (now >= frame)
            return;
    }
}

int64_t session_await_control(const daemon_fixture *d, const char *id, int k)
{
    char path[32];
    snprintf(path, sizeof path, "items/%d/frame", k - 1);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        http_reply *r = http_getf(d, "/v1/sessions/%s/controls", id);
        http_expect(r, 200);
        const json_t *at = json_at(r->json, path);
        int64_t frame = json_is_integer(at) ? json_integer_value(at) : -1;
        http_reply_free(r);
        if (frame >= 0)
            return frame;
        ck_assert_msg(daemon_fixture_clock() < end, "control %d of session %s has no effect", k,
                      id);
    }
}

static http_reply *positions_of(const daemon_fixture *d, const char *id, int64_t frame)
{
    char rest[48];
    snprintf(rest, sizeof rest, "frames/%lld", (long long)frame);
    http_reply *r = http_get_as(d, session_target(id, rest), "application/x-npy");
    http_expect(r, 200);
    return r;
}

bool session_same_frame(const daemon_fixture *d, const char *a, int64_t k, const char *b, int64_t l)
{
    http_reply *x = positions_of(d, a, k), *y = positions_of(d, b, l);
    bool same = x->length == y->length && memcmp(x->body, y->body, x->length) == 0;
    http_reply_free(x);
    http_reply_free(y);
    return same;
}

void session_run(const daemon_fixture *d, char *scene, char id[33])
{
    session_post_free(d, scene, id);
    session_await(d, id, "succeeded");
}

const char *session_path(const daemon_fixture *d, const char *id, const char *file)
{
    return daemon_fixture_path(d, "sessions/%.2s/%s/%s", id, id, file);
}

void session_await_gone(const daemon_fixture *d, const char *id)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        http_reply *r = http_getf(d, "/v1/sessions/%s", id);
        int status = r->status;
        http_reply_free(r);
        if (status == 404 && access(session_path(d, id, ""), F_OK) != 0)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "status %d, and %s", status,
                      session_path(d, id, ""));
    }
}

void session_rename(const daemon_fixture *d, const char *id, int turn)
{
    char patch[64], headers[160], target[64];
    snprintf(target, sizeof target, "/v1/sessions/%.32s", id);
    http_reply *r = http_get(d, target);
    snprintf(patch, sizeof patch, "{\"name\": \"turn %d\"}", turn);
    snprintf(headers, sizeof headers, "Content-Type: application/json\r\nIf-Match: %s\r\n",
             http_header(r, "ETag"));
    http_reply_free(r);
    r = http_call(d, "PATCH", target, headers, patch, strlen(patch));
    http_expect(r, 200);
    http_reply_free(r);
}

const char *session_target(const char *id, const char *rest)
{
    static char targets[2][200];
    static int turn;
    char *target = targets[turn++ % 2];
    snprintf(target, sizeof targets[0], "/v1/sessions/%.32s/%.140s", id, rest);
    return target;
}

int64_t session_counter(const daemon_fixture *d, const char *name)
{
    char wanted[160];
    http_reply *r = http_get(d, "/metrics");
    snprintf(wanted, sizeof wanted, "\npliant_%s ", name);
    const char *at = strstr(r->body, wanted);
    ck_assert_ptr_nonnull(at);
    int64_t value = strtoll(at + strlen(wanted), NULL, 10);
    http_reply_free(r);
    return value;
}

void session_check_preempted(const daemon_fixture *d, const char *yielding, const char *urgent,
                             char *scene, int64_t frames)
{
    char whole[33];
    session_await(d, urgent, "succeeded");
    json_t *first = session_show(d, yielding);
    ck_assert_str_ne(json_text(first, "state"), "succeeded");
    json_decref(first);
    session_await(d, yielding, "succeeded");
    json_t *twice = session_show(d, yielding);
    ck_assert_int_eq(json_count(twice, "attempt"), 2);
    json_decref(twice);
    session_run(d, scene, whole);
    ck_assert(session_same_frame(d, yielding, frames, whole, frames));
}
