/* sweep_view.h - a sweep and its table as documents. Each is malloc'ed, or NULL: out of memory. The table of sweeps is
 * locked meanwhile. They use the values stored when each run ended, and read no log.
 */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_VIEW_H
#define PLIANT_SERVER_SWEEPS_SWEEP_VIEW_H

#include "server/sweeps/sweeps.h"

/* Write the sweep as the next value of a document. */
void pl_sweep_put(pl_json_writer *w, pl_sweeps *sweeps, const pl_sweep_run *s);
char *pl_sweep_encode(pl_sweeps *sweeps, const pl_sweep_run *s);

/* The table: at most `limit` rows, starting at `from`. */
char *pl_sweep_table_json(pl_sweeps *sweeps, const pl_sweep_run *s, int64_t from, int64_t limit);
/* All rows; row, session, state, one column per parameter, one column per result. */
char *pl_sweep_table_csv(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);
/* The same as arrays with these names: numbers as float64, everything else as text. */
char *pl_sweep_table_npz(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);

#endif
