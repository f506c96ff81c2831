#include "server/http/body.h"

#include "protocol/text/problem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64 }; /* each key is searched for among all */

static void check_keys(pl_body *b, const char *const *keys)
{
    size_t known = 0;
    while (keys[known]) {
        known++;
    }
    for (size_t i = 0; i < pl_json_count(b->json); i++) {
        const char *key = pl_json_member(b->json, i, NULL);
        size_t k = 0;
        while (k < known && strcmp(keys[k], key) != 0) {
            k++;
        }
        if (k == known) {
            const char *near = pl_nearest(key, keys, known);
            char hint[96] = "";
            if (near) {
                snprintf(hint, sizeof hint, "did you mean '%s'?", near);
            }
            pl_body_fault(b, key, "unknown_key", key, "a key of this request", hint);
        }
    }
}

bool pl_body_open(pl_request *r, const char *const *keys, pl_body *out)
{
    size_t length;
    char error[160] = "";
    const char *text = pl_request_body(r, &length);
    *out = (pl_body){.request = r};
    out->json = length ? pl_json_parse(text, length, error) : pl_json_parse("{}", 2, error);
    if (!out->json && errno == ENOMEM) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
        return false;
    }
    if (!pl_json_is_object(out->json)) {
        pl_json_free(out->json);
        pl_reply_problemf(r, 400, "bad_json", "Not JSON", "the body is not a JSON object%s%s",
                          error[0] ? ": " : "", error);
        return false;
    }
    if (pl_json_count(out->json) > KEYS_MAX) {
        pl_json_free(out->json);
        pl_reply_problemf(r, 400, "bad_json", "Too many keys", "the body has more than %d keys",
                          KEYS_MAX);
        return false;
    }
    check_keys(out, keys);
    return true;
}

void pl_body_fault(pl_body *b, const char *key, const char *code, const char *got,
                   const char *expected, const char *hint)
{
    char escaped[160], pointer[170];
    pl_fault_escape(key, escaped, sizeof escaped);
    snprintf(pointer, sizeof pointer, "/%s", escaped);
    pl_faults_add(&b->faults, pointer, code, got, expected, hint);
}

/* The member with exactly that name (a path would be split at '/'). */
static const pl_json *member(const pl_body *b, const char *key)
{
    for (size_t i = 0; i < pl_json_count(b->json); i++) {
        const pl_json *value;
        if (strcmp(pl_json_member(b->json, i, &value), key) == 0) {
            return value;
        }
    }
    return NULL;
}

static void wrong(pl_body *b, const char *key, const pl_json *value, const char *expected)
{
    char *got = pl_json_dump(value, false);
    pl_body_fault(b, key, "wrong_value", got ? got : "", expected, "");
    free(got);
}

const char *pl_body_string(pl_body *b, const char *key, size_t longest, bool required)
{
    const pl_json *value = member(b, key);
    if (pl_json_is_null(value)) {
        if (required) {
            pl_body_fault(b, key, "missing_key", "", "a string", "");
        }
        return NULL;
    }
    const char *text = pl_json_string(value, "", NULL);
    if (!text || strlen(text) > longest) {
        char expected[64];
        snprintf(expected, sizeof expected, "a string of at most %zu bytes", longest);
        wrong(b, key, value, expected);
        return NULL;
    }
    return text;
}

bool pl_body_integer(pl_body *b, const char *key, int64_t minimum, int64_t maximum,
                     int64_t null_value, int64_t *out)
{
    const pl_json *value = member(b, key);
    if (!value) {
        return false;
    }
    bool null = pl_json_is_null(value);
    int64_t v = null ? null_value : pl_json_integer(value, "", INT64_MIN);
    if (!(null && v == -1) && (v < minimum || v > maximum)) {
        char expected[96];
        snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)minimum,
                 (long long)maximum);
        wrong(b, key, value, expected);
        return false;
    }
    *out = v;
    return true;
}

bool pl_body_boolean(pl_body *b, const char *key, bool *out)
{
    const pl_json *value = member(b, key);
    if (!value) {
        return false;
    }
    bool yes = pl_json_boolean(value, "", false);
    if (yes != pl_json_boolean(value, "", true)) {
        wrong(b, key, value, "true or false");
        return false;
    }
    *out = yes;
    return true;
}

bool pl_body_good(pl_body *b)
{
    if (!b->faults.total) {
        return true;
    }
    pl_reply_problem(b->request, 422, "invalid_body", "Invalid body", "every fault found is listed",
                     &b->faults);
    return false;
}

void pl_body_close(pl_body *b)
{
    pl_faults_clear(&b->faults);
    pl_json_free(b->json);
}
