/* auth.h - who may talk to the daemon: the owner's token, the names it answers to, and the pages
 * that may call it. Every check is a pure function of a header's value.
 */
#ifndef PLIANT_SERVER_TENANTS_AUTH_H
#define PLIANT_SERVER_TENANTS_AUTH_H

#include "server/daemon.h"
#include "server/tenants/principal.h"

#include <stdbool.h>

typedef struct pl_auth pl_auth;

/* Read STATE/token, or make it (256 random bits as hex, mode 0600) on the first start. NULL with a
 * line in the log where that fails or where others can read the file. */
pl_auth *pl_auth_create(int state_fd, const pl_options *options);
void pl_auth_destroy(pl_auth *auth);

/* What a request may be known by, as its headers say it; NULL for what was not sent. */
typedef struct pl_claims {
    const char *authorization, *cookie;
    int64_t uid; /* at the other end of a unix socket; -1: of none */
} pl_claims;
/* Whom they stand for, with a reference, or NULL. An Authorization header counts alone, also where it is wrong; then a
 * login's cookie, then a link's, then the uid: the daemon's own and root are its owner. */
pl_principal *pl_auth_principal(const pl_daemon *daemon, const pl_claims *claims);
/* The same of a token by itself. Secrets are compared as SHA-256, the owner's in constant time. */
pl_principal *pl_auth_token(const pl_daemon *daemon, const char *token);
bool pl_auth_same_hash(const char *a, const char *b); /* of 64 characters, in constant time */

/* The owner, by the token: a reference. */
pl_principal *pl_auth_owner(const pl_daemon *daemon);
/* Whose everything is while there is one owner. */
const char *pl_auth_default_owner(void);

/* Whether a Host header's value names this daemon: a loopback name, the listen address, or one of
 * --allow-host; any port, since a forwarded port is not ours to know. A foreign name is what DNS
 * rebinding looks like. */
bool pl_auth_host_allowed(const pl_auth *auth, const char *host);

/* Whether an Origin header's value is a page of ours: http or https on the request's own Host. */
bool pl_auth_origin_allowed(const char *origin, const char *host);

/* 128 random bits as 32 lower-case hex digits and a NUL; -1 where the kernel has none. */
int pl_random_id(char out[33]);

#endif
