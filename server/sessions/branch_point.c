#include "server/sessions/branch_point.h"

#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/scene/params.h"
#include "protocol/log/session_dir.h"
#include "server/tenants/auth.h"
#include "server/sessions/control_log.h"
#include "server/sessions/control_in_effect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

enum { START_MAX = 64 << 20 };

/* ---- the checkpoint ---- */

static bool make_pin(int dir_fd, int slot, int64_t frame, pl_branch_point *o)
{
    char id[33];
    if (pl_random_id(id) != 0) {
        return false;
    }
    snprintf(o->pin, sizeof o->pin, "incoming/pin-%s", id);
    if (linkat(dir_fd, pl_checkpoint_name(slot), o->state_fd, o->pin, 0) == 0) {
        /* A worker may meanwhile have replaced the file that was examined. */
        if (pl_checkpoint_peek_file(o->state_fd, o->pin, &o->checkpoint) == PL_OK &&
            o->checkpoint.frame <= frame) {
            return true;
        }
        unlinkat(o->state_fd, o->pin, 0);
    }
    o->pin[0] = 0;
    o->checkpoint = (pl_checkpoint){.frame = -1};
    return false;
}

/* Link the newest checkpoint not after the frame. */
static void pin_checkpoint(int dir_fd, int64_t frame, pl_branch_point *o)
{
    pl_checkpoint slots[PL_CHECKPOINT_SLOTS];
    int order[PL_CHECKPOINT_SLOTS], count = 0;
    o->checkpoint = (pl_checkpoint){.frame = -1};
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        if (pl_checkpoint_peek(dir_fd, slot, &slots[slot]) == PL_OK && slots[slot].frame <= frame) {
            order[count++] = slot;
        }
    }
    if (count == 2 && slots[order[0]].frame < slots[order[1]].frame) {
        order[0] = 1;
        order[1] = 0;
    }
    for (int i = 0; i < count && !make_pin(dir_fd, order[i], frame, o); i++) {
    }
}

void pl_branch_point_clear(pl_branch_point *o)
{
    if (o->pin[0]) {
        unlinkat(o->state_fd, o->pin, 0);
    }
    free(o->start);
    *o = (pl_branch_point){.checkpoint = {.frame = -1}};
}

/* ---- the controls ---- */

typedef struct gathering {
    pl_json_writer w;
    int64_t frame;
    int64_t reached; /* every control up to this one is known, or contained in the checkpoint */
} gathering;

static bool gather_one(void *context, const char *payload, uint64_t length)
{
    gathering *g = context;
    pl_json *event = pl_json_parse(payload, (size_t)length, NULL);
    char *change = pl_json_dump(pl_json_at(event, "change"), false);
    if (change && strcmp(pl_json_string(event, "event", ""), "applied") == 0) {
        int64_t number = pl_json_integer(event, "control", 0);
        pl_json_begin_object(&g->w);
        pl_json_set_integer(&g->w, "frame", g->frame);
        pl_json_set_integer(&g->w, "control", number);
        pl_json_set_raw(&g->w, "change", change);
        pl_json_end_object(&g->w);
        g->reached += number == g->reached + 1;
    }
    free(change);
    pl_json_free(event);
    return true;
}

/* The last control in effect at the frame, from its metrics or those of a later frame; if these are pruned or
 * unreadable, the newest control requested so far. */
static int64_t last_control(const pl_session *s, pl_log_reader *reader, int64_t frame, int64_t end)
{
    int64_t first = pl_log_reader_first(reader);
    int64_t number;
    pl_control_state control;
    if (pl_control_in_effect(reader, frame > first ? frame : first, end, &number) != 0 ||
        number < 0) {
        number = pl_control_read(s->directory, &control) == 0 ? control.controls : INT64_MAX;
    }
    return number;
}

/* start.json; *whole becomes false if a control on the way is unknown. */
static char *gather(const pl_session *s, pl_log_reader *reader, int64_t end,
                    const pl_branch_point *o, int64_t from, bool is_branch, bool *whole)
{
    gathering g = {.reached = from};
    int64_t last = last_control(s, reader, o->frame, end);
    pl_json_begin_object(&g.w);
    pl_json_set_string(&g.w, "session", s->id);
    pl_json_set_integer(&g.w, "frame", o->frame);
    pl_json_set_integer(&g.w, "begins", o->begins);
    pl_json_set_boolean(&g.w, "from_branch", is_branch);
    pl_json_key(&g.w, "controls");
    pl_json_begin_array(&g.w);
    for (g.frame = 1; last > 0 && g.frame <= o->frame; g.frame++) {
        pl_log_notes(reader, g.frame, gather_one, &g);
    }
    pl_json_end_array(&g.w);
    pl_json_set_integer(&g.w, "control", last);
    pl_json_end_object(&g.w);
    *whole = g.reached >= last;
    return pl_json_finish(&g.w, NULL);
}

