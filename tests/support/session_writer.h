/* session_writer.h - a session's model and log in the test's own process, with the worker's writer of
 * frames between them. */
#ifndef PLIANT_TESTS_SUPPORT_SESSION_WRITER_H
#define PLIANT_TESTS_SUPPORT_SESSION_WRITER_H

#include "server/worker/frame_writer.h"
#include "server/worker/session_scene.h"
#include "tests/support/session_fixture.h"

#include <check.h>

typedef struct session_writer {
    pl_session_scene scene;
    pl_model *model;
    pl_state *state;
    pl_log_writer *log;
    pl_frame_writer frames;
} session_writer;

static inline void session_writer_open(const session_fixture *f, session_writer *w)
{
    pl_faults faults = {0};
    *w = (session_writer){0};
    ck_assert_int_eq(pl_session_scene_read(f->directory, &w->scene, &faults), PL_OK);
    ck_assert_int_eq(pl_session_scene_load(f->directory, &w->scene, &faults), PL_OK);
    ck_assert_int_eq(pl_model_create(&w->scene.scene, w->scene.meshes, &w->model, &faults), PL_OK);
    ck_assert_int_eq(pl_state_create(w->model, 1, &w->state), PL_OK);
    ck_assert_int_eq(pl_log_writer_open(f->directory, 1, 0, "{}", &w->log), PL_OK);
    ck_assert_int_eq(pl_frame_writer_init(&w->frames, w->log, &w->scene.scene, w->model), PL_OK);
}

/* All but the log, which the test closes when it wants it read. */
static inline void session_writer_close(session_writer *w)
{
    pl_frame_writer_clear(&w->frames);
    pl_state_destroy(w->state);
    pl_model_destroy(w->model);
    pl_session_scene_clear(&w->scene);
}

#endif
