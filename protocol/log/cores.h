/* cores.h - how many cores a running worker computes with, as two small files of the session directory:
 *
 *     cores.json     {"attempt", "number", "cores"}   daemon: compute with so many from the next step's end on
 *     threads.json   the same                         worker: it does since it has read the one of that number;
 *                                                     number 0: it will follow them, and computes with so many
 *
 * Both by rename, and not synced: they are of one attempt and mean nothing after it.
 */
#ifndef PLIANT_PROTOCOL_LOG_CORES_H
#define PLIANT_PROTOCOL_LOG_CORES_H

#include "engine/scene/fault.h"

#include <stdint.h>

#define PL_CORES_WANTED "cores.json"
#define PL_CORES_HAD    "threads.json"

typedef struct pl_cores {
    int32_t attempt, cores;
    int64_t number; /* of the request, from 1, growing in an attempt; 0: none yet */
} pl_cores;
/* Errors: PL_IO with errno (ENOENT: no such file), PL_INVALID: damaged. */
pl_status pl_cores_read(int dir_fd, const char *name, pl_cores *out);
/* PL_IO with errno, or PL_NO_MEMORY. */
pl_status pl_cores_write(int dir_fd, const char *name, const pl_cores *cores);

#endif
