#include "protocol/log/fresh.h"
#include "protocol/log/head_recover.h"
#include "protocol/log/log.h"
#include "protocol/log/log_index.h"
#include "protocol/log/log_prune.h"
#include "protocol/log/segment_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct pl_log_writer {
    int dir_fd;
    pl_head head;            /* as published; the last segment is the open one */
    pthread_mutex_t lock;    /* guards the descriptors, which pl_log_sync duplicates */
    pl_segment_files files;  /* files of the open segment */
    pl_segment_files rolled; /* files of the previous segment, until pl_log_sync has synced them */
    uint64_t end;            /* end of the last committed record in the open segment */
    int64_t count;           /* number of frames in the open segment */
    int64_t indexed;         /* of these, entries that are on disk */
    pl_index_entry *entries; /* [PL_SEGMENT_FRAMES], of the open segment */
    /* Count writes and changes of names, and those of them that are known to be durable, so that a sync leaves out
     * what has not changed. */
    _Atomic uint64_t written, synced, named, names_synced;
    struct stat head_seen; /* head.json as last read by pl_log_writer_fenced */
    bool fenced;
    /* Epoch records since the last frame. If a new segment starts before the next frame, they are repeated in it,
     * so that they precede the frame (pl_log_notes). */
    char **notes;              /* [note_count] */
    int64_t note_count, noted; /* of these, those in the open segment */
    pl_log_keep keep;
    int64_t segment_frames; /* frame at which a new segment starts at the latest */
    char *epoch;            /* the attempt's; a pruned log repeats it in each segment */
};

static pl_segment *open_segment(pl_log_writer *w)
{
    return &w->head.segments[w->head.segment_count - 1];
}

/* ---- writing ---- */

