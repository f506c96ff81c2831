#include "clients/cli/npy.h"

#include "clients/cli/zpack.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie");

enum { NPY_PREFIX = 10, ZIP_LOCAL = 30, ZIP_VERSION = 20, ZIP_VERSION_64 = 45 };

size_t pl_npy_header(const pl_npy_shape *shape, char out[PL_NPY_HEADER_MAX])
{
    char dims[96] = "";
    size_t at = 0;
    for (int32_t i = 0; i < shape->rank; i++)
        at += (size_t)snprintf(dims + at, sizeof dims - at, "%" PRId64 ",%s", shape->dims[i],
                               i + 1 < shape->rank ? " " : "");
    int length = snprintf(out + NPY_PREFIX, PL_NPY_HEADER_MAX - NPY_PREFIX,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", shape->descr,
                          dims);
    size_t total = ((size_t)(NPY_PREFIX + length) + 1 + 63) / 64 * 64;
    size_t dict = total - NPY_PREFIX;
    memset(out + NPY_PREFIX + length, ' ', dict - (size_t)length);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(dict & 0xff);
    out[9] = (char)(dict >> 8);
    return total;
}

uint64_t pl_npy_bytes(const pl_npy_shape *shape)
{
    uint64_t bytes = (uint64_t)(shape->descr[2] - '0');
    for (int32_t i = 0; i < shape->rank; i++)
        bytes *= (uint64_t)shape->dims[i];
    return bytes;
}

pl_status pl_npy_write(const char *path, const pl_npy_shape *shape, const void *data)
{
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    char header[PL_NPY_HEADER_MAX];
    pl_outfile_write(&f, header, pl_npy_header(shape, header));
    pl_outfile_write(&f, data, pl_npy_bytes(shape));
    return pl_outfile_commit(&f);
}

