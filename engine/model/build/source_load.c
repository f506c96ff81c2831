/* Loads the meshes of bodies and the surfaces of obstacles, from any source. */
#include "engine/step/pliant.h"

#include <stdio.h>
#include <stdlib.h>

/* Limit of an obstacle's surface. Beyond it, its description for viewers is a hundred megabytes of text. */
#define SURFACE_MAX ((int64_t)500000)

static pl_status check_limits(const pl_mesh *mesh, const pl_mesh_limits *limits,
                              const char *pointer, pl_faults *faults)
{
    const struct {
        const char *what;
        int64_t count, most;
    } sizes[] = {{"vertices", mesh->vertex_count, limits->max_vertices},
                 {"tetrahedra", mesh->tet_count, limits->max_tets},
                 {"triangles", mesh->triangle_count, limits->max_tets},
                 {"edges", mesh->edge_count, limits->max_tets}};
    pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].count <= sizes[i].most)
            continue;
        char expected[96];
        snprintf(expected, sizeof expected, "at most %lld %s", (long long)sizes[i].most,
                 sizes[i].what);
        pl_faults_addf(faults, pointer, "too_large", expected, "use fewer cells or a coarser mesh",
                       "%lld %s", (long long)sizes[i].count, sizes[i].what);
        status = PL_INVALID;
    }
    return status;
}

static pl_status load(const pl_mesh_source *s, const char *pointer, const pl_blob *blobs,
                      const pl_mesh_limits *limits, pl_mesh *out, pl_faults *faults)
{
    pl_status status = PL_OK;
    *out = (pl_mesh){0};
    switch (s->kind) {
    case PL_SOURCE_BOX:
        status = pl_mesh_box(s->size, s->cells, out);
        break;
    case PL_SOURCE_SPHERE:
        status = pl_mesh_sphere(s->radius, s->sphere_cells, out);
        break;
    case PL_SOURCE_INLINE:
        status = pl_mesh_from_arrays(&(pl_mesh_arrays){.vertex_count = s->vertex_count,
                                                       .vertices = s->vertices,
                                                       .tet_count = s->tet_count,
                                                       .tets = s->tets,
                                                       .triangle_count = s->triangle_count,
                                                       .triangles = s->triangles,
                                                       .edge_count = s->edge_count,
                                                       .edges = s->edges},
                                     pointer, out, faults);
        break;
    case PL_SOURCE_CLOTH: {
        static const pl_mesh_diagonal diagonal[] = {PL_MESH_DIAGONAL_ALTERNATING,
                                                    PL_MESH_DIAGONAL_UP, PL_MESH_DIAGONAL_DOWN};
        status = (s->cloth.springs ? pl_mesh_spring_cloth : pl_mesh_cloth)(
            s->cloth.size, s->cloth.cells, diagonal[s->cloth.diagonal], out);
        break;
    }
    case PL_SOURCE_ROPE:
        status = pl_mesh_rope(s->rope.length, s->rope.segments, s->rope.direction, out);
        break;
    case PL_SOURCE_CYLINDER:
        status = pl_mesh_cylinder(s->cylinder.radius, s->cylinder.length, s->cylinder.cells, out);
        break;
    case PL_SOURCE_TORUS:
        status = pl_mesh_torus(s->torus.radius, s->torus.tube, s->torus.cells, out);
        break;
    case PL_SOURCE_HELIX:
        status = pl_mesh_helix(&(pl_mesh_helix_shape){s->helix.radius, s->helix.tube,
                                                      s->helix.pitch, s->helix.turns,
                                                      s->helix.strands},
                               s->helix.cells, out);
        break;
    case PL_SOURCE_UPLOAD: {
        static const pl_mesh_format format[] = {
            PL_MESH_GMSH, PL_MESH_TETGEN, PL_MESH_MEDIT,  PL_MESH_OBJ, PL_MESH_VTK,
            PL_MESH_VTU,  PL_MESH_VEGA,   PL_MESH_ABAQUS, PL_MESH_STL, PL_MESH_PLY};
        status = pl_mesh_read(format[s->format], blobs, limits, pointer, out, faults);
        break;
    }
    }
    if (status == PL_OK)
        status = check_limits(out, limits, pointer, faults);
    if (status == PL_OK)
        status = pl_mesh_check(
            out, s->refuse_negative ? PL_MESH_ORIENTATION_REFUSE : PL_MESH_ORIENTATION_REPAIR,
            pointer, faults);
    if (status != PL_OK)
        pl_mesh_clear(out);
    return status;
}

