/* pliant sweep: many sessions that differ in parameters. */
#include "clients/cli/base/outfile.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"
#include "clients/cli/commands/sweep_follow.h"
#include "clients/cli/commands/uploads.h"
#include "clients/cli/session/sweep_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int resolve(pl_cli *cli, char id[PL_ID_TEXT])
{
    return pl_api_resolve_in(cli, "/v1/sweeps", "sweep", cli->arguments[0], id);
}

static int64_t rows_in(const pl_json *sweep, const char *state)
{
    char path[48];
    snprintf(path, sizeof path, "counts/%s", state);
    return pl_json_integer(sweep, path, 0);
}

static int64_t rows_failed(const pl_json *sweep)
{
    return rows_in(sweep, "failed") + rows_in(sweep, "rejected") + rows_in(sweep, "refused");
}

/* "12 of 20 succeeded, 2 of these with warnings, 1 failed, 4 running, 3 waiting" */
static void counts_text(const pl_json *sweep, char out[240])
{
    static const char *const states[] = {"failed",  "rejected", "refused", "cancelled",
                                         "deleted", "stopped",  "running", "paused",
                                         "queued",  "checking", "waiting", "skipped"};
    size_t at = (size_t)snprintf(out, 240, "%" PRId64 " of %" PRId64 " succeeded",
                                 rows_in(sweep, "succeeded"), pl_json_integer(sweep, "rows", 0));
    int64_t warned = pl_json_integer(sweep, "warned", 0);
    if (warned)
        at += (size_t)snprintf(out + at, 240 - at, ", %" PRId64 " of these with warnings", warned);
    for (size_t i = 0; i < sizeof states / sizeof *states && at < 240; i++)
        if (rows_in(sweep, states[i]))
            at += (size_t)snprintf(out + at, 240 - at, ", %" PRId64 " %s",
                                   rows_in(sweep, states[i]), states[i]);
}

static void print_sweep(const pl_cli *cli, const pl_json *sweep)
{
    char counts[240];
    counts_text(sweep, counts);
    printf("%s  %-10s  %s  %s\n", pl_json_string(sweep, "id", ""),
           pl_json_string(sweep, "state", ""), counts, pl_json_string(sweep, "name", ""));
}

static int sweep_list(pl_cli *cli)
{
    return pl_listing_print(cli, "/v1/sweeps", PL_LISTING_ALL, print_sweep);
}

/* ---- following ---- */

/* Print on standard error how a finished sweep ended. */
static int outcome(pl_cli *cli, const pl_json *sweep)
{
    char counts[240];
    const char *state = pl_json_string(sweep, "state", ""),
               *message = pl_json_string(sweep, "message", "");
    counts_text(sweep, counts);
    bool fit = pl_fit_is(sweep); /* a fit continues despite failed runs */
    bool failed = fit ? pl_json_is_null(pl_json_at(sweep, "fit/best")) : rows_failed(sweep) > 0;
    bool warned = pl_json_integer(sweep, "warned", 0) > 0;
    bool lost = strcmp(state, "cancelled") == 0 ||
                (!fit && (rows_in(sweep, "cancelled") > 0 || rows_in(sweep, "deleted") > 0));
    pl_style style = failed || lost ? PL_STYLE_RED : warned ? PL_STYLE_YELLOW : PL_STYLE_GREEN;
    if (!cli->json)
        fprintf(stderr, "%s%s%s: %s%s%s\n", pl_style_on(&cli->err, style), state,
                pl_style_off(&cli->err), counts, *message ? "; " : "", message);
    if (warned && !cli->json)
        fprintf(stderr, "To see which rows: pliant sweep results %.8s, column warnings\n",
                pl_json_string(sweep, "id", ""));
    if (fit && !cli->json)
        pl_fit_print(sweep);
    if (strcmp(state, "cancelled") == 0)
        return PL_EXIT_CANCELLED;
    if (failed || (warned && pl_cli_flag(cli, "--strict")))
        return PL_EXIT_FAILED;
    return lost ? PL_EXIT_CANCELLED : PL_EXIT_OK;
}

static void show(pl_cli *cli, const pl_json *sweep)
{
    char counts[240], line[520];
    if (pl_fit_is(sweep))
        pl_fit_line(sweep, counts, sizeof counts);
    else
        counts_text(sweep, counts);
    const char *message = pl_json_string(sweep, "message", "");
    snprintf(line, sizeof line, "%s%s%s", counts, *message ? "; " : "", message);
    if (cli->err.tty && !cli->json)
        pl_terminal_update(&cli->err, line);
}

