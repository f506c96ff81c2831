/* Saved states: an input is a list of changes to a state that a small run really saved, so that the corpus stays valid
 * when the engine or the format changes. Size and checksum are then corrected, unless the input says otherwise. An
 * accepted state must save to bytes that are accepted again, and can be stepped without harm; a rejected one must have
 * changed nothing. */
#include "tests/fuzz/fuzz.h"

#include "engine/model/hash.h"
#include "engine/step/pliant.h"
#include "engine/scene/scene.h"
#include "protocol/scene/scene_json.h"

#include <stdlib.h>
#include <string.h>

/* Put: offset (u24), then bytes. Fill: offset, how many 8-byte words, the word. Cut and grow: a size
 * (u16). */
enum { OP_PUT, OP_FILL, OP_CUT, OP_GROW, OP_METHOD, OP_NO_MENDING, OP_COUNT, METHODS = 2 };
/* Of a saved state's header. */
enum { SIZE_AT = 24, CHECKSUM_AT = 32, HEADER = 40 };

typedef struct run {
    pl_scene scene;
    pl_mesh mesh;
    pl_model *model;
    void *saved; /* after two steps */
    size_t size;
} run;

static run runs[METHODS];

static const char *const scenes[METHODS] = {
    "{\"pliant\":1,\"time\":{\"step\":0.01,\"steps\":8},"
    "\"solver\":{\"method\":\"admm\",\"iterations\":4},\"contact\":{\"check\":false},"
    "\"materials\":{\"m\":{\"model\":\"neo_hookean\",\"young\":1e5}},"
    "\"bodies\":[{\"name\":\"b\",\"material\":\"m\","
    "\"mesh\":{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}}}],"
    "\"pins\":[{\"body\":\"b\",\"select\":{\"side\":\"+y\"}}],"
    "\"obstacles\":[{\"plane\":{\"normal\":[0,1,0],\"offset\":-0.5}}]}",
    "{\"pliant\":1,\"time\":{\"step\":0.01,\"steps\":8},"
    "\"solver\":{\"method\":\"quasi_newton\",\"iterations\":4},"
    "\"materials\":{\"m\":{\"model\":\"corotated\",\"young\":1e5}},"
    "\"bodies\":[{\"name\":\"b\",\"material\":\"m\","
    "\"mesh\":{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}}}],"
    "\"pins\":[{\"body\":\"b\",\"select\":{\"side\":\"+y\"}}]}",
};

/* ---- the runs ---- */

static pl_state *new_state(const run *r)
{
    pl_state *state = NULL;
    FUZZ_REQUIRE(pl_state_create(r->model, 1, &state) == PL_OK, "no state");
    return state;
}

static void step(const run *r, pl_state *state)
{
    pl_metrics metrics;
    pl_failure failure;
    pl_status status = pl_frame_step(r->model, state, &metrics, &failure, NULL, NULL);
    FUZZ_REQUIRE(status == PL_OK || status == PL_FAILED, "a step's status is %d", status);
    FUZZ_REQUIRE(status == PL_OK || failure.code != PL_FAILURE_NONE, "a failure without code");
}

static void save(pl_state *state, void **bytes, size_t *size)
{
    FUZZ_REQUIRE(pl_state_save(state, bytes, size) == PL_OK, "cannot be saved");
}

static void mend_state(uint8_t *bytes, size_t size)
{
    uint64_t told = size;
    memcpy(bytes + SIZE_AT, &told, sizeof told);
    uint64_t sum = pl_hash(PL_HASH_START, bytes, CHECKSUM_AT);
    sum = pl_hash(sum, bytes + HEADER, size - HEADER);
    memcpy(bytes + CHECKSUM_AT, &sum, sizeof sum);
}

