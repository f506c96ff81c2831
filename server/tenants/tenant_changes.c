#include "server/tenants/tenant_changes.h"

#include "protocol/text/sha256.h"
#include "server/store/row.h"
#include "server/tenants/auth.h"
#include "server/tenants/tenants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *pl_change_text(pl_change_outcome outcome)
{
    static const char *const texts[] = {
        "done",
        "a name has at most 64 letters, digits, '.', '_' and '-', and begins with a letter or "
        "digit; 'owner' is reserved for the daemon",
        "the name already exists",
        "the name does not exist",
        "it has sessions or sweeps: delete them first",
        "the maximum number is reached",
        "the database failed; the log says why",
    };
    return texts[outcome];
}

/* A count from the database; -1 on failure. */
static int64_t count(pl_store *store, const char *sql, const char *value)
{
    int64_t n = -1;
    pl_statement s = {sql, {value}, value ? 1 : 0};
    return pl_store_read_integer(store, &s, &n) ? n : -1;
}

static bool is_user(pl_store *store, const char *name)
{
    return strcmp(name, PL_DEFAULT_OWNER) == 0 ||
           count(store, "SELECT count(*) FROM users WHERE name=?", name) > 0;
}

/* The outcome of a statement that must change exactly one row. */
static pl_change_outcome outcome(int changed, pl_change_outcome otherwise)
{
    return changed < 0 ? PL_CHANGE_BROKEN : changed == 0 ? otherwise : PL_CHANGE_DONE;
}

/* ---- users ---- */

/* A limit's text, stored in *d; NULL for an unset limit. */
static const char *limit_text(int64_t value, pl_store_digits *d)
{
    *d = pl_store_number(value);
    return value < 0 ? NULL : d->text;
}

pl_change_outcome pl_user_create(pl_store *store, const char *name, int64_t uid,
                                 const pl_limits *limits)
{
    if (!pl_name_well_formed(name) || strcmp(name, PL_DEFAULT_OWNER) == 0) {
        return PL_CHANGE_INVALID;
    }
    if (count(store, "SELECT count(*) FROM users", NULL) >= PL_USERS_MAX) {
        return PL_CHANGE_TOO_MANY;
    }
    pl_store_digits now = pl_store_number(time(NULL)), id, d[PL_LIMIT_COUNT];
    pl_statement s = {"INSERT OR IGNORE INTO users(name, created, uid, " PL_LIMIT_COLUMNS
                      ") VALUES(?,?,?," PL_LIMIT_PLACES ")",
                      {name, now.text, limit_text(uid, &id)},
                      3 + PL_LIMIT_COUNT};
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        s.values[3 + i] = limit_text(limits->value[i], &d[i]);
    }
    return outcome(pl_store_change(store, &s, 1), PL_CHANGE_EXISTS);
}

/* The statement that sets one limit of a user or a group; a constant text. */
#define SET_LIMIT(table, limit) "UPDATE " table " SET " limit "=?2 WHERE name=?1"
#define SET_LIMITS(table)                                                                          \
    {                                                                                              \
        SET_LIMIT(table, "sessions"), SET_LIMIT(table, "queued"), SET_LIMIT(table, "cores"),       \
            SET_LIMIT(table, "bytes"), SET_LIMIT(table, "mesh_bytes"),                             \
            SET_LIMIT(table, "requests"), SET_LIMIT(table, "running"), SET_LIMIT(table, "gpus"),   \
            SET_LIMIT(table, "share"),                                                             \
    }
static const char *const set_user[PL_LIMIT_COUNT] = SET_LIMITS("users");
static const char *const set_group[PL_LIMIT_COUNT] = SET_LIMITS("user_groups");

/* Append statements after the first `n`; returns their new number. Digits hold their texts. */
static int set_limits(pl_statement *all, int n, const char *const sql[PL_LIMIT_COUNT],
                      const char *name, const pl_limits *limits, pl_store_digits *digits)
{
    for (int i = 0; limits && i < PL_LIMIT_COUNT; i++) {
        if (limits->value[i] != PL_LIMIT_KEPT) {
            all[n++] = (pl_statement){sql[i], {name, limit_text(limits->value[i], &digits[i])}, 2};
        }
    }
    return n;
}

pl_change_outcome pl_user_change(pl_store *store, const char *name, const pl_user_edit *edit)
{
    pl_statement all[PL_LIMIT_COUNT + 3] = {{"UPDATE users SET name=name WHERE name=?", {name}, 1}};
    pl_store_digits id, d[PL_LIMIT_COUNT];
    int n = 1;
    if (edit->disabled) {
        all[n++] = (pl_statement){
            "UPDATE users SET disabled=?2 WHERE name=?1", {name, *edit->disabled ? "1" : "0"}, 2};
    }
    if (edit->uid) {
        all[n++] = (pl_statement){
            "UPDATE users SET uid=?2 WHERE name=?1", {name, limit_text(*edit->uid, &id)}, 2};
    }
    n = set_limits(all, n, set_user, name, edit->limits, d);
    return outcome(pl_store_change(store, all, n), PL_CHANGE_MISSING);
}

