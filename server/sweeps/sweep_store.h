/* sweep_store.h - sweeps on disk and in the database. A sweep is built in incoming/, so that the next start removes one
 * whose request was never answered; a deleted sweep is moved there first.
 */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_STORE_H
#define PLIANT_SERVER_SWEEPS_SWEEP_STORE_H

#include "server/sessions/sessions.h"
#include "server/store/store.h"
#include "server/sweeps/sweep_run.h"

typedef struct pl_sweep_store {
    const char *state; /* the directory, and a descriptor of it */
    int state_fd;
    pl_store *store;
} pl_sweep_store;

/* Durable on return, with the reply to keep (or NULL); false with errno. */
bool pl_sweep_store_add(const pl_sweep_store *t, const pl_sweep_run *s, const char *text,
                        const pl_kept_reply *kept);
bool pl_sweep_store_remove(const pl_sweep_store *t, const pl_sweep_run *s);
/* Queued; does not wait. */
void pl_sweep_store_halt(const pl_sweep_store *t, const pl_sweep_run *s);
void pl_sweep_store_row(const pl_sweep_store *t, const pl_sweep_run *s, int64_t row);
/* Pass on each stored sweep, with the stored state of its rows. */
bool pl_sweep_store_load(const pl_sweep_store *t, pl_sessions *sessions,
                         void (*take)(void *context, pl_sweep_run *s), void *context);

#endif
