#include "clients/cli/draw/drawing.h"
#include "clients/cli/draw/png.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool pl_drawing_fail_file(pl_drawing *d, const char *path)
{
    d->status = pl_cli_fail(d->cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    return false;
}

bool pl_drawing_fail_memory(pl_drawing *d)
{
    d->status = pl_cli_fail(d->cli, PL_EXIT_FAILED, "out of memory");
    return false;
}

/* ---- frames ---- */

/* A frame that does not fit the topology would be read beyond its end. */
bool pl_drawing_fits(pl_drawing *d, const pl_session_frame *f)
{
    int64_t vertices = d->shape.mesh.vertices;
    if (f->vertices == vertices && d->done < d->count)
        return true;
    d->status = pl_cli_fail(d->cli, PL_EXIT_FAILED,
                            "frame %" PRId64 " has %" PRId64 " vertices, the topology %" PRId64,
                            f->frame, f->vertices, vertices);
    return false;
}

void pl_drawing_note(pl_drawing *d)
{
    char text[120];
    d->done++;
    if (!d->cli->err.tty || d->cli->json || (d->done % 16 != 0 && d->done != d->count))
        return;
    snprintf(text, sizeof text, "%s  frame %" PRId64 " of %" PRId64, d->what, d->done, d->count);
    pl_terminal_update(&d->cli->err, text);
}

int pl_drawing_choose(pl_drawing *d)
{
    int64_t to, frames = d->source->frames;
    if (!pl_cli_integer(d->cli, "--from", 0, INT64_MAX, 0, &d->first) ||
        !pl_cli_integer(d->cli, "--to", 0, INT64_MAX, INT64_MAX, &to) ||
        !pl_cli_integer(d->cli, "--every", 1, 1 << 30, 1, &d->every))
        return PL_EXIT_USAGE;
    d->last = to < frames - 1 ? to : frames - 1;
    if (d->first > d->last)
        return pl_cli_fail(d->cli, PL_EXIT_FAILED, "no frame to export: there are %" PRId64,
                           frames);
    d->count = (d->last - d->first) / d->every + 1;
    return PL_EXIT_OK;
}

int pl_drawing_frames(pl_drawing *d, pl_take_frame take, void *context)
{
    d->done = 0;
    int status = pl_session_source_frames(d->source, d->first, d->last, d->every, false, take,
                                          context);
    return status == PL_EXIT_OK ? d->status : status;
}

/* ---- a picture ---- */

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

int pl_drawing_picture(const pl_drawing *d, pl_picture *out)
{
    const pl_shape *mesh = &d->shape.mesh;
    double azimuth, elevation;
    bool film = strcmp(d->what, "png") != 0;
    *out = (pl_picture){.width = film ? 960 : 1280, .height = film ? 600 : 800};
    if (!read_size(d->cli, &out->width, &out->height) ||
        !pl_cli_number(d->cli, "--azimuth", -3600, 3600, 32, &azimuth) ||
        !pl_cli_number(d->cli, "--elevation", -89, 89, 20, &elevation))
        return PL_EXIT_USAGE;
    out->geometry = (pl_geometry){.vertices = mesh->vertices,
                                  .triangles = mesh->triangles,
                                  .triangle = mesh->triangle,
                                  .edges = mesh->edges,
                                  .edge = mesh->edge,
                                  .body = mesh->body,
                                  .obstacles = d->shape.obstacles,
                                  .obstacle = d->shape.obstacle};
    out->azimuth = (float)azimuth;
    out->elevation = (float)elevation;
    return PL_EXIT_OK;
}

void pl_drawing_place(pl_drawing *d, pl_picture *picture, const float *positions)
{
    picture->geometry.positions = positions;
    picture->geometry.colour = d->field.colour;
    pl_field_measure(&d->field, &d->shape.mesh, positions);
    if (d->field.colour)
        pl_field_paint(&d->field, d->shape.mesh.vertices);
}

/* One frame's positions. */
typedef struct picked {
    float *x;
    int64_t vertices;
    double time;
} picked;

static bool pick(void *context, const pl_session_frame *f)
{
    picked *p = context;
    size_t bytes = (size_t)f->vertices * 3 * sizeof(float);
    p->x = malloc(bytes + 1);
    if (p->x)
        memcpy(p->x, f->positions, bytes);
    p->time = f->time;
    p->vertices = f->vertices;
    return false;
}

/* Fetch the picture's frame, and move the session's shape to its time. */
static int fetch(pl_drawing *d, int64_t frame, picked *out)
{
    int status = pl_session_source_frames(d->source, frame, frame, 1, false, pick, out);
    if (status == PL_EXIT_OK && !out->x)
        status = pl_cli_fail(d->cli, PL_EXIT_FAILED, "frame %" PRId64 " is not available", frame);
    if (status == PL_EXIT_OK)
        status = pl_session_shape_read(d->source, out->time, &d->shape);
    if (status == PL_EXIT_OK && out->vertices != d->shape.mesh.vertices)
        status = pl_cli_fail(d->cli, PL_EXIT_FAILED, "the frame does not fit the topology");
    return status;
}

static int draw(pl_drawing *d, const pl_picture *picture)
{
    unsigned char *rgb = NULL;
    pl_status drawn = pl_picture_render(picture, &rgb);
    if (drawn == PL_INVALID)
        return pl_cli_fail(d->cli, PL_EXIT_FAILED, "the session has no surface to draw");
    if (drawn != PL_OK)
        pl_drawing_fail_memory(d);
    else if (pl_png_write(d->path, rgb, picture->width, picture->height) != PL_OK)
        pl_drawing_fail_file(d, d->path);
    free(rgb);
    return d->status;
}

int pl_draw_png(pl_drawing *d)
{
    int64_t frame;
    pl_picture picture;
    picked chosen = {0};
    if (!read_frame(d->cli, d->source->frames - 1, &frame) ||
        pl_field_choose(d->cli, &d->field) != PL_EXIT_OK)
        return PL_EXIT_USAGE;
    int status = pl_drawing_picture(d, &picture); /* before reading anything */
    if (status == PL_EXIT_OK)
        status = fetch(d, frame, &chosen);
    if (status == PL_EXIT_OK)
        status = pl_drawing_picture(d, &picture);
    if (status == PL_EXIT_OK)
        status = pl_field_open(d->source, &d->shape, &d->field);
    if (status == PL_EXIT_OK) {
        pl_drawing_place(d, &picture, chosen.x);
        status = draw(d, &picture);
    }
    if (status == PL_EXIT_OK)
        pl_field_say(&d->field, d->cli);
    free(chosen.x);
    return status;
}
