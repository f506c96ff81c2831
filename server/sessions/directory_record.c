#include "server/sessions/directory_record.h"

#include "protocol/text/json.h"
#include "protocol/scene/notes.h"
#include "protocol/log/sealed.h"
#include "server/base/logger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 1, LIMIT = 8 << 20 };

/* ---- session.json ---- */

pl_status pl_identity_write(int dir_fd, const pl_row *row, bool durable)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_string(&w, "id", row->id);
    pl_json_set_string(&w, "owner", row->owner);
    if (row->group_name) {
        pl_json_set_string(&w, "group", row->group_name);
    }
    pl_json_set_string(&w, "name", row->name);
    pl_json_set_integer(&w, "created_us", row->created_us);
    pl_json_set_raw(&w, "labels", row->labels ? row->labels : "null");
    pl_json_set_raw(&w, "metadata", row->metadata ? row->metadata : "null");
    pl_json_set_string(&w, "webhook", row->webhook);
    pl_json_set_string(&w, "webhook_status", row->webhook_status);
    pl_json_set_integer(&w, "priority", row->priority);
    pl_json_set_integer(&w, "revision", row->revision);
    pl_json_set_string(&w, "executor", row->executor);
    if (row->keep_last >= 0) {
        pl_json_key(&w, "retention");
        pl_json_begin_object(&w);
        pl_json_set_integer(&w, "last", row->keep_last);
        pl_json_set_integer(&w, "every", row->keep_every);
        pl_json_set_number(&w, "days", row->keep_days);
        pl_json_end_object(&w);
    }
    return durable ? pl_sealed_write(dir_fd, "session.json", &w, true)
                   : pl_sealed_put(dir_fd, "session.json", &w);
}

static char *copy_string(const pl_json *document, const char *key)
{
    const char *text = pl_json_string(document, key, NULL);
    return text ? strdup(text) : NULL;
}

static char *copy_labels(const pl_json *document)
{
    const pl_json *labels = pl_json_at(document, "labels");
    return pl_json_count(labels) ? pl_labels_write(labels) : NULL;
}

static char *copy_object(const pl_json *document, const char *key)
{
    const pl_json *object = pl_json_at(document, key);
    return pl_json_is_null(object) ? NULL : pl_json_dump(object, false);
}

pl_status pl_identity_read(int dir_fd, const char *id, pl_row *row)
{
    pl_json *document;
    pl_status status = pl_sealed_read(dir_fd, "session.json", LIMIT, FORMAT, &document);
    if (status != PL_OK) {
        return status;
    }
    if (strcmp(pl_json_string(document, "id", ""), id) != 0) {
        pl_json_free(document);
        errno = EBADMSG;
        return PL_IO;
    }
    row->owner = copy_string(document, "owner");
    row->group_name = copy_string(document, "group");
    row->name = copy_string(document, "name");
    row->created_us = pl_json_integer(document, "created_us", 0);
    row->labels = copy_labels(document);
    row->metadata = copy_object(document, "metadata");
    row->webhook = copy_string(document, "webhook");
    row->webhook_status = copy_string(document, "webhook_status");
    /* An earlier daemon's file lacks it; its notifications are not repeated. */
    bool told = pl_json_at(document, "webhook_status") != NULL;
    if (row->webhook && !row->webhook_status && told) {
        row->webhook_status = strdup("waiting");
    }
    row->priority = pl_json_integer(document, "priority", 0);
    row->revision = pl_json_integer(document, "revision", -1); /* -1: an older daemon's */
    row->executor = copy_string(document, "executor");
    row->keep_last = pl_json_integer(document, "retention/last", -1);
    row->keep_every = pl_json_integer(document, "retention/every", -1);
    row->keep_days = pl_json_number(document, "retention/days", 0);
    pl_json_free(document);
    return row->owner && row->name ? PL_OK : PL_NO_MEMORY;
}

/* ---- verdict.json ---- */

static pl_status write_outcome(int dir_fd, pl_session_state to, int64_t attempt,
                               const pl_move *what)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_integer(&w, "attempt", attempt);
    pl_json_set_string(&w, "state", pl_state_name(to));
    pl_json_set_string(&w, "reason", what->reason);
    pl_json_set_string(&w, "message", what->message);
    pl_json_set_raw(&w, "failure", what->failure ? what->failure : "null");
    return pl_sealed_write(dir_fd, "verdict.json", &w, true);
}

bool pl_directory_record_move(pl_sessions *t, pl_session *s, pl_session_state to,
                              const pl_move *what)
{
    /* Move first: it may be rejected, for example if a queued session was started just now. */
    if (!pl_sessions_move(t, s, to, what)) {
        return false;
    }
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t attempt = pl_sessions_recovery(t, s).attempt;
    if (dir_fd < 0 || write_outcome(dir_fd, to, attempt, what) != PL_OK) {
        pl_logf(PL_LEVEL_WARN, "session %s: verdict.json: %s", s->id, strerror(errno));
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return true;
}

pl_status pl_directory_record_read(int dir_fd, pl_row *row)
{
    pl_json *document;
    pl_status status = pl_sealed_read(dir_fd, "verdict.json", LIMIT, FORMAT, &document);
    if (status != PL_OK) {
        return status;
    }
    const pl_json *failure = pl_json_at(document, "failure");
    row->attempt = pl_json_integer(document, "attempt", row->attempt);
    row->state = copy_string(document, "state");
    row->reason = copy_string(document, "reason");
    row->message = copy_string(document, "message");
    row->failure = pl_json_is_null(failure) ? NULL : pl_json_dump(failure, false);
    pl_json_free(document);
    return row->state ? PL_OK : PL_NO_MEMORY;
}
