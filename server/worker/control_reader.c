#include "server/worker/control_reader.h"

#include "protocol/log/fresh.h"
#include "protocol/text/json.h"
#include "protocol/log/record.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No command is larger than CHUNK. Twice that is read at once, so that a command that begins in the first half is
 * complete. */
enum { CHUNK = 64 << 10, WINDOW = 2 * CHUNK };

void pl_control_reader_init(pl_control_reader *c, int directory)
{
    *c = (pl_control_reader){.directory = directory, .fd = -1, .pause_at = -1};
}

void pl_control_reader_clear(pl_control_reader *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    pl_control_item item;
    while (pl_control_reader_next(c, &item))
        free(item.text);
    free(c->items);
    c->items = NULL;
    c->item_room = 0;
}

bool pl_control_reader_next(pl_control_reader *c, pl_control_item *item)
{
    if (c->item_first == c->item_count) {
        c->item_first = c->item_count = 0;
        return false;
    }
    *item = c->items[c->item_first++];
    return true;
}

/* Queue a control. Numbers must increase; one that does not is a record written twice. */
static bool queue(pl_control_reader *c, const pl_json *document)
{
    int64_t number = pl_json_integer(document, "id", 0);
    const pl_json *change = pl_json_at(document, "control");
    if (number <= c->newest || !change)
        return true;
    if (c->item_count == c->item_room) {
        size_t room = 2 * c->item_room + 16;
        pl_control_item *larger = realloc(c->items, room * sizeof *larger);
        if (!larger)
            return false;
        c->items = larger;
        c->item_room = room;
    }
    char *text = pl_json_dump(change, false);
    if (!text)
        return false;
    c->items[c->item_count++] = (pl_control_item){number, text};
    c->newest = number;
    return true;
}

/* False if out of memory: the command is left for the next look. */
static bool apply(pl_control_reader *c, const char *payload, size_t length)
{
    bool taken = true;
    char error[160];
    pl_json *document = pl_json_parse(payload, length, error);
    if (!document && errno == ENOMEM)
        return false;
    if (!document) {
        pl_worker_logf("control.log: a command that is not JSON: %s", error);
        return true;
    }
    const char *action = pl_json_string(document, "action", "");
    if (strcmp(action, "cancel") == 0)
        c->cancelled = true;
    else if (strcmp(action, "control") == 0)
        taken = queue(c, document);
    else if (strcmp(action, "retention") == 0) {
        c->has_keep = true;
        c->keep_last = pl_json_integer(document, "last", 0);
        c->keep_every = pl_json_integer(document, "every", 0);
    } else if (strcmp(action, "step") == 0 || strcmp(action, "pause") == 0 ||
               strcmp(action, "resume") == 0) {
        c->paused = action[0] == 'p';
        c->pause_at = action[0] == 's' ? pl_json_integer(document, "until", 0) : -1;
    } else
        pl_worker_logf("control.log: unknown action '%.40s' ignored", action);
    pl_json_free(document);
    return taken;
}

/* True if a whole, undamaged record starts here. *size is set if the header is good. */
static bool whole_record(const unsigned char *bytes, size_t left, pl_record *record, uint64_t *size)
{
    *size = 0;
    if (pl_record_decode(bytes, left, record) != PL_RECORD_GOOD ||
        record->length > CHUNK - PL_RECORD_HEADER)
        return false;
    *size = pl_record_size(record->length);
    return *size <= left &&
           pl_crc32c(0, bytes + PL_RECORD_HEADER, record->length) == record->payload_crc;
}

/* Offset of the next whole record at or after `from`, or `length`. Records are 8-aligned. */
static size_t next_record(const unsigned char *bytes, size_t length, size_t from)
{
    for (size_t at = from; at + PL_RECORD_HEADER <= length; at += 8) {
        pl_record record;
        uint64_t size;
        if (whole_record(bytes + at, length - at, &record, &size))
            return at;
    }
    return length;
}

/* Apply the records in bytes; returns the number of bytes consumed. *starved: out of memory for the next record. */
static size_t consume(pl_control_reader *c, const unsigned char *bytes, size_t length,
                      bool *starved)
{
    size_t done = 0;
    while (done + PL_RECORD_HEADER <= length) {
        pl_record record;
        uint64_t size;
        if (!whole_record(bytes + done, length - done, &record, &size)) {
            /* The last bytes may be a record half written: bytes are known to be damaged only if a whole record follows
             * them. */
            size_t next = next_record(bytes, length, done + 8);
            if (next == length)
                break;
            pl_worker_logf("control.log: %zu damaged bytes at %llu skipped", next - done,
                           (unsigned long long)(c->offset + done));
            done = next;
            continue;
        }
        if (record.type == PL_RECORD_CONTROL &&
            !apply(c, (const char *)bytes + done + PL_RECORD_HEADER, record.length)) {
            *starved = true;
            break;
        }
        done += size;
    }
    return done;
}

void pl_control_reader_poll(pl_control_reader *c)
{
    if (c->fd < 0)
        c->fd = openat(c->directory, "control.log", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (c->fd < 0 || pl_stat_fresh(c->fd, &st) != 0 || (uint64_t)st.st_size == c->seen)
        return;
    unsigned char *window = malloc(WINDOW);
    if (!window)
        return;
    bool starved = false;
    while (!starved) {
        ssize_t got = pread(c->fd, window, WINDOW, (off_t)c->offset);
        if (got <= 0)
            break;
        size_t done = consume(c, window, (size_t)got, &starved);
        /* No command begins in the first half of a full window without one: skip it. */
        if (done == 0 && got == WINDOW && !starved)
            done = CHUNK;
        c->offset += done;
        if (done == 0)
            break;
    }
    /* The next writer cuts off a torn end; with its command the file may be as long as before. */
    if (!starved && c->offset >= (uint64_t)st.st_size)
        c->seen = (uint64_t)st.st_size;
    free(window);
}
