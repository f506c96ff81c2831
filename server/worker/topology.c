#include "server/worker/topology.h"

#include "engine/obstacles/triangulate.h"

#include "protocol/text/json.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/session_file.h"
#include "server/worker/npy.h"

#include <math.h>
#include <stdlib.h>

enum { PINNED_MOST = 10000 };

/* The surface of one body, in the body's vertices. */
typedef struct surface {
    int32_t *triangles; /* [count][3] */
    int64_t count;
} surface;

/* A transform that mirrors turns triangles inside out: turn them back. */
static void orient(surface *s, const pl_transform *t)
{
    if (t->scale[0] * t->scale[1] * t->scale[2] >= 0)
        return;
    for (int64_t i = 0; i < s->count; i++) {
        int32_t *v = s->triangles + 3 * i;
        int32_t second = v[1];
        v[1] = v[2];
        v[2] = second;
    }
}

static surface *surfaces_create(const pl_session_scene *s, int64_t *total)
{
    int32_t bodies = s->scene.body_count;
    surface *list = calloc((size_t)bodies + 1, sizeof *list);
    *total = 0;
    for (int32_t b = 0; list && b < bodies; b++) {
        if (pl_mesh_surface(&s->meshes[b], &list[b].triangles, &list[b].count) != PL_OK) {
            for (int32_t k = 0; k < b; k++)
                free(list[k].triangles);
            free(list);
            return NULL;
        }
        orient(&list[b], &s->scene.bodies[b].transform);
        *total += list[b].count;
    }
    return list;
}

static void surfaces_destroy(surface *list, int32_t bodies)
{
    for (int32_t b = 0; list && b < bodies; b++)
        free(list[b].triangles);
    free(list);
}

/* Write a body's vertex indices as global ones. */
static void set_indices(pl_json_writer *w, const char *key, const int32_t *list, int64_t count,
                        int64_t first)
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int64_t i = 0; i < count; i++)
        pl_json_put_integer(w, first + list[i]);
    pl_json_end_array(w);
}

static void put_body(pl_json_writer *w, const pl_body *body, const pl_mesh *mesh, int64_t first,
                     const surface *s)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", body->name);
    pl_json_set_integer(w, "first_vertex", first);
    pl_json_set_integer(w, "vertices", mesh->vertex_count);
    pl_json_set_integer(w, "tets", mesh->tet_count);
    set_indices(w, "triangles", s->triangles, 3 * s->count, first);
    pl_json_set_integer(w, "sheet_triangles", mesh->triangle_count);
    set_indices(w, "edges", mesh->edges, 2 * mesh->edge_count, first);
    pl_json_end_object(w);
}

static int64_t vertices_before(const pl_session_scene *s, int32_t body)
{
    int64_t sum = 0;
    for (int32_t b = 0; b < body; b++)
        sum += s->meshes[b].vertex_count;
    return sum;
}

/* `at` lists the pinned vertices by global index, so that viewers can mark them; empty for more than PINNED_MOST. */
static void put_pin(pl_json_writer *w, const pl_session_scene *s, const pl_pin *pin, int64_t count,
                    int64_t first)
{
    pl_faults faults = {0};
    int32_t *vertex = NULL;
    int64_t found = 0;
    if (count <= PINNED_MOST && pl_body_select(&s->scene.bodies[pin->body], &s->meshes[pin->body],
                                               &pin->select, "", &vertex, &found, &faults) != PL_OK)
        found = 0;
    pl_faults_clear(&faults);
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", pin->name);
    pl_json_set_string(w, "body", s->scene.bodies[pin->body].name);
    pl_json_set_integer(w, "vertices", count);
    set_indices(w, "at", vertex, found, first);
    pl_json_end_object(w);
    free(vertex);
}

/* A surface from a file is written out, so that viewers need not read the file. */
static void put_obstacle(pl_json_writer *w, const pl_obstacle *obstacle)
{
    pl_obstacle drawn = *obstacle;
    if (drawn.kind == PL_OBSTACLE_MESH)
        drawn.mesh.source.kind = PL_SOURCE_INLINE;
    pl_obstacle_put(w, &drawn);
}

/* The centre of rotation of a motion that names no point: the centre, or the middle of a mesh. */
static void centre_of(const pl_obstacle *o, const pl_solid_arrays *shape, double out[3])
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * shape->vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], shape->vertex[i]);
        hi[i % 3] = fmax(hi[i % 3], shape->vertex[i]);
    }
    for (int c = 0; c < 3; c++)
        out[c] = o->kind == PL_OBSTACLE_MESH ? (lo[c] + hi[c]) / 2 : o->center[c];
}

static void set_numbers(pl_json_writer *w, const char *key, const double *list, int64_t count)
{
    enum { DIGITS = 7 }; /* of a float, which is the precision drawn */
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int64_t i = 0; i < count; i++)
        pl_json_put_number(w, list[i], DIGITS);
    pl_json_end_array(w);
}

/* The triangles of an obstacle at time 0; null for a plane, which is infinite. */
static pl_status put_obstacle_surface(pl_json_writer *w, const pl_obstacle *o)
{
    static const double origin[3];
    pl_solid_arrays shape;
    double centre[3];
    if (o->kind == PL_OBSTACLE_PLANE) {
        pl_json_put_null(w);
        return PL_OK;
    }
    if (pl_obstacle_surface_create(o, origin, 0, &shape) != PL_OK)
        return PL_NO_MEMORY;
    centre_of(o, &shape, centre);
    pl_json_begin_object(w);
    pl_json_set_boolean(w, "inside", o->inside || o->mesh.inside);
    set_numbers(w, "center", centre, 3);
    set_numbers(w, "vertices", shape.vertex, 3 * shape.vertex_count);
    pl_json_key(w, "triangles");
    pl_json_begin_array(w);
    for (int64_t i = 0; i < 3 * shape.triangle_count; i++)
        pl_json_put_integer(w, shape.triangle[i]);
    pl_json_end_array(w);
    pl_json_end_object(w);
    pl_solid_arrays_clear(&shape);
    return PL_OK;
}

