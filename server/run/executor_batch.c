/* executor_batch.c - implements executor_kind.h for sessions in a batch system. */
#include "server/run/batch_executor.h"
#include "server/run/executor_kind.h"

static void start(pl_executor *e, pl_session *s)
{
    pl_batch_start(e->batch, s);
}

static void adopt(pl_executor *e, pl_session *s)
{
    pl_batch_adopt(e->batch, s);
}

static void set_deadline(pl_executor *e, const pl_session *s, int64_t deadline_ms)
{
    pl_batch_set_deadline(e->batch, s, deadline_ms);
}

/* No deadline: the batch system ends jobs that do not end by themselves. */
static void stop_all(pl_executor *e, int64_t deadline_ms)
{
    pl_batch_stop_all(e->batch);
}

static int count(pl_executor *e)
{
    return pl_batch_count(e->batch);
}

const pl_executor_kind pl_executor_batch = {"batch", start, adopt, set_deadline, stop_all, count};

const pl_executor_kind *pl_executor_kind_of(const pl_executor *e, const pl_session *s)
{
    if (!s->executor) {
        return &pl_executor_local;
    }
    return e->batch ? &pl_executor_batch : NULL;
}
