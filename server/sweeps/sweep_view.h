/* sweep_view.h - a sweep and its table as documents. Each is malloc'ed, or NULL without memory; the table of sweeps is
 * locked meanwhile. They read what was stored when each run ended, and no log.
 */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_VIEW_H
#define PLIANT_SERVER_SWEEPS_SWEEP_VIEW_H

#include "server/sweeps/sweeps.h"

/* The sweep as the next value of a document. */
void pl_sweep_put(pl_json_writer *w, pl_sweeps *sweeps, const pl_sweep_run *s);
char *pl_sweep_encode(pl_sweeps *sweeps, const pl_sweep_run *s);

/* The table: rows from `from` on, at most `limit`. */
char *pl_sweep_table_json(pl_sweeps *sweeps, const pl_sweep_run *s, int64_t from, int64_t limit);
/* All rows; row, session, state, a column a parameter, a column a result. */
char *pl_sweep_table_csv(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);
/* The same as arrays by these names: numbers are float64, all else texts. */
char *pl_sweep_table_npz(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);

#endif
