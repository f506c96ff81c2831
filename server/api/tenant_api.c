#include "server/api/tenant_api.h"

#include "server/base/daemon.h"
#include "server/tenants/auth.h"
#include "server/http/body.h"
#include "server/store/listing.h"
#include "server/base/clock.h"
#include "server/sessions/session_view.h"
#include "server/tenants/tenant_changes.h"
#include "server/tenants/tenants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 86400, LONGEST_S = 3650 * DAY_S };

/* ---- replies ---- */

/* True if the change was made and the tenants were read again; otherwise the error has been replied. */
static bool done(pl_request *r, pl_change_outcome outcome, const char *what)
{
    static const struct {
        int status;
        const char *code;
    } replies[] = {{0, ""},         {422, "invalid_name"}, {409, "exists"},  {404, "not_found"},
                   {409, "in_use"}, {403, "too_many"},     {500, "internal"}};
    if (outcome == PL_CHANGE_DONE && pl_tenants_reload(pl_request_daemon(r)->tenants)) {
        return true;
    }
    outcome = outcome == PL_CHANGE_DONE ? PL_CHANGE_BROKEN : outcome;
    pl_reply_problemf(r, replies[outcome].status, replies[outcome].code, "The change failed",
                      "%s: %s", what, pl_change_text(outcome));
    return false;
}

static void set_time(pl_json_writer *w, const char *key, const char *seconds)
{
    char text[32];
    int64_t at = seconds ? strtoll(seconds, NULL, 10) : 0;
    pl_time_view(at, text);
    pl_json_set_string(w, key, at ? text : NULL);
}

static void put_scopes(pl_json_writer *w, unsigned scopes)
{
    char text[64];
    pl_scopes_write(scopes, text);
    pl_json_key(w, "scopes");
    pl_json_begin_array(w);
    for (char *rest = text, *one; (one = strtok_r(rest, " ", &rest));) {
        pl_json_put_string(w, one);
    }
    pl_json_end_array(w);
}

static const char *role_name(pl_access access)
{
    return access == PL_ACCESS_MANAGE ? "manage" : "view";
}

static void put_limits(pl_json_writer *w, bool of_group, const pl_limits *limits)
{
    pl_json_key(w, "limits");
    pl_json_begin_object(w);
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        const char *name = pl_limit_name((pl_limit)i);
        if (of_group && !pl_limit_of_group((pl_limit)i)) {
            continue;
        }
        if (limits->value[i] == INT64_MAX || limits->value[i] == PL_LIMIT_UNSET) {
            pl_json_set_null(w, name);
        } else {
            pl_json_set_integer(w, name, limits->value[i]);
        }
    }
    pl_json_end_object(w);
}

/* ---- the caller ---- */

void pl_handle_me(pl_request *r)
{
    const pl_principal *p = pl_request_principal(r);
    pl_limits limits = pl_tenants_limits(pl_request_daemon(r)->tenants, p->user);
    char expires[32];
    pl_time_view(p->expires, expires);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "user", p->user);
    pl_json_set_string(&w, "by", pl_came_name(p->came));
    pl_json_set_string(&w, "credential", p->credential[0] ? p->credential : NULL);
    pl_json_set_string(&w, "expires", p->expires ? expires : NULL);
    put_scopes(&w, p->scopes);
    pl_json_key(&w, "groups");
    pl_json_begin_array(&w);
    for (int i = 0; i < p->group_count; i++) {
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "name", p->groups[i].group);
        pl_json_set_string(&w, "role", role_name(p->groups[i].access));
        pl_json_end_object(&w);
    }
    pl_json_end_array(&w);
    put_limits(&w, false, &limits);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- tokens ---- */

static void view_token(pl_json_writer *w, const char *const *columns)
{
    unsigned scopes = 0;
    pl_scopes_parse(columns[4] ? columns[4] : "", &scopes);
    pl_json_begin_object(w);
    pl_json_set_string(w, "id", columns[0]);
    pl_json_set_string(w, "kind", columns[1]);
    pl_json_set_string(w, "user", columns[2]);
    pl_json_set_string(w, "name", columns[3]);
    put_scopes(w, scopes);
    pl_json_set_string(w, "session", columns[5] && *columns[5] ? columns[5] : NULL);
    set_time(w, "created", columns[6]);
    set_time(w, "expires", columns[7]);
    pl_json_end_object(w);
}

