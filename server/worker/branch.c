#include "server/worker/branch.h"

#include "protocol/log/checkpoint.h"
#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "server/worker/gpu.h"
#include "server/worker/recovery.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START_MAX = 64 << 20 };

/* The parent session. Lifetime: one pl_branch_enter. */
typedef struct parent {
    int directory;
    pl_session_scene scene;
    pl_material *materials; /* as in its scene; names belong to the scene */
    pl_steering steering;
    pl_json *start;
    int64_t frame, reached; /* target frame; present frame */
    char numerics
        /* of the checkpoint that it was restored from, "" if never restored */
        [PL_CHECKPOINT_CLASS];
} parent;

static void close_parent(parent *p)
{
    pl_steering_clear(&p->steering);
    pl_session_scene_clear(&p->scene);
    pl_json_free(p->start);
    free(p->materials);
    close(p->directory);
}

static pl_status read_start(parent *p)
{
    char *text;
    size_t size;
    pl_status status = pl_file_read(p->directory, "start.json", START_MAX, &text, &size);
    if (status != PL_OK)
        return status;
    p->start = pl_json_parse(text, size, NULL);
    bool starved = !p->start && errno == ENOMEM;
    free(text);
    p->frame = pl_json_integer(p->start, "frame", -1);
    errno = EBADMSG;
    return p->frame >= 0 ? PL_OK : starved ? PL_NO_MEMORY : PL_IO;
}

static pl_status open_parent(parent *p, int32_t threads, pl_faults *faults)
{
    pl_status status = read_start(p);
    if (status == PL_OK)
        status = pl_session_scene_read(p->directory, &p->scene, faults);
    if (status == PL_OK)
        status = pl_session_scene_load(p->directory, &p->scene, faults);
    if (status != PL_OK)
        return status;
    size_t bytes = (size_t)p->scene.scene.material_count * sizeof *p->materials;
    p->materials = malloc(bytes + 1);
    if (!p->materials)
        return PL_NO_MEMORY;
    memcpy(p->materials, p->scene.scene.materials, bytes);
    p->steering = (pl_steering){.directory = p->directory, .scene = &p->scene, .threads = threads};
    return pl_steering_build(&p->steering, faults);
}

/* Restore the parent from its checkpoint. PL_UNSUPPORTED if there is no usable one, which was logged. */
static pl_status restore(parent *p, pl_faults *faults)
{
    pl_checkpoint c;
    void *payload;
    pl_status status = pl_checkpoint_read(p->directory, 0, PL_CHECKPOINT_MAX_PAYLOAD, &c, &payload);
    if (status == PL_NO_MEMORY)
        return status;
    if (status != PL_OK || c.frame > p->frame) {
        if (status == PL_OK)
            free(payload);
        if (status == PL_OK || errno != ENOENT)
            pl_worker_logf("the checkpoint of the other session is damaged and is skipped");
        return PL_UNSUPPORTED;
    }
    status = pl_recovery_put(&c, payload, &p->steering);
    free(payload);
    if (status == PL_INVALID)
        pl_faults_add(faults, "", "branch", "a checkpoint of another model",
                      "the checkpoint of the other session's scene and meshes",
                      "the directory has changed since: branch again");
    if (status == PL_OK) {
        p->reached = c.frame;
        memcpy(p->numerics, c.numerics, sizeof p->numerics);
    }
    return status;
}

/* Begin where the parent itself began: at its scene, or at a frame of its own parent. */
static pl_status begin(parent *p, pl_faults *faults)
{
    int64_t step;
    p->steering.last = 0;
    if (pl_json_boolean(p->start, "from_branch", false) &&
        faccessat(p->directory, "parent", F_OK, 0) != 0) {
        pl_faults_add(faults, "", "branch", "no checkpoint that can be used here",
                      "a checkpoint: the start of the other session is no longer known",
                      "branch from a later frame that has a checkpoint");
        return PL_INVALID;
    }
    return pl_branch_enter(p->directory, &p->steering, &step, faults);
}

