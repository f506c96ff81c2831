/* login.h - browser logins: a token or a one-time code exchanged for a cookie that scripts cannot read. A login is a
 * credential in the table of tokens; its parent is the credential that was exchanged, and revoking the parent revokes
 * it.
 */
#ifndef PLIANT_SERVER_TENANTS_LOGIN_H
#define PLIANT_SERVER_TENANTS_LOGIN_H

#include "server/http/http.h"

#define PL_LOGIN_COOKIE "pliant"
#define PL_LINK_COOKIE  "pliant_link"

/* Unused codes; each is valid once, for five minutes. */
typedef struct pl_login_codes pl_login_codes;
pl_login_codes *pl_login_codes_create(void);
void pl_login_codes_destroy(pl_login_codes *codes);

/* The value of a cookie in a Cookie header (NULL: none), cut to `size`; false if missing. */
bool pl_cookie_find(const char *header, const char *name, char *out, size_t size);
/* Set a cookie for a path, for so many seconds; 0 removes it. */
void pl_cookie_set(pl_request *r, const char *name, const char *value, const char *path,
                   int64_t seconds);

/* Create a code for this principal, and the page's address with it, which begins with the daemon's `base`; false if no
 * random bits are available. */
bool pl_login_code_make(pl_login_codes *codes, const char *base, pl_principal *principal,
                        char secret[33], char url[400]);

void pl_handle_login_show(pl_request *r);
void pl_handle_login(pl_request *r);
void pl_handle_login_code(pl_request *r);
void pl_handle_logout(pl_request *r);

#endif
