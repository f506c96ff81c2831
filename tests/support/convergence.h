/* convergence.h - one step under several methods, as plotted in the papers: the relative error (e(x_k) - e*) / (e(x_0)
 * - e*) of the objective over iterations (Liu 2017, eq. 12; Wang 2016, figure 2; Narain 2016, figure 2). All curves of
 * a table begin in the state reached by a converged run, and their iterations start there unless stated otherwise
 * (methods have different default guesses). State carried from step to step is that after three tries of the same step;
 * e* is Newton's. One thread, so that times are meaningful beside other work.
 */
#ifndef PLIANT_TESTS_SUPPORT_CONVERGENCE_H
#define PLIANT_TESTS_SUPPORT_CONVERGENCE_H

#include "tests/support/scene_run.h"

typedef struct situation {
    const char *what;
    int frames;            /* of the converged run, before the step that is looked at */
    int cells[3], fine[3]; /* of the mesh; `fine` with PLIANT_LONG=1 */
    const char *scene;     /* JSON members but solver and output; %d thrice: cells */
    int tries;             /* of the step; the last one is shown */
} situation;

typedef struct curve {
    const char *name, *solver; /* JSON members of the solver */
} curve;

enum { MARKS = 5, PLACES = 5, CURVES_MAX = 16 };
extern const double MARK[MARKS];    /* 1e-1, 1e-2, 1e-3, 1e-4, 1e-6 */
extern const int64_t PLACE[PLACES]; /* 8, 16, 32, 64, 96 */
enum { TO_1E1, TO_1E2, TO_1E3, TO_1E4, TO_1E6 };
enum { AFTER_8, AFTER_16, AFTER_32, AFTER_64, AFTER_96 };

typedef struct curve_result {
    double at[MARKS];     /* the first iteration with such an error or less; INFINITY: none */
    double ms[MARKS];     /* to it */
    double error[PLACES]; /* after so many iterations, or at the end */
} curve_result;

/* Print the table, one curve per row; results [count]. A method that fails is shown as failed and reaches no error. */
void convergence_table(const char *title, const situation *s, int iterations, const curve *curves,
                       int count, curve_result *results);
/* "reproduced: yes - CLAIM (NUMBERS)" below a table. */
__attribute__((format(printf, 3, 4))) void convergence_outcome(const char *claim, bool holds,
                                                               const char *numbers, ...);

/* What tables are made of. */
pl_run *convergence_open(const situation *s, const char *solver, int iterations,
                         const char *tolerance);
pl_run *convergence_reference(const situation *s); /* Newton, to the last digits */
/* One step of `r` from the state of `from`. */
bool convergence_step(const pl_run *from, pl_run *r);
/* The relative error of row k, or of the last one. */
double convergence_error(const pl_metrics *m, int64_t k, double minimum, double start);

#endif
