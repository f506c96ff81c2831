/* rows.h - the rows of a sweep's parameters; private to this room. */
#ifndef PLIANT_PROTOCOL_SWEEP_ROWS_H
#define PLIANT_PROTOCOL_SWEEP_ROWS_H

#include "protocol/sweep/sweep.h"

/* By grid or by sampling; PL_INVALID with a fault where there are too many, or too many dimensions. */
pl_status pl_sweep_make_rows(pl_sweep *sweep, pl_faults *faults);

#endif
