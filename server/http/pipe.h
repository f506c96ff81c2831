/* pipe.h - a reply that its own thread produces at any pace while the reader takes it at any pace: a bounded buffer in
 * between. The producer waits for room, the reader for bytes (its connection is then suspended). Either side may leave
 * at any time; the last one frees the pipe.
 *
 * Locks: the pipe's own and the gate's are never held together.
 */
#ifndef PLIANT_SERVER_HTTP_PIPE_H
#define PLIANT_SERVER_HTTP_PIPE_H

#include "server/http/waiter.h"

enum { PL_PIPE_BYTES = 1 << 20 };

typedef struct pl_pipe pl_pipe;

/* Has a reference for each side. NULL: out of memory. */
pl_pipe *pl_pipe_create(pl_request *request);
void pl_pipe_release(pl_pipe *p);

/* For the producer: false once the reader has left. */
bool pl_pipe_write(pl_pipe *p, const void *data, size_t size);
bool pl_pipe_wanted(pl_pipe *p);
/* The reply is complete (`whole`); or it failed, and the reader sees that the end is missing. */
void pl_pipe_end(pl_pipe *p, bool whole);

/* For a pl_source: its read, and the part of close besides the release. */
ssize_t pl_pipe_read(pl_pipe *p, char *out, size_t room);
void pl_pipe_leave(pl_pipe *p);
/* Stop the reply unfinished. From any thread. */
void pl_pipe_stop(pl_pipe *p);

#endif
