#include "server/run/rebuild.h"

#include "protocol/log/head_recover.h"
#include "protocol/log/log.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_file.h"
#include "server/store/row.h"
#include "server/run/check_result.h"
#include "server/tenants/auth.h"
#include "server/sessions/control_log.h"
#include "server/sessions/branch_point.h"
#include "server/sessions/session_view.h"
#include "server/sessions/directory_record.h"
#include "server/sessions/frame_time.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCENE_LIMIT = 1 << 30 };

void pl_rebuilt_clear(pl_rebuilt *r)
{
    pl_row_clear(&r->row);
    free(r->uploads);
    *r = (pl_rebuilt){0};
}

static void set(char **member, const char *text)
{
    free(*member);
    *member = text ? strdup(text) : NULL;
}

static int64_t modified_us(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, 0) == 0
               ? (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000
               : 0;
}

/* ---- identity ---- */

static bool keep_uploads(pl_rebuilt *r, const pl_outline *outline)
{
    r->uploads = calloc((size_t)outline->upload_count + 1, sizeof *r->uploads);
    for (int i = 0; r->uploads && i < outline->upload_count; i++) {
        memcpy(r->uploads[i], outline->uploads[i].hash, sizeof r->uploads[i]);
        r->upload_count++;
    }
    return r->uploads;
}

/* As in the scene, if there is no session.json. */
static void take_notes(pl_rebuilt *r, const pl_notes *notes)
{
    if (r->guessed) {
        set(&r->row.name, notes->name);
    }
    set(&r->row.labels, notes->labels);
    set(&r->row.metadata, notes->metadata);
    set(&r->row.webhook, notes->webhook);
    r->row.priority = notes->priority;
    r->row.revision = 0;
}

/* Ids separated by blanks, as in the row. */
static void take_after(pl_row *row, const pl_outline *outline)
{
    char ids[sizeof outline->after] = "";
    size_t length = 0;
    for (int32_t i = 0; i < outline->after_count; i++) {
        length += (size_t)snprintf(ids + length, sizeof ids - length, "%s%s", length ? " " : "",
                                   outline->after[i]);
    }
    set(&row->after, length ? ids : NULL);
}

static bool read_scene(int dir_fd, pl_rebuilt *r)
{
    char *text;
    size_t size;
    pl_outline outline;
    pl_faults faults = {0};
    if (pl_session_file_read(dir_fd, PL_FILE_SCENE, SCENE_LIMIT, &text, &size) != PL_OK) {
        return false;
    }
    bool good = pl_scene_outline(text, size, &outline, &faults) == PL_DECODE_OK;
    free(text);
    pl_faults_clear(&faults);
    if (good) {
        int64_t before = outline.frames >= 0 ? pl_branch_point_begins(dir_fd) : 0;
        r->row.frames = outline.frames - before;
        r->row.cores = r->row.cores_least = outline.cores > 0 ? outline.cores : 1;
        r->row.cores_most = outline.cores_given ? outline.cores_most : PL_CORES_OPEN;
        r->row.preemptible = outline.preemptible;
        r->row.interactive = outline.interactive;
        r->row.memory = r->row.memory_limit = outline.memory;
        r->row.time_limit = outline.time_limit;
        take_after(&r->row, &outline);
        if (r->row.keep_last < 0) { /* otherwise session.json has it */
            r->row.keep_last = outline.keep_last;
            r->row.keep_every = outline.keep_every;
            r->row.keep_days = outline.keep_days;
        }
        if (r->guessed || r->row.revision < 0) {
            take_notes(r, outline.notes);
        }
        good = keep_uploads(r, &outline);
        pl_outline_clear(&outline);
    }
    return good;
}

static void read_identity(int dir_fd, const char *id, pl_rebuilt *r)
{
    r->row.keep_last = -1;
    r->guessed = pl_identity_read(dir_fd, id, &r->row) != PL_OK;
    if (r->guessed) {
        set(&r->row.owner, PL_DEFAULT_OWNER);
        set(&r->row.name, "");
        r->row.created_us = modified_us(dir_fd, "scene.json");
    }
}

static void read_progress(int dir_fd, pl_row *row)
{
    pl_log_reader *reader;
    row->frame = -1;
    if (pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        return;
    }
    row->frame = pl_log_reader_refresh(reader) - 1;
    row->time = row->frame >= 0 ? pl_frame_time(reader, row->frame, 0) : 0;
    pl_log_reader_close(reader);
}

/* ---- state ---- */