/* A removed user's usage stays, under a name that nobody can have or has had: it contains milliseconds. */
#define REMOVED_NOW " || ' (removed ' || strftime('%Y-%m-%d %H:%M:%f') || ')'"

pl_change_outcome pl_user_remove(pl_store *store, const char *name)
{
    if (count(store, "SELECT count(*) FROM sessions WHERE owner=?", name) > 0 ||
        count(store, "SELECT count(*) FROM sweeps WHERE owner=?", name) > 0) {
        return PL_CHANGE_IN_USE;
    }
    /* Checked again, because a session may have been created meanwhile; pl_store_create does the reverse check.
     * Everything else is removed with the user, so that a later user of the same name inherits nothing. */
#define WHO_IS_GONE "=?1 AND ?1 IS NOT 'owner' AND NOT EXISTS(SELECT 1 FROM users WHERE name=?1)"
    const pl_statement all[] = {
        {"DELETE FROM users WHERE name=?1 AND NOT EXISTS(SELECT 1 FROM sessions WHERE owner=?1)"
         " AND NOT EXISTS(SELECT 1 FROM sweeps WHERE owner=?1)",
         {name},
         1},
        {"DELETE FROM members WHERE user" WHO_IS_GONE, {name}, 1},
        {"DELETE FROM tokens WHERE user" WHO_IS_GONE, {name}, 1},
        {"DELETE FROM grants WHERE owner" WHO_IS_GONE, {name}, 1},
        {"DELETE FROM keys WHERE owner" WHO_IS_GONE, {name}, 1},
        {"UPDATE usage_days SET user=user" REMOVED_NOW " WHERE user" WHO_IS_GONE, {name}, 1},
        {"UPDATE usage_spans SET user=user" REMOVED_NOW " WHERE user" WHO_IS_GONE, {name}, 1},
    };
#undef WHO_IS_GONE
    int changed = pl_store_change(store, all, sizeof all / sizeof *all);
    bool there = changed == 0 && count(store, "SELECT count(*) FROM users WHERE name=?", name) > 0;
    return outcome(changed, there ? PL_CHANGE_IN_USE : PL_CHANGE_MISSING);
}

/* ---- groups ---- */

pl_change_outcome pl_group_create(pl_store *store, const char *name, const pl_limits *limits)
{
    if (!pl_name_well_formed(name)) {
        return PL_CHANGE_INVALID;
    }
    if (count(store, "SELECT count(*) FROM user_groups", NULL) >= PL_USERS_MAX) {
        return PL_CHANGE_TOO_MANY;
    }
    pl_store_digits now = pl_store_number(time(NULL)), d[PL_LIMIT_COUNT];
    pl_statement s = {"INSERT OR IGNORE INTO user_groups(name, created, " PL_LIMIT_COLUMNS
                      ") VALUES(?,?," PL_LIMIT_PLACES ")",
                      {name, now.text},
                      2 + PL_LIMIT_COUNT};
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        s.values[2 + i] = limit_text(limits->value[i], &d[i]);
    }
    return outcome(pl_store_change(store, &s, 1), PL_CHANGE_EXISTS);
}

pl_change_outcome pl_group_change(pl_store *store, const char *name, const pl_limits *limits)
{
    pl_statement all[PL_LIMIT_COUNT + 1] = {
        {"UPDATE user_groups SET name=name WHERE name=?", {name}, 1}};
    pl_store_digits d[PL_LIMIT_COUNT];
    int n = set_limits(all, 1, set_group, name, limits, d);
    return outcome(pl_store_change(store, all, n), PL_CHANGE_MISSING);
}