/* Our own writer's dictionary order is not relied upon: only what follows each key. */
static const char *dict_value(const char *dict, const char *key)
{
    const char *at = strstr(dict, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

pl_status pl_npy_read_int32(const char *bytes, size_t size, int64_t columns, int32_t **out,
                            int64_t *rows)
{
    char dict[512] = "";
    if (size < NPY_PREFIX || memcmp(bytes, "\x93NUMPY\x01", 7) != 0)
        return PL_INVALID;
    size_t length = (unsigned char)bytes[8] | (size_t)(unsigned char)bytes[9] << 8;
    if (length >= sizeof dict || size < NPY_PREFIX + length)
        return PL_INVALID;
    memcpy(dict, bytes + NPY_PREFIX, length);
    const char *descr = dict_value(dict, "'descr'"), *shape = dict_value(dict, "'shape'");
    const char *order = dict_value(dict, "'fortran_order'");
    int64_t m = -1, c = -1;
    if (!descr || strncmp(descr, "'<i4'", 5) != 0 || !order || strncmp(order, "False", 5) != 0 ||
        !shape || sscanf(shape, "(%" SCNd64 ", %" SCNd64, &m, &c) != 2 || m < 0 || c != columns)
        return PL_INVALID;
    size_t have = size - NPY_PREFIX - length;
    if ((uint64_t)m > have / sizeof(int32_t) / (uint64_t)columns)
        return PL_INVALID;
    size_t items = (size_t)m * (size_t)columns;
    int32_t *values = malloc(items ? items * sizeof *values : 1);
    if (!values)
        return PL_NO_MEMORY;
    memcpy(values, bytes + NPY_PREFIX + length, items * sizeof *values);
    *out = values;
    *rows = m;
    return PL_OK;
}

/* ---- zip --------------------------------------------------------------------------------------
 */

typedef struct zip_fields {
    unsigned char bytes[160];
    size_t length;
} zip_fields;

static void put(zip_fields *f, int width, uint64_t value)
{
    for (int i = 0; i < width; i++)
        f->bytes[f->length++] = (unsigned char)(value >> (8 * i));
}

static uint64_t clipped(const pl_npz *z, uint64_t value)
{
    return value >= z->zip64_from ? 0xffffffffu : value;
}

pl_status pl_npz_open(pl_npz *z, const char *path)
{
    *z = (pl_npz){.zip64_from = 0xffffffffu};
    return pl_outfile_open(&z->file, path);
}

void pl_npz_begin(pl_npz *z, const char *name, const pl_npy_shape *shape)
{
    char header[PL_NPY_HEADER_MAX];
    size_t header_size = pl_npy_header(shape, header);
    pl_npz_member *m = &z->members[z->count];
    *m = (pl_npz_member){.offset = z->file.position, .size = header_size + pl_npy_bytes(shape)};
    snprintf(m->name, sizeof m->name, "%s.npy", name);
    bool big = m->size >= z->zip64_from;
    zip_fields f = {.length = 0};
    put(&f, 4, 0x04034b50);
    put(&f, 2, big ? ZIP_VERSION_64 : ZIP_VERSION);
    put(&f, 2, 0); /* flags */
    put(&f, 2, 0); /* stored */
    put(&f, 2, 0); /* time and date: 1 January 1980, so that equal runs give equal archives */
    put(&f, 2, 0x21);
    put(&f, 4, 0); /* CRC, patched in at the end */
    put(&f, 4, clipped(z, m->size));
    put(&f, 4, clipped(z, m->size));
    put(&f, 2, strlen(m->name));
    put(&f, 2, big ? 20 : 0);
    pl_outfile_write(&z->file, f.bytes, f.length);
    pl_outfile_write(&z->file, m->name, strlen(m->name));
    if (big) {
        f.length = 0;
        put(&f, 2, 1);
        put(&f, 2, 16);
        put(&f, 8, m->size);
        put(&f, 8, m->size);
        pl_outfile_write(&z->file, f.bytes, f.length);
    }
    pl_npz_write(z, header, header_size);
}

void pl_npz_write(pl_npz *z, const void *data, size_t size)
{
    pl_npz_member *m = &z->members[z->count];
    m->crc = pl_zpack_crc32(m->crc, data, size);
    pl_outfile_write(&z->file, data, size);
}

void pl_npz_end(pl_npz *z)
{
    pl_npz_member *m = &z->members[z->count];
    uint64_t extra = m->size >= z->zip64_from ? 20 : 0;
    uint64_t data = m->offset + ZIP_LOCAL + strlen(m->name) + extra;
    if (z->file.position - data != m->size && z->file.error == 0)
        z->file.error = -1; /* not an errno: the caller's arrays and shape disagree */
    zip_fields f = {.length = 0};
    put(&f, 4, m->crc);
    pl_outfile_patch(&z->file, m->offset + 14, f.bytes, f.length);
    z->count++;
}

static void write_directory_entry(pl_npz *z, const pl_npz_member *m)
{
    zip_fields extra = {.length = 0};
    if (m->size >= z->zip64_from) {
        put(&extra, 8, m->size);
        put(&extra, 8, m->size);
    }
    if (m->offset >= z->zip64_from)
        put(&extra, 8, m->offset);
    zip_fields f = {.length = 0};
    put(&f, 4, 0x02014b50);
    put(&f, 2, (3 << 8) | ZIP_VERSION_64); /* made by: Unix */
    put(&f, 2, extra.length ? ZIP_VERSION_64 : ZIP_VERSION);
    put(&f, 2, 0);
    put(&f, 2, 0);
    put(&f, 2, 0);
    put(&f, 2, 0x21);
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
    pl_outfile_write(&z->file, f.bytes, f.length);
    pl_outfile_write(&z->file, m->name, strlen(m->name));
    if (extra.length) {
        f.length = 0;
        put(&f, 2, 1);
        put(&f, 2, extra.length);
        pl_outfile_write(&z->file, f.bytes, f.length);
        pl_outfile_write(&z->file, extra.bytes, extra.length);
    }
}

static void write_directory_end(pl_npz *z, uint64_t start, uint64_t size)
{
    zip_fields f = {.length = 0};
    if (start >= z->zip64_from) {
        put(&f, 4, 0x06064b50);
        put(&f, 8, 44); /* what follows of this record */
        put(&f, 2, (3 << 8) | ZIP_VERSION_64);
        put(&f, 2, ZIP_VERSION_64);
        put(&f, 4, 0);
        put(&f, 4, 0);
        put(&f, 8, (uint64_t)z->count);
        put(&f, 8, (uint64_t)z->count);
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
    put(&f, 2, (uint64_t)z->count);
    put(&f, 2, (uint64_t)z->count);
    put(&f, 4, size);
    put(&f, 4, clipped(z, start));
    put(&f, 2, 0);
    pl_outfile_write(&z->file, f.bytes, f.length);
}

pl_status pl_npz_commit(pl_npz *z)
{
    if (z->file.error == -1) {
        pl_npz_abandon(z);
        return PL_INVALID;
    }
    uint64_t start = z->file.position;
    for (int32_t i = 0; i < z->count; i++)
        write_directory_entry(z, &z->members[i]);
    write_directory_end(z, start, z->file.position - start);
    return pl_outfile_commit(&z->file);
}

void pl_npz_abandon(pl_npz *z)
{
    pl_outfile_abandon(&z->file);
}
