/* admission_state.h - a scene on its way from a request to a session: shared by POST /v1/sessions, a branch and POST
 * /v1/validate. Private to the files of admission.
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
    const char *state_path; /* of the state directory */
    int state_fd;           /* its open descriptor */
    pl_machine machine;     /* the scene is checked against it */
    pl_counters *counters;
    pl_check_queue *checks;
    int64_t checks_most;         /* waiting checks of a user */
    void (*next)(pl_request *r); /* called when it has been checked */
    const char *owner;           /* the request's; not used after the reply */
    const char *group;           /* from the query; NULL: none */
    char id[33];
    char incoming[96]; /* "incoming/ID", later the path that it was moved to */
    int64_t created_us;
    bool staged;      /* the directory is there */
    bool preview;     /* the check also writes preview.json */
    const char *text; /* the scene: the body, or a branch's */
    size_t length;
    const pl_branch *branch; /* NULL: none; like `text`, not used after its directory is made */
    pl_outline outline;
    const char *executor; /* batch system to run the session; NULL: this machine */
    char after[PL_AFTER_MAX * PL_SESSION_ID_MAX]; /* of the outline, separated by blanks */
    pl_faults faults;
    pl_preflight preflight;
    pl_check_ticket ticket;
    pl_request_key key;
    pl_quota_hold hold;
} pl_admission;

/* For the request's body, with the parts of the request's daemon; NULL after a reply. */
pl_admission *pl_admission_create(pl_request *r);
void pl_admission_destroy(pl_admission *a);
/* The session's row as far as known before the check; the texts are the admission's. */
pl_row pl_admission_row(const pl_admission *a);

/* Each replies and returns false. */
bool pl_admission_reject(pl_admission *a);                 /* 422 with the faults */
bool pl_admission_fail(pl_admission *a, const char *what); /* by errno: 507, else 500 */

/* True if its user may have another check; false after a reply. */
bool pl_admission_may_check(pl_admission *a);
/* Check the staged directory after the handler has returned. Then `next` runs as the request's handler, at until_ms at
 * the latest; it finds this admission, and the result in its ticket. */
void pl_admission_check(pl_admission *a, int64_t until_ms, void (*next)(pl_request *r));
pl_admission *pl_admission_of(pl_request *r);
/* The check has ended: true if the scene is accepted, else after a reply. */
bool pl_admission_accepts(pl_admission *a);

#endif
