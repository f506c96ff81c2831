#include "server/tenants/login.h"

#include "protocol/text/sha256.h"
#include "server/base/daemon.h"
#include "server/tenants/auth.h"
#include "server/http/body.h"
#include "server/http/request.h"
#include "server/base/clock.h"
#include "server/tenants/tenant_changes.h"
#include "server/tenants/tenants.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOGIN_S = 12 * 3600, CODE_MS = 300000, CODES = 64 };

/* ---- one-time codes ---- */

typedef struct code {
    char hash[65]; /* "" if free */
    int64_t until_ms;
    pl_principal *principal;
} code;

struct pl_login_codes {
    pthread_mutex_t mutex;
    code items[CODES]; /* a new one replaces the oldest */
};

pl_login_codes *pl_login_codes_create(void)
{
    pl_login_codes *codes = calloc(1, sizeof *codes);
    if (codes) {
        pthread_mutex_init(&codes->mutex, NULL);
    }
    return codes;
}

void pl_login_codes_destroy(pl_login_codes *codes)
{
    if (codes) {
        for (int i = 0; i < CODES; i++) {
            pl_principal_release(codes->items[i].principal);
        }
        pthread_mutex_destroy(&codes->mutex);
        free(codes);
    }
}

static void codes_put(pl_login_codes *codes, const char hash[65], pl_principal *principal)
{
    pthread_mutex_lock(&codes->mutex);
    code *oldest = &codes->items[0];
    for (int i = 1; i < CODES; i++) {
        if (codes->items[i].until_ms < oldest->until_ms) {
            oldest = &codes->items[i];
        }
    }
    pl_principal_release(oldest->principal);
    memcpy(oldest->hash, hash, sizeof oldest->hash);
    oldest->until_ms = pl_monotonic_ms() + CODE_MS;
    oldest->principal = pl_principal_acquire(principal);
    pthread_mutex_unlock(&codes->mutex);
}

/* Use up a code. Returns its principal, with a reference. */
static pl_principal *codes_take(pl_login_codes *codes, const char hash[65])
{
    pl_principal *found = NULL;
    pthread_mutex_lock(&codes->mutex);
    for (int i = 0; i < CODES && !found; i++) {
        code *c = &codes->items[i];
        if (c->principal && strcmp(c->hash, hash) == 0) {
            found = c->principal;
            bool late = pl_monotonic_ms() > c->until_ms;
            *c = (code){0};
            if (late || !pl_principal_valid(found)) {
                pl_principal_release(found);
                found = NULL;
                break;
            }
        }
    }
    pthread_mutex_unlock(&codes->mutex);
    return found;
}

/* ---- cookies ---- */

bool pl_cookie_find(const char *header, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    for (const char *at = header ? header : ""; *at;) {
        at += strspn(at, " ;");
        size_t length = strcspn(at, ";");
        if (length > n && strncmp(at, name, n) == 0 && at[n] == '=' && length - n - 1 < size) {
            memcpy(out, at + n + 1, length - n - 1);
            out[length - n - 1] = 0;
            return true;
        }
        at += length;
    }
    return false;
}

void pl_cookie_set(pl_request *r, const char *name, const char *value, const char *path,
                   int64_t seconds)
{
    pl_reply_header(r, "Set-Cookie", "%s=%s; Path=%s; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
                    name, value, path, (long long)seconds, pl_request_secure(r) ? "; Secure" : "");
}

/* ---- requests ---- */

static void reply_login(pl_request *r, const pl_token_request *t, const pl_token_made *made)
{
    char expires[32];
    pl_time_view(t->expires, expires);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "user", t->user);
    pl_json_set_string(&w, "expires", expires);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_cookie_set(r, PL_LOGIN_COOKIE, made->secret, "/", t->expires - time(NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

static void log_in(pl_request *r, pl_principal *p, pl_store *store, pl_tenants *tenants)
{
    pl_token_request t = {.kind = "login",
                          .user = p->user,
                          .name = "",
                          .scopes = p->scopes,
                          .parent = p->credential,
                          .expires = time(NULL) + LOGIN_S};
    if (p->expires && p->expires < t.expires) {
        t.expires = p->expires;
    }
    pl_token_made made;
    if (pl_token_create(store, &t, &made) == PL_CHANGE_DONE && pl_tenants_reload(tenants)) {
        reply_login(r, &t, &made);
    } else {
        pl_reply_problem(r, 403, "too_many", "Too many logins",
                         "revoke tokens and logins that are no longer needed", NULL);
    }
    r->principal = pl_principal_acquire(p); /* for the audit */
}

/* Accepts a secret of either kind; a wrong one gets the same reply as an expired one. */
void pl_handle_login(pl_request *r)
{
    static const char *const keys[] = {"token", "code", NULL};
    pl_daemon *d = pl_request_daemon(r);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    const char *token = pl_body_string(&b, "token", 256, false);
    const char *once = pl_body_string(&b, "code", 256, token == NULL);
    if (pl_body_good(&b)) {
        char hash[65];
        pl_principal *p = token ? pl_auth_token(d->auth, token) : NULL;
        if (once && !token) {
            pl_sha256_hex(once, strlen(once), hash);
            p = codes_take(d->login_codes, hash);
        }
        pl_principal_release(r->principal); /* from an earlier login */
        r->principal = NULL;
        if (p && !p->session[0]) {
            log_in(r, p, d->store, d->tenants);
        } else {
            atomic_fetch_add(&d->counters.auth_failures, 1);
            pl_reply_problem(r, 401, "unauthorized", "Unauthorized",
                             "the token or code is unknown to this daemon, or has expired", NULL);
            pl_reply_header(r, "WWW-Authenticate", "Bearer realm=\"pliant\"");
        }
        pl_principal_release(p);
    }
    pl_body_close(&b);
}

/* For a page, which cannot read its own cookie: not being logged in is not an error here. */
void pl_handle_login_show(pl_request *r)
{
    const pl_principal *p = pl_request_principal(r);
    bool whole = p && !p->session[0]; /* not just one session's link */
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "user", whole ? p->user : NULL);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

bool pl_login_code_make(pl_login_codes *codes, const char *base, pl_principal *principal,
                        char secret[33], char url[400])
{
    char hash[65];
    if (pl_random_id(secret) != 0) {
        return false;
    }
    pl_sha256_hex(secret, strlen(secret), hash);
    codes_put(codes, hash, principal);
    snprintf(url, 400, "%s/#code=%s", base, secret);
    return true;
}

void pl_handle_login_code(pl_request *r)
{
    char secret[33], url[400];
    pl_daemon *d = pl_request_daemon(r);
    if (!pl_login_code_make(d->login_codes, d->url, pl_request_principal(r), secret, url)) {
        pl_reply_empty(r, 500);
        return;
    }
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "code", secret);
    pl_json_set_string(&w, "url", url);
    pl_json_set_integer(&w, "expires_in", CODE_MS / 1000);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_logout(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    const pl_principal *p = pl_request_principal(r);
    if (p->came == PL_CAME_COOKIE) {
        pl_token_revoke(d->store, p->credential, NULL);
        pl_tenants_reload(d->tenants);
    }
    pl_reply_empty(r, 204);
    pl_cookie_set(r, PL_LOGIN_COOKIE, "", "/", 0);
}
