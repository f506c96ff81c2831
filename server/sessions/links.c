#include "server/sessions/links.h"

#include "protocol/text/sha256.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/tenants/auth.h"
#include "server/http/body.h"
#include "server/store/listing.h"
#include "server/tenants/login.h"
#include "server/http/request.h"
#include "server/sessions/session_view.h"
#include "server/tenants/tenant_changes.h"
#include "server/tenants/tenants.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 86400, SIGNED_S = 60, TARGET_MAX = 600 };

/* ---- share links ---- */

static void put_link(pl_json_writer *w, const char *const *columns)
{
    char created[32], expires[32];
    int64_t until = columns[3] ? strtoll(columns[3], NULL, 10) : 0;
    pl_time_view(columns[2] ? strtoll(columns[2], NULL, 10) : 0, created);
    pl_time_view(until, expires);
    pl_json_begin_object(w);
    pl_json_set_string(w, "id", columns[0]);
    pl_json_set_string(w, "name", columns[1]);
    pl_json_set_string(w, "created", created);
    pl_json_set_string(w, "expires", until ? expires : NULL);
    pl_json_set_string(w, "by", columns[4]);
    pl_json_end_object(w);
}

static void reply_made(pl_request *r, const pl_token_request *t, const pl_token_made *made)
{
    char expires[32], url[500];
    pl_time_view(t->expires, expires);
    snprintf(url, sizeof url, "%s/#link=%s", pl_request_daemon(r)->url, made->secret);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "id", made->id);
    pl_json_set_string(&w, "secret", made->secret);
    pl_json_set_string(&w, "url", url);
    pl_json_set_string(&w, "session", t->session);
    pl_json_set_string(&w, "expires", t->expires ? expires : NULL);
    pl_json_end_object(&w);
    pl_reply_json(r, 201, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Location", "/v1/sessions/%s/links/%s", t->session, made->id);
    pl_reply_header(r, "Cache-Control", "no-store");
}

static void make_link(pl_request *r, pl_session *s, pl_body *b)
{
    pl_daemon *d = pl_request_daemon(r);
    const pl_principal *p = pl_request_principal(r);
    const char *name = pl_body_string(b, "name", PL_NAME_MAX, false);
    int64_t seconds = 7 * DAY_S;
    pl_body_integer(b, "expires_in", 60, 365 * DAY_S, -2, &seconds);
    if (!pl_body_good(b)) {
        return;
    }
    pl_token_request t = {.kind = "link",
                          .user = p->user,
                          .name = name ? name : "",
                          .scopes = PL_SCOPE_READ,
                          .session = s->id,
                          .parent = p->credential,
                          .expires = time(NULL) + seconds};
    pl_token_made made;
    pl_change_outcome outcome = pl_token_create(d->store, &t, &made);
    if (outcome == PL_CHANGE_DONE && pl_tenants_reload(d->tenants)) {
        reply_made(r, &t, &made);
    } else {
        pl_reply_problemf(r, outcome == PL_CHANGE_TOO_MANY ? 403 : 500,
                          outcome == PL_CHANGE_TOO_MANY ? "too_many" : "internal",
                          "The link was not created", "%s", pl_change_text(outcome));
    }
}

void pl_handle_link_create(pl_request *r)
{
    static const char *const keys[] = {"name", "expires_in", NULL};
    pl_body b;
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (s && pl_body_open(r, keys, &b)) {
        make_link(r, s, &b);
        pl_body_close(&b);
    }
    pl_session_release(s);
}

void pl_handle_links(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (s) {
        pl_statement q = {"SELECT id, name, created, expires, user FROM tokens WHERE kind='link'"
                          " AND session=? AND id>? ORDER BY id LIMIT ?",
                          {s->id},
                          1};
        pl_listing_reply(r, pl_request_daemon(r)->store, &q, "", put_link);
        pl_session_release(s);
    }
}

void pl_handle_link_revoke(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pl_statement gone = {"DELETE FROM tokens WHERE kind='link' AND session=? AND id=?",
                         {s->id, pl_request_param(r, 1)},
                         2};
    if (pl_store_change(d->store, &gone, 1) == 1 && pl_tenants_reload(d->tenants)) {
        pl_reply_empty(r, 204);
    } else {
        pl_reply_problem(r, 404, "not_found", "No such link",
                         "this session has no link with this id", NULL);
    }
    pl_session_release(s);
}

/* Exchange a secret, which came in an address's fragment and so was in no earlier request, for a cookie. */
void pl_handle_link_open(pl_request *r)
{
    static const char *const keys[] = {"secret", NULL};
    pl_daemon *d = pl_request_daemon(r);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    const char *secret = pl_body_string(&b, "secret", 256, true);
    if (pl_body_good(&b)) {
        pl_principal *p = pl_auth_token(d->auth, secret);
        pl_session *s = p && p->session[0] ? pl_sessions_find_any(d->sessions, p->session) : NULL;
        if (s) {
            char path[64];
            snprintf(path, sizeof path, "/v1/sessions/%s", s->id);
            pl_reply_json(r, 200, pl_sessions_encode(d->sessions, s, p));
            pl_cookie_set(r, PL_LINK_COOKIE, secret, path,
                          p->expires ? p->expires - time(NULL) : 365 * DAY_S);
            pl_reply_header(r, "Cache-Control", "no-store");
        } else {
            pl_reply_problem(r, 404, "no_such_link", "No such link",
                             "this link is unknown, was revoked, or has expired", NULL);
        }
        pl_session_release(s);
        pl_principal_release(p);
    }
    pl_body_close(&b);
}

