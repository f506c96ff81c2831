/* auth.h - who may talk to the daemon: from the credentials of a request to a principal.
 */
#ifndef PLIANT_SERVER_TENANTS_AUTH_H
#define PLIANT_SERVER_TENANTS_AUTH_H

#include "server/base/options.h"
#include "server/http/http.h"
#include "server/http/principal.h"
#include "server/tenants/tenants.h"

#include <stdbool.h>

typedef struct pl_auth pl_auth;

/* Read STATE/token, or make it (256 random bits as hex, mode 0600) on the first start. NULL with a
 * line in the log where that fails or where others can read the file. */
pl_auth *pl_auth_create(int state_fd, const pl_options *options, pl_tenants *tenants);
void pl_auth_destroy(pl_auth *auth);

/* Whom they stand for, by a pl_auth, with a reference, or NULL. An Authorization header counts alone, also where it is wrong; then a
 * login's cookie, then a link's, then the uid: the daemon's own and root are its owner. */
pl_principal *pl_auth_principal(void *auth, const pl_claims *claims);
/* The same of a token by itself. Secrets are compared as SHA-256, the owner's in constant time. */
pl_principal *pl_auth_token(const pl_auth *auth, const char *token);
bool pl_auth_same_hash(const char *a, const char *b); /* of 64 characters, in constant time */

/* The owner, by the token: a reference. */
pl_principal *pl_auth_owner(const pl_auth *auth);

/* 128 random bits as 32 lower-case hex digits and a NUL; -1 where the kernel has none. */
int pl_random_id(char out[33]);

#endif
