#include "server/sessions/control_log.h"

#include "protocol/text/json.h"
#include "server/base/disk.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum size that is read, and the part that controls may fill; the rest is for cancel and pause. */
enum { LOG_LIMIT = 64 << 20, CONTROLS_LIMIT = 60 << 20 };
enum { RECORD_MOST = 64 << 10 }; /* size limit of a command */

static bool is_whole(const unsigned char *record, size_t left, pl_record *out)
{
    return pl_record_decode(record, left, out) == PL_RECORD_GOOD &&
           pl_record_size(out->length) <= left &&
           pl_crc32c(0, record + PL_RECORD_HEADER, out->length) == out->payload_crc;
}

/* ---- the end of the file ---- */

/* End of the last whole record in these bytes, which begin at a multiple of 8. */
static size_t last_end(const unsigned char *bytes, size_t size)
{
    size_t end = 0;
    for (size_t at = 0; at + PL_RECORD_HEADER <= size;) {
        pl_record r;
        bool whole = is_whole(bytes + at, size - at, &r);
        at += whole ? pl_record_size(r.length) : 8;
        end = whole ? at : end;
    }
    return end;
}

/* The same for the last `most` bytes of the file; 0 if no record is whole. */
static off_t find_end(int fd, off_t size, off_t most)
{
    off_t from = size > most ? (size - most) & ~(off_t)7 : 0;
    unsigned char *bytes = malloc((size_t)(size - from));
    ssize_t got = bytes ? pread(fd, bytes, (size_t)(size - from), from) : -1;
    size_t end = got > 0 ? last_end(bytes, (size_t)got) : 0;
    free(bytes);
    if (got < size - from) {
        errno = got < 0 ? errno : EIO;
        return -1;
    }
    return end ? from + (off_t)end : 0;
}

/* Cut off bytes after the last whole command, left by a daemon that was killed during an unacknowledged write. Readers
 * proceed in multiples of 8 and might miss a command after them. 0 or an errno. */
static int cut_torn_end(int fd, off_t *size)
{
    off_t end = *size ? find_end(fd, *size, 2 * RECORD_MOST) : 0;
    end = *size && end == 0 ? find_end(fd, *size, LOG_LIMIT) : end;
    if (end < 0 || (end < *size && ftruncate(fd, end) != 0)) {
        return errno;
    }
    *size = end;
    return 0;
}

/* ---- appending ---- */

/* Append the whole record, or nothing. */
static int append_record(int fd, const void *record, size_t size, off_t before, bool synced)
{
    ssize_t n = write(fd, record, size);
    int error = n == (ssize_t)size && (!synced || fdatasync(fd) == 0) ? 0
                : n >= 0 && n < (ssize_t)size                         ? ENOSPC
                                                                      : errno;
    if (error && ftruncate(fd, before) != 0) {
        return errno; /* a reader treats a torn record as not yet there */
    }
    return error;
}

