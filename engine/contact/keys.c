#include "engine/contact/keys.h"

#include "engine/contact/radix.h"

#include <stdlib.h>
#include <string.h>

int pl_contact_keys_bits(const pl_contact_surface *s)
{
    int64_t most = s->vertices > s->edges ? s->vertices : s->edges;
    most = s->triangles > most ? s->triangles : most;
    int bits = pl_radix_bits(most);
    return bits < 1 ? 1 : bits;
}

static bool grow(pl_contact_keys *k)
{
    int64_t capacity = k->capacity ? 2 * k->capacity : 1024;
    uint64_t *larger = realloc(k->key, (size_t)capacity * sizeof *larger);
    if (!larger)
        return false;
    k->key = larger;
    k->capacity = capacity;
    return true;
}

void pl_contact_keys_add(pl_contact_keys *k, pl_contact_kind kind, int32_t a, int32_t b)
{
    if (k->failed || (k->count == k->capacity && !grow(k))) {
        k->failed = true;
        return;
    }
    k->key[k->count++] = (uint64_t)kind << 2 * k->bits | (uint64_t)a << k->bits | (uint64_t)b;
}

void pl_contact_keys_clear(pl_contact_keys *k)
{
    free(k->key);
    *k = (pl_contact_keys){.bits = k->bits};
}

static void drop_duplicates(pl_contact_keys *k)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < k->count; i++)
        if (kept == 0 || k->key[i] != k->key[kept - 1])
            k->key[kept++] = k->key[i];
    k->count = kept;
}

static bool join(pl_contact_keys *part, int parts, pl_contact_keys *out)
{
    int64_t count = 0;
    bool failed = false;
    for (int p = 0; p < parts; p++) {
        count += part[p].count;
        failed = failed || part[p].failed;
    }
    out->key = failed ? NULL : malloc(((size_t)count + 1) * sizeof *out->key);
    out->capacity = count + 1;
    for (int p = 0; p < parts; p++) {
        if (out->key && part[p].count)
            memcpy(out->key + out->count, part[p].key, (size_t)part[p].count * sizeof *out->key);
        out->count += part[p].count;
        pl_contact_keys_clear(&part[p]);
    }
    return out->key;
}

pl_status pl_contact_keys_gather(pl_contact_keys *part, int parts, int threads,
                                 pl_contact_keys *out)
{
    *out = (pl_contact_keys){.bits = part[0].bits};
    bool done = join(part, parts, out);
    pl_radix_items items = {.key = out->key}, scratch = {0};
    if (done)
        scratch.key = malloc(((size_t)out->count + 1) * sizeof *scratch.key);
    done = done && scratch.key &&
           pl_radix_sort(out->count, 2 + 2 * out->bits, &items, &scratch, threads);
    out->key = items.key;
    free(scratch.key);
    if (!done) {
        pl_contact_keys_clear(out);
        return PL_NO_MEMORY;
    }
    drop_duplicates(out);
    return PL_OK;
}
