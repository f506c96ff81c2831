/* What to draw of a session: its topology document, and its obstacles where their
 * motion has brought them. */
#include "clients/cli/session/session_source.h"
#include "clients/cli/draw/shapes.h"

#include "engine/scene/motion.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)1 << 30)

/* Obstacles as they start, and the scene that moves them. */
struct pl_session_motions {
    pl_scene scene;
    int32_t *of;                /* [obstacles] in the scene; -1: of none that could be read */
    pl_picture_obstacle *start; /* [obstacles] */
};

static int no_memory(const pl_session_source *s)
{
    return pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
}

int pl_session_source_document(pl_session_source *s, pl_session_file file, const char *path_format,
                               const char *accept, char **text, size_t *size)
{
    if (s->dir_fd >= 0) {
        const char *name = pl_session_file_name(file);
        if (pl_session_file_read(s->dir_fd, file, DOCUMENT_MAX, text, size) == PL_OK)
            return PL_EXIT_OK;
        if (errno == EBADMSG)
            return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s is damaged: its checksum is another",
                               name);
        return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s: %s", name, strerror(errno));
    }
    char *path = pl_api_path(path_format, s->id);
    int status = pl_api_get_text(s->cli, path, accept, text, size);
    free(path);
    return status;
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

static void read_vector(const pl_json *value, const char *key, float out[3])
{
    const pl_json *list = pl_json_at(value, key);
    for (size_t i = 0; i < 3 && i < pl_json_count(list); i++)
        out[i] = (float)pl_json_number(pl_json_item(list, i), "", out[i]);
}

/* From where it starts to where its motion has brought it. What turns about no given point turns about
 * its centre. */
static void move(const pl_motion *given, double time, const pl_picture_obstacle *start,
                 pl_picture_obstacle *o)
{
    pl_motion motion = *given;
    for (int c = 0; c < 3 && !motion.has_origin; c++)
        motion.origin[c] = start->point[c];
    pl_pose pose = pl_motion_pose(&motion, time);
    for (int64_t i = -1; i < 3 * o->triangles; i++) { /* the centre, then the corners */
        const float *x = i < 0 ? start->point : start->corner + 3 * i;
        const float *n = i < 0 ? start->normal : start->normal_at + 3 * i;
        float *to_x = i < 0 ? o->point : o->corner + 3 * i;
        float *to_n = i < 0 ? o->normal : o->normal_at + 3 * i;
        double from[2][3] = {{x[0], x[1], x[2]}, {n[0], n[1], n[2]}}, to[2][3];
        pl_pose_apply(&pose, from[0], to[0]);
        pl_pose_rotate(&pose, from[1], to[1]);
        for (int c = 0; c < 3; c++) {
            to_x[c] = (float)to[0][c];
            to_n[c] = (float)to[1][c];
        }
    }
}

void pl_session_shape_move(pl_session_shape *shape, double time)
{
    const struct pl_session_motions *m = shape->motions;
    for (int32_t k = 0; k < shape->obstacles; k++)
        if (m->of[k] >= 0)
            move(&m->scene.obstacles[m->of[k]].motion, time, &m->start[k], &shape->obstacle[k]);
}

static bool keep_start(const pl_picture_obstacle *o, pl_picture_obstacle *out)
{
    size_t bytes = 9 * (size_t)o->triangles * sizeof *o->corner;
    *out = *o;
    out->corner = malloc(bytes + 1);
    out->normal_at = malloc(bytes + 1);
    if (!out->corner || !out->normal_at)
        return false;
    if (bytes > 0) {
        memcpy(out->corner, o->corner, bytes);
        memcpy(out->normal_at, o->normal_at, bytes);
    }
    return true;
}

/* Whether bodies are kept in an obstacle. */
static bool is_room(const pl_json *entry)
{
    static const char *const shapes[] = {"sphere", "box", "cylinder", "capsule", "torus", "mesh"};
    bool inside = false;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        inside |= pl_json_boolean(pl_json_at(entry, shapes[k]), "inside", false);
    return inside;
}

static int read_obstacles(pl_session_source *s, const pl_json *topology, pl_session_shape *out)
{
    struct pl_session_motions *m = out->motions;
    const pl_json *list = pl_json_at(topology, "obstacles");
    size_t count = pl_json_count(list);
    out->obstacle = calloc(count + 1, sizeof *out->obstacle);
    m->of = calloc(count + 1, sizeof *m->of);
    m->start = calloc(count + 1, sizeof *m->start);
    if (!out->obstacle || !m->of || !m->start)
        return no_memory(s);
    for (size_t k = 0; k < count; k++) {
        const pl_json *entry = pl_json_item(list, k), *plane = pl_json_at(entry, "plane");
        const pl_json *sphere = pl_json_at(entry, "sphere");
        pl_picture_obstacle *o = &out->obstacle[out->obstacles];
        if (plane) {
            read_vector(plane, "normal", o->normal);
            for (int i = 0; i < 3; i++)
                o->point[i] = o->normal[i] * (float)pl_json_number(plane, "offset", 0);
        } else if (is_room(entry)) {
            continue; /* bodies are in it: it would hide them */
        } else if (sphere) {
            o->sphere = true;
            read_vector(sphere, "center", o->point);
            o->radius = (float)pl_json_number(sphere, "radius", 0);
        } else {
            pl_status made = pl_shape_triangles(entry, o);
            if (made == PL_NO_MEMORY)
                return no_memory(s);
            if (made != PL_OK)
                continue; /* of a kind that this version can not draw */
        }
        m->of[out->obstacles] = (int64_t)k < m->scene.obstacle_count ? (int32_t)k : -1;
        if (!keep_start(o, &m->start[out->obstacles++]))
            return no_memory(s);
    }
    return PL_EXIT_OK;
}

/* The scene as it was posted. One that this version can not read has its obstacles at rest. */
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
        pl_cli_note(s->cli, "the scene can not be read: obstacles are drawn where they start");
    return PL_EXIT_OK;
}

int pl_session_source_shape(pl_session_source *s, double time, pl_session_shape *out)
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

static void clear_obstacles(pl_picture_obstacle *list, int32_t count)
{
    for (int32_t k = 0; list && k < count; k++) {
        free(list[k].corner);
        free(list[k].normal_at);
    }
    free(list);
}

void pl_session_shape_clear(pl_session_shape *shape)
{
    pl_shape_clear(&shape->mesh);
    clear_obstacles(shape->obstacle, shape->obstacles);
    if (shape->motions) {
        clear_obstacles(shape->motions->start, shape->obstacles);
        pl_scene_clear(&shape->motions->scene);
        free(shape->motions->of);
        free(shape->motions);
    }
    *shape = (pl_session_shape){0};
}
