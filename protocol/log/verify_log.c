/* verify_log.c - the log's part of verify.h: checks segments record by record, and indices against them. */
#include "protocol/log/log_index.h"
#include "protocol/log/record_walk.h"
#include "protocol/log/verify_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const pl_damage_words lost_part = {
    "every other frame",
    "Restore the file from a backup, or run the scene again. Readers report the frame as a gap."};
static const pl_damage_words nothing_lost = {"every frame", "Nothing to do."};
static const pl_damage_words bad_index = {"every frame: readers walk the segment instead",
                                          "Run pliant verify --repair, which rebuilds the index."};

/* One segment being walked. Parts of frames are numbered in writing order: 2 i is the frame record of frame
 * first_frame + i, 2 i + 1 its metrics. */
typedef struct segment_check {
    pl_verifier *verifier;
    const pl_segment *segment;
    char name[PL_SEGMENT_NAME];
    int64_t frames;     /* committed; -1 if only the walk can tell */
    int64_t expected;   /* next expected part */
    int64_t damaged_at; /* start of the bytes since the last good record that are none; or -1 */
    bool stale;         /* further records belong to no frame of this segment */
    pl_index_entry found[PL_SEGMENT_FRAMES];
    unsigned char good[PL_SEGMENT_FRAMES]; /* bits: PL_LOG_FRAME, PL_LOG_METRICS */
} segment_check;

static const char *part_name(int64_t part)
{
    return part % 2 ? "metrics" : "frame";
}

static int64_t frame_of(const segment_check *c, int64_t part)
{
    return c->segment->first_frame + part / 2;
}

/* True if retention removed the part: a frame of a thinned segment. */
static bool is_pruned(const segment_check *c, int64_t part)
{
    return part % 2 == 0 && c->segment->every > 0 && frame_of(c, part) % c->segment->every != 0;
}

/* Reports the parts from the expected one to before `part` as lost. */
static void report_lost(segment_check *c, int64_t part, uint64_t at)
{
    int64_t offset = c->damaged_at >= 0 ? c->damaged_at : (int64_t)at;
    if (c->expected >= part && c->damaged_at >= 0)
        pl_verifier_damage(c->verifier, c->name, offset, -1, &nothing_lost,
                           "%" PRId64 " bytes are damaged, but hold no frame (an epoch record "
                           "says who wrote the frames after it)",
                           (int64_t)at - offset);
    for (; c->expected < part; c->expected++)
        if (!is_pruned(c, c->expected))
            pl_verifier_damage(c->verifier, c->name, offset, frame_of(c, c->expected), &lost_part,
                               c->damaged_at >= 0 ? "the header of the %s record is damaged"
                                                  : "the %s record is missing",
                               part_name(c->expected));
    c->damaged_at = -1;
}

static void note_epoch(segment_check *c, const pl_record_walk *w)
{
    if (!w->payload_good)
        pl_verifier_damage(c->verifier, c->name, (int64_t)w->offset, -1, &nothing_lost,
                           "the payload of an epoch record is damaged: its CRC-32C is wrong");
}

static void note_part(segment_check *c, const pl_record_walk *w)
{
    const pl_record *r = &w->record;
    int64_t i = (int64_t)(r->frame - (uint64_t)c->segment->first_frame);
    int64_t part = 2 * i + (r->type == PL_RECORD_METRICS);
    if (c->frames >= 0 && i >= c->frames) {
        c->stale = true; /* cut by a later attempt: readers do not go there */
        return;
    }
    if (r->frame < (uint64_t)c->segment->first_frame || i >= PL_SEGMENT_FRAMES ||
        part < c->expected || r->seq != r->frame || r->attempt != (uint32_t)c->segment->attempt) {
        pl_verifier_damage(c->verifier, c->name, (int64_t)w->offset, -1, &nothing_lost,
                           "a %s record of frame %" PRIu64 " does not belong here", part_name(part),
                           r->frame);
        return;
    }
    report_lost(c, part, w->offset);
    c->expected = part + 1;
    pl_index_entry *e = &c->found[i];
    if (part % 2) {
        e->metrics_offset = w->offset;
        e->metrics_size = w->size;
    } else {
        e->frame_offset = w->offset;
        e->frame_size = w->size;
    }
    if (w->payload_good)
        c->good[i] |= part % 2 ? PL_LOG_METRICS : PL_LOG_FRAME;
    else
        pl_verifier_damage(c->verifier, c->name, (int64_t)w->offset, (int64_t)r->frame, &lost_part,
                           "the payload of the %s record is damaged: its CRC-32C is wrong",
                           part_name(part));
}

