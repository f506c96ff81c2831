#include "server/worker/thread_count.h"

#include "protocol/log/cores.h"
#include "protocol/log/fresh.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

void pl_thread_count_init(pl_thread_count *t, int directory, int32_t attempt, int32_t most)
{
    *t = (pl_thread_count){.directory = directory, .attempt = attempt, .most = most};
}

void pl_thread_count_begin(const pl_thread_count *t, int32_t threads)
{
    if (t->most > 0 &&
        pl_cores_write(t->directory, PL_CORES_HAD, &(pl_cores){t->attempt, threads, 0}) != PL_OK)
        pl_worker_logf("%s could not be written: %s", PL_CORES_HAD, strerror(errno));
}

/* True if the file was not read before. */
static bool is_new(const pl_thread_count *t, struct stat *now)
{
    if (pl_stat_fresh_at(t->directory, PL_CORES_WANTED, now) != 0)
        return false;
    return now->st_ino != t->file || now->st_mtim.tv_sec != t->seen.tv_sec ||
           now->st_mtim.tv_nsec != t->seen.tv_nsec;
}

static bool take(pl_steering *steering, int32_t threads)
{
    if (threads == steering->threads)
        return true;
    if (pl_state_set_threads(steering->state, threads) != PL_OK)
        return false;
    steering->threads = threads;
    return true;
}

void pl_thread_count_poll(pl_thread_count *t, pl_steering *steering)
{
    struct stat file;
    pl_cores wanted;
    if (t->most <= 0 || !steering->state || !is_new(t, &file))
        return;
    bool ours = pl_cores_read(t->directory, PL_CORES_WANTED, &wanted) == PL_OK &&
                wanted.attempt == t->attempt && wanted.number > t->number;
    if (ours) {
        int32_t threads = wanted.cores < t->most ? wanted.cores : t->most;
        if (!take(steering, threads) ||
            pl_cores_write(t->directory, PL_CORES_HAD,
                           &(pl_cores){t->attempt, threads, wanted.number}) != PL_OK)
            return;
        t->number = wanted.number;
        pl_worker_logf("%d threads from step %lld on", threads,
                       (long long)pl_state_step(steering->state) + 1);
    }
    t->seen = file.st_mtim;
    t->file = file.st_ino;
}
