/* session_job.h - a session as the scheduler and the table of usage see it. */
#ifndef PLIANT_SERVER_RUN_SESSION_JOB_H
#define PLIANT_SERVER_RUN_SESSION_JOB_H

#include "engine/scene/output.h"
#include "server/schedule/schedule.h"
#include "server/sessions/sessions.h"
#include "server/store/usage.h"

/* What it asks for. `after` is memory for the wish. Under the table's mutex, like all here. */
pl_job_wish pl_session_wish(pl_sessions *sessions, pl_session *session,
                            uint64_t after[PL_AFTER_MAX]);
/* Whether it may run in a worker with others of its owner. */
bool pl_session_may_share(const pl_session *session);

/* Since when a running one has held the cores that it has, ms since 1970. */
int64_t pl_session_held_since(const pl_session *session);
/* What it holds, since then: until now, or until it ended while no daemon was there. */
pl_usage_span pl_session_span(const pl_session *session);

#endif
