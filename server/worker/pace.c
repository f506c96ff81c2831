#include "server/worker/pace.h"

#include "server/worker/worker_log.h"

#include <math.h>
#include <time.h>

static const double look = 0.003, span = 1; /* s */

void pl_pace_init(pl_pace_keeper *p, const pl_scene *scene)
{
    *p = (pl_pace_keeper){.on = scene->time.pace == PL_PACE_REALTIME,
                          .frame = scene->time.step * (double)scene->output.every,
                          .rate = NAN};
}

static void nap(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds,
                         .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&t, NULL); /* a signal ends it early, as intended */
}

static void measure(pl_pace_keeper *p, double now, double time)
{
    if (p->since > 0 && now - p->since < span)
        return;
    if (p->since > 0)
        p->rate = (time - p->simulated) / (now - p->since);
    p->since = now;
    p->simulated = time;
}

bool pl_pace_wait(pl_pace_keeper *p, double time, pl_stop stop, void *context)
{
    if (!p->on)
        return true;
    double now = pl_worker_clock();
    if (p->due == 0)
        p->due = now + p->frame;
    while (now < p->due) {
        if (stop(context))
            return false;
        nap(fmin(p->due - now, look));
        now = pl_worker_clock();
    }
    p->behind = now - p->due;
    p->due = p->behind > p->frame ? now + p->frame : p->due + p->frame;
    measure(p, now, time);
    return true;
}

void pl_pace_measure(const pl_pace_keeper *p, pl_metrics *metrics)
{
    metrics->paced = p->on;
    metrics->realtime = p->rate;
    metrics->ms_behind = 1e3 * p->behind;
}
