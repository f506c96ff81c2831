#include "protocol/log/fresh.h"
#include "protocol/log/head_recover.h"
#include "protocol/log/log.h"
#include "protocol/log/log_index.h"
#include "protocol/log/record_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Properties of head.json or an index that show a change since the last read. */
typedef struct file_stamp {
    bool present;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} file_stamp;

/* The open last segment of the chain, as far as it is known. Its frames are those with a good index entry, then
 * those that a scan finds after them: the index may lag, be torn or be missing. */
typedef struct log_tail {
    int32_t attempt, number; /* segment of the tail; attempt -1: none */
    int64_t indexed;
    uint64_t indexed_end; /* end of the last indexed frame */
    pl_segment_scan scan;
    file_stamp seg, idx;
} log_tail;

struct pl_log_reader {
    int dir_fd;
    pl_head head;
    file_stamp head_stamp;
    bool recovered; /* head comes from the segments, because head.json is unusable */
    log_tail tail;
    int64_t frames;
    /* The segment whose files are open. */
    int32_t attempt, number; /* attempt -1: none */
    int seg, idx;            /* idx -1: missing */
    pl_segment_scan scan;    /* result of a walk, if the index was unusable */
    uint64_t scanned;        /* bytes of the segment covered by the walk */
};

/* ---- files ---- */

static file_stamp stamp_of(int dir_fd, const char *name)
{
    struct stat st;
    if (pl_stat_fresh_at(dir_fd, name, &st) != 0)
        return (file_stamp){0};
    return (file_stamp){true, st.st_dev, st.st_ino, st.st_size, st.st_mtim};
}

static bool stamp_equal(const file_stamp *a, const file_stamp *b)
{
    return a->present == b->present && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static void leave_segment(pl_log_reader *r)
{
    if (r->seg >= 0)
        close(r->seg);
    if (r->idx >= 0)
        close(r->idx);
    r->seg = r->idx = r->attempt = -1;
    r->scanned = 0;
    pl_segment_scan_clear(&r->scan);
}

/* Opens the files of a segment, unless they are open. False with errno if the segment is missing. */
static bool enter_segment(pl_log_reader *r, const pl_segment *segment)
{
    char name[PL_SEGMENT_NAME];
    if (r->attempt == segment->attempt && r->number == segment->number) {
        pl_segment_name(name, segment, "idx");
        if (r->idx < 0)
            r->idx = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC);
        return true;
    }
    leave_segment(r);
    pl_segment_name(name, segment, "seg");
    r->seg = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (r->seg < 0)
        return false;
    pl_segment_name(name, segment, "idx");
    r->idx = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC);
    r->attempt = segment->attempt;
    r->number = segment->number;
    return true;
}

/* End of the readable bytes of a segment. */
static uint64_t readable(int fd, const pl_segment *segment)
{
    uint64_t length = pl_file_length(fd);
    return segment->length >= 0 && (uint64_t)segment->length < length ? (uint64_t)segment->length
                                                                      : length;
}

/* A few entries of an index, read at once because it is traversed in order. */
enum { ENTRIES_AT_ONCE = 64 };
typedef struct entry_window {
    int64_t first; /* frame of the first */
    int64_t count;
    unsigned char bytes[ENTRIES_AT_ONCE * PL_INDEX_ENTRY];
} entry_window; /* count 0: empty */

static bool read_in_order(entry_window *w, int idx, const pl_segment *segment, int64_t frame,
                          pl_index_entry *out)
{
    if (frame < w->first || frame >= w->first + w->count) {
        off_t offset = (off_t)((frame - segment->first_frame) * PL_INDEX_ENTRY);
        ssize_t n = idx >= 0 ? pread(idx, w->bytes, sizeof w->bytes, offset) : 0;
        w->first = frame;
        w->count = n > 0 ? n / PL_INDEX_ENTRY : 0;
    }
    return w->count > 0 && pl_index_entry_decode(w->bytes + (frame - w->first) * PL_INDEX_ENTRY,
                                                 segment, frame, out);
}

