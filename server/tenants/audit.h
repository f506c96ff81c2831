/* audit.h - the audit log: one row for each request that may change something and had a valid credential, regardless of
 * the reply; and for each change by a command. Kept for half a year, and limited to a number of rows, of which every
 * user has an equal part. The first 20 rejected requests of a user in a minute have rows; the others are counted in one
 * row. Invalid credentials are counted (/metrics), not recorded.
 */
#ifndef PLIANT_SERVER_TENANTS_AUDIT_H
#define PLIANT_SERVER_TENANTS_AUDIT_H

#include "server/http/http.h"
#include "server/store/store.h"

typedef struct pl_audit pl_audit;
pl_audit *pl_audit_create(pl_store *store, pl_counters *counters); /* NULL: out of memory */
void pl_audit_destroy(pl_audit *audit);
/* Record in a pl_audit a request whose reply is made; does not wait. */
void pl_audit_request(void *audit, pl_request *r);
/* Record a change made by `pliantd VERB ...`; waits for the commit. */
void pl_audit_command(pl_store *store, const char *action, const char *target);
void pl_audit_sweep(pl_audit *audit);

void pl_handle_audit(pl_request *r); /* the caller's own rows; everybody's for administrators */

#endif
