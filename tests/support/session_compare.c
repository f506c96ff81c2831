#include "tests/support/session_compare.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/log_index.h"
#include "protocol/log/metrics_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "session compare: %s: %s\n", what, strerror(errno));
    abort();
}

/* A frame's part; NULL if it is damaged. */
static char *take(pl_log_reader *r, int64_t frame, pl_log_part part, uint64_t *length)
{
    char *payload = NULL;
    pl_log_outcome outcome = pl_log_read(r, frame, part, &payload, length);
    need(outcome == PL_LOG_OK || outcome == PL_LOG_CORRUPT, "reading a frame");
    return outcome == PL_LOG_OK ? payload : NULL;
}

static bool same_part(pl_log_reader *a, pl_log_reader *b, int64_t frame, pl_log_part part)
{
    uint64_t size, length;
    char *x = take(a, frame, part, &size), *y = take(b, frame, part, &length);
    bool same = true;
    if (x && y)
        same = part == PL_LOG_METRICS ? pl_metrics_same(x, size, y, length)
                                      : size == length && memcmp(x, y, size) == 0;
    free(x);
    free(y);
    return same;
}

int64_t session_compare(const session_fixture *a, const session_fixture *b)
{
    pl_log_reader *x, *y;
    need(pl_log_reader_open(a->directory, &x) == PL_OK, a->path);
    need(pl_log_reader_open(b->directory, &y) == PL_OK, b->path);
    int64_t n = pl_log_reader_refresh(x), m = pl_log_reader_refresh(y), differs = -1;
    for (int64_t k = 0; k < n && k < m && differs < 0; k++)
        if (!same_part(x, y, k, PL_LOG_FRAME) || !same_part(x, y, k, PL_LOG_METRICS))
            differs = k;
    if (differs < 0 && n != m)
        differs = n < m ? n : m;
    pl_log_reader_close(x);
    pl_log_reader_close(y);
    return differs;
}

/* Read the records of a segment; each of its frames must come once, in order. */
static bool segment_once(const session_fixture *f, const pl_segment *segment)
{
    char name[PL_SEGMENT_NAME], *bytes;
    size_t size;
    int64_t next = segment->first_frame;
    pl_segment_name(name, segment, "seg");
    need(pl_file_read(f->directory, name, (size_t)1 << 30, &bytes, &size) == PL_OK, name);
    if (segment->length >= 0 && (uint64_t)segment->length < size)
        size = (size_t)segment->length;
    bool once = true;
    pl_record r;
    for (size_t at = 0;
         once && pl_record_decode((unsigned char *)bytes + at, size - at, &r) == PL_RECORD_GOOD;
         at += pl_record_size(r.length))
        if (r.type == PL_RECORD_FRAME)
            once = (int64_t)r.frame == next++ && r.seq == r.frame;
    free(bytes);
    return once && (segment->frames < 0 || next == segment->first_frame + segment->frames);
}

bool session_compare_once(const session_fixture *f)
{
    pl_head head;
    need(pl_head_read(f->directory, &head) == PL_OK, "head.json");
    bool once = true;
    for (int64_t i = 0; i < head.segment_count && once; i++)
        once = segment_once(f, &head.segments[i]);
    pl_head_clear(&head);
    return once;
}

bool session_said(const session_fixture *f, const char *text)
{
    char *log;
    size_t size;
    need(pl_file_read(f->directory, "worker.log", 16 << 20, &log, &size) == PL_OK, "worker.log");
    bool said = strstr(log, text) != NULL;
    free(log);
    return said;
}

/* Path of the segment that holds a frame. */
static void segment_path(const session_fixture *f, int64_t frame, char name[PL_SEGMENT_NAME])
{
    pl_head head;
    need(pl_head_read(f->directory, &head) == PL_OK, "head.json");
    int64_t i = head.segment_count - 1;
    while (i > 0 && head.segments[i].first_frame > frame)
        i--;
    pl_segment_name(name, &head.segments[i], "seg");
    pl_head_clear(&head);
}