static bool read_entry(int idx, const pl_segment *segment, int64_t frame, pl_index_entry *out)
{
    unsigned char bytes[PL_INDEX_ENTRY];
    uint64_t offset = (uint64_t)(frame - segment->first_frame) * PL_INDEX_ENTRY;
    return idx >= 0 && pl_read_range(idx, bytes, sizeof bytes, offset) &&
           pl_index_entry_decode(bytes, segment, frame, out);
}

/* ---- the tail ---- */

/* Takes in the index entries added since the last check, as far as they are good and their records exist. */
static void follow_index(pl_log_reader *r, const pl_segment *segment, uint64_t limit)
{
    log_tail *t = &r->tail;
    int64_t before = t->indexed;
    uint64_t before_end = t->indexed_end;
    pl_index_entry e;
    pl_record record;
    entry_window window = {0};
    while (t->indexed < PL_SEGMENT_FRAMES &&
           read_in_order(&window, r->idx, segment, segment->first_frame + t->indexed, &e)) {
        if (e.frame_offset < t->indexed_end || e.metrics_size == 0 ||
            e.metrics_offset < e.frame_offset + e.frame_size || e.metrics_offset > limit ||
            e.metrics_size > limit - e.metrics_offset)
            break;
        t->indexed++;
        t->indexed_end = e.metrics_offset + e.metrics_size;
    }
    if (t->indexed == before)
        return;
    /* The newest entry must point at a frame's records: on a disk that lost power, the index can be ahead of the
     * segment. */
    read_entry(r->idx, segment, segment->first_frame + t->indexed - 1, &e);
    if (!pl_entry_holds(r->seg, segment, &e, PL_LOG_FRAME, limit, &record) ||
        !pl_entry_holds(r->seg, segment, &e, PL_LOG_METRICS, limit, &record)) {
        t->indexed = before;
        t->indexed_end = before_end;
        return;
    }
    pl_segment_scan_clear(&t->scan);
    t->scan.first = segment->first_frame + t->indexed;
    t->scan.end = t->indexed_end;
}

/* Number of frames of the open segment now. Reads its files only if they have changed. */
static int64_t follow_tail(pl_log_reader *r, const pl_segment *segment)
{
    log_tail *t = &r->tail;
    char name[PL_SEGMENT_NAME];
    if (t->attempt != segment->attempt || t->number != segment->number) {
        pl_segment_scan_clear(&t->scan);
        *t = (log_tail){.attempt = segment->attempt, .number = segment->number};
        t->scan.first = segment->first_frame;
    }
    pl_segment_name(name, segment, "seg");
    file_stamp seg = stamp_of(r->dir_fd, name);
    pl_segment_name(name, segment, "idx");
    file_stamp idx = stamp_of(r->dir_fd, name);
    if (stamp_equal(&seg, &t->seg) && stamp_equal(&idx, &t->idx))
        return t->indexed + t->scan.count;
    if (enter_segment(r, segment)) {
        uint64_t limit = readable(r->seg, segment);
        follow_index(r, segment, limit);
        /* Out of memory leaves the scan unchanged: the next check finds the frames. */
        if (pl_segment_scan_run(&t->scan, r->seg, segment, limit) == PL_OK) {
            t->seg = seg;
            t->idx = idx;
        }
    }
    return t->indexed + t->scan.count;
}

/* ---- opening and refreshing ---- */

/* Reads head.json again if it is a different file from last time. If it is missing, the folder of segments shows
 * whether there is anything new. */
static void follow_head(pl_log_reader *r)
{
    file_stamp now = stamp_of(r->dir_fd, "head.json");
    if (!now.present)
        now = stamp_of(r->dir_fd, "log");
    pl_head head;
    if (stamp_equal(&now, &r->head_stamp))
        return;
    if (pl_head_load(r->dir_fd, &head, &r->recovered) == PL_OK) {
        pl_head_clear(&r->head);
        r->head = head;
        r->head_stamp = now;
    }
}

int64_t pl_log_reader_refresh(pl_log_reader *r)
{
    follow_head(r);
    r->frames = 0;
    if (r->head.segment_count > 0) {
        const pl_segment *last = &r->head.segments[r->head.segment_count - 1];
        int64_t more = last->frames >= 0 ? last->frames : follow_tail(r, last);
        r->frames = last->first_frame + more;
    }
    return r->frames;
}

