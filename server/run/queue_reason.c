#include "server/run/queue_reason.h"

#include "server/base/options.h"

#include <stdio.h>

static void restart(const pl_session *s, double left, char *out, size_t size)
{
    snprintf(out, size, "restarts in %.3g s: %s (attempt %lld of %d)",
             left > 10 ? (double)(int64_t)left : left, s->message ? s->message : "",
             (long long)s->crashes + 1, PL_RESTARTS + 1);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static const char *of_group(pl_wait_reason limit)
{
    return limit == PL_WAIT_USER_CORES  ? "cores used"
           : limit == PL_WAIT_USER_GPUS ? "GPUs used"
                                        : "sessions run";
}

void pl_queue_reason(const pl_session *s, const pl_wait *wait, const pl_schedule_load *load,
                     const char *no_gpu, char *out, size_t size)
{
    long long amount = (long long)wait->amount, of = (long long)wait->of;
    out[0] = 0;
    switch (wait->reason) {
    case PL_WAIT_NONE:
        snprintf(out, size, "starts now");
        break;
    case PL_WAIT_DRAINING:
        snprintf(out, size, "the machine is being drained: no session is started");
        break;
    case PL_WAIT_HELD:
        snprintf(out, size, "held until released");
        break;
    case PL_WAIT_AFTER:
        snprintf(out, size, "waits for %lld session%s of resources.after to end", amount,
                 plural(amount));
        break;
    case PL_WAIT_DUE:
        restart(s, wait->amount, out, size);
        break;
    case PL_WAIT_USER_CORES:
        snprintf(out, size, "waits for its owner's limit: %lld of %lld cores used", amount, of);
        break;
    case PL_WAIT_USER_RUNNING:
        snprintf(out, size, "waits for its owner's limit: %lld of %lld sessions run", amount, of);
        break;
    case PL_WAIT_USER_GPUS:
        snprintf(out, size, "waits for its owner's limit: %lld of %lld GPUs used", amount, of);
        break;
    case PL_WAIT_GROUP:
        snprintf(out, size, "waits for its group's limit: %lld of %lld %s", amount, of,
                 of_group(wait->within));
        break;
    case PL_WAIT_NO_GPU:
        snprintf(out, size, "waits for a GPU, and this daemon has none: %s", no_gpu ? no_gpu : "");
        break;
    case PL_WAIT_GPU_MEMORY:
        snprintf(out, size, "waits for %.0f MB of a GPU's memory: %.0f MB free on the emptiest",
                 wait->amount / 1e6, wait->of / 1e6);
        break;
    case PL_WAIT_TURN:
        snprintf(out, size, "waits for %lld session%s before it", amount, plural(amount));
        break;
    case PL_WAIT_CORES:
        snprintf(out, size, "waits for %lld core%s: %lld of %lld free", amount, plural(amount), of,
                 (long long)load->cores);
        break;
    case PL_WAIT_MEMORY:
        snprintf(out, size, "waits for %.0f MB of memory: %.0f MB free", wait->amount / 1e6,
                 wait->of / 1e6);
        break;
    case PL_WAIT_RESERVED:
        snprintf(out, size,
                 "would fit, but would delay a session that has been overtaken for long");
        break;
    }
}
