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

pl_status pl_mesh_cloth(const double size[2], const int32_t cells[2], pl_mesh_diagonal diagonal,
                        pl_mesh *out)
{
    *out = (pl_mesh){0};
    double vertices = ((double)cells[0] + 1) * ((double)cells[1] + 1);
    if (vertices > INT32_MAX / 2)
        return PL_INVALID;
    int32_t row = cells[0] + 1;
    pl_mesh mesh = {.vertex_count = (int64_t)row * (cells[1] + 1),
                    .triangle_count = 2 * (int64_t)cells[0] * cells[1]};
    mesh.vertices = malloc((size_t)mesh.vertex_count * 3 * sizeof *mesh.vertices);
    mesh.triangles = malloc((size_t)mesh.triangle_count * 3 * sizeof *mesh.triangles);
    if (!mesh.vertices || !mesh.triangles) {
        pl_mesh_clear(&mesh);
        return PL_NO_MEMORY;
    }
    double *x = mesh.vertices;
    for (int32_t j = 0; j <= cells[1]; j++)
        for (int32_t i = 0; i <= cells[0]; i++, x += 3) {
            /* Odd in the grid index, so that the sheet is symmetric to the last bit. */
            x[0] = size[0] * (2.0 * i - cells[0]) / (2.0 * cells[0]);
            x[1] = size[1] * (2.0 * j - cells[1]) / (2.0 * cells[1]);
            x[2] = 0;
        }
    int32_t *triangle = mesh.triangles;
    for (int32_t j = 0; j < cells[1]; j++)
        for (int32_t i = 0; i < cells[0]; i++) {
            bool even = ((i + j) & 1) == 0;
            bool up = diagonal == PL_MESH_DIAGONAL_ALTERNATING ? even
                                                               : diagonal == PL_MESH_DIAGONAL_UP;
            triangle = cut_rectangle(i, j, row, up, triangle);
        }
    *out = mesh;
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
