#include "server/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void see_number(void *context, const char *const *columns)
{
    *(int64_t *)context = columns[0] ? strtoll(columns[0], NULL, 10) : 0;
}

bool pl_grant_held(pl_store *store, const char *user, const char *hash)
{
    int64_t held = 0;
    pl_statement s = {
        "SELECT count(*) FROM meshes m WHERE m.hash=?1 AND EXISTS(SELECT 1 FROM grants g WHERE"
        " g.hash=?1 AND (g.owner=?2 OR g.owner IN (SELECT '@' || grp FROM members WHERE user=?2)))",
        {hash, user},
        2};
    return pl_store_read(store, &s, see_number, &held) && held > 0;
}

bool pl_grant_to_group(pl_store *store, const char *group, const char *hash)
{
    char now[24];
    snprintf(now, sizeof now, "%lld", (long long)time(NULL));
    pl_statement s = {"INSERT OR REPLACE INTO grants(owner, hash, created) VALUES('@' || ?, ?, ?)",
                      {group, hash, now},
                      3};
    return pl_store_change(store, &s, 1) == 1;
}

int pl_grant_drop(pl_store *store, const char *user, const char *group, const char *hash)
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
    return pl_store_read(store, &s, see_number, &bytes) ? bytes : -1;
}
