#include "server/worker/control_apply.h"

#include "protocol/scene/control_json.h"
#include "protocol/text/json.h"
#include "server/worker/gpu.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void pl_steering_clear(pl_steering *s)
{
    pl_state_destroy(s->state);
    pl_model_destroy(s->model);
    pl_model_destroy(s->ready);
    free(s->first);
    *s = (pl_steering){.directory = -1};
}

/* ---- the model ---- */

/* Uses the meshes, which are read from their files again if they were released. */
static pl_status make_model(pl_steering *s, pl_model **model, pl_faults *faults)
{
    pl_status status = PL_OK;
    if (!s->scene->meshes)
        status = pl_session_scene_load_bodies(s->directory, s->scene, faults);
    if (status == PL_OK)
        status = pl_model_create(&s->scene->scene, s->scene->meshes, model, faults);
    return status;
}

/* Replace model and state; `model` is a model of the scene, which is then owned, or NULL for a new one. */
static pl_status replace(pl_steering *s, pl_model *model, pl_faults *faults)
{
    pl_state *state = NULL;
    void *changes = NULL;
    size_t size = 0;
    pl_status status = model ? PL_OK : make_model(s, &model, faults);
    if (status == PL_OK && s->model)
        status = pl_changes_save(s->model, &s->scene->scene, &changes, &size);
    if (status == PL_OK && s->model)
        status = pl_changes_restore(model, changes, size);
    if (status == PL_OK && !pl_worker_gpu_refuses(model))
        status = pl_state_create(model, s->threads, &state);
    if (status == PL_OK && s->state)
        status = pl_state_follow(state, s->state);
    if (status == PL_OK && !s->first)
        status = pl_changes_save(model, &s->scene->scene, &s->first, &s->first_size);
    free(changes);
    if (status != PL_OK) {
        pl_state_destroy(state);
        pl_model_destroy(model);
        return status;
    }
    pl_state_destroy(s->state);
    pl_model_destroy(s->model);
    s->state = state;
    s->model = model;
    return PL_OK;
}

pl_status pl_steering_build(pl_steering *s, pl_faults *faults)
{
    return replace(s, NULL, faults);
}

/* ---- building models ahead ---- */

/* A model of the scene after this change; the scene itself stays unchanged. */
static pl_model *foresee(pl_steering *s, const pl_change *change)
{
    pl_faults faults = {0};
    pl_model *model = NULL;
    void *before;
    size_t size;
    if (pl_changes_save(s->model, &s->scene->scene, &before, &size) != PL_OK)
        return NULL;
    pl_scene_change(&s->scene->scene, change);
    if (make_model(s, &model, &faults) != PL_OK)
        model = NULL;
    pl_changes_restore_scene(&s->scene->scene, before, size);
    pl_faults_clear(&faults);
    free(before);
    return model;
}

/* The controls before it change no material, so the scene is what it will be applied to. */
void pl_steering_prepare(pl_steering *s, const pl_control_reader *queue)
{
    for (size_t i = queue->item_first; i < queue->item_count && !s->ready; i++) {
        const pl_control_item *item = &queue->items[i];
        pl_faults faults = {0};
        pl_change change;
        if (item->number <= s->last || item->number <= s->looked)
            continue;
        s->looked = item->number;
        if (pl_control_decode(item->text, strlen(item->text), &s->scene->scene, &change, &faults) ==
            PL_DECODE_OK) {
            if (pl_change_rebuilds(&change)) {
                s->ready = foresee(s, &change);
                s->ready_for = item->number;
            }
            pl_change_clear(&change);
        }
        pl_faults_clear(&faults);
    }
}

/* The model built ahead for this control, if any; owned by the caller. */
static pl_model *take_ready(pl_steering *s, int64_t number)
{
    pl_model *model = s->ready;
    s->ready = NULL;
    if (model && s->ready_for != number) {
        pl_model_destroy(model);
        return NULL;
    }
    s->prepared += model != NULL;
    return model;
}

/* ---- taking effect ---- */

pl_status pl_steering_take(pl_steering *s, int64_t number, const char *text, size_t length,
                           pl_faults *faults)
{
    pl_change change;
    pl_decode_outcome outcome = pl_control_decode(text, length, &s->scene->scene, &change, faults);
    if (outcome != PL_DECODE_OK)
        return outcome == PL_DECODE_NO_MEMORY ? PL_NO_MEMORY : PL_INVALID;
    pl_status status = pl_model_change(s->model, &change, pl_state_time(s->state));
    if (status == PL_OK && pl_change_rebuilds(&change)) {
        pl_scene_change(&s->scene->scene, &change);
        status = replace(s, take_ready(s, number), faults);
    }
    pl_change_clear(&change);
    if (status == PL_OK)
        s->last = number;
    return status;
}

