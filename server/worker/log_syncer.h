/* log_syncer.h - a thread that syncs the log at least every second, and does work that must follow a sync (writing a
 * checkpoint), so that the solver never waits for the disk. On a network file system it also sends new records 40 times
 * a second, so that readers on other machines see them.
 */
#ifndef PLIANT_SERVER_WORKER_LOG_SYNCER_H
#define PLIANT_SERVER_WORKER_LOG_SYNCER_H

#include "protocol/log/log.h"

typedef struct pl_log_syncer pl_log_syncer;
/* Start the thread; the writer must outlive it. on_network: pl_is_on_network. PL_NO_MEMORY if it cannot be started. */
pl_status pl_log_syncer_start(pl_log_writer *log, bool on_network, pl_log_syncer **out);
/* Report that something was appended. Cheap. */
void pl_log_syncer_mark(pl_log_syncer *s);
/* Sync at once and then call act(context) on the syncer's thread, unless the sync failed. False, without effect, while
 * an earlier request is not finished. */
bool pl_log_syncer_then(pl_log_syncer *s, void (*act)(void *context), void *context);
/* True while a request of pl_log_syncer_then is not finished. */
bool pl_log_syncer_busy(pl_log_syncer *s);
/* errno of the first sync that failed, else 0. */
int pl_log_syncer_error(const pl_log_syncer *s);
/* A pending act is finished first; then the thread ends, without a last sync, and is released. NULL is allowed. */
void pl_log_syncer_stop(pl_log_syncer *s);

#endif
