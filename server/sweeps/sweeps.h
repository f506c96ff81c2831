/* sweeps.h - the table of sweeps: their definitions, and the progress of their rows. A sweep is a directory
 * (STATE/sweeps/ID/sweep.json: the document as posted, owner and group) and rows in the database. Its runs are ordinary
 * sessions with the labels `sweep` and `row`. If the database was lost, rows are found by these labels.
 *
 * One mutex guards the table and the rows. It may be held while the table of sessions is used, never the other way
 * round. A sweep's document is constant.
 */
#ifndef PLIANT_SERVER_SWEEPS_SWEEPS_H
#define PLIANT_SERVER_SWEEPS_SWEEPS_H

#include "server/http/principal.h"
#include "server/sessions/sessions.h"
#include "server/store/store.h"
#include "server/sweeps/sweep_run.h"

/* A user's limits: number of sweeps, and their total memory in bytes. */
enum { PL_SWEEPS_OF_USER_MAX = 1000, PL_SWEEPS_BYTES_MAX = 256 << 20 };

typedef struct pl_sweeps pl_sweeps;
/* Has every stored sweep. Sessions must already be in their table. NULL with a line in the log. */
pl_sweeps *pl_sweeps_create(const char *state, int state_fd, pl_store *store,
                            pl_sessions *sessions);
void pl_sweeps_destroy(pl_sweeps *sweeps);
void pl_sweeps_lock(pl_sweeps *sweeps);
void pl_sweeps_unlock(pl_sweeps *sweeps);
pl_sessions *pl_sweeps_sessions(pl_sweeps *sweeps);

/* Create a sweep, not in the table, from a document of so many bytes, with a reference for the caller. Takes the plan.
 * NULL with errno: EDQUOT if the owner has too many. */
pl_sweep_run *pl_sweeps_make(pl_sweeps *sweeps, const pl_principal *owner, const char *group,
                             pl_sweep *plan, size_t length);
/* Store it with its document and the reply to keep (or NULL), and add it to the table. False with errno. */
bool pl_sweeps_add(pl_sweeps *sweeps, pl_sweep_run *s, const char *text, const pl_kept_reply *kept);
/* Find a sweep, with a reference and the principal's access; NULL if they may see no such object. */
pl_sweep_run *pl_sweeps_find(pl_sweeps *sweeps, const pl_principal *principal, const char *id,
                             pl_access *access);
pl_access pl_sweep_access(const pl_principal *principal, const pl_sweep_run *s);
/* Every sweep, newest first, with a reference each; malloc'ed list. */
pl_sweep_run **pl_sweeps_all(pl_sweeps *sweeps, size_t *count);
/* Remove it from the table, the database and the disk; its sessions stay. False if the database failed. */
bool pl_sweeps_remove(pl_sweeps *sweeps, pl_sweep_run *s);

/* Called with the mutex held; the change is queued for the database. */
void pl_sweep_set_halt(pl_sweeps *sweeps, pl_sweep_run *s, pl_sweep_halt halt);
/* Takes the outcome's contents, and leaves it cleared; NULL: nothing is known. */
void pl_sweep_set_row(pl_sweeps *sweeps, pl_sweep_run *s, int64_t row, pl_sweep_row_state state,
                      pl_sweep_outcome *outcome);
/* Restart rows that ended without success; returns how many. */
int64_t pl_sweep_retry(pl_sweeps *sweeps, pl_sweep_run *s);

#endif
