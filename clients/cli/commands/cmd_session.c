/* Commands that make one request about a session. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/session/follow.h"
#include "clients/cli/commands/listing.h"
#include "clients/cli/base/progress.h"
#include "clients/cli/session/session_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Print the JSON document at a path of the daemon. */
static int print_json(pl_cli *cli, const char *path)
{
    pl_json *value = NULL;
    int status = pl_api_get(cli, path, &value);
    if (status == PL_EXIT_OK)
        pl_api_print(cli, value);
    pl_json_free(value);
    return status;
}

/* Print the text at a path of the daemon. */
static int print_text(pl_cli *cli, const char *path)
{
    char *text;
    size_t size;
    int status = pl_api_get_text(cli, path, "text/plain", &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    fwrite(text, 1, size, stdout);
    free(text);
    return status;
}

/* Print the document at a path of the session that the first argument names. */
static int print_of_session(pl_cli *cli, const char *path_format,
                            int (*print)(pl_cli *cli, const char *path))
{
    char id[PL_ID_TEXT];
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path(path_format, id);
    status = print(cli, path);
    free(path);
    return status;
}

int pl_command_topology(pl_cli *cli)
{
    return print_of_session(cli, "/v1/sessions/%s/topology", print_json);
}

int pl_command_scene(pl_cli *cli)
{
    bool effective = pl_cli_flag(cli, "--effective");
    return print_of_session(cli,
                            effective ? "/v1/sessions/%s/scene?form=effective"
                                      : "/v1/sessions/%s/scene?form=posted",
                            print_json);
}

int pl_command_log(pl_cli *cli)
{
    return print_of_session(cli, "/v1/sessions/%s/log", print_text);
}

int pl_command_schema(pl_cli *cli)
{
    return print_json(cli, "/v1/schema/scene");
}

int pl_command_webhook_secret(pl_cli *cli)
{
    pl_json *value = NULL;
    int status = pl_api_get(cli, "/v1/webhook-secret", &value);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, value);
    else if (status == PL_EXIT_OK)
        puts(pl_json_string(value, "secret", ""));
    pl_json_free(value);
    return status;
}

int pl_command_explain(pl_cli *cli)
{
    char *code = pl_api_escape(cli->arguments[0]);
    char *path = code ? pl_api_path("/problems/%s", code) : NULL;
    int status = print_text(cli, path);
    free(path);
    free(code);
    return status;
}

int pl_command_version(pl_cli *cli)
{
    pl_json *value = NULL;
    if (!cli->json)
        printf("pliant %s\n", PLIANT_VERSION);
    fflush(stdout);
    int status = pl_api_get(cli, "/v1/version", &value);
    if (status != PL_EXIT_OK)
        return status;
    char *text = pl_json_dump(value, false);
    if (cli->json)
        printf("{\"client\": \"%s\", \"daemon\": %s}\n", PLIANT_VERSION, text ? text : "null");
    else
        printf("pliantd %s at %s\n", pl_json_string(value, "version", "?"), cli->server_url);
    free(text);
    pl_json_free(value);
    return status;
}

/* ---- list and show ---- */

/* Print each code of a session's warnings once, in a row of the list. */
static void print_codes(const pl_cli *cli, const pl_json *warnings)
{
    const char *before = "";
    for (size_t i = 0; i < pl_json_count(warnings); i++) {
        const char *code = pl_json_string(pl_json_item(warnings, i), "code", "");
        if (strcmp(code, before) != 0)
            printf("%s%s%s%s", i == 0 ? "  " : ", ", pl_style_on(&cli->out, PL_STYLE_YELLOW), code,
                   pl_style_off(&cli->out));
        before = code;
    }
}

/* Why a running session makes no progress. */
static const char *stalled_words(const pl_json *s)
{
    const char *why = pl_json_string(s, "stalled/why", "");
    return strcmp(why, "stopped") == 0 ? "its worker was stopped by a signal"
           : strcmp(why, "disk") == 0  ? "its worker waits for the disk"
                                       : "its worker uses no processor time";
}

