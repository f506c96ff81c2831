/* preflight.h - checks a session's scene before it is accepted, and writes the files for viewers and the scheduler:
 * effective.json, topology.json, triangles.npy, tets.npy, surface.npy and, last, preflight.json with faults, warnings,
 * sizes and an estimate of the cost. It links no BLAS.
 */
#ifndef PLIANT_SERVER_WORKER_PREFLIGHT_H
#define PLIANT_SERVER_WORKER_PREFLIGHT_H

#include <stdbool.h>

typedef enum pl_preflight_exit {
    PL_PREFLIGHT_ACCEPTED = 0,
    PL_PREFLIGHT_REFUSED = 1, /* preflight.json has the faults */
    PL_PREFLIGHT_ERROR = 2,   /* usage, or a file could not be written; message on stderr */
} pl_preflight_exit;

/* Check the session in the directory at `path`; `preview`: write preview.json too (preview.h). Puts the process into a
 * sandbox with limits. */
pl_preflight_exit pl_preflight_session(const char *path, bool preview);

#endif
