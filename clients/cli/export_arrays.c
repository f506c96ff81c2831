/* Series of positions in one file: .npz, and the caches of points .pc2 and .mdd with the mesh that they
 * move. */
#include "clients/cli/exporter.h"
#include "clients/cli/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- npz ---------------------------------------------------------------------------------------
 */

typedef struct npz_series {
    pl_exporter *e;
    pl_npz npz;
    bool velocity; /* which field the pass is of */
} npz_series;

static bool npz_frame(void *context, const pl_session_frame *f)
{
    npz_series *s = context;
    const float *values = s->velocity ? f->velocity : f->positions;
    if (!pl_export_fits(s->e, f))
        return false;
    if (!values) {
        s->e->status = pl_cli_fail(s->e->cli, PL_EXIT_FAILED, "frame %lld has no velocities",
                                   (long long)f->frame);
        return false;
    }
    pl_npz_write(&s->npz, values, (size_t)f->vertices * 3 * sizeof(float));
    pl_export_note(s->e, f);
    errno = s->npz.file.error;
    return s->npz.file.error == 0 || pl_export_fail_file(s->e, s->e->path);
}

static void npz_array(npz_series *s, const char *name, const pl_npy_shape *shape, const void *data)
{
    pl_npz_begin(&s->npz, name, shape);
    pl_npz_write(&s->npz, data, pl_npy_bytes(shape));
    pl_npz_end(&s->npz);
}

static int npz_pass(npz_series *s, const char *name, bool velocity)
{
    pl_exporter *e = s->e;
    s->velocity = velocity;
    e->done = 0;
    pl_npz_begin(&s->npz, name, &(pl_npy_shape){"<f4", 3, {e->count, e->shape.vertices, 3}});
    int status = pl_export_frames(e, true, npz_frame, s);
    if (status == PL_EXIT_OK)
        pl_npz_end(&s->npz);
    return status;
}

int pl_export_npz(pl_exporter *e)
{
    npz_series s = {.e = e};
    int64_t n = e->shape.vertices;
    int status = pl_export_fetch(e, e->first);
    if (status != PL_EXIT_OK)
        return status;
    if (pl_npz_open(&s.npz, e->path) != PL_OK) {
        pl_export_fail_file(e, e->path);
        return e->status;
    }
    status = npz_pass(&s, "positions", false);
    if (status == PL_EXIT_OK && e->kept_velocity)
        status = npz_pass(&s, "velocities", true);
    if (status != PL_EXIT_OK) {
        pl_npz_abandon(&s.npz);
        return status;
    }
    npz_array(&s, "time", &(pl_npy_shape){"<f8", 1, {e->count}}, e->times);
    npz_array(&s, "frame", &(pl_npy_shape){"<i8", 1, {e->count}}, e->frames);
    npz_array(&s, "triangles", &(pl_npy_shape){"<i4", 2, {e->shape.triangles, 3}},
              e->shape.triangle);
    npz_array(&s, "edges", &(pl_npy_shape){"<i4", 2, {e->shape.edges, 2}}, e->shape.edge);
    npz_array(&s, "tets", &(pl_npy_shape){"<i4", 2, {e->shape.tets, 4}}, e->shape.tet);
    npz_array(&s, "body", &(pl_npy_shape){"<i4", 1, {n}}, e->shape.body);
    if (pl_npz_commit(&s.npz) != PL_OK)
        pl_export_fail_file(e, e->path);
    return e->status;
}

/* ---- caches of points --------------------------------------------------------------------------
 */

typedef struct point_cache {
    pl_exporter *e;
    pl_outfile file;
    uint32_t *swapped; /* of .mdd: a frame, highest byte first; else NULL */
} point_cache;

static bool cache_frame(void *context, const pl_session_frame *f)
{
    point_cache *c = context;
    size_t bytes = (size_t)f->vertices * 3 * sizeof(float);
    if (!pl_export_fits(c->e, f))
        return false;
    const void *data = f->positions;
    if (c->swapped) {
        memcpy(c->swapped, f->positions, bytes);
        for (int64_t i = 0; i < 3 * f->vertices; i++)
            c->swapped[i] = __builtin_bswap32(c->swapped[i]);
        data = c->swapped;
    }
    pl_outfile_write(&c->file, data, bytes);
    pl_export_note(c->e, f);
    errno = c->file.error;
    return c->file.error == 0 || pl_export_fail_file(c->e, c->e->path);
}

