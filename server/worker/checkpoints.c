#include "server/worker/gpu.h"
#include "server/worker/checkpoints.h"

#include "protocol/log/session_dir.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checkpoints may take at most 1/50 of the time. */
static const double share = 50;

void pl_checkpoints_init(pl_checkpoints *c, int directory, int32_t attempt, double first,
                         double every, int slot)
{
    *c = (pl_checkpoints){.directory = directory,
                          .attempt = attempt,
                          .every = every,
                          .wait = first,
                          .last = pl_worker_clock(),
                          .slot = slot};
}

void pl_checkpoints_clear(pl_checkpoints *c)
{
    free(c->payload);
    free(c->kept_payload);
    *c = (pl_checkpoints){0};
}

/* Copy header and payload of the present state. */
static pl_status copy(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note,
                      pl_checkpoint *out, void **payload)
{
    size_t size, control_size;
    void *controls;
    pl_status status = pl_state_save(state, payload, &size);
    if (status != PL_OK)
        return status;
    if (pl_worker_gpu_fault()) { /* the saved values are not numbers */
        free(*payload);
        *payload = NULL;
        return PL_FAILED;
    }
    status = pl_steering_save(c->steering, &controls, &control_size);
    char *whole = status == PL_OK && controls ? realloc(*payload, size + control_size) : *payload;
    if (status != PL_OK || !whole) {
        free(controls);
        free(*payload);
        *payload = NULL;
        return PL_NO_MEMORY;
    }
    if (controls)
        memcpy(whole + size, controls, control_size);
    free(controls);
    *payload = whole;
    *out = (pl_checkpoint){.attempt = c->attempt,
                           .frame = note->frame,
                           .model_hash = pl_model_hash(c->steering->model),
                           .control_end = note->control_end,
                           .seconds = note->seconds,
                           .payload_size = size,
                           .control_size = control_size};
    pl_log_writer_end(c->log, &out->segment_attempt, &out->segment_number, &out->segment_end);
    snprintf(out->numerics, sizeof out->numerics, "%s", pl_worker_class());
    return PL_OK;
}

/* The first failures are logged individually, then every power of two. */
static void report_failure(pl_checkpoints *c, const char *why)
{
    c->failed++;
    if (c->failed <= 3 || (c->failed & (c->failed - 1)) == 0)
        pl_worker_logf("checkpoint of frame %lld not written: %s%s", (long long)c->job.frame, why,
                       c->failed > 1 ? " (not the first)" : "");
}

static const char *why_not(pl_status status)
{
    return status == PL_FAILED ? "the GPU failed" : "out of memory";
}

/* A worker whose directory now belongs to a newer attempt must not replace that attempt's files. */
static bool superseded(const pl_checkpoints *c)
{
    pl_head head = {0};
    bool newer = pl_head_read(c->directory, &head) == PL_OK && head.attempt > c->attempt;
    pl_head_clear(&head);
    return newer;
}

/* Runs on the syncer's thread, after a sync of the log. */
static void write_job(void *context)
{
    pl_checkpoints *c = context;
    double begin = pl_worker_clock();
    pl_status status = PL_INVALID;
    if (!superseded(c))
        status = pl_checkpoint_write(c->directory, c->slot, &c->job, c->payload);
    int error = errno;
    free(c->payload);
    c->payload = NULL;
    c->cost = c->copied + pl_worker_clock() - begin;
    if (status == PL_OK) {
        c->written++;
        c->slot = (c->slot + 1) % PL_CHECKPOINT_SLOTS;
    } else if (status == PL_IO) {
        report_failure(c, strerror(error));
    }
}

bool pl_checkpoints_due(const pl_checkpoints *c)
{
    double since = pl_worker_clock() - c->last;
    return since >= c->wait && since >= share * c->cost && !pl_log_syncer_busy(c->syncer);
}

void pl_checkpoints_take(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note)
{
    double now = pl_worker_clock();
    c->last = now;
    c->wait = c->every;
    free(c->payload); /* of one dropped because the preceding sync failed */
    c->payload = NULL;
    pl_status status = copy(c, state, note, &c->job, &c->payload);
    if (status != PL_OK) {
        c->job.frame = note->frame;
        report_failure(c, why_not(status));
        return;
    }
    c->copied = pl_worker_clock() - now;
    pl_log_syncer_then(c->syncer, write_job, c);
}

void pl_checkpoints_keep(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note)
{
    free(c->kept_payload);
    c->kept_payload = NULL;
    c->kept_state = copy(c, state, note, &c->kept, &c->kept_payload) == PL_OK;
}

bool pl_checkpoints_last(pl_checkpoints *c, const pl_state *state, const pl_checkpoint_note *note)
{
    double begin = pl_worker_clock();
    free(c->payload);
    c->payload = NULL;
    c->job.frame = note->frame;
    if (state) {
        pl_status status = copy(c, state, note, &c->job, &c->payload);
        if (status != PL_OK) {
            report_failure(c, why_not(status));
            return false;
        }
    } else {
        if (!c->kept_state)
            return false;
        c->job = c->kept;
        c->job.seconds = note->seconds;
        c->payload = c->kept_payload;
        c->kept_payload = NULL;
        c->kept_state = false;
    }
    c->copied = pl_worker_clock() - begin;
    if (pl_log_sync(c->log) != PL_OK) {
        report_failure(c, strerror(errno));
        return false;
    }
    int64_t before = c->written;
    write_job(c);
    return c->written > before;
}
