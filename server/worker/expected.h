/* expected.h - the vertices that a scene's expectations select: found once by preflight, which has the meshes, so that
 * judging a run needs no mesh. */
#ifndef PLIANT_SERVER_WORKER_EXPECTED_H
#define PLIANT_SERVER_WORKER_EXPECTED_H

#include "protocol/text/json.h"
#include "server/worker/session_scene.h"

typedef struct pl_expected {
    int32_t *vertex; /* of the body; NULL if the expectation selects nothing */
    int64_t count;
} pl_expected;

/* One for each expectation; malloc'ed. PL_INVALID with a fault for each selection without a match. */
pl_status pl_expected_find(const pl_session_scene *s, pl_expected **out, pl_faults *faults);
/* Check that every selection of output.probes has a match. */
pl_status pl_expected_check_probes(const pl_session_scene *s, pl_faults *faults);
void pl_expected_free(pl_expected *list, int32_t count);

/* Write the value of topology.json's "expect": for each expectation a list of a frame's vertices, or null. */
void pl_expected_encode(pl_json_writer *w, const pl_session_scene *s, const pl_expected *list);

#endif
