#include "server/api/patch.h"

#include "protocol/scene/notes_patch.h"
#include "server/base/daemon.h"
#include "server/base/disk.h"
#include "server/sessions/access.h"
#include "server/sessions/quota.h"
#include "server/sessions/retention.h"
#include "server/sessions/sessions.h"
#include "server/tenants/tenants.h"
#include "server/sessions/directory_record.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The ETag of a session's document. It names the revision of the editable members, not the progress, so it is valid for
 * If-Match but never for a cache. */
static void reply_revision(pl_request *r, int64_t revision)
{
    pl_reply_header(r, "ETag", "\"%lld\"", (long long)revision);
}

void pl_reply_session(pl_request *r, int status, pl_session *s)
{
    pl_daemon *d = pl_request_daemon(r);
    /* Read the revision first: a document newer than its tag costs a client one more read; an older one would lose a
     * change. */
    int64_t revision = s->revision;
    pl_reply_json(r, status, pl_sessions_encode(d->sessions, s, pl_request_principal(r)));
    pl_reply_header(r, "Cache-Control", "no-store");
    reply_revision(r, revision);
}

/* True if the client's version of the session is current; the caller holds its lifecycle mutex. */
static bool is_current(pl_request *r, int64_t revision)
{
    char etag[32];
    const char *wanted = pl_request_header(r, "If-Match");
    snprintf(etag, sizeof etag, "\"%lld\"", (long long)revision);
    if (!wanted || pl_etag_listed(wanted, etag, true)) {
        return true;
    }
    pl_reply_problemf(r, 412, "changed_meanwhile", "Changed meanwhile",
                      "If-Match is %.60s, and the session's ETag is %s; read it again", wanted,
                      etag);
    reply_revision(r, revision);
    return false;
}

/* Results of carry_out besides an errno: the group was removed meanwhile; the row was not stored. */
enum { GROUP_IS_GONE = -1, ROW_NOT_STORED = -2 };

/* Replies with the disk's error if a probe fails, else with a database error. */
static void reply_not_stored(pl_request *r, int error)
{
    if (error == ROW_NOT_STORED) {
        error = pl_disk_probe(pl_request_daemon(r)->disk);
    }
    if (!pl_reply_shortage(r, error)) {
        pl_reply_problemf(r, 500, "internal", "The change could not be stored",
                          "session.json, control.log or the database: %s",
                          error ? strerror(error) : "the database rejected the row");
    }
}

static void reply_refused(pl_request *r, pl_decode_outcome outcome, const pl_faults *faults)
{
    if (outcome == PL_DECODE_SYNTAX) {
        pl_reply_problem(r, 400, "bad_json", "Not JSON", "the body is not valid JSON", faults);
    } else if (outcome == PL_DECODE_INVALID) {
        pl_reply_problem(r, 422, "invalid_patch", "The session cannot be changed in this way",
                         "every fault found is listed; nothing was changed", faults);
    } else {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    }
}

/* The stores that a change is written to. */
typedef struct record {
    pl_sessions *sessions;
    pl_store *store;
    const pl_counters *counters;
} record;

/* Write session.json, then the table, which queues the database's row: the directory is authoritative. The texts of
 * *notes are exchanged with the previous ones. 0, or errno with nothing changed. */
