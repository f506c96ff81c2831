#include "server/api/mesh_list.h"

#include "protocol/text/json.h"
#include "server/base/daemon.h"
#include "server/base/disk.h"
#include "server/sessions/access.h"
#include "server/tenants/grants.h"
#include "server/store/listing.h"
#include "server/base/clock.h"
#include "server/sessions/session_view.h"
#include "server/http/shortage.h"

#include <stdlib.h>
#include <string.h>

static void set_time(pl_json_writer *w, const char *key, const char *seconds)
{
    char text[32];
    pl_time_view(seconds ? strtoll(seconds, NULL, 10) : 0, text);
    pl_json_set_string(w, key, text);
}

/* Members from the upload's report that a list shows; a PUT of the same file returns the whole report. */
static void set_counts(pl_json_writer *w, const char *report)
{
    static const char *const counts[] = {"vertices", "tets", "triangles", "edges"};
    pl_json *json = report ? pl_json_parse(report, strlen(report), NULL) : NULL;
    pl_json_set_string(w, "format", pl_json_string(json, "format", ""));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t n = pl_json_integer(json, counts[i], -1);
        if (n >= 0) {
            pl_json_set_integer(w, counts[i], n);
        } else {
            pl_json_set_null(w, counts[i]);
        }
    }
    pl_json_free(json);
}

/* Holders are "NAME" or "@GROUP", joined by commas: the caller, and the caller's groups. */
static void set_holders(pl_json_writer *w, const char *holders)
{
    char *text = strdup(holders ? holders : ""), *rest = text;
    bool own = false;
    pl_json_key(w, "groups");
    pl_json_begin_array(w);
    for (char *one; text && (one = strtok_r(rest, ",", &rest));) {
        if (*one == '@') {
            pl_json_put_string(w, one + 1);
        } else {
            own = true;
        }
    }
    pl_json_end_array(w);
    pl_json_set_boolean(w, "yours", own);
    free(text);
}

static void view_mesh(pl_json_writer *w, const char *const *columns)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "hash", columns[0]);
    pl_json_set_integer(w, "bytes", columns[1] ? strtoll(columns[1], NULL, 10) : 0);
    set_counts(w, columns[2]);
    set_time(w, "uploaded", columns[3]);
    set_time(w, "last_used", columns[4]);
    set_holders(w, columns[5]);
    pl_json_end_object(w);
}

void pl_handle_meshes(pl_request *r)
{
    pl_statement s = {
        "SELECT g.hash, m.bytes, m.report, max(g.created), m.last_used, group_concat(g.owner)"
        " FROM grants g JOIN meshes m ON m.hash=g.hash WHERE (g.owner=?1 OR g.owner IN"
        " (SELECT '@' || grp FROM members WHERE user=?1)) AND g.hash>?2"
        " GROUP BY g.hash ORDER BY g.hash LIMIT ?3",
        {pl_request_owner(r)},
        1};
    pl_listing_reply(r, pl_request_daemon(r)->store, &s, "", view_mesh);
}

/* ---- releasing ---- */

/* Managers of a group may release a mesh for the whole group. */
static bool may_manage(pl_request *r, const char *group)
{
    const pl_principal *p = pl_request_principal(r);
    bool may = pl_principal_has(p, PL_SCOPE_ADMIN);
    for (int i = 0; i < p->group_count; i++) {
        may |= strcmp(p->groups[i].group, group) == 0 && p->groups[i].access >= PL_ACCESS_MANAGE;
    }
    if (!may) {
        pl_reply_problem(r, 403, "view_only", "View only",
                         "the mesh belongs to the group: its managers can release it", NULL);
    }
    return may;
}

void pl_handle_mesh_delete(pl_request *r)
{
    const char *group;
    if (!pl_request_group(r, &group) || (group && !may_manage(r, group))) {
        return;
    }
    int dropped = pl_grant_remove(pl_request_daemon(r)->store, group ? NULL : pl_request_owner(r),
                                  group, pl_request_param(r, 0));
    if (dropped > 0) {
        pl_reply_empty(r, 204);
    } else if (dropped == 0) {
        pl_reply_problem(r, 404, "no_such_mesh", "No such mesh",
                         group ? "the group has no file with this hash"
                               : "you have not uploaded a file with this hash; release a group's "
                                 "mesh with ?group=NAME",
                         NULL);
    } else if (!pl_reply_shortage(r, pl_disk_error(pl_request_daemon(r)->disk))) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the database rejected the change",
                         NULL);
    }
}