int64_t pl_log_reader_first(const pl_log_reader *r)
{
    return r->head.segment_count > 0 ? r->head.segments[0].first_frame : 0;
}

bool pl_log_reader_recovered(const pl_log_reader *r)
{
    return r->recovered;
}

pl_status pl_log_reader_open(int dir_fd, pl_log_reader **out)
{
    pl_log_reader *r = calloc(1, sizeof *r);
    if (!r)
        return PL_NO_MEMORY;
    r->seg = r->idx = r->attempt = r->tail.attempt = -1;
    r->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    if (r->dir_fd < 0) {
        int kept = errno;
        free(r);
        errno = kept;
        return PL_IO;
    }
    pl_log_reader_refresh(r);
    *out = r;
    return PL_OK;
}

void pl_log_reader_close(pl_log_reader *r)
{
    if (!r)
        return;
    leave_segment(r);
    pl_segment_scan_clear(&r->tail.scan);
    pl_head_clear(&r->head);
    close(r->dir_fd);
    free(r);
}

/* ---- finding and reading ---- */

/* The segment that contains frame < r->frames: the last whose first frame is not after it. */
static const pl_segment *segment_of(const pl_log_reader *r, int64_t frame)
{
    int64_t lo = 0, hi = r->head.segment_count - 1;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo + 1) / 2;
        if (r->head.segments[middle].first_frame <= frame)
            lo = middle;
        else
            hi = middle - 1;
    }
    return &r->head.segments[lo];
}

static bool scan_entry(const pl_segment_scan *scan, int64_t frame, pl_index_entry *out)
{
    if (frame < scan->first || frame - scan->first >= scan->count)
        return false;
    *out = scan->entries[frame - scan->first];
    return true;
}

/* Walks the segment, or its growth since the last walk; the entries then replace the index. */
static pl_status scan_segment(pl_log_reader *r, const pl_segment *segment, uint64_t limit)
{
    if (r->scanned >= limit)
        return PL_OK;
    if (r->scanned == 0)
        r->scan.first = segment->first_frame;
    pl_status status = pl_segment_scan_run(&r->scan, r->seg, segment, limit);
    if (status == PL_OK)
        r->scanned = limit;
    return status;
}

/* The entry from what is already known: a walk's, or the index's. */
static bool known_entry(const pl_log_reader *r, const pl_segment *segment, int64_t frame,
                        pl_index_entry *out)
{
    if (segment->frames < 0 && frame >= r->tail.scan.first)
        return scan_entry(&r->tail.scan, frame, out);
    return scan_entry(&r->scan, frame, out) || read_entry(r->idx, segment, frame, out);
}

pl_log_outcome pl_log_find(pl_log_reader *r, int64_t frame, pl_log_part part, pl_log_range *out)
{
    if (frame < 0 || frame >= r->frames)
        return PL_LOG_NOT_YET;
    const pl_segment *segment = segment_of(r, frame);
    if (frame < segment->first_frame ||
        (part == PL_LOG_FRAME && segment->every > 0 && frame % segment->every != 0))
        return PL_LOG_PRUNED;
    if (!enter_segment(r, segment))
        return errno == ENOENT ? PL_LOG_CORRUPT : PL_LOG_ERROR;
    uint64_t limit = readable(r->seg, segment);
    pl_index_entry e;
    pl_record record;
    if (!known_entry(r, segment, frame, &e) ||
        !pl_entry_holds(r->seg, segment, &e, part, limit, &record)) {
        /* The index or the record is damaged; only the segment itself shows which. */
        if (scan_segment(r, segment, limit) != PL_OK) {
            errno = ENOMEM;
            return PL_LOG_ERROR;
        }
        if (!scan_entry(&r->scan, frame, &e) ||
            !pl_entry_holds(r->seg, segment, &e, part, limit, &record))
            return PL_LOG_CORRUPT;
    }
    bool is_frame = part == PL_LOG_FRAME;
    *out = (pl_log_range){.fd = r->seg,
                          .offset = is_frame ? e.frame_offset : e.metrics_offset,
                          .size = is_frame ? e.frame_size : e.metrics_size,
                          .record = record};
    return PL_LOG_OK;
}

