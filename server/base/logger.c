#include "server/base/logger.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pl_level threshold = PL_LEVEL_INFO;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void pl_logf_level(pl_level level)
{
    threshold = level;
}

int pl_level_parse(const char *name, pl_level *out)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *out = (pl_level)i;
            return 0;
        }
    }
    return -1;
}

/* One write a line, so that lines of several threads do not mix. */
void pl_logf(pl_level level, const char *format, ...)
{
    if (level > threshold) {
        return;
    }
    char line[1024];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm utc;
    gmtime_r(&now.tv_sec, &utc);
    size_t used = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
    used += (size_t)snprintf(line + used, sizeof line - used, ".%03ldZ %-5s ",
                             now.tv_nsec / 1000000, level_names[level]);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    if (n > 0) {
        size_t room = sizeof line - used - 2;
        used += (size_t)n < room ? (size_t)n : room;
    }
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; /* nobody is left to be told */
}
