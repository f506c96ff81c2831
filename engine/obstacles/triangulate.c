#include "engine/obstacles/triangulate.h"

#include "engine/scene/transform.h"
#include "engine/vectors.h"

#include <math.h>
#include <string.h>

enum { SECTORS = 64, ARC = 12, PROFILE = 4 * (ARC + 1), FACE = 2 * (ARC + 1) };

/* ---- bodies of revolution ---- */

/* A curve in the half plane (rho, y), with y along the axis and the solid on its left. Two points at the same place
 * are an edge of the solid. */
typedef struct profile {
    int count;
    double rho[PROFILE], y[PROFILE];
} profile;

static void add_point(profile *p, double rho, double y)
{
    p->rho[p->count] = rho;
    p->y[p->count++] = y;
}

/* Points (rho + radius cos a, y + radius sin a) for angles of `from` to `to` quarters of a turn; an arc without
 * radius is an edge. */
static void add_arc(profile *p, double rho, double y, double radius, int from, int to)
{
    int pieces = radius > 0 ? ARC * (to - from) : 1;
    for (int i = 0; i <= pieces; i++) {
        double quarters = from + (double)(to - from) * i / pieces;
        double cosine = fabs(quarters) == 1 ? 0 : cos(quarters * M_PI / 2);
        add_point(p, rho + radius * cosine, y + radius * sin(quarters * M_PI / 2));
    }
}

static profile profile_of(const pl_obstacle *o)
{
    profile p = {0};
    double half = o->height / 2, r = o->rounding;
    if (o->kind == PL_OBSTACLE_SPHERE) {
        add_arc(&p, 0, 0, o->radius, -1, 1);
    } else if (o->kind == PL_OBSTACLE_CAPSULE) {
        add_arc(&p, 0, -half, o->radius, -1, 0);
        add_arc(&p, 0, half, o->radius, 0, 1);
    } else if (o->kind == PL_OBSTACLE_TORUS) {
        add_arc(&p, o->radius, 0, o->tube, -2, 2);
        p.count--; /* the profile is closed */
    } else if (o->kind == PL_OBSTACLE_CONE) {
        add_point(&p, 0, -half);
        add_arc(&p, o->radius, -half, 0, -1, 0);
        add_point(&p, 0, half);
    } else {
        half = o->has_height ? half : 50 * o->radius;
        add_point(&p, 0, -half);
        add_arc(&p, o->radius - r, r - half, r, -1, 0);
        add_arc(&p, o->radius - r, half - r, r, 0, 1);
        add_point(&p, 0, half);
    }
    return p;
}

/* Unit vectors u, w, with u x w along the axis. */
static void set_frame(const double axis[3], double u[3], double w[3])
{
    double side[3] = {fabs(axis[0]) < 0.6, !(fabs(axis[0]) < 0.6), 0};
    pl_vector_cross(side, axis, u);
    double length = sqrt(pl_vector_dot(u, u));
    for (int c = 0; c < 3; c++)
        u[c] /= length;
    pl_vector_cross(axis, u, w);
}

/* The circle of a point of the profile, or a single vertex for a point on the axis. Returns the number of vertices. */
static int put_ring(pl_solid_arrays *a, const pl_obstacle *o, const double axis[3], double rho,
                    double y)
{
    double u[3], w[3];
    set_frame(axis, u, w);
    int sectors = rho > 0 ? SECTORS : 1;
    for (int j = 0; j < sectors; j++) {
        double angle = 2 * M_PI * j / SECTORS, x[3];
        for (int c = 0; c < 3; c++)
            x[c] = o->center[c] + rho * (cos(angle) * u[c] + sin(angle) * w[c]) + y * axis[c];
        pl_solid_put_vertex(a, x[0], x[1], x[2]);
    }
    return sectors;
}

/* The triangles between two rings that begin at these vertices. */
static void put_band(pl_solid_arrays *a, int64_t low, int low_count, int64_t high, int high_count)
{
    for (int j = 0; j < SECTORS; j++) {
        int next = (j + 1) % SECTORS;
        if (low_count > 1)
            pl_solid_put_triangle(a, low + j, low + next, high + (high_count > 1 ? j : 0));
        if (high_count > 1)
            pl_solid_put_triangle(a, low + (low_count > 1 ? next : 0), high + next, high + j);
    }
}

static pl_status put_round(const pl_obstacle *o, pl_solid_arrays *out)
{
    static const double up[3] = {0, 1, 0};
    const double *axis = o->kind == PL_OBSTACLE_SPHERE ? up : o->axis;
    profile p = profile_of(o);
    bool closed = o->kind == PL_OBSTACLE_TORUS;
    if (pl_solid_arrays_reserve((int64_t)SECTORS * p.count, 2 * (int64_t)SECTORS * p.count, out) !=
        PL_OK)
        return PL_NO_MEMORY;
    int64_t first[PROFILE];
    int rings[PROFILE];
    for (int i = 0; i < p.count; i++) {
        first[i] = out->vertex_count;
        rings[i] = put_ring(out, o, axis, p.rho[i], p.y[i]);
    }
    for (int i = 0; i < (closed ? p.count : p.count - 1); i++) {
        int k = (i + 1) % p.count;
        if (p.rho[i] != p.rho[k] || p.y[i] != p.y[k])
            put_band(out, first[i], rings[i], first[k], rings[k]);
    }
    return PL_OK;
}

