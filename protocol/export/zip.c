#include "protocol/export/zip.h"

#include "protocol/export/zpack.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 20,
    VERSION_64 = 45,
    STREAMED = 1 << 3, /* flag: CRC and sizes follow the data */
    DATE = 0x21,       /* 1 January 1980, so that equal runs give equal archives */
};

typedef struct fields {
    unsigned char bytes[160];
    size_t length;
} fields;

static void put(fields *f, int width, uint64_t value)
{
    for (int i = 0; i < width; i++)
        f->bytes[f->length++] = (unsigned char)(value >> (8 * i));
}

static uint64_t clipped(const pl_zip *z, uint64_t value)
{
    return value >= z->zip64_from ? 0xffffffffu : value;
}

static bool is_big(const pl_zip *z, const pl_zip_member *m)
{
    return m->size >= z->zip64_from;
}

void pl_zip_open(pl_zip *z, pl_outlet *out)
{
    *z = (pl_zip){.out = out, .zip64_from = 0xffffffffu};
}

void pl_zip_clear(pl_zip *z)
{
    for (int64_t i = 0; i < z->count; i++)
        free(z->members[i].name);
    free(z->members);
    *z = (pl_zip){0};
}

static pl_zip_member *add_member(pl_zip *z, const char *name)
{
    if (z->count == z->capacity) {
        int64_t capacity = z->capacity ? 2 * z->capacity : 16;
        pl_zip_member *grown = realloc(z->members, (size_t)capacity * sizeof *grown);
        if (!grown) {
            z->failed = true;
            return NULL;
        }
        z->members = grown;
        z->capacity = capacity;
    }
    pl_zip_member *m = &z->members[z->count];
    *m = (pl_zip_member){.name = strdup(name), .offset = z->out->position};
    if (!m->name) {
        z->failed = true;
        return NULL;
    }
    z->count++;
    return m;
}

static void put_local(pl_zip *z, const pl_zip_member *m)
{
    bool big = is_big(z, m);
    uint64_t size = m->streamed ? 0 : m->size;
    fields f = {.length = 0};
    put(&f, 4, 0x04034b50);
    put(&f, 2, big ? VERSION_64 : VERSION);
    put(&f, 2, m->streamed ? STREAMED : 0);
    put(&f, 2, 0); /* stored */
    put(&f, 2, 0);
    put(&f, 2, DATE);
    put(&f, 4, m->streamed ? 0 : m->crc);
    put(&f, 4, big ? 0xffffffffu : size);
    put(&f, 4, big ? 0xffffffffu : size);
    put(&f, 2, strlen(m->name));
    put(&f, 2, big ? 20 : 0);
    pl_outlet_put(z->out, f.bytes, f.length);
    pl_outlet_put(z->out, m->name, strlen(m->name));
    if (big) {
        f.length = 0;
        put(&f, 2, 1);
        put(&f, 2, 16);
        put(&f, 8, size);
        put(&f, 8, size);
        pl_outlet_put(z->out, f.bytes, f.length);
    }
}

/* The CRC of a constant span is computed once. */
static uint32_t sum_of(const pl_span *s)
{
    if (s->sum && s->sum->known)
        return s->sum->crc;
    uint32_t crc = pl_zpack_crc32(0, s->data, s->size);
    if (s->sum)
        *s->sum = (pl_span_sum){true, crc};
    return crc;
}

void pl_zip_add(pl_zip *z, const char *name, const pl_span *spans, int count)
{
    pl_zip_member *m = add_member(z, name);
    if (!m)
        return;
    for (int i = 0; i < count; i++) {
        m->crc = pl_zpack_crc32_combine(m->crc, sum_of(&spans[i]), spans[i].size);
        m->size += spans[i].size;
    }
    put_local(z, m);
    for (int i = 0; i < count; i++)
        pl_outlet_put(z->out, spans[i].data, spans[i].size);
}

void pl_zip_begin(pl_zip *z, const char *name, uint64_t size)
{
    pl_zip_member *m = add_member(z, name);
    if (!m)
        return;
    m->streamed = true;
    m->size = size;
    put_local(z, m);
    z->start = z->out->position;
}

