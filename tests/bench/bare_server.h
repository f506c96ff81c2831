/* bare_server.h - a minimal server of stored bytes with the daemon's HTTP library: it answers every GET with the
 * contents of some files, one after the other, read by pread into the connection's buffer. Threads, buffer and framing
 * are the daemon's, so that a comparison shows the cost of the daemon's other work.
 */
#ifndef PLIANT_TESTS_BENCH_BARE_SERVER_H
#define PLIANT_TESTS_BENCH_BARE_SERVER_H

#include <sys/types.h>

enum { BARE_FILES = 32 };

typedef struct bare_server {
    pid_t pid;
    int port;
} bare_server;

/* A process of its own on a free loopback port, which ends with this one. */
void bare_server_start(bare_server *s, const char *const *paths, int count);
void bare_server_stop(bare_server *s);

#endif
