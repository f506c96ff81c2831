#include "server/run/time_limit.h"

#include "protocol/log/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

double pl_time_limit_spent(const pl_session *s)
{
    pl_checkpoint newest = {.seconds = 0};
    int dir_fd = s->time_limit > 0 ? open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd < 0) {
        return 0;
    }
    bool known = pl_checkpoint_newest(dir_fd, &newest) == PL_OK && newest.seconds > 0;
    close(dir_fd);
    return known ? newest.seconds : 0;
}

int64_t pl_time_limit_end(const pl_session *s, double spent, double age)
{
    if (s->time_limit <= 0) {
        return 0;
    }
    return pl_monotonic_ms() + (int64_t)(1e3 * (s->time_limit - spent - age));
}
