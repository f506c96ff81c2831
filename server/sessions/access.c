#include "server/sessions/access.h"

#include "server/base/daemon.h"
#include "server/tenants/tenants.h"

pl_session *pl_request_session(pl_request *r, pl_access needed)
{
    pl_access access;
    pl_session *s = pl_sessions_find(pl_request_daemon(r)->sessions, pl_request_principal(r),
                                     pl_request_param(r, 0), &access);
    if (!s) {
        pl_reply_problem(r, 404, "no_such_session", "No such session",
                         "no session that you can see has this id", NULL);
    } else if (access < needed) {
        pl_session_release(s);
        s = NULL;
        pl_reply_problem(r, 403, "view_only", "View only",
                         "this session belongs to another user: you can view it, but not change it",
                         NULL);
    }
    return s;
}

bool pl_request_group(pl_request *r, const char **out)
{
    const char *group = *out = pl_request_query(r, "group");
    if (!group || (pl_principal_in(pl_request_principal(r), group) &&
                   pl_tenants_has_group(pl_request_daemon(r)->tenants, group))) {
        return true;
    }
    pl_reply_problemf(r, 403, "no_such_group", "No such group",
                      "you are not a member of a group '%.64s'", group);
    return false;
}

void pl_reply_session_over(pl_request *r, const pl_session *s, const char *verb)
{
    pl_session_state state = (pl_session_state)atomic_load(&s->state);
    if (pl_state_terminal(state)) {
        pl_reply_problemf(r, 409, "session_over", "The session has ended",
                          "it is %s: only a session that has not ended can be %s",
                          pl_state_name(state), verb);
    } else {
        pl_reply_problemf(r, 409, "session_ending", "The session is ending",
                          "it is being cancelled or deleted and cannot be %s", verb);
    }
}