pl_log_outcome pl_log_read(pl_log_reader *r, int64_t frame, pl_log_part part, char **payload,
                           uint64_t *length)
{
    pl_log_range range;
    pl_log_outcome outcome = pl_log_find(r, frame, part, &range);
    if (outcome != PL_LOG_OK)
        return outcome;
    size_t size = (size_t)range.record.length;
    char *bytes = malloc(size + 1);
    if (!bytes) {
        errno = ENOMEM;
        return PL_LOG_ERROR;
    }
    if (!pl_read_range(range.fd, bytes, size, range.offset + PL_RECORD_HEADER)) {
        int kept = errno;
        free(bytes);
        errno = kept;
        return kept ? PL_LOG_ERROR : PL_LOG_CORRUPT;
    }
    if (pl_crc32c(0, bytes, size) != range.record.payload_crc) {
        free(bytes);
        return PL_LOG_CORRUPT;
    }
    bytes[size] = 0;
    *payload = bytes;
    *length = size;
    return PL_LOG_OK;
}

/* The epoch record at the start of a segment. */
static pl_log_outcome read_epoch(const pl_log_reader *r, const pl_segment *segment, char **payload,
                                 uint64_t *length)
{
    enum { EPOCH_MAX = 1 << 16 };
    char name[PL_SEGMENT_NAME];
    unsigned char header[PL_RECORD_HEADER];
    pl_record record;
    pl_segment_name(name, segment, "seg");
    int fd = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? PL_LOG_CORRUPT : PL_LOG_ERROR;
    pl_log_outcome outcome = PL_LOG_CORRUPT;
    char *text = NULL;
    if (pl_read_range(fd, header, sizeof header, 0) &&
        pl_record_decode(header, sizeof header, &record) == PL_RECORD_GOOD &&
        record.type == PL_RECORD_EPOCH && record.length <= EPOCH_MAX &&
        record.attempt == (uint32_t)segment->attempt &&
        (text = calloc(1, (size_t)record.length + 1)) &&
        pl_read_range(fd, text, (size_t)record.length, sizeof header) &&
        pl_crc32c(0, text, (size_t)record.length) == record.payload_crc) {
        outcome = PL_LOG_OK;
        *payload = text;
        *length = record.length;
    } else {
        free(text);
    }
    close(fd);
    return outcome;
}

/* Start of the records before frame k in its segment: after the previous frame, if that is there. */
static uint64_t notes_begin(pl_log_reader *r, int64_t frame)
{
    pl_log_range before;
    if (frame == 0 || segment_of(r, frame)->first_frame >= frame)
        return 0;
    if (pl_log_find(r, frame - 1, PL_LOG_METRICS, &before) != PL_LOG_OK)
        return 0; /* damaged: from the beginning, and by the records' own frames */
    return before.offset + before.size;
}

pl_log_outcome pl_log_notes(pl_log_reader *r, int64_t frame, pl_log_see see, void *context)
{
    pl_log_range range;
    if (frame < 0 || frame >= r->frames)
        return PL_LOG_NOT_YET;
    uint64_t begin = notes_begin(r, frame);
    pl_log_outcome outcome = pl_log_find(r, frame, PL_LOG_FRAME, &range);
    /* If the frame was thinned out, its notes come before its metrics. */
    if (outcome == PL_LOG_PRUNED || outcome == PL_LOG_CORRUPT)
        outcome = pl_log_find(r, frame, PL_LOG_METRICS, &range);
    if (outcome != PL_LOG_OK)
        return outcome;
    pl_record_walk w = {.fd = range.fd, .at = begin, .limit = range.offset};
    char *text = NULL;
    pl_walk_event event = PL_WALK_END;
    bool more = begin < range.offset;
    while (more && outcome == PL_LOG_OK && (event = pl_record_walk_step(&w)) != PL_WALK_END &&
           event != PL_WALK_ERROR) {
        if (event != PL_WALK_RECORD || w.record.type != PL_RECORD_EPOCH || !w.payload_good ||
            w.record.frame != (uint64_t)frame)
            continue;
        char *larger = realloc(text, (size_t)w.record.length + 1);
        text = larger ? larger : text;
        if (!larger ||
            !pl_read_range(range.fd, text, (size_t)w.record.length, w.offset + PL_RECORD_HEADER)) {
            outcome = PL_LOG_ERROR;
            break;
        }
        text[w.record.length] = 0;
        more = see(context, text, w.record.length);
    }
    free(text);
    pl_record_walk_clear(&w);
    return event == PL_WALK_ERROR ? PL_LOG_ERROR : outcome;
}

