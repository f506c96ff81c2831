/* session_fixture.h - a temporary session directory, and the real preflight and worker run on it.
 * Programs are taken from the folder that PLIANT_BUILD names, or else from the build folder that
 * the test itself lies in (build/tests/faults/x_test -> build). Children die with the test. What
 * goes wrong in a helper aborts the test with a message.
 */
#ifndef PLIANT_TESTS_SUPPORT_SESSION_FIXTURE_H
#define PLIANT_TESTS_SUPPORT_SESSION_FIXTURE_H

#include "protocol/log/session_dir.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct session_fixture {
    char path[512];
    int directory;
} session_fixture;

/* A hanging bar of 99 vertices and 240 tetrahedra, `steps` frames of 0.01 s; `more` is JSON put
 * before the closing brace (", \"output\": {...}"), or "". Malloc'ed. */
char *session_fixture_scene(int64_t steps, const char *more);

/* Make DIR/scene.json and DIR/meshes under `parent` (NULL: the temporary folder; SESSION_IN_MEMORY: a file system in
 * memory if there is one, for tests with many checkpoints). */
#define SESSION_IN_MEMORY "/dev/shm"
void session_fixture_create(session_fixture *f, const char *parent, const char *scene);
/* The two together. */
void session_fixture_bar(session_fixture *f, int64_t steps, const char *more);
/* Remove it with all that lies in it. */
void session_fixture_destroy(session_fixture *f);
/* Write a file in the directory. */
void session_fixture_write(const session_fixture *f, const char *name, const void *data,
                           size_t size);

/* Start build/NAME with arguments, NULL at the end. `before` runs in the child before the program
 * does (NULL: nothing). Its output is dropped, or with `out` (an open file) goes there. */
typedef void (*session_fixture_before)(void);
pid_t session_fixture_spawn(const char *name, const char *const *arguments,
                            session_fixture_before before, FILE *out);
/* Its exit status, 128 + the signal that ended it, or -1 if it does not end in two minutes (then it is killed). */
int session_fixture_wait(pid_t pid);
/* Stop it, and wait until it has stopped: false if it had ended. SIGCONT continues it. */
bool session_fixture_freeze(pid_t pid);

int session_fixture_preflight(const session_fixture *f);
pid_t session_fixture_start(const session_fixture *f, int attempt);
int session_fixture_run(const session_fixture *f, int attempt); /* start and wait */
/* The same with --checkpoint-every 0, which means as often as the rule of 2 % allows. */
pid_t session_fixture_start_often(const session_fixture *f, int attempt);
int session_fixture_run_often(const session_fixture *f, int attempt);

/* Append a control record; `text` is its JSON. */
void session_fixture_control(const session_fixture *f, const char *text);
/* Committed frames, frame 0 included. */
int64_t session_fixture_frames(const session_fixture *f);
/* Wait until there are at least `frames`; false where they do not come in two minutes. */
bool session_fixture_await(const session_fixture *f, int64_t frames);
/* Its exit.json, which must be there. */
pl_exit session_fixture_exit(const session_fixture *f);
/* Whether the directory has an entry of this name; a link that leads nowhere is one. */
bool session_fixture_has(const session_fixture *f, const char *name);
/* CRC of every file's name, size and bytes: changes with any byte of the directory. */
uint32_t session_fixture_fingerprint(const session_fixture *f);

double session_fixture_clock(void); /* s, monotonic */

#endif
