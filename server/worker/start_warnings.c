#include "server/worker/start_warnings.h"

#include "engine/obstacles/shape.h"
#include "engine/vectors.h"
#include "server/worker/placed_body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Usual sizes of bodies, m. Outside this range, the mesh file most likely uses units other than metres. */
static const double SMALL = 1e-3, LARGE = 50;
/* Fraction of a body's size: vertices no deeper than this in an obstacle rest on it. */
static const double TOUCHING = 1e-4;
/* Warn of bodies that move farther in a step than this many times an obstacle's thickness. */
static const double THIN = 50;

/* Most distances between vertices and obstacles that are computed: one to a mesh takes microseconds. With more
 * vertices, only every second, third, ... is checked. */
static const int64_t DISTANCES_MAX = 200000;

typedef struct look {
    const pl_scene *scene;
    pl_warnings *out;
    int64_t every;     /* every n-th vertex is checked */
    pl_placed_body at; /* the body being checked */
    bool *touched;     /* [vertices] of it that feel obstacles */
} look;

/* Mark the vertices that interact with obstacles: the surface of tetrahedra; all of sheets and ropes. */
static pl_status find_touched(look *l)
{
    const pl_mesh *mesh = l->at.mesh;
    int32_t *triangles = NULL;
    int64_t count = 0;
    l->touched = calloc((size_t)mesh->vertex_count + 1, sizeof *l->touched);
    if (!l->touched || pl_mesh_surface(mesh, &triangles, &count) != PL_OK)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 3 * count; i++)
        l->touched[triangles[i]] = true;
    free(triangles);
    for (int64_t i = 0; mesh->tet_count == 0 && i < mesh->vertex_count; i++)
        l->touched[i] = true;
    return PL_OK;
}

static pl_status warn_of_size(const look *l)
{
    char text[512];
    double size = l->at.size;
    if (size >= SMALL && size <= LARGE)
        return PL_OK;
    snprintf(
        text, sizeof text,
        "body '%s' is %.3g m across: lengths are in metres, in mesh files too; if its file has "
        "other units, set transform.scale (0.001 for millimetres)",
        l->at.body->name, size);
    return pl_warnings_add(l->out, PL_WARNING_ODD_SIZE, 1, l->scene->body_count, text);
}

static pl_status warn_of_inside(const look *l, const pl_obstacle *obstacle)
{
    pl_shape *shape;
    double normal[3], deepest = 0, step = l->scene->time.step;
    int64_t inside = 0;
    pl_status status = pl_shape_create(obstacle, &shape);
    if (status != PL_OK)
        return status;
    /* A distance changes by no more than the distance moved. */
    bool near = pl_shape_distance_held(shape, l->at.middle, normal) < l->at.size / 2;
    for (int64_t i = 0; near && i < l->at.mesh->vertex_count; i += l->every) {
        double d = l->touched[i] ? pl_shape_distance_held(shape, l->at.x + 3 * i, normal) : 0;
        inside += d < -TOUCHING * l->at.size;
        deepest = fmax(deepest, -d);
    }
    pl_shape_destroy(shape);
    if (inside > 0) {
        char text[512];
        int n = snprintf(text, sizeof text,
                         "%s%lld vertices of body '%s' begin inside obstacle '%s'%s, the deepest "
                         "%.3g m: the first step moves them to its surface",
                         l->every > 1 ? "about " : "", (long long)(inside * l->every),
                         l->at.body->name, obstacle->name,
                         obstacle->margin > 0 ? " or its margin" : "", deepest);
        if (l->scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          ", which ejects them at up to %.3g m/s", deepest / step);
        snprintf(text + n, sizeof text - (size_t)n, "; start it outside");
        status = pl_warnings_add(l->out, PL_WARNING_START_INSIDE, inside * l->every,
                                 l->at.mesh->vertex_count, text);
    }
    return status;
}

static pl_status warn_of_speed(const look *l, const pl_obstacle *obstacle)
{
    const double *v = l->at.body->initial.velocity, *w = l->at.body->initial.angular_velocity;
    double speed = sqrt(pl_vector_dot(v, v)) + l->at.size / 2 * sqrt(pl_vector_dot(w, w));
    double way = speed * l->scene->time.step, thickness = pl_obstacle_thickness(obstacle);
    char text[512];
    if (obstacle->inside || thickness == 0 || !(way > THIN * thickness))
        return PL_OK;
    snprintf(
        text, sizeof text,
        "body '%s' starts at %.3g m/s and moves %.3g m in a step of %g s, but obstacle '%s' is "
        "only "
        "%.3g m thick: the impact stops the body, but its time and place are inaccurate; use a "
        "time.step of %.2g s",
        l->at.body->name, speed, way, l->scene->time.step, obstacle->name, thickness,
        THIN * thickness / speed);
    return pl_warnings_add(l->out, PL_WARNING_THIN_OBSTACLE, 1, l->scene->body_count, text);
}

pl_status pl_start_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out)
{
    pl_status status = PL_OK;
    int64_t distances = 0;
    for (int32_t b = 0; b < scene->body_count; b++)
        distances += meshes[b].vertex_count * scene->obstacle_count;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++) {
        look l = {.scene = scene, .every = 1 + distances / DISTANCES_MAX, .out = out};
        status = pl_placed_body_init(&l.at, &scene->bodies[b], &meshes[b]);
        if (status == PL_OK)
            status = warn_of_size(&l);
        bool at_rest = scene->bodies[b].initial.shape == PL_SHAPE_REST;
        if (status == PL_OK && at_rest && scene->obstacle_count > 0)
            status = find_touched(&l);
        for (int32_t k = 0; status == PL_OK && k < scene->obstacle_count; k++) {
            status = warn_of_speed(&l, &scene->obstacles[k]);
            if (status == PL_OK && at_rest)
                status = warn_of_inside(&l, &scene->obstacles[k]);
        }
        free(l.touched);
        pl_placed_body_clear(&l.at);
    }
    return status;
}