static bool ended_by_report(int dir_fd, pl_row *row)
{
    pl_head head = {0};
    pl_exit report = {0};
    if (pl_head_load(dir_fd, &head, NULL) == PL_OK) {
        row->attempt = head.attempt;
    }
    pl_head_clear(&head);
    if (pl_exit_read(dir_fd, &report) != PL_OK || report.attempt < row->attempt) {
        return false;
    }
    pl_session_state state;
    row->attempt = report.attempt;
    if (report.disk_error) {
        return false; /* it continues when the disk is writable */
    }
    if (!pl_state_parse(report.state, &state) || !pl_state_terminal(state)) {
        return false; /* stopped or paused: not an end */
    }
    set(&row->state, report.state);
    if (state == PL_STATE_FAILED) {
        row->failure = pl_failure_view(&report.failure);
        set(&row->reason, pl_failure_name(report.failure.code));
        set(&row->message, report.failure.message);
    } else if (state == PL_STATE_CANCELLED) {
        set(&row->reason, "user");
    }
    row->since_ms = modified_us(dir_fd, "exit.json") / 1000;
    return true;
}

/* It has not ended: determine what it would do next. */
static void check_living(int dir_fd, const char *directory, bool checked, pl_row *row)
{
    pl_control_state control;
    if (pl_control_read(directory, &control) != 0) {
        control.paused = true; /* it may have been about to end; its owner can resume it */
    }
    pl_session_state state = PL_STATE_QUEUED;
    if (pl_session_locked(dir_fd)) {
        state = PL_STATE_RUNNING;
    } else if (control.cancelled) {
        state = PL_STATE_CANCELLED;
        set(&row->reason, "user");
    } else if (!checked) {
        state = PL_STATE_CHECKING;
        set(&row->desired, control.paused ? "paused" : NULL);
    } else if (control.paused) {
        state = PL_STATE_PAUSED;
        set(&row->reason, "user");
        set(&row->paused_by, "user");
    }
    set(&row->state, pl_state_name(state));
    row->since_ms = pl_clock_us() / 1000;
}

static void fail_unreadable(pl_row *row)
{
    set(&row->state, "failed");
    set(&row->reason, "storage_lost");
    set(&row->message, "scene.json is missing or damaged");
    set(&row->failure,
        "{\"code\": \"storage_lost\", \"message\": \"scene.json is missing or damaged\", "
        "\"advice\": \"stored frames can be read; submit the scene again\"}");
    row->since_ms = pl_clock_us() / 1000;
}

static void check_state(int dir_fd, const char *directory, bool readable, pl_row *row)
{
    pl_preflight report = {0};
    bool checked = pl_preflight_read(dir_fd, &report) == PL_OK;
    if (checked) {
        row->bodies = pl_bodies_view(&report);
        row->gpu_memory = pl_check_gpu_memory(&report);
        row->cores_most = row->cores_most == PL_CORES_OPEN ? report.cores : row->cores_most;
        if (row->memory <= 0) {
            row->memory = report.memory_bytes;
            row->memory_limit = pl_check_memory_limit(0, report.memory_bytes);
        }
    }
    pl_preflight_clear(&report);
    row->warnings = pl_warnings_load(dir_fd);
    bool ended = ended_by_report(dir_fd, row);
    if (pl_directory_record_read(dir_fd, row) == PL_OK) {
        row->since_ms = modified_us(dir_fd, "verdict.json") / 1000;
    } else if (!ended && !readable) {
        fail_unreadable(row);
    } else if (!ended) {
        check_living(dir_fd, directory, checked, row);
    }
}

bool pl_rebuild_row(int state_fd, const char *id, pl_rebuilt *out)
{
    char below[96], directory[160];
    pl_rebuilt r = {.row = {.checkpoint = -1, .cores = 1}};
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32) {
        return false;
    }
    snprintf(below, sizeof below, "sessions/%.2s/%s", id, id);
    int dir_fd = openat(state_fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return false;
    }
    snprintf(directory, sizeof directory, "/proc/self/fd/%d", dir_fd);
    snprintf(r.row.id, sizeof r.row.id, "%s", id);
    read_identity(dir_fd, id, &r);
    bool readable = read_scene(dir_fd, &r);
    read_progress(dir_fd, &r.row);
    check_state(dir_fd, directory, readable, &r.row);
    close(dir_fd);
    if (!r.row.owner || !r.row.name || !r.row.state) {
        pl_rebuilt_clear(&r);
        return false;
    }
    pl_session_state state;
    if (!r.row.webhook || !pl_state_parse(r.row.state, &state) || !pl_state_terminal(state)) {
        set(&r.row.webhook_status, NULL); /* it has not ended: there was nothing to notify of */
    }
    *out = r;
    return true;
}
