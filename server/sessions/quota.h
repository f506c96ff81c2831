/* quota.h - what a user has at the moment, and whether there may be more of it. The daemon's limits (limits.h) are
 * judged when something new is asked for; what is there already is never taken away. Bytes of sessions are those of
 * their files, as of the last 10 s.
 */
#ifndef PLIANT_SERVER_SESSIONS_QUOTA_H
#define PLIANT_SERVER_SESSIONS_QUOTA_H

#include "protocol/text/json.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"
#include "server/tenants/tenants.h"

/* A session that is about to be: it counts until it is released, so that two posted at once are two. */
typedef struct pl_quota_hold {
    struct pl_quota_hold *next;
    const char *user;  /* NULL: holds nothing */
    const char *group; /* NULL: none */
} pl_quota_hold;
/* What a session asks for. */
typedef struct pl_quota_wish {
    const char *group; /* NULL: none */
    int64_t cores;
    bool gpu;
} pl_quota_wish;
/* Hold a place for a session, within the limits of the user and of the group, or reply 429 (for now) or 403 (too
 * large) and return false. The group's name outlives the hold. */
bool pl_quota_hold_session(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const pl_quota_wish *wish, pl_quota_hold *hold);
/* The same for a session that is to go to that group: of it alone, and as the session is. A running one is not counted
 * against what may run there: it counts for the group in which it began. */
bool pl_quota_hold_move(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                        pl_session *session, const char *group, pl_quota_hold *hold);
/* Bytes of all sessions by owner and group, as store/usage.h takes them: of ended ones as they were last looked at.
 * NULL: out of memory. */
char *pl_quota_bytes_of_all(pl_sessions *sessions);
void pl_quota_release(pl_quota_hold *hold);

/* Whether so many bytes may be added to a session of this owner; otherwise 403 is replied. */
bool pl_quota_allows_bytes(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const char *owner, int64_t bytes);
/* Whether a mesh of so many bytes may be added; otherwise 403 is replied. */
bool pl_quota_allows_mesh(pl_request *r, pl_tenants *tenants, pl_store *store, int64_t bytes);

/* user, used and limits, as members of an object that the writer has begun. Reads files. */
void pl_quota_put(pl_request *r, const char *user, pl_json_writer *w);

#endif
