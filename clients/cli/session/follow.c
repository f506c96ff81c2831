#include "clients/cli/session/follow.h"

#include "clients/cli/base/progress.h"

#include "protocol/text/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GIVE_UP_AFTER 120.0 /* s without a connection */

typedef struct follower {
    pl_cli *cli;
    const char *id;
    bool lines; /* print metrics on standard output as they arrive */
    pl_progress progress;
    int64_t next; /* frame */
    char *line;   /* the beginning of an incomplete line */
    size_t length;
    bool ended, no_memory;
    bool waits; /* it was printed that the session is paused or waits */
    char reason[32];
} follower;

static bool state_in(const char *state, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(state, *list) == 0)
            return true;
    return false;
}

static bool is_over(const char *state)
{
    return state_in(state, (const char *const[]){"succeeded", "failed", "rejected", "cancelled",
                                                 "deleted", NULL});
}

static bool is_waiting(const char *state)
{
    return state_in(state, (const char *const[]){"checking", "queued", NULL});
}

/* ---- one line of the stream ---- */

/* A heartbeat gives the session's state. */
static void take_state(follower *f, const pl_json *event)
{
    const char *state = pl_json_string(event, "state", "");
    const char *message = pl_json_string(event, "message", "");
    bool paused = strcmp(state, "paused") == 0, waits = paused || strcmp(state, "queued") == 0;
    if (f->lines || waits == f->waits)
        return;
    f->waits = waits;
    pl_terminal_finish(&f->cli->err);
    if (paused)
        fprintf(stderr, "paused after frame %" PRId64 "; pliant resume %.8s continues it\n",
                f->next - 1, f->id);
    else if (waits)
        fprintf(stderr, "waiting to continue after frame %" PRId64 "%s%s\n", f->next - 1,
                *message ? ": " : "", message);
    else
        fprintf(stderr, "continues\n");
}

static void take_event(follower *f, const pl_json *event, const char *name)
{
    if (strcmp(name, "heartbeat") == 0)
        take_state(f, event);
    if (strcmp(name, "gap") == 0 && !f->lines) {
        pl_terminal_finish(&f->cli->err);
        char *text = pl_json_dump(event, false);
        pl_cli_fail(f->cli, 0, "frames are missing: %s", text ? text : "");
        free(text);
    }
    if (strcmp(name, "end") != 0)
        return;
    snprintf(f->reason, sizeof f->reason, "%s", pl_json_string(event, "reason", ""));
    f->ended = strcmp(f->reason, "shutdown") != 0 && strcmp(f->reason, "limit") != 0;
}

static void take_line(follower *f, const char *line, size_t length)
{
    pl_json *value = pl_json_parse(line, length, NULL);
    const char *event = pl_json_string(value, "event", NULL);
    bool quiet = event && strcmp(event, "end") != 0 && strcmp(event, "gap") != 0;
    if (f->lines && !quiet) {
        printf("%.*s\n", (int)length, line);
        fflush(stdout);
    }
    pl_metrics_digest digest;
    if (event) {
        take_event(f, value, event);
    } else if (value && pl_metrics_digest_decode(line, length, &digest) == 0 &&
               digest.frame >= f->next) {
        f->next = digest.frame + 1;
        pl_progress_note(&f->progress, &digest);
        if (!f->lines)
            pl_progress_show(&f->progress, &f->cli->err);
    }
    pl_json_free(value);
}

static bool on_bytes(void *context, const char *data, size_t size)
{
    follower *f = context;
    const char *end;
    while ((end = memchr(data, '\n', size))) {
        size_t part = (size_t)(end - data);
        if (f->length == 0) {
            take_line(f, data, part);
        } else {
            char *grown = realloc(f->line, f->length + part);
            if (!grown)
                return !(f->no_memory = true);
            f->line = grown;
            memcpy(grown + f->length, data, part);
            take_line(f, grown, f->length + part);
            f->length = 0;
        }
        data += part + 1;
        size -= part + 1;
    }
    if (size > 0) {
        char *grown = realloc(f->line, f->length + size);
        if (!grown)
            return !(f->no_memory = true);
        f->line = grown;
        memcpy(grown + f->length, data, size);
        f->length += size;
    }
    return true;
}

/* ---- the session before and after the stream ---- */

static int get_session(pl_cli *cli, const char *id, pl_json **out)
{
    char *path = pl_api_path("/v1/sessions/%s", id);
    int status = pl_api_get(cli, path, out);
    free(path);
    return status;
}

