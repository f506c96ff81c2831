#include "server/tenants/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 24 * 3600, STALE_MAX = 1000 };

bool pl_grant_held(pl_store *store, const char *user, const char *hash)
{
    int64_t held = 0;
    pl_statement s = {
        "SELECT count(*) FROM meshes m WHERE m.hash=?1 AND EXISTS(SELECT 1 FROM grants g WHERE"
        " g.hash=?1 AND (g.owner=?2 OR g.owner IN (SELECT '@' || grp FROM members WHERE user=?2)))",
        {hash, user},
        2};
    return pl_store_read_integer(store, &s, &held) && held > 0;
}

bool pl_grant_add(pl_store *store, const char *owner, const char *hash, int64_t bytes,
                  const char *report)
{
    pl_store_digits now = pl_store_number(time(NULL)), size = pl_store_number(bytes);
    const pl_statement both[] = {
        {"INSERT OR REPLACE INTO meshes(hash, bytes, report, last_used) VALUES(?,?,?,?)",
         {hash, size.text, report, now.text},
         4},
        {"INSERT OR REPLACE INTO grants(owner, hash, created) SELECT ?1,?2,?3 WHERE ?1='owner'"
         " OR EXISTS(SELECT 1 FROM users WHERE name=?1)"
         " OR EXISTS(SELECT 1 FROM sessions WHERE owner=?1)",
         {owner, hash, now.text},
         3},
    };
    return pl_store_change(store, both, owner ? 2 : 1) > 0;
}

bool pl_grant_to_group(pl_store *store, const char *group, const char *hash)
{
    pl_store_digits now = pl_store_number(time(NULL));
    pl_statement s = {"INSERT OR REPLACE INTO grants(owner, hash, created) VALUES('@' || ?, ?, ?)",
                      {group, hash, now.text},
                      3};
    return pl_store_change(store, &s, 1) == 1;
}

int pl_grant_remove(pl_store *store, const char *user, const char *group, const char *hash)
{
    pl_statement s[] = {
        {"DELETE FROM grants WHERE hash=?1 AND owner=coalesce(?2, '@' || ?3)",
         {hash, user, group},
         3},
        {"UPDATE meshes SET last_used=0 WHERE hash=?1 AND NOT EXISTS"
         "(SELECT 1 FROM grants WHERE hash=?1)",
         {hash},
         1},
    };
    return pl_store_change(store, s, 2);
}

int64_t pl_grant_bytes(pl_store *store, const char *user)
{
    int64_t bytes = 0;
    pl_statement s = {"SELECT sum(m.bytes) FROM grants g JOIN meshes m ON m.hash=g.hash"
                      " WHERE g.owner=?",
                      {user},
                      1};
    return pl_store_read_integer(store, &s, &bytes) ? bytes : -1;
}

/* ---- meshes ---- */

void pl_mesh_use(pl_store *store, const char *hash)
{
    pl_store_digits now = pl_store_number(time(NULL));
    pl_store_note(
        store, &(pl_statement){"UPDATE meshes SET last_used=? WHERE hash=?", {now.text, hash}, 2});
}

typedef struct stale {
    char (*hashes)[65];
    int count;
} stale;

static void see_stale(void *context, const char *const *columns)
{
    stale *s = context;
    if (s->count < STALE_MAX && columns[0]) {
        snprintf(s->hashes[s->count++], 65, "%s", columns[0]);
    }
}

int pl_meshes_each_stale(pl_store *store, bool (*forget)(void *context, const char *hash),
                         void *context)
{
    pl_store_digits day_ago = pl_store_number(time(NULL) - DAY_S),
                    most = pl_store_number(STALE_MAX);
    pl_statement q = {
        "SELECT hash FROM meshes WHERE last_used<? LIMIT ?", {day_ago.text, most.text}, 2};
    stale s = {malloc(STALE_MAX * sizeof *s.hashes), 0};
    int gone = 0;
    if (s.hashes) {
        pl_store_read(store, &q, see_stale, &s);
    }
    for (int i = 0; i < s.count; i++) {
        gone += forget(context, s.hashes[i]);
    }
    free(s.hashes);
    return gone;
}

bool pl_mesh_forget(pl_store *store, const char *hash)
{
    pl_store_digits day_ago = pl_store_number(time(NULL) - DAY_S);
    const pl_statement both[] = {
        {"DELETE FROM meshes WHERE hash=?1 AND last_used<?2", {hash, day_ago.text}, 2},
        {"DELETE FROM grants WHERE hash=?1 AND NOT EXISTS(SELECT 1 FROM meshes WHERE hash=?1)",
         {hash},
         1},
    };
    return pl_store_change(store, both, 2) == 1;
}