/* ---- parents ---- */

static int open_folder(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void close_folder(int fd)
{
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
}

bool pl_branch_point_link_meshes(int from, int to)
{
    int fd = open_folder(from, "meshes");
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

/* Documents are copied, not linked, because each session's worker may own the files in its directory. */
static bool copy_file(int from, int to, const char *name)
{
    char *text;
    size_t size;
    if (pl_file_read(from, name, START_MAX, &text, &size) != PL_OK) {
        return false;
    }
    bool good = pl_file_put_text(to, name, text, size) == PL_OK;
    int error = errno;
    free(text);
    errno = error;
    return good;
}

bool pl_branch_point_link_parents(int from, int to, int depth)
{
    int old = depth > 0 ? open_folder(from, "parent") : -1;
    if (old < 0) {
        return depth == 0 || errno == ENOENT;
    }
    bool good = mkdirat(to, "parent", 0700) == 0;
    int new = good ? open_folder(to, "parent") : -1;
    const char *name = pl_checkpoint_name(0);
    good = new >= 0 && copy_file(old, new, "scene.json") && copy_file(old, new, "start.json") &&
           pl_branch_point_link_meshes(old, new) &&
           (linkat(old, name, new, name, 0) == 0 || errno == ENOENT) &&
           pl_branch_point_link_parents(old, new, depth - 1);
    close_folder(new);
    close_folder(old);
    return good;
}

int64_t pl_branch_point_begins(int dir_fd)
{
    char *text;
    size_t size;
    if (pl_file_read(dir_fd, "parent/start.json", START_MAX, &text, &size) != PL_OK) {
        return 0;
    }
    pl_json *start = pl_json_parse(text, size, NULL);
    int64_t begins = pl_json_integer(start, "begins", 0) + pl_json_integer(start, "frame", 0);
    pl_json_free(start);
    free(text);
    return begins;
}

/* The number of nested parents. */
static int count_parents(int dir_fd)
{
    char path[8 * (PL_ORIGIN_DEPTH_MAX + 2)] = "parent";
    int depth = 0;
    while (depth <= PL_ORIGIN_DEPTH_MAX && faccessat(dir_fd, path, F_OK, 0) == 0) {
        strcat(path, "/parent");
        depth++;
    }
    return depth;
}

/* ---- finding ---- */

static bool refuse(pl_request *r, int dir_fd, const pl_branch_point *o, const char *why)
{
    pl_checkpoint newest;
    bool later = pl_checkpoint_newest(dir_fd, &newest) == PL_OK && newest.frame > o->frame;
    char hint[96] = "choose a later frame, and make snapshots of frames you will need";
    if (later) {
        snprintf(hint, sizeof hint, "frame %lld and later ones can be computed",
                 (long long)newest.frame);
    }
    pl_reply_problemf(r, 409, "no_way_back", "The frame cannot be computed again",
                      "no checkpoint at or before frame %lld is left, and %s; %s",
                      (long long)o->frame, why, hint);
    return false;
}

/* Fill in what is known of the frame, or reject. */
static bool describe(pl_request *r, const pl_session *s, int dir_fd, pl_log_reader *reader,
                     pl_branch_point *o)
{
    int64_t frames = pl_log_reader_refresh(reader), from = 0;
    bool whole;
    o->frame = o->frame < 0 ? frames - 1 : o->frame;
    if (o->frame < 0 || o->frame >= frames) {
        pl_reply_problemf(r, 404, "no_such_frame", "No such frame", "the session has %lld frames",
                          (long long)frames);
        return false;
    }
    int parents = count_parents(dir_fd);
    o->begins = pl_branch_point_begins(dir_fd);
    pin_checkpoint(dir_fd, o->frame, o);
    if (o->pin[0] && pl_checkpoint_last_control(o->state_fd, o->pin, &from) != PL_OK) {
        from = 0;
    }
    if (!o->pin[0] && parents >= PL_ORIGIN_DEPTH_MAX) {
        return refuse(r, dir_fd, o, "the chain of branches back to the first session is too long");
    }
    o->start = gather(s, reader, frames, o, from, parents > 0, &whole);
    if (!o->start) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
        return false;
    }
    return whole || refuse(r, dir_fd, o, "earlier controls were pruned with older frames");
}

bool pl_branch_point_find(pl_request *r, int state_fd, const pl_session *s, int dir_fd,
                          int64_t frame, pl_branch_point *out)
{
    pl_log_reader *reader;
    *out = (pl_branch_point){.frame = frame, .state_fd = state_fd, .checkpoint = {.frame = -1}};
    if (pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the log cannot be opened", NULL);
        return false;
    }
    bool found = describe(r, s, dir_fd, reader, out);
    pl_log_reader_close(reader);
    if (!found) {
        pl_branch_point_clear(out);
    }
    return found;
}
