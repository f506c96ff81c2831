/* phases.h - Chebyshev's weights in phases of their own rho, and the tuner of those (Wang 2016,
 * section 4.3). A phase begins with omega = 1 again. */
#ifndef PLIANT_ENGINE_SOLVERS_PHASES_H
#define PLIANT_ENGINE_SOLVERS_PHASES_H

#include "engine/scene/scene.h"
#include "engine/solvers/bytes.h"

typedef struct pl_phases {
    int32_t count;
    int64_t end[PL_PHASES_MAX]; /* iteration at which the next begins; the last one's is not used */
    double factor[PL_PHASES_MAX]; /* 1 - rho of the phase, of 1 - rho of the last at first */
} pl_phases;

/* Phases of 8, 16, 32, ... iterations, and 1 - rho three times that of the next: an error is rid of
 * its roughest parts first, which a low rho does faster. */
pl_phases pl_phases_default(int32_t count);
int32_t pl_phases_at(const pl_phases *phases, int64_t iteration);
/* rho of a phase, when 1 - rho of the slowest is `slow`. */
double pl_phases_rho(const pl_phases *phases, int32_t phase, double slow);
/* The weight after `omega`, `since` iterations into a phase of this rho. */
double pl_phases_omega(double rho, double omega, int64_t since);

/* Better phases for what `error` measures of them: tries every change of one 1 - rho by a factor 1
 * +- epsilon (eq. 9) and every change of one length, takes the one that lowers the error most, and
 * begins again until none does. epsilon is 0.4 at first, and halved down to Wang's 0.05 where
 * nothing helps. Not finite counts as worst. `rounds` at most. */
pl_phases pl_phases_tune(pl_phases phases, double (*error)(const pl_phases *, void *), void *user,
                         int32_t rounds);

void pl_phases_save(const pl_phases *phases, pl_bytes_out *out);
/* False where the bytes are no `count` phases. */
bool pl_phases_restore(pl_phases *phases, int32_t count, pl_bytes_in *in);

#endif