static int keep(pl_sessions *sessions, pl_session *s, pl_notes *notes)
{
    pl_row row = pl_session_row(sessions, s);
    if (!row.id[0]) {
        return ENOMEM;
    }
    char *kept[] = {row.name, row.labels, row.metadata, row.webhook, row.group_name};
    row.name = notes->name;
    row.labels = notes->labels;
    row.metadata = notes->metadata;
    row.webhook = notes->webhook;
    row.group_name = notes->group;
    row.priority = notes->priority;
    row.keep_last = notes->keep_last;
    row.keep_every = notes->keep_every;
    row.keep_days = notes->keep_days;
    row.revision++;
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = dir_fd < 0 ? errno : 0;
    errno = ENOMEM; /* default for functions that do not set it */
    if (!error && pl_identity_write(dir_fd, &row, true) != PL_OK) {
        error = errno;
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    row.name = kept[0];
    row.labels = kept[1];
    row.metadata = kept[2];
    row.webhook = kept[3];
    row.group_name = kept[4];
    pl_row_clear(&row);
    if (error) {
        return error;
    }
    pl_sessions_annotate(sessions, s, notes);
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* True if the session's new group, already in the database too, was removed before the session joined it. Afterwards
 * the group is in use and cannot be removed. */
static bool group_is_gone(pl_store *store, const char *group)
{
    pl_statement s = {"SELECT count(*) FROM user_groups WHERE name=?", {group}, 1};
    int64_t count = 1;
    return group && pl_store_read_integer(store, &s, &count) && count == 0;
}

/* Apply the whole patch, or change nothing but the revision. Telling the worker cannot be undone, so it comes last. */
static int carry_out(const record *to, pl_session *s, const pl_row *before, const pl_notes *now,
                     pl_notes *next)
{
    pl_notes wanted = *next; /* its numbers */
    /* A failure to write another session's row meanwhile also counts; the client may retry. */
    int64_t failures = atomic_load(&to->counters->store_failures);
    int error = keep(to->sessions, s, next);
    if (error) {
        return error;
    }
    if (!pl_store_flush(to->store) || atomic_load(&to->counters->store_failures) > failures) {
        error = ROW_NOT_STORED;
    } else if (!same_text(now->group, s->group) && group_is_gone(to->store, s->group)) {
        error = GROUP_IS_GONE;
    } else {
        error = pl_retention_tell(s, now, &wanted);
    }
    if (error) { /* next has the previous texts */
        next->priority = before->priority;
        next->keep_last = before->keep_last;
        next->keep_every = before->keep_every;
        next->keep_days = before->keep_days;
        int undone = keep(to->sessions, s, next);
        pl_store_flush(to->store);
        error = undone ? undone : error;
    }
    return error;
}

/* Only the owner decides who shares a session, and only one of the owner's groups may receive it, within that group's
 * limits. */
static bool may_give(pl_request *r, pl_session *s, const pl_notes *now, const char *group,
                     pl_quota_hold *hold)
{
    pl_daemon *d = pl_request_daemon(r);
    const pl_principal *p = pl_request_principal(r);
    if (same_text(now->group, group)) {
        return true;
    }
    if (strcmp(p->user, s->owner) != 0 && !pl_principal_has(p, PL_SCOPE_ADMIN)) {
        pl_reply_problem(r, 403, "owner_only", "Not allowed",
                         "only its owner can change the group of a session", NULL);
        return false;
    }
    if (group && (!pl_principal_in(p, group) || !pl_tenants_has_group(d->tenants, group))) {
        pl_reply_problemf(r, 403, "no_such_group", "No such group",
                          "you are not a member of a group '%.64s'", group);
        return false;
    }
    return !group || pl_quota_hold_move(r, d->tenants, d->sessions, s, group, hold);
}

/* With the scope submit, users may lower the priority of their own sessions, but not raise it above other users'. */
static bool may_prefer(pl_request *r, const pl_notes *now, const pl_notes *next)
{
    return next->priority <= 0 || next->priority <= now->priority ||
           pl_principal_has(pl_request_principal(r), PL_SCOPE_ADMIN);
}

static void change(pl_request *r, pl_session *s)
{
    pl_daemon *d = pl_request_daemon(r);
    size_t length;
    const char *text = pl_request_body(r, &length);
    pl_row row = pl_session_row(d->sessions, s);
    pl_notes now = {row.name,       row.labels,    row.metadata,   row.webhook,  row.priority,
                    row.group_name, row.keep_last, row.keep_every, row.keep_days},
             next;
    record to = {d->sessions, d->store, &d->counters};
    pl_faults faults = {0};
    if (!row.id[0]) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
    } else if (is_current(r, row.revision)) {
        pl_retention_recall(s, &now);
        pl_decode_outcome outcome = pl_notes_patch(text, length, &now, &next, &faults);
        bool allowed = outcome == PL_DECODE_OK && may_prefer(r, &now, &next);
        pl_quota_hold hold = {0};
        char group[PL_NAME_MAX + 1];
        snprintf(group, sizeof group, "%s", allowed && next.group ? next.group : "");
        bool given = allowed && may_give(r, s, &now, *group ? group : NULL, &hold) &&
                     pl_retention_allows(r, s, &now, &next);
        int error = given ? carry_out(&to, s, &row, &now, &next) : 0;
        pl_quota_release(&hold);
        if (allowed && !given) {
            ; /* replied */
        } else if (outcome == PL_DECODE_OK && !allowed) {
            pl_reply_problem(r, 403, "priority_needs_admin", "Not allowed",
                             "a priority above 0 overtakes other users' sessions and needs a "
                             "credential with the scope 'admin'",
                             NULL);
        } else if (outcome != PL_DECODE_OK) {
            reply_refused(r, outcome, &faults);
        } else if (error == GROUP_IS_GONE) {
            pl_reply_problem(r, 403, "no_such_group", "No such group",
                             "the group was removed meanwhile; the session is unchanged", NULL);
            reply_revision(r, s->revision);
        } else if (error) {
            reply_not_stored(r, error);
            reply_revision(r, s->revision);
        } else {
            pl_reply_session(r, 200, s);
        }
        pl_notes_clear(&next);
    }
    pl_faults_clear(&faults);
    pl_row_clear(&row);
}

void pl_handle_patch(pl_request *r)
{
    pl_session *s = pl_request_session(r, PL_ACCESS_MANAGE);
    if (!s) {
        return;
    }
    pthread_mutex_lock(&s->lifecycle);
    change(r, s);
    pthread_mutex_unlock(&s->lifecycle);
    pl_session_release(s);
}