pl_change_outcome pl_group_remove(pl_store *store, const char *name)
{
    if (count(store, "SELECT count(*) FROM sessions WHERE group_name=?", name) > 0 ||
        count(store, "SELECT count(*) FROM sweeps WHERE grp=?", name) > 0) {
        return PL_CHANGE_IN_USE;
    }
    const pl_statement all[] = {
        {"DELETE FROM user_groups WHERE name=?1 AND NOT EXISTS"
         "(SELECT 1 FROM sessions WHERE group_name=?1) AND NOT EXISTS"
         "(SELECT 1 FROM sweeps WHERE grp=?1)",
         {name},
         1},
        {"DELETE FROM members WHERE grp=?1 AND NOT EXISTS"
         "(SELECT 1 FROM user_groups WHERE name=?1)",
         {name},
         1},
        {"DELETE FROM grants WHERE owner='@' || ?1 AND NOT EXISTS"
         "(SELECT 1 FROM user_groups WHERE name=?1)",
         {name},
         1},
        {"UPDATE usage_days SET grp=grp" REMOVED_NOW " WHERE grp=?1 AND NOT EXISTS"
         "(SELECT 1 FROM user_groups WHERE name=?1)",
         {name},
         1},
        {"UPDATE usage_spans SET grp=grp" REMOVED_NOW " WHERE grp=?1 AND NOT EXISTS"
         "(SELECT 1 FROM user_groups WHERE name=?1)",
         {name},
         1},
    };
    int changed = pl_store_change(store, all, sizeof all / sizeof *all);
    bool there = changed == 0 &&
                 count(store, "SELECT count(*) FROM user_groups WHERE name=?", name) > 0;
    return outcome(changed, there ? PL_CHANGE_IN_USE : PL_CHANGE_MISSING);
}

pl_change_outcome pl_group_member(pl_store *store, const char *group, const char *user,
                                  pl_access access)
{
    if (access == PL_ACCESS_NONE) {
        pl_statement s = {"DELETE FROM members WHERE grp=? AND user=?", {group, user}, 2};
        return outcome(pl_store_change(store, &s, 1), PL_CHANGE_MISSING);
    }
    if (count(store, "SELECT count(*) FROM members WHERE user=?", user) >= PL_GROUPS_OF_USER_MAX) {
        return PL_CHANGE_TOO_MANY;
    }
    pl_statement s = {"INSERT OR REPLACE INTO members(grp, user, role) SELECT g.name, u.name, ?3"
                      " FROM user_groups g, users u WHERE g.name=?1 AND u.name=?2",
                      {group, user, access == PL_ACCESS_MANAGE ? "manage" : "view"},
                      3};
    return outcome(pl_store_change(store, &s, 1), PL_CHANGE_MISSING);
}

/* ---- tokens ---- */

pl_change_outcome pl_token_create(pl_store *store, const pl_token_request *what, pl_token_made *out)
{
    char hash[65], scopes[64], halves[2][33];
    if (!is_user(store, what->user)) {
        return PL_CHANGE_MISSING;
    }
    if (strlen(what->name) > PL_NAME_MAX) {
        return PL_CHANGE_INVALID;
    }
    static const char of_user[] = "SELECT count(*) FROM tokens WHERE user=?";
    if (count(store, of_user, what->user) >= PL_TOKENS_OF_USER_MAX) {
        pl_tokens_sweep(store); /* expired tokens do not count */
        if (count(store, of_user, what->user) >= PL_TOKENS_OF_USER_MAX) {
            return PL_CHANGE_TOO_MANY;
        }
    }
    if (pl_random_id(out->id) != 0 || pl_random_id(halves[0]) != 0 ||
        pl_random_id(halves[1]) != 0) {
        return PL_CHANGE_BROKEN;
    }
    snprintf(out->secret, sizeof out->secret, "plt_%s%s", halves[0], halves[1]);
    pl_sha256_hex(out->secret, strlen(out->secret), hash);
    pl_scopes_write(what->scopes, scopes);
    pl_store_digits now = pl_store_number(time(NULL)), expires = pl_store_number(what->expires);
    pl_statement s = {"INSERT INTO tokens(id, hash, kind, user, name, scopes, session, parent,"
                      " created, expires) SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10 WHERE ?4='owner'"
                      " OR EXISTS(SELECT 1 FROM users WHERE name=?4)",
                      {out->id, hash, what->kind, what->user, what->name, scopes,
                       what->session ? what->session : "", what->parent, now.text, expires.text},
                      10};
    return outcome(pl_store_change(store, &s, 1), PL_CHANGE_MISSING);
}

pl_change_outcome pl_token_revoke(pl_store *store, const char *id, const char *user)
{
    pl_statement s = {"WITH RECURSIVE below(id) AS (SELECT id FROM tokens WHERE id=?1"
                      " AND (?2 IS NULL OR user=?2) UNION SELECT t.id FROM tokens t"
                      " JOIN below ON t.parent=below.id)"
                      " DELETE FROM tokens WHERE id IN (SELECT id FROM below)",
                      {id, user},
                      2};
    return outcome(pl_store_change(store, &s, 1), PL_CHANGE_MISSING);
}

void pl_tokens_sweep(pl_store *store)
{
    pl_store_digits now = pl_store_number(time(NULL));
    pl_statement s = {"DELETE FROM tokens WHERE expires>0 AND expires<=?", {now.text}, 1};
    pl_store_change(store, &s, 1);
}
