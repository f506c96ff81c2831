/* pliant fit: finds the parameter values with which a scene matches measurements. */
#include "clients/cli/commands/sweep_follow.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pl_fit_is(const pl_json *sweep)
{
    return pl_json_is_object(pl_json_at(sweep, "fit"));
}

static const char *name_of(const pl_json *sweep, size_t i)
{
    return pl_json_string(pl_json_item(pl_json_at(sweep, "parameters"), i), "name", "");
}

void pl_fit_line(const pl_json *sweep, char *out, size_t size)
{
    const pl_json *best = pl_json_at(sweep, "fit/best"), *values = pl_json_at(best, "values");
    size_t at = (size_t)snprintf(out, size, "%" PRId64 " of at most %" PRId64 " runs",
                                 pl_json_integer(sweep, "fit/ended", 0),
                                 pl_json_integer(sweep, "fit/evaluations", 0));
    if (!pl_json_is_null(best) && at < size)
        at += (size_t)snprintf(out + at, size - at, ", misfit %.3g",
                               pl_json_number(best, "misfit", NAN));
    for (size_t i = 0; i < pl_json_count(values) && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s %s %.6g", i ? "," : ":", name_of(sweep, i),
                               pl_json_number(pl_json_item(values, i), "", NAN));
}

void pl_fit_print(const pl_json *sweep)
{
    const pl_json *best = pl_json_at(sweep, "fit/best"), *values = pl_json_at(best, "values");
    if (pl_json_is_null(best)) {
        puts("no run has succeeded");
        return;
    }
    for (size_t i = 0; i < pl_json_count(values); i++)
        printf("%s  %.9g\n", name_of(sweep, i), pl_json_number(pl_json_item(values, i), "", NAN));
    printf("misfit  %.6g\n", pl_json_number(best, "misfit", NAN));
    printf("session  %s\n", pl_json_string(best, "session", ""));
}

static int write_tables(pl_cli *cli, const char *id)
{
    const char *output = pl_cli_option(cli, "--output");
    const char *residuals = pl_cli_option(cli, "--residuals");
    int status = PL_EXIT_OK;
    if (output)
        status = pl_sweep_table(cli, id, "results", "csv", output);
    if (residuals && status == PL_EXIT_OK)
        status = pl_sweep_table(cli, id, "residuals", "csv", residuals);
    return status;
}

int pl_command_fit(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    bool detached = pl_cli_flag(cli, "--detach");
    if (detached && (pl_cli_option(cli, "--output") || pl_cli_option(cli, "--residuals")))
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--detach does not wait for the tables: use pliant sweep results");
    int status = pl_sweep_post(cli, !detached, id);
    if (status != PL_EXIT_OK || detached)
        return status;
    status = pl_sweep_watch(cli, id);
    int written = status == PL_EXIT_OK ? write_tables(cli, id) : PL_EXIT_OK;
    return status == PL_EXIT_OK ? written : status;
}

int pl_sweep_residuals(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    const char *format = pl_cli_option(cli, "--format");
    format = format ? format : cli->json ? "json" : "csv";
    if (strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "the format of residuals is csv or json");
    int status = pl_api_resolve_in(cli, "/v1/sweeps", "sweep", cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    return pl_sweep_table(cli, id, "residuals", format, pl_cli_option(cli, "--output"));
}

const char pl_fit_notes[] =
    "FILE is a sweep's JSON with fit: scene, parameters with path, min, max and scale, and\n"
    "fit.measured, a list of probe or metric with points or csv; csv may be {\"file\": "
    "PATH}.\n"
    "The daemon runs the search: it survives Ctrl-C and a lost connection, and pliant sweep\n"
    "follow ID follows it again. Prints the best values, their misfit and their session. Exit\n"
    "status: 1 if no run succeeded, 6 if it was cancelled.";
