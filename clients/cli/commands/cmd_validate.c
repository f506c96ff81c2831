/* validate: lists every fault of a scene, checked by a daemon or, with --here, by the same check as pliant run. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/uploads.h"
#include "clients/cli/base/progress.h"
#include "clients/cli/base/temp_dir.h"
#include "clients/cli/net/api.h"
#include "clients/cli/session/run_session.h"

#include "protocol/scene/scene_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static int report(const pl_cli *cli, const char *text)
{
    pl_json *value = text ? pl_json_parse(text, strlen(text), NULL) : NULL;
    if (cli->json)
        puts(text ? text : "{}");
    else
        report_estimate(cli, value);
    pl_json_free(value);
    return PL_EXIT_OK;
}

/* ---- without a daemon ---- */

static int64_t frames_of(const pl_scene_files *scene)
{
    pl_outline outline;
    pl_faults faults = {0};
    int64_t frames = -1;
    if (pl_scene_outline(scene->text, scene->length, &outline, &faults) == PL_DECODE_OK) {
        frames = outline.frames;
        pl_outline_clear(&outline);
    }
    pl_faults_clear(&faults);
    return frames;
}

static int check_here(pl_cli *cli, const pl_scene_files *scene)
{
    pl_temp_dir scratch = {.dir_fd = -1};
    pl_preflight p = {0};
    if (!pl_temp_dir_create(&scratch))
        return pl_cli_fail(cli, PL_EXIT_FILE, "no temporary directory: %s", strerror(errno));
    int status = pl_run_session_make(cli, scratch.path, scene, false, &scratch.dir_fd);
    if (status == PL_EXIT_OK)
        status = pl_run_session_preflight(cli, scratch.path, scratch.dir_fd, &p);
    if (status == PL_EXIT_OK) {
        pl_json_writer w = {0};
        pl_validation_encode(&w, &p, frames_of(scene), 1, NULL);
        char *text = pl_json_finish(&w, NULL);
        status = text ? report(cli, text) : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        free(text);
    } else if (p.faults.total > 0) {
        status = pl_cli_refuse(cli, NULL, &p.faults);
    }
    pl_preflight_clear(&p);
    pl_temp_dir_remove(&scratch);
    return status;
}

/* ---- by a daemon ---- */

static int check_there(pl_cli *cli, const pl_scene_files *scene)
{
    pl_http_answer answer;
    int status = pl_upload_files(cli, scene);
    if (status == PL_EXIT_OK)
        status = pl_api_post(cli, "/v1/validate", scene->text, scene->length, NULL, &answer);
    if (status != PL_EXIT_OK)
        return status;
    status = report(cli, answer.body);
    pl_http_answer_clear(&answer);
    return status;
}

int pl_command_validate(pl_cli *cli)
{
    pl_scene_files scene;
    int status = pl_upload_read(cli, cli->arguments[0], &scene);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_cli_flag(cli, "--here") ? check_here(cli, &scene) : check_there(cli, &scene);
    pl_scene_files_clear(&scene);
    return status;
}
