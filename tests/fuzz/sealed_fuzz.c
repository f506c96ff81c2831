/* The sealed documents of a session directory: each is read and, if accepted, written and read again to the same
 * bytes. */
#include "tests/fuzz/fuzz.h"

#include "protocol/log/sealed.h"
#include "protocol/log/session_dir.h"

#include <stdlib.h>
#include <string.h>

enum { OP_HEAD, OP_EXIT, OP_PREFLIGHT, OP_DOCUMENT, OP_WARNINGS, OP_COUNT, LIMIT = 1 << 20 };

/* The file as it lies; malloc'ed. */
static char *contents(const char *name)
{
    char *text = NULL;
    size_t size;
    FUZZ_REQUIRE(pl_file_read(fuzz_directory(), name, LIMIT, &text, &size) == PL_OK,
                 "%s cannot be read", name);
    return text;
}

static void read_head(int dir)
{
    pl_head head = {0};
    if (pl_head_read(dir, &head) != PL_OK)
        return;
    for (int64_t i = 0; i < head.segment_count; i++) {
        const pl_segment *s = &head.segments[i];
        bool last = i + 1 == head.segment_count;
        FUZZ_REQUIRE(s->first_frame >= 0 && (s->frames >= 0 || last), "segment %lld", (long long)i);
        FUZZ_REQUIRE(last || s->first_frame + s->frames == s[1].first_frame, "a hole");
    }
    FUZZ_REQUIRE(pl_head_write(dir, &head) == PL_OK, "head.json is not written again");
    char *first = contents("head.json");
    pl_head_clear(&head);
    FUZZ_REQUIRE(pl_head_read(dir, &head) == PL_OK && pl_head_write(dir, &head) == PL_OK,
                 "head.json is not read again");
    char *second = contents("head.json");
    FUZZ_REQUIRE(strcmp(first, second) == 0, "%s became %s", first, second);
    free(first);
    free(second);
    pl_head_clear(&head);
}

static void read_exit(int dir)
{
    pl_exit e = {0}, again = {0};
    if (pl_exit_read(dir, &e) != PL_OK)
        return;
    FUZZ_REQUIRE(memchr(e.state, 0, sizeof e.state), "a state without end");
    FUZZ_REQUIRE(pl_exit_write(dir, &e) == PL_OK, "exit.json is not written again");
    char *first = contents("exit.json");
    FUZZ_REQUIRE(pl_exit_read(dir, &again) == PL_OK && pl_exit_write(dir, &again) == PL_OK,
                 "exit.json is not read again: %s", first);
    char *second = contents("exit.json");
    FUZZ_REQUIRE(strcmp(first, second) == 0, "%s became %s", first, second);
    free(first);
    free(second);
}

static void read_preflight(int dir)
{
    pl_preflight p = {0};
    if (pl_preflight_read(dir, &p) != PL_OK)
        return;
    FUZZ_REQUIRE(pl_preflight_write(dir, &p) == PL_OK, "preflight.json is not written again");
    char *first = contents("preflight.json");
    pl_preflight_clear(&p);
    FUZZ_REQUIRE(pl_preflight_read(dir, &p) == PL_OK && pl_preflight_write(dir, &p) == PL_OK,
                 "preflight.json is not read again: %s", first);
    char *second = contents("preflight.json");
    FUZZ_REQUIRE(strcmp(first, second) == 0, "%s became %s", first, second);
    free(first);
    free(second);
    pl_preflight_clear(&p);
}

static void read_warnings(int dir)
{
    pl_run_totals totals;
    pl_warnings list = {0};
    if (pl_run_warnings_read(dir, &totals, &list) != PL_OK)
        return;
    FUZZ_REQUIRE(pl_run_warnings_write(dir, &totals, &list) == PL_OK,
                 "warnings.json is not written again");
    char *first = contents("warnings.json");
    pl_warnings_clear(&list);
    FUZZ_REQUIRE(pl_run_warnings_read(dir, &totals, &list) == PL_OK &&
                     pl_run_warnings_write(dir, &totals, &list) == PL_OK,
                 "warnings.json is not read again: %s", first);
    char *second = contents("warnings.json");
    FUZZ_REQUIRE(strcmp(first, second) == 0, "%s became %s", first, second);
    free(first);
    free(second);
    pl_warnings_clear(&list);
}

static void read_document(int dir, const fuzz_part *part)
{
    pl_json *document = NULL;
    if (pl_sealed_read(dir, "document.json", LIMIT, 1, &document) != PL_OK)
        return;
    char *text = pl_json_dump(document, false);
    FUZZ_REQUIRE(text, "a document that cannot be printed");
    free(text);
    pl_json_free(document);
    /* The seal covers every byte: with any bit turned round it must not be believed. */
    uint8_t *copy = fuzz_exact(part->bytes, part->size);
    copy[part->size / 2] ^= (uint8_t)(1 << part->size % 8);
    fuzz_write("document.json", copy, part->size);
    FUZZ_REQUIRE(pl_sealed_read(dir, "document.json", LIMIT, 1, &document) != PL_OK,
                 "a flipped bit was believed");
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"head.json", "exit.json", "preflight.json", "document.json",
                                        "warnings.json"};
    fuzz_part parts[FUZZ_PARTS_MAX];
    int dir = fuzz_directory();
    fuzz_clean();
    size_t count = fuzz_parts(data, size, parts);
    for (size_t i = 0; i < count; i++) {
        int op = parts[i].op % OP_COUNT;
        fuzz_clean();
        fuzz_write(names[op], parts[i].bytes, parts[i].size);
        if (op == OP_HEAD)
            read_head(dir);
        else if (op == OP_EXIT)
            read_exit(dir);
        else if (op == OP_PREFLIGHT)
            read_preflight(dir);
        else if (op == OP_WARNINGS)
            read_warnings(dir);
        else
            read_document(dir, &parts[i]);
    }
    return 0;
}

static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    return fuzz_mend_seal(bytes, size, room);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
