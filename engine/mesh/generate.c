#include "engine/mesh/kuhn.h"
#include "engine/mesh/mesh.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static pl_status allocate_grid(const int32_t cells[3], pl_mesh *mesh)
{
    double vertices = 1, count = 1;
    for (int a = 0; a < 3; a++) {
        vertices *= (double)cells[a] + 1;
        count *= (double)cells[a];
    }
    return pl_kuhn_allocate(vertices, count, mesh);
}

/* The corners of the cell at grid point c, and its six tetrahedra. */
static int32_t *cut_cell(const int32_t cells[3], const int32_t c[3], const bool mirrored[3],
                         int32_t *tet)
{
    int64_t stride[3] = {1, (int64_t)cells[0] + 1, ((int64_t)cells[0] + 1) * (cells[1] + 1)};
    int32_t corner[8];
    for (int k = 0; k < 8; k++) {
        int64_t at = 0;
        for (int a = 0; a < 3; a++)
            at += (c[a] + (k >> a & 1)) * stride[a];
        corner[k] = (int32_t)at;
    }
    return pl_kuhn_cut(corner, mirrored, tet);
}

/* Divides every cell; with `from_centre` the diagonals run outwards in each octant. */
static void cut_grid(const int32_t cells[3], bool from_centre, int32_t *tets)
{
    int32_t c[3];
    for (c[2] = 0; c[2] < cells[2]; c[2]++)
        for (c[1] = 0; c[1] < cells[1]; c[1]++)
            for (c[0] = 0; c[0] < cells[0]; c[0]++) {
                bool mirrored[3];
                for (int a = 0; a < 3; a++)
                    mirrored[a] = from_centre && c[a] < cells[a] / 2;
                tets = cut_cell(cells, c, mirrored, tets);
            }
}

pl_status pl_mesh_box(const double size[3], const int32_t cells[3], pl_mesh *out)
{
    pl_status status = allocate_grid(cells, out);
    if (status != PL_OK)
        return status;
    double *x = out->vertices;
    for (int32_t k = 0; k <= cells[2]; k++)
        for (int32_t j = 0; j <= cells[1]; j++)
            for (int32_t i = 0; i <= cells[0]; i++, x += 3) {
                const int32_t grid[3] = {i, j, k};
                /* An odd function of the grid index, so that the box is symmetric to the last bit. */
                for (int a = 0; a < 3; a++)
                    x[a] = size[a] * (2.0 * grid[a] - cells[a]) / (2.0 * cells[a]);
            }
    cut_grid(cells, false, out->tets);
    return PL_OK;
}

/* p in [-1, 1]^3 to the unit ball, cube shell max|p_a| = s to sphere of radius s:
 *   q_a = tan(pi p_a / 4 s),  x = s q / |q|.
 * The tangent maps equal steps along a face to equal angles at the centre (the equiangular cubed sphere of Ronchi
 * 1996, "The cubed sphere"), so the tetrahedra stay near one size. */
static void map_to_ball(const double p[3], double x[3])
{
    double s = fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2])));
    double q[3] = {0}, norm = 0;
    for (int a = 0; a < 3 && s > 0; a++) {
        q[a] = tan(0.25 * M_PI * (p[a] / s));
        norm += q[a] * q[a];
    }
    double scale = s > 0 ? s / sqrt(norm) : 0;
    for (int a = 0; a < 3; a++)
        x[a] = scale * q[a];
}

/* The cube's edges become smooth on the sphere. A tetrahedron with two faces on the surface there would be
 * flattened. If every diagonal runs outwards from the centre, none has two such faces, and the division has every
 * symmetry of the cube. That needs a grid point at the centre, so the number of cells
 * across is even: an odd one is rounded up. */
pl_status pl_mesh_sphere(double radius, int32_t cells, pl_mesh *out)
{
    *out = (pl_mesh){0};
    if (cells > 1000)
        return PL_INVALID; /* 6 n^3 exceeds INT32_MAX from n = 711 */
    int32_t n = cells + (cells & 1), half = n / 2;
    const int32_t grid[3] = {n, n, n};
    pl_status status = allocate_grid(grid, out);
    if (status != PL_OK)
        return status;
    double *x = out->vertices;
    for (int32_t k = -half; k <= half; k++)
        for (int32_t j = -half; j <= half; j++)
            for (int32_t i = -half; i <= half; i++, x += 3) {
                const double p[3] = {(double)i / half, (double)j / half, (double)k / half};
                map_to_ball(p, x);
                for (int a = 0; a < 3; a++)
                    x[a] *= radius;
            }
    cut_grid(grid, true, out->tets);
    return PL_OK;
}
