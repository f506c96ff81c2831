/* links.h - access to a session without a credential: share links, whose secret a browser exchanges for a cookie
 * limited to that session's paths, and signed addresses, each valid for one GET within a minute.
 */
#ifndef PLIANT_SERVER_SESSIONS_LINKS_H
#define PLIANT_SERVER_SESSIONS_LINKS_H

#include "server/http/http.h"

/* A random key, valid only for this run of the daemon. */
typedef struct pl_signer pl_signer;
pl_signer *pl_signer_create(void);
void pl_signer_destroy(pl_signer *signer);

/* The principal of a signed GET address, checked by a pl_signer; it may view that one session, and
 * the caller releases it. NULL if `signature` is missing, wrong or expired. */
pl_principal *pl_signer_principal(void *signer, pl_request *r, const char *path);

void pl_handle_link_create(pl_request *r);
void pl_handle_links(pl_request *r);
void pl_handle_link_revoke(pl_request *r);
void pl_handle_link_open(pl_request *r);
void pl_handle_sign(pl_request *r);

#endif
