#include "server/api/control_requests.h"

#include "protocol/scene/control_json.h"
#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/scene/params.h"
#include "protocol/log/session_dir.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/sessions/control_in_effect.h"
#include "server/sessions/control_log.h"
#include "server/run/lifecycle.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS_MAX = 1000000 };

static void reply_failed(pl_request *r, pl_session *s, int error, const char *verb)
{
    if (error == EFBIG) {
        pl_reply_problem(r, 409, "too_many_controls", "Too many controls",
                         "this session has reached the maximum number of controls in its log",
                         NULL);
    } else if (error == EALREADY) {
        pl_reply_session_over(r, s, verb);
    } else if (!pl_reply_shortage(r, error)) {
        pl_reply_problemf(r, 500, "internal", "The worker could not be notified", "control.log: %s",
                          strerror(error));
    }
}

/* `frame` was the last one before control.log was written. */
static void reply_told(pl_request *r, pl_session *s, const char *key, int64_t number, int64_t frame)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, key, number);
    pl_json_set_string(&w, "session", s->id);
    pl_json_set_string(&w, "state", pl_state_name((pl_session_state)atomic_load(&s->state)));
    if (frame < 0) {
        pl_json_set_null(&w, "frame");
    } else {
        pl_json_set_integer(&w, "frame", frame);
    }
    pl_json_end_object(&w);
    pl_reply_json(r, 202, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- controls ---- */

/* The body as one line that suits the session's scene, or NULL after replying. */
static char *check_control(pl_request *r, const pl_session *s)
{
    char *scene = NULL, *control = NULL;
    size_t scene_size = 0, length;
    const char *body = pl_request_body(r, &length);
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_status read = dir_fd < 0 ? PL_IO
                                : pl_file_read(dir_fd, "scene.json", PL_SCENE_BYTES_MAX, &scene,
                                               &scene_size);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (read != PL_OK) {
        pl_reply_problem(r, 500, "damaged", "Damaged", "scene.json cannot be read", NULL);
        return NULL;
    }
    pl_faults faults = {0};
    pl_decode_outcome outcome = pl_control_validate(body, length, scene, scene_size, &control,
                                                    &faults);
    if (outcome == PL_DECODE_SYNTAX) {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", &faults);
    } else if (outcome == PL_DECODE_INVALID) {
        pl_reply_problem(r, 422, "invalid_control", "The control cannot be applied",
                         "every fault found is listed; nothing was changed", &faults);
    } else if (outcome != PL_DECODE_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
    pl_faults_clear(&faults);
    free(scene);
    return control;
}

void pl_handle_control(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    char *control = check_control(r, s);
    int64_t number = 0, frame = atomic_load(&s->frame);
    if (control) {
        int error = pl_lifecycle_control(pl_request_daemon(r)->sessions, s, control, &number);
        if (error) {
            reply_failed(r, s, error, "steered");
        } else {
            reply_told(r, s, "control_id", number, frame);
        }
    }
    free(control);
    pl_session_release(s);
}

/* ---- the list ---- */

/* The first frame from *frame whose metrics name this control or a later one; `end` if no frame does yet. The numbers
 * only increase, so it is found by bisection. 0, or ENOMEM. */
static int first_frame_of(pl_log_reader *reader, int64_t number, int64_t end, int64_t *frame)
{
    int error = 0;
    while (!error && *frame < end) {
        int64_t middle = *frame + (end - *frame) / 2, there;
        error = pl_control_in_effect(reader, middle, end, &there);
        if (there >= number) {
            end = middle;
        } else {
            *frame = middle + 1;
        }
    }
    return error;
}

static int put_entries(pl_json_writer *w, pl_log_reader *reader, const pl_control_entry *entries,
                       size_t count)
{
    int64_t end = pl_log_reader_refresh(reader), frame = 0;
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        error = first_frame_of(reader, entries[i].number, end, &frame);
        pl_json_begin_object(w);
        pl_json_set_integer(w, "control_id", entries[i].number);
        pl_json_set_raw(w, "control", entries[i].text);
        if (frame < end) {
            pl_json_set_integer(w, "frame", frame);
        } else {
            pl_json_set_null(w, "frame");
        }
        pl_json_end_object(w);
    }
    return error;
}

static void reply_entries(pl_request *r, pl_log_reader *reader, const pl_control_entry *entries,
                          size_t count, size_t limit)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    int error = put_entries(&w, reader, entries, count);
    pl_json_end_array(&w);
    if (count == limit) {
        pl_json_set_integer(&w, "next", entries[count - 1].number);
    } else {
        pl_json_set_null(&w, "next");
    }
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (error) {
        free(text);
        text = NULL;
    }
    pl_reply_json(r, 200, text);
    pl_reply_header(r, "Cache-Control", "no-store");
}

static void reply_list(pl_request *r, const pl_session *s, int64_t after, size_t limit)
{
    pl_log_reader *reader = NULL;
    size_t count = 0;
    pl_control_entry *entries = calloc(limit, sizeof *entries);
    int error = entries ? pl_control_list(s->directory, after, entries, limit, &count) : ENOMEM;
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (error) {
        pl_reply_problemf(r, 500, "internal", "Internal error", "control.log: %s", strerror(error));
    } else if (dir_fd < 0 || pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the log cannot be opened", NULL);
    } else {
        reply_entries(r, reader, entries, count, limit);
    }
    pl_log_reader_close(reader);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    for (size_t i = 0; i < count; i++) {
        free(entries[i].text);
    }
    free(entries);
}

void pl_handle_controls(pl_request *r)
{
    int64_t after, limit;
    if (!pl_request_integer(r, "cursor", 0, INT64_MAX, 0, &after) ||
        !pl_request_integer(r, "limit", 1, 500, 50, &limit)) {
        return;
    }
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (s) {
        reply_list(r, s, after, (size_t)limit);
        pl_session_release(s);
    }
}

/* ---- steps ---- */

void pl_handle_step(pl_request *r)
{
    int64_t frames, until;
    if (!pl_request_integer(r, "frames", 1, STEPS_MAX, 1, &frames)) {
        return;
    }
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    int64_t frame = atomic_load(&s->frame);
    pl_daemon *d = pl_request_daemon(r);
    int error = pl_lifecycle_step(d->sessions, d->executor, s, frames, &until);
    if (error) {
        reply_failed(r, s, error, "stepped");
    } else {
        reply_told(r, s, "until", until, frame);
    }
    pl_session_release(s);
}
