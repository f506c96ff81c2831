/* audit.h - who changed what: one row for each request that may change something, by whoever showed a good
 * credential, whatever it was answered; and for each change by a command. Kept for half a year, and never more than
 * a bounded number of rows: then every user has an equal part. Of a user's refused requests the first 20 of a minute
 * have rows, the others are counted in one. Failed credentials are counted (/metrics), not kept.
 */
#ifndef PLIANT_SERVER_TENANTS_AUDIT_H
#define PLIANT_SERVER_TENANTS_AUDIT_H

#include "server/http/http.h"
#include "server/store/store.h"

typedef struct pl_audit pl_audit;
pl_audit *pl_audit_create(pl_store *store, pl_counters *counters); /* NULL: out of memory */
void pl_audit_destroy(pl_audit *audit);
/* Note in a pl_audit a request whose reply is made; not waited for. */
void pl_audit_request(void *audit, pl_request *r);
/* Note a change made by `pliantd VERB ...`; waits for the commit. */
void pl_audit_command(pl_store *store, const char *action, const char *target);
void pl_audit_sweep(pl_audit *audit);

void pl_handle_audit(pl_request *r); /* one's own; everybody's for administrators */

#endif
