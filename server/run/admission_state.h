/* admission_state.h - one scene on its way from a request to a session: what POST /v1/sessions, a branch
 * and POST /v1/validate share. Private to the files of admission.
 */
#ifndef PLIANT_SERVER_RUN_ADMISSION_STATE_H
#define PLIANT_SERVER_RUN_ADMISSION_STATE_H

#include "engine/scene/output.h"
#include "protocol/log/session_dir.h"
#include "protocol/scene/scene_json.h"
#include "server/http/http.h"
#include "server/run/branch.h"
#include "server/run/check_queue.h"
#include "server/run/machine.h"
#include "server/run/preflight_run.h"
#include "server/run/request_key.h"
#include "server/sessions/quota.h"
#include "server/sessions/sessions.h"

typedef struct pl_admission {
    pl_request *request;
    pl_sessions *sessions;
    pl_store *store;
    const char *state_path; /* of the state directory, */
    int state_fd;           /* which is open as this */
    pl_machine machine;     /* what the scene is held against */
    pl_counters *counters;
    pl_check_queue *checks;
    int64_t checks_most;         /* of a user, that wait */
    void (*next)(pl_request *r); /* when it has been checked */
    const char *owner;           /* the request's; not used after the reply */
    const char *group;           /* from the query; NULL: none */
    char id[33];
    char incoming[96]; /* "incoming/ID", later where it was moved to */
    int64_t created_us;
    bool staged;      /* the directory is there */
    bool preview;     /* the check writes preview.json, too */
    const char *text; /* the scene: the body, or a branch's */
    size_t length;
    const pl_branch *branch; /* NULL: none; not used after its directory is made, as `text` */
    pl_outline outline;
    const char *executor; /* batch system to run the session; NULL: this machine */
    char after[PL_AFTER_MAX * PL_SESSION_ID_MAX]; /* of the outline, with blanks between */
    pl_faults faults;
    pl_preflight preflight;
    pl_check_ticket ticket;
    pl_request_key key;
    pl_quota_hold hold;
} pl_admission;

/* Of the request's body, with the parts of the request's daemon; NULL after a reply. */
pl_admission *pl_admission_create(pl_request *r);
void pl_admission_destroy(pl_admission *a);
/* The session's row as far as it is known before the check; the texts are the admission's. */
pl_row pl_admission_row(const pl_admission *a);

/* Each replies and returns false. */
bool pl_admission_reject(pl_admission *a);                 /* 422 with the faults */
bool pl_admission_fail(pl_admission *a, const char *what); /* by errno: 507, else 500 */

/* Whether its user may have another check; false after a reply. */
bool pl_admission_may_check(pl_admission *a);
/* Have the staged directory checked, when the handler has returned: `next` is then run as the request's handler, at
 * until_ms at the latest, and finds this admission and in its ticket what was found. */
void pl_admission_check(pl_admission *a, int64_t until_ms, void (*next)(pl_request *r));
pl_admission *pl_admission_of(pl_request *r);
/* The check has ended: true where the scene is accepted, else replied. */
bool pl_admission_accepts(pl_admission *a);

#endif
