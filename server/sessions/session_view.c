#include "server/sessions/session_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void view_links(const pl_session *s, pl_json_writer *w)
{
    static const char *const parts[] = {"topology", "frames",   "metrics", "scene",
                                        "log",      "cancel",   "pause",   "resume",
                                        "step",     "controls", "probes",  "export"};
    char link[128];
    pl_json_key(w, "links");
    pl_json_begin_object(w);
    snprintf(link, sizeof link, "/v1/sessions/%s", s->id);
    pl_json_set_string(w, "self", link);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(link, sizeof link, "/v1/sessions/%s/%s", s->id, parts[i]);
        pl_json_set_string(w, parts[i], link);
    }
    pl_json_end_object(w);
}

static void view_progress(const pl_session *s, pl_json_writer *w)
{
    pl_json_key(w, "progress");
    pl_json_begin_object(w);
    if (s->frame >= 0) {
        pl_json_set_integer(w, "frame", s->frame);
    } else {
        pl_json_set_null(w, "frame");
    }
    if (s->frames >= 0) {
        pl_json_set_integer(w, "frames", s->frames);
    } else {
        pl_json_set_null(w, "frames"); /* it runs until it is ended */
    }
    if (s->rate >= 0 && s->state == PL_STATE_RUNNING) {
        pl_json_set_number(w, "rate", s->rate);
    } else {
        pl_json_set_null(w, "rate");
    }
    pl_json_set_number(w, "time", s->time);
    pl_json_end_object(w);
}

static void view_queue(const pl_queue_place *place, pl_json_writer *w)
{
    char start[32];
    pl_json_key(w, "queue");
    pl_json_begin_object(w);
    pl_json_set_integer(w, "position", place->position);
    pl_json_set_string(w, "reason", place->reason);
    pl_json_set_string(w, "code", *place->code ? place->code : NULL);
    if (place->start >= 0) {
        pl_time_view(place->start, start);
    }
    pl_json_set_string(w, "estimated_start", place->start >= 0 ? start : NULL);
    pl_json_end_object(w);
}

/* Write each of the ids, separated by blanks. */
static void view_after(const char *ids, pl_json_writer *w)
{
    char id[33];
    pl_json_key(w, "after");
    pl_json_begin_array(w);
    for (const char *at = ids; at && *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(id, sizeof id, "%.*s", (int)n, at);
        pl_json_put_string(w, id);
        at += n;
    }
    pl_json_end_array(w);
}

static void view_resources(const pl_session *s, pl_json_writer *w)
{
    char range[48];
    snprintf(range, sizeof range, "%lld-%lld", (long long)s->cores_least, (long long)s->cores_most);
    pl_json_key(w, "resources");
    pl_json_begin_object(w);
    pl_json_set_integer(w, "cores", s->cores);
    pl_json_set_string(w, "range", s->cores_most > s->cores_least ? range : NULL);
    pl_json_set_string(w, "cpus", s->cpus);
    pl_json_set_boolean(w, "preemptible", s->preemptible);
    pl_json_set_string(w, "executor", s->executor ? s->executor : "local");
    pl_json_set_string(w, "job", s->batch_job && *s->batch_job != '?' ? s->batch_job : NULL);
    view_after(s->after, w);
    if (s->gpu) {
        pl_json_set_string(w, "gpu", s->gpu);
        pl_json_set_integer(w, "gpu_memory", (int64_t)s->gpu_memory);
    } else {
        pl_json_set_null(w, "gpu");
    }
    pl_json_set_integer(w, "memory", (int64_t)s->memory);
    if (s->time_limit > 0) {
        pl_json_set_number(w, "time_limit", s->time_limit);
    } else {
        pl_json_set_null(w, "time_limit");
    }
    pl_json_end_object(w);
}

static void view_paused(const pl_session *s, pl_json_writer *w)
{
    if (!s->paused_by) {
        pl_json_set_null(w, "paused");
        return;
    }
    pl_json_key(w, "paused");
    pl_json_begin_object(w);
    pl_json_set_string(w, "by", s->paused_by);
    pl_json_end_object(w);
}

static void view_stalled(const pl_session *s, pl_json_writer *w)
{
    char since[32];
    if (!s->stalled) {
        pl_json_set_null(w, "stalled");
        return;
    }
    pl_time_view(s->stalled_ms / 1000, since);
    pl_json_key(w, "stalled");
    pl_json_begin_object(w);
    pl_json_set_string(w, "since", since);
    pl_json_set_string(w, "why", s->stalled);
    pl_json_end_object(w);
}

