#include "protocol/log/session_dir.h"

#include "protocol/log/fresh.h"
#include "protocol/text/json.h"
#include "protocol/log/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 2, FORMAT_PRUNED = 3, SEALED_SINCE = 2, HEAD_LIMIT = 16 << 20 };

/* ---- lock ---- */

pl_status pl_session_lock(int dir_fd, bool create, int *out_fd)
{
    int fd = openat(dir_fd, "lock", O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0640);
    if (fd < 0)
        return PL_IO;
    /* An open file description lock: it is released with the last copy of the descriptor and, unlike a POSIX lock,
     * no other open and close of the file in this process can release it. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0) {
        *out_fd = fd;
        return PL_OK;
    }
    int kept = errno;
    close(fd);
    errno = kept;
    return kept == EAGAIN || kept == EACCES ? PL_INVALID : PL_IO;
}

bool pl_session_locked(int dir_fd)
{
    int fd = openat(dir_fd, "lock", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool locked = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    close(fd);
    return locked;
}

/* The lock's modification time, which has no other use. */
void pl_session_beat(int lock_fd)
{
    futimens(lock_fd, NULL);
}

int64_t pl_session_last_beat(int dir_fd)
{
    struct stat st;
    if (pl_stat_fresh_at(dir_fd, "lock", &st) != 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
}

/* ---- head.json ---- */

static pl_segment segment_decode(const pl_json *s)
{
    return (pl_segment){
        .attempt = (int32_t)pl_json_integer(s, "attempt", -1),
        .number = (int32_t)pl_json_integer(s, "number", -1),
        .first_frame = pl_json_integer(s, "first_frame", -1),
        .frames = pl_json_integer(s, "frames", -1),
        .length = pl_json_integer(s, "length", -1),
        .every = pl_json_integer(s, "every", 0),
    };
}

/* Segments follow one another without a gap, and only the last is open. */
static bool segment_fits(const pl_segment *s, const pl_segment *before, bool last, bool pruned)
{
    bool sealed = s->frames >= 0 && s->length >= 0;
    bool open = s->frames == -1 && s->length == -1;
    if (s->attempt < 0 || s->number < 0 || !(sealed || (open && last)))
        return false;
    if (s->frames > PL_SEGMENT_FRAMES || s->first_frame < 0 || s->first_frame > INT64_MAX / 2)
        return false;
    if (s->every < 0 || s->every > INT32_MAX || (s->every > 0 && (open || !pruned)))
        return false;
    if (!before && pruned)
        return true;
    return s->first_frame == (before ? before->first_frame + before->frames : 0);
}

static pl_status head_decode(const pl_json *document, pl_head *out)
{
    const pl_json *list = pl_json_at(document, "segments");
    size_t count = pl_json_count(list);
    int64_t attempt = pl_json_integer(document, "attempt", -1);
    bool pruned = pl_json_integer(document, "format", 0) == FORMAT_PRUNED;
    if (attempt < 0 || attempt > INT32_MAX || count > PL_HEAD_SEGMENTS_MAX)
        return PL_IO;
    pl_segment *segments = calloc(count ? count : 1, sizeof *segments);
    if (!segments)
        return PL_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        segments[i] = segment_decode(pl_json_item(list, i));
        if (!segment_fits(&segments[i], i ? &segments[i - 1] : NULL, i + 1 == count, pruned)) {
            free(segments);
            return PL_IO;
        }
    }
    *out = (pl_head){(int32_t)attempt, (int64_t)count, segments};
    return PL_OK;
}

pl_status pl_head_read(int dir_fd, pl_head *out)
{
    pl_json *document;
    pl_status status = pl_sealed_read_since(dir_fd, "head.json", HEAD_LIMIT, SEALED_SINCE,
                                            FORMAT_PRUNED, &document);
    if (status != PL_OK)
        return status;
    status = head_decode(document, out);
    pl_json_free(document);
    if (status == PL_IO)
        errno = EBADMSG;
    return status;
}

static bool is_pruned(const pl_head *head)
{
    bool pruned = head->segment_count > 0 && head->segments[0].first_frame > 0;
    for (int64_t i = 0; i < head->segment_count; i++)
        pruned |= head->segments[i].every > 0;
    return pruned;
}

static void head_encode(const pl_head *head, pl_json_writer *w)
{
    pl_json_begin_object(w);
    pl_json_set_integer(w, "format", is_pruned(head) ? FORMAT_PRUNED : FORMAT);
    pl_json_set_integer(w, "attempt", head->attempt);
    pl_json_key(w, "segments");
    pl_json_begin_array(w);
    for (int64_t i = 0; i < head->segment_count; i++) {
        const pl_segment *s = &head->segments[i];
        pl_json_begin_object(w);
        pl_json_set_integer(w, "attempt", s->attempt);
        pl_json_set_integer(w, "number", s->number);
        pl_json_set_integer(w, "first_frame", s->first_frame);
        pl_json_set_integer(w, "frames", s->frames);
        pl_json_set_integer(w, "length", s->length);
        if (s->every > 0)
            pl_json_set_integer(w, "every", s->every);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

pl_status pl_head_write(int dir_fd, const pl_head *head)
{
    pl_head present = {0};
    pl_status status = pl_head_read(dir_fd, &present);
    int32_t newest = present.attempt;
    pl_head_clear(&present);
    /* A head that is lost or damaged tells nothing: the segments' names then show who is stale. */
    if (status == PL_IO && (errno == ENOENT || errno == EBADMSG))
        newest = pl_log_newest_attempt(dir_fd);
    else if (status != PL_OK)
        return status;
    if (newest > head->attempt)
        return PL_INVALID;
    pl_json_writer w = {0};
    head_encode(head, &w);
    return pl_sealed_write(dir_fd, "head.json", &w, false);
}

void pl_head_clear(pl_head *head)
{
    free(head->segments);
    *head = (pl_head){0};
}
