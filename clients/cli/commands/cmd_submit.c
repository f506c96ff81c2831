/* submit: sends a scene with its mesh files to the daemon. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/uploads.h"
#include "clients/cli/session/follow.h"
#include "clients/cli/session/scene_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read the scene and upload its files. */
static int prepare(pl_cli *cli, pl_scene_files *scene)
{
    int status = pl_upload_read(cli, cli->arguments[0], scene);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_upload_files(cli, scene);
    if (status != PL_EXIT_OK)
        pl_scene_files_clear(scene);
    return status;
}

static void report_submitted(const pl_cli *cli, const pl_json *session, const char *id, bool follow)
{
    if (cli->json) {
        pl_api_print(cli, session);
        fflush(stdout);
        return;
    }
    if (!follow) {
        puts(id);
        fflush(stdout);
        if (cli->err.tty)
            fprintf(stderr, "%s/#/sessions/%s\n", cli->server_url, id);
    } else {
        fprintf(stderr, "%s%s%s  %s\n", pl_style_on(&cli->err, PL_STYLE_BOLD),
                pl_json_string(session, "name", ""), pl_style_off(&cli->err), id);
    }
    if (!follow)
        pl_cli_warn_of(cli, pl_json_at(session, "warnings"));
}

int pl_command_submit(pl_cli *cli)
{
    bool follow = pl_cli_flag(cli, "--follow");
    if (follow && pl_cli_flag(cli, "--detach"))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--follow and --detach exclude each other");
    const char *group = pl_cli_option(cli, "--group");
    char path[112];
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (group && (strlen(group) > 64 || strspn(group, letters) != strlen(group)))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--group: '%s' is not a valid group name", group);
    snprintf(path, sizeof path, "/v1/sessions%s%s", group ? "?group=" : "", group ? group : "");
    pl_scene_files scene;
    int status = prepare(cli, &scene);
    if (status != PL_EXIT_OK)
        return status;
    pl_http_answer answer;
    status = pl_api_post(cli, path, scene.text, scene.length,
                         pl_cli_option(cli, "--idempotency-key"), &answer);
    pl_scene_files_clear(&scene);
    if (status != PL_EXIT_OK)
        return status;
    char id[PL_ID_TEXT] = "";
    pl_json *session = answer.body ? pl_json_parse(answer.body, answer.size, NULL) : NULL;
    snprintf(id, sizeof id, "%s", pl_json_string(session, "id", ""));
    if (*id)
        report_submitted(cli, session, id, follow);
    bool warned = pl_json_count(pl_json_at(session, "warnings")) > 0;
    pl_json_free(session);
    pl_http_answer_clear(&answer);
    if (!*id)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "%s returned no session", cli->server_url);
    if (follow)
        return pl_follow(cli, id, 0, false);
    return warned && pl_cli_flag(cli, "--strict") ? PL_EXIT_FAILED : PL_EXIT_OK;
}
