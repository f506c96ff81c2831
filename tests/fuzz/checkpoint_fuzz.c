/* Checkpoint files: slots written as they are, the newest looked for, each peeked at and read whole.
 * A file that is believed in part must not be believed more in whole, nor say more than it has. */
#include "tests/fuzz/fuzz.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OP_SLOT_A, OP_SLOT_B, OP_REWRITE, OP_COUNT, LIMIT = 1 << 20 };

static void check_fields(const pl_checkpoint *c)
{
    FUZZ_REQUIRE(memchr(c->numerics, 0, sizeof c->numerics), "a class without end");
    FUZZ_REQUIRE(c->payload_size <= PL_CHECKPOINT_MAX_PAYLOAD, "a payload of %llu bytes",
                 (unsigned long long)c->payload_size);
}

static void check_slot(int dir, int slot)
{
    pl_checkpoint peeked = {0}, whole = {0};
    void *payload = NULL;
    pl_status peek = pl_checkpoint_peek(dir, slot, &peeked);
    pl_status read = pl_checkpoint_read(dir, slot, LIMIT, &whole, &payload);
    if (peek == PL_OK)
        check_fields(&peeked);
    if (read != PL_OK)
        return;
    FUZZ_REQUIRE(peek == PL_OK && peeked.frame == whole.frame && peeked.attempt == whole.attempt &&
                     peeked.payload_size == whole.payload_size,
                 "the whole is believed, its header not");
    free(payload);
}

static void check_newest(int dir)
{
    pl_checkpoint newest = {0}, slots[PL_CHECKPOINT_SLOTS] = {{0}};
    bool any = false;
    pl_status status = pl_checkpoint_newest(dir, &newest);
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        if (pl_checkpoint_peek(dir, slot, &slots[slot]) != PL_OK)
            continue;
        any = true;
        FUZZ_REQUIRE(status == PL_OK && slots[slot].frame <= newest.frame,
                     "frame %lld is newer than the newest", (long long)slots[slot].frame);
    }
    FUZZ_REQUIRE(any || status != PL_OK, "a newest of none");
}

/* With one bit flipped, nothing in it may be accepted. */
static void check_flipped(int dir, const fuzz_part *part)
{
    pl_checkpoint c;
    void *payload = NULL;
    int slot = part->op % OP_COUNT;
    if (pl_checkpoint_read(dir, slot, LIMIT, &c, &payload) != PL_OK)
        return;
    free(payload);
    uint8_t *copy = fuzz_exact(part->bytes, part->size);
    copy[(size_t)copy[part->size - 1] * part->size / 256] ^= 1;
    fuzz_write(pl_checkpoint_name(slot), copy, part->size);
    FUZZ_REQUIRE(pl_checkpoint_read(dir, slot, LIMIT, &c, &payload) != PL_OK,
                 "a flipped bit was believed");
    fuzz_write(pl_checkpoint_name(slot), part->bytes, part->size);
    free(copy);
}

/* Read one slot, write it to the other, read that: the same. */
static void rewrite(int dir)
{
    pl_checkpoint first, second;
    void *payload = NULL, *again = NULL;
    if (pl_checkpoint_read(dir, 0, LIMIT, &first, &payload) != PL_OK)
        return;
    FUZZ_REQUIRE(pl_checkpoint_write(dir, 1, &first, payload) == PL_OK &&
                     pl_checkpoint_read(dir, 1, LIMIT, &second, &again) == PL_OK,
                 "a checkpoint that was read is not written again");
    FUZZ_REQUIRE(first.frame == second.frame && first.model_hash == second.model_hash &&
                     first.segment_end == second.segment_end &&
                     strcmp(first.numerics, second.numerics) == 0 &&
                     first.payload_size == second.payload_size &&
                     memcmp(payload, again, first.payload_size) == 0,
                 "changed by being written again");
    free(payload);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    int dir = fuzz_directory();
    fuzz_clean();
    size_t count = fuzz_parts(data, size, parts);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].op % OP_COUNT == OP_REWRITE) {
            rewrite(dir);
        } else {
            fuzz_write(pl_checkpoint_name(parts[i].op % OP_COUNT), parts[i].bytes, parts[i].size);
            check_flipped(dir, &parts[i]);
        }
    }
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        check_slot(dir, slot);
    check_newest(dir);
    return 0;
}

/* Sizes and checksums of the header and of the whole. */
static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    enum { SIZE_AT = 160, CRC_AT = PL_CHECKPOINT_HEADER - 4 };
    if (op % OP_COUNT == OP_REWRITE || size < PL_CHECKPOINT_HEADER + 4)
        return size;
    uint64_t payload = size - PL_CHECKPOINT_HEADER - 4;
    memcpy(bytes + SIZE_AT, &payload, sizeof payload);
    uint32_t crc = pl_crc32c(0, bytes, CRC_AT);
    memcpy(bytes + CRC_AT, &crc, sizeof crc);
    crc = pl_crc32c(0, bytes, size - 4);
    memcpy(bytes + size - 4, &crc, sizeof crc);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
