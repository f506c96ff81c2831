/* check.h - reporting by the checks of a mesh; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_CHECK_H
#define PLIANT_ENGINE_MESH_CHECK_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>

/* All findings of one kind: the first few ids and the number. */
enum { PL_FINDING_TOLD = 5 };
typedef struct pl_finding {
    int64_t count;
    int64_t id[PL_FINDING_TOLD];
    double value[PL_FINDING_TOLD]; /* detail about the first */
} pl_finding;

void pl_finding_note(pl_finding *f, int64_t id, double value);

typedef struct pl_check {
    const pl_mesh *mesh;
    const char *pointer;
    pl_faults *faults;
    bool bad;
} pl_check;

/* Elements at or below this, relative to the longest edge's power, are flat. It is far above the rounding of a
 * determinant of edges relative to it (about 1e-15), and far below the flattest useful element. */
static const double pl_check_flat = 1e-12;
/* If no edge is longer, m, volumes underflow: such an element counts as flat. */
static const double pl_check_least_length = 1e-60;

/* Adds one fault for a kind of finding, if there is any: "UNIT ID: what; also 3, 5 and 12 more". `what` describes
 * the first. advice: the expectation and the hint. */
__attribute__((format(printf, 6, 7))) void pl_check_tell(pl_check *c, const pl_finding *f,
                                                         const char *unit, const char *code,
                                                         const char *const advice[2],
                                                         const char *what, ...);

/* The elements of one kind, for the checks common to all kinds. */
typedef struct pl_check_cells {
    const char *unit; /* "element", "triangle", "edge" */
    int corners;
    int64_t count;
    const int32_t *corner;
    const char *different[2], *once[2]; /* advice for repeated corners and repeated elements */
} pl_check_cells;

/* Finds triangles without area and edges without length. */
void pl_check_sheets(pl_check *c);

#endif