int pl_sweep_watch(pl_cli *cli, const char *id)
{
    char *path = pl_api_path("/v1/sweeps/%s", id);
    int status = PL_EXIT_OK;
    pl_interrupt_catch();
    for (bool over = false; !over && status == PL_EXIT_OK;) {
        pl_json *sweep;
        status = pl_api_get(cli, path, &sweep);
        if (status != PL_EXIT_OK)
            break;
        const char *state = pl_json_string(sweep, "state", "");
        over = strcmp(state, "running") != 0 && strcmp(state, "cancelling") != 0;
        if (over) {
            pl_terminal_finish(&cli->err);
            status = outcome(cli, sweep);
            if (cli->json)
                pl_api_print(cli, sweep);
        } else {
            show(cli, sweep);
            pl_interruptible_sleep(0.5);
            status = pl_interrupted() ? PL_EXIT_INTERRUPTED : PL_EXIT_OK;
        }
        pl_json_free(sweep);
    }
    pl_terminal_finish(&cli->err);
    free(path);
    return status;
}

static int sweep_follow(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    int status = resolve(cli, id);
    return status == PL_EXIT_OK ? pl_sweep_watch(cli, id) : status;
}

/* ---- submitting ---- */

static int say_wrong(pl_cli *cli, pl_status read, const char *failed, const pl_faults *faults)
{
    if (read == PL_IO)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", failed ? failed : "", strerror(errno));
    if (read == PL_NO_MEMORY)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    pl_cli_fail(cli, 0, "%s cannot be submitted", cli->arguments[0]);
    pl_cli_print_faults(cli, faults);
    return PL_EXIT_FAILED;
}

static int post(pl_cli *cli, const char *path, const pl_scene_files *document, bool follows,
                char id[PL_ID_TEXT])
{
    pl_http_answer answer;
    int status = pl_api_post(cli, path, document->text, document->length,
                             pl_cli_option(cli, "--idempotency-key"), &answer);
    if (status != PL_EXIT_OK)
        return status;
    pl_json *made = pl_json_parse(answer.body, answer.size, NULL);
    pl_http_answer_clear(&answer);
    snprintf(id, PL_ID_TEXT, "%s", pl_json_string(made, "id", ""));
    if (cli->json && !follows)
        pl_api_print(cli, made);
    else if (!cli->json)
        puts(id);
    fflush(stdout);
    pl_json_free(made);
    return PL_EXIT_OK;
}

int pl_sweep_post(pl_cli *cli, bool follows, char id[PL_ID_TEXT])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *group = pl_cli_option(cli, "--group");
    char path[112], *failed;
    pl_scene_files document;
    pl_faults faults = {0};
    if (group && (strlen(group) > 64 || strspn(group, letters) != strlen(group)))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--group: '%s' is not a valid group name", group);
    snprintf(path, sizeof path, "/v1/sweeps%s%s", group ? "?group=" : "", group ? group : "");
    pl_status read = pl_sweep_file_read(cli->arguments[0], &document, &faults, &failed);
    int status = PL_EXIT_OK;
    if (read != PL_OK) {
        status = say_wrong(cli, read, failed, &faults);
    } else {
        status = pl_upload_files(cli, &document);
        if (status == PL_EXIT_OK)
            status = post(cli, path, &document, follows, id);
        pl_scene_files_clear(&document);
    }
    pl_faults_clear(&faults);
    free(failed);
    return status;
}

static int sweep_submit(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    bool follows = pl_cli_flag(cli, "--follow");
    int status = pl_sweep_post(cli, follows, id);
    return status == PL_EXIT_OK && follows ? pl_sweep_watch(cli, id) : status;
}

/* ---- one sweep ---- */

static void print_parts(const pl_json *sweep)
{
    const pl_json *list = pl_json_at(sweep, "parameters");
    for (size_t i = 0; i < pl_json_count(list); i++)
        printf("parameter  %s  %s\n", pl_json_string(pl_json_item(list, i), "name", ""),
               pl_json_string(pl_json_item(list, i), "path", ""));
    list = pl_json_at(sweep, "results");
    for (size_t i = 0; i < pl_json_count(list); i++)
        printf("result     %s\n", pl_json_string(pl_json_item(list, i), "", ""));
    if (pl_fit_is(sweep)) {
        char line[400];
        pl_fit_line(sweep, line, sizeof line);
        printf("fit        %s: %s\n", pl_json_string(sweep, "fit/phase", ""), line);
    }
    if (*pl_json_string(sweep, "message", ""))
        printf("message    %s\n", pl_json_string(sweep, "message", ""));
}