/* "failed: it answers 500" as status and message. */
static void view_webhook(const pl_session *s, bool url, pl_json_writer *w)
{
    if (!s->webhook) {
        pl_json_set_null(w, "webhook");
        return;
    }
    char status[16];
    const char *text = s->webhook_status ? s->webhook_status : "";
    size_t n = strcspn(text, ":");
    snprintf(status, sizeof status, "%.*s", (int)n, text);
    pl_json_key(w, "webhook");
    pl_json_begin_object(w);
    pl_json_set_string(w, "url", url ? s->webhook : NULL);
    pl_json_set_string(w, "status", *status ? status : NULL);
    pl_json_set_string(w, "message", text[n] ? text + n + 2 : "");
    pl_json_end_object(w);
}

static void view_retention(const pl_session *s, pl_json_writer *w)
{
    pl_json_key(w, "retention");
    pl_json_begin_object(w);
    if (s->keep_last >= 0) {
        pl_json_set_integer(w, "last", s->keep_last);
        pl_json_set_integer(w, "every", s->keep_every);
    } else {
        pl_json_set_null(w, "last");
        pl_json_set_null(w, "every");
    }
    pl_json_set_number(w, "days", s->keep_days);
    pl_json_end_object(w);
}

void pl_session_view(const pl_session *s, const pl_queue_place *place, unsigned parts,
                     pl_json_writer *w)
{
    char created[32], since[32];
    pl_time_view(s->created_us / 1000000, created);
    pl_time_view(s->since_ms / 1000, since);
    pl_json_begin_object(w);
    pl_json_set_string(w, "id", s->id);
    pl_json_set_string(w, "name", s->name);
    pl_json_set_string(w, "state", pl_state_name((pl_session_state)s->state));
    pl_json_set_string(w, "reason", s->reason ? s->reason : "");
    pl_json_set_string(w, "message", s->message ? s->message : "");
    pl_json_set_string(w, "since", since);
    pl_json_set_string(w, "desired", s->desired);
    view_paused(s, w);
    view_stalled(s, w);
    pl_json_set_string(w, "created", created);
    pl_json_set_string(w, "owner", s->owner);
    pl_json_set_string(w, "group", s->group);
    pl_json_set_integer(w, "priority", s->priority);
    pl_json_set_integer(w, "revision", s->revision);
    pl_json_set_raw(w, "labels", s->labels ? s->labels : "{}");
    if (parts & PL_VIEW_METADATA) {
        pl_json_set_raw(w, "metadata", s->metadata ? s->metadata : "{}");
    }
    view_webhook(s, parts & PL_VIEW_WEBHOOK, w);
    view_retention(s, w);
    pl_json_set_integer(w, "attempt", s->attempt);
    view_progress(s, w);
    view_queue(place, w);
    view_resources(s, w);
    pl_json_set_raw(w, "failure", s->failure ? s->failure : "null");
    pl_json_set_raw(w, "warnings", s->warnings ? s->warnings : "[]");
    pl_json_set_raw(w, "bodies", s->bodies ? s->bodies : "[]");
    view_links(s, w);
    pl_json_end_object(w);
}

static void put_failure(const pl_failure *f, pl_json_writer *w)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "code", pl_failure_name(f->code));
    pl_json_set_string(w, "message", f->message);
    pl_json_set_string(w, "advice", f->advice);
    pl_json_set_known(w, "step", f->step);
    pl_json_set_known(w, "frame", f->frame);
    pl_json_set_known(w, "body", f->body);
    pl_json_set_known(w, "element", f->element);
    pl_json_set_known(w, "vertex", f->vertex);
}

char *pl_failure_view(const pl_failure *f)
{
    pl_json_writer w = {0};
    put_failure(f, &w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

char *pl_crash_view(const pl_failure *f, int64_t signal, int64_t restarts, const char *log)
{
    pl_json_writer w = {0};
    put_failure(f, &w);
    pl_json_set_known(&w, "signal", signal);
    pl_json_set_integer(&w, "restarts", restarts);
    pl_json_set_string(&w, "log", log);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

char *pl_bodies_view(const pl_preflight *p)
{
    pl_json_writer w = {0};
    pl_bodies_encode(&w, p);
    return pl_json_finish(&w, NULL);
}

char *pl_warnings_load(int dir_fd)
{
    pl_preflight report = {0};
    pl_run_totals totals;
    pl_warnings run = {0};
    pl_status start = pl_preflight_read(dir_fd, &report);
    pl_status ran = pl_run_warnings_read(dir_fd, &totals, &run);
    bool known = start != PL_NO_MEMORY && (ran == PL_OK || (ran == PL_IO && errno == ENOENT));
    char *text = known ? pl_warnings_encode(&report.warnings, &run) : NULL;
    pl_warnings_clear(&run);
    pl_preflight_clear(&report);
    return text;
}