static void note_record(segment_check *c, const pl_record_walk *w)
{
    if (w->record.type == PL_RECORD_FRAME || w->record.type == PL_RECORD_METRICS)
        note_part(c, w);
    else if (w->record.type == PL_RECORD_EPOCH)
        note_epoch(c, w);
    else
        pl_verifier_damage(c->verifier, c->name, (int64_t)w->offset, -1, &nothing_lost,
                           "a record of type %d does not belong in a log", w->record.type);
    if (!w->padding_good && !c->stale)
        pl_verifier_damage(c->verifier, c->name, (int64_t)(w->offset + w->size - 8), -1,
                           &nothing_lost, "the padding after a record is not zero");
}

/* Walks from the first record to the last readable one. */
static void walk_segment(segment_check *c, int fd, uint64_t limit)
{
    pl_record_walk w = {.fd = fd, .limit = limit};
    pl_walk_event event = PL_WALK_END;
    while (!c->stale && (event = pl_record_walk_step(&w)) != PL_WALK_END) {
        if (event == PL_WALK_RECORD) {
            c->verifier->report->records++;
            note_record(c, &w);
        } else if (event == PL_WALK_ERROR) {
            pl_verifier_damage(c->verifier, c->name, (int64_t)w.offset, -1, &lost_part,
                               "cannot be read from here on: %s",
                               errno ? strerror(errno) : "the file ends");
            break;
        } else if (c->damaged_at < 0) {
            c->damaged_at = (int64_t)w.offset;
        }
        if (!pl_verifier_advance(c->verifier, w.size))
            break;
    }
    if (c->verifier->status == PL_OK && c->frames >= 0)
        report_lost(c, 2 * c->frames, limit);
    pl_record_walk_clear(&w);
}

/* ---- the index ---- */

/* True if the entry agrees with the walk. Parts that the walk did not find are already reported. */
static bool part_fits(uint64_t offset, uint64_t size, uint64_t found_offset, uint64_t found_size)
{
    return found_size == 0 || (offset == found_offset && size == found_size);
}

static void check_entries(segment_check *c, const char *name, const unsigned char *bytes,
                          int64_t entries)
{
    for (int64_t i = 0; i < entries; i++) {
        pl_index_entry e, *found = &c->found[i];
        int64_t frame = c->segment->first_frame + i;
        if (!pl_index_entry_decode(bytes + i * PL_INDEX_ENTRY, c->segment, frame, &e))
            pl_verifier_damage(c->verifier, name, i * PL_INDEX_ENTRY, -1, &bad_index,
                               "the entry of frame %" PRId64 " is damaged", frame);
        else if (!part_fits(e.frame_offset, e.frame_size, found->frame_offset, found->frame_size) ||
                 !part_fits(e.metrics_offset, e.metrics_size, found->metrics_offset,
                            found->metrics_size))
            pl_verifier_damage(c->verifier, name, i * PL_INDEX_ENTRY, -1, &bad_index,
                               "the entry of frame %" PRId64 " does not point to its records",
                               frame);
    }
}

/* Number of good entries from the start of an open segment's index: at least as many frames were committed,
 * whatever happened to their records. */
static int64_t good_entries(const segment_check *c, const unsigned char *bytes, size_t size)
{
    int64_t i = 0;
    pl_index_entry e;
    while (i < PL_SEGMENT_FRAMES && (size_t)(i + 1) * PL_INDEX_ENTRY <= size &&
           pl_index_entry_decode(bytes + i * PL_INDEX_ENTRY, c->segment,
                                 c->segment->first_frame + i, &e))
        i++;
    return i;
}

/* Sets the number of frames of an open segment: that of the index, or more if the walk found whole frames after it.
 * Bytes after them were not committed and are no damage. */
static void settle_open(segment_check *c, size_t mark, int64_t indexed, uint64_t limit)
{
    c->frames = indexed;
    for (int64_t i = PL_SEGMENT_FRAMES - 1; i >= c->frames; i--)
        if (c->good[i] == (PL_LOG_FRAME | PL_LOG_METRICS))
            c->frames = i + 1;
    pl_verifier_forgive(c->verifier, mark, c->segment->first_frame + c->frames);
    if (c->expected < 2 * c->frames)
        report_lost(c, 2 * c->frames, limit);
}

