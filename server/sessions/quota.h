/* quota.h - a user's present usage, and checks of new requests against the daemon's limits (limits.h). Limits are
 * checked only on new requests; existing data is never removed. Bytes of sessions are the sizes of their files, at most
 * 10 s old.
 */
#ifndef PLIANT_SERVER_SESSIONS_QUOTA_H
#define PLIANT_SERVER_SESSIONS_QUOTA_H

#include "protocol/text/json.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"
#include "server/tenants/tenants.h"

/* A place for a session in the making: it counts until released, so that two posted at once count as two. */
typedef struct pl_quota_hold {
    struct pl_quota_hold *next;
    const char *user;  /* NULL: holds nothing */
    const char *group; /* NULL: none */
} pl_quota_hold;
/* The resources that a session asks for. */
typedef struct pl_quota_wish {
    const char *group; /* NULL: none */
    int64_t cores;
    bool gpu;
} pl_quota_wish;
/* Hold a place for a session within the limits of the user and of the group. False after replying 429 (for now) or 403
 * (too large). The group's name outlives the hold. */
bool pl_quota_hold_session(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const pl_quota_wish *wish, pl_quota_hold *hold);
/* The same for moving a session to that group, checked against the group's limits and the session's present state. A
 * running session does not count against the group's running limits: it counts in the group where it began. */
bool pl_quota_hold_move(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                        pl_session *session, const char *group, pl_quota_hold *hold);
/* Bytes of all sessions by owner and group, as store/usage.h takes them; for ended sessions, as last measured. NULL:
 * out of memory. */
char *pl_quota_bytes_of_all(pl_sessions *sessions);
void pl_quota_release(pl_quota_hold *hold);

/* True if so many bytes may be added to a session of this owner; otherwise 403 is replied. */
bool pl_quota_allows_bytes(pl_request *r, pl_tenants *tenants, pl_sessions *sessions,
                           const char *owner, int64_t bytes);
/* True if a mesh of so many bytes may be added; otherwise 403 is replied. */
bool pl_quota_allows_mesh(pl_request *r, pl_tenants *tenants, pl_store *store, int64_t bytes);

/* Write user, used and limits as members of an object that the writer has begun. Reads files. */
void pl_quota_put(pl_request *r, const char *user, pl_json_writer *w);

#endif
