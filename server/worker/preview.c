#include "server/worker/preview.h"

#include "protocol/log/session_dir.h"
#include "protocol/text/json.h"
#include "server/worker/placed_body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NPY_HEADER = 128, DIGITS = 7 /* of a float, which is the precision drawn */ };

static void put_point(pl_json_writer *w, const double *x)
{
    for (int c = 0; c < 3; c++)
        pl_json_put_number(w, x[c], DIGITS);
}

/* Write the positions of the drawn vertices, body by body: both lists ascend. */
static pl_status put_positions(pl_json_writer *w, const pl_session_scene *s, const int32_t *drawn,
                               size_t count)
{
    size_t k = 0;
    int64_t first = 0;
    pl_json_key(w, "positions");
    pl_json_begin_array(w);
    for (int32_t b = 0; b < s->scene.body_count; b++) {
        pl_placed_body body;
        if (pl_placed_body_init(&body, &s->scene.bodies[b], &s->meshes[b]) != PL_OK)
            return PL_NO_MEMORY;
        for (; k < count && drawn[k] < first + s->meshes[b].vertex_count; k++)
            put_point(w, body.x + 3 * (drawn[k] - first));
        pl_placed_body_clear(&body);
        first += s->meshes[b].vertex_count;
    }
    pl_json_end_array(w);
    return PL_OK;
}

static pl_status encode(pl_json_writer *w, const pl_session_scene *s, const char *topology,
                        const int32_t *drawn, size_t count)
{
    pl_json_begin_object(w);
    pl_json_set_raw(w, "topology", topology);
    pl_json_key(w, "surface");
    pl_json_begin_array(w);
    for (size_t k = 0; k < count; k++)
        pl_json_put_integer(w, drawn[k]);
    pl_json_end_array(w);
    pl_status status = put_positions(w, s, drawn, count);
    pl_json_end_object(w);
    return status;
}

static pl_status write_all(int directory, const pl_session_scene *s, const char *topology,
                           const char *surface, size_t size)
{
    size_t count = (size - NPY_HEADER) / sizeof(int32_t), length = 0;
    int32_t *drawn = malloc(count * sizeof *drawn + 1);
    if (!drawn)
        return PL_NO_MEMORY;
    memcpy(drawn, surface + NPY_HEADER, count * sizeof *drawn);
    pl_json_writer w = {0};
    pl_status status = encode(&w, s, topology, drawn, count);
    char *text = pl_json_finish(&w, &length);
    if (status == PL_OK)
        status = text ? pl_file_put_text(directory, "preview.json", text, length) : PL_NO_MEMORY;
    free(text);
    free(drawn);
    return status;
}

pl_status pl_preview_write(int directory, const pl_session_scene *s)
{
    char *topology = NULL, *surface = NULL;
    size_t size = 0, surface_size = 0;
    pl_status status = pl_file_read(directory, "topology.json", PL_PREVIEW_MOST, &topology, &size);
    if (status == PL_OK)
        status = pl_file_read(directory, "surface.npy", PL_PREVIEW_MOST, &surface, &surface_size);
    if (status == PL_OK)
        status = write_all(directory, s, topology, surface, surface_size);
    else if (status == PL_IO && errno == EFBIG)
        status = PL_OK;
    free(surface);
    free(topology);
    return status;
}
