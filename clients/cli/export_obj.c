/* A series of .obj files, and the mesh of a point cache. */
#include "clients/cli/exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool pl_obj_write(pl_exporter *e, const char *path, const float *positions)
{
    const pl_session_shape *shape = &e->shape;
    pl_outfile f;
    if (pl_outfile_open(&f, path) != PL_OK)
        return pl_export_fail_file(e, path);
    char line[160];
    for (int64_t i = 0; i < shape->vertices; i++) {
        const float *x = positions + 3 * i;
        int n = snprintf(line, sizeof line, "v %.9g %.9g %.9g\n", (double)x[0], (double)x[1],
                         (double)x[2]);
        pl_outfile_write(&f, line, (size_t)n);
    }
    for (int64_t i = 0; i < shape->triangles; i++) {
        const int32_t *v = shape->triangle + 3 * i;
        int n = snprintf(line, sizeof line, "f %" PRId32 " %" PRId32 " %" PRId32 "\n", v[0] + 1,
                         v[1] + 1, v[2] + 1);
        pl_outfile_write(&f, line, (size_t)n);
    }
    for (int64_t i = 0; i < shape->edges; i++) {
        const int32_t *v = shape->edge + 2 * i;
        int n = snprintf(line, sizeof line, "l %" PRId32 " %" PRId32 "\n", v[0] + 1, v[1] + 1);
        pl_outfile_write(&f, line, (size_t)n);
    }
    return pl_outfile_commit(&f) == PL_OK || pl_export_fail_file(e, path);
}

typedef struct obj_series {
    pl_exporter *e;
    char *folder, *prefix;
} obj_series;

static bool obj_frame(void *context, const pl_session_frame *f)
{
    obj_series *s = context;
    char *path = NULL;
    if (!pl_export_fits(s->e, f))
        return false;
    if (asprintf(&path, "%s/%s_%06" PRId64 ".obj", s->folder, s->prefix, f->frame) < 0)
        return pl_export_fail_memory(s->e);
    bool good = pl_obj_write(s->e, path, f->positions);
    free(path);
    pl_export_note(s->e, f);
    return good;
}

int pl_export_obj(pl_exporter *e)
{
    obj_series s = {.e = e};
    int status = e->status;
    if (pl_export_split(e, ".obj", &s.folder, &s.prefix))
        status = pl_export_frames(e, false, obj_frame, &s);
    free(s.folder);
    free(s.prefix);
    return status == PL_EXIT_OK ? e->status : status;
}
