#include "server/sessions/frame_time.h"

#include <unistd.h>

double pl_frame_time(pl_log_reader *reader, int64_t frame, double fallback)
{
    pl_log_range range;
    pl_frame_header header;
    unsigned char bytes[PL_FRAME_HEADER];
    if (pl_log_find(reader, frame, PL_LOG_FRAME, &range) != PL_LOG_OK ||
        pread(range.fd, bytes, sizeof bytes, (off_t)(range.offset + PL_RECORD_HEADER)) !=
            (ssize_t)sizeof bytes ||
        !pl_frame_header_decode(bytes, range.record.length, &header)) {
        return fallback;
    }
    return header.time;
}
