/* events: prints session events, by long polls. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_event(const pl_cli *cli, const pl_json *event)
{
    if (cli->json) {
        pl_api_print(cli, event);
        return;
    }
    const char *message = pl_json_string(event, "session/message", "");
    printf("%s  %-8s %-9s %.8s  %s%s%s\n", pl_json_string(event, "time", ""),
           pl_json_string(event, "event", ""), pl_json_string(event, "session/state", ""),
           pl_json_string(event, "session/id", ""), pl_json_string(event, "session/name", ""),
           *message ? ": " : "", message);
}

/* Read one page of events after *since, which is advanced; *over is set when no more will come. */
static int take_page(pl_cli *cli, const char *where, int64_t *since, bool wait, bool *over)
{
    char path[200];
    pl_json *page;
    int n = snprintf(path, sizeof path, "%s?wait=%d", where, wait ? 30 : 0);
    if (*since >= 0)
        snprintf(path + n, sizeof path - (size_t)n, "&since=%" PRId64, *since);
    int status = pl_api_get(cli, path, &page);
    if (status != PL_EXIT_OK)
        return status;
    if (pl_json_boolean(page, "missed", false))
        pl_cli_note(cli, "some events were dropped; pliant list shows the current states");
    const pl_json *items = pl_json_at(page, "items");
    for (size_t i = 0; i < pl_json_count(items); i++) {
        const pl_json *event = pl_json_item(items, i);
        print_event(cli, event);
        *over = *over || (cli->argument_count > 0 &&
                          strcmp(pl_json_string(event, "event", ""), "deleted") == 0);
    }
    fflush(stdout);
    *since = pl_json_integer(page, "next", *since);
    pl_json_free(page);
    return PL_EXIT_OK;
}

int pl_command_events(pl_cli *cli)
{
    char id[PL_ID_TEXT], where[80] = "/v1/events";
    int64_t since;
    bool over = false, once = pl_cli_flag(cli, "--once");
    if (!pl_cli_integer(cli, "--since", 0, INT64_MAX - 1, -1, &since))
        return PL_EXIT_USAGE;
    int status = pl_api_connect(cli);
    if (status == PL_EXIT_OK && cli->argument_count > 0) {
        status = pl_api_resolve(cli, cli->arguments[0], id);
        snprintf(where, sizeof where, "/v1/sessions/%s/events", id);
    }
    do {
        if (status == PL_EXIT_OK)
            status = take_page(cli, where, &since, !once, &over);
    } while (status == PL_EXIT_OK && !once && !over);
    return status;
}
