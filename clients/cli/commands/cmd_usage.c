/* pliant usage: the machine's usage by user, group or day. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "/v1/usage?by=day&from=...", from the options; malloc'ed, NULL: out of memory. */
static char *build_path(const pl_cli *cli, const char *by)
{
    static const char *const keys[] = {"from", "to", "user", "group"};
    char *path = NULL;
    int n = asprintf(&path, "/v1/usage?by=%s", by);
    for (size_t i = 0; n >= 0 && i < sizeof keys / sizeof *keys; i++) {
        char option[16], *longer = NULL;
        snprintf(option, sizeof option, "--%s", keys[i]);
        const char *value = pl_cli_option(cli, option);
        char *text = value ? pl_api_escape(value) : NULL;
        if (value) {
            n = text ? asprintf(&longer, "%s&%s=%s", path, keys[i], text) : -1;
            free(path);
            path = n < 0 ? NULL : longer;
        }
        free(text);
    }
    return n < 0 ? NULL : path;
}

static void print_row(const char *name, const pl_json *row, double machine)
{
    double cores = pl_json_number(row, "core_seconds", 0);
    printf("%-20s %12.2f %6.1f %% %10.2f %8" PRId64 " %10.2f\n", name, cores / 3600,
           machine > 0 ? 100 * cores / machine : 0, pl_json_number(row, "gpu_seconds", 0) / 3600,
           pl_json_integer(row, "runs", 0), (double)pl_json_integer(row, "bytes", 0) / 1e9);
}

static void print_table(const pl_json *usage, const char *by)
{
    const pl_json *items = pl_json_at(usage, "items"), *all = pl_json_at(usage, "machine");
    double machine = pl_json_number(all, "core_seconds", 0);
    printf("%-20s %12s %8s %10s %8s %10s\n", by, "core hours", "part", "GPU hours", "runs",
           "GB stored");
    for (size_t i = 0; i < pl_json_count(items); i++) {
        const pl_json *item = pl_json_item(items, i);
        print_row(pl_json_string(item, by, "(no group)"), item, machine);
    }
    print_row("all of the machine", all, machine);
}

static int print_csv(pl_cli *cli, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    int status = pl_api_get_text(cli, path, "text/csv", &text, &size);
    if (status == PL_EXIT_OK)
        fwrite(text, 1, size, stdout);
    free(text);
    return status;
}

int pl_command_usage(pl_cli *cli)
{
    const char *by = pl_cli_option(cli, "--by");
    by = by ? by : "user";
    if (strcmp(by, "user") != 0 && strcmp(by, "group") != 0 && strcmp(by, "day") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--by: '%s' is not user, group or day", by);
    char *path = build_path(cli, by);
    if (!path)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    pl_json *usage = NULL;
    int status;
    if (pl_cli_flag(cli, "--csv")) {
        status = print_csv(cli, path);
    } else if ((status = pl_api_get(cli, path, &usage)) == PL_EXIT_OK) {
        if (cli->json)
            pl_api_print(cli, usage);
        else
            print_table(usage, by);
    }
    pl_json_free(usage);
    free(path);
    return status;
}