static void check_index(segment_check *c, size_t mark, uint64_t limit)
{
    char name[PL_SEGMENT_NAME], *bytes = NULL;
    size_t size = 0;
    bool open = c->frames < 0;
    pl_segment_name(name, c->segment, "idx");
    pl_status status = pl_file_read(c->verifier->dir_fd, name, 1 << 24, &bytes, &size);
    int error = errno;
    c->verifier->report->files++;
    c->verifier->report->bytes += size;
    if (open)
        settle_open(c, mark, good_entries(c, (unsigned char *)bytes, size), limit);
    int64_t entries = (int64_t)(size / PL_INDEX_ENTRY);
    if (status != PL_OK)
        pl_verifier_damage(c->verifier, name, -1, -1, &bad_index, "%s",
                           error == ENOENT ? "is missing" : strerror(error));
    else if (entries < c->frames && !open)
        pl_verifier_damage(c->verifier, name, (int64_t)size, -1, &bad_index,
                           "ends early: entries of %" PRId64 " frames are missing",
                           c->frames - entries);
    check_entries(c, name, (unsigned char *)bytes, entries < c->frames ? entries : c->frames);
    free(bytes);
}

/* ---- segments ---- */

/* Number of frames of a segment, from the head, or from exit.json for the open last one; -1 if unknown. */
static int64_t known_frames(const pl_verifier *v, const pl_segment *s)
{
    if (s->frames >= 0)
        return s->frames;
    int64_t frames = v->ending.frames + 1 - s->first_frame;
    bool told = v->has_ending && !v->report->live && v->ending.attempt == v->head.attempt;
    return told && frames >= 0 && frames <= PL_SEGMENT_FRAMES ? frames : -1;
}

static void count_frames(const segment_check *c)
{
    int64_t frames = c->frames > 0 ? c->frames : 0;
    c->verifier->report->frames += frames;
    for (int64_t i = 0; i < frames; i++) {
        unsigned char kept = is_pruned(c, 2 * i) ? PL_LOG_METRICS : PL_LOG_FRAME | PL_LOG_METRICS;
        c->verifier->report->frames_lost += (c->good[i] & kept) != kept;
    }
}

static void check_segment(segment_check *c)
{
    const pl_segment *s = c->segment;
    pl_verifier *v = c->verifier;
    size_t mark = v->report->count;
    int fd = openat(v->dir_fd, c->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    v->report->files++;
    if (fd < 0) {
        c->frames = c->frames < 0 ? 0 : c->frames;
        pl_verifier_damage(v, c->name, -1, c->frames ? s->first_frame : -1, &lost_part,
                           "%s: frames %" PRId64 " to %" PRId64 " are lost",
                           errno == ENOENT ? "is missing" : strerror(errno), s->first_frame,
                           s->first_frame + c->frames - 1);
        count_frames(c);
        return;
    }
    uint64_t present = pl_file_length(fd), limit = present;
    if (s->length >= 0 && (uint64_t)s->length < limit)
        limit = (uint64_t)s->length;
    if (s->length > 0 && present < (uint64_t)s->length)
        pl_verifier_damage(v, c->name, (int64_t)present, -1, &lost_part,
                           "ends %" PRIu64 " bytes early", (uint64_t)s->length - present);
    walk_segment(c, fd, limit);
    v->report->bytes += limit;
    close(fd);
    if (v->status != PL_OK)
        return;
    check_index(c, mark, limit);
    count_frames(c);
}

void pl_verify_log(pl_verifier *v)
{
    segment_check *c = v->head.segment_count > 0 ? malloc(sizeof *c) : NULL;
    if (!c && v->head.segment_count > 0)
        v->status = PL_NO_MEMORY;
    for (int64_t i = 0; v->status == PL_OK && i < v->head.segment_count; i++) {
        memset(c, 0, sizeof *c);
        c->verifier = v;
        c->segment = &v->head.segments[i];
        c->frames = known_frames(v, c->segment);
        c->damaged_at = -1;
        pl_segment_name(c->name, c->segment, "seg");
        check_segment(c);
    }
    free(c);
}
