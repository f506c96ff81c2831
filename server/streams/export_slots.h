/* export_slots.h - limits concurrent exports: the threads that make them; one user may have half of them. */
#ifndef PLIANT_SERVER_STREAMS_EXPORT_SLOTS_H
#define PLIANT_SERVER_STREAMS_EXPORT_SLOTS_H

#include "server/base/counters.h"
#include "server/base/options.h"

#include <stdbool.h>

typedef struct pl_exports pl_exports;

/* `most` at once, 1 to PL_EXPORTS_MAX. NULL without memory or threads. */
pl_exports *pl_exports_create(pl_counters *counters, int most);
void pl_exports_stop(pl_exports *exports); /* waits for those that run */
void pl_exports_destroy(pl_exports *exports);

typedef enum pl_export_slot {
    PL_EXPORT_SLOT_FREE,   /* taken; must be released */
    PL_EXPORT_SLOTS_TAKEN, /* by all users */
    PL_EXPORT_SLOTS_YOURS, /* by this user */
} pl_export_slot;

pl_export_slot pl_exports_enter(pl_exports *exports, const char *user);
void pl_exports_leave(pl_exports *exports, const char *user);
/* Run a job on one of the threads; false if the daemon is ending. */
bool pl_exports_submit(pl_exports *exports, void (*job)(void *context), void *context);

int pl_exports_most(const pl_exports *exports);
int pl_exports_most_of_one(const pl_exports *exports);

#endif
