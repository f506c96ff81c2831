/* check.h - how the checks of a mesh say what they found; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_CHECK_H
#define PLIANT_ENGINE_MESH_CHECK_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>

/* Everything of one kind that is wrong: the first few ids and how many there are. */
enum { PL_FINDING_TOLD = 5 };
typedef struct pl_finding {
    int64_t count;
    int64_t id[PL_FINDING_TOLD];
    double value[PL_FINDING_TOLD]; /* what is told about the first */
} pl_finding;

void pl_finding_note(pl_finding *f, int64_t id, double value);

typedef struct pl_check {
    const pl_mesh *mesh;
    const char *pointer;
    pl_faults *faults;
    bool bad;
} pl_check;

/* Flat are elements of no more than this, of the longest edge's power: far above the rounding of a determinant of
 * edges as shares of it (about 1e-15), far below the flattest useful element. */
static const double pl_check_flat = 1e-12;
/* Where no edge is longer, m, volumes underflow: such an element is as good as flat. */
static const double pl_check_least_length = 1e-60;

/* One fault for a kind of finding, if there is any: "UNIT ID: what; also 3, 5 and 12 more". `what`
 * is of the first. advice: what is expected, and the hint. */
__attribute__((format(printf, 6, 7))) void pl_check_tell(pl_check *c, const pl_finding *f,
                                                         const char *unit, const char *code,
                                                         const char *const advice[2],
                                                         const char *what, ...);

/* The elements of one kind, for the checks that all kinds have. */
typedef struct pl_check_cells {
    const char *unit; /* "element", "triangle", "edge" */
    int corners;
    int64_t count;
    const int32_t *corner;
    const char *different[2], *once[2]; /* advice for repeated corners and repeated elements */
} pl_check_cells;

/* Triangles without area and edges without length. */
void pl_check_sheets(pl_check *c);

#endif