static void report_waiting(follower *f, const pl_json *session, char last[160])
{
    char text[160];
    const char *state = pl_json_string(session, "state", "");
    const char *reason = pl_json_string(session, "queue/reason", "");
    int64_t position = pl_json_integer(session, "queue/position", 0);
    int length = snprintf(text, sizeof text, "%s", state);
    if (position > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, ", place %" PRId64,
                           position);
    if (*reason && length < (int)sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, ": %s", reason);
    if (f->cli->json || strcmp(text, last) == 0)
        return;
    strcpy(last, text);
    if (f->cli->err.tty)
        pl_terminal_update(&f->cli->err, text);
    else
        fprintf(stderr, "%s\n", text);
}

/* Poll until the session runs or has ended; intervals grow, so that the wait is short for short sessions and polls are
 * few for long queues. */
static int wait_for_start(follower *f, int64_t *frames)
{
    char last[160] = "";
    for (double wait = 0.03; !pl_interrupted(); wait = wait < 0.7 ? 1.5 * wait : 1) {
        pl_json *session = NULL;
        int status = get_session(f->cli, f->id, &session);
        if (status != PL_EXIT_OK)
            return status;
        bool waiting = is_waiting(pl_json_string(session, "state", ""));
        *frames = pl_json_integer(session, "progress/frames", 0);
        if (waiting && wait > 0.04) /* not for a session that starts at once */
            report_waiting(f, session, last);
        pl_json_free(session);
        if (!waiting)
            return PL_EXIT_OK;
        pl_interruptible_sleep(wait);
    }
    return PL_EXIT_INTERRUPTED;
}

