#include "server/upkeep/manifest.h"

#include "protocol/log/record.h"
#include "protocol/log/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 32)

bool pl_manifest_add(pl_manifest *m, const char *path, const pl_manifest_entry *e)
{
    if (m->count == m->capacity) {
        size_t capacity = 2 * m->capacity + 64;
        pl_manifest_entry *grown = realloc(m->entries, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        m->entries = grown;
        m->capacity = capacity;
    }
    pl_manifest_entry *last = &m->entries[m->count];
    *last = *e;
    last->path = strdup(path);
    m->count += last->path != NULL;
    return last->path;
}

void pl_manifest_cut(pl_manifest *m, size_t count)
{
    while (m->count > count) {
        free(m->entries[--m->count].path);
    }
}

void pl_manifest_remove(pl_manifest *m, size_t index)
{
    free(m->entries[index].path);
    m->entries[index] = m->entries[--m->count];
}

void pl_manifest_clear(pl_manifest *m)
{
    pl_manifest_cut(m, 0);
    free(m->entries);
    *m = (pl_manifest){0};
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const pl_manifest_entry *)a)->path, ((const pl_manifest_entry *)b)->path);
}

const pl_manifest_entry *pl_manifest_find(const pl_manifest *m, const char *path)
{
    pl_manifest_entry key = {.path = (char *)path};
    return m->count ? bsearch(&key, m->entries, m->count, sizeof key, by_path) : NULL;
}

bool pl_manifest_write(pl_manifest *m, int backup_fd, uint32_t *crc)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (m->count) {
        qsort(m->entries, m->count, sizeof *m->entries, by_path);
    }
    for (size_t i = 0; out && i < m->count; i++) {
        const pl_manifest_entry *e = &m->entries[i];
        fprintf(out, "%08x %llu %lld %llu %s\n", e->crc, (unsigned long long)e->bytes,
                (long long)e->modified_ns, (unsigned long long)e->inode, e->path);
    }
    bool good = out && fclose(out) == 0;
    if (good) {
        *crc = pl_crc32c(0, text, size);
        good = pl_file_replace(backup_fd, PL_MANIFEST_NAME, text, size, true) == PL_OK;
    }
    free(text);
    return good;
}

static bool take_line(pl_manifest *m, const char *line)
{
    pl_manifest_entry e;
    unsigned long long bytes, inode;
    long long modified;
    int at = 0;
    if (sscanf(line, "%8x %llu %lld %llu %n", &e.crc, &bytes, &modified, &inode, &at) != 4 || !at ||
        !line[at] || line[at] == '/' || strstr(line + at, "..")) {
        errno = EBADMSG;
        return false;
    }
    e.bytes = bytes;
    e.inode = inode;
    e.modified_ns = modified;
    return pl_manifest_add(m, line + at, &e);
}

bool pl_manifest_read(pl_manifest *m, int backup_fd, uint32_t crc)
{
    char *text, *rest = NULL;
    size_t size;
    if (pl_file_read(backup_fd, PL_MANIFEST_NAME, LIMIT, &text, &size) != PL_OK) {
        return false;
    }
    bool good = pl_crc32c(0, text, size) == crc;
    if (!good) {
        errno = EBADMSG;
    }
    for (char *line = strtok_r(text, "\n", &rest); good && line;
         line = strtok_r(NULL, "\n", &rest)) {
        good = take_line(m, line);
    }
    free(text);
    return good;
}
