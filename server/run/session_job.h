/* session_job.h - converts a session to the scheduler's wish and to a row of usage. */
#ifndef PLIANT_SERVER_RUN_SESSION_JOB_H
#define PLIANT_SERVER_RUN_SESSION_JOB_H

#include "engine/scene/output.h"
#include "server/schedule/schedule.h"
#include "server/sessions/sessions.h"
#include "server/store/usage.h"

/* The wish of a session; `after` is memory for it. Callers of this header hold the table's mutex. */
pl_job_wish pl_session_wish(pl_sessions *sessions, pl_session *session,
                            uint64_t after[PL_AFTER_MAX]);
/* True if it may share a worker with other sessions of its owner. */
bool pl_session_may_share(const pl_session *session);

/* When a running session got its current cores, ms since 1970. */
int64_t pl_session_held_since(const pl_session *session);
/* What it has held since then, until now, or until it ended while no daemon was running. */
pl_usage_span pl_session_span(const pl_session *session);

#endif