char session_tamper(const session_fixture *f, int64_t frame, int part, uint64_t offset, char value,
                    bool seal)
{
    pl_log_reader *r;
    pl_log_range range;
    char name[PL_SEGMENT_NAME];
    need(pl_log_reader_open(f->directory, &r) == PL_OK, f->path);
    need(pl_log_find(r, frame, (pl_log_part)part, &range) == PL_LOG_OK, "frame to tamper with");
    char *bytes = malloc((size_t)range.size);
    need(bytes &&
             pread(range.fd, bytes, (size_t)range.size, (off_t)range.offset) == (ssize_t)range.size,
         "record");
    char before = bytes[PL_RECORD_HEADER + offset];
    bytes[PL_RECORD_HEADER + offset] = before == value ? (char)(value ^ 1) : value;
    if (seal) {
        range.record.payload_crc = pl_crc32c(0, bytes + PL_RECORD_HEADER, range.record.length);
        pl_record_encode(&range.record, (unsigned char *)bytes);
    }
    segment_path(f, frame, name);
    int fd = openat(f->directory, name, O_WRONLY | O_CLOEXEC);
    need(fd >= 0 &&
             pwrite(fd, bytes, (size_t)range.size, (off_t)range.offset) == (ssize_t)range.size,
         name);
    close(fd);
    free(bytes);
    pl_log_reader_close(r);
    return before;
}

/* Wait for a checkpoint of a frame from `frame` on, in each slot; false if the run has ended. */
static bool await_checkpoints(const session_fixture *f, int64_t frame)
{
    struct stat st;
    double end = session_fixture_clock() + 60;
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        for (pl_checkpoint c = {.frame = -1}; c.frame < frame;) {
            if (pl_checkpoint_peek(f->directory, slot, &c) != PL_OK)
                c.frame = -1;
            need(session_fixture_clock() < end, "waiting for checkpoints");
            if (fstatat(f->directory, "exit.json", &st, 0) == 0)
                return false;
        }
    return true;
}

void session_create_killed(session_fixture *f, int64_t steps, const char *more)
{
    /* On a busy machine a run may be over before it has its checkpoints; then another is begun. */
    for (int tries = 0; tries < 20; tries++) {
        char *scene = session_fixture_scene(steps, more);
        session_fixture_create(f, SESSION_IN_MEMORY, scene);
        free(scene);
        pid_t pid = session_fixture_start_often(f, 1);
        bool there = await_checkpoints(f, 20);
        pl_checkpoint newest = {.frame = steps};
        there = there && pl_checkpoint_newest(f->directory, &newest) == PL_OK &&
                session_fixture_await(f, newest.frame + 2);
        kill(pid, SIGKILL);
        int status = session_fixture_wait(pid);
        if (there && status == 128 + SIGKILL && session_fixture_frames(f) <= steps &&
            pl_checkpoint_newest(f->directory, &newest) == PL_OK &&
            newest.frame < session_fixture_frames(f) - 1)
            return;
        session_fixture_destroy(f);
    }
    need(false, "no run could be killed in its middle");
}

int session_create_ended(session_fixture *f, int64_t steps, const char *more, int64_t frames,
                         const char *control)
{
    for (int tries = 0; tries < 20; tries++) { /* it may end before it reads it */
        char *scene = session_fixture_scene(steps, more);
        session_fixture_create(f, SESSION_IN_MEMORY, scene);
        free(scene);
        pid_t pid = session_fixture_start(f, 1);
        need(session_fixture_await(f, frames), "waiting for frames");
        if (control)
            session_fixture_control(f, control);
        else
            kill(pid, SIGTERM);
        int status = session_fixture_wait(pid);
        if (status != 0)
            return status;
        session_fixture_destroy(f);
    }
    need(false, "no run could be ended in its middle");
    return -1;
}
