#include "clients/cli/commands/uploads.h"

#include "clients/cli/base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_FROM ((uint64_t)8 << 20) /* bytes from which an upload shows its progress */

typedef struct upload {
    pl_cli *cli;
    const pl_scene_file *file;
    double shown; /* time of the last progress line */
} upload;

static void on_sent(void *context, uint64_t done, uint64_t total)
{
    upload *u = context;
    double now = pl_monotonic_seconds();
    if (total < SHOWN_FROM || !u->cli->err.tty || u->cli->json || now - u->shown < 0.1)
        return;
    char a[24], b[24], text[160];
    pl_bytes_text((double)done, a);
    pl_bytes_text((double)total, b);
    snprintf(text, sizeof text, "uploading %.60s  %s of %s", u->file->path, a, b);
    pl_terminal_update(&u->cli->err, text);
    u->shown = now;
}

/* Ask whether the daemon has the mesh and this user may use it. */
static int ask(pl_cli *cli, const char *path, bool *present)
{
    pl_http_answer answer;
    int status = pl_api_connect(cli);
    if (status != PL_EXIT_OK)
        return status;
    pl_http_outcome outcome =
        pl_http_client_call(cli->client, &(pl_http_call){.method = "HEAD", .path = path}, &answer);
    *present = outcome == PL_HTTP_ANSWERED && answer.status < 300;
    if (!*present && !(outcome == PL_HTTP_ANSWERED && answer.status == 404))
        status = pl_api_failed(cli, outcome, &answer);
    pl_http_answer_clear(&answer);
    return status;
}

static int put(pl_cli *cli, const pl_scene_file *file, const char *path)
{
    upload u = {.cli = cli, .file = file};
    pl_http_answer answer;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", file->path, strerror(errno));
    pl_http_call call = {.method = "PUT",
                         .path = path,
                         .content_type = "application/octet-stream",
                         .body_fd = fd,
                         .body_size = file->size,
                         .sent = on_sent,
                         .context = &u};
    pl_http_outcome outcome = pl_http_client_call(cli->client, &call, &answer);
    close(fd);
    pl_terminal_finish(&cli->err);
    int status = PL_EXIT_OK;
    if (outcome != PL_HTTP_ANSWERED || answer.status >= 300) {
        if (!cli->json)
            fprintf(stderr, "%s:\n", file->path);
        status = pl_api_failed(cli, outcome, &answer);
    }
    pl_http_answer_clear(&answer);
    return status;
}

int pl_upload_read(pl_cli *cli, const char *path, pl_scene_files *scene)
{
    char detail[200];
    pl_faults faults = {0};
    pl_status read = pl_scene_files_read(path, scene, &faults);
    int status = PL_EXIT_OK;
    if (read == PL_IO) {
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    } else if (read == PL_NO_MEMORY) {
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    } else if (read == PL_INVALID) {
        snprintf(detail, sizeof detail, "%.150s names mesh files that cannot be used", path);
        status = pl_cli_refuse(cli, detail, &faults);
    }
    pl_faults_clear(&faults);
    return status;
}

int pl_upload_files(pl_cli *cli, const pl_scene_files *scene)
{
    int worst = PL_EXIT_OK;
    for (int32_t i = 0; i < scene->count; i++) {
        const pl_scene_file *file = &scene->files[i];
        char path[160];
        bool present = false;
        snprintf(path, sizeof path, "/v1/meshes/%s", file->hash);
        int status = ask(cli, path, &present);
        if (status != PL_EXIT_OK)
            return status;
        if (present)
            continue;
        status = put(cli, file, path);
        if (status != PL_EXIT_OK)
            worst = status; /* continue, so that every bad file is named */
    }
    return worst;
}
