/* log.h - a session's log: appends frames and metrics, and reads them while it grows.
 *
 * A frame k is two records, frame first and metrics second, both with seq = frame = k; it is committed once its
 * metrics record is written. The index (.idx beside each .seg) has one fixed-size entry for each committed frame
 * and is written last. It is a second witness: a reader checks it against the record headers and, if it is missing
 * or wrong, rebuilds it by scanning the segment. Readers follow head.json only, never a directory listing, so they
 * never read what a stale worker writes. Files are never mapped (mmap), because they grow and a full disk may
 * truncate them.
 */
#ifndef PLIANT_PROTOCOL_LOG_LOG_H
#define PLIANT_PROTOCOL_LOG_LOG_H

#include "engine/scene/fault.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"

/* One index entry, 48 bytes little-endian on disk in this order; crc is CRC-32C of the first 44. */
enum { PL_INDEX_ENTRY = 48 };
typedef struct pl_index_entry {
    uint64_t frame;
    uint64_t frame_offset, frame_size; /* whole record, header and padding included */
    uint64_t metrics_offset, metrics_size;
    uint32_t attempt;
    uint32_t crc;
} pl_index_entry;

/* ---- writer (the worker, holding the lock) ---- */
typedef struct pl_log_writer pl_log_writer;
/* Starts attempt `attempt` of the session in dir_fd at frame `first_frame` (0 for a new run): writes its first
 * segment and publishes head.json with earlier segments cut before first_frame. PL_LOG_CONTINUE: after the last
 * committed frame, so that only a torn tail is cut. PL_INVALID if head has a newer attempt. With `epoch_json`, an
 * epoch record opens the segment. */
enum { PL_LOG_CONTINUE = -1 };
pl_status pl_log_writer_open(int dir_fd, int32_t attempt, int64_t first_frame,
                             const char *epoch_json, pl_log_writer **out);
/* Appends frame k: one write for the frame record, one for the metrics record, one index entry. k must be the next
 * frame. values: [count][3] of each field, then [elements][3], then the contacts, as they are stored. Starts a new
 * segment at PL_SEGMENT_BYTES or PL_SEGMENT_FRAMES. A short write or ENOSPC leaves the log readable to the last
 * committed frame (the torn tail is cut) and returns PL_IO with errno; the same frame may be tried again. An index
 * entry that cannot be written is not a failure: it is tried again with the next frame. */
pl_status pl_log_append(pl_log_writer *w, int64_t frame, const pl_frame_header *header,
                        const void *values, const char *metrics_json, size_t metrics_length);
/* Prunes sealed segments at each new segment, and starts segments so that little more than `last` frames stay.
 * Pruning that fails (a full disk) is tried again at the next. At any time; from the appender's thread. */
struct pl_log_keep;
void pl_log_writer_keep(pl_log_writer *w, const struct pl_log_keep *keep);
/* Appends an epoch record: information that applies from the next frame on. */
pl_status pl_log_append_epoch(pl_log_writer *w, const char *epoch_json);
/* Number of the next frame, which is also the number of committed frames. */
int64_t pl_log_writer_next(const pl_log_writer *w);
/* The end of the committed records: the open segment, and the number of bytes in it. */
void pl_log_writer_end(const pl_log_writer *w, int32_t *attempt, int32_t *number, uint64_t *end);
/* True if head.json has a newer attempt: nobody reads what is appended here any more. If it has an older attempt,
 * whose rename came late, ours is published again. Costs one stat if head.json has not changed since the last call.
 * Only from the appender's thread. */
bool pl_log_writer_fenced(pl_log_writer *w);
/* fdatasync of open files, and fsync of their folders if a name is new; nothing if all was synced before. Callable from a thread other than the appender's. */
pl_status pl_log_sync(pl_log_writer *w);
/* Makes appended records visible to other machines of a network file system, without waiting for durability. Callable
 * from any thread. */
void pl_log_send(pl_log_writer *w);
/* Seals the last segment in head.json and closes. */
pl_status pl_log_writer_close(pl_log_writer *w);

/* ---- reader (any process) ---- */
typedef struct pl_log_reader pl_log_reader;
/* A reader keeps its own copy of dir_fd. It works before head.json exists (no frames yet). Not thread-safe: use one
 * per stream. Holds at most two more descriptors open. */
pl_status pl_log_reader_open(int dir_fd, pl_log_reader **out);
void pl_log_reader_close(pl_log_reader *r);
/* Number of committed frames available, so frames 0 .. n-1; checks the disk again. */
int64_t pl_log_reader_refresh(pl_log_reader *r);
/* The first frame that is kept at least in part, as of the last refresh; 0 if nothing was pruned. */
int64_t pl_log_reader_first(const pl_log_reader *r);
/* True if head.json is damaged or lost and the frames come from the segments (head_recover.h): users should be
 * told. */
bool pl_log_reader_recovered(const pl_log_reader *r);

typedef enum pl_log_outcome {
    PL_LOG_OK,
    PL_LOG_NOT_YET, /* frame not committed (yet) */
    PL_LOG_CORRUPT, /* its bytes are damaged or missing: report a gap, continue with the next */
    PL_LOG_ERROR,   /* errno */
    PL_LOG_PRUNED,  /* existed, but was pruned (log_prune.h) */
} pl_log_outcome;
typedef enum pl_log_part { PL_LOG_FRAME = 1, PL_LOG_METRICS = 2 } pl_log_part;

/* Position of a record of frame k: a descriptor that stays valid until the next call on the reader, offset and
 * whole size. The header has been checked (not the payload's CRC). */
typedef struct pl_log_range {
    int fd;
    uint64_t offset, size;
    pl_record record;
} pl_log_range;
pl_log_outcome pl_log_find(pl_log_reader *r, int64_t frame, pl_log_part part, pl_log_range *out);

/* Reads a whole record's payload and checks its CRC. *payload malloc'ed (a NUL follows). */
pl_log_outcome pl_log_read(pl_log_reader *r, int64_t frame, pl_log_part part, char **payload,
                           uint64_t *length);

/* The epoch record at the start of the attempt that wrote frame k; *payload malloc'ed as above. */
pl_log_outcome pl_log_epoch(pl_log_reader *r, int64_t frame, char **payload, uint64_t *length);

/* Visits the epoch records between frame k and the previous frame of its segment, in order: a worker's notes on the
 * step that led to frame k. A note that no frame follows belongs to no frame. `see` gets each payload (a NUL
 * follows); false ends the walk. Damaged records are skipped. */
typedef bool (*pl_log_see)(void *context, const char *payload, uint64_t length);
pl_log_outcome pl_log_notes(pl_log_reader *r, int64_t frame, pl_log_see see, void *context);

/* Rebuilds the index of every segment in head by scanning; for tools, and not while a worker lives. Returns the
 * number of frames found, or -1 with errno. */
int64_t pl_log_reindex(int dir_fd);

#endif
