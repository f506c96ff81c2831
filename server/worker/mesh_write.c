#include "server/worker/mesh_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements of one kind, and their names in the formats. */
typedef struct kind {
    int64_t count;
    int corners, gmsh, vtk;
    const char *medit;
    const int32_t *corner, *tag; /* tag: NULL for none */
} kind;

enum { KINDS = 4 };

/* Tetrahedra, triangles that are elements or tagged in addition to tetrahedra, and edges. */
static void list_kinds(const pl_mesh *m, kind out[KINDS])
{
    bool skin = m->triangle_count == 0;
    out[0] = (kind){m->tet_count, 4, 4, 10, "Tetrahedra", m->tets, m->tet_tags};
    out[1] = (kind){m->triangle_count, 3, 2, 5, "Triangles", m->triangles, m->triangle_tags};
    out[2] = (kind){skin ? m->face_count : 0, 3, 2, 5, "Triangles", m->faces, m->face_tags};
    out[3] = (kind){m->edge_count, 2, 1, 3, "Edges", m->edges, m->edge_tags};
}

static int64_t count_elements(const kind kinds[KINDS])
{
    int64_t n = 0;
    for (int k = 0; k < KINDS; k++)
        n += kinds[k].count;
    return n;
}

static int32_t tag_of(const kind *k, int64_t i)
{
    return k->tag ? k->tag[i] : 0;
}

static void put_vertex(FILE *out, const double *x)
{
    fprintf(out, "%.17g %.17g %.17g", x[0], x[1], x[2]);
}

/* first: the number of vertex 0. */
static void put_corners(FILE *out, const kind *k, int64_t i, int first)
{
    for (int c = 0; c < k->corners; c++)
        fprintf(out, " %" PRId32, k->corner[i * k->corners + c] + first);
}

static void write_gmsh(FILE *out, const pl_mesh *m)
{
    kind kinds[KINDS];
    int64_t number = 0;
    list_kinds(m, kinds);
    fprintf(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    if (m->group_count > 0) {
        fprintf(out, "$PhysicalNames\n%" PRId32 "\n", m->group_count);
        for (int32_t g = 0; g < m->group_count; g++)
            fprintf(out, "%" PRId32 " %" PRId32 " \"%s\"\n", m->groups[g].dimension,
                    m->groups[g].tag, m->groups[g].name);
        fprintf(out, "$EndPhysicalNames\n");
    }
    fprintf(out, "$Nodes\n%" PRId64 "\n", m->vertex_count);
    for (int64_t v = 0; v < m->vertex_count; v++) {
        fprintf(out, "%" PRId64 " ", v + 1);
        put_vertex(out, m->vertices + 3 * v);
        fputc('\n', out);
    }
    fprintf(out, "$EndNodes\n$Elements\n%" PRId64 "\n", count_elements(kinds) + m->point_count);
    for (int64_t i = 0; i < m->point_count; i++)
        fprintf(out, "%" PRId64 " 15 2 %" PRId32 " %" PRId32 " %" PRId32 "\n", ++number,
                m->point_tags[i], m->point_tags[i], m->points[i] + 1);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < kinds[k].count; i++) {
            int32_t tag = tag_of(&kinds[k], i);
            fprintf(out, "%" PRId64 " %d 2 %" PRId32 " %" PRId32, ++number, kinds[k].gmsh, tag,
                    tag);
            put_corners(out, &kinds[k], i, 1);
            fputc('\n', out);
        }
    fprintf(out, "$EndElements\n");
}

/* A section's name may occur only once, so both kinds of triangles share one section. */
static void write_medit(FILE *out, const pl_mesh *m)
{
    kind kinds[KINDS];
    list_kinds(m, kinds);
    fprintf(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%" PRId64 "\n", m->vertex_count);
    for (int64_t v = 0; v < m->vertex_count; v++) {
        put_vertex(out, m->vertices + 3 * v);
        fprintf(out, " 0\n");
    }
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].count == 0)
            continue;
        fprintf(out, "%s\n%" PRId64 "\n", kinds[k].medit, kinds[k].count);
        for (int64_t i = 0; i < kinds[k].count; i++) {
            put_corners(out, &kinds[k], i, 1);
            fprintf(out, " %" PRId32 "\n", tag_of(&kinds[k], i));
        }
    }
    fprintf(out, "End\n");
}

