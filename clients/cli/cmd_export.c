/* export: a run as files for other programs, or a picture of a frame. */
#include "clients/cli/exporter.h"
#include "clients/cli/png.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool pl_export_fail_file(pl_exporter *e, const char *path)
{
    e->status = pl_cli_fail(e->cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return false;
}

bool pl_export_fail_memory(pl_exporter *e)
{
    e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED, "out of memory");
    return false;
}

/* A frame that does not fit the topology would be read beyond its end. */
bool pl_export_fits(pl_exporter *e, const pl_session_frame *f)
{
    if (f->vertices == e->shape.vertices && e->done < e->count)
        return true;
    e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED,
                            "frame %" PRId64 " has %" PRId64 " vertices, the topology %" PRId64,
                            f->frame, f->vertices, e->shape.vertices);
    return false;
}

void pl_export_note(pl_exporter *e, const pl_session_frame *f)
{
    char text[120];
    e->times[e->done] = f->time;
    e->frames[e->done++] = f->frame;
    if (!e->cli->err.tty || e->cli->json || (e->done % 16 != 0 && e->done != e->count))
        return;
    snprintf(text, sizeof text, "%s  frame %" PRId64 " of %" PRId64, e->what, e->done, e->count);
    pl_terminal_update(&e->cli->err, text);
}

int pl_export_frames(pl_exporter *e, bool all, pl_take_frame take, void *context)
{
    e->done = 0;
    int status = pl_session_source_frames(&e->source, e->first, e->last, e->every, false, take,
                                          context);
    status = status == PL_EXIT_OK ? e->status : status;
    if (status == PL_EXIT_OK && all && e->done != e->count)
        status = pl_cli_fail(e->cli, PL_EXIT_FAILED,
                             "%" PRId64 " of %" PRId64 " frames could be had: choose others by "
                             "--from and --to",
                             e->done, e->count);
    return status;
}

bool pl_export_split(pl_exporter *e, const char *ending, char **folder, char **prefix)
{
    const char *slash = strrchr(e->path, '/'), *name = slash ? slash + 1 : e->path;
    const char *dot = strrchr(name, '.');
    bool ends = dot && dot > name && strcmp(dot, ending) == 0;
    *folder = !slash            ? strdup(".")
              : slash > e->path ? strndup(e->path, (size_t)(slash - e->path))
                                : strdup("/");
    *prefix = strndup(name, ends ? (size_t)(dot - name) : strlen(name));
    if (!*folder || !*prefix)
        return pl_export_fail_memory(e);
    if (pl_make_directories(*folder) != PL_OK)
        return pl_export_fail_file(e, *folder);
    return true;
}

static bool keep_frame(void *context, const pl_session_frame *f)
{
    pl_exporter *e = context;
    size_t bytes = (size_t)f->vertices * 3 * sizeof(float);
    free(e->kept);
    e->kept = malloc(bytes + 1);
    if (!e->kept)
        return pl_export_fail_memory(e);
    memcpy(e->kept, f->positions, bytes);
    e->kept_time = f->time;
    e->kept_velocity = f->velocity != NULL;
    e->kept_vertices = f->vertices;
    return false;
}

int pl_export_fetch(pl_exporter *e, int64_t frame)
{
    int status = pl_session_source_frames(&e->source, frame, frame, 1, false, keep_frame, e);
    if (status != PL_EXIT_OK || e->status != PL_EXIT_OK)
        return status != PL_EXIT_OK ? status : e->status;
    if (!e->kept)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "frame %" PRId64 " can not be had", frame);
    if (e->shape.vertices && e->kept_vertices != e->shape.vertices)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "frame %" PRId64 " does not fit the topology",
                           frame);
    return PL_EXIT_OK;
}

/* ---- png ---------------------------------------------------------------------------------------
 */

static bool read_size(pl_cli *cli, int32_t *width, int32_t *height)
{
    const char *text = pl_cli_option(cli, "--size");
    char end;
    if (!text || (sscanf(text, "%" SCNd32 "x%" SCNd32 "%c", width, height, &end) == 2 &&
                  *width >= 16 && *height >= 16 && *width <= 8192 && *height <= 8192))
        return true;
    pl_cli_fail(cli, PL_EXIT_USAGE, "--size: got '%s', expected WxH, each from 16 to 8192", text);
    return false;
}

static bool read_frame(pl_cli *cli, int64_t last, int64_t *frame)
{
    const char *text = pl_cli_option(cli, "--frame");
    *frame = last;
    if (!text || strcmp(text, "last") == 0)
        return true;
    if (!pl_cli_integer(cli, "--frame", 0, INT64_MAX, last, frame))
        return false;
    if (*frame <= last)
        return true;
    pl_cli_fail(cli, PL_EXIT_USAGE, "--frame: there are frames 0 to %" PRId64, last);
    return false;
}