/* ---- signed addresses ---- */

struct pl_signer {
    char key[65];
};

pl_signer *pl_signer_create(void)
{
    pl_signer *signer = calloc(1, sizeof *signer);
    if (signer && (pl_random_id(signer->key) != 0 || pl_random_id(signer->key + 32) != 0)) {
        free(signer);
        return NULL;
    }
    return signer;
}

void pl_signer_destroy(pl_signer *signer)
{
    if (signer) {
        explicit_bzero(signer->key, sizeof signer->key);
        free(signer);
    }
}

/* A target is a path and its query, as "path?key=value&key=value" without the signature. The key is hashed first, and
 * again before the first sum (as in NMAC), so that no sum can be extended. */
static void sign(const pl_signer *signer, const char *target, int64_t expires, char out[65])
{
    char text[64 + 32 + TARGET_MAX], again[130];
    int n = snprintf(text, sizeof text, "%s\n%lld\n%s", signer->key, (long long)expires, target);
    pl_sha256_hex(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, out);
    snprintf(again, sizeof again, "%s%s", signer->key, out);
    pl_sha256_hex(again, 128, out);
    explicit_bzero(text, sizeof text);
    explicit_bzero(again, sizeof again);
}

typedef struct target {
    char text[TARGET_MAX];
    size_t at;
    bool whole; /* nothing was truncated */
} target;

__attribute__((format(printf, 2, 3))) static void put(target *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->text + t->at, sizeof t->text - t->at, format, args);
    va_end(args);
    t->whole = t->whole && n >= 0 && (size_t)n < sizeof t->text - t->at;
    t->at += t->whole ? (size_t)n : 0;
}

static bool see_pair(void *context, const char *name, const char *value)
{
    target *t = context;
    if (strcmp(name, "signature") != 0) {
        put(t, "%s%s=%s", strchr(t->text, '?') ? "&" : "?", name, value);
    }
    return true;
}

pl_principal *pl_signer_principal(void *signer, pl_request *r, const char *path)
{
    const char *given = pl_request_query(r, "signature");
    char *end, right[65];
    if (!given || strcmp(r->route->method, "GET") != 0 || strlen(r->params[0]) != 32) {
        return NULL;
    }
    int64_t expires = strtoll(given, &end, 10), now = time(NULL);
    target t = {.whole = true};
    put(&t, "%s", path);
    pl_request_each(r, true, see_pair, &t);
    if (*end != '-' || strlen(end + 1) != 64 || expires < now || expires > now + SIGNED_S ||
        !t.whole) {
        return NULL;
    }
    sign(signer, t.text, expires, right);
    if (!pl_auth_same_hash(end + 1, right)) {
        return NULL;
    }
    pl_principal *p = pl_principal_create(PL_CAME_SIGNED, "", PL_SCOPE_READ, NULL, 0);
    if (p) {
        p->expires = 0; /* a download that has begun may continue */
        memcpy(p->session, r->params[0], sizeof p->session);
    }
    return p;
}

/* The requested target must be below the session, and contain no escapes, so that it reads the same when it comes
 * back. */
static bool check_target(pl_body *b, const char *below, const char *id)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._=&?,-";
    char begin[64];
    snprintf(begin, sizeof begin, "/v1/sessions/%s/", id);
    bool good = below && strncmp(below, begin, strlen(begin)) == 0 &&
                strspn(below, plain) == strlen(below) && !strstr(below, "signature=") &&
                (!strchr(below, '?') || strchr(below, '?') == strrchr(below, '?'));
    if (below && !good) {
        pl_body_fault(b, "path", "wrong_value", below, begin,
                      "a path below the session, with its query, unescaped");
    }
    return good;
}

void pl_handle_sign(pl_request *r)
{
    static const char *const keys[] = {"path", NULL};
    pl_body b;
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (s && pl_body_open(r, keys, &b)) {
        const char *path = pl_body_string(&b, "path", TARGET_MAX - 1, true);
        check_target(&b, path, s->id);
        if (pl_body_good(&b)) {
            char mac[65], url[TARGET_MAX + 500];
            int64_t expires = time(NULL) + SIGNED_S;
            sign(pl_request_daemon(r)->signer, path, expires, mac);
            snprintf(url, sizeof url, "%s%s%csignature=%lld-%s", pl_request_daemon(r)->url, path,
                     strchr(path, '?') ? '&' : '?', (long long)expires, mac);
            pl_json_writer w = {0};
            pl_json_begin_object(&w);
            pl_json_set_string(&w, "url", url);
            pl_json_set_integer(&w, "expires_in", SIGNED_S);
            pl_json_end_object(&w);
            pl_reply_json(r, 200, pl_json_finish(&w, NULL));
            pl_reply_header(r, "Cache-Control", "no-store");
        }
        pl_body_close(&b);
    }
    pl_session_release(s);
}
