#include "tests/fuzz/fuzz.h"

#include "protocol/log/log.h"
#include "protocol/text/json.h"
#include "protocol/text/problem.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "REQUIREMENT: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}

void *fuzz_exact(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);
    FUZZ_REQUIRE(copy != NULL, "out of memory");
    memcpy(copy, size ? bytes : "", size);
    return copy;
}

/* ---- a directory in memory ---- */

static char directory_path[256];

static void remove_directory(void)
{
    fuzz_clean();
    char log[300];
    snprintf(log, sizeof log, "%s/log", directory_path);
    rmdir(log);
    rmdir(directory_path);
}

int fuzz_directory(void)
{
    static int fd = -1;
    if (fd >= 0)
        return fd;
    const char *base = getenv("TMPDIR");
    snprintf(directory_path, sizeof directory_path, "%s/pliant-fuzz-XXXXXX",
             base ? base : "/dev/shm");
    FUZZ_REQUIRE(mkdtemp(directory_path), "%s cannot be made", directory_path);
    fd = open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && mkdirat(fd, "log", 0700) == 0, "%s cannot be used", directory_path);
    atexit(remove_directory);
    return fd;
}

static void put_file(const char *name, const void *bytes, size_t size, int how)
{
    int fd = openat(fuzz_directory(), name, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "%s cannot be written", name);
    close(fd);
}

void fuzz_write(const char *name, const void *bytes, size_t size)
{
    put_file(name, bytes, size, O_TRUNC);
}

void fuzz_append(const char *name, const void *bytes, size_t size)
{
    put_file(name, bytes, size, O_APPEND);
}

static void clean_folder(const char *name)
{
    int fd = openat(fuzz_directory(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (e->d_type != DT_DIR)
            unlinkat(fd, e->d_name, 0);
    if (folder)
        closedir(folder);
}

void fuzz_clean(void)
{
    clean_folder(".");
    clean_folder("log");
}

/* ---- parts ---- */

size_t fuzz_parts(const uint8_t *data, size_t size, fuzz_part *parts)
{
    size_t count = 0;
    while (size >= FUZZ_PART_HEADER && count < FUZZ_PARTS_MAX) {
        size_t length = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;
        size -= FUZZ_PART_HEADER;
        length = length < size ? length : size;
        parts[count++] = (fuzz_part){data[0], data + FUZZ_PART_HEADER, length};
        data += FUZZ_PART_HEADER + length;
        size -= length;
    }
    return count;
}

/* Write the parts one after another; parts that no longer fit are left out. */
static size_t put_parts(uint8_t *out, size_t room, const fuzz_part *parts, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = parts[i].size;
        if (used + FUZZ_PART_HEADER + length > room)
            break;
        out[used] = parts[i].op;
        out[used + 1] = (uint8_t)length;
        out[used + 2] = (uint8_t)(length >> 8);
        out[used + 3] = (uint8_t)(length >> 16);
        memcpy(out + used + FUZZ_PART_HEADER, parts[i].bytes, length);
        used += FUZZ_PART_HEADER + length;
    }
    return used;
}

static unsigned int draw(unsigned int *state, unsigned int below)
{
    *state = *state * 1664525u + 1013904223u;
    return (unsigned int)((uint64_t)(*state >> 8) * below >> 24);
}

/* One change to the list of parts; *count stays from 1 to FUZZ_PARTS_MAX. */
static void shuffle_parts(fuzz_part *parts, size_t *count, unsigned int op_count,
                          unsigned int *state)
{
    size_t i = draw(state, (unsigned int)*count), j = draw(state, (unsigned int)*count);
    fuzz_part chosen = parts[i];
    switch (draw(state, 4)) {
    case 0: /* a copy, elsewhere */
        if (*count < FUZZ_PARTS_MAX) {
            memmove(parts + j + 1, parts + j, (*count - j) * sizeof *parts);
            parts[j] = chosen;
            ++*count;
        }
        break;
    case 1:
        if (*count > 1) {
            memmove(parts + i, parts + i + 1, (*count - i - 1) * sizeof *parts);
            --*count;
        }
        break;
    case 2:
        parts[i] = parts[j];
        parts[j] = chosen;
        break;
    default:
        parts[i].op = (uint8_t)draw(state, op_count);
        break;
    }
}

size_t fuzz_mutate_parts(uint8_t *data, size_t size, size_t max_size, unsigned int seed,
                         unsigned int op_count, fuzz_mend mend)
{
    fuzz_part parts[FUZZ_PARTS_MAX + 1];
    unsigned int state = seed;
    uint8_t *copy = fuzz_exact(data, size), *changed = fuzz_exact(data, 0);
    size_t count = fuzz_parts(copy, size, parts);
    if (count == 0)
        parts[count++] = (fuzz_part){0, copy, 0};
    if (draw(&state, 4) == 0)
        shuffle_parts(parts, &count, op_count, &state);
    size_t i = draw(&state, (unsigned int)count), others = 0;
    for (size_t k = 0; k < count; k++)
        others += FUZZ_PART_HEADER + (k == i ? 0 : parts[k].size);
    size_t room = max_size > others ? max_size - others : 0;
    room = room < 0xffffff ? room : 0xffffff;
    if (room > 0) {
        free(changed);
        changed = malloc(room);
        FUZZ_REQUIRE(changed != NULL, "out of memory");
        size_t length = parts[i].size < room ? parts[i].size : room;
        memcpy(changed, parts[i].bytes, length);
        length = LLVMFuzzerMutate(changed, length, room);
        if (draw(&state, 8))
            length = mend(parts[i].op, changed, length, room);
        parts[i].bytes = changed;
        parts[i].size = length;
    }
    size = put_parts(data, max_size, parts, count);
    free(changed);
    free(copy);
    return size;
}

/* ---- mending ---- */

static void put_u32(uint8_t *out, uint32_t v)
{
    memcpy(out, &v, sizeof v);
}

size_t fuzz_mend_records(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + PL_RECORD_HEADER <= size; at += 8) {
        if (memcmp(bytes + at, "PLR1", 4) != 0)
            continue;
        uint64_t length;
        memcpy(&length, bytes + at + 32, sizeof length);
        if (length <= size - at - PL_RECORD_HEADER)
            put_u32(bytes + at + 44, pl_crc32c(0, bytes + at + PL_RECORD_HEADER, length));
        put_u32(bytes + at + 40, pl_crc32c(0, bytes + at, 40));
    }
    return size;
}