int pl_export_picture(const pl_exporter *e, pl_picture *out)
{
    double azimuth, elevation;
    bool film = strcmp(e->what, "png") != 0;
    *out = (pl_picture){.width = film ? 960 : 1280, .height = film ? 600 : 800};
    if (!read_size(e->cli, &out->width, &out->height) ||
        !pl_cli_number(e->cli, "--azimuth", -3600, 3600, 32, &azimuth) ||
        !pl_cli_number(e->cli, "--elevation", -89, 89, 20, &elevation))
        return PL_EXIT_USAGE;
    out->vertices = e->shape.vertices;
    out->triangles = e->shape.triangles;
    out->triangle = e->shape.triangle;
    out->edges = e->shape.edges;
    out->edge = e->shape.edge;
    out->body = e->shape.body;
    out->obstacles = e->shape.obstacles;
    out->obstacle = e->shape.obstacle;
    out->azimuth = (float)azimuth;
    out->elevation = (float)elevation;
    return PL_EXIT_OK;
}

static int export_png(pl_exporter *e)
{
    int64_t frame;
    pl_picture picture;
    if (!read_frame(e->cli, e->source.frames - 1, &frame))
        return PL_EXIT_USAGE;
    int status = pl_export_picture(e, &picture); /* before anything is read */
    if (status == PL_EXIT_OK)
        status = pl_export_fetch(e, frame);
    if (status == PL_EXIT_OK)
        status = pl_session_source_shape(&e->source, false, e->kept_time, &e->shape);
    if (status == PL_EXIT_OK)
        status = pl_export_picture(e, &picture);
    if (status != PL_EXIT_OK)
        return status;
    if (e->kept_vertices != e->shape.vertices)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "the frame does not fit the topology");
    picture.positions = e->kept;
    unsigned char *rgb = NULL;
    pl_status drawn = pl_picture_render(&picture, &rgb);
    if (drawn == PL_INVALID)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "the session has no surface to draw");
    if (drawn != PL_OK)
        pl_export_fail_memory(e);
    else if (pl_png_write(e->path, rgb, picture.width, picture.height) != PL_OK)
        pl_export_fail_file(e, e->path);
    free(rgb);
    return e->status;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static const struct format {
    const char *name, *ending;
    bool shape; /* it needs the topology, tetrahedra included */
    int (*run)(pl_exporter *e);
} formats[] = {
    {"npz", ".npz", true, pl_export_npz},   {"vtu", ".pvd", true, pl_export_vtu},
    {"pc2", ".pc2", true, pl_export_pc2},   {"mdd", ".mdd", true, pl_export_mdd},
    {"glb", ".glb", true, pl_export_glb},   {"obj", ".obj", true, pl_export_obj},
    {"csv", ".csv", false, pl_export_csv},  {"png", ".png", false, export_png},
    {"mp4", ".mp4", false, pl_export_film}, {"webm", ".webm", false, pl_export_film},
    {"gif", ".gif", false, pl_export_film},
};

static const struct format *format_of(const pl_cli *cli, const char *path)
{
    const char *given = pl_cli_option(cli, "--format"), *dot = strrchr(path, '.');
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (given ? strcmp(given, formats[k].name) == 0
                  : dot && strcmp(dot, formats[k].ending) == 0)
            return &formats[k];
    return NULL;
}

/* Which frames, and room for what is noted of each. */
static int choose_frames(pl_exporter *e)
{
    int64_t to;
    if (!pl_cli_integer(e->cli, "--from", 0, INT64_MAX, 0, &e->first) ||
        !pl_cli_integer(e->cli, "--to", 0, INT64_MAX, INT64_MAX, &to) ||
        !pl_cli_integer(e->cli, "--every", 1, 1 << 30, 1, &e->every))
        return PL_EXIT_USAGE;
    e->last = to < e->source.frames - 1 ? to : e->source.frames - 1;
    if (e->first > e->last)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "no frame to export: there are %" PRId64,
                           e->source.frames);
    e->count = (e->last - e->first) / e->every + 1;
    e->times = calloc((size_t)e->count, sizeof *e->times);
    e->frames = calloc((size_t)e->count, sizeof *e->frames);
    if (!e->times || !e->frames)
        pl_export_fail_memory(e);
    return e->status;
}

static int export_with(pl_exporter *e, const struct format *format)
{
    if (e->source.frames < 1)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "no frame yet");
    int status = choose_frames(e);
    if (status == PL_EXIT_OK && format->shape)
        status = pl_session_source_shape(&e->source, true, 0, &e->shape);
    return status == PL_EXIT_OK ? format->run(e) : status;
}

int pl_command_export(pl_cli *cli)
{
    pl_exporter e = {.cli = cli, .path = pl_cli_option(cli, "--out")};
    if (!e.path || !*e.path)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out PATH is missing");
    const struct format *format = format_of(cli, e.path);
    const char *given = pl_cli_option(cli, "--format");
    if (!format)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--format: got '%s', expected npz, vtu, pc2, mdd, glb, obj, csv, png, "
                           "mp4, webm or gif",
                           given ? given : "");
    e.what = format->name;
    int status = pl_session_source_open(cli, cli->arguments[0], &e.source);
    if (status != PL_EXIT_OK)
        return status;
    status = export_with(&e, format);
    pl_terminal_finish(&cli->err);
    pl_session_source_close(&e.source);
    pl_session_shape_clear(&e.shape);
    free(e.times);
    free(e.frames);
    free(e.kept);
    return status;
}
