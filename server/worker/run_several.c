#include "server/worker/run.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_run.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct session_thread {
    const pl_session_options *options;
    pl_session_entry entry;
    pthread_t thread;
    bool started;
    pl_worker_exit result;
} session_thread;

static void *run_thread(void *context)
{
    session_thread *t = context;
    pl_worker_log_use(t->entry.log);
    t->result = pl_run_one(t->options, &t->entry, true);
    return NULL;
}

/* The process's exit status; how each session ended is in its exit.json. */
static pl_worker_exit sum_up(const session_thread *threads, int count)
{
    pl_worker_exit result = PL_WORKER_SUCCEEDED;
    for (int i = 0; i < count; i++) {
        if (threads[i].result == PL_WORKER_DEVICE_FAULT)
            return PL_WORKER_DEVICE_FAULT;
        if (result == PL_WORKER_SUCCEEDED &&
            (threads[i].result == PL_WORKER_USAGE || threads[i].result == PL_WORKER_REFUSED ||
             threads[i].result == PL_WORKER_NO_DISK || threads[i].result == PL_WORKER_NO_MEMORY))
            result = threads[i].result;
    }
    return result;
}

pl_worker_exit pl_session_run_all(const pl_session_options *options, int count)
{
    session_thread *threads = calloc((size_t)count, sizeof *threads);
    pl_session_entry *entries = calloc((size_t)count, sizeof *entries);
    pl_worker_exit result = PL_WORKER_USAGE;
    if (threads && entries) {
        pl_run_set_signals();
        pl_session_enter(options, count, entries);
        if (pl_sandbox_limit_memory(options->memory,
                                    count * (options->threads > 0 ? options->threads : 1)) != PL_OK)
            pl_worker_logf("no memory limit: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            threads[i] = (session_thread){
                .options = &options[i], .entry = entries[i], .result = PL_WORKER_USAGE};
            threads[i].started = pthread_create(&threads[i].thread, NULL, run_thread,
                                                &threads[i]) == 0;
            if (!threads[i].started)
                pl_worker_logf("%s: no thread could be started for it", options[i].directory);
        }
        for (int i = 0; i < count; i++)
            if (threads[i].started)
                pthread_join(threads[i].thread, NULL);
        result = sum_up(threads, count);
    }
    free(entries);
    free(threads);
    return result;
}
