/* session_client.h - posts scenes and waits for sessions, over HTTP. Waits are bounded, by a session's next progress;
 * an error fails the test and shows the session.
 */
#ifndef PLIANT_TESTS_SUPPORT_SESSION_CLIENT_H
#define PLIANT_TESTS_SUPPORT_SESSION_CLIENT_H

#include "tests/support/http_client.h"

/* A cube of 64 vertices and 162 tetrahedra held at one side; 0.01 s a step, a frame every `every`
 * steps; `more` is JSON before the closing brace (", \"output\": ..."), or "". Malloc'ed. */
char *session_scene(int64_t steps, int64_t every, const char *more);
/* The same without an end in sight: some 20 to 100 ms a frame. */
char *session_scene_endless(const char *more);
/* Post it: must be a 201, and it is checked then, on however slow a machine. */
void session_post(const daemon_fixture *d, const char *scene, char id[33]);
void session_post_free(const daemon_fixture *d, char *scene, char id[33]); /* frees the scene */
/* POST to its pause, resume, step or cancel: must be a 202. The state that the answer names; static. */
const char *session_tell(const daemon_fixture *d, const char *id, const char *verb);
/* Wait until it is in this state; fails the test if it ends in another. */
void session_await(const daemon_fixture *d, const char *id, const char *state);
/* Wait until its last committed frame is at least this. */
void session_await_frame(const daemon_fixture *d, const char *id, int64_t frame);
/* Wait until its k-th control, from 1, is in effect; returns the first such frame. 202 promises this: before the next
 * frame, unless a pause comes with it. */
int64_t session_await_control(const daemon_fixture *d, const char *id, int k);
/* `yielding`, which is preemptible, yields to `urgent`, resumes from its checkpoint, and ends with the same bits as an
 * uninterrupted run of `scene` (freed here). */
void session_check_preempted(const daemon_fixture *d, const char *yielding, const char *urgent,
                             char *scene, int64_t frames);
/* True if frame k of one has the same positions as frame l of the other, to the bit. */
bool session_same_frame(const daemon_fixture *d, const char *a, int64_t k, const char *b,
                        int64_t l);
/* Post and wait until it has succeeded. */
void session_run(const daemon_fixture *d, char *scene, char id[33]);
/* The session's JSON; a new reference. */
json_t *session_show(const daemon_fixture *d, const char *id);
/* Wait until GET answers 404 and its directory is gone. */
void session_await_gone(const daemon_fixture *d, const char *id);
/* Change its name to "turn N": something happens to it. */
void session_rename(const daemon_fixture *d, const char *id, int turn);
/* "/v1/sessions/ID/REST"; the text is static, two calls live at once. */
const char *session_target(const char *id, const char *rest);
/* A number of the daemon's /metrics, without its "pliant_". */
int64_t session_counter(const daemon_fixture *d, const char *name);
/* Its directory. */
const char *session_path(const daemon_fixture *d, const char *id, const char *file);

#endif