/* Release from the state directory of this session's directory. */
static bool release_reserve(const char *directory)
{
    char path[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/../../..", directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool released = fd >= 0 && pl_reserve_release(fd);
    if (fd >= 0) {
        close(fd);
    }
    return released;
}

/* Append a record with this JSON to control.log, if the file is shorter than `limit`. */
static int put(const char *directory, const char *json, size_t length, off_t limit, bool synced)
{
    char path[PATH_MAX + 80];
    pl_record r = {
        .type = PL_RECORD_CONTROL, .length = length, .payload_crc = pl_crc32c(0, json, length)};
    size_t size = pl_record_size(length);
    unsigned char *record = calloc(1, size);
    if (!record) {
        return ENOMEM;
    }
    pl_record_encode(&r, record);
    memcpy(record + PL_RECORD_HEADER, json, length);
    snprintf(path, sizeof path, "%s/control.log", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = fd < 0 ? errno : 0;
    struct stat st, folder;
    if (!error && (fstat(fd, &st) != 0 || st.st_size > limit)) {
        error = EFBIG;
    }
    /* The worker may run as another uid, the directory's owner, and must be able to read it. */
    if (!error && stat(directory, &folder) == 0 && folder.st_uid != st.st_uid &&
        fchown(fd, folder.st_uid, folder.st_gid) != 0) {
        error = errno;
    }
    error = error ? error : cut_torn_end(fd, &st.st_size);
    if (!error) {
        error = append_record(fd, record, size, st.st_size, synced);
    }
    if (fd >= 0) {
        close(fd);
    }
    free(record);
    return error;
}

static int append(const char *directory, const char *json, size_t length, off_t limit)
{
    return put(directory, json, length, limit, true);
}

int pl_control_begin_paused(const char *directory)
{
    static const char json[] = "{\"action\": \"pause\"}";
    return put(directory, json, sizeof json - 1, LOG_LIMIT, false);
}

/* A full disk must not prevent pausing or cancelling. */
int pl_control_append(const char *directory, const char *action)
{
    char json[64];
    int length = snprintf(json, sizeof json, "{\"action\": \"%s\"}", action);
    int error = append(directory, json, (size_t)length, LOG_LIMIT);
    if ((error == ENOSPC || error == EDQUOT) && release_reserve(directory)) {
        error = append(directory, json, (size_t)length, LOG_LIMIT);
    }
    return error;
}

int pl_control_append_step(const char *directory, int64_t frame)
{
    char json[64];
    int length = snprintf(json, sizeof json, "{\"action\": \"step\", \"until\": %lld}",
                          (long long)frame);
    return append(directory, json, (size_t)length, LOG_LIMIT);
}

int pl_control_append_retention(const char *directory, int64_t last, int64_t every)
{
    char json[96];
    int length = snprintf(json, sizeof json,
                          "{\"action\": \"retention\", \"last\": %lld, \"every\": %lld}",
                          (long long)last, (long long)every);
    return append(directory, json, (size_t)length, CONTROLS_LIMIT);
}

int pl_control_append_change(const char *directory, int64_t number, const char *control)
{
    char *json;
    int length = asprintf(&json, "{\"action\": \"control\", \"id\": %lld, \"control\": %s}",
                          (long long)number, control);
    if (length < 0) {
        return ENOMEM;
    }
    int error = append(directory, json, (size_t)length, CONTROLS_LIMIT);
    free(json);
    return error;
}

typedef void (*seeing)(void *context, const pl_json *document, const char *action);

/* Pass on every whole command, in order. 0, or errno if they cannot be read. */
static int walk(const char *directory, seeing see, void *context)
{
    char *bytes;
    size_t size;
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_status status = dir_fd < 0 ? PL_IO
                                  : pl_file_read(dir_fd, "control.log", LOG_LIMIT, &bytes, &size);
    int error = status == PL_OK ? 0 : status == PL_NO_MEMORY ? ENOMEM : errno;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (error) {
        return error == ENOENT ? 0 : error;
    }
    for (size_t at = 0; at + PL_RECORD_HEADER <= size && !error;) {
        pl_record r;
        const unsigned char *record = (unsigned char *)bytes + at;
        bool whole = is_whole(record, size - at, &r);
        if (whole && r.type == PL_RECORD_CONTROL) {
            pl_json *document = pl_json_parse((const char *)record + PL_RECORD_HEADER, r.length,
                                              NULL);
            error = !document && errno == ENOMEM ? ENOMEM : 0;
            see(context, document, pl_json_string(document, "action", ""));
            pl_json_free(document);
        }
        at += whole ? pl_record_size(r.length) : 8; /* records are 8-aligned */
    }
    free(bytes);
    return error;
}

static void apply(void *context, const pl_json *document, const char *action)
{
    pl_control_state *state = context;
    state->cancelled = state->cancelled || strcmp(action, "cancel") == 0;
    bool step = strcmp(action, "step") == 0;
    if (step || strcmp(action, "pause") == 0 || strcmp(action, "resume") == 0) {
        state->paused = step || strcmp(action, "pause") == 0;
    }
    if (strcmp(action, "control") == 0) {
        int64_t number = pl_json_integer(document, "id", 0);
        state->controls = number > state->controls ? number : state->controls;
    }
}

int pl_control_read(const char *directory, pl_control_state *out)
{
    pl_control_state state = {0};
    int error = walk(directory, apply, &state);
    *out = error ? (pl_control_state){0} : state;
    return error;
}

typedef struct listing {
    int64_t after;
    size_t count, most;
    bool starved;
    pl_control_entry *entries;
} listing;

static void list_one(void *context, const pl_json *document, const char *action)
{
    listing *l = context;
    int64_t number = pl_json_integer(document, "id", 0);
    if (strcmp(action, "control") != 0 || number <= l->after || l->count == l->most) {
        return;
    }
    char *text = pl_json_dump(pl_json_at(document, "control"), false);
    if (text) {
        l->entries[l->count++] = (pl_control_entry){number, text};
    }
    l->starved |= !text;
}

int pl_control_list(const char *directory, int64_t after, pl_control_entry *entries, size_t most,
                    size_t *count)
{
    listing l = {.after = after, .most = most, .entries = entries};
    int error = walk(directory, list_one, &l);
    error = !error && l.starved ? ENOMEM : error;
    for (size_t i = 0; error && i < l.count; i++) {
        free(entries[i].text);
    }
    *count = error ? 0 : l.count;
    return error;
}
