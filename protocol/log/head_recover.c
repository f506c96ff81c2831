#include "protocol/log/head_recover.h"

#include "protocol/log/log_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Sets a segment's first frame and length from its file. False if it has no good record: then only its name is
 * known. */
static bool look_inside(int dir_fd, pl_segment *segment)
{
    char name[PL_SEGMENT_NAME];
    unsigned char header[PL_RECORD_HEADER];
    pl_record record;
    pl_segment_name(name, segment, "seg");
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    uint64_t limit = pl_file_length(fd), at = pl_next_header(fd, 0, limit);
    bool found = at < limit && pl_read_range(fd, header, sizeof header, at) &&
                 pl_record_decode(header, sizeof header, &record) == PL_RECORD_GOOD &&
                 record.attempt == (uint32_t)segment->attempt && record.frame < INT64_MAX / 4;
    close(fd);
    if (!found)
        return false;
    segment->first_frame = (int64_t)record.frame;
    segment->length = (int64_t)limit;
    return true;
}

static int newest_first(const void *left, const void *right)
{
    const pl_segment *a = left, *b = right;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? 1 : -1;
    return (a->number < b->number) - (a->number > b->number);
}

/* Adds segments without files for the frames from `first` to before `end`, which readers find as gaps; backwards,
 * as the chain is built. `unused` is the next number without a file of the attempt.
 */
static bool add_lost(pl_segment_list *chain, int32_t attempt, int32_t *unused, int64_t first,
                     int64_t end)
{
    while (end > first) {
        int64_t from = end - first > PL_SEGMENT_FRAMES ? end - PL_SEGMENT_FRAMES : first;
        pl_segment lost = {
            .attempt = attempt, .number = (*unused)++, .first_frame = from, .frames = end - from};
        if (chain->count >= PL_HEAD_SEGMENTS_MAX || !pl_segment_list_add(chain, &lost))
            return false;
        end = from;
    }
    return true;
}

/* Builds the chain, newest segment first, from the segments found, newest first. */
static pl_status build_chain(int dir_fd, const pl_segment_list *found, pl_segment_list *chain)
{
    int64_t end = INT64_MAX; /* first frame of the chain so far */
    for (int64_t i = 0; i < found->count && end > 0; i++) {
        pl_segment s = found->items[i];
        int32_t unused = pl_segment_next_number(found->items, found->count, s.attempt);
        if (!look_inside(dir_fd, &s) || s.first_frame >= end)
            continue;
        if (chain->count == 0) {
            s.length = -1; /* a worker may still be writing it */
        } else {
            /* The gap between the two exceeds a segment: whole segments are lost. */
            s.frames = end - s.first_frame;
            if (s.frames > PL_SEGMENT_FRAMES)
                s.frames = PL_SEGMENT_FRAMES;
            if (!add_lost(chain, s.attempt, &unused, s.first_frame + s.frames, end))
                return PL_NO_MEMORY;
        }
        if (!pl_segment_list_add(chain, &s))
            return PL_NO_MEMORY;
        end = s.first_frame;
    }
    if (chain->count > 0) {
        int32_t attempt = chain->items[chain->count - 1].attempt;
        int32_t unused = pl_segment_next_number(found->items, found->count, attempt) +
                         (int32_t)chain->count;
        if (!add_lost(chain, attempt, &unused, 0, end))
            return PL_NO_MEMORY;
    }
    return PL_OK;
}

static void turn_round(pl_segment_list *list)
{
    for (int64_t i = 0, j = list->count - 1; i < j; i++, j--) {
        pl_segment kept = list->items[i];
        list->items[i] = list->items[j];
        list->items[j] = kept;
    }
}

pl_status pl_head_recover(int dir_fd, pl_head *out)
{
    pl_segment_list found = {0}, chain = {0};
    pl_status status = pl_segment_list_names(dir_fd, &found);
    if (status == PL_OK && found.count == 0) {
        errno = ENOENT;
        status = PL_IO;
    }
    if (status == PL_OK) {
        qsort(found.items, (size_t)found.count, sizeof *found.items, newest_first);
        status = build_chain(dir_fd, &found, &chain);
    }
    if (status == PL_OK) {
        turn_round(&chain);
        *out = (pl_head){found.items[0].attempt, chain.count, chain.items};
    } else {
        int kept = errno;
        free(chain.items);
        errno = kept;
    }
    free(found.items);
    return status;
}

pl_status pl_head_load(int dir_fd, pl_head *out, bool *recovered)
{
    pl_status status = pl_head_read(dir_fd, out);
    bool lost = status == PL_IO && (errno == EBADMSG || errno == ENOENT);
    if (lost)
        status = pl_head_recover(dir_fd, out);
    if (recovered)
        *recovered = lost && status == PL_OK && out->segment_count > 0;
    return status;
}
