/* export: a run as .npz, as a VTK series, or a picture of a frame. */
#include "clients/cli/npy.h"
#include "clients/cli/png.h"
#include "clients/cli/session_source.h"
#include "clients/cli/vtu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PVD_EVERY = 50 }; /* frames between two states of the .pvd while a series is written */

typedef struct exporter {
    pl_cli *cli;
    pl_session_source source;
    pl_session_shape shape;
    const char *path;
    int64_t first, last, every, count; /* frames to be written */
    int64_t done;
    int status;
    double *times;   /* [count] */
    int64_t *frames; /* [count] */
    pl_npz npz;
    float *start, *displacement; /* [vertices][3]: frame 0, and the frame at hand from there */
    char *folder, *prefix;       /* vtu: where, and how the files begin */
    pl_pvd_entry *entries;       /* [count] */
    float *kept;                 /* a frame by itself: its positions */
    int64_t kept_vertices;
    double kept_time;
} exporter;

static bool fail_file(exporter *e, const char *path)
{
    e->status = pl_cli_fail(e->cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return false;
}

static bool fail_memory(exporter *e)
{
    e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED, "out of memory");
    return false;
}

static void show(exporter *e, const char *what)
{
    char text[120];
    if (!e->cli->err.tty || e->cli->json || (e->done % 16 != 0 && e->done != e->count))
        return;
    snprintf(text, sizeof text, "%s  frame %" PRId64 " of %" PRId64, what, e->done, e->count);
    pl_terminal_update(&e->cli->err, text);
}

/* A frame that does not fit the topology would be read beyond its end. */
static bool fits(exporter *e, const pl_session_frame *f)
{
    if (f->vertices == e->shape.vertices && e->done < e->count)
        return true;
    e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED,
                            "frame %" PRId64 " has %" PRId64 " vertices, the topology %" PRId64,
                            f->frame, f->vertices, e->shape.vertices);
    return false;
}

static bool keep_frame(void *context, const pl_session_frame *f)
{
    exporter *e = context;
    size_t bytes = (size_t)f->vertices * 3 * sizeof(float);
    e->kept = malloc(bytes + 1);
    if (!e->kept)
        return fail_memory(e);
    memcpy(e->kept, f->positions, bytes);
    e->kept_time = f->time;
    e->kept_vertices = f->vertices;
    return false;
}

/* One frame's positions, malloc'ed in e->kept. */
static int fetch_frame(exporter *e, int64_t frame)
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

/* ---- npz ---------------------------------------------------------------------------------------
 */

static bool npz_frame(void *context, const pl_session_frame *f)
{
    exporter *e = context;
    if (!fits(e, f))
        return false;
    pl_npz_write(&e->npz, f->positions, (size_t)f->vertices * 3 * sizeof(float));
    e->times[e->done] = f->time;
    e->frames[e->done++] = f->frame;
    show(e, "npz");
    if (e->npz.file.error)
        return fail_file(e, e->path);
    return true;
}

static void npz_array(exporter *e, const char *name, const pl_npy_shape *shape, const void *data)
{
    pl_npz_begin(&e->npz, name, shape);
    pl_npz_write(&e->npz, data, pl_npy_bytes(shape));
    pl_npz_end(&e->npz);
}

