#include "protocol/scene/branch_json.h"

#include "protocol/scene/decode.h"
#include "protocol/text/json_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parts that must be equal for the state of one scene to be a state of the other. */
static const char *const fixed[][2] = {
    {"bodies", NULL},    {"time", "step"},     {"time", "integrator"},
    {"output", "every"}, {"solver", "device"}, {"solver", "precision"},
};

static const json_t *at(const json_t *scene, const char *const path[2])
{
    const json_t *value = json_object_get(scene, path[0]);
    return path[1] ? json_object_get(value, path[1]) : value;
}

static void check_fixed(const json_t *before, const json_t *after, pl_faults *faults)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const json_t *was = at(before, fixed[i]), *is = at(after, fixed[i]);
        if (was == is || (was && is && json_equal(was, is)))
            continue;
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/scene/%s%s%s", fixed[i][0], fixed[i][1] ? "/" : "",
                 fixed[i][1] ? fixed[i][1] : "");
        pl_faults_add(faults, pointer, "fixed_in_branch", "another value",
                      "the value of the session",
                      "the initial state of the branch depends on these");
    }
}

static void check_request(const json_t *request, pl_faults *faults)
{
    const char *key;
    json_t *value;
    if (!json_is_object(request))
        pl_faults_add(faults, "", "wrong_type", "no object", "an object: frame or snapshot, scene",
                      "");
    json_object_foreach((json_t *)request, key, value)
    {
        char pointer[96];
        snprintf(pointer, sizeof pointer, "/%.80s", key);
        if (strcmp(key, "frame") == 0) {
            if (!json_is_integer(value) || json_integer_value(value) < 0)
                pl_faults_add(faults, pointer, "wrong_type", "no such number",
                              "a frame, from 0; omit it for the newest", "");
        } else if (strcmp(key, "snapshot") == 0) {
            if (!json_is_string(value))
                pl_faults_add(faults, pointer, "wrong_type", "no text", "a snapshot's name", "");
            else if (json_object_get(request, "frame"))
                pl_faults_add(faults, pointer, "conflict", "frame and snapshot", "one of the two",
                              "a snapshot already has its frame");
        } else if (strcmp(key, "scene") == 0) {
            if (!json_is_object(value))
                pl_faults_add(faults, pointer, "wrong_type", "no object", "a merge patch", "");
        } else {
            pl_faults_add(faults, pointer, "unknown_key", key, "one of: frame, snapshot, scene",
                          "");
        }
    }
}

pl_decode_outcome pl_branch_decode(const char *text, size_t length, const char *scene_text,
                                   size_t scene_length, pl_branch_request *out, pl_faults *faults)
{
    *out = (pl_branch_request){.frame = -1};
    json_error_t error;
    pl_decode_outcome outcome = PL_DECODE_INVALID;
    json_t *request = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!request)
        return pl_decode_refuse_syntax(&error, faults);
    json_t *before = pl_json_load(scene_text, scene_length, JSON_REJECT_DUPLICATES, NULL);
    json_t *after = NULL;
    check_request(request, faults);
    json_t *patch = json_object_get(request, "scene");
    if (before && faults->total == 0)
        after = patch ? pl_json_merge(before, patch) : json_incref(before);
    if (!before || (faults->total == 0 && !after))
        outcome = PL_DECODE_NO_MEMORY;
    else if (faults->total == 0)
        check_fixed(before, after, faults);
    if (outcome == PL_DECODE_INVALID && faults->total == 0) {
        json_t *k = json_object_get(request, "frame"), *name = json_object_get(request, "snapshot");
        out->frame = k ? (int64_t)json_integer_value(k) : -1;
        out->snapshot = name ? strdup(json_string_value(name)) : NULL;
        out->scene = json_dumps(after, JSON_COMPACT);
        outcome = out->scene && (out->snapshot || !name) ? PL_DECODE_OK : PL_DECODE_NO_MEMORY;
    }
    json_decref(before);
    json_decref(after);
    json_decref(request);
    return outcome;
}
