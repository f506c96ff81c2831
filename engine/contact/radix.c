#include "engine/contact/radix.h"

#include <stdlib.h>
#include <string.h>

/* Maximum bits of a digit: the counters of one thread fit in the first cache. */
enum { DIGIT = 11, BUCKETS = 1 << DIGIT, ITEMS_A_THREAD = 1 << 14 };

typedef struct pass {
    const pl_radix_items *from, *to;
    int64_t n;
    int shift, width, blocks;
    int64_t *place; /* [blocks][BUCKETS]: first counts, then the position of the next item */
} pass;

static int digit_of(const pass *p, uint64_t key)
{
    return (int)(key >> p->shift) & ((1 << p->width) - 1);
}

static int64_t first_of(const pass *p, int block)
{
    return p->n * block / p->blocks;
}

static void count_block(const pass *p, int block)
{
    int64_t *count = p->place + (int64_t)block * BUCKETS;
    memset(count, 0, BUCKETS * sizeof *count);
    for (int64_t i = first_of(p, block); i < first_of(p, block + 1); i++)
        count[digit_of(p, p->from->key[i])]++;
}

/* True if all keys have the same digit: nothing moves. */
static bool set_places(const pass *p)
{
    int64_t sum = 0;
    bool alike = false;
    for (int d = 0; d < 1 << p->width; d++) {
        int64_t before = sum;
        for (int b = 0; b < p->blocks; b++) {
            int64_t count = p->place[(int64_t)b * BUCKETS + d];
            p->place[(int64_t)b * BUCKETS + d] = sum;
            sum += count;
        }
        alike = alike || sum - before == p->n;
    }
    return alike;
}

static void move_block(const pass *p, int block)
{
    int64_t *place = p->place + (int64_t)block * BUCKETS;
    for (int64_t i = first_of(p, block); i < first_of(p, block + 1); i++) {
        uint64_t key = p->from->key[i];
        int64_t to = place[digit_of(p, key)]++;
        p->to->key[to] = key;
        if (p->from->value)
            p->to->value[to] = p->from->value[i];
    }
}

/* True if the items were moved. */
static bool run_pass(const pass *p)
{
#pragma omp parallel for num_threads(p->blocks) schedule(static) if (p->blocks > 1)
    for (int b = 0; b < p->blocks; b++)
        count_block(p, b);
    if (set_places(p))
        return false;
#pragma omp parallel for num_threads(p->blocks) schedule(static) if (p->blocks > 1)
    for (int b = 0; b < p->blocks; b++)
        move_block(p, b);
    return true;
}

static int blocks_of(int64_t n, int threads)
{
    int64_t most = n / ITEMS_A_THREAD;
    return most < 1 ? 1 : most < threads ? (int)most : threads;
}

bool pl_radix_sort(int64_t n, int bits, pl_radix_items *items, pl_radix_items *scratch, int threads)
{
    int passes = (bits + DIGIT - 1) / DIGIT;
    if (n < 2 || passes == 0)
        return true;
    pass p = {.from = items, .to = scratch, .n = n, .blocks = blocks_of(n, threads)};
    p.width = (bits + passes - 1) / passes;
    p.place = malloc((size_t)p.blocks * BUCKETS * sizeof *p.place);
    if (!p.place)
        return false;
    for (int k = 0; k < passes; k++, p.shift += p.width)
        if (run_pass(&p)) {
            const pl_radix_items *moved = p.to;
            p.to = p.from;
            p.from = moved;
        }
    if (p.from != items) { /* swaps the arrays, not their content */
        pl_radix_items other = *items;
        *items = *scratch;
        *scratch = other;
    }
    free(p.place);
    return true;
}
