/* Generated cloth and ropes. */
#include "engine/mesh/mesh.h"

#include <stdbool.h>
#include <stdlib.h>

/* The two triangles of the cell at (i, j), counter-clockwise seen from +z. */
static int32_t *cut_rectangle(int32_t i, int32_t j, int32_t row, bool up, int32_t *triangle)
{
    int32_t a = i + row * j, b = a + 1, c = a + row + 1, d = a + row;
    const int32_t cut[2][6] = {{a, b, d, b, c, d}, {a, b, c, a, c, d}};
    for (int k = 0; k < 6; k++)
        triangle[k] = cut[up][k];
    return triangle + 6;
}

/* True if the diagonal of the cell at (i, j) is the one to (i + 1, j + 1). */
static bool goes_up(pl_mesh_diagonal diagonal, int32_t i, int32_t j)
{
    return diagonal == PL_MESH_DIAGONAL_ALTERNATING ? ((i + j) & 1) == 0
                                                    : diagonal == PL_MESH_DIAGONAL_UP;
}

/* The vertices of a sheet. */
static pl_status make_grid(const double size[2], const int32_t cells[2], pl_mesh *mesh)
{
    *mesh = (pl_mesh){0};
    double vertices = ((double)cells[0] + 1) * ((double)cells[1] + 1);
    if (vertices > INT32_MAX / 6)
        return PL_INVALID;
    mesh->vertex_count = (int64_t)vertices;
    mesh->vertices = malloc((size_t)mesh->vertex_count * 3 * sizeof *mesh->vertices);
    if (!mesh->vertices)
        return PL_NO_MEMORY;
    double *x = mesh->vertices;
    for (int32_t j = 0; j <= cells[1]; j++)
        for (int32_t i = 0; i <= cells[0]; i++, x += 3) {
            /* An odd function of the grid index, so that the sheet is symmetric to the last bit. */
            x[0] = size[0] * (2.0 * i - cells[0]) / (2.0 * cells[0]);
            x[1] = size[1] * (2.0 * j - cells[1]) / (2.0 * cells[1]);
            x[2] = 0;
        }
    return PL_OK;
}

pl_status pl_mesh_cloth(const double size[2], const int32_t cells[2], pl_mesh_diagonal diagonal,
                        pl_mesh *out)
{
    pl_status status = make_grid(size, cells, out);
    if (status != PL_OK)
        return status;
    out->triangle_count = 2 * (int64_t)cells[0] * cells[1];
    out->triangles = malloc((size_t)out->triangle_count * 3 * sizeof *out->triangles);
    if (!out->triangles) {
        pl_mesh_clear(out);
        return PL_NO_MEMORY;
    }
    int32_t *triangle = out->triangles, row = cells[0] + 1;
    for (int32_t j = 0; j < cells[1]; j++)
        for (int32_t i = 0; i < cells[0]; i++)
            triangle = cut_rectangle(i, j, row, goes_up(diagonal, i, j), triangle);
    return PL_OK;
}

/* An edge from every vertex (i, j) of the grid to (i + di, j + dj), if that exists. */
static int32_t *join(const int32_t cells[2], int32_t di, int32_t dj, int32_t *edge)
{
    for (int32_t j = 0; j + dj <= cells[1]; j++)
        for (int32_t i = 0; i + di <= cells[0]; i++) {
            *edge++ = i + (cells[0] + 1) * j;
            *edge++ = i + di + (cells[0] + 1) * (j + dj);
        }
    return edge;
}

pl_status pl_mesh_spring_cloth(const double size[2], const int32_t cells[2],
                               pl_mesh_diagonal diagonal, pl_mesh *out)
{
    pl_status status = make_grid(size, cells, out);
    if (status != PL_OK)
        return status;
    int64_t nx = cells[0], ny = cells[1];
    out->edge_count = nx * (ny + 1) + (nx + 1) * ny + nx * ny + (nx - 1) * (ny + 1) +
                      (nx + 1) * (ny - 1);
    out->edges = malloc((size_t)out->edge_count * 2 * sizeof *out->edges);
    if (!out->edges) {
        pl_mesh_clear(out);
        return PL_NO_MEMORY;
    }
    int32_t *edge = join(cells, 0, 1, join(cells, 1, 0, out->edges)), row = cells[0] + 1;
    for (int32_t j = 0; j < cells[1]; j++)
        for (int32_t i = 0; i < cells[0]; i++) {
            bool up = goes_up(diagonal, i, j);
            *edge++ = i + !up + row * j;
            *edge++ = i + up + row * (j + 1);
        }
    join(cells, 0, 2, join(cells, 2, 0, edge));
    return PL_OK;
}

pl_status pl_mesh_rope(double length, int32_t segments, const double direction[3], pl_mesh *out)
{
    *out = (pl_mesh){0};
    if (segments == INT32_MAX)
        return PL_INVALID;
    pl_mesh mesh = {.vertex_count = (int64_t)segments + 1, .edge_count = segments};
    mesh.vertices = malloc((size_t)mesh.vertex_count * 3 * sizeof *mesh.vertices);
    mesh.edges = malloc((size_t)mesh.edge_count * 2 * sizeof *mesh.edges);
    if (!mesh.vertices || !mesh.edges) {
        pl_mesh_clear(&mesh);
        return PL_NO_MEMORY;
    }
    for (int32_t i = 0; i <= segments; i++)
        for (int c = 0; c < 3; c++)
            mesh.vertices[3 * (int64_t)i + c] = direction[c] * length * (2.0 * i - segments) /
                                                (2.0 * segments);
    for (int32_t i = 0; i < segments; i++) {
        mesh.edges[2 * (int64_t)i] = i;
        mesh.edges[2 * (int64_t)i + 1] = i + 1;
    }
    *out = mesh;
    return PL_OK;
}