/* Writes all parts at `offset`, as one write if the kernel accepts all of it. */
static pl_status write_parts(int fd, struct iovec *parts, int count, uint64_t offset)
{
    while (count > 0) {
        ssize_t n = pwritev(fd, parts, count, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return PL_IO;
        offset += (uint64_t)n;
        for (; count > 0 && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
    return PL_OK;
}

/* Writes one record at *end of the open segment: header, the payload in two pieces, padding. *end moves only on
 * success. */
static pl_status write_record(pl_log_writer *w, pl_record *record, const void *first,
                              size_t first_size, const void *second, size_t second_size,
                              uint64_t *end)
{
    static const char padding[8];
    unsigned char header[PL_RECORD_HEADER];
    if (second_size > PL_RECORD_MAX_PAYLOAD - first_size) {
        errno = EFBIG;
        return PL_IO;
    }
    record->length = first_size + second_size;
    record->payload_crc = pl_crc32c(pl_crc32c(0, first, first_size), second, second_size);
    pl_record_encode(record, header);
    uint64_t size = pl_record_size(record->length);
    struct iovec parts[4] = {
        {header, sizeof header},
        {(void *)first, first_size},
        {(void *)second, second_size},
        {(void *)padding, (size_t)(size - PL_RECORD_HEADER - record->length)},
    };
    pl_status status = write_parts(w->files.seg, parts, 4, *end);
    atomic_fetch_add(&w->written, 1);
    if (status == PL_OK)
        *end += size;
    return status;
}

/* Brings the index up to the committed frames. It is only a witness that readers can do without: if it cannot be
 * written, the frames stay committed and the entries are tried again with the next frame. */
static void write_index(pl_log_writer *w)
{
    while (w->indexed < w->count) {
        unsigned char bytes[64 * PL_INDEX_ENTRY];
        int64_t n = w->count - w->indexed < 64 ? w->count - w->indexed : 64;
        for (int64_t i = 0; i < n; i++)
            pl_index_entry_encode(&w->entries[w->indexed + i], bytes + i * PL_INDEX_ENTRY);
        struct iovec part = {bytes, (size_t)(n * PL_INDEX_ENTRY)};
        off_t at = (off_t)(w->indexed * PL_INDEX_ENTRY);
        if (write_parts(w->files.idx, &part, 1, (uint64_t)at) != PL_OK) {
            if (ftruncate(w->files.idx, at) != 0)
                return; /* a partial entry has no good CRC: readers pass it over */
            return;
        }
        w->indexed += n;
        atomic_fetch_add(&w->written, 1);
    }
}

static pl_status publish(pl_log_writer *w)
{
    pl_status status = pl_head_write(w->dir_fd, &w->head);
    atomic_fetch_add(&w->named, 1);
    atomic_fetch_add(&w->written, 1);
    return status;
}

/* Ensures room for one more segment in the head's list. */
static pl_status grow_head(pl_head *head)
{
    if (head->segment_count >= PL_HEAD_SEGMENTS_MAX) {
        errno = EFBIG;
        return PL_IO;
    }
    pl_segment *larger = realloc(head->segments,
                                 (size_t)(head->segment_count + 1) * sizeof *larger);
    if (!larger)
        return PL_NO_MEMORY;
    head->segments = larger;
    return PL_OK;
}

/* ---- opening ---- */

/* End of frame `frame` - 1 of a segment, from index or scan: the readable part for a chain that continues with
 * `frame`. */
static pl_status cut_length(int dir_fd, const pl_segment *segment, int64_t frame, int64_t *length)
{
    char name[PL_SEGMENT_NAME];
    pl_segment_name(name, segment, "seg");
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return PL_IO;
    pl_segment_scan scan = {.first = segment->first_frame};
    uint64_t limit = pl_file_length(fd);
    if (segment->length >= 0 && (uint64_t)segment->length < limit)
        limit = (uint64_t)segment->length;
    pl_status status = pl_segment_scan_run(&scan, fd, segment, limit);
    int64_t i = frame - segment->first_frame - 1;
    if (status == PL_OK && i >= scan.count)
        status = PL_INVALID;
    /* A damaged last frame has no end of its own; the segment's end bounds it. */
    if (status == PL_OK)
        *length = scan.entries[i].metrics_size
                      ? (int64_t)(scan.entries[i].metrics_offset + scan.entries[i].metrics_size)
                      : (int64_t)limit;
    pl_segment_scan_clear(&scan);
    close(fd);
    return status;
}

/* Cuts the chain so that it ends before `frame`. PL_INVALID if it does not reach that far. */
static pl_status cut_chain(int dir_fd, pl_head *head, int64_t frame)
{
    while (head->segment_count > 0 && head->segments[head->segment_count - 1].first_frame >= frame)
        head->segment_count--;
    if (head->segment_count == 0)
        return frame == 0 ? PL_OK : PL_INVALID;
    pl_segment *last = &head->segments[head->segment_count - 1];
    int64_t keep = frame - last->first_frame;
    if (last->frames == keep)
        return PL_OK;
    if (last->frames >= 0 && last->frames < keep)
        return PL_INVALID;
    int64_t length = 0;
    pl_status status = cut_length(dir_fd, last, frame, &length);
    if (status != PL_OK)
        return status;
    last->frames = keep;
    last->length = length;
    return PL_OK;
}

/* Reads the present head, returns an error if this attempt is stale, and sets w->head to the chain to continue
 * from. */
static pl_status adopt_chain(pl_log_writer *w, int32_t attempt, int64_t first_frame)
{
    pl_status status = pl_head_load(w->dir_fd, &w->head, NULL);
    if (status != PL_OK && !(status == PL_IO && errno == ENOENT))
        return status;
    if (w->head.attempt > attempt)
        return PL_INVALID;
    /* 0, unless the attempt was begun before. */
    int32_t number = pl_segment_next_number(w->head.segments, w->head.segment_count, attempt);
    status = first_frame == PL_LOG_CONTINUE ? pl_log_committed(w->dir_fd, &w->head, &first_frame)
                                            : PL_OK;
    if (status == PL_OK)
        status = cut_chain(w->dir_fd, &w->head, first_frame);
    if (status == PL_OK)
        status = grow_head(&w->head);
    if (status != PL_OK)
        return status;
    w->head.attempt = attempt;
    w->head.segments[w->head.segment_count++] = (pl_segment){.attempt = attempt,
                                                             .number = number,
                                                             .first_frame = first_frame,
                                                             .frames = -1,
                                                             .length = -1};
    return PL_OK;
}

static pl_status start(pl_log_writer *w, int32_t attempt, int64_t first_frame,
                       const char *epoch_json)
{
    if (mkdirat(w->dir_fd, "log", 0750) != 0 && errno != EEXIST)
        return PL_IO;
    pl_status status = adopt_chain(w, attempt, first_frame);
    if (status == PL_OK)
        status = pl_segment_files_create(w->dir_fd, open_segment(w), &w->files);
    if (status == PL_OK && epoch_json)
        status = pl_log_append_epoch(w, epoch_json);
    return status == PL_OK ? publish(w) : status;
}

static void destroy(pl_log_writer *w)
{
    int kept = errno;
    pl_segment_files_close(&w->files);
    pl_segment_files_close(&w->rolled);
    if (w->dir_fd >= 0)
        close(w->dir_fd);
    pl_head_clear(&w->head);
    pthread_mutex_destroy(&w->lock);
    for (int64_t i = 0; i < w->note_count; i++)
        free(w->notes[i]);
    free(w->notes);
    free(w->entries);
    free(w->epoch);
    free(w);
    errno = kept;
}

pl_status pl_log_writer_open(int dir_fd, int32_t attempt, int64_t first_frame,
                             const char *epoch_json, pl_log_writer **out)
{
    pl_log_writer *w = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    pthread_mutex_init(&w->lock, NULL);
    w->files = w->rolled = (pl_segment_files){-1, -1};
    w->entries = calloc(PL_SEGMENT_FRAMES, sizeof *w->entries);
    w->segment_frames = PL_SEGMENT_FRAMES;
    w->epoch = strdup(epoch_json ? epoch_json : "");
    w->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    pl_status status = !w->entries || !w->epoch ? PL_NO_MEMORY : w->dir_fd < 0 ? PL_IO : PL_OK;
    if (status == PL_OK)
        status = start(w, attempt, first_frame, epoch_json);
    if (status == PL_OK)
        *out = w;
    else
        destroy(w);
    return status;
}

/* ---- appending ---- */

void pl_log_writer_keep(pl_log_writer *w, const pl_log_keep *keep)
{
    enum { LEAST = 16, PARTS = 4 };
    w->keep = *keep;
    w->segment_frames = PL_SEGMENT_FRAMES;
    if (keep->last > 0) {
        int64_t frames = keep->last / PARTS;
        w->segment_frames = frames < LEAST               ? LEAST
                            : frames > PL_SEGMENT_FRAMES ? PL_SEGMENT_FRAMES
                                                         : frames;
    }
}

/* Prunes, and publishes the result. Nothing else depends on it, so a failure is left for the next time. */
static void prune(pl_log_writer *w)
{
    int64_t dropped;
    bool changed;
    if (pl_log_keeps_all(&w->keep))
        return;
    pl_log_prune(w->dir_fd, &w->head, pl_log_writer_next(w), &w->keep, &dropped, &changed);
    pl_segment *all = w->head.segments;
    w->head.segments += dropped;
    w->head.segment_count -= dropped;
    bool published = changed && publish(w) == PL_OK;
    w->head.segments = all;
    w->head.segment_count += dropped;
    if (published && dropped > 0) {
        for (int64_t i = 0; i < dropped; i++)
            pl_log_prune_remove(w->dir_fd, &all[i]);
        w->head.segment_count -= dropped;
        memmove(all, all + dropped, (size_t)w->head.segment_count * sizeof *all);
    }
}

/* Repeats the attempt's epoch as the first record of a segment, because the one at its start may be pruned,
 * possibly by a later setting. */
static pl_status repeat_epoch(pl_log_writer *w)
{
    if (!*w->epoch)
        return PL_OK;
    uint64_t next = (uint64_t)pl_log_writer_next(w);
    pl_record epoch = {
        .type = PL_RECORD_EPOCH, .attempt = (uint32_t)w->head.attempt, .seq = next, .frame = next};
    return write_record(w, &epoch, w->epoch, strlen(w->epoch), NULL, 0, &w->end);
}

/* Seals the open segment and continues in a new one. The head in memory changes only after the one on disk, so that
 * a failed change can be tried again. */
static pl_status roll(pl_log_writer *w)
{
    pl_segment_files files = {-1, -1};
    pl_status status = grow_head(&w->head);
    if (status != PL_OK)
        return status;
    pl_segment *last = open_segment(w), open = *last;
    pl_segment next = {.attempt = open.attempt,
                       .number = open.number + 1,
                       .first_frame = open.first_frame + w->count,
                       .frames = -1,
                       .length = -1};
    status = pl_segment_files_create(w->dir_fd, &next, &files);
    if (status != PL_OK)
        return status;
    last->frames = w->count;
    last->length = (int64_t)w->end;
    last[1] = next;
    w->head.segment_count++;
    status = publish(w);
    if (status != PL_OK) {
        int kept = errno;
        w->head.segment_count--;
        *last = open;
        pl_segment_files_close(&files);
        errno = kept;
        return status;
    }
    pthread_mutex_lock(&w->lock);
    pl_segment_files older = w->rolled;
    w->rolled = w->files;
    w->files = files;
    pthread_mutex_unlock(&w->lock);
    w->end = 0;
    w->count = w->indexed = w->noted = 0;
    pl_segment_files_settle(&older); /* needed only if nobody calls pl_log_sync */
    prune(w);
    return repeat_epoch(w);
}

/* Writes both records at the end of the open segment; on failure the segment is cut back to its committed
 * frames. (If even the cut fails, the next try overwrites the torn bytes.) */
static pl_status append_records(pl_log_writer *w, int64_t frame, const pl_frame_header *header,
                                const void *values, size_t values_size, const char *metrics_json,
                                size_t metrics_length)
{
    unsigned char head[PL_FRAME_HEADER];
    pl_frame_header_encode(header, head);
    uint64_t end = w->end;
    pl_record record = {.type = PL_RECORD_FRAME,
                        .attempt = (uint32_t)w->head.attempt,
                        .seq = (uint64_t)frame,
                        .frame = (uint64_t)frame};
    pl_index_entry entry = {
        .frame = (uint64_t)frame, .frame_offset = end, .attempt = (uint32_t)w->head.attempt};
    pl_status status = write_record(w, &record, head, sizeof head, values, values_size, &end);
    if (status == PL_OK) {
        entry.frame_size = end - entry.frame_offset;
        entry.metrics_offset = end;
        record.type = PL_RECORD_METRICS;
        status = write_record(w, &record, metrics_json, metrics_length, NULL, 0, &end);
    }
    if (status != PL_OK) {
        int kept = errno;
        if (ftruncate(w->files.seg, (off_t)w->end) != 0)
            errno = kept;
        errno = kept;
        return status;
    }
    entry.metrics_size = end - entry.metrics_offset;
    w->entries[w->count++] = entry;
    w->end = end;
    return PL_OK;
}

static void drop_notes(pl_log_writer *w)
{
    for (int64_t i = 0; i < w->note_count; i++)
        free(w->notes[i]);
    w->note_count = w->noted = 0;
}

/* Those that are not in the open segment yet. */
static pl_status write_notes(pl_log_writer *w)
{
    uint64_t next = (uint64_t)pl_log_writer_next(w);
    pl_status status = PL_OK;
    while (w->noted < w->note_count && status == PL_OK) {
        const char *text = w->notes[w->noted];
        pl_record epoch = {.type = PL_RECORD_EPOCH,
                           .attempt = (uint32_t)w->head.attempt,
                           .seq = next,
                           .frame = next};
        status = write_record(w, &epoch, text, strlen(text), NULL, 0, &w->end);
        w->noted += status == PL_OK;
    }
    return status;
}

pl_status pl_log_append(pl_log_writer *w, int64_t frame, const pl_frame_header *header,
                        const void *values, const char *metrics_json, size_t metrics_length)
{
    if (frame != pl_log_writer_next(w))
        return PL_INVALID;
    uint64_t vertex_bytes = pl_frame_fields(header) * pl_frame_value_bytes(header);
    if (vertex_bytes == 0 || header->count > PL_RECORD_MAX_PAYLOAD / vertex_bytes ||
        header->elements > PL_RECORD_MAX_PAYLOAD / pl_frame_value_bytes(header) ||
        header->contacts > PL_RECORD_MAX_PAYLOAD / pl_frame_point_bytes(header)) {
        errno = EFBIG;
        return PL_IO;
    }
    uint64_t values_size = pl_frame_body_bytes(header);
    uint64_t more = pl_record_size(PL_FRAME_HEADER + values_size) + pl_record_size(metrics_length);
    if (w->count >= w->segment_frames || (w->count > 0 && w->end + more > PL_SEGMENT_BYTES)) {
        pl_status status = roll(w);
        if (status != PL_OK)
            return status;
    }
    pl_status status = write_notes(w);
    if (status == PL_OK)
        status = append_records(w, frame, header, values, (size_t)values_size, metrics_json,
                                metrics_length);
    if (status == PL_OK) {
        drop_notes(w);
        write_index(w);
    }
    return status;
}

pl_status pl_log_append_epoch(pl_log_writer *w, const char *epoch_json)
{
    char **larger = realloc(w->notes, (size_t)(w->note_count + 1) * sizeof *larger);
    if (!larger)
        return PL_NO_MEMORY;
    w->notes = larger;
    larger[w->note_count] = strdup(epoch_json);
    if (!larger[w->note_count])
        return PL_NO_MEMORY;
    w->note_count++;
    pl_status status = write_notes(w);
    if (status != PL_OK) /* the caller tries again with what could not be written */
        free(larger[--w->note_count]);
    return status;
}

/* ---- status ---- */

int64_t pl_log_writer_next(const pl_log_writer *w)
{
    return w->head.segments[w->head.segment_count - 1].first_frame + w->count;
}

void pl_log_writer_end(const pl_log_writer *w, int32_t *attempt, int32_t *number, uint64_t *end)
{
    const pl_segment *open = &w->head.segments[w->head.segment_count - 1];
    *attempt = open->attempt;
    *number = open->number;
    *end = w->end;
}

bool pl_log_writer_fenced(pl_log_writer *w)
{
    struct stat now;
    if (w->fenced || pl_stat_fresh_at(w->dir_fd, "head.json", &now) != 0)
        return w->fenced;
    /* head.json is only ever replaced as a whole: a different file, or the same one. */
    if (now.st_ino == w->head_seen.st_ino && now.st_dev == w->head_seen.st_dev &&
        now.st_ctim.tv_sec == w->head_seen.st_ctim.tv_sec &&
        now.st_ctim.tv_nsec == w->head_seen.st_ctim.tv_nsec)
        return false;
    pl_head head;
    if (pl_head_read(w->dir_fd, &head) == PL_OK) {
        w->fenced = head.attempt > w->head.attempt;
        w->head_seen = now;
        /* An older attempt renamed its head over ours after it had checked the head. */
        if (head.attempt < w->head.attempt)
            publish(w);
        pl_head_clear(&head);
    }
    return w->fenced;
}

/* ---- syncing and closing ---- */

pl_status pl_log_sync(pl_log_writer *w)
{
    uint64_t written = atomic_load(&w->written), named = atomic_load(&w->named);
    bool names = atomic_load(&w->names_synced) != named;
    if (atomic_load(&w->synced) == written)
        return PL_OK;
    pthread_mutex_lock(&w->lock);
    pl_segment_files rolled = w->rolled;
    w->rolled = (pl_segment_files){-1, -1};
    pl_segment_files open = pl_segment_files_copy(&w->files);
    int dir = fcntl(w->dir_fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&w->lock);
    /* The wait uses duplicates, outside the lock: a new segment never waits for the disk here. */
    pl_status status = pl_segment_files_settle(&rolled);
    if (open.seg < 0 || open.idx < 0 || dir < 0)
        status = PL_IO;
    else if (pl_segment_files_settle(&open) != PL_OK)
        status = PL_IO;
    int kept = errno;
    /* Also sync new names: of the segments, and of the head.json that lists them. */
    int log = dir >= 0 && names ? openat(dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (status == PL_OK && names && (log < 0 || fsync(log) != 0 || fsync(dir) != 0)) {
        status = PL_IO;
        kept = errno;
    }
    if (log >= 0)
        close(log);
    if (dir >= 0)
        close(dir);
    pl_segment_files_close(&open);
    if (status == PL_OK) {
        atomic_store(&w->synced, written);
        atomic_store(&w->names_synced, named);
    }
    errno = kept;
    return status;
}

void pl_log_send(pl_log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    pl_segment_files open = pl_segment_files_copy(&w->files);
    pthread_mutex_unlock(&w->lock);
    pl_segment_files_send(&open);
    pl_segment_files_close(&open);
}

pl_status pl_log_writer_close(pl_log_writer *w)
{
    write_index(w);
    pl_status status = pl_log_sync(w);
    int kept = errno;
    pl_segment *last = open_segment(w);
    last->frames = w->count;
    last->length = (int64_t)w->end;
    pl_status published = publish(w);
    if (published != PL_OK) {
        status = published;
        kept = errno;
    }
    destroy(w);
    errno = kept;
    return status;
}
