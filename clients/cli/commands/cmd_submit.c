/* submit and validate: a scene with its mesh files to the daemon. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/uploads.h"
#include "clients/cli/session/follow.h"
#include "clients/cli/base/progress.h"
#include "clients/cli/session/scene_files.h"

#include "protocol/text/problem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read the scene and bring its files to the daemon. */
static int prepare(pl_cli *cli, pl_scene_files *scene)
{
    pl_faults faults = {0};
    const char *path = cli->arguments[0];
    pl_status read = pl_scene_files_read(path, scene, &faults);
    int status = PL_EXIT_OK;
    if (read == PL_IO) {
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    } else if (read == PL_NO_MEMORY) {
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    } else if (read == PL_INVALID) {
        char *text = cli->json ? pl_problem_encode(422, "invalid_scene", "The scene is not valid",
                                                   "its mesh files cannot be read", &faults)
                               : NULL;
        if (text)
            puts(text);
        else
            pl_cli_fail(cli, 0, "%s names mesh files that cannot be used", path);
        if (!text)
            pl_cli_print_faults(cli, &faults);
        free(text);
        status = PL_EXIT_FAILED;
    } else {
        status = pl_upload_files(cli, scene);
        if (status != PL_EXIT_OK)
            pl_scene_files_clear(scene);
    }
    pl_faults_clear(&faults);
    return status;
}

static void report_estimate(const pl_cli *cli, const pl_json *report)
{
    char memory[24];
    const pl_json *e = pl_json_at(report, "estimate");
    pl_bytes_text(pl_json_number(e, "memory_bytes", 0), memory);
    printf("no faults: %" PRId64 " vertices, %" PRId64 " tetrahedra, %" PRId64
           " frames, about %s of memory and %.2g s a frame\n",
           pl_json_integer(e, "vertices", 0), pl_json_integer(e, "tets", 0),
           pl_json_integer(e, "frames", 0), memory, pl_json_number(e, "seconds_per_frame", 0));
    pl_cli_warn_of(cli, pl_json_at(report, "warnings"));
    const pl_json *remarks = pl_json_at(report, "remarks");
    for (size_t i = 0; i < pl_json_count(remarks); i++)
        pl_cli_note(cli, pl_json_string(pl_json_item(remarks, i), "", ""));
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
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--group: '%s' can be no group's name", group);
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
        return pl_cli_fail(cli, PL_EXIT_FAILED, "%s sent no session back", cli->server_url);
    if (follow)
        return pl_follow(cli, id, 0, false);
    return warned && pl_cli_flag(cli, "--strict") ? PL_EXIT_FAILED : PL_EXIT_OK;
}

int pl_command_validate(pl_cli *cli)
{
    pl_scene_files scene;
    int status = prepare(cli, &scene);
    if (status != PL_EXIT_OK)
        return status;
    pl_http_answer answer;
    status = pl_api_post(cli, "/v1/validate", scene.text, scene.length, NULL, &answer);
    pl_scene_files_clear(&scene);
    if (status != PL_EXIT_OK)
        return status;
    pl_json *report = answer.body ? pl_json_parse(answer.body, answer.size, NULL) : NULL;
    if (cli->json)
        puts(answer.body ? answer.body : "{}");
    else
        report_estimate(cli, report);
    pl_json_free(report);
    pl_http_answer_clear(&answer);
    return status;
}
