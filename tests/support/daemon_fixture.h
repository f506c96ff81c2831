/* daemon_fixture.h - a real daemon on a temporary state directory and a free loopback port.
 *
 * Between the test and the daemon is a keeper: a process in its own session that starts the daemon, takes over workers
 * that outlive it and, when the test closes the fixture or dies in any way, ends them all and removes the directory. So
 * a test that fails or is killed leaves nothing behind. Programs are taken from the folder that PLIANT_BUILD names, or
 * else from the build folder that contains the test. An error in a helper fails the test.
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

/* Options follow --listen, --state, short --restart-delays and --memory-groups off, with NULL at the end; NULL: --cores
 * 2. The fixture keeps a pointer, so they must outlive it. Returns when the daemon reports that it is ready; with TLS,
 * which http_client does not support, when it listens. */
void daemon_fixture_start(daemon_fixture *d, const char *const *options);
/* Programs started from now on have a library of tests/preload loaded, until LD_PRELOAD is unset. */
void daemon_fixture_preload(const char *library);
/* Daemons started from now on pin their workers to CPUs; by default they do not, because many run at once. */
void daemon_fixture_pin(void);
/* End everything and remove the directory. */
void daemon_fixture_stop(daemon_fixture *d);
/* Send the daemon a signal and wait for its end: its exit status, or 128 + the signal. */
int daemon_fixture_end(daemon_fixture *d, int signal);
/* Start it again on the same state; the port is another one. */
void daemon_fixture_resume(daemon_fixture *d);
/* Run `pliantd ARGS --state STATE` beside the daemon to its end: returns its exit status; `said` gets its standard
 * output. */
int daemon_fixture_command(const daemon_fixture *d, const char *const *args, char *said,
                           size_t size);
/* True if these words are in a line of its log. */
bool daemon_fixture_said(const daemon_fixture *d, const char *words);
/* The group that contains its workers' memory groups, according to its log. False if they have none. */
bool daemon_fixture_groups(const daemon_fixture *d, char path[PATH_MAX]);
/* The beginning of those groups' names. */
void daemon_fixture_group_prefix(const daemon_fixture *d, char prefix[64]);
/* Resident memory of the daemon in bytes. */
int64_t daemon_fixture_memory(const daemon_fixture *d);
/* Whether this build, so the daemon too, has a sanitizer, which keeps memory of its own. */
bool daemon_fixture_sanitized(void);

/* A path below the state directory; the text is static, four calls live at once. */
__attribute__((format(printf, 2, 3))) const char *daemon_fixture_path(const daemon_fixture *d,
                                                                      const char *format, ...);
/* Deletes the database of a stopped daemon. */
void daemon_fixture_lose_database(const daemon_fixture *d);
/* Number of entries of a directory below the state, without hidden ones; -1 if it does not exist. */
int daemon_fixture_entries(const daemon_fixture *d, const char *below);
/* Directories of sessions in the state. */
int daemon_fixture_sessions(const daemon_fixture *d);
/* The process that runs a session, or 0. */
pid_t daemon_fixture_worker(const char *id);
/* The same for a running session, after waiting for it: a session is `running` a moment before its worker exists. */
pid_t daemon_fixture_await_worker(const char *id);

double daemon_fixture_clock(void); /* s, monotonic */
void daemon_fixture_nap(void);     /* between two looks at something that is awaited */

#endif
