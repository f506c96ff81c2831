#include "server/branch.h"

#include "protocol/branch_json.h"
#include "protocol/checkpoint.h"
#include "protocol/json.h"
#include "protocol/log.h"
#include "protocol/notes.h"
#include "protocol/params.h"
#include "server/access.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory -----------------------------------------------------------------------------
 */

static bool link_meshes(int from, int to)
{
    int fd = openat(from, "meshes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    bool good = mkdirat(to, "meshes", 0700) == 0;
    for (struct dirent *e; good && folder && (e = readdir(folder));) {
        char name[sizeof e->d_name + 8];
        snprintf(name, sizeof name, "meshes/%s", e->d_name);
        good = e->d_name[0] == '.' || linkat(from, name, to, name, 0) == 0;
    }
    int error = errno;
    if (folder) {
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return good;
}

/* The newest checkpoint that is not after the frame, as slot A; true where there is one. A worker may
 * put another file in the place of the one that was looked at, so the link is looked at once more. */
static bool link_checkpoint(int from, int to, int64_t frame)
{
    pl_checkpoint slots[PL_CHECKPOINT_SLOTS], linked;
    int order[PL_CHECKPOINT_SLOTS], count = 0;
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        if (pl_checkpoint_peek(from, slot, &slots[slot]) == PL_OK && slots[slot].frame <= frame) {
            order[count++] = slot;
        }
    }
    if (count == 2 && slots[order[0]].frame < slots[order[1]].frame) {
        order[0] = 1;
        order[1] = 0;
    }
    for (int i = 0; i < count; i++) {
        const char *name = pl_checkpoint_name(0);
        if (linkat(from, pl_checkpoint_name(order[i]), to, name, 0) != 0) {
            continue;
        }
        if (pl_checkpoint_peek(to, 0, &linked) == PL_OK && linked.frame <= frame) {
            return true;
        }
        unlinkat(to, name, 0);
    }
    return false;
}

static int open_session(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool pl_branch_stage(const pl_branch *b, int dir_fd)
{
    int from = open_session(b->session), to = -1;
    bool good = from >= 0 && mkdirat(dir_fd, "parent", 0700) == 0;
    to = good ? openat(dir_fd, "parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    good = to >= 0 && link_meshes(from, to) &&
           pl_file_replace(to, "scene.json", b->before, b->before_size, false) == PL_OK &&
           pl_file_replace(to, "start.json", b->start, strlen(b->start), false) == PL_OK;
    /* Without a checkpoint it is computed from the other's beginning, which a branch does not have. */
    if (good && !link_checkpoint(from, to, b->frame) && faccessat(from, "parent", F_OK, 0) == 0) {
        errno = ENODATA;
        good = false;
    }
    good = good && fsync(to) == 0;
    int error = errno;
    if (to >= 0) {
        close(to);
    }
    if (from >= 0) {
        close(from);
    }
    errno = error;
    return good;
}

/* ---- what was in effect ------------------------------------------------------------------------
 */

typedef struct gathering {
    pl_json_writer w;
    int64_t frame;
} gathering;

static bool gather_one(void *context, const char *payload, uint64_t length)
{
    gathering *g = context;
    pl_json *event = pl_json_parse(payload, (size_t)length, NULL);
    char *change = pl_json_dump(pl_json_at(event, "change"), false);
    if (change && strcmp(pl_json_string(event, "event", ""), "applied") == 0) {
        pl_json_begin_object(&g->w);
        pl_json_set_integer(&g->w, "frame", g->frame);
        pl_json_set_integer(&g->w, "control", pl_json_integer(event, "control", 0));
        pl_json_set_raw(&g->w, "change", change);
        pl_json_end_object(&g->w);
    }
    free(change);
    pl_json_free(event);
    return true;
}

static char *gather(const pl_session *s, pl_log_reader *reader, int64_t frame)
{
    gathering g = {0};
    pl_json_begin_object(&g.w);
    pl_json_set_string(&g.w, "session", s->id);
    pl_json_set_integer(&g.w, "frame", frame);
    pl_json_key(&g.w, "controls");
    pl_json_begin_array(&g.w);
    for (g.frame = 1; g.frame <= frame; g.frame++) {
        pl_log_notes(reader, g.frame, gather_one, &g);
    }
    pl_json_end_array(&g.w);
    pl_json_end_object(&g.w);
    return pl_json_finish(&g.w, NULL);
}

/* ---- the request -------------------------------------------------------------------------------
 */

static bool reply_refused(pl_request *r, pl_decode_verdict verdict, const pl_faults *faults)
{
    if (verdict == PL_DECODE_SYNTAX) {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", faults);
    } else if (verdict == PL_DECODE_INVALID) {
        pl_reply_problem(r, 422, "invalid_branch", "There can be no such branch",
                         "every fault that was found is listed", faults);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    return false;
}

/* The frame, and what was in effect up to it. */
static bool find_start(pl_request *r, int dir_fd, pl_branch *b)
{
    pl_log_reader *reader;
    if (pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the log can not be opened", NULL);
        return false;
    }
    int64_t frames = pl_log_reader_refresh(reader);
    b->frame = b->frame < 0 ? frames - 1 : b->frame;
    bool there = b->frame >= 0 && b->frame < frames;
    if (there) {
        b->start = gather(b->session, reader, b->frame);
    }
    pl_log_reader_close(reader);
    if (!there) {
        pl_reply_problemf(r, 404, "no_such_frame", "No such frame", "%lld frames are there",
                          (long long)frames);
    } else if (!b->start) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    return there && b->start;
}

/* Who may only look at the session does not get its webhook by branching it. */
static bool hide(pl_branch *b)
{
    char *shown = pl_notes_scene_shown(b->before, b->before_size, &b->before_size);
    free(b->before);
    b->before = shown;
    return shown;
}

static bool prepare(pl_request *r, pl_branch *b)
{
    bool manages = pl_sessions_access(pl_request_daemon(r)->sessions, pl_request_principal(r),
                                      b->session) >= PL_ACCESS_MANAGE;
    size_t length;
    const char *body = pl_request_body(r, &length);
    int dir_fd = open_session(b->session);
    bool read = dir_fd >= 0 &&
                pl_file_read(dir_fd, "scene.json", PL_SCENE_BYTES_MAX, &b->before,
                             &b->before_size) == PL_OK &&
                (manages || hide(b));
    bool good = read;
    if (!read) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "scene.json can not be read", NULL);
    } else {
        pl_faults faults = {0};
        pl_decode_verdict verdict = pl_branch_decode(body, length, b->before, b->before_size,
                                                     &b->frame, &b->scene, &faults);
        good = verdict == PL_DECODE_OK ? find_start(r, dir_fd, b)
                                       : reply_refused(r, verdict, &faults);
        pl_faults_clear(&faults);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return good;
}

void pl_handle_branch(pl_request *r)
{
    pl_branch b = {.session = pl_request_session(r, PL_ACCESS_VIEW), .frame = -1};
    if (b.session && prepare(r, &b)) {
        pl_admission_branch(r, &b);
    } else {
        pl_request_finish(r);
    }
    free(b.scene);
    free(b.before);
    free(b.start);
    if (b.session) {
        pl_session_release(b.session);
    }
}
