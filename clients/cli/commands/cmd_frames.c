/* frames: lists a session's frames, or writes them to files as they are made. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/base/outfile.h"
#include "clients/cli/session/session_source.h"
#include "protocol/export/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct frame_writer {
    pl_cli *cli;
    const char *folder; /* NULL: list only */
    int64_t written;
    int status;
} frame_writer;

/* Write the positions as stored: float32 or float64. */
static pl_status write_npy(const char *path, const pl_session_frame *frame)
{
    pl_npy_shape shape = {
        .descr = frame->wide ? "<f8" : "<f4", .rank = 2, .dims = {frame->vertices, 3}};
    char header[PL_NPY_HEADER_MAX];
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    pl_outfile_write(&f, header, pl_npy_header(&shape, header));
    pl_outfile_write(&f, frame->stored, pl_npy_bytes(&shape));
    return pl_outfile_commit(&f);
}

static bool take_frame(void *context, const pl_session_frame *f)
{
    frame_writer *w = context;
    w->written++;
    if (!w->folder) {
        if (w->cli->json)
            printf("{\"frame\": %" PRId64 ", \"time\": %.9g, \"vertices\": %" PRId64 "}\n",
                   f->frame, f->time, f->vertices);
        else
            printf("%8" PRId64 "  %12.6f s  %" PRId64 " vertices\n", f->frame, f->time,
                   f->vertices);
        return true;
    }
    char *path = NULL;
    if (asprintf(&path, "%s/frame_%06" PRId64 ".npy", w->folder, f->frame) < 0) {
        w->status = pl_cli_fail(w->cli, PL_EXIT_FAILED, "out of memory");
        return false;
    }
    if (write_npy(path, f) != PL_OK)
        w->status = pl_cli_fail(w->cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    else if (w->cli->json)
        printf("{\"frame\": %" PRId64 ", \"time\": %.9g, \"file\": \"%s\"}\n", f->frame, f->time,
               strrchr(path, '/') + 1);
    free(path);
    return w->status == PL_EXIT_OK;
}

static bool on_raw(void *context, const char *data, size_t size)
{
    pl_outfile *f = context;
    pl_outfile_write(f, data, size);
    return f->error == 0;
}

/* Append "&KEY=VALUE" for the options that the daemon reads, with their words unchanged. */
static void append_form(const pl_cli *cli, char *query, size_t room)
{
    static const char *const options[] = {"--dtype", "--vertices", "--fields", "--max-fps",
                                          "--every"};
    static const char *const keys[] = {"dtype", "vertices", "fields", "max_fps", "every"};
    size_t used = strlen(query);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value = pl_cli_option(cli, options[i]);
        if (value && used < room)
            used += (size_t)snprintf(query + used, room - used, "&%s=%.40s", keys[i], value);
    }
    if (pl_cli_flag(cli, "--latest") && used < room)
        snprintf(query + used, room - used, "&mode=latest");
}

/* The first option that only --raw takes, or NULL. */
static const char *raw_option(const pl_cli *cli)
{
    static const char *const options[] = {"--dtype", "--vertices", "--fields", "--max-fps"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (pl_cli_option(cli, options[i]))
            return options[i];
    return pl_cli_flag(cli, "--latest") ? "--latest" : NULL;
}

static int write_raw(pl_cli *cli, pl_session_source *source, int64_t from, int64_t to, bool follow,
                     const char *path)
{
    pl_outfile f;
    char form[400] = "";
    if (source->dir_fd >= 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--raw needs the ID of a session on a daemon; here the records are in "
                           "%s/log",
                           cli->arguments[0]);
    append_form(cli, form, sizeof form);
    if (pl_outfile_open(&f, path) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    int status = pl_session_source_records(source, from, to, follow, form, on_raw, &f);
    if (status != PL_EXIT_OK)
        pl_outfile_abandon(&f);
    else if (pl_outfile_commit(&f) != PL_OK)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return status;
}

int pl_command_frames(pl_cli *cli)
{
    int64_t from, to, every;
    bool follow = pl_cli_flag(cli, "--follow");
    const char *folder = pl_cli_option(cli, "--out"), *raw = pl_cli_option(cli, "--raw");
    if (!pl_cli_integer(cli, "--from", 0, INT64_MAX, 0, &from) ||
        !pl_cli_integer(cli, "--to", 0, INT64_MAX, INT64_MAX, &to) ||
        !pl_cli_integer(cli, "--every", 1, 1 << 30, 1, &every))
        return PL_EXIT_USAGE;
    if (!raw && raw_option(cli))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "%s requires --raw", raw_option(cli));
    if (folder && raw)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out and --raw exclude each other");
    if (folder && pl_make_directories(folder) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", folder, strerror(errno));
    pl_session_source source;
    int status = pl_session_source_open(cli, cli->arguments[0], &source);
    if (status != PL_EXIT_OK)
        return status;
    if (raw) {
        status = write_raw(cli, &source, from, to, follow, raw);
    } else if (follow && source.dir_fd >= 0) {
        status = pl_cli_fail(cli, PL_EXIT_USAGE, "--follow needs the ID of a session on a daemon");
    } else {
        frame_writer w = {.cli = cli, .folder = folder};
        int64_t last = to < source.frames - 1 ? to : source.frames - 1;
        if (from <= last || follow)
            status = pl_session_source_frames(&source, from, last, every, follow, take_frame, &w);
        if (status == PL_EXIT_OK)
            status = w.status;
        if (folder && !cli->json && status == PL_EXIT_OK)
            fprintf(stderr, "%" PRId64 " frames in %s\n", w.written, folder);
    }
    pl_session_source_close(&source);
    return status;
}
