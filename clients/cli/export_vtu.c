/* A series for ParaView: .vtu files and the .pvd that lists them. */
#include "clients/cli/exporter.h"
#include "clients/cli/strain.h"
#include "clients/cli/vtu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PVD_EVERY = 50 }; /* frames between two states of the .pvd while a series is written */

typedef struct vtu_series {
    pl_exporter *e;
    char *path, *folder, *prefix;
    float *start, *displacement;   /* [vertices][3]: frame 0, and the frame at hand from there */
    float *volume_ratio, *stretch; /* [cells], against frame 0 */
    pl_pvd_entry *entries;         /* [count] */
} vtu_series;

static bool write_pvd(vtu_series *s)
{
    return pl_pvd_write(s->path, s->prefix, s->entries, s->e->done) == PL_OK ||
           pl_export_fail_file(s->e, s->path);
}

/* In the order of the file's cells. */
static void measure_cells(vtu_series *s, const float *x)
{
    const pl_session_shape *shape = &s->e->shape;
    int64_t at = 0;
    pl_strain_of_cells(4, shape->tets, shape->tet, x, s->start, s->volume_ratio, s->stretch);
    at += shape->tets;
    pl_strain_of_cells(3, shape->sheet_triangles, shape->sheet, x, s->start, s->volume_ratio + at,
                       s->stretch + at);
    at += shape->sheet_triangles;
    pl_strain_of_cells(2, shape->edges, shape->edge, x, s->start, s->volume_ratio + at,
                       s->stretch + at);
}

static bool vtu_frame(void *context, const pl_session_frame *f)
{
    vtu_series *s = context;
    pl_exporter *e = s->e;
    if (!pl_export_fits(e, f))
        return false;
    for (int64_t i = 0; i < 3 * f->vertices; i++)
        s->displacement[i] = f->positions[i] - s->start[i];
    measure_cells(s, f->positions);
    pl_vtu_frame v = {.vertices = f->vertices,
                      .positions = f->positions,
                      .displacement = s->displacement,
                      .velocity = f->velocity,
                      .body = e->shape.body,
                      .volume_ratio = s->volume_ratio,
                      .stretch = s->stretch,
                      .tets = e->shape.tets,
                      .tet = e->shape.tet,
                      .triangles = e->shape.sheet_triangles,
                      .triangle = e->shape.sheet,
                      .edges = e->shape.edges,
                      .edge = e->shape.edge,
                      .time = f->time};
    char *name = pl_vtu_name(s->prefix, f->frame), *path = NULL;
    if (!name || asprintf(&path, "%s/%s", s->folder, name) < 0) {
        free(name);
        return pl_export_fail_memory(e);
    }
    pl_status written = pl_vtu_write(path, &v);
    if (written == PL_INVALID)
        e->status = pl_cli_fail(e->cli, PL_EXIT_FAILED, "%s would exceed 4 GiB an array", path);
    else if (written != PL_OK)
        pl_export_fail_file(e, path);
    free(name);
    free(path);
    s->entries[e->done] = (pl_pvd_entry){f->time, f->frame};
    pl_export_note(e, f);
    if (e->status == PL_EXIT_OK && e->done % PVD_EVERY == 0)
        write_pvd(s);
    return e->status == PL_EXIT_OK;
}

static bool prepare(vtu_series *s)
{
    pl_exporter *e = s->e;
    size_t cells = (size_t)(e->shape.tets + e->shape.sheet_triangles + e->shape.edges);
    if (!pl_export_split(e, ".pvd", &s->folder, &s->prefix))
        return false;
    if (asprintf(&s->path, "%s/%s.pvd", s->folder, s->prefix) < 0)
        s->path = NULL;
    s->displacement = malloc((size_t)e->shape.vertices * 3 * sizeof(float) + 1);
    s->volume_ratio = malloc(cells * sizeof(float) + 1);
    s->stretch = malloc(cells * sizeof(float) + 1);
    s->entries = calloc((size_t)e->count, sizeof *s->entries);
    bool good = s->path && s->displacement && s->volume_ratio && s->stretch && s->entries;
    return good || pl_export_fail_memory(e);
}

int pl_export_vtu(pl_exporter *e)
{
    vtu_series s = {.e = e};
    int status = prepare(&s) ? pl_export_fetch(e, 0) : e->status;
    s.start = e->kept;
    e->kept = NULL;
    if (status == PL_EXIT_OK)
        status = pl_export_frames(e, false, vtu_frame, &s);
    if (status == PL_EXIT_OK)
        write_pvd(&s);
    free(s.path);
    free(s.folder);
    free(s.prefix);
    free(s.start);
    free(s.displacement);
    free(s.volume_ratio);
    free(s.stretch);
    free(s.entries);
    return status == PL_EXIT_OK ? e->status : status;
}
