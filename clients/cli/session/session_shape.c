#include "clients/cli/session/session_shape.h"

#include "engine/scene/scene.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_file.h"

#include <stdlib.h>
#include <string.h>

/* Obstacles at their start, and the scene that moves them. */
struct pl_session_motions {
    pl_scene scene;
    int32_t *of;              /* [obstacles] index in the scene; -1: could not be read */
    pl_drawn_obstacle *start; /* [obstacles] */
};

static int no_memory(const pl_session_source *s)
{
    return pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
}

static int fetch_json(pl_session_source *s, pl_session_file file, const char *path_format,
                      pl_json **out)
{
    char *text, error[160];
    size_t size;
    int status = pl_session_source_document(s, file, path_format, NULL, &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    *out = pl_json_parse(text, size, error);
    free(text);
    return *out ? PL_EXIT_OK
                : pl_cli_fail(s->cli, PL_EXIT_FAILED, "%s: %s", pl_session_file_name(file), error);
}

static int read_bodies(pl_session_source *s, const pl_json *topology, pl_session_shape *out)
{
    const char *why;
    pl_status status = pl_shape_read(topology, &out->mesh, &why);
    return status == PL_OK          ? PL_EXIT_OK
           : status == PL_NO_MEMORY ? no_memory(s)
                                    : pl_cli_fail(s->cli, PL_EXIT_FAILED, "%s", why);
}

void pl_session_shape_move(pl_session_shape *shape, double time)
{
    const struct pl_session_motions *m = shape->motions;
    for (int32_t k = 0; k < shape->obstacles; k++)
        if (m->of[k] >= 0)
            pl_drawn_obstacle_move(&m->start[k], &m->scene.obstacles[m->of[k]].motion, time,
                                   &shape->obstacle[k]);
}

static int read_obstacles(pl_session_source *s, const pl_json *topology, pl_session_shape *out)
{
    struct pl_session_motions *m = out->motions;
    const pl_json *list = pl_json_at(topology, "obstacles");
    const pl_json *surfaces = pl_json_at(topology, "obstacle_surfaces");
    size_t count = pl_json_count(list);
    bool missing = false;
    out->obstacle = calloc(count + 1, sizeof *out->obstacle);
    m->of = calloc(count + 1, sizeof *m->of);
    m->start = calloc(count + 1, sizeof *m->start);
    if (!out->obstacle || !m->of || !m->start)
        return no_memory(s);
    for (size_t k = 0; k < count; k++) {
        pl_drawn_obstacle *start = &m->start[out->obstacles];
        const pl_json *surface = pl_json_item(surfaces, k);
        pl_status status = pl_drawn_obstacle_read(pl_json_item(list, k), surface, start);
        missing = missing || (status == PL_INVALID && pl_json_is_null(surface));
        if (status == PL_INVALID)
            continue;
        if (status == PL_OK)
            status = pl_drawn_obstacle_copy(start, &out->obstacle[out->obstacles]);
        if (status != PL_OK) {
            pl_drawn_obstacle_clear(start);
            return no_memory(s);
        }
        m->of[out->obstacles++] = (int64_t)k < m->scene.obstacle_count ? (int32_t)k : -1;
    }
    if (missing)
        pl_cli_note(s->cli, "obstacles are missing: the session was checked before topology.json "
                            "had their triangles");
    return PL_EXIT_OK;
}

/* Read the posted scene. If this version cannot decode it, obstacles stay at their start. */
static int read_scene(pl_session_source *s, pl_scene *out)
{
    char *text;
    size_t size;
    pl_faults faults = {0};
    int status = pl_session_source_document(s, PL_FILE_SCENE, "/v1/sessions/%s/scene?form=posted",
                                            NULL, &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    pl_decode_outcome outcome = pl_scene_decode(text, size, out, &faults);
    free(text);
    pl_faults_clear(&faults);
    if (outcome == PL_DECODE_NO_MEMORY)
        return no_memory(s);
    if (outcome != PL_DECODE_OK)
        pl_cli_note(s->cli, "this version cannot read the scene: obstacles are drawn where they "
                            "start; export with the version that ran it to see them move");
    return PL_EXIT_OK;
}

int pl_session_shape_read(pl_session_source *s, double time, pl_session_shape *out)
{
    pl_json *topology = NULL;
    out->motions = calloc(1, sizeof *out->motions);
    if (!out->motions)
        return no_memory(s);
    int status = fetch_json(s, PL_FILE_TOPOLOGY, "/v1/sessions/%s/topology", &topology);
    if (status == PL_EXIT_OK)
        status = read_scene(s, &out->motions->scene);
    if (status == PL_EXIT_OK)
        status = read_bodies(s, topology, out);
    if (status == PL_EXIT_OK)
        status = read_obstacles(s, topology, out);
    if (status == PL_EXIT_OK)
        pl_session_shape_move(out, time);
    pl_json_free(topology);
    if (status != PL_EXIT_OK)
        pl_session_shape_clear(out);
    return status;
}

const pl_scene *pl_session_shape_scene(const pl_session_shape *shape)
{
    return &shape->motions->scene;
}

int pl_session_shape_read_tets(pl_session_source *s, pl_session_shape *shape)
{
    char *bytes;
    const char *why;
    size_t size;
    int status = pl_session_source_document(s, PL_FILE_TETS, "/v1/sessions/%s/topology?array=tets",
                                            "application/x-npy", &bytes, &size);
    if (status != PL_EXIT_OK)
        return status;
    pl_status read = pl_shape_read_tets(bytes, size, &shape->mesh, &why);
    free(bytes);
    return read == PL_OK          ? PL_EXIT_OK
           : read == PL_NO_MEMORY ? no_memory(s)
                                  : pl_cli_fail(s->cli, PL_EXIT_FAILED, "%s", why);
}

void pl_session_shape_clear(pl_session_shape *shape)
{
    struct pl_session_motions *m = shape->motions;
    pl_shape_clear(&shape->mesh);
    for (int32_t k = 0; k < shape->obstacles; k++) {
        pl_drawn_obstacle_clear(&shape->obstacle[k]);
        pl_drawn_obstacle_clear(&m->start[k]);
    }
    free(shape->obstacle);
    if (m) {
        pl_scene_clear(&m->scene);
        free(m->start);
        free(m->of);
        free(m);
    }
    *shape = (pl_session_shape){0};
}
