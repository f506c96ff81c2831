/* session_view.h - a session as the API's JSON document. */
#ifndef PLIANT_SERVER_SESSIONS_SESSION_VIEW_H
#define PLIANT_SERVER_SESSIONS_SESSION_VIEW_H

#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "server/sessions/session.h"

/* Optional parts of the document. */
typedef enum pl_view_part {
    PL_VIEW_METADATA = 1, /* not in lists and events */
    PL_VIEW_WEBHOOK =
        2, /* its URL, which may hold a secret: for those who may manage the session */
} pl_view_part;

/* Append the object with these parts; the caller holds the table's mutex. */
void pl_session_view(const pl_session *session, const pl_queue_place *place, unsigned parts,
                     pl_json_writer *w);

/* "failure" of a session, from the worker's report. malloc'ed. */
char *pl_failure_view(const pl_failure *failure);
/* The same for a worker that ended without a report: with its signal (-1: unknown), the number of restarts, and the
 * tail of worker.log (may be NULL). malloc'ed. */
char *pl_crash_view(const pl_failure *failure, int64_t signal, int64_t restarts, const char *log);
/* "bodies" of a session, from its preflight. malloc'ed. */
char *pl_bodies_view(const pl_preflight *preflight);
/* "warnings" of a session, from its directory. malloc'ed; NULL if out of memory, or if warnings.json is damaged. */
char *pl_warnings_load(int dir_fd);

#endif
