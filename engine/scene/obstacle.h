/* obstacle.h - a solid that keeps bodies out of, or inside, it. */
#ifndef PLIANT_ENGINE_SCENE_OBSTACLE_H
#define PLIANT_ENGINE_SCENE_OBSTACLE_H

#include "engine/scene/mesh_source.h"
#include "engine/scene/motion.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum pl_obstacle_kind {
    PL_OBSTACLE_PLANE,
    PL_OBSTACLE_SPHERE,
    PL_OBSTACLE_BOX,
    PL_OBSTACLE_CYLINDER,
    PL_OBSTACLE_CAPSULE,
    PL_OBSTACLE_TORUS,
    PL_OBSTACLE_HEIGHTFIELD,
    PL_OBSTACLE_MESH,
    PL_OBSTACLE_CONE, /* new kinds go last: the digest of saved states contains these numbers */
} pl_obstacle_kind;

/* DO(its table of parameters) for each shape, in the order of the documentation; only plane and sphere come before
 * other tables, in params_rows.h. */
#define PL_EACH_OBSTACLE_TABLE(DO)                                                                 \
    DO(obstacle_box)                                                                               \
    DO(obstacle_cylinder)                                                                          \
    DO(obstacle_capsule)                                                                           \
    DO(obstacle_cone)                                                                              \
    DO(obstacle_torus)                                                                             \
    DO(obstacle_heightfield)                                                                       \
    DO(obstacle_mesh)

/* A closed surface: vertices and triangles of the source, or the file that contains them. */
typedef struct pl_obstacle_mesh {
    pl_mesh_source source; /* first: its keys are this struct's */
    pl_transform transform;
    bool inside;
} pl_obstacle_mesh;

/* A solid that keeps bodies out of it or, with `inside`, in it. */
typedef struct pl_obstacle {
    char *name; /* given, or "obstacle-K" */
    pl_obstacle_kind kind;
    double normal[3]; /* plane: unit, points to the free side */
    double offset;    /* plane: normal . x = offset, m */
    double center[3]; /* all except the plane, m */
    double axis[3];   /* cylinder, capsule, cone (to its tip), torus: unit */
    double radius;    /* sphere, cylinder, capsule, cone's base, torus's circle, m */
    double tube;      /* torus: radius of the tube, m, < radius */
    bool has_height;  /* cylinder: without it, no ends */
    double height; /* cylinder, cone: along the axis; capsule: between the centres of its ends, m */
    double size[3];        /* box, m */
    double rounding;       /* box, cylinder: radius of the edges, within the size, m */
    pl_transform place;    /* box: rotation about its centre; its other fields are unused */
    int32_t rows, columns; /* heightfield: samples along z and x, >= 2 */
    double *heights;       /* [rows][columns] m along y, over the centre */
    double spacing;        /* between samples, m */
    bool has_depth;        /* otherwise the longer side */
    double depth;          /* of the flat bottom below the lowest sample, m */
    pl_obstacle_mesh mesh;
    bool inside;        /* for all except plane and heightfield, and mesh, which has its own */
    double friction;    /* Coulomb coefficient, >= 0 */
    double restitution; /* 0 .. 1: a vertex leaves with this share of its normal arrival velocity */
    double margin;      /* m, >= 0: distance that contacts keep vertices from the surface */
    pl_motion motion;
} pl_obstacle;

/* Least extent, m; 0 for planes, heightfields and meshes. */
static inline double pl_obstacle_thickness(const pl_obstacle *o)
{
    switch (o->kind) {
    case PL_OBSTACLE_SPHERE:
    case PL_OBSTACLE_CAPSULE:
        return 2 * o->radius;
    case PL_OBSTACLE_BOX:
        return fmin(o->size[0], fmin(o->size[1], o->size[2]));
    case PL_OBSTACLE_CYLINDER:
        return o->has_height ? fmin(2 * o->radius, o->height) : 2 * o->radius;
    case PL_OBSTACLE_CONE:
        return fmin(2 * o->radius, o->height);
    case PL_OBSTACLE_TORUS:
        return 2 * o->tube;
    case PL_OBSTACLE_PLANE:
    case PL_OBSTACLE_HEIGHTFIELD:
    case PL_OBSTACLE_MESH:
        break;
    }
    return 0;
}

/* Radius of the largest ball that fits in, m; infinite for a plane, a heightfield and a mesh. */
static inline double pl_obstacle_inradius(const pl_obstacle *o)
{
    switch (o->kind) {
    case PL_OBSTACLE_PLANE:
    case PL_OBSTACLE_HEIGHTFIELD:
    case PL_OBSTACLE_MESH:
        return INFINITY;
    case PL_OBSTACLE_CONE:
        return o->radius * o->height / (o->radius + hypot(o->radius, o->height));
    default:
        return pl_obstacle_thickness(o) / 2;
    }
}

/* Least radius of the surface where it is convex, m; 0 where it has edges. */
static inline double pl_obstacle_edge_radius(const pl_obstacle *o)
{
    switch (o->kind) {
    case PL_OBSTACLE_SPHERE:
    case PL_OBSTACLE_CAPSULE:
        return o->radius;
    case PL_OBSTACLE_CYLINDER:
        return o->has_height ? o->rounding : o->radius;
    case PL_OBSTACLE_BOX:
        return o->rounding;
    case PL_OBSTACLE_TORUS:
        return o->tube;
    case PL_OBSTACLE_PLANE:
    case PL_OBSTACLE_HEIGHTFIELD:
    case PL_OBSTACLE_MESH:
    case PL_OBSTACLE_CONE:
        break;
    }
    return 0;
}

static inline bool pl_obstacle_is_convex(const pl_obstacle *o)
{
    return o->kind != PL_OBSTACLE_TORUS && o->kind != PL_OBSTACLE_HEIGHTFIELD &&
           o->kind != PL_OBSTACLE_MESH;
}

#endif
