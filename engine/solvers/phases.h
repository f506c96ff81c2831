/* phases.h - Chebyshev weights in phases with their own rho, and the tuner of these phases (Wang 2016, section
 * 4.3). A phase begins with omega = 1 again. */
#ifndef PLIANT_ENGINE_SOLVERS_PHASES_H
#define PLIANT_ENGINE_SOLVERS_PHASES_H

#include "engine/scene/scene.h"
#include "engine/solvers/bytes.h"

typedef struct pl_phases {
    int32_t count;
    int64_t end[PL_PHASES_MAX];   /* iteration at which the next phase begins; unused in the last */
    double factor[PL_PHASES_MAX]; /* 1 - rho of the phase over the initial 1 - rho of the last */
} pl_phases;

/* Initial phases of 8, 16, 32, ... iterations; 1 - rho of each is three times that of the next, because a low rho
 * is faster at removing the roughest parts of an error, which go first. */
pl_phases pl_phases_default(int32_t count);
int32_t pl_phases_at(const pl_phases *phases, int64_t iteration);
/* rho of a phase, if 1 - rho of the slowest is `slow`. */
double pl_phases_rho(const pl_phases *phases, int32_t phase, double slow);
/* The weight after `omega`, `since` iterations into a phase of this rho. */
double pl_phases_omega(double rho, double omega, int64_t since);

/* Improves phases by the measure `error`: tries every change of one 1 - rho by a factor 1 +- epsilon (eq. 9) and
 * every change of one length, takes the change that lowers the error most, and repeats until none does. epsilon
 * starts at 0.4 and is halved, down to Wang's 0.05, when nothing helps. A value that is not finite counts as worst.
 * Makes at most `rounds` changes. */
pl_phases pl_phases_tune(pl_phases phases, double (*error)(const pl_phases *, void *), void *user,
                         int32_t rounds);

void pl_phases_save(const pl_phases *phases, pl_bytes_out *out);
/* False if the bytes are not `count` phases. */
bool pl_phases_restore(pl_phases *phases, int32_t count, pl_bytes_in *in);

#endif