static void print_item(const pl_cli *cli, const pl_json *s)
{
    const char *state = pl_json_string(s, "state", "");
    const pl_json *warnings = pl_json_at(s, "warnings");
    bool warned = pl_json_count(warnings) > 0;
    bool stalled = *pl_json_string(s, "stalled/why", "");
    pl_style style = strcmp(state, "succeeded") == 0 ? warned ? PL_STYLE_YELLOW : PL_STYLE_GREEN
                     : strcmp(state, "failed") == 0 || strcmp(state, "rejected") == 0 ? PL_STYLE_RED
                     : strcmp(state, "running") == 0 ? stalled ? PL_STYLE_YELLOW : PL_STYLE_CYAN
                     : strcmp(state, "paused") == 0  ? PL_STYLE_YELLOW
                                                     : PL_STYLE_PLAIN;
    char frames[48], created[64];
    pl_terminal_ago(&cli->out, pl_json_string(s, "created", ""), created, sizeof created);
    snprintf(frames, sizeof frames, "%" PRId64 "/%" PRId64, pl_json_integer(s, "progress/frame", 0),
             pl_json_integer(s, "progress/frames", 0));
    const char *waits = pl_json_string(s, "queue/reason", "");
    bool restarts = strncmp(waits, "restarts", 8) == 0;
    printf("%.12s  %s%-10s%s %13s  %-20s  %s%s%s", pl_json_string(s, "id", ""),
           pl_style_on(&cli->out, style), state, pl_style_off(&cli->out), frames, created,
           pl_json_string(s, "name", ""), restarts ? "  " : "", restarts ? waits : "");
    if (stalled)
        printf("  %sstalled: %s%s", pl_style_on(&cli->out, PL_STYLE_YELLOW), stalled_words(s),
               pl_style_off(&cli->out));
    print_codes(cli, warnings);
    putchar('\n');
}

/* malloc'ed; NULL: out of memory. */
static char *list_path(const pl_cli *cli)
{
    static const char *const filters[] = {"--state", "--label", "--name", "--owner"};
    char *path = strdup("/v1/sessions");
    for (size_t i = 0; path && i < sizeof filters / sizeof *filters; i++) {
        const char *value = pl_cli_option(cli, filters[i]);
        char *escaped = value ? pl_api_escape(value) : NULL, *longer = NULL;
        if (!value)
            continue;
        if (!escaped || asprintf(&longer, "%s%c%s=%s", path, strchr(path, '?') ? '&' : '?',
                                 filters[i] + 2, escaped) < 0)
            longer = NULL;
        free(escaped);
        free(path);
        path = longer;
    }
    return path;
}

int pl_command_list(pl_cli *cli)
{
    int64_t limit;
    if (!pl_cli_integer(cli, "--limit", 1, 1000000, 50, &limit))
        return PL_EXIT_USAGE;
    if (cli->out.tty && !cli->json)
        printf("%s%-12s  %-10s %13s  %-20s  %s%s\n", pl_style_on(&cli->out, PL_STYLE_DIM), "ID",
               "STATE", "FRAMES", "CREATED", "NAME", pl_style_off(&cli->out));
    char *path = list_path(cli);
    int status = path ? pl_listing_print(cli, path, limit, print_item)
                      : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    free(path);
    return status;
}

static void print_row(const pl_cli *cli, const char *label, const char *text)
{
    printf("%s%-10s%s %s\n", pl_style_on(&cli->out, PL_STYLE_DIM), label, pl_style_off(&cli->out),
           text);
}

static void print_session(const pl_cli *cli, const pl_json *s)
{
    static const char *const strings[] = {"id",      "name",    "state", "reason",
                                          "message", "created", "owner"};
    char text[160];
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (*pl_json_string(s, strings[i], ""))
            print_row(cli, strings[i], pl_json_string(s, strings[i], ""));
    snprintf(text, sizeof text, "frame %" PRId64 " of %" PRId64 ", %.6g s simulated",
             pl_json_integer(s, "progress/frame", 0), pl_json_integer(s, "progress/frames", 0),
             pl_json_number(s, "progress/time", 0));
    print_row(cli, "progress", text);
    if (pl_json_integer(s, "queue/position", 0) > 0) {
        snprintf(text, sizeof text, "place %" PRId64 ": %.100s",
                 pl_json_integer(s, "queue/position", 0), pl_json_string(s, "queue/reason", ""));
        print_row(cli, "queue", text);
    } else if (*pl_json_string(s, "queue/reason", "")) {
        print_row(cli, "queue", pl_json_string(s, "queue/reason", ""));
    }
    if (!pl_json_is_null(pl_json_at(s, "paused"))) {
        snprintf(text, sizeof text, "by %.40s; pliant resume %.8s continues it",
                 pl_json_string(s, "paused/by", ""), pl_json_string(s, "id", ""));
        print_row(cli, "paused", text);
    }
    if (*pl_json_string(s, "stalled/why", "")) {
        snprintf(text, sizeof text, "since %.30s: %.60s", pl_json_string(s, "stalled/since", ""),
                 stalled_words(s));
        print_row(cli, "stalled", text);
    }
    if (*pl_json_string(s, "desired", ""))
        print_row(cli, "desired", pl_json_string(s, "desired", ""));
    const pl_json *bodies = pl_json_at(s, "bodies");
    for (size_t b = 0; b < pl_json_count(bodies); b++) {
        const pl_json *body = pl_json_item(bodies, b);
        snprintf(text, sizeof text, "%.100s, %" PRId64 " vertices",
                 pl_json_string(body, "name", ""), pl_json_integer(body, "vertices", 0));
        print_row(cli, b == 0 ? "bodies" : "", text);
    }
    const pl_json *warnings = pl_json_at(s, "warnings");
    for (size_t k = 0; k < pl_json_count(warnings); k++) {
        const pl_json *warning = pl_json_item(warnings, k);
        printf("%s%-10s %s:%s %s\n", pl_style_on(&cli->out, PL_STYLE_YELLOW), "warning",
               pl_json_string(warning, "code", ""), pl_style_off(&cli->out),
               pl_json_string(warning, "detail", ""));
    }
}