/* The user whose tokens a request is about: the caller, or for an administrator ?user= or, with NULL, all users. False
 * after replying. */
static bool whose(pl_request *r, const char **out)
{
    const pl_principal *p = pl_request_principal(r);
    const char *asked = pl_request_query(r, "user");
    bool admin = pl_principal_has(p, PL_SCOPE_ADMIN);
    if (asked && !admin && strcmp(asked, p->user) != 0) {
        pl_reply_problem(r, 403, "missing_scope", "Not allowed",
                         "only administrators can manage another user's tokens", NULL);
        return false;
    }
    *out = asked || admin ? asked : p->user;
    return true;
}

void pl_handle_tokens(pl_request *r)
{
    const char *user;
    if (whose(r, &user)) {
        pl_statement s = {"SELECT id, kind, user, name, scopes, session, created, expires FROM"
                          " tokens WHERE (?1 IS NULL OR user=?1) AND id>?2 ORDER BY id LIMIT ?3",
                          {user},
                          1};
        pl_listing_reply(r, pl_request_daemon(r)->store, &s, "", view_token);
    }
}

/* Limits of a new token: no more scopes than the caller's credential, and no longer lifetime. */
static void check_token(pl_body *b, const pl_principal *p, pl_token_request *t)
{
    const char *scopes = pl_body_string(b, "scopes", 64, false);
    int64_t seconds = 90 * DAY_S;
    pl_body_integer(b, "expires_in", 0, LONGEST_S, 0, &seconds);
    if (scopes && !pl_scopes_parse(scopes, &t->scopes)) {
        pl_body_fault(b, "scopes", "unknown_scope", scopes, "any of: read submit admin metrics",
                      "");
    } else if (t->scopes & ~p->scopes && !pl_principal_has(p, PL_SCOPE_ADMIN)) {
        char mine[64];
        pl_scopes_write(p->scopes, mine);
        pl_body_fault(b, "scopes", "beyond_yours", scopes ? scopes : "read submit", mine,
                      "a token cannot allow more than the credential that makes it");
    }
    if (strcmp(t->user, p->user) != 0 && !pl_principal_has(p, PL_SCOPE_ADMIN)) {
        pl_body_fault(b, "user", "not_yours", t->user, p->user,
                      "only administrators can manage another user's tokens");
    }
    t->expires = seconds ? time(NULL) + seconds : 0;
    if (p->expires && (!t->expires || t->expires > p->expires)) {
        t->expires = p->expires;
    }
}

static void reply_made(pl_request *r, const pl_token_request *t, const pl_token_made *made)
{
    char expires[32];
    pl_time_view(t->expires, expires);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "id", made->id);
    pl_json_set_string(&w, "token", made->secret);
    pl_json_set_string(&w, "user", t->user);
    pl_json_set_string(&w, "name", t->name);
    put_scopes(&w, t->scopes);
    pl_json_set_string(&w, "expires", t->expires ? expires : NULL);
    pl_json_end_object(&w);
    pl_reply_json(r, 201, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Location", "/v1/tokens/%s", made->id);
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_token_create(pl_request *r)
{
    static const char *const keys[] = {"name", "user", "scopes", "expires_in", NULL};
    const pl_principal *p = pl_request_principal(r);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    const char *user = pl_body_string(&b, "user", PL_NAME_MAX, false);
    const char *name = pl_body_string(&b, "name", PL_NAME_MAX, false);
    pl_token_request t = {.kind = "token",
                          .user = user ? user : p->user,
                          .name = name ? name : "",
                          .scopes = PL_SCOPE_READ | PL_SCOPE_SUBMIT,
                          .parent = p->credential};
    check_token(&b, p, &t);
    pl_token_made made;
    if (pl_body_good(&b) &&
        done(r, pl_token_create(pl_request_daemon(r)->store, &t, &made), "the user")) {
        reply_made(r, &t, &made);
    }
    pl_body_close(&b);
}

void pl_handle_token_revoke(pl_request *r)
{
    const pl_principal *p = pl_request_principal(r);
    const char *user = pl_principal_has(p, PL_SCOPE_ADMIN) ? NULL : p->user;
    if (done(r, pl_token_revoke(pl_request_daemon(r)->store, pl_request_param(r, 0), user),
             "the token")) {
        pl_reply_empty(r, 204);
    }
}

/* ---- users ---- */

static void read_limits(const char *const *columns, pl_limits *out)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        out->value[i] = columns[i] ? strtoll(columns[i], NULL, 10) : PL_LIMIT_UNSET;
    }
}

