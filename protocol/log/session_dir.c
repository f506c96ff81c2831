#include "protocol/log/session_dir.h"

#include "protocol/log/head_recover.h"
#include "protocol/text/json.h"
#include "protocol/log/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FORMAT = 2, FORMAT_PRUNED = 3, SEALED_SINCE = 2, HEAD_LIMIT = 16 << 20 };

/* ---- whole small files ---- */

static pl_status write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return PL_IO;
        data += n;
        size -= (size_t)n;
    }
    return PL_OK;
}

/* fsync the directory that `name` lies in, so that its entry survives a power cut. */
static pl_status sync_parent(int dir_fd, const char *name)
{
    char parent[256] = ".";
    const char *slash = strrchr(name, '/');
    if (slash)
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
    int fd = openat(dir_fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return PL_IO;
    int failed = fsync(fd);
    close(fd);
    return failed ? PL_IO : PL_OK;
}

static pl_status write_and_rename(int dir_fd, int fd, const char *temporary, const char *name,
                                  const struct iovec *parts, int count)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++)
        status = write_all(fd, parts[i].iov_base, parts[i].iov_len);
    if (status == PL_OK && fsync(fd) != 0)
        status = PL_IO;
    int kept = errno;
    if (close(fd) != 0 && status == PL_OK) {
        kept = errno;
        status = PL_IO;
    }
    if (status == PL_OK && renameat(dir_fd, temporary, dir_fd, name) != 0) {
        kept = errno;
        status = PL_IO;
    }
    errno = kept;
    return status;
}

pl_status pl_file_replace(int dir_fd, const char *name, const void *data, size_t size, bool durable)
{
    struct iovec whole = {(void *)data, size};
    return pl_file_replace_parts(dir_fd, name, &whole, 1, durable);
}

pl_status pl_file_replace_parts(int dir_fd, const char *name, const struct iovec *parts, int count,
                                bool durable)
{
    /* Two writers of one name (a stale worker, another thread) must not share a temporary. */
    static atomic_uint counter;
    char temporary[320];
    int n = snprintf(temporary, sizeof temporary, "%s.%ld.%u.tmp", name, (long)getpid(),
                     atomic_fetch_add(&counter, 1u));
    if (n >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return PL_IO;
    }
    int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        return PL_IO;
    pl_status status = write_and_rename(dir_fd, fd, temporary, name, parts, count);
    if (status != PL_OK) {
        int kept = errno;
        unlinkat(dir_fd, temporary, 0);
        errno = kept;
        return status;
    }
    return durable ? sync_parent(dir_fd, name) : PL_OK;
}

/* Read to the end of fd, at most `limit` bytes, into a buffer of `capacity` that grows. */
static pl_status read_all(int fd, size_t limit, size_t capacity, char **out, size_t *size)
{
    size_t used = 0;
    char *text = malloc(capacity + 1);
    if (!text)
        return PL_NO_MEMORY;
    for (;;) {
        if (used == capacity) {
            char *larger = realloc(text, 2 * capacity + 4096 + 1);
            if (!larger) {
                free(text);
                return PL_NO_MEMORY;
            }
            text = larger;
            capacity = 2 * capacity + 4096;
        }
        ssize_t n = read(fd, text + used, capacity - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        used += n > 0 ? (size_t)n : 0;
        if (n < 0 || used > limit) {
            int kept = n < 0 ? errno : EFBIG;
            free(text);
            errno = kept;
            return PL_IO;
        }
    }
    text[used] = 0;
    *out = text;
    *size = used;
    return PL_OK;
}

pl_status pl_file_read(int dir_fd, const char *name, size_t limit, char **out, size_t *size)
{
    struct stat st;
    /* O_NONBLOCK: a FIFO put in the place of the file must not hang the reader. */
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return PL_IO;
    pl_status status = PL_IO;
    if (fstat(fd, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        else if (st.st_size > 0 && (uint64_t)st.st_size > limit)
            errno = EFBIG;
        else
            status = read_all(fd, limit, (size_t)st.st_size + 1, out, size);
    }
    int kept = errno;
    close(fd);
    errno = kept;
    return status;
}

/* ---- lock ---- */

pl_status pl_session_lock(int dir_fd, bool create, int *out_fd)
{
    int fd = openat(dir_fd, "lock", O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0640);
    if (fd < 0)
        return PL_IO;
    /* An open file description lock: it dies with the last copy of the descriptor, and no other
     * open and close of the file in this process can drop it, as with POSIX locks. */
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

/* Segments follow one another without a hole, and only the last is open. */
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
    /* A head that is lost or damaged says nothing: the segments' names then say who is stale. */
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