pl_log_outcome pl_log_epoch(pl_log_reader *r, int64_t frame, char **payload, uint64_t *length)
{
    if (frame < 0 || frame >= r->frames)
        return PL_LOG_NOT_YET;
    const pl_segment *own = segment_of(r, frame);
    pl_segment first = {.attempt = own->attempt};
    pl_log_outcome outcome = read_epoch(r, &first, payload, length);
    /* The attempt's first segment of a pruned log may be gone; each segment has a copy. */
    return outcome == PL_LOG_CORRUPT ? read_epoch(r, own, payload, length) : outcome;
}

/* ---- the committed end ---- */

static bool whole(pl_log_reader *r, int64_t frame)
{
    for (int part = PL_LOG_FRAME; part <= PL_LOG_METRICS; part++) {
        char *payload;
        uint64_t length;
        pl_log_outcome outcome = pl_log_read(r, frame, (pl_log_part)part, &payload, &length);
        if (outcome == PL_LOG_OK)
            free(payload);
        /* A failed read (out of memory, bad disk) does not prove a torn record. */
        if (outcome != PL_LOG_OK && outcome != PL_LOG_ERROR)
            return false;
    }
    return true;
}

pl_status pl_log_committed(int dir_fd, const pl_head *head, int64_t *frames)
{
    pl_log_reader *r;
    *frames = 0;
    if (head->segment_count == 0)
        return PL_OK;
    pl_status status = pl_log_reader_open(dir_fd, &r);
    if (status != PL_OK)
        return status;
    /* The caller's head, whatever is published meanwhile. */
    const pl_segment *last = &head->segments[head->segment_count - 1];
    pl_head_clear(&r->head);
    r->head = *head;
    r->frames = last->first_frame + (last->frames >= 0 ? last->frames : follow_tail(r, last));
    *frames = r->frames;
    while (last->frames < 0 && *frames > last->first_frame && !whole(r, *frames - 1))
        --*frames;
    r->head = (pl_head){0};
    pl_log_reader_close(r);
    return PL_OK;
}

/* ---- rebuilding ---- */

/* Scans one segment and replaces its index; returns its number of frames, or -1. */
static int64_t reindex_segment(int dir_fd, const pl_segment *segment)
{
    char name[PL_SEGMENT_NAME];
    pl_segment_name(name, segment, "seg");
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    pl_segment_scan scan = {.first = segment->first_frame};
    pl_status status = pl_segment_scan_run(&scan, fd, segment, readable(fd, segment));
    close(fd);
    int64_t count = segment->frames >= 0 && scan.count > segment->frames ? segment->frames
                                                                         : scan.count;
    unsigned char *bytes = status == PL_OK ? malloc((size_t)count * PL_INDEX_ENTRY + 1) : NULL;
    for (int64_t i = 0; bytes && i < count; i++)
        pl_index_entry_encode(&scan.entries[i], bytes + i * PL_INDEX_ENTRY);
    pl_segment_name(name, segment, "idx");
    status = bytes ? pl_file_replace(dir_fd, name, bytes, (size_t)count * PL_INDEX_ENTRY, false)
                   : PL_NO_MEMORY;
    free(bytes);
    pl_segment_scan_clear(&scan);
    return status == PL_OK ? count : -1;
}

int64_t pl_log_reindex(int dir_fd)
{
    pl_head head = {0};
    if (pl_head_load(dir_fd, &head, NULL) != PL_OK)
        return -1;
    int64_t frames = 0;
    for (int64_t i = 0; i < head.segment_count && frames >= 0; i++) {
        int64_t found = reindex_segment(dir_fd, &head.segments[i]);
        frames = found < 0 ? -1 : frames + found;
    }
    pl_head_clear(&head);
    return frames;
}