static void view_user(pl_json_writer *w, const char *const *columns)
{
    pl_limits limits;
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", columns[0]);
    set_time(w, "created", columns[1]);
    pl_json_set_boolean(w, "disabled", columns[2] && strcmp(columns[2], "0") != 0);
    if (columns[3]) {
        pl_json_set_integer(w, "uid", strtoll(columns[3], NULL, 10));
    } else {
        pl_json_set_null(w, "uid");
    }
    read_limits(columns + 4, &limits);
    put_limits(w, false, &limits);
    pl_json_end_object(w);
}

void pl_handle_users(pl_request *r)
{
    pl_statement s = {"SELECT name, created, disabled, uid, " PL_LIMIT_COLUMNS
                      " FROM users WHERE name>? ORDER BY name LIMIT ?",
                      {NULL},
                      0};
    pl_listing_reply(r, pl_request_daemon(r)->store, &s, "", view_user);
}

/* Read the limits in the body; null removes one. */
static void take_limits(pl_body *b, bool of_group, pl_limits *limits)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        pl_limit limit = (pl_limit)i;
        if (!of_group || pl_limit_of_group(limit)) {
            pl_body_integer(b, pl_limit_name(limit), pl_limit_least(limit), pl_limit_most(limit),
                            PL_LIMIT_UNSET, &limits->value[i]);
        }
    }
}

static void reply_user(pl_request *r, int status, const char *name)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "name", name);
    pl_json_end_object(&w);
    pl_reply_json(r, status, pl_json_finish(&w, NULL));
}

static const char *const user_keys[] = {"name",       "uid",      "sessions", "queued",
                                        "cores",      "bytes",    "running",  "gpus",
                                        "mesh_bytes", "requests", "share",    NULL};

void pl_handle_user_create(pl_request *r)
{
    pl_body b;
    if (!pl_body_open(r, user_keys, &b)) {
        return;
    }
    pl_limits limits = pl_limits_all(PL_LIMIT_UNSET);
    int64_t uid = PL_NO_UID;
    const char *name = pl_body_string(&b, "name", PL_NAME_MAX, true);
    pl_body_integer(&b, "uid", 0, UINT32_MAX, PL_NO_UID, &uid);
    take_limits(&b, false, &limits);
    if (pl_body_good(&b) &&
        done(r, pl_user_create(pl_request_daemon(r)->store, name, uid, &limits), name)) {
        reply_user(r, 201, name);
        pl_reply_header(r, "Location", "/v1/users/%s", name);
    }
    pl_body_close(&b);
}

void pl_handle_user_change(pl_request *r)
{
    static const char *const keys[] = {"disabled",   "uid",      "sessions", "queued",
                                       "cores",      "bytes",    "running",  "gpus",
                                       "mesh_bytes", "requests", "share",    NULL};
    const char *name = pl_request_param(r, 0);
    pl_limits limits = pl_limits_all(PL_LIMIT_KEPT);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    bool disabled;
    int64_t uid;
    pl_user_edit edit = {.limits = &limits};
    edit.disabled = pl_body_boolean(&b, "disabled", &disabled) ? &disabled : NULL;
    edit.uid = pl_body_integer(&b, "uid", 0, UINT32_MAX, PL_NO_UID, &uid) ? &uid : NULL;
    take_limits(&b, false, &limits);
    if (pl_body_good(&b) &&
        done(r, pl_user_change(pl_request_daemon(r)->store, name, &edit), "the user")) {
        reply_user(r, 200, name);
    }
    pl_body_close(&b);
}

