#include "server/control_log.h"

#include "protocol/json.h"
#include "protocol/record.h"
#include "protocol/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands are some 80 bytes each, and given by people. */
enum { LOG_LIMIT = 64 << 20 };

int pl_control_append(const char *directory, const char *action)
{
    char path[PATH_MAX + 80], json[64];
    unsigned char record[PL_RECORD_HEADER + 64] = {0};
    size_t length = (size_t)snprintf(json, sizeof json, "{\"action\": \"%s\"}", action);
    pl_record r = {
        .type = PL_RECORD_CONTROL, .length = length, .payload_crc = pl_crc32c(0, json, length)};
    pl_record_encode(&r, record);
    memcpy(record + PL_RECORD_HEADER, json, length);
    size_t size = pl_record_size(length);
    snprintf(path, sizeof path, "%s/control.log", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return errno;
    }
    int error = 0;
    if (write(fd, record, size) != (ssize_t)size || fdatasync(fd) != 0) {
        error = errno ? errno : EIO;
    }
    close(fd);
    return error;
}

static void apply(pl_control_state *state, const void *payload, size_t length)
{
    pl_json *document = pl_json_parse(payload, length, NULL);
    const char *action = pl_json_string(document, "action", "");
    state->cancelled = state->cancelled || strcmp(action, "cancel") == 0;
    if (strcmp(action, "pause") == 0 || strcmp(action, "resume") == 0) {
        state->paused = strcmp(action, "pause") == 0;
    }
    pl_json_free(document);
}

pl_control_state pl_control_read(const char *directory)
{
    pl_control_state state = {0};
    char *bytes;
    size_t size;
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool there = dir_fd >= 0 &&
                 pl_file_read(dir_fd, "control.log", LOG_LIMIT, &bytes, &size) == PL_OK;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (!there) {
        return state;
    }
    for (size_t at = 0; at + PL_RECORD_HEADER <= size;) {
        pl_record r;
        const unsigned char *record = (unsigned char *)bytes + at;
        bool whole = pl_record_decode(record, size - at, &r) == PL_RECORD_GOOD &&
                     pl_record_size(r.length) <= size - at &&
                     pl_crc32c(0, record + PL_RECORD_HEADER, r.length) == r.payload_crc;
        if (whole && r.type == PL_RECORD_CONTROL) {
            apply(&state, record + PL_RECORD_HEADER, r.length);
        }
        at += whole ? pl_record_size(r.length) : 8; /* records are 8-aligned */
    }
    free(bytes);
    return state;
}
