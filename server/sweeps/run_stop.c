#include "server/sweeps/run_stop.h"

#include "protocol/log/log.h"
#include "server/sweeps/fit_curves.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool pl_run_stop_wanted(const pl_run_stop *stop)
{
    return stop->of.metric || stop->of.probe;
}

static double number_of(const pl_run_stop *stop, pl_log_reader *reader, int64_t frame)
{
    char *text;
    uint64_t length;
    if (pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length) != PL_LOG_OK) {
        return NAN;
    }
    pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
    double number = metrics ? pl_metrics_number(metrics, stop->of.metric, stop->of.probe) : NAN;
    pl_json_free(metrics);
    free(text);
    return number;
}

static bool look(const pl_run_stop *stop, pl_log_reader *reader, int64_t *from, char why[200])
{
    int64_t frames = pl_log_reader_refresh(reader);
    for (; *from < frames; ++*from) {
        double number = number_of(stop, reader, *from);
        if (stop->above ? number > stop->bound : number < stop->bound) {
            if (why) {
                snprintf(why, 200, "stopped: %.100s is %.6g at frame %lld",
                         stop->of.probe ? stop->of.probe : stop->of.metric, number,
                         (long long)*from);
            }
            return true;
        }
    }
    return false;
}

bool pl_run_stop_met(const pl_run_stop *stop, const char *directory, int64_t *from, char why[200])
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_log_reader *reader = NULL;
    bool met = fd >= 0 && pl_log_reader_open(fd, &reader) == PL_OK && look(stop, reader, from, why);
    pl_log_reader_close(reader);
    if (fd >= 0) {
        close(fd);
    }
    return met;
}