void pl_handle_user_remove(pl_request *r)
{
    const char *name = pl_request_param(r, 0);
    if (done(r, pl_user_remove(pl_request_daemon(r)->store, name), "the user")) {
        pl_reply_empty(r, 204);
    }
}

/* ---- groups ---- */

/* Members are "role:name" joined by spaces. */
static void view_group(pl_json_writer *w, const char *const *columns)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", columns[0]);
    set_time(w, "created", columns[1]);
    pl_json_key(w, "members");
    pl_json_begin_array(w);
    char *members = strdup(columns[2] ? columns[2] : "");
    for (char *rest = members, *one; members && (one = strtok_r(rest, " ", &rest));) {
        char *colon = strchr(one, ':');
        *colon = 0;
        pl_json_begin_object(w);
        pl_json_set_string(w, "user", colon + 1);
        pl_json_set_string(w, "role", one);
        pl_json_end_object(w);
    }
    free(members);
    pl_json_end_array(w);
    pl_limits limits;
    read_limits(columns + 3, &limits);
    put_limits(w, true, &limits);
    pl_json_end_object(w);
}

void pl_handle_groups(pl_request *r)
{
    pl_statement s = {
        "SELECT name, created, (SELECT group_concat(role || ':' || user, ' ') FROM members WHERE"
        " grp=name), " PL_LIMIT_COLUMNS " FROM user_groups WHERE name>? ORDER BY name LIMIT ?",
        {NULL},
        0};
    pl_listing_reply(r, pl_request_daemon(r)->store, &s, "", view_group);
}

void pl_handle_group_create(pl_request *r)
{
    static const char *const keys[] = {"name", "sessions", "queued", "running", "cores",
                                       "gpus", "bytes",    "share",  NULL};
    pl_limits limits = pl_limits_all(PL_LIMIT_UNSET);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    const char *name = pl_body_string(&b, "name", PL_NAME_MAX, true);
    take_limits(&b, true, &limits);
    if (pl_body_good(&b) &&
        done(r, pl_group_create(pl_request_daemon(r)->store, name, &limits), name)) {
        reply_user(r, 201, name);
        pl_reply_header(r, "Location", "/v1/groups/%s", name);
    }
    pl_body_close(&b);
}

void pl_handle_group_change(pl_request *r)
{
    static const char *const keys[] = {"sessions", "queued", "running", "cores",
                                       "gpus",     "bytes",  "share",   NULL};
    const char *name = pl_request_param(r, 0);
    pl_limits limits = pl_limits_all(PL_LIMIT_KEPT);
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    take_limits(&b, true, &limits);
    if (pl_body_good(&b) &&
        done(r, pl_group_change(pl_request_daemon(r)->store, name, &limits), "the group")) {
        reply_user(r, 200, name);
    }
    pl_body_close(&b);
}

void pl_handle_group_remove(pl_request *r)
{
    if (done(r, pl_group_remove(pl_request_daemon(r)->store, pl_request_param(r, 0)),
             "the group")) {
        pl_reply_empty(r, 204);
    }
}

void pl_handle_member_put(pl_request *r)
{
    static const char *const keys[] = {"role", NULL};
    pl_body b;
    if (!pl_body_open(r, keys, &b)) {
        return;
    }
    const char *role = pl_body_string(&b, "role", 16, true);
    bool manage = role && strcmp(role, "manage") == 0;
    if (role && !manage && strcmp(role, "view") != 0) {
        pl_body_fault(&b, "role", "wrong_value", role, "view or manage", "");
    }
    if (pl_body_good(&b) &&
        done(r,
             pl_group_member(pl_request_daemon(r)->store, pl_request_param(r, 0),
                             pl_request_param(r, 1), manage ? PL_ACCESS_MANAGE : PL_ACCESS_VIEW),
             "the group or the user")) {
        pl_reply_empty(r, 204);
    }
    pl_body_close(&b);
}

void pl_handle_member_remove(pl_request *r)
{
    if (done(r,
             pl_group_member(pl_request_daemon(r)->store, pl_request_param(r, 0),
                             pl_request_param(r, 1), PL_ACCESS_NONE),
             "the membership")) {
        pl_reply_empty(r, 204);
    }
}
