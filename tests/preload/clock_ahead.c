/* clock_ahead.c - loaded before the C library: the time of day is a year ahead while the file is there that
 * PLIANT_CLOCK_AHEAD names. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long ahead(void)
{
    const char *path = getenv("PLIANT_CLOCK_AHEAD");
    return path && access(path, F_OK) == 0 ? 31536000 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    __typeof__(clock_gettime) *real = (__typeof__(clock_gettime) *)dlsym(RTLD_NEXT,
                                                                         "clock_gettime");
    int result = real(clock, out);
    if (result == 0 && clock == CLOCK_REALTIME)
        out->tv_sec += ahead();
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