/* NULL: out of memory. */
static char *encode(const pl_session_scene *s, const surface *surfaces, const int64_t *pin_counts,
                    const pl_expected *expected, size_t *length)
{
    const pl_scene *scene = &s->scene;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", 1);
    pl_json_set_integer(&w, "vertices", vertices_before(s, scene->body_count));
    pl_json_key(&w, "bodies");
    pl_json_begin_array(&w);
    for (int32_t b = 0; b < scene->body_count; b++)
        put_body(&w, &scene->bodies[b], &s->meshes[b], vertices_before(s, b), &surfaces[b]);
    pl_json_end_array(&w);
    pl_json_key(&w, "obstacles");
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < scene->obstacle_count; k++)
        put_obstacle(&w, &scene->obstacles[k]);
    pl_json_end_array(&w);
    pl_status status = PL_OK;
    pl_json_key(&w, "obstacle_surfaces");
    pl_json_begin_array(&w);
    for (int32_t k = 0; status == PL_OK && k < scene->obstacle_count; k++)
        status = put_obstacle_surface(&w, &scene->obstacles[k]);
    pl_json_end_array(&w);
    pl_json_key(&w, "pins");
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < scene->pin_count; k++)
        put_pin(&w, s, &scene->pins[k], pin_counts[k], vertices_before(s, scene->pins[k].body));
    pl_json_end_array(&w);
    pl_json_key(&w, "expect");
    pl_expected_encode(&w, s, expected);
    pl_json_key(&w, "arrays");
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "triangles", "triangles.npy");
    pl_json_set_string(&w, "tets", "tets.npy");
    pl_json_set_string(&w, "surface", "surface.npy");
    pl_json_end_object(&w);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, length);
    if (status == PL_OK)
        return text;
    free(text);
    return NULL;
}

/* Write every body's triangles (if surfaces are given) or tetrahedra as one array of global vertices. */
static pl_status write_array(int directory, const char *name, const pl_session_scene *s,
                             const surface *surfaces, int64_t rows, pl_file_sum *sum)
{
    pl_npy_writer *npy = NULL;
    pl_status status = pl_npy_open(directory, name, rows, surfaces ? 3 : 4, &npy);
    for (int32_t b = 0; status == PL_OK && b < s->scene.body_count; b++)
        status = pl_npy_append(npy, surfaces ? surfaces[b].triangles : s->meshes[b].tets,
                               surfaces ? surfaces[b].count : s->meshes[b].tet_count,
                               (int32_t)vertices_before(s, b));
    pl_status closed = pl_npy_close(npy, status == PL_OK, sum);
    return status == PL_OK ? closed : status;
}

/* Write the vertices of drawn triangles and loose edges, ascending. */
static pl_status write_surface(int directory, const pl_session_scene *s, const surface *surfaces,
                               pl_file_sum *sum)
{
    int64_t vertices = vertices_before(s, s->scene.body_count), count = 0;
    bool *drawn = calloc((size_t)vertices + 1, sizeof *drawn);
    int32_t *list = malloc(((size_t)vertices + 1) * sizeof *list);
    pl_npy_writer *npy = NULL;
    pl_status status = drawn && list ? PL_OK : PL_NO_MEMORY;
    for (int32_t b = 0; status == PL_OK && b < s->scene.body_count; b++) {
        bool *of_body = drawn + vertices_before(s, b);
        for (int64_t i = 0; i < 3 * surfaces[b].count; i++)
            of_body[surfaces[b].triangles[i]] = true;
        for (int64_t i = 0; i < 2 * s->meshes[b].edge_count; i++)
            of_body[s->meshes[b].edges[i]] = true;
    }
    for (int64_t v = 0; status == PL_OK && v < vertices; v++)
        if (drawn[v])
            list[count++] = (int32_t)v;
    if (status == PL_OK)
        status = pl_npy_open(directory, "surface.npy", count, 1, &npy);
    if (npy && status == PL_OK)
        status = pl_npy_append(npy, list, count, 0);
    pl_status closed = pl_npy_close(npy, status == PL_OK, sum);
    free(list);
    free(drawn);
    return status == PL_OK ? closed : status;
}

pl_status pl_topology_write(int directory, const pl_session_scene *s, const int64_t *pin_counts,
                            const pl_expected *expected, pl_file_sum sums[PL_FILE_COUNT])
{
    int64_t triangles, tets = 0;
    for (int32_t b = 0; b < s->scene.body_count; b++)
        tets += s->meshes[b].tet_count;
    surface *surfaces = surfaces_create(s, &triangles);
    if (!surfaces)
        return PL_NO_MEMORY;
    size_t length = 0;
    char *text = encode(s, surfaces, pin_counts, expected, &length);
    pl_status status = text ? pl_file_put_text(directory, "topology.json", text, length)
                            : PL_NO_MEMORY;
    if (status == PL_OK)
        sums[PL_FILE_TOPOLOGY] = pl_file_sum_of(text, length);
    free(text);
    if (status == PL_OK)
        status = write_array(directory, "triangles.npy", s, surfaces, triangles,
                             &sums[PL_FILE_TRIANGLES]);
    if (status == PL_OK)
        status = write_array(directory, "tets.npy", s, NULL, tets, &sums[PL_FILE_TETS]);
    if (status == PL_OK)
        status = write_surface(directory, s, surfaces, &sums[PL_FILE_SURFACE]);
    surfaces_destroy(surfaces, s->scene.body_count);
    return status;
}