/* ---- boxes, planes, heightfields, meshes ---- */

/* The vertices of a square grid of `side` vertices from `first` on, in rows, as triangles. */
static void put_grid(pl_solid_arrays *a, int64_t first, int side)
{
    for (int r = 0; r + 1 < side; r++)
        for (int c = 0; c + 1 < side; c++) {
            int64_t i = first + (int64_t)r * side + c;
            pl_solid_put_triangle(a, i, i + 1, i + side);
            pl_solid_put_triangle(a, i + 1, i + side + 1, i + side);
        }
}

/* The k-th of `side` grid lines across a face: the edge to which it belongs, and the slope of the surface's normal
 * there, which goes from 45 degrees to 0 over the rounding of an edge. */
static int grid_line(int k, int side, double *slope)
{
    int arc = side / 2 - 1, sign = 2 * k < side ? -1 : 1;
    int from_flat = sign < 0 ? arc - k : k - arc - 1;
    *slope = arc > 0 ? sign * tan(M_PI / 4 * from_flat / arc) : 0;
    return sign;
}

/* The face of a box across `axis`, on one side of it, with its part of the rounded edges: the core's corner and
 * from there the rounding along the normal. Coordinates are the box's own. */
static void put_face(pl_solid_arrays *a, const pl_obstacle *o, int axis, int sign, int side)
{
    int64_t first = a->vertex_count;
    /* Columns run along the first of the other two axes; sign flips the face. */
    int across = (axis + (sign > 0 ? 1 : 2)) % 3, down = 3 - axis - across;
    for (int r = 0; r < side; r++)
        for (int c = 0; c < side; c++) {
            double n[3], x[3];
            int edge[3];
            edge[axis] = sign;
            n[axis] = sign;
            edge[across] = grid_line(c, side, &n[across]);
            edge[down] = grid_line(r, side, &n[down]);
            double length = sqrt(pl_vector_dot(n, n));
            for (int k = 0; k < 3; k++)
                x[k] = edge[k] * (o->size[k] / 2 - o->rounding) + o->rounding * n[k] / length;
            pl_solid_put_vertex(a, x[0], x[1], x[2]);
        }
    put_grid(a, first, side);
}

/* Rotates the vertices about the origin by the obstacle's rotation, and moves them to its centre. */
static void place(const pl_obstacle *o, pl_solid_arrays *a)
{
    pl_transform t = {.scale = {1, 1, 1}, .rotate_degrees = o->place.rotate_degrees};
    memcpy(t.rotate_axis, o->place.rotate_axis, sizeof t.rotate_axis);
    memcpy(t.translate, o->center, sizeof t.translate);
    pl_transform_points(&t, a->vertex, a->vertex_count, a->vertex);
}

static pl_status put_box(const pl_obstacle *o, pl_solid_arrays *out)
{
    int side = o->rounding > 0 ? FACE : 2;
    int64_t cells = (int64_t)(side - 1) * (side - 1);
    if (pl_solid_arrays_reserve(6 * (int64_t)side * side, 12 * cells, out) != PL_OK)
        return PL_NO_MEMORY;
    for (int face = 0; face < 6; face++)
        put_face(out, o, face / 2, face % 2 ? 1 : -1, side);
    place(o, out);
    return PL_OK;
}

static pl_status put_plane(const pl_obstacle *o, const double around[3], double size,
                           pl_solid_arrays *out)
{
    double u[3], w[3], away = o->offset - pl_vector_dot(o->normal, around);
    if (pl_solid_arrays_reserve(4, 2, out) != PL_OK)
        return PL_NO_MEMORY;
    set_frame(o->normal, u, w);
    for (int k = 0; k < 4; k++) {
        double x[3], a = (k % 2 ? size : -size) / 2, b = (k / 2 ? size : -size) / 2;
        for (int c = 0; c < 3; c++)
            x[c] = around[c] + away * o->normal[c] + a * u[c] + b * w[c];
        pl_solid_put_vertex(out, x[0], x[1], x[2]);
    }
    put_grid(out, 0, 2);
    return PL_OK;
}

/* The top comes first in the arrays: cut off the rest. */
static pl_status put_heightfield(const pl_obstacle *o, pl_solid_arrays *out)
{
    if (pl_solid_arrays_create(o, out) != PL_OK)
        return PL_NO_MEMORY;
    out->vertex_count = (int64_t)o->rows * o->columns;
    out->triangle_count = 2 * (int64_t)(o->rows - 1) * (o->columns - 1);
    place(o, out);
    return PL_OK;
}

pl_status pl_obstacle_surface_create(const pl_obstacle *o, const double around[3], double size,
                                     pl_solid_arrays *out)
{
    switch (o->kind) {
    case PL_OBSTACLE_PLANE:
        return put_plane(o, around, size, out);
    case PL_OBSTACLE_BOX:
        return put_box(o, out);
    case PL_OBSTACLE_HEIGHTFIELD:
        return put_heightfield(o, out);
    case PL_OBSTACLE_MESH:
        return pl_solid_arrays_create(o, out);
    default:
        return put_round(o, out);
    }
}