/* box.pc2 moves the vertices of box.obj. */
static int write_mesh_beside(pl_exporter *e)
{
    const char *dot = strrchr(e->path, '.'), *slash = strrchr(e->path, '/');
    int stem = (int)(dot && (!slash || dot > slash) ? dot - e->path : (long)strlen(e->path));
    char *path = NULL;
    if (asprintf(&path, "%.*s.obj", stem, e->path) < 0)
        path = NULL;
    if (!path)
        pl_export_fail_memory(e);
    else
        pl_obj_write(e, path, e->kept);
    free(path);
    return e->status;
}

static int write_cache(point_cache *c, const void *head, size_t size)
{
    pl_exporter *e = c->e;
    int status = pl_export_fetch(e, e->first);
    if (status != PL_EXIT_OK)
        return status;
    if (pl_outfile_open(&c->file, e->path) != PL_OK) {
        pl_export_fail_file(e, e->path);
        return e->status;
    }
    pl_outfile_write(&c->file, head, size);
    status = pl_export_frames(e, true, cache_frame, c);
    for (int64_t i = 0; c->swapped && status == PL_EXIT_OK && i < e->count; i++) {
        float time = (float)e->times[i];
        uint32_t bits;
        memcpy(&bits, &time, sizeof bits);
        bits = __builtin_bswap32(bits);
        pl_outfile_patch(&c->file, 8 + 4 * (uint64_t)i, &bits, sizeof bits);
    }
    if (status != PL_EXIT_OK)
        pl_outfile_abandon(&c->file);
    else if (pl_outfile_commit(&c->file) != PL_OK)
        pl_export_fail_file(e, e->path);
    return status == PL_EXIT_OK && e->status == PL_EXIT_OK ? write_mesh_beside(e)
           : status == PL_EXIT_OK                          ? e->status
                                                           : status;
}

static bool fits_32_bits(pl_exporter *e)
{
    if (e->count <= INT32_MAX && e->shape.vertices <= INT32_MAX)
        return true;
    pl_cli_fail(e->cli, PL_EXIT_FAILED, "more frames or vertices than the format can count");
    return false;
}

/* "POINTCACHE2", version, points, first frame, frames from one to the next, frames. */
int pl_export_pc2(pl_exporter *e)
{
    point_cache c = {.e = e};
    char head[32] = "POINTCACHE2";
    int32_t version = 1, points = (int32_t)e->shape.vertices, frames = (int32_t)e->count;
    float start = (float)e->first, rate = (float)e->every;
    if (!fits_32_bits(e))
        return PL_EXIT_FAILED;
    memcpy(head + 12, &version, 4);
    memcpy(head + 16, &points, 4);
    memcpy(head + 20, &start, 4);
    memcpy(head + 24, &rate, 4);
    memcpy(head + 28, &frames, 4);
    return write_cache(&c, head, sizeof head);
}

/* Frames, points, then the times, which are filled in at the end, all highest byte first. */
int pl_export_mdd(pl_exporter *e)
{
    point_cache c = {.e = e};
    size_t size = 8 + 4 * (size_t)e->count;
    if (!fits_32_bits(e))
        return PL_EXIT_FAILED;
    char *head = calloc(1, size);
    c.swapped = malloc((size_t)e->shape.vertices * 12 + 1);
    int status = PL_EXIT_FAILED;
    if (!head || !c.swapped) {
        pl_export_fail_memory(e);
    } else {
        uint32_t frames = __builtin_bswap32((uint32_t)e->count),
                 points = __builtin_bswap32((uint32_t)e->shape.vertices);
        memcpy(head, &frames, 4);
        memcpy(head + 4, &points, 4);
        status = write_cache(&c, head, size);
    }
    free(head);
    free(c.swapped);
    return status;
}
