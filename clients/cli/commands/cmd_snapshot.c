/* pliant snapshot: named states of a session, kept as starting points of branches. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_line(const pl_json *s)
{
    printf("%-24s frame %-8" PRId64 " %10" PRId64 " bytes  %s\n", pl_json_string(s, "name", ""),
           pl_json_integer(s, "frame", 0), pl_json_integer(s, "bytes", 0),
           pl_json_string(s, "created", ""));
}

static int list(pl_cli *cli, const char *path)
{
    pl_json *reply;
    int status = pl_api_get(cli, path, &reply);
    if (status != PL_EXIT_OK)
        return status;
    const pl_json *items = pl_json_at(reply, "items");
    if (cli->json)
        pl_api_print(cli, reply);
    for (size_t i = 0; !cli->json && i < pl_json_count(items); i++)
        print_line(pl_json_item(items, i));
    pl_json_free(reply);
    return status;
}

static int make(pl_cli *cli, const char *path, const char *name)
{
    int64_t frame;
    pl_json_writer w = {0};
    if (!pl_cli_integer(cli, "--frame", 0, INT64_MAX / 4, 0, &frame))
        return PL_EXIT_USAGE;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "name", name);
    if (pl_cli_option(cli, "--frame"))
        pl_json_set_integer(&w, "frame", frame);
    pl_json_end_object(&w);
    char *body = pl_json_finish(&w, NULL);
    if (!body)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    pl_json *made;
    int status = pl_api_order(cli, "POST", path, body, &made);
    if (status != PL_EXIT_OK)
        return status;
    if (cli->json)
        pl_api_print(cli, made);
    else
        print_line(made);
    pl_json_free(made);
    return status;
}

static int take_away(pl_cli *cli, const char *path)
{
    return pl_api_order(cli, "DELETE", path, NULL, NULL);
}

/* Names go into a path unchanged: malformed ones are rejected here, by the daemon's rule. */
static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t first = strspn(name, letters);
    return first > 0 && strspn(name + first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789._-") == strlen(name + first);
}

int pl_command_snapshot(pl_cli *cli)
{
    char id[PL_ID_TEXT], *path = NULL;
    const char *name = cli->argument_count > 1 ? cli->arguments[1] : NULL;
    bool gone = pl_cli_flag(cli, "--delete");
    if (name && !is_name(name))
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "'%.64s': a name has letters, digits, and after the first also . _ -",
                           name);
    if (gone && !name)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--delete needs the snapshot's name");
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    if (asprintf(&path, "/v1/sessions/%s/snapshots%s%s", id, gone ? "/" : "", gone ? name : "") < 0)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    status = gone ? take_away(cli, path) : name ? make(cli, path, name) : list(cli, path);
    free(path);
    return status;
}
