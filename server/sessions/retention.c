#include "server/sessions/retention.h"

#include "protocol/log/log.h"
#include "protocol/log/log_prune.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/session_file.h"
#include "server/sessions/control_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCENE_LIMIT = 64 << 20 };

static int open_directory(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void pl_retention_recall(const pl_session *s, pl_notes *now)
{
    char *text;
    size_t size;
    pl_outline outline;
    pl_faults faults = {0};
    if (now->keep_last >= 0) {
        return;
    }
    now->keep_last = now->keep_every = 0;
    int dir_fd = open_directory(s);
    if (dir_fd >= 0 &&
        pl_session_file_read(dir_fd, PL_FILE_SCENE, SCENE_LIMIT, &text, &size) == PL_OK) {
        if (pl_scene_outline(text, size, &outline, &faults) == PL_DECODE_OK) {
            now->keep_last = outline.keep_last;
            now->keep_every = outline.keep_every;
            pl_outline_clear(&outline);
        }
        pl_faults_clear(&faults);
        free(text);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
}

static bool same_frames(const pl_notes *a, const pl_notes *b)
{
    return a->keep_last == b->keep_last && a->keep_every == b->keep_every;
}

/* True if, of `frames` frames, `a` keeps one that `b` does not keep. b drops frames older than its last ones, except
 * multiples; a keeps them if they are among its own last ones, or its own multiples. */
static bool lets_go(const pl_notes *a, const pl_notes *b, int64_t first, int64_t frames)
{
    pl_log_keep old = {a->keep_last, a->keep_every}, new = {b->keep_last, b->keep_every};
    int64_t older = frames - new.last;
    if (pl_log_keeps_all(&new) || new.every == 1 || older <= first) {
        return false;
    }
    if (pl_log_keeps_all(&old) || (old.last > 0 && old.last > new.last)) {
        return true;
    }
    return old.every > 0 && (new.every == 0 || old.every % new.every != 0);
}

static bool refuse(pl_request *r, const pl_notes *next, int64_t first, int64_t frames)
{
    char but[64] = "";
    if (next->keep_every > 0) {
        snprintf(but, sizeof but, ", except every %lld-th", (long long)next->keep_every);
    }
    pl_reply_problemf(r, 409, "would_prune", "Frames would be deleted",
                      "of the stored frames %lld to %lld, those before %lld would be permanently "
                      "deleted%s; repeat the request with ?prune=true",
                      (long long)first, (long long)frames - 1,
                      (long long)(frames - next->keep_last), but);
    return false;
}

bool pl_retention_allows(pl_request *r, const pl_session *s, const pl_notes *now,
                         const pl_notes *next)
{
    const char *prune = pl_request_query(r, "prune");
    if (prune && strcmp(prune, "true") != 0 && strcmp(prune, "false") != 0) {
        pl_reply_problemf(r, 400, "bad_query", "Bad query", "prune is '%.40s', not true or false",
                          prune);
        return false;
    }
    if (same_frames(now, next)) {
        return true;
    }
    if (pl_state_terminal((pl_session_state)atomic_load(&s->state))) {
        pl_reply_problem(r, 409, "session_over", "The session has ended",
                         "its log is sealed: only the days of its retention can be changed", NULL);
        return false;
    }
    if (prune && strcmp(prune, "true") == 0) {
        return true;
    }
    pl_log_reader *reader = NULL;
    int dir_fd = open_directory(s);
    bool there = dir_fd >= 0 && pl_log_reader_open(dir_fd, &reader) == PL_OK;
    int64_t frames = there ? pl_log_reader_refresh(reader) : 0;
    int64_t first = there ? pl_log_reader_first(reader) : 0;
    pl_log_reader_close(reader);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (!there) {
        pl_reply_problem(
            r, 500, "internal", "Internal error",
            "the log cannot be opened, so the frames that would be deleted are unknown", NULL);
        return false;
    }
    return !lets_go(now, next, first, frames) || refuse(r, next, first, frames);
}

int pl_retention_tell(const pl_session *s, const pl_notes *now, const pl_notes *next)
{
    return same_frames(now, next)
               ? 0
               : pl_control_append_retention(s->directory, next->keep_last, next->keep_every);
}
