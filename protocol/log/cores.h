/* cores.h - the number of cores that a running worker uses, as two small files of the session directory:
 *
 *     cores.json     {"attempt", "number", "cores"}   daemon: use this many from the end of the next step on
 *     threads.json   the same                         worker: in use, as of the request with that number;
 *                                                     number 0: it will follow requests, and uses this many
 *
 * Both are written by rename and not synced: they belong to one attempt and mean nothing after it.
 */
#ifndef PLIANT_PROTOCOL_LOG_CORES_H
#define PLIANT_PROTOCOL_LOG_CORES_H

#include "engine/scene/fault.h"

#include <stdint.h>

#define PL_CORES_WANTED "cores.json"
#define PL_CORES_HAD    "threads.json"

typedef struct pl_cores {
    int32_t attempt, cores;
    int64_t number; /* of the request, increasing from 1 within an attempt; 0: none yet */
} pl_cores;
/* Errors: PL_IO with errno (ENOENT: no such file), PL_INVALID: damaged. */
pl_status pl_cores_read(int dir_fd, const char *name, pl_cores *out);
/* PL_IO with errno, or PL_NO_MEMORY. */
pl_status pl_cores_write(int dir_fd, const char *name, const pl_cores *cores);

#endif