static int export_npz(exporter *e)
{
    int64_t n = e->shape.vertices;
    if (pl_npz_open(&e->npz, e->path) != PL_OK) {
        fail_file(e, e->path);
        return e->status;
    }
    pl_npz_begin(&e->npz, "positions", &(pl_npy_shape){"<f4", 3, {e->count, n, 3}});
    int status = pl_session_source_frames(&e->source, e->first, e->last, e->every, false, npz_frame,
                                          e);
    status = status == PL_EXIT_OK ? e->status : status;
    if (status == PL_EXIT_OK && e->done != e->count)
        status = pl_cli_fail(e->cli, PL_EXIT_FAILED,
                             "%" PRId64 " of %" PRId64 " frames could be had: choose others by "
                             "--from and --to",
                             e->done, e->count);
    if (status != PL_EXIT_OK) {
        pl_npz_abandon(&e->npz);
        return status;
    }
    pl_npz_end(&e->npz);
    npz_array(e, "time", &(pl_npy_shape){"<f8", 1, {e->count}}, e->times);
    npz_array(e, "frame", &(pl_npy_shape){"<i8", 1, {e->count}}, e->frames);
    npz_array(e, "triangles", &(pl_npy_shape){"<i4", 2, {e->shape.triangles, 3}},
              e->shape.triangle);
    npz_array(e, "edges", &(pl_npy_shape){"<i4", 2, {e->shape.edges, 2}}, e->shape.edge);
    npz_array(e, "tets", &(pl_npy_shape){"<i4", 2, {e->shape.tets, 4}}, e->shape.tet);
    npz_array(e, "body", &(pl_npy_shape){"<i4", 1, {n}}, e->shape.body);
    if (pl_npz_commit(&e->npz) != PL_OK)
        fail_file(e, e->path);
    return e->status;
}

/* ---- vtu ---------------------------------------------------------------------------------------
 */

static bool write_pvd(exporter *e)
{
    return pl_pvd_write(e->path, e->prefix, e->entries, e->done) == PL_OK || fail_file(e, e->path);
}

static bool vtu_frame(void *context, const pl_session_frame *f)
{
    exporter *e = context;
    if (!fits(e, f))
        return false;
    for (int64_t i = 0; i < 3 * f->vertices; i++)
        e->displacement[i] = f->positions[i] - e->start[i];
    pl_vtu_frame v = {.vertices = f->vertices,
                      .positions = f->positions,
                      .displacement = e->displacement,
                      .body = e->shape.body,
                      .tets = e->shape.tets,
                      .tet = e->shape.tet,
                      .triangles = e->shape.sheet_triangles,
                      .triangle = e->shape.sheet,
                      .edges = e->shape.edges,
                      .edge = e->shape.edge,
                      .time = f->time};
    char *name = pl_vtu_name(e->prefix, f->frame), *path = NULL;
    if (!name || asprintf(&path, "%s/%s", e->folder, name) < 0) {
        free(name);
        return fail_memory(e);
    }
    pl_status written = pl_vtu_write(path, &v);
    if (written == PL_INVALID)
        e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED, "%s would exceed 4 GiB an array", path);
    else if (written != PL_OK)
        fail_file(e, path);
    free(name);
    free(path);
    e->entries[e->done++] = (pl_pvd_entry){f->time, f->frame};
    show(e, "vtu");
    if (e->status == PL_EXIT_OK && e->done % PVD_EVERY == 0)
        write_pvd(e);
    return e->status == PL_EXIT_OK;
}

