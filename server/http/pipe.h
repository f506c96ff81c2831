/* pipe.h - a reply that a thread of its own makes, in any order of steps, while its reader takes it at
 * any pace: a bounded buffer between the two. Who makes waits for room, who reads for bytes (its
 * connection is then suspended). Each side can go at any time; the last frees it.
 *
 * Locks: the pipe's own and the gate's are never held together.
 */
#ifndef PLIANT_SERVER_HTTP_PIPE_H
#define PLIANT_SERVER_HTTP_PIPE_H

#include "server/http/waiter.h"

enum { PL_PIPE_BYTES = 1 << 20 };

typedef struct pl_pipe pl_pipe;

/* With a reference for each side. NULL out of memory. */
pl_pipe *pl_pipe_create(pl_request *request);
void pl_pipe_release(pl_pipe *p);

/* Of who makes: false once nobody takes it any more. */
bool pl_pipe_write(pl_pipe *p, const void *data, size_t size);
bool pl_pipe_wanted(pl_pipe *p);
/* It is whole; or it failed, so that the reader sees its end missing. */
void pl_pipe_end(pl_pipe *p, bool whole);

/* Of a pl_source: as its read, and what close does beside the release. */
ssize_t pl_pipe_read(pl_pipe *p, char *out, size_t room);
void pl_pipe_leave(pl_pipe *p);
/* From any thread: it ends unfinished. */
void pl_pipe_stop(pl_pipe *p);

#endif