void pl_zip_write(pl_zip *z, const void *data, size_t size)
{
    if (z->failed)
        return;
    pl_zip_member *m = &z->members[z->count - 1];
    m->crc = pl_zpack_crc32(m->crc, data, size);
    pl_outlet_put(z->out, data, size);
}

void pl_zip_end(pl_zip *z)
{
    if (z->failed)
        return;
    const pl_zip_member *m = &z->members[z->count - 1];
    int width = is_big(z, m) ? 8 : 4;
    z->uneven |= z->out->position - z->start != m->size;
    fields f = {.length = 0};
    put(&f, 4, 0x08074b50);
    put(&f, 4, m->crc);
    put(&f, width, m->size);
    put(&f, width, m->size);
    pl_outlet_put(z->out, f.bytes, f.length);
}

static void put_entry(pl_zip *z, const pl_zip_member *m)
{
    fields extra = {.length = 0};
    if (is_big(z, m)) {
        put(&extra, 8, m->size);
        put(&extra, 8, m->size);
    }
    if (m->offset >= z->zip64_from)
        put(&extra, 8, m->offset);
    fields f = {.length = 0};
    put(&f, 4, 0x02014b50);
    put(&f, 2, (3 << 8) | VERSION_64); /* made by: Unix */
    put(&f, 2, extra.length ? VERSION_64 : VERSION);
    put(&f, 2, m->streamed ? STREAMED : 0);
    put(&f, 2, 0);
    put(&f, 2, 0);
    put(&f, 2, DATE);
    put(&f, 4, m->crc);
    put(&f, 4, clipped(z, m->size));
    put(&f, 4, clipped(z, m->size));
    put(&f, 2, strlen(m->name));
    put(&f, 2, extra.length ? extra.length + 4 : 0);
    put(&f, 2, 0); /* comment */
    put(&f, 2, 0); /* disk */
    put(&f, 2, 0); /* internal attributes */
    put(&f, 4, 0100644u << 16);
    put(&f, 4, clipped(z, m->offset));
    pl_outlet_put(z->out, f.bytes, f.length);
    pl_outlet_put(z->out, m->name, strlen(m->name));
    if (extra.length) {
        f.length = 0;
        put(&f, 2, 1);
        put(&f, 2, extra.length);
        pl_outlet_put(z->out, f.bytes, f.length);
        pl_outlet_put(z->out, extra.bytes, extra.length);
    }
}

static void put_end(pl_zip *z, uint64_t start, uint64_t size)
{
    uint64_t count = (uint64_t)z->count;
    bool many = count >= 0xffff, big = many || start >= z->zip64_from || size >= z->zip64_from;
    fields f = {.length = 0};
    if (big) {
        put(&f, 4, 0x06064b50);
        put(&f, 8, 44); /* the following size of this record */
        put(&f, 2, (3 << 8) | VERSION_64);
        put(&f, 2, VERSION_64);
        put(&f, 4, 0);
        put(&f, 4, 0);
        put(&f, 8, count);
        put(&f, 8, count);
        put(&f, 8, size);
        put(&f, 8, start);
        put(&f, 4, 0x07064b50); /* its locator */
        put(&f, 4, 0);
        put(&f, 8, start + size);
        put(&f, 4, 1);
    }
    put(&f, 4, 0x06054b50);
    put(&f, 2, 0);
    put(&f, 2, 0);
    put(&f, 2, many ? 0xffff : count);
    put(&f, 2, many ? 0xffff : count);
    put(&f, 4, clipped(z, size));
    put(&f, 4, clipped(z, start));
    put(&f, 2, 0);
    pl_outlet_put(z->out, f.bytes, f.length);
}

pl_status pl_zip_finish(pl_zip *z)
{
    if (z->failed || z->uneven)
        return z->failed ? PL_NO_MEMORY : PL_INVALID;
    uint64_t start = z->out->position;
    for (int64_t i = 0; i < z->count; i++)
        put_entry(z, &z->members[i]);
    put_end(z, start, z->out->position - start);
    return PL_OK;
}