static void write_fields(FILE *out, const pl_mesh *m, int64_t elements)
{
    int64_t have = pl_mesh_element_count(m);
    for (int32_t f = 0; f < m->field_count; f++) {
        const pl_mesh_field *field = &m->fields[f];
        for (const char *c = field->name; *c; c++)
            fputc(*c == ' ' ? '_' : *c, out);
        fprintf(out, " %" PRId32 " %" PRId64 " double\n", field->components, elements);
        for (int64_t i = 0; i < elements * field->components; i++) {
            double value = i < have * field->components ? field->values[i] : NAN;
            fprintf(out, isnan(value) ? "nan\n" : "%.17g\n", value);
        }
    }
}

static void write_vtk(FILE *out, const pl_mesh *m)
{
    kind kinds[KINDS];
    list_kinds(m, kinds);
    int64_t elements = count_elements(kinds), numbers = elements;
    for (int k = 0; k < KINDS; k++)
        numbers += kinds[k].count * kinds[k].corners;
    fprintf(out,
            "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %" PRId64
            " double\n",
            m->vertex_count);
    for (int64_t v = 0; v < m->vertex_count; v++) {
        put_vertex(out, m->vertices + 3 * v);
        fputc('\n', out);
    }
    fprintf(out, "CELLS %" PRId64 " %" PRId64 "\n", elements, numbers);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < kinds[k].count; i++) {
            fprintf(out, "%d", kinds[k].corners);
            put_corners(out, &kinds[k], i, 0);
            fputc('\n', out);
        }
    fprintf(out, "CELL_TYPES %" PRId64 "\n", elements);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < kinds[k].count; i++)
            fprintf(out, "%d\n", kinds[k].vtk);
    fprintf(out, "CELL_DATA %" PRId64 "\nFIELD cells %" PRId32 "\ntag 1 %" PRId64 " int\n",
            elements, m->field_count + 1, elements);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < kinds[k].count; i++)
            fprintf(out, "%" PRId32 "\n", tag_of(&kinds[k], i));
    write_fields(out, m, elements);
}

/* Write only the surface's vertices, in their order. */
static pl_status write_obj(FILE *out, const pl_mesh *m, const int32_t *triangles, int64_t count)
{
    int64_t *number = calloc((size_t)m->vertex_count + 1, sizeof *number), next = 0;
    if (!number)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 3 * count; i++)
        number[triangles[i]] = 1;
    for (int64_t i = 0; i < 2 * m->edge_count; i++)
        number[m->edges[i]] = 1;
    for (int64_t v = 0; v < m->vertex_count; v++)
        if (number[v]) {
            number[v] = ++next;
            fprintf(out, "v ");
            put_vertex(out, m->vertices + 3 * v);
            fputc('\n', out);
        }
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "f %" PRId64 " %" PRId64 " %" PRId64 "\n", number[triangles[3 * i]],
                number[triangles[3 * i + 1]], number[triangles[3 * i + 2]]);
    for (int64_t i = 0; i < m->edge_count; i++)
        fprintf(out, "l %" PRId64 " %" PRId64 "\n", number[m->edges[2 * i]],
                number[m->edges[2 * i + 1]]);
    free(number);
    return PL_OK;
}

static void write_stl(FILE *out, const pl_mesh *m, const int32_t *triangles, int64_t count)
{
    fprintf(out, "solid surface\n");
    for (int64_t i = 0; i < count; i++) {
        fprintf(out, "facet normal 0 0 0\nouter loop\n");
        for (int c = 0; c < 3; c++) {
            fprintf(out, "vertex ");
            put_vertex(out, m->vertices + 3 * (int64_t)triangles[3 * i + c]);
            fputc('\n', out);
        }
        fprintf(out, "endloop\nendfacet\n");
    }
    fprintf(out, "endsolid surface\n");
}

bool pl_mesh_can_write(const char *format)
{
    static const char *const formats[] = {"gmsh", "medit", "vtk", "obj", "stl"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (strcmp(format, formats[k]) == 0)
            return true;
    return false;
}

pl_status pl_mesh_write(FILE *out, const char *format, const pl_mesh *mesh)
{
    int32_t *triangles = NULL;
    int64_t count = 0;
    pl_status status = PL_OK;
    if (strcmp(format, "gmsh") == 0)
        write_gmsh(out, mesh);
    else if (strcmp(format, "medit") == 0)
        write_medit(out, mesh);
    else if (strcmp(format, "vtk") == 0)
        write_vtk(out, mesh);
    else if ((status = pl_mesh_surface(mesh, &triangles, &count)) != PL_OK)
        return status;
    else if (strcmp(format, "obj") == 0)
        status = write_obj(out, mesh, triangles, count);
    else
        write_stl(out, mesh, triangles, count);
    free(triangles);
    return status;
}