static void report_failure(pl_cli *cli, const pl_json *session)
{
    static const char *const numbers[] = {"step", "frame", "body", "element", "vertex"};
    const pl_json *failure = pl_json_at(session, "failure");
    const char *code = pl_json_string(failure, "code", NULL);
    const char *message = pl_json_string(failure, "message",
                                         pl_json_string(session, "message", ""));
    const char *advice = pl_json_string(failure, "advice", "");
    fprintf(stderr, "  %s%s%s", pl_style_on(&cli->err, PL_STYLE_RED), code ? code : "",
            pl_style_off(&cli->err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t value = pl_json_integer(failure, numbers[i], -1);
        if (value >= 0)
            fprintf(stderr, "  %s %" PRId64,
                    strcmp(numbers[i], "frame") == 0 ? "last good frame" : numbers[i], value);
    }
    fputc('\n', stderr);
    if (*message)
        fprintf(stderr, "  %s\n", message);
    if (*advice)
        fprintf(stderr, "  %s\n", advice);
}

/* Print a rejected session's faults, as in a problem report. */
static void report_faults(pl_cli *cli, const pl_json *session)
{
    pl_faults faults = {0};
    pl_faults_decode(pl_json_at(session, "failure/faults"), 0, &faults);
    pl_cli_print_faults(cli, &faults);
    pl_faults_clear(&faults);
}

int pl_follow_outcome(pl_cli *cli, const pl_json *session)
{
    const char *state = pl_json_string(session, "state", "");
    const pl_json *warnings = pl_json_at(session, "warnings");
    bool warned = pl_json_count(warnings) > 0, good = strcmp(state, "succeeded") == 0;
    pl_style style = !good ? PL_STYLE_RED : warned ? PL_STYLE_YELLOW : PL_STYLE_GREEN;
    if (!cli->json) {
        fprintf(stderr, "%s%s%s  frame %" PRId64 " of %" PRId64 ", %.6g s simulated\n",
                pl_style_on(&cli->err, style), state, pl_style_off(&cli->err),
                pl_json_integer(session, "progress/frame", 0),
                pl_json_integer(session, "progress/frames", 0),
                pl_json_number(session, "progress/time", 0));
        if (strcmp(state, "failed") == 0)
            report_failure(cli, session);
        if (strcmp(state, "rejected") == 0)
            report_faults(cli, session);
    }
    pl_cli_warn_of(cli, warnings);
    if (good && warned && pl_cli_flag(cli, "--strict"))
        return PL_EXIT_FAILED;
    return good ? PL_EXIT_OK : strcmp(state, "cancelled") == 0 ? PL_EXIT_CANCELLED : PL_EXIT_FAILED;
}

/* ---- the stream ---- */

/* Use one connection; PL_EXIT_OK if it ended in a way that allows another one. */
static int stream_once(follower *f, bool *reached)
{
    char *path = NULL;
    if ((f->next > 0
             ? asprintf(&path, "/v1/sessions/%s/metrics?from=%" PRId64 "&follow=1", f->id, f->next)
             : asprintf(&path, "/v1/sessions/%s/metrics?follow=1", f->id)) < 0)
        return pl_cli_fail(f->cli, PL_EXIT_FAILED, "out of memory");
    pl_http_answer answer;
    f->length = 0;
    pl_http_outcome outcome = pl_api_stream(f->cli, path, "application/x-ndjson", on_bytes, f,
                                            &answer);
    free(path);
    int status = PL_EXIT_OK;
    *reached = outcome != PL_HTTP_UNREACHABLE;
    if (outcome == PL_HTTP_INTERRUPTED || pl_interrupted()) {
        status = PL_EXIT_INTERRUPTED;
    } else if (f->no_memory || outcome == PL_HTTP_NO_MEMORY) {
        status = pl_cli_fail(f->cli, PL_EXIT_FAILED, "out of memory");
    } else if (outcome == PL_HTTP_ANSWERED && answer.status == 503) {
        *reached = false; /* the daemon is starting or stopping */
    } else if (outcome == PL_HTTP_ANSWERED && answer.status >= 300) {
        pl_terminal_finish(&f->cli->err);
        status = pl_api_failed(f->cli, outcome, &answer);
    }
    pl_http_answer_clear(&answer);
    return status;
}

/* True if the session has ended, when a stream ended without saying so (a session that had ended before, or before
 * frame `from`). */
static bool over_now(follower *f)
{
    char path[80];
    pl_http_answer answer;
    snprintf(path, sizeof path, "/v1/sessions/%s", f->id);
    pl_http_outcome outcome = pl_http_client_call(
        f->cli->client, &(pl_http_call){.method = "GET", .path = path}, &answer);
    pl_json *session = outcome == PL_HTTP_ANSWERED && answer.body
                           ? pl_json_parse(answer.body, answer.size, NULL)
                           : NULL;
    bool over = (outcome == PL_HTTP_ANSWERED && answer.status == 404) ||
                is_over(pl_json_string(session, "state", ""));
    pl_json_free(session);
    pl_http_answer_clear(&answer);
    return over;
}

static int stream_to_end(follower *f)
{
    double wait = 0.25, lost_since = 0;
    while (!f->ended) {
        int64_t before = f->next;
        bool reached = false;
        int status = stream_once(f, &reached);
        if (status != PL_EXIT_OK || f->ended)
            return status;
        if (reached && over_now(f))
            return PL_EXIT_OK;
        double now = pl_monotonic_seconds();
        if (f->next > before || reached || lost_since == 0)
            lost_since = now;
        if (now - lost_since > GIVE_UP_AFTER) {
            pl_terminal_finish(&f->cli->err);
            return pl_cli_fail(
                f->cli, PL_EXIT_UNREACHABLE,
                "no connection to %s for %.0f s; the session may continue: pliant follow %.8s",
                f->cli->server_url, GIVE_UP_AFTER, f->id);
        }
        wait = f->next > before ? 0.25 : wait < 4 ? 2 * wait : 8;
        if (!f->cli->json) {
            pl_terminal_finish(&f->cli->err);
            fprintf(stderr, "connection lost after frame %" PRId64 "; again in %.2g s\n",
                    f->next - 1, wait);
        }
        pl_interruptible_sleep(wait);
        if (!reached)
            pl_api_find_again(f->cli);
        if (!f->cli->client)
            return PL_EXIT_FAILED;
    }
    return PL_EXIT_OK;
}

static int outcome_of(follower *f)
{
    if (strcmp(f->reason, "deleted") == 0)
        return pl_cli_fail(f->cli, PL_EXIT_CANCELLED, "the session was deleted");
    pl_json *session = NULL;
    int status = get_session(f->cli, f->id, &session);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_follow_outcome(f->cli, session);
    char hardship[PL_PROGRESS_TEXT];
    pl_progress_hardship(&f->progress, hardship);
    if (*hardship)
        pl_cli_note(f->cli, hardship);
    pl_json_free(session);
    return status;
}

int pl_follow(pl_cli *cli, const char *id, int64_t from, bool lines)
{
    follower f = {.cli = cli, .id = id, .next = from, .lines = lines || cli->json};
    int64_t frames = 0;
    int status = wait_for_start(&f, &frames);
    pl_progress_init(&f.progress, frames);
    if (status == PL_EXIT_OK)
        status = stream_to_end(&f);
    if (!f.lines)
        pl_progress_end(&f.progress, &cli->err);
    free(f.line);
    if (status == PL_EXIT_INTERRUPTED && !cli->json) {
        pl_terminal_finish(&cli->err);
        fprintf(stderr,
                "stopped watching; the session continues. pliant follow %.8s watches again, "
                "pliant cancel %.8s ends it.\n",
                id, id);
    }
    return status == PL_EXIT_OK ? outcome_of(&f) : status;
}