static void make_run(run *r, const char *text)
{
    static const pl_mesh_limits limits = {1000, 1000};
    pl_faults faults = {0};
    FUZZ_REQUIRE(pl_scene_decode(text, strlen(text), &r->scene, &faults) == PL_DECODE_OK &&
                     pl_body_load(&r->scene, 0, NULL, &limits, &r->mesh, &faults) == PL_OK &&
                     pl_model_create(&r->scene, &r->mesh, &r->model, &faults) == PL_OK,
                 "no model: %s: %s", faults.count ? faults.items[0].pointer : "",
                 faults.count ? faults.items[0].got : "");
    pl_state *state = new_state(r);
    step(r, state);
    step(r, state);
    save(state, &r->saved, &r->size);
    pl_state_destroy(state);
    uint8_t *copy = fuzz_exact(r->saved, r->size);
    mend_state(copy, r->size);
    FUZZ_REQUIRE(memcmp(copy, r->saved, r->size) == 0, "this target mends another format");
    free(copy);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    for (int i = 0; i < METHODS; i++)
        make_run(&runs[i], scenes[i]);
    return 0;
}

/* ---- changes ---- */

typedef struct state_bytes {
    uint8_t *data;
    size_t size;
    bool mended;
} state_bytes;

static void resize(state_bytes *s, size_t size)
{
    uint8_t *data = realloc(s->data, size + 1);
    FUZZ_REQUIRE(data, "out of memory");
    if (size > s->size)
        memset(data + s->size, 0, size - s->size);
    s->data = data;
    s->size = size;
}

static void change(state_bytes *s, const fuzz_part *part)
{
    const uint8_t *b = part->bytes;
    if (part->op % OP_COUNT == OP_NO_MENDING) {
        s->mended = false;
    } else if (part->op % OP_COUNT == OP_CUT || part->op % OP_COUNT == OP_GROW) {
        if (part->size < 2)
            return;
        size_t amount = (size_t)b[0] | (size_t)b[1] << 8;
        size_t left = amount < s->size ? s->size - amount : 0;
        resize(s, part->op % OP_COUNT == OP_GROW ? s->size + amount : left);
    } else if (part->size > 3) {
        size_t at = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16;
        if (part->op % OP_COUNT == OP_PUT) {
            for (size_t i = 3; i < part->size && at + i - 3 < s->size; i++)
                s->data[at + i - 3] = b[i];
        } else if (part->size >= 12) {
            for (size_t i = 0; i < b[3] && at + 8 * i + 8 <= s->size; i++)
                memcpy(s->data + at + 8 * i, b + 4, 8);
        }
    }
}

static void check_refusal(pl_state *state, const void *before, size_t size)
{
    void *after;
    size_t size_after;
    save(state, &after, &size_after);
    FUZZ_REQUIRE(size_after == size && memcmp(before, after, size) == 0,
                 "a refused state has changed something");
    free(after);
}

/* An accepted state, saved, is accepted again and saves to the same bytes. */
static void check_taken(const run *r, pl_state *state)
{
    void *first, *second;
    size_t first_size, second_size;
    pl_state *again = new_state(r);
    save(state, &first, &first_size);
    FUZZ_REQUIRE(pl_state_restore(again, first, first_size) == PL_OK, "taken, saved and refused");
    save(again, &second, &second_size);
    FUZZ_REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0,
                 "saved twice, the bytes differ");
    free(first);
    free(second);
    pl_state_destroy(again);
}

static void restore(const run *r, const state_bytes *s)
{
    void *before;
    size_t size;
    pl_state *state = new_state(r);
    uint8_t *copy = fuzz_exact(s->data, s->size);
    save(state, &before, &size);
    pl_status status = pl_state_restore(state, copy, s->size);
    FUZZ_REQUIRE(status == PL_OK || status == PL_INVALID, "status %d", status);
    if (status == PL_INVALID) {
        check_refusal(state, before, size);
    } else {
        check_taken(r, state);
        step(r, state);
        step(r, state);
    }
    free(before);
    free(copy);
    pl_state_destroy(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    size_t count = fuzz_parts(data, size, parts);
    const run *r = &runs[0];
    for (size_t i = 0; i < count; i++)
        if (parts[i].op % OP_COUNT == OP_METHOD)
            r = &runs[1];
    state_bytes s = {fuzz_exact(r->saved, r->size), r->size, true};
    for (size_t i = 0; i < count; i++)
        if (parts[i].op % OP_COUNT != OP_METHOD)
            change(&s, &parts[i]);
    if (s.mended && s.size >= HEADER)
        mend_state(s.data, s.size);
    restore(r, &s);
    free(s.data);
    return 0;
}

static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
