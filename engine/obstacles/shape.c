#include "engine/obstacles/shape_internal.h"
#include "engine/obstacles/solid.h"
#include "engine/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A way is looked at in at least this many places for a part of the shape in it. */
static const int PLACES = 256;

static const pl_shape_measure MEASURES[] = {
    [PL_OBSTACLE_PLANE] = pl_measure_plane,       [PL_OBSTACLE_SPHERE] = pl_measure_sphere,
    [PL_OBSTACLE_BOX] = pl_measure_box,           [PL_OBSTACLE_CYLINDER] = pl_measure_cylinder,
    [PL_OBSTACLE_CAPSULE] = pl_measure_capsule,   [PL_OBSTACLE_TORUS] = pl_measure_torus,
    [PL_OBSTACLE_HEIGHTFIELD] = pl_measure_solid, [PL_OBSTACLE_MESH] = pl_measure_solid,
};

double pl_measure_solid(const pl_shape *s, const double d[3], double n[3], double *H)
{
    return pl_closed_mesh_distance(s->solid, d, n, H);
}

/* The middle of the box around a placed mesh. */
static void set_middle(pl_shape *s, const pl_solid_arrays *a)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * a->vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], a->vertex[i]);
        hi[i % 3] = fmax(hi[i % 3], a->vertex[i]);
    }
    for (int c = 0; c < 3; c++)
        s->middle[c] = (lo[c] + hi[c]) / 2;
}

static pl_status set_solid(pl_shape *s, const pl_obstacle *o)
{
    pl_solid_arrays a;
    pl_status status = pl_solid_arrays_create(o, &a);
    if (status != PL_OK)
        return status;
    if (o->kind == PL_OBSTACLE_MESH)
        set_middle(s, &a);
    status = pl_closed_mesh_create(a.vertex, a.vertex_count, a.triangle, a.triangle_count,
                                   &s->solid);
    pl_solid_arrays_clear(&a);
    return status;
}

/* The numbers of the shapes that have a formula; a solid's are in its mesh. */
static void set_numbers(pl_shape *s, const pl_obstacle *o)
{
    memcpy(s->axis, o->axis, sizeof s->axis);
    memcpy(s->normal, o->normal, sizeof s->normal);
    s->offset = o->offset;
    s->radius = o->radius;
    s->tube = o->tube;
    s->rounding = o->rounding;
    for (int c = 0; c < 3; c++)
        s->half[c] = o->size[c] / 2;
    for (int c = 0; c < 3; c++)
        s->middle[c] = o->kind == PL_OBSTACLE_PLANE ? o->normal[c] * o->offset : o->center[c];
    if (o->kind != PL_OBSTACLE_BOX)
        s->half[0] = o->kind == PL_OBSTACLE_CYLINDER && !o->has_height ? INFINITY : o->height / 2;
}

pl_status pl_shape_create(const pl_obstacle *o, pl_shape **out)
{
    pl_shape *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->measure = MEASURES[o->kind];
    set_numbers(s, o);
    s->inside = o->kind == PL_OBSTACLE_MESH ? o->mesh.inside : o->inside;
    if (o->kind != PL_OBSTACLE_PLANE && o->kind != PL_OBSTACLE_MESH)
        memcpy(s->center, o->center, sizeof s->center);
    if (o->kind == PL_OBSTACLE_BOX || o->kind == PL_OBSTACLE_HEIGHTFIELD) {
        pl_rotation(o->place.rotate_axis, o->place.rotate_degrees, s->R);
        s->turned = o->place.rotate_degrees != 0;
    }
    /* What stays in a convex room, or on one side of a plane, has no far side to come out at. */
    s->one_sided = o->kind == PL_OBSTACLE_PLANE ||
                   (s->inside && o->kind != PL_OBSTACLE_TORUS && o->kind != PL_OBSTACLE_MESH);
    if (pl_obstacle_is_solid(o) && set_solid(s, o) != PL_OK) {
        pl_shape_destroy(s);
        return PL_NO_MEMORY;
    }
    *out = s;
    return PL_OK;
}