static int export_vtu(exporter *e)
{
    const char *slash = strrchr(e->path, '/'), *name = slash ? slash + 1 : e->path;
    const char *dot = strrchr(name, '.');
    bool pvd = dot && strcmp(dot, ".pvd") == 0;
    char *path = NULL;
    e->folder = slash ? strndup(e->path, (size_t)(slash - e->path)) : strdup(".");
    e->prefix = strndup(name, pvd ? (size_t)(dot - name) : strlen(name));
    if (!e->folder || !e->prefix || asprintf(&path, "%s%s", e->path, pvd ? "" : ".pvd") < 0) {
        fail_memory(e);
        return e->status;
    }
    e->path = path;
    if (slash && *e->folder && pl_make_directories(e->folder) != PL_OK)
        fail_file(e, e->folder);
    int status = e->status == PL_EXIT_OK ? fetch_frame(e, 0) : e->status;
    e->start = e->kept;
    e->kept = NULL;
    e->displacement = malloc((size_t)e->shape.vertices * 3 * sizeof(float) + 1);
    if (status == PL_EXIT_OK && !e->displacement)
        fail_memory(e);
    if (status == PL_EXIT_OK && e->status == PL_EXIT_OK)
        status = pl_session_source_frames(&e->source, e->first, e->last, e->every, false, vtu_frame,
                                          e);
    if (status == PL_EXIT_OK && e->status == PL_EXIT_OK)
        write_pvd(e);
    free(path);
    return status == PL_EXIT_OK ? e->status : status;
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

static int export_png(exporter *e)
{
    int32_t width = 1280, height = 800;
    int64_t frame;
    double azimuth, elevation;
    if (!read_size(e->cli, &width, &height) || !read_frame(e->cli, e->source.frames - 1, &frame) ||
        !pl_cli_number(e->cli, "--azimuth", -3600, 3600, 32, &azimuth) ||
        !pl_cli_number(e->cli, "--elevation", -89, 89, 20, &elevation))
        return PL_EXIT_USAGE;
    int status = fetch_frame(e, frame);
    if (status == PL_EXIT_OK)
        status = pl_session_source_shape(&e->source, false, e->kept_time, &e->shape);
    if (status != PL_EXIT_OK)
        return status;
    if (e->kept_vertices != e->shape.vertices)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "the frame does not fit the topology");
    pl_picture picture = {.vertices = e->shape.vertices,
                          .positions = e->kept,
                          .triangles = e->shape.triangles,
                          .triangle = e->shape.triangle,
                          .edges = e->shape.edges,
                          .edge = e->shape.edge,
                          .body = e->shape.body,
                          .obstacles = e->shape.obstacles,
                          .obstacle = e->shape.obstacle,
                          .width = width,
                          .height = height,
                          .azimuth = (float)azimuth,
                          .elevation = (float)elevation};
    unsigned char *rgb = NULL;
    pl_status drawn = pl_picture_render(&picture, &rgb);
    if (drawn == PL_INVALID)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "the session has no surface to draw");
    if (drawn != PL_OK)
        fail_memory(e);
    else if (pl_png_write(e->path, rgb, width, height) != PL_OK)
        fail_file(e, e->path);
    free(rgb);
    return e->status;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static const char *format_of(const pl_cli *cli, const char *path)
{
    const char *given = pl_cli_option(cli, "--format"), *dot = strrchr(path, '.');
    if (given)
        return given;
    return !dot                       ? ""
           : strcmp(dot, ".npz") == 0 ? "npz"
           : strcmp(dot, ".png") == 0 ? "png"
           : strcmp(dot, ".pvd") == 0 ? "vtu"
                                      : "";
}

/* Which frames, and room for what is noted of each. */
static int choose_frames(exporter *e)
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
    e->entries = calloc((size_t)e->count, sizeof *e->entries);
    if (!e->times || !e->frames || !e->entries)
        fail_memory(e);
    return e->status;
}

static int export_series(exporter *e, const char *format)
{
    int status = choose_frames(e);
    if (status == PL_EXIT_OK)
        status = pl_session_source_shape(&e->source, true, 0, &e->shape);
    if (status == PL_EXIT_OK)
        status = strcmp(format, "npz") == 0 ? export_npz(e) : export_vtu(e);
    return status;
}

int pl_command_export(pl_cli *cli)
{
    exporter e = {.cli = cli, .path = pl_cli_option(cli, "--out")};
    if (!e.path || !*e.path)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out PATH is missing");
    const char *format = format_of(cli, e.path);
    bool png = strcmp(format, "png") == 0;
    if (!png && strcmp(format, "npz") != 0 && strcmp(format, "vtu") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--format: got '%s', expected npz, vtu or png",
                           format);
    int status = pl_session_source_open(cli, cli->arguments[0], &e.source);
    if (status != PL_EXIT_OK)
        return status;
    if (e.source.frames < 1)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "no frame yet");
    else
        status = png ? export_png(&e) : export_series(&e, format);
    pl_terminal_finish(&cli->err);
    pl_session_source_close(&e.source);
    pl_session_shape_clear(&e.shape);
    free(e.times);
    free(e.frames);
    free(e.entries);
    free(e.start);
    free(e.displacement);
    free(e.kept);
    free(e.folder);
    free(e.prefix);
    return status;
}
