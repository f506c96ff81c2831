/* Discs swept along a curve: cylinder, torus, helix. */
#include "engine/mesh/kuhn.h"
#include "engine/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>

/* A tube's grid: `across` x `across` cells over the disc, `along` cells along the curve. */
typedef struct tube {
    int32_t across, along;
    bool closed; /* the last disc is the first */
    double radius;
} tube;

/* A disc's frame: its centre and two unit vectors, normal and binormal; normal x binormal points along the curve. */
typedef struct disc {
    double centre[3], normal[3], binormal[3];
} disc;

static int64_t discs(const tube *t)
{
    return (int64_t)t->along + !t->closed;
}

static int64_t disc_vertices(const tube *t)
{
    return ((int64_t)t->across + 1) * ((int64_t)t->across + 1);
}

static pl_status allocate(const tube *t, int32_t strands, pl_mesh *mesh)
{
    return pl_kuhn_allocate((double)disc_vertices(t) * (double)discs(t) * strands,
                            (double)t->across * t->across * t->along * strands, mesh);
}

/* p in [-1, 1]^2 to the unit disc, like the ball (generate.c): the square max|p_a| = s to the circle of radius s,
 * equal steps along a side to equal angles. */
static void map_to_disc(const double p[2], double q[2])
{
    double s = fmax(fabs(p[0]), fabs(p[1]));
    if (s == 0) {
        q[0] = q[1] = 0;
        return;
    }
    double a = tan(0.25 * M_PI * (p[0] / s)), b = tan(0.25 * M_PI * (p[1] / s));
    double scale = s / sqrt(a * a + b * b);
    q[0] = scale * a;
    q[1] = scale * b;
}

static double *put_disc(const tube *t, const disc *d, double *x)
{
    int32_t half = t->across / 2;
    for (int32_t j = -half; j <= half; j++)
        for (int32_t i = -half; i <= half; i++, x += 3) {
            double q[2];
            map_to_disc((const double[]){(double)i / half, (double)j / half}, q);
            for (int c = 0; c < 3; c++)
                x[c] = d->centre[c] + t->radius * (q[0] * d->normal[c] + q[1] * d->binormal[c]);
        }
    return x;
}

/* The cells' diagonals run outwards in the disc, so that no tetrahedron has two faces on the surface where the
 * square's corners became round, and forwards along the curve. */
static int32_t *cut(const tube *t, int64_t first, int32_t *tet)
{
    int32_t n = t->across, row = n + 1;
    for (int32_t k = 0; k < t->along; k++) {
        int64_t here = first + k * disc_vertices(t);
        int64_t next = first + (k + 1) % discs(t) * disc_vertices(t);
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i < n; i++) {
                int32_t corner[8];
                for (int c = 0; c < 8; c++)
                    corner[c] = (int32_t)((c & 4 ? next : here) + i + (c & 1) +
                                          (int64_t)row * (j + (c >> 1 & 1)));
                const bool mirrored[3] = {i < n / 2, j < n / 2, false};
                tet = pl_kuhn_cut(corner, mirrored, tet);
            }
    }
    return tet;
}

static tube tube_of(const int32_t cells[2], double radius, bool closed)
{
    int32_t across = cells[0] < INT32_MAX ? cells[0] + (cells[0] & 1) : cells[0] - 1;
    return (tube){.across = across, .along = cells[1], .closed = closed, .radius = radius};
}

pl_status pl_mesh_cylinder(double radius, double length, const int32_t cells[2], pl_mesh *out)
{
    tube t = tube_of(cells, radius, false);
    pl_status status = allocate(&t, 1, out);
    if (status != PL_OK)
        return status;
    double *x = out->vertices;
    for (int32_t k = 0; k <= t.along; k++) {
        disc d = {.centre = {length * (2.0 * k - t.along) / (2.0 * t.along)},
                  .normal = {0, 1, 0},
                  .binormal = {0, 0, 1}};
        x = put_disc(&t, &d, x);
    }
    cut(&t, 0, out->tets);
    return PL_OK;
}

/* The curve (r cos a, r sin a, c a) about z, with its Frenet frame: with s = sqrt(r^2 + c^2), the
 * tangent is (-r sin a, r cos a, c) / s, the normal (-cos a, -sin a, 0), the binormal
 * (c sin a, -c cos a, r) / s. */
static disc helix_disc(double r, double c, double a, double turn)
{
    double s = sqrt(r * r + c * c), cosine = cos(a + turn), sine = sin(a + turn);
    return (disc){.centre = {r * cosine, r * sine, c * a},
                  .normal = {-cosine, -sine, 0},
                  .binormal = {c * sine / s, -c * cosine / s, r / s}};
}

pl_status pl_mesh_torus(double radius, double tube_radius, const int32_t cells[2], pl_mesh *out)
{
    tube t = tube_of(cells, tube_radius, true);
    if (t.along < 3)
        t.along = 3; /* with fewer, the cells would overlap */
    pl_status status = allocate(&t, 1, out);
    if (status != PL_OK)
        return status;
    double *x = out->vertices;
    for (int32_t k = 0; k < t.along; k++) {
        disc d = helix_disc(radius, 0, 2 * M_PI * k / t.along, 0);
        x = put_disc(&t, &d, x);
    }
    cut(&t, 0, out->tets);
    return PL_OK;
}

pl_status pl_mesh_helix(const pl_mesh_helix_shape *shape, const int32_t cells[2], pl_mesh *out)
{
    tube t = tube_of(cells, shape->tube, false);
    pl_status status = allocate(&t, shape->strands, out);
    if (status != PL_OK)
        return status;
    double *x = out->vertices, c = shape->pitch / (2 * M_PI);
    int32_t *tet = out->tets;
    for (int32_t s = 0; s < shape->strands; s++) {
        double turn = 2 * M_PI * s / shape->strands;
        for (int32_t k = 0; k <= t.along; k++) {
            double a = M_PI * shape->turns * (2.0 * k - t.along) / t.along;
            disc d = helix_disc(shape->radius, c, a, turn);
            x = put_disc(&t, &d, x);
        }
        tet = cut(&t, s * disc_vertices(&t) * discs(&t), tet);
    }
    return PL_OK;
}
