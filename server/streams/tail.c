#include "server/streams/tail.h"

#include "server/sessions/frame_time.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

pl_status pl_tail_open(pl_session *session, int dir_fd)
{
    pl_log_reader *reader;
    pl_status status = pl_log_reader_open(dir_fd, &reader);
    if (status == PL_OK) {
        pl_tail_close(session);
        pthread_mutex_lock(&session->tail_mutex);
        session->tail = reader;
        pthread_mutex_unlock(&session->tail_mutex);
    }
    return status;
}

void pl_tail_close(pl_session *session)
{
    pthread_mutex_lock(&session->tail_mutex);
    pl_log_reader_close(session->tail);
    session->tail = NULL;
    pthread_mutex_unlock(&session->tail_mutex);
}

int64_t pl_tail_refresh(pl_session *session, int64_t known, double *time)
{
    int64_t frames = -1;
    pthread_mutex_lock(&session->tail_mutex);
    if (session->tail) {
        frames = pl_log_reader_refresh(session->tail);
        if (frames > known) {
            *time = pl_frame_time(session->tail, frames - 1, *time);
        }
    }
    pthread_mutex_unlock(&session->tail_mutex);
    return frames;
}

pl_log_outcome pl_tail_read(pl_session *session, int64_t frame, pl_log_part part, pl_record *record,
                            char **payload)
{
    pl_log_range range;
    uint64_t length;
    pthread_mutex_lock(&session->tail_mutex);
    pl_log_outcome outcome = session->tail ? pl_log_find(session->tail, frame, part, &range)
                                           : PL_LOG_NOT_YET;
    if (outcome == PL_LOG_OK) {
        *record = range.record;
        outcome = pl_log_read(session->tail, frame, part, payload, &length);
    }
    int error = errno;
    pthread_mutex_unlock(&session->tail_mutex);
    errno = error;
    return outcome;
}

bool pl_session_log_open(const pl_session *session, pl_log_reader **out)
{
    if (*out) {
        return true;
    }
    int dir_fd = open(session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return false;
    }
    pl_status status = pl_log_reader_open(dir_fd, out);
    int error = status == PL_NO_MEMORY ? ENOMEM : errno;
    close(dir_fd);
    errno = error;
    return status == PL_OK;
}
