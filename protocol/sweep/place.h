/* place.h - numbers of a parameter's interval. */
#ifndef PLIANT_PROTOCOL_SWEEP_PLACE_H
#define PLIANT_PROTOCOL_SWEEP_PLACE_H

#include "protocol/sweep/sweep.h"

/* The number at u in [0, 1] of an interval, as JSON with 12 digits. malloc'ed, or NULL if out of memory. */
char *pl_sweep_place(const pl_sweep_parameter *p, double u);
/* Position of a number in its interval, from 0 to 1. */
double pl_sweep_unplace(const pl_sweep_parameter *p, double x);

#endif