void pl_shape_destroy(pl_shape *s)
{
    if (s)
        pl_closed_mesh_destroy(s->solid);
    free(s);
}

/* out = R in R^T. */
static void turn_matrix(const double *R, double *H)
{
    double T[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[3 * i + j] = R[i] * H[j] + R[i + 3] * H[3 + j] + R[i + 6] * H[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] = T[3 * i] * R[j] + T[3 * i + 1] * R[j + 3] + T[3 * i + 2] * R[j + 6];
}

static double measure(const pl_shape *s, const double p[3], double normal[3], double *H)
{
    double d[3], own[3], n[3];
    for (int c = 0; c < 3; c++)
        d[c] = p[c] - s->center[c];
    if (H)
        memset(H, 0, 9 * sizeof *H);
    double distance;
    if (s->turned) {
        for (int i = 0; i < 3; i++)
            own[i] = pl_dot3(s->R + 3 * i, d);
        distance = s->measure(s, own, n, H);
        for (int i = 0; i < 3; i++)
            normal[i] = s->R[i] * n[0] + s->R[i + 3] * n[1] + s->R[i + 6] * n[2];
        if (H)
            turn_matrix(s->R, H);
    } else {
        distance = s->measure(s, d, normal, H);
    }
    if (!s->inside)
        return distance;
    for (int c = 0; c < 3; c++)
        normal[c] = -normal[c];
    for (int e = 0; H && e < 9; e++)
        H[e] = -H[e];
    return -distance;
}

double pl_shape_distance(const pl_shape *s, const double p[3], double normal[3])
{
    return measure(s, p, normal, NULL);
}

double pl_shape_bend(const pl_shape *s, const double p[3], double normal[3], double H[9])
{
    return measure(s, p, normal, H);
}

/* Whether the straight way between two points outside passes through the shape. From any point the
 * next one as far as the distance there cannot have the surface in between. */
static bool passes_through(const pl_shape *s, const double from[3], const double to[3], double way)
{
    double least = way / PLACES;
    for (double gone = least; gone < way;) {
        double p[3], n[3];
        for (int c = 0; c < 3; c++)
            p[c] = from[c] + gone / way * (to[c] - from[c]);
        double distance = measure(s, p, n, NULL);
        if (distance < 0)
            return true;
        gone += fmax(distance, least);
    }
    return false;
}

static double measure_from(const pl_shape *s, const double from[3], const double to[3],
                           double normal[3], double *H)
{
    double distance = measure(s, to, normal, H);
    double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    double way = sqrt(pl_dot3(d, d));
    if (s->one_sided || distance > way) /* the surface is not within reach */
        return distance;
    double near[3];
    double before = measure(s, from, near, NULL);
    if (pl_dot3(near, normal) >= 0)
        return distance;
    if (distance >= 0 && before >= 0 && !passes_through(s, from, to, way))
        return distance;
    for (int c = 0; c < 3; c++)
        normal[c] = near[c];
    for (int e = 0; H && e < 9; e++)
        H[e] = 0;
    return before + pl_dot3(d, near);
}

double pl_shape_distance_from(const pl_shape *s, const double from[3], const double to[3],
                              double normal[3])
{
    return measure_from(s, from, to, normal, NULL);
}

double pl_shape_bend_from(const pl_shape *s, const double from[3], const double to[3],
                          double normal[3], double H[9])
{
    return measure_from(s, from, to, normal, H);
}

pl_motion pl_obstacle_motion(const pl_obstacle *o, const pl_shape *shape)
{
    pl_motion motion = o->motion;
    if (!motion.has_origin) {
        memcpy(motion.origin, shape->middle, sizeof motion.origin);
        motion.has_origin = true;
    }
    return motion;
}