pl_status pl_body_load(const pl_scene *scene, int32_t body, const pl_blob *blobs,
                       const pl_mesh_limits *limits, pl_mesh *out, pl_faults *faults)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/bodies/%d/mesh", body);
    return load(&scene->bodies[body].mesh, pointer, blobs, limits, out, faults);
}

/* ---- obstacles ---- */

static pl_status check_surface(const pl_mesh *mesh, int64_t triangles, const char *pointer,
                               pl_faults *faults)
{
    if (triangles == 0)
        pl_faults_addf(faults, pointer, "no_surface",
                       "a closed surface of triangles, or tetrahedra", "edges do not bound a solid",
                       "%lld edges and no triangles", (long long)mesh->edge_count);
    if (triangles > SURFACE_MAX)
        pl_faults_addf(
            faults, pointer, "too_large", "at most 500000 triangles around an obstacle",
            "use a coarser surface: contact does not resolve details finer than a body's elements",
            "%lld triangles", (long long)triangles);
    return triangles == 0 || triangles > SURFACE_MAX ? PL_INVALID : PL_OK;
}

static int64_t *widen(const int32_t *from, int64_t count)
{
    int64_t *to = malloc((size_t)(count + 1) * sizeof *to);
    for (int64_t i = 0; to && i < count; i++)
        to[i] = from[i];
    return to;
}

/* The triangles become the source's own, with the vertices that they use. */
static pl_status keep_surface(pl_mesh_source *s, const pl_mesh *mesh, const int32_t *triangles,
                              int64_t count, const char *pointer, pl_faults *faults)
{
    pl_mesh surface = {0};
    int64_t *corners = widen(triangles, 3 * count);
    pl_status status =
        corners ? pl_mesh_from_arrays(&(pl_mesh_arrays){.vertex_count = mesh->vertex_count,
                                                        .vertices = mesh->vertices,
                                                        .triangle_count = count,
                                                        .triangles = corners},
                                      pointer, &surface, faults)
                : PL_NO_MEMORY;
    free(corners);
    corners = status == PL_OK ? widen(surface.triangles, 3 * count) : NULL;
    if (status == PL_OK && !corners)
        status = PL_NO_MEMORY;
    if (status == PL_OK) {
        free(s->vertices);
        free(s->triangles);
        s->vertices = surface.vertices;
        s->vertex_count = surface.vertex_count;
        s->triangles = corners;
        s->triangle_count = count;
        surface.vertices = NULL;
    }
    pl_mesh_clear(&surface);
    return status;
}

pl_status pl_obstacle_load(pl_scene *scene, int32_t obstacle, const pl_blob *blobs,
                           const pl_mesh_limits *limits, pl_faults *faults)
{
    pl_mesh_source *s = &scene->obstacles[obstacle].mesh.source;
    pl_mesh mesh = {0};
    int32_t *triangles = NULL;
    int64_t count = 0;
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/obstacles/%d/mesh", obstacle);
    pl_status status = load(s, pointer, blobs, limits, &mesh, faults);
    if (status == PL_OK)
        status = pl_mesh_surface(&mesh, &triangles, &count);
    if (status == PL_OK)
        status = check_surface(&mesh, count, pointer, faults);
    if (status == PL_OK)
        status = keep_surface(s, &mesh, triangles, count, pointer, faults);
    free(triangles);
    pl_mesh_clear(&mesh);
    return status;
}