int pl_command_show(pl_cli *cli)
{
    if (cli->json)
        return print_of_session(cli, "/v1/sessions/%s", print_json);
    char id[PL_ID_TEXT];
    pl_json *session = NULL;
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path("/v1/sessions/%s", id);
    status = pl_api_get(cli, path, &session);
    free(path);
    if (status == PL_EXIT_OK) {
        print_session(cli, session);
        fflush(stdout);
        if (!pl_json_is_null(pl_json_at(session, "failure")) ||
            strcmp(pl_json_string(session, "state", ""), "rejected") == 0)
            pl_follow_outcome(cli, session);
    }
    pl_json_free(session);
    return status;
}

/* ---- follow and metrics ---- */

int pl_command_follow(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    int64_t from;
    if (!pl_cli_integer(cli, "--from", 0, INT64_MAX, 0, &from))
        return PL_EXIT_USAGE;
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    return status == PL_EXIT_OK ? pl_follow(cli, id, from, false) : status;
}

static bool print_line(void *context, const char *line, size_t length)
{
    (void)context;
    return printf("%.*s\n", (int)length, line) > 0;
}

static int print_buckets(pl_cli *cli, const pl_session_source *source, int64_t from,
                         int64_t buckets)
{
    char *path = NULL, *text;
    size_t size;
    if (source->dir_fd >= 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--buckets needs the ID of a session on a daemon");
    if (asprintf(&path, "/v1/sessions/%s/metrics?from=%" PRId64 "&buckets=%" PRId64, source->id,
                 from, buckets) < 0)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    int status = pl_api_get_text(cli, path, "application/x-ndjson", &text, &size);
    free(path);
    if (status == PL_EXIT_OK) {
        fwrite(text, 1, size, stdout);
        free(text);
    }
    return status;
}

int pl_command_metrics(pl_cli *cli)
{
    int64_t from, buckets;
    pl_session_source source;
    if (!pl_cli_integer(cli, "--from", 0, INT64_MAX, 0, &from) ||
        !pl_cli_integer(cli, "--buckets", 1, 2000, 0, &buckets))
        return PL_EXIT_USAGE;
    int status = pl_session_source_open(cli, cli->arguments[0], &source);
    if (status != PL_EXIT_OK)
        return status;
    if (buckets > 0)
        status = print_buckets(cli, &source, from, buckets);
    else if (!pl_cli_flag(cli, "--follow"))
        status = pl_session_source_metrics(&source, from, print_line, NULL);
    else if (source.dir_fd >= 0)
        status = pl_cli_fail(cli, PL_EXIT_USAGE, "--follow needs the ID of a session on a daemon");
    else
        status = pl_follow(cli, source.id, from, true);
    pl_session_source_close(&source);
    return status;
}

/* ---- pause, resume, cancel and delete ---- */

static int tell_each(pl_cli *cli, const char *method, const char *path_format, const char *done)
{
    int worst = PL_EXIT_OK;
    for (int i = 0; i < cli->argument_count; i++) {
        char id[PL_ID_TEXT];
        pl_http_answer answer;
        int status = pl_api_resolve(cli, cli->arguments[i], id);
        char *path = status == PL_EXIT_OK ? pl_api_path(path_format, id) : NULL;
        if (path) {
            pl_http_call call = {.method = method, .path = path};
            if (strcmp(method, "POST") == 0) {
                call.content_type = "application/json";
                call.body = "";
            }
            status = pl_api_call(cli, &call, &answer);
        }
        free(path);
        if (status != PL_EXIT_OK) {
            worst = status;
            continue;
        }
        if (!cli->json)
            fprintf(stderr, "%.12s %s\n", id, done);
        else if (answer.body)
            puts(answer.body);
        pl_http_answer_clear(&answer);
    }
    return worst;
}

int pl_command_pause(pl_cli *cli)
{
    return tell_each(cli, "POST", "/v1/sessions/%s/pause", "asked to pause");
}

int pl_command_resume(pl_cli *cli)
{
    return tell_each(cli, "POST", "/v1/sessions/%s/resume", "queued to continue");
}

int pl_command_cancel(pl_cli *cli)
{
    return tell_each(cli, "POST", "/v1/sessions/%s/cancel", "asked to cancel");
}

int pl_command_delete(pl_cli *cli)
{
    return tell_each(cli, "DELETE", "/v1/sessions/%s", "deleted");
}
