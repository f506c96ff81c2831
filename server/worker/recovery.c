#include "server/worker/gpu.h"
#include "server/worker/recovery.h"

#include "protocol/log/folder.h"
#include "protocol/text/json.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- leftovers ---- */

/* True for a name NAME.PID.N.tmp of a file that the worker writes. */
static bool is_leftover(const char *name)
{
    static const char *const owners[] = {"checkpoint-", "head.json.", "exit.json.",
                                         "warnings.json.", "threads.json."};
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (strncmp(name, owners[i], strlen(owners[i])) == 0)
            return true;
    return false;
}

void pl_recovery_clean(int directory)
{
    DIR *d = pl_folder_open(directory, ".");
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (is_leftover(e->d_name) && unlinkat(directory, e->d_name, 0) == 0)
            pl_worker_logf("%s of a killed worker removed", e->d_name);
    closedir(d);
}

/* ---- restoring ---- */

pl_status pl_recovery_put(const pl_checkpoint *c, const char *payload, pl_steering *steering)
{
    pl_faults faults = {0};
    bool same_class = strcmp(c->numerics, pl_worker_class()) == 0;
    pl_status status = pl_steering_restore(steering, payload + c->payload_size,
                                           (size_t)c->control_size, &faults);
    pl_faults_clear(&faults);
    if (status != PL_OK)
        return status;
    if (same_class && c->model_hash != pl_model_hash(steering->model))
        return PL_INVALID;
    status = pl_state_restore(steering->state, payload, (size_t)c->payload_size);
    if (status != PL_INVALID)
        return status;
    pl_worker_logf("the state in the checkpoint of frame %lld does not fit the model",
                   (long long)c->frame);
    pl_state *fresh;
    status = pl_state_create(steering->model, steering->threads, &fresh);
    if (status != PL_OK)
        return status;
    pl_state_destroy(steering->state);
    steering->state = fresh;
    status = pl_steering_restore(steering, NULL, 0, &faults);
    pl_faults_clear(&faults);
    return status == PL_OK ? PL_UNSUPPORTED : status;
}

/* Restore a slot. PL_UNSUPPORTED if it is unusable, which was logged. */
static pl_status restore_slot(int directory, int slot, pl_steering *steering, int64_t committed,
                              pl_checkpoint *found)
{
    pl_checkpoint c;
    void *payload;
    uint64_t limit = PL_CHECKPOINT_MAX_PAYLOAD;
    pl_status status = pl_checkpoint_read(directory, slot, limit, &c, &payload);
    if (status == PL_NO_MEMORY)
        return status;
    if (status != PL_OK) {
        if (status == PL_INVALID)
            pl_worker_logf("%s is damaged and is skipped", pl_checkpoint_name(slot));
        else
            pl_worker_logf("%s cannot be read: %s", pl_checkpoint_name(slot), strerror(errno));
        return PL_UNSUPPORTED;
    }
    if (c.frame >= committed) {
        pl_worker_logf("%s is of frame %lld, which the log has lost: skipped",
                       pl_checkpoint_name(slot), (long long)c.frame);
        status = PL_UNSUPPORTED;
    } else {
        status = pl_recovery_put(&c, payload, steering);
        if (status == PL_OK)
            *found = c;
    }
    free(payload);
    return status;
}

pl_status pl_recovery_restore(int directory, pl_steering *steering, int64_t committed,
                              pl_checkpoint *found)
{
    pl_checkpoint newest, c;
    *found = (pl_checkpoint){.frame = -1};
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        if (pl_checkpoint_peek(directory, slot, &c) == PL_INVALID)
            pl_worker_logf("%s is damaged and is skipped", pl_checkpoint_name(slot));
    if (pl_checkpoint_newest(directory, &newest) != PL_OK)
        return PL_OK;
    for (int i = 0; i < PL_CHECKPOINT_SLOTS; i++) {
        int slot = (newest.slot + i) % PL_CHECKPOINT_SLOTS;
        if (pl_checkpoint_peek(directory, slot, &c) != PL_OK)
            continue;
        pl_status status = restore_slot(directory, slot, steering, committed, found);
        if (status != PL_UNSUPPORTED)
            return status;
    }
    return PL_OK;
}

pl_status pl_recovery_note_class(pl_log_writer *log, const char *before)
{
    if (strcmp(before, pl_worker_class()) == 0)
        return PL_OK;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "event", "numerics_changed");
    pl_json_set_string(&w, "from", before);
    pl_json_set_string(&w, "to", pl_worker_class());
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    pl_status status = text ? pl_log_append_epoch(log, text) : PL_NO_MEMORY;
    int error = errno;
    free(text);
    errno = error;
    pl_worker_logf("numerics class changed from '%s' to '%s'", before, pl_worker_class());
    return status;
}

/* ---- comparing ---- */

/* Numerics class of the attempt that wrote a frame; "unknown" if its epoch cannot be read. */
static void class_of(pl_log_reader *reader, int64_t frame, char out[PL_CHECKPOINT_CLASS])
{
    char *text;
    uint64_t length;
    snprintf(out, PL_CHECKPOINT_CLASS, "unknown");
    if (pl_log_epoch(reader, frame, &text, &length) != PL_LOG_OK)
        return;
    pl_json *epoch = pl_json_parse(text, (size_t)length, NULL);
    snprintf(out, PL_CHECKPOINT_CLASS, "%s", pl_json_string(epoch, "class", "unknown"));
    pl_json_free(epoch);
    free(text);
}

pl_status pl_comparison_open(pl_comparison *c, int directory, const pl_checkpoint *from,
                             int64_t committed)
{
    *c = (pl_comparison){.attempt = -1};
    pl_status status = pl_log_reader_open(directory, &c->reader);
    if (status != PL_OK)
        return status;
    c->on = from->frame < 0 || strcmp(from->numerics, pl_worker_class()) == 0;
    class_of(c->reader, committed - 1, c->last_class);
    return PL_OK;
}

void pl_comparison_close(pl_comparison *c)
{
    pl_log_reader_close(c->reader);
    c->reader = NULL;
}

/* True if this class wrote the frame. Checked once per attempt. */
static bool is_ours(pl_comparison *c, int64_t frame)
{
    pl_log_range range;
    char numerics[PL_CHECKPOINT_CLASS];
    bool known = pl_log_find(c->reader, frame, PL_LOG_FRAME, &range) == PL_LOG_OK;
    if (known && (int32_t)range.record.attempt == c->attempt)
        return true;
    class_of(c->reader, frame, numerics);
    if (strcmp(numerics, pl_worker_class()) != 0)
        return false;
    if (known)
        c->attempt = (int32_t)range.record.attempt;
    return true;
}

pl_status pl_comparison_check(pl_comparison *c, pl_frame_writer *writer, int64_t frame,
                              pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                              pl_frame_outcome *outcome)
{
    *outcome = PL_FRAME_SAME;
    if (c->on && !is_ours(c, frame)) {
        c->on = false;
        pl_worker_logf("frames from %lld on were written by another numerics class and are not "
                       "compared",
                       (long long)frame);
    }
    if (!c->on)
        return PL_OK;
    pl_status status = pl_frame_writer_compare(writer, c->reader, frame, state, metrics, bad_vertex,
                                               outcome);
    if (status == PL_OK && *outcome == PL_FRAME_UNREADABLE)
        c->skipped++;
    else if (status == PL_OK)
        c->compared++;
    return status;
}
