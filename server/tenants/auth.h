/* auth.h - authentication: from the credentials of a request to a principal. */
#ifndef PLIANT_SERVER_TENANTS_AUTH_H
#define PLIANT_SERVER_TENANTS_AUTH_H

#include "server/base/options.h"
#include "server/http/http.h"
#include "server/http/principal.h"
#include "server/tenants/tenants.h"

#include <stdbool.h>

typedef struct pl_auth pl_auth;

/* Read STATE/token, or create it (256 random bits as hex, mode 0600) on the first start. NULL with a line in the log if
 * that fails or if others can read the file. */
pl_auth *pl_auth_create(int state_fd, const pl_options *options, pl_tenants *tenants);
void pl_auth_destroy(pl_auth *auth);

/* The principal of the claims, by a pl_auth, with a reference, or NULL. An Authorization header, even an invalid one,
 * excludes all other claims. Then come a login's cookie, a link's cookie, and the uid: the daemon's own uid and root
 * are its owner. */
pl_principal *pl_auth_principal(void *auth, const pl_claims *claims);
/* The same for a token alone. Secrets are compared as SHA-256, the owner's in constant time. */
pl_principal *pl_auth_token(const pl_auth *auth, const char *token);
bool pl_auth_same_hash(const char *a, const char *b); /* of 64 characters, in constant time */

/* The owner's principal, as by the token: a reference. */
pl_principal *pl_auth_owner(const pl_auth *auth);

/* 128 random bits as 32 lower-case hex digits and a NUL; -1 if the kernel provides none. */
int pl_random_id(char out[33]);

#endif
