#include "engine/mesh/shapes.h"

#include "engine/mesh/check.h"
#include "engine/mesh/ratio.h"
#include "engine/vectors.h"

#include <math.h>

static const double degrees = 180 / M_PI;

static double length(const double *a)
{
    return sqrt(pl_vector_dot(a, a));
}

static double angle_between(const double *u, const double *v)
{
    double n[3];
    pl_vector_cross(u, v, n);
    return atan2(length(n), pl_vector_dot(u, v)) * degrees;
}

static void note_angle(pl_shape *s, double angle)
{
    s->value[PL_SHAPE_LEAST_ANGLE] = fmin(s->value[PL_SHAPE_LEAST_ANGLE], angle);
    s->value[PL_SHAPE_GREATEST_ANGLE] = fmax(s->value[PL_SHAPE_GREATEST_ANGLE], angle);
}

/* ---- one element ---- */

/* The dihedral angle at edge (i, j) is the angle between the components, across it, of the edges to k and l,
 * whatever the tetrahedron's orientation. Returns the longest edge. */
static double dihedral_angles(const double *x[4], pl_shape *s)
{
    static const int at[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                 {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    double longest = 0;
    for (int i = 0; i < 6; i++) {
        double e[3], p[3], q[3], m[3], n[3];
        pl_vector_subtract(x[at[i][1]], x[at[i][0]], e);
        pl_vector_subtract(x[at[i][2]], x[at[i][0]], p);
        pl_vector_subtract(x[at[i][3]], x[at[i][0]], q);
        pl_vector_cross(e, p, m);
        pl_vector_cross(e, q, n);
        note_angle(s, angle_between(m, n));
        longest = fmax(longest, length(e));
    }
    return longest;
}

static double face_area(const double *a, const double *b, const double *c)
{
    double u[3], v[3], n[3];
    pl_vector_subtract(b, a, u);
    pl_vector_subtract(c, a, v);
    pl_vector_cross(u, v, n);
    return length(n) / 2;
}

/* r = 3 V / A with A the area of the four faces; the regular one's longest edge is 2 sqrt 6 r. */
static void measure_tet(const double *x[4], pl_shape *s)
{
    double volume, longest = dihedral_angles(x, s);
    double ratio = pl_mesh_tet_ratio(x[0], x[1], x[2], x[3], &volume);
    s->inverted = volume < 0;
    if (s->inverted)
        ratio = pl_mesh_tet_ratio(x[0], x[1], x[3], x[2], &(double){0});
    double size = fabs(volume);
    s->flat = !(longest >= pl_check_least_length &&
                6 * size > pl_check_flat * longest * longest * longest);
    double area = face_area(x[0], x[1], x[2]) + face_area(x[0], x[1], x[3]) +
                  face_area(x[0], x[2], x[3]) + face_area(x[1], x[2], x[3]);
    s->value[PL_SHAPE_RADIUS_RATIO] = ratio;
    s->value[PL_SHAPE_ASPECT] = longest * area / (3 * size * 2 * sqrt(6));
    s->value[PL_SHAPE_EXTENT] = size;
}

/* r = 2 A / (a + b + c); the regular one's longest edge is 2 sqrt 3 r. */
static void measure_triangle(const double *x[3], pl_shape *s)
{
    double area, longest = 0, around = 0;
    double ratio = pl_mesh_triangle_ratio(x[0], x[1], x[2], &area);
    for (int i = 0; i < 3; i++) {
        double u[3], v[3];
        pl_vector_subtract(x[(i + 1) % 3], x[i], u);
        pl_vector_subtract(x[(i + 2) % 3], x[i], v);
        note_angle(s, angle_between(u, v));
        longest = fmax(longest, length(u));
        around += length(u);
    }
    s->flat = !(longest >= pl_check_least_length && 2 * area > pl_check_flat * longest * longest);
    s->value[PL_SHAPE_RADIUS_RATIO] = ratio;
    s->value[PL_SHAPE_ASPECT] = longest * around / (2 * area * 2 * sqrt(3));
    s->value[PL_SHAPE_EXTENT] = area;
}

static pl_shape measure(const pl_mesh *mesh, int corners, int64_t element)
{
    pl_shape s = {.element = element, .value = {[PL_SHAPE_LEAST_ANGLE] = 180}};
    const int32_t *corner = (corners == 4 ? mesh->tets : mesh->triangles) + corners * element;
    const double *x[4];
    for (int i = 0; i < corners; i++) {
        x[i] = mesh->vertices + 3 * (int64_t)corner[i];
        for (int k = 0; k < 3; k++)
            s.centre[k] += x[i][k] / corners;
    }
    if (corners == 4)
        measure_tet(x, &s);
    else
        measure_triangle(x, &s);
    if (s.flat)
        s.inverted = false;
    return s;
}

/* ---- all of them ---- */

static bool is_worse(const pl_shape *a, const pl_shape *b)
{
    if (a->flat != b->flat)
        return a->flat;
    return !a->flat && a->value[PL_SHAPE_RADIUS_RATIO] < b->value[PL_SHAPE_RADIUS_RATIO];
}

static void note_worst(pl_shapes *out, const pl_shape *s)
{
    if (out->worst_count == PL_SHAPE_WORST && !is_worse(s, &out->worst[PL_SHAPE_WORST - 1]))
        return;
    int32_t at = out->worst_count < PL_SHAPE_WORST ? out->worst_count++ : PL_SHAPE_WORST - 1;
    for (; at > 0 && is_worse(s, &out->worst[at - 1]); at--)
        out->worst[at] = out->worst[at - 1];
    out->worst[at] = *s;
}

static void note_range(pl_shapes *out, const pl_shape *s)
{
    bool first = out->elements == out->flat + 1;
    for (int m = 0; m < PL_SHAPE_MEASURES; m++) {
        pl_shape_range *r = &out->range[m];
        r->least = first ? s->value[m] : fmin(r->least, s->value[m]);
        r->greatest = first ? s->value[m] : fmax(r->greatest, s->value[m]);
        r->mean += s->value[m]; /* the sum, until all are counted */
    }
}

/* Even steps for angles and the ratio; for the aspect, growing steps; for volumes, powers of one factor from the
 * least to the greatest. */
static void set_edges(pl_shapes *out)
{
    static const double aspects[PL_SHAPE_BINS + 1] = {1, 1.25, 1.5, 2,  2.5,  3,       4,
                                                      6, 10,   20,  50, 1000, INFINITY};
    double most = out->corners == 4 ? 72 : 60, low = out->range[PL_SHAPE_EXTENT].least;
    double high = out->range[PL_SHAPE_EXTENT].greatest;
    for (int k = 0; k <= PL_SHAPE_BINS; k++) {
        double s = (double)k / PL_SHAPE_BINS;
        out->range[PL_SHAPE_LEAST_ANGLE].edge[k] = most * s;
        out->range[PL_SHAPE_GREATEST_ANGLE].edge[k] = 60 + 120 * s;
        out->range[PL_SHAPE_RADIUS_RATIO].edge[k] = s;
        out->range[PL_SHAPE_ASPECT].edge[k] = aspects[k];
        out->range[PL_SHAPE_EXTENT].edge[k] = low > 0 ? low * pow(high / low, s) : 0;
    }
    out->range[PL_SHAPE_EXTENT].edge[PL_SHAPE_BINS] = high;
}

static void count(pl_shape_range *r, double value)
{
    int k = 0;
    while (k < PL_SHAPE_BINS - 1 && value >= r->edge[k + 1])
        k++;
    r->count[k]++;
}

void pl_mesh_shapes(const pl_mesh *mesh, pl_shapes *out)
{
    *out = (pl_shapes){.corners = mesh->tet_count > 0 ? 4 : mesh->triangle_count > 0 ? 3 : 0};
    int64_t total = out->corners == 4 ? mesh->tet_count : mesh->triangle_count;
    for (int64_t t = 0; t < total; t++) {
        pl_shape s = measure(mesh, out->corners, t);
        out->elements++;
        out->flat += s.flat;
        out->inverted += s.inverted;
        note_worst(out, &s);
        if (!s.flat)
            note_range(out, &s);
    }
    set_edges(out);
    for (int64_t t = 0; t < total; t++) {
        pl_shape s = measure(mesh, out->corners, t);
        for (int m = 0; m < PL_SHAPE_MEASURES && !s.flat; m++)
            count(&out->range[m], s.value[m]);
    }
    for (int m = 0; m < PL_SHAPE_MEASURES && out->elements > out->flat; m++)
        out->range[m].mean /= (double)(out->elements - out->flat);
}