static pl_status miss_control(const parent *p, pl_faults *faults)
{
    char got[64];
    snprintf(got, sizeof got, "controls up to %lld", (long long)p->steering.last);
    pl_faults_add(faults, "", "branch", got, "all controls in effect at the other session's frame",
                  "older ones were pruned: branch from a later frame");
    return PL_INVALID;
}

/* Apply the controls that the parent's log noted for a frame. */
static pl_status steer(parent *p, int64_t frame, size_t *next, pl_faults *faults)
{
    const pl_json *list = pl_json_at(p->start, "controls");
    pl_status status = PL_OK;
    for (; status == PL_OK && *next < pl_json_count(list); ++*next) {
        const pl_json *item = pl_json_item(list, *next);
        int64_t at = pl_json_integer(item, "frame", 0),
                number = pl_json_integer(item, "control", 0);
        if (at > frame)
            break;
        if (number <= p->steering.last)
            continue;
        if (number != p->steering.last + 1)
            return miss_control(p, faults);
        char *text = pl_json_dump(pl_json_at(item, "change"), false);
        status = text ? pl_steering_take(&p->steering, number, text, strlen(text), faults)
                      : PL_NO_MEMORY;
        free(text);
    }
    return status;
}

static pl_status step_to_frame(parent *p, pl_faults *faults)
{
    size_t next = 0;
    pl_status status = PL_OK;
    while (status == PL_OK && p->reached < p->frame) {
        pl_metrics metrics;
        pl_failure failure;
        p->reached++;
        status = steer(p, p->reached, &next, faults);
        if (status == PL_OK)
            status = pl_frame_step(p->steering.model, p->steering.state, &metrics, &failure, NULL,
                                   NULL);
        if (status == PL_FAILED)
            pl_faults_add(faults, "", "branch", failure.message,
                          "the same frames as the other session", "");
    }
    if (status == PL_OK && p->steering.last < pl_json_integer(p->start, "control", 0))
        return miss_control(p, faults);
    return status == PL_FAILED ? PL_INVALID : status;
}

/* Continue from the parent's state. */
static pl_status take_over(pl_steering *s, const parent *p, pl_faults *faults)
{
    pl_scene *scene = &s->scene->scene;
    pl_status status = PL_OK;
    if (pl_model_vertex_count(s->model) != pl_model_vertex_count(p->steering.model)) {
        pl_faults_add(faults, "/bodies", "branch", "other bodies",
                      "the frames of the other session", "");
        return PL_INVALID;
    }
    if (pl_scene_carry(scene, p->materials, p->scene.scene.materials,
                       p->scene.scene.material_count))
        status = pl_steering_build(s, faults);
    if (status == PL_OK)
        status = pl_changes_carry(s->model, scene, p->steering.model, &p->scene.scene);
    if (status == PL_OK)
        status = pl_state_follow(s->state, p->steering.state);
    if (status != PL_OK)
        return status;
    s->carried = true;
    free(s->first);
    s->first = NULL;
    return pl_changes_save(s->model, scene, &s->first, &s->first_size);
}

pl_status pl_branch_enter(int directory, pl_steering *s, int64_t *step, pl_faults *faults)
{
    parent p = {.directory = openat(directory, "parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    *step = 0;
    if (p.directory < 0)
        return errno == ENOENT ? PL_OK : PL_IO;
    pl_status status = open_parent(&p, s->threads, faults);
    if (status == PL_OK)
        status = restore(&p, faults);
    if (status == PL_UNSUPPORTED)
        status = begin(&p, faults);
    int64_t from = p.reached;
    if (status == PL_OK)
        status = step_to_frame(&p, faults);
    if (status == PL_OK)
        status = take_over(s, &p, faults);
    /* Logged once, and only by a run that writes: frame 0 is computed from a state of another class. */
    if (status == PL_OK && p.numerics[0] && s->log && pl_log_writer_next(s->log) == 0)
        status = pl_recovery_note_class(s->log, p.numerics);
    if (status == PL_OK) {
        *step = pl_state_step(s->state);
        pl_worker_logf("starts at frame %lld of another session, computed from its frame %lld on",
                       (long long)p.frame, (long long)from);
    }
    int error = errno;
    close_parent(&p);
    errno = error;
    return status;
}