static int sweep_show(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    pl_json *sweep;
    int status = resolve(cli, id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path("/v1/sweeps/%s", id);
    status = pl_api_get(cli, path, &sweep);
    free(path);
    if (status != PL_EXIT_OK)
        return status;
    if (cli->json) {
        pl_api_print(cli, sweep);
    } else {
        print_sweep(cli, sweep);
        print_parts(sweep);
    }
    pl_json_free(sweep);
    return status;
}

static int write_file(pl_cli *cli, const char *path, const char *text, size_t size)
{
    pl_outfile file;
    if (pl_outfile_open(&file, path) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    pl_outfile_write(&file, text, size);
    if (pl_outfile_commit(&file) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return PL_EXIT_OK;
}

/* The value of --format, else the ending of --output, else csv, or json with --json; NULL: unknown. */
static const char *format_of(const pl_cli *cli)
{
    static const char *const formats[] = {"csv", "json", "npz"};
    const char *output = pl_cli_option(cli, "--output"), *format = pl_cli_option(cli, "--format");
    const char *dot = output ? strrchr(output, '.') : NULL;
    if (!format)
        format = dot ? dot + 1 : cli->json ? "json" : "csv";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(format, formats[i]) == 0)
            return formats[i];
    return NULL;
}

static int sweep_results(pl_cli *cli)
{
    const char *format = format_of(cli), *output = pl_cli_option(cli, "--output");
    char id[PL_ID_TEXT];
    if (!format)
        return pl_cli_fail(
            cli, PL_EXIT_USAGE,
            "%s: its extension gives no format; expected csv, json or npz, or give --format",
            output);
    if (!output && cli->out.tty && strcmp(format, "npz") == 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "npz is binary: give --output FILE");
    int status = resolve(cli, id);
    return status == PL_EXIT_OK ? pl_sweep_table(cli, id, "results", format, output) : status;
}

int pl_sweep_table(pl_cli *cli, const char *id, const char *which, const char *format,
                   const char *output)
{
    char path[120], *text;
    size_t size;
    snprintf(path, sizeof path, "/v1/sweeps/%s/%s?format=%s", id, which, format);
    int status = pl_api_get_text(cli, path, "*/*", &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    if (output) {
        status = write_file(cli, output, text, size);
    } else {
        fwrite(text, 1, size, stdout);
        if (strcmp(format, "json") == 0)
            putchar('\n');
    }
    free(text);
    return status;
}

static int order(pl_cli *cli, const char *method, const char *format)
{
    char id[PL_ID_TEXT];
    pl_json *reply = NULL;
    int status = resolve(cli, id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path(format, id);
    status = pl_api_order(cli, method, path, NULL, &reply);
    free(path);
    if (status == PL_EXIT_OK && reply && cli->json)
        pl_api_print(cli, reply);
    else if (status == PL_EXIT_OK && reply)
        print_sweep(cli, reply);
    pl_json_free(reply);
    return status;
}

static int sweep_cancel(pl_cli *cli)
{
    return order(cli, "POST", "/v1/sweeps/%s/cancel");
}

static int sweep_retry(pl_cli *cli)
{
    return order(cli, "POST", "/v1/sweeps/%s/retry");
}

static int sweep_delete(pl_cli *cli)
{
    return order(cli, "DELETE",
                 pl_cli_flag(cli, "--sessions") ? "/v1/sweeps/%s?sessions=true" : "/v1/sweeps/%s");
}

const pl_verb pl_sweep_verbs[] = {
    {"submit", "FILE", "submit a sweep and print its ID", 1, 1, sweep_submit},
    {"list", "", "list sweeps, newest first", 0, 0, sweep_list},
    {"show", "ID", "show the number of rows in each state", 1, 1, sweep_show},
    {"follow", "ID", "show its progress until it ends", 1, 1, sweep_follow},
    {"results", "ID", "print its table: parameters and results", 1, 1, sweep_results},
    {"residuals", "ID", "print the measured points of a fit and its best run's values", 1, 1,
     pl_sweep_residuals},
    {"cancel", "ID", "start no more rows and end running ones", 1, 1, sweep_cancel},
    {"retry", "ID", "run the rows that did not succeed again", 1, 1, sweep_retry},
    {"delete", "ID", "remove it; its sessions stay", 1, 1, sweep_delete},
    {0}};

const char pl_sweep_notes[] =
    "FILE is JSON: scene (or the path of a scene file), parameters, sampling, running,\n"
    "results, stop, fit; csv may be {\"file\": PATH}. A parameter has path, a JSON "
    "pointer into\n"
    "the scene, and values, range and count, or min and max. Exit status of submit\n"
    "--follow and follow: 1 if a row failed, 6 if the sweep or a row was cancelled.";
