#include "engine/obstacles/closed_mesh.h"
#include "engine/obstacles/distance.h"
#include "engine/obstacles/shape.h"
#include "engine/obstacles/solid.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PL_OBSTACLE_TORUS == (int)PL_DISTANCE_TORUS &&
                   (int)PL_OBSTACLE_HEIGHTFIELD == (int)PL_DISTANCE_HEIGHTFIELD &&
                   (int)PL_OBSTACLE_MESH == (int)PL_DISTANCE_MESH,
               "kinds of obstacles and of distances have one order");

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

/* The numbers of the shapes with a formula; a solid's are in its mesh. */
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

/* Bodies stay in a convex room, or on one side of a plane. */
static bool keeps_in_convex(const pl_obstacle *o)
{
    return o->kind == PL_OBSTACLE_PLANE || (o->inside && pl_obstacle_is_convex(o));
}

double pl_obstacle_curvature(const pl_obstacle *o)
{
    if (keeps_in_convex(o))
        return 0;
    /* The margin rounds edges, too. */
    double radius = (o->inside ? 0 : pl_obstacle_edge_radius(o)) + o->margin;
    return radius > 0 ? 1 / radius : INFINITY;
}

pl_status pl_shape_create(const pl_obstacle *o, pl_shape **out)
{
    pl_shape *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->kind = (int32_t)o->kind;
    s->thin = pl_obstacle_thickness(o);
    s->margin = o->margin;
    set_numbers(s, o);
    s->inside = o->kind == PL_OBSTACLE_MESH ? o->mesh.inside : o->inside;
    if (o->kind != PL_OBSTACLE_PLANE && o->kind != PL_OBSTACLE_MESH)
        memcpy(s->center, o->center, sizeof s->center);
    if (o->kind == PL_OBSTACLE_BOX || o->kind == PL_OBSTACLE_HEIGHTFIELD) {
        pl_rotation(o->place.rotate_axis, o->place.rotate_degrees, s->R);
        s->turned = o->place.rotate_degrees != 0;
    }
    s->one_sided = keeps_in_convex(o); /* there is no far side through which to come out */
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

double pl_shape_distance(const pl_shape *s, const double p[3], double normal[3])
{
    return pl_shape_measure(s, p, normal, NULL);
}

double pl_shape_distance_held(const pl_shape *s, const double p[3], double normal[3])
{
    return pl_shape_measure_held(s, p, normal, NULL);
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