static pl_status note(pl_steering *s, const pl_control_item *item, int64_t frame)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "event", "applied");
    pl_json_set_integer(&w, "control", item->number);
    pl_json_set_integer(&w, "frame", frame);
    pl_json_set_raw(&w, "change", item->text);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    pl_status status = text ? pl_log_append_epoch(s->log, text) : PL_NO_MEMORY;
    int error = errno;
    free(text);
    errno = error;
    return status;
}

pl_status pl_steering_apply(pl_steering *s, pl_control_reader *queue, int64_t frame,
                            pl_faults *faults)
{
    pl_control_item item;
    while (pl_control_reader_next(queue, &item)) {
        pl_status status = PL_OK;
        /* otherwise it is already in effect, from a checkpoint or the log */
        if (item.number > s->last) {
            status = pl_steering_take(s, item.number, item.text, strlen(item.text), faults);
            if (status == PL_OK)
                status = note(s, &item, frame);
        }
        int error = errno;
        free(item.text);
        errno = error;
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* ---- repeating ---- */

typedef struct repeating {
    pl_steering *steering;
    pl_faults *faults;
    pl_status status;
} repeating;

static bool repeat_one(void *context, const char *payload, uint64_t length)
{
    repeating *r = context;
    pl_json *event = pl_json_parse(payload, (size_t)length, NULL);
    if (!event && errno == ENOMEM)
        r->status = PL_NO_MEMORY;
    int64_t number = pl_json_integer(event, "control", 0);
    const pl_json *change = pl_json_at(event, "change");
    if (strcmp(pl_json_string(event, "event", ""), "applied") == 0 && change &&
        number > r->steering->last) {
        char *text = pl_json_dump(change, false);
        r->status = text ? pl_steering_take(r->steering, number, text, strlen(text), r->faults)
                         : PL_NO_MEMORY;
        free(text);
    }
    pl_json_free(event);
    return r->status == PL_OK;
}

pl_status pl_steering_repeat(pl_steering *s, pl_log_reader *stored, int64_t frame,
                             pl_faults *faults)
{
    repeating r = {.steering = s, .faults = faults, .status = PL_OK};
    pl_log_outcome outcome = pl_log_notes(stored, frame, repeat_one, &r);
    if (r.status != PL_OK)
        return r.status;
    if (outcome == PL_LOG_ERROR)
        return errno == ENOMEM ? PL_NO_MEMORY : PL_IO;
    return PL_OK; /* a damaged frame: the difference will show at the next one */
}

/* ---- checkpoints ---- */

pl_status pl_steering_save(const pl_steering *s, void **bytes, size_t *size)
{
    void *changes;
    size_t changes_size;
    *bytes = NULL;
    *size = 0;
    if (s->last == 0 && !s->carried)
        return PL_OK;
    pl_status status = pl_changes_save(s->model, &s->scene->scene, &changes, &changes_size);
    if (status != PL_OK)
        return status;
    char *whole = malloc(sizeof s->last + changes_size);
    if (whole) {
        memcpy(whole, &s->last, sizeof s->last);
        memcpy(whole + sizeof s->last, changes, changes_size);
        *bytes = whole;
        *size = sizeof s->last + changes_size;
    }
    free(changes);
    return whole ? PL_OK : PL_NO_MEMORY;
}

pl_status pl_steering_restore(pl_steering *s, const void *bytes, size_t size, pl_faults *faults)
{
    int64_t last = 0;
    const char *changes = s->first;
    size_t changes_size = s->first_size;
    if (size > 0) {
        if (size < sizeof last)
            return PL_INVALID;
        memcpy(&last, bytes, sizeof last);
        changes = (const char *)bytes + sizeof last;
        changes_size = size - sizeof last;
    } else if (s->last == 0) {
        return PL_OK;
    }
    if (last < 0)
        return PL_INVALID;
    /* Restore materials first; the model is rebuilt only if they differ. */
    void *before = NULL;
    size_t before_size = 0;
    pl_status status = pl_changes_save(s->model, &s->scene->scene, &before, &before_size);
    if (status == PL_OK)
        status = pl_changes_restore_scene(&s->scene->scene, changes, changes_size);
    if (status == PL_OK) {
        void *after = NULL;
        size_t after_size = 0;
        status = pl_changes_save(s->model, &s->scene->scene, &after, &after_size);
        bool same = status == PL_OK && after_size == before_size &&
                    memcmp(after, before, after_size) == 0;
        free(after);
        if (status == PL_OK && !same)
            status = pl_steering_build(s, faults);
    }
    if (status == PL_OK)
        status = pl_changes_restore(s->model, changes, changes_size);
    if (status == PL_OK)
        s->last = last;
    free(before);
    return status;
}