size_t fuzz_mend_index(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + PL_INDEX_ENTRY <= size; at += PL_INDEX_ENTRY)
        put_u32(bytes + at + 44, pl_crc32c(0, bytes + at, 44));
    return size;
}

size_t fuzz_mend_seal(uint8_t *bytes, size_t size, size_t room)
{
    static const char member[] = ",\"crc32c\":\"";
    enum { SEAL = sizeof member - 1 + 8 + 2 };
    char seal[SEAL + 1];
    size_t covered = size;
    if (size >= SEAL && memcmp(bytes + size - SEAL, member, sizeof member - 1) == 0)
        covered = size - SEAL;
    else if (size > 0 && bytes[size - 1] == '}')
        covered = size - 1;
    if (covered + SEAL > room)
        return size;
    snprintf(seal, sizeof seal, "%s%08" PRIx32 "\"}", member, pl_crc32c(0, bytes, covered));
    memcpy(bytes + covered, seal, SEAL);
    return covered + SEAL;
}

void fuzz_check_faults(const pl_faults *faults)
{
    FUZZ_REQUIRE(faults->total > 0, "refused without a fault");
    for (size_t i = 0; i < faults->count; i++)
        FUZZ_REQUIRE(faults->items[i].code && faults->items[i].code[0], "a fault without code");
    char *text = pl_problem_encode(422, "invalid_scene", "Invalid scene", "", faults);
    char error[160] = "";
    pl_json *report = text ? pl_json_parse(text, strlen(text), error) : NULL;
    FUZZ_REQUIRE(report, "the report is no JSON: %s in %s", error, text ? text : "nothing");
    pl_json_free(report);
    free(text);
}
