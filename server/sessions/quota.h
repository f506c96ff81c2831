/* quota.h - what a user has at the moment, and whether there may be more of it. The daemon's limits (limits.h) are
 * judged when something new is asked for; what is there already is never taken away. Bytes of sessions are those of
 * their files, as of the last 10 s.
 */
#ifndef PLIANT_SERVER_SESSIONS_QUOTA_H
#define PLIANT_SERVER_SESSIONS_QUOTA_H

#include "server/http/http.h"
#include "server/sessions/sessions.h"
#include "server/tenants/tenants.h"

/* A session that is about to be: it counts until it is released, so that two posted at once are two. */
typedef struct pl_quota_hold {
    struct pl_quota_hold *next;
    const char *user; /* NULL: holds nothing */
} pl_quota_hold;
/* Hold a place for a session of `cores` cores, or reply 429 (for now) or 403 (too large) and return false. */
bool pl_quota_hold_session(pl_request *r, pl_tenants *tenants, pl_sessions *sessions, int64_t cores,
                           pl_quota_hold *hold);
void pl_quota_release(pl_quota_hold *hold);

/* Whether so many bytes may be added to a session of this owner; otherwise 403 is replied. */
bool pl_quota_allows_bytes(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const char *owner, int64_t bytes);
/* Whether a mesh of so many bytes may be added; otherwise 403 is replied. */
bool pl_quota_allows_mesh(pl_request *r, pl_tenants *tenants, pl_store *store, int64_t bytes);

void pl_handle_usage(pl_request *r);

#endif
