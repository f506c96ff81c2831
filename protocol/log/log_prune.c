#include "protocol/log/log_prune.h"

#include "protocol/log/log_index.h"
#include "protocol/log/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- thinning ---- */

/* A sealed segment being rewritten. */
typedef struct thinning {
    int dir_fd, from, to;
    int64_t every;
    pl_segment segment; /* its new entry */
    uint64_t end;       /* bytes written */
    pl_index_entry entries[PL_SEGMENT_FRAMES];
    char buffer[256 << 10];
} thinning;

static bool write_all(int fd, const void *data, size_t size, uint64_t at)
{
    for (const char *p = data; size > 0;) {
        ssize_t n = pwrite(fd, p, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        p += n;
        size -= (size_t)n;
        at += (uint64_t)n;
    }
    return true;
}

static bool copy_record(thinning *t, uint64_t at, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        size_t n = size - done < sizeof t->buffer ? (size_t)(size - done) : sizeof t->buffer;
        if (!pl_read_range(t->from, t->buffer, n, at + done) ||
            !write_all(t->to, t->buffer, n, t->end + done))
            return false;
        done += n;
    }
    t->end += size;
    return true;
}

/* Copies a record unless it is a removed frame, and notes its new position. */
static bool take_record(thinning *t, const pl_record *r, uint64_t at)
{
    uint64_t size = pl_record_size(r->length), begin = t->end;
    int64_t i = (int64_t)(r->frame - (uint64_t)t->segment.first_frame);
    bool is_frame = r->type == PL_RECORD_FRAME, is_metrics = r->type == PL_RECORD_METRICS;
    bool ours = r->frame >= (uint64_t)t->segment.first_frame && i < t->segment.frames &&
                r->attempt == (uint32_t)t->segment.attempt;
    if ((is_frame || is_metrics) && (!ours || (is_frame && (int64_t)r->frame % t->every != 0)))
        return true;
    if (!copy_record(t, at, size))
        return false;
    if (is_frame) {
        t->entries[i].frame_offset = begin;
        t->entries[i].frame_size = size;
    } else if (is_metrics) {
        t->entries[i].metrics_offset = begin;
        t->entries[i].metrics_size = size;
    }
    return true;
}

/* Copies records of the old file to the new one; bytes that are not records stay behind. */
static bool copy_records(thinning *t, uint64_t limit)
{
    unsigned char header[PL_RECORD_HEADER];
    pl_record record;
    for (uint64_t at = 0; at + PL_RECORD_HEADER <= limit;) {
        if (!pl_read_range(t->from, header, sizeof header, at))
            return false;
        if (pl_record_decode(header, sizeof header, &record) != PL_RECORD_GOOD) {
            at = pl_next_header(t->from, at + 8, limit);
            continue;
        }
        uint64_t size = pl_record_size(record.length);
        if (size > limit - at)
            break;
        if (!take_record(t, &record, at))
            return false;
        at += size;
    }
    return true;
}

static bool write_index(const thinning *t, int fd)
{
    unsigned char bytes[PL_INDEX_ENTRY];
    for (int64_t i = 0; i < t->segment.frames; i++) {
        pl_index_entry_encode(&t->entries[i], bytes);
        if (!write_all(fd, bytes, sizeof bytes, (uint64_t)i * PL_INDEX_ENTRY))
            return false;
    }
    return true;
}

static void temporary_of(const char *name, char out[PL_SEGMENT_NAME + 4])
{
    snprintf(out, PL_SEGMENT_NAME + 4, "%s.tmp", name);
}

static int create_temporary(int dir_fd, const char *name)
{
    char temporary[PL_SEGMENT_NAME + 4];
    temporary_of(name, temporary);
    return openat(dir_fd, temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
}

/* Syncs it and renames it into place, or removes it. Closes. */
static bool settle_temporary(int dir_fd, const char *name, int fd, bool good)
{
    char temporary[PL_SEGMENT_NAME + 4];
    temporary_of(name, temporary);
    good = good && fdatasync(fd) == 0 && renameat(dir_fd, temporary, dir_fd, name) == 0;
    int kept = errno;
    if (!good)
        unlinkat(dir_fd, temporary, 0);
    close(fd);
    errno = kept;
    return good;
}

/* Publishes the new files of t->segment, and its length. The segment is replaced before its index: a reader in
 * between finds that the index does not match and walks the segment. */
static bool write_files(thinning *t, uint64_t limit)
{
    char seg[PL_SEGMENT_NAME], idx[PL_SEGMENT_NAME];
    pl_segment_name(seg, &t->segment, "seg");
    pl_segment_name(idx, &t->segment, "idx");
    t->to = create_temporary(t->dir_fd, seg);
    if (t->to < 0 || !settle_temporary(t->dir_fd, seg, t->to, copy_records(t, limit)))
        return false;
    int fd = create_temporary(t->dir_fd, idx);
    if (fd < 0 || !settle_temporary(t->dir_fd, idx, fd, write_index(t, fd)))
        return false;
    int log = openat(t->dir_fd, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = log >= 0 && fsync(log) == 0;
    if (log >= 0)
        close(log);
    return good;
}

static pl_status thin(int dir_fd, pl_segment *segment, int64_t every)
{
    char name[PL_SEGMENT_NAME];
    thinning *t = calloc(1, sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    t->dir_fd = dir_fd;
    t->every = every;
    t->segment = *segment;
    for (int64_t i = 0; i < segment->frames; i++)
        t->entries[i] = (pl_index_entry){.frame = (uint64_t)(segment->first_frame + i),
                                         .attempt = (uint32_t)segment->attempt};
    pl_segment_name(name, segment, "seg");
    t->from = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    uint64_t length = t->from >= 0 ? pl_file_length(t->from) : 0;
    uint64_t limit = (uint64_t)segment->length < length ? (uint64_t)segment->length : length;
    bool good = t->from >= 0 && write_files(t, limit);
    int kept = errno;
    if (good) {
        segment->length = (int64_t)t->end;
        segment->every = every;
    }
    if (t->from >= 0)
        close(t->from);
    free(t);
    errno = kept;
    return good ? PL_OK : PL_IO;
}

/* ---- selection ---- */

pl_status pl_log_prune(int dir_fd, pl_head *head, int64_t frames, const pl_log_keep *keep,
                       int64_t *dropped, bool *changed)
{
    int64_t older = keep->last > 0 ? frames - keep->last : frames;
    *dropped = 0;
    *changed = false;
    if (pl_log_keeps_all(keep))
        return PL_OK;
    for (int64_t i = 0; i < head->segment_count; i++) {
        pl_segment *s = &head->segments[i];
        if (s->frames < 0 || s->first_frame + s->frames > older)
            break;
        if (keep->every <= 0) {
            *dropped = i + 1;
            *changed = true;
        } else if (keep->every > 1 && s->every == 0 && s->length > 0) {
            pl_status status = thin(dir_fd, s, keep->every);
            if (status != PL_OK)
                return status;
            *changed = true;
        }
    }
    return PL_OK;
}

void pl_log_prune_remove(int dir_fd, const pl_segment *segment)
{
    char name[PL_SEGMENT_NAME];
    pl_segment_name(name, segment, "seg");
    unlinkat(dir_fd, name, 0);
    pl_segment_name(name, segment, "idx");
    unlinkat(dir_fd, name, 0);
}
