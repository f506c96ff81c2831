/* case_a.h - the box of 7 x 1 x 1 m, 2107 vertices, twisted by one turn and released: the methods' defaults are
 * compared on it, in one table of materials. */
#ifndef PLIANT_TESTS_SUPPORT_CASE_A_H
#define PLIANT_TESTS_SUPPORT_CASE_A_H

#include "tests/support/scene_run.h"

typedef struct case_a_material {
    const char *name, *settings; /* JSON members of the material */
    unsigned traits;
} case_a_material;

enum { CASE_A_MATERIALS = 11 };
extern const case_a_material CASE_A[CASE_A_MATERIALS];

/* Its first frame is not yet made; metrics are of every iteration. `solver`: JSON members. */
pl_run *case_a_open(const case_a_material *of, const char *solver);
/* The objective's minimum over the first frame, to 1e-12 of its decrease: quasi-Newton's, which is cheaper than
 * Newton's and reaches the same minimum (methods_test). */
double case_a_minimum(const case_a_material *of);
/* The first iteration of the frame with a relative error of `mark` or less, or -1. */
int64_t case_a_iterations(const pl_metrics *m, double minimum, double mark);

#endif
