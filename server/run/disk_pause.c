#include "server/run/disk_pause.h"

#include <stdio.h>
#include <stdlib.h>

static const char waiting[] =
    "the disk is full; it continues from its checkpoint when there is space";

void pl_disk_pause_session(pl_sessions *t, pl_session *s, const char *why,
                           const pl_recovery *recovery)
{
    char message[200];
    snprintf(message, sizeof message,
             "the disk cannot be written: %s; it continues from its checkpoint when it can",
             why ? why : "");
    pl_sessions_move(t, s, PL_STATE_PAUSED,
                     &(pl_move){.reason = why ? "disk_error" : "disk_full",
                                .message = why ? message : waiting,
                                .paused_by = "disk",
                                .recovery = recovery});
}

static void resume(pl_sessions *t, pl_session *s)
{
    pthread_mutex_lock(&s->lifecycle);
    if (pl_sessions_paused_by_disk(t, s) && pl_sessions_desired(t, s) == PL_DESIRE_NOTHING) {
        pl_sessions_move(t, s, PL_STATE_QUEUED, &(pl_move){.reason = "resumed", .first = true});
    }
    pthread_mutex_unlock(&s->lifecycle);
}

void pl_disk_pause_end(pl_sessions *t)
{
    size_t count;
    pl_session **all = pl_sessions_all(t, &count);
    for (size_t i = 0; i < count; i++) {
        resume(t, all[i]);
        pl_session_release(all[i]);
    }
    free(all);
}

bool pl_disk_pause_place(const pl_disk *disk, pl_queue_place *out)
{
    if (!pl_disk_full(disk)) {
        return false;
    }
    out->code = "disk_full";
    snprintf(out->reason, sizeof out->reason,
             "waits for the disk, which is full or cannot be written: no session is started");
    return true;
}
