#include "server/base/clock.h"

#include <time.h>

int64_t pl_clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void pl_time_view(int64_t seconds, char out[32])
{
    time_t t = (time_t)seconds;
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
