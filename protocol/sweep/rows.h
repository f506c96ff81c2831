/* rows.h - the rows of a sweep's parameters; private to protocol/sweep. */
#ifndef PLIANT_PROTOCOL_SWEEP_ROWS_H
#define PLIANT_PROTOCOL_SWEEP_ROWS_H

#include "protocol/sweep/sweep.h"

/* By grid or by sampling; PL_INVALID with a fault if there are too many rows or dimensions. */
pl_status pl_sweep_make_rows(pl_sweep *sweep, pl_faults *faults);

#endif
