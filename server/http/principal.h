/* principal.h - the party that makes a request: a user, their groups, the scopes of the credential and its kind. Each
 * credential has one object, created when first seen or loaded, shared by its requests and constant except for the
 * atomics; so a stream can check at any time whether its reader still has access.
 */
#ifndef PLIANT_SERVER_HTTP_PRINCIPAL_H
#define PLIANT_SERVER_HTTP_PRINCIPAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Required by a route and granted by a credential, as a set of bits. Only routes use PUBLIC and ANY; ADMIN includes all
 * others and everybody's sessions. */
typedef enum pl_scope {
    PL_SCOPE_PUBLIC = 0,
    PL_SCOPE_READ = 1,
    PL_SCOPE_SUBMIT = 2, /* create, change and remove sessions and meshes */
    PL_SCOPE_ADMIN = 4,
    PL_SCOPE_METRICS = 8, /* the page for Prometheus, if it is not public */
    PL_SCOPE_ANY = 16,    /* any credential */
} pl_scope;
enum { PL_SCOPES_ALL = PL_SCOPE_READ | PL_SCOPE_SUBMIT | PL_SCOPE_ADMIN | PL_SCOPE_METRICS };

/* Access to a session; each level includes those before it. */
typedef enum pl_access { PL_ACCESS_NONE, PL_ACCESS_VIEW, PL_ACCESS_MANAGE } pl_access;

typedef enum pl_came {
    PL_CAME_OWNER,  /* the token in STATE/token, or --no-auth */
    PL_CAME_TOKEN,  /* a token from the table */
    PL_CAME_COOKIE, /* a browser's login */
    PL_CAME_PEER,   /* the uid at the other end of a unix socket */
    PL_CAME_LINK,   /* a share link's cookie: view one session */
    PL_CAME_SIGNED, /* a signed address: one request */
} pl_came;
const char *pl_came_name(pl_came came);

enum { PL_NAME_MAX = 64 };

typedef struct pl_membership {
    char group[PL_NAME_MAX + 1];
    pl_access access; /* to the group's sessions */
} pl_membership;

typedef struct pl_principal {
    _Atomic int references;
    _Atomic bool revoked;
    pl_came came;
    unsigned scopes;
    int64_t expires; /* s since 1970; 0: never */
    char user[PL_NAME_MAX + 1];
    char credential[33]; /* id of the token, login or link; "" for the owner's token */
    char session[33];    /* the only session that it may see; "": no such limit */
    int group_count;
    pl_membership groups[];
} pl_principal;

/* Has one reference and room for the groups, which are copied; NULL: out of memory. */
pl_principal *pl_principal_create(pl_came came, const char *user, unsigned scopes,
                                  const pl_membership *groups, int group_count);
pl_principal *pl_principal_acquire(pl_principal *principal); /* returns it; NULL is allowed */
void pl_principal_release(pl_principal *principal);

/* Neither revoked nor expired. */
bool pl_principal_valid(const pl_principal *principal);
/* A hash of the user's name; 0: no user. */
uint64_t pl_principal_key(const pl_principal *principal); /* may be NULL */
/* True if it may call a route that requires `scope`. */
bool pl_principal_has(const pl_principal *principal, pl_scope scope);
/* Its access to the session with this id, owner and group (NULL: none). */
pl_access pl_principal_access(const pl_principal *principal, const char *id, const char *owner,
                              const char *group);
/* True if it belongs to the group, in any role; administrators belong to every group. */
bool pl_principal_in(const pl_principal *principal, const char *group);
/* True if it manages the group's sessions; administrators manage every group's. */
bool pl_principal_manages(const pl_principal *principal, const char *group);

/* Print the names of the scopes in a set, "read submit", and parse them; false for an unknown word. */
void pl_scopes_write(unsigned scopes, char out[64]);
bool pl_scopes_parse(const char *text, unsigned *out);
/* Names of users and groups: a letter or digit, then also '.', '_', '-'; at most PL_NAME_MAX. */
bool pl_name_well_formed(const char *name);

#endif
