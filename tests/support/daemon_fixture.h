/* daemon_fixture.h - a real daemon on a temporary state directory and a free loopback port.
 *
 * Between the test and the daemon stands a keeper: a process of its own session that starts the
 * daemon, takes over workers that outlive it, and - when the test closes the fixture or dies in
 * whatever way - ends them all and removes the directory. So a test that fails or is killed
 * leaves nothing behind. Programs are taken from the folder that PLIANT_BUILD names, or else from
 * the build folder that the test itself lies in. What goes wrong in a helper fails the test.
 */
#ifndef PLIANT_TESTS_SUPPORT_DAEMON_FIXTURE_H
#define PLIANT_TESTS_SUPPORT_DAEMON_FIXTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct daemon_fixture {
    char directory[256]; /* holds not/there, which the daemon makes, and daemon.log */
    char state[272];
    char token[80];
    int port;
    pid_t pid; /* of the daemon */
    int keeper_fd;
    pid_t keeper;
    const char *options[16];
    bool unready; /* do not wait until it is ready when it is started again: it has no room */
} daemon_fixture;

/* Options are what follows --listen, --state, short --restart-delays and --memory-groups off, NULL at the
 * end; NULL: --cores 2. Kept by the fixture, so they must outlive it. Returns when the daemon says that it is ready; with TLS, which
 * http_client does not speak, when it listens. */
void daemon_fixture_start(daemon_fixture *d, const char *const *options);
/* What is started from now on has a library of tests/preload in it, until LD_PRELOAD is unset. */
void daemon_fixture_preload(const char *library);
/* Daemons that are started from now on pin their workers to CPUs; else they are told not to, for many run at once. */
void daemon_fixture_pin(void);
/* End everything and remove the directory. */
void daemon_fixture_stop(daemon_fixture *d);
/* Send the daemon a signal and wait for its end: its exit status, or 128 + the signal. */
int daemon_fixture_end(daemon_fixture *d, int signal);
/* Start it again on the same state; the port is another one. */
void daemon_fixture_resume(daemon_fixture *d);
/* Run `pliantd ARGS --state STATE` beside the daemon to its end: its exit status; what it printed on standard
 * output is put into `said`. */
int daemon_fixture_command(const daemon_fixture *d, const char *const *args, char *said,
                           size_t size);
/* Whether these words stand in a line of its log. */
bool daemon_fixture_said(const daemon_fixture *d, const char *words);
/* The group that its workers have memory groups in, as its log says it. False where they have none. */
bool daemon_fixture_groups(const daemon_fixture *d, char path[PATH_MAX]);
/* What the names of those groups begin with. */
void daemon_fixture_group_prefix(const daemon_fixture *d, char prefix[64]);
/* Resident memory of the daemon in bytes. */
int64_t daemon_fixture_memory(const daemon_fixture *d);
/* Whether it is built with a sanitizer, which keeps memory of its own. */
bool daemon_fixture_sanitized(const daemon_fixture *d);

/* A path below the state directory; the text is static, four calls live at once. */
__attribute__((format(printf, 2, 3))) const char *daemon_fixture_path(const daemon_fixture *d,
                                                                      const char *format, ...);
/* Deletes the database of a stopped daemon. */
void daemon_fixture_lose_database(const daemon_fixture *d);
/* Entries of a directory below the state, without those of a dot; -1 where there is none. */
int daemon_fixture_entries(const daemon_fixture *d, const char *below);
/* Directories of sessions in the state. */
int daemon_fixture_sessions(const daemon_fixture *d);
/* The process that runs a session, or 0. */
pid_t daemon_fixture_worker(const char *id);
/* The same of one that runs, waiting for it: a session is `running` a moment before its worker is there. */
pid_t daemon_fixture_await_worker(const char *id);

double daemon_fixture_clock(void); /* s, monotonic */
void daemon_fixture_nap(void);     /* between two looks at something that is awaited */

#endif
