/* warnings.h - warnings that a user should read before trusting a session, and warnings.json, in which the worker
 * keeps the counts over its frames.
 *
 *   warnings.json   {"format": 1, "frame", "unconverged", "inverted", "most_inverted", "penetrating",
 *                   "deepest", "deepest_in", "gaining", "energy": null | {"first", "least", "kinetic",
 *                   "gain"}, "warnings": [...]}, sealed                            worker, by rename
 *
 * The preflight's warnings are in preflight.json (session_dir.h). A session's warnings are both.
 */
#ifndef PLIANT_PROTOCOL_LOG_WARNINGS_H
#define PLIANT_PROTOCOL_LOG_WARNINGS_H

#include "engine/scene/fault.h"
#include "protocol/text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* DO(suffix of the code's name, its name, counted things). The first four belong to a run, the others to a scene
 * before it runs. */
#define PL_EACH_WARNING(DO)                                                                        \
    DO(UNCONVERGED, unconverged, "frames with a step that did not reach solver.tolerance")         \
    DO(INVERTED, inverted, "frames with inverted elements")                                        \
    DO(ENERGY_GAINED, energy_gained, "frames with more energy than the first, without work done")  \
    DO(PENETRATION, penetration, "frames with a vertex deep in an obstacle")                       \
    DO(OVERLAP, overlap, "bodies that overlap, or may pass through each other")                    \
    DO(CLOSE_START, close_start, "bodies that start closer to each other than contact allows")     \
    DO(START_INSIDE, start_inside, "vertices that start inside an obstacle")                       \
    DO(THIN_OBSTACLE, thin_obstacle,                                                               \
       "bodies that cross many times an obstacle's thickness in a step")                           \
    DO(STIFF_STEP, stiff_step, "bodies too stiff for the method at this step")                     \
    DO(FEW_ELEMENTS, few_elements, "bodies whose mesh bends too stiffly")                          \
    DO(ODD_SIZE, odd_size, "bodies of an unusual size")

typedef enum pl_warning_code {
#define CODE(code, name, counts) PL_WARNING_##code,
    PL_EACH_WARNING(CODE)
#undef CODE
        PL_WARNING_CODES
} pl_warning_code;
const char *pl_warning_name(pl_warning_code code);

typedef struct pl_warning {
    pl_warning_code code;
    char *detail;      /* a sentence with its numbers and what to do; malloc'ed */
    int64_t count, of; /* this many out of this many: frames, vertices or bodies, by the code */
} pl_warning;

enum { PL_WARNINGS_MAX = 64 }; /* further ones are dropped */
typedef struct pl_warnings {
    int32_t count;
    pl_warning *items; /* malloc'ed */
} pl_warnings;

/* Appends a warning and copies its text. PL_OK, even if the list is full; PL_NO_MEMORY. */
pl_status pl_warnings_add(pl_warnings *list, pl_warning_code code, int64_t count, int64_t of,
                          const char *detail);
void pl_warnings_clear(pl_warnings *list);

/* "warnings" of a session as a JSON array: the preflight's, then the run's (NULL: none yet). malloc'ed; NULL if out
 * of memory. */
char *pl_warnings_encode(const pl_warnings *start, const pl_warnings *run);
/* Writes the items of a list into an open array. */
void pl_warnings_put(pl_json_writer *w, const pl_warnings *list);
/* Appends the items of an array; skips codes of a later version. PL_OK or PL_NO_MEMORY. */
pl_status pl_warnings_decode(const pl_json *array, pl_warnings *list);

/* Counts over frames 1 to `frame`. Of frame 0, the scene's own start, only the energy counts. */
typedef struct pl_run_totals {
    int64_t frame;                                       /* last one counted, -1: none */
    int64_t unconverged, inverted, penetrating, gaining; /* frames */
    int64_t most_inverted;                               /* elements, of a frame */
    double deepest;                                      /* m */
    int32_t deepest_in;                                  /* obstacle, -1: none */
    bool has_energy; /* the rest is defined: nothing in the scene can add energy */
    double first_energy, least_energy, most_kinetic, most_gain; /* J */
} pl_run_totals;

/* PL_OK, PL_NO_MEMORY, or PL_IO with errno: ENOENT if not written yet, EBADMSG if damaged. */
pl_status pl_run_warnings_read(int dir_fd, pl_run_totals *totals, pl_warnings *warnings);
pl_status pl_run_warnings_write(int dir_fd, const pl_run_totals *totals,
                                const pl_warnings *warnings);

#endif
