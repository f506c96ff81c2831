/* links.h - showing a session to somebody who has no credential: share links, whose secret a browser exchanges for
 * a cookie of that session's paths, and signed addresses, each good for one GET within a minute.
 */
#ifndef PLIANT_SERVER_SESSIONS_LINKS_H
#define PLIANT_SERVER_SESSIONS_LINKS_H

#include "server/http/http.h"

/* A random key, of this run of the daemon alone. */
typedef struct pl_signer pl_signer;
pl_signer *pl_signer_create(void);
void pl_signer_destroy(pl_signer *signer);

/* Whom a signed GET's address stands for, by a pl_signer, with a reference: whoever may see that
 * one session. NULL where the query has no `signature`, or it does not fit, or its time is over. */
pl_principal *pl_signer_principal(void *signer, pl_request *r, const char *path);

void pl_handle_link_create(pl_request *r);
void pl_handle_links(pl_request *r);
void pl_handle_link_revoke(pl_request *r);
void pl_handle_link_open(pl_request *r);
void pl_handle_sign(pl_request *r);

#endif
