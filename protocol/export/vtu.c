#include "protocol/export/vtu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie");

/* The kinds of cells in the order of the file, with VTK's number of each. */
typedef struct cells {
    int64_t count;
    int corners;
    unsigned char type;
    const int32_t *corner;
} cells;

static void list_cells(const pl_vtu_mesh *m, cells out[PL_VTU_KINDS])
{
    out[0] = (cells){m->tets, 4, 10, m->tet};
    out[1] = (cells){m->triangles, 3, 5, m->triangle};
    out[2] = (cells){m->edges, 2, 3, m->edge};
    out[3] = (cells){m->points, 1, 1, m->point};
}

/* ---- shared by frames ---- */

pl_status pl_vtu_open(pl_vtu *v, const pl_vtu_mesh *mesh)
{
    cells kinds[PL_VTU_KINDS];
    *v = (pl_vtu){.mesh = *mesh,
                  .cells = mesh->tets + mesh->triangles + mesh->edges + mesh->points};
    v->ends = malloc((size_t)v->cells * sizeof *v->ends + 1);
    v->types = malloc((size_t)v->cells + 1);
    if (!v->ends || !v->types) {
        pl_vtu_clear(v);
        return PL_NO_MEMORY;
    }
    int32_t *end = v->ends, last = 0;
    unsigned char *type = v->types;
    list_cells(mesh, kinds);
    for (int k = 0; k < PL_VTU_KINDS; k++) {
        memset(type, kinds[k].type, (size_t)kinds[k].count);
        type += kinds[k].count;
        for (int64_t i = 0; i < kinds[k].count; i++)
            *end++ = last += kinds[k].corners;
    }
    return PL_OK;
}

void pl_vtu_clear(pl_vtu *v)
{
    free(v->ends);
    free(v->types);
    *v = (pl_vtu){0};
}

/* ---- the file ---- */

/* A block of the appended section in file order: 4 bytes of size, then the data. */
typedef struct block {
    const char *section, *type, *name;
    int components;
    const void *data; /* NULL: the cells' corners, one kind after the other */
    uint64_t bytes;
    pl_span_sum *sum;
} block;

typedef struct layout {
    block blocks[PL_VTU_BLOCKS];
    int count;
} layout;

static void add_arrays(layout *l, const char *section, const pl_vtu_array *arrays, int64_t items)
{
    for (int i = 0; i < PL_VTU_ARRAYS && arrays[i].name; i++)
        if (arrays[i].data)
            l->blocks[l->count++] = (block){section,
                                            "Float32",
                                            arrays[i].name,
                                            arrays[i].components,
                                            arrays[i].data,
                                            (uint64_t)items * 4 * (uint64_t)arrays[i].components,
                                            NULL};
}

static uint64_t count_corners(const pl_vtu_mesh *m)
{
    return 4 * (uint64_t)m->tets + 3 * (uint64_t)m->triangles + 2 * (uint64_t)m->edges +
           (uint64_t)m->points;
}

static void lay_out(pl_vtu *v, const pl_vtu_frame *frame, layout *l)
{
    const pl_vtu_mesh *m = &v->mesh;
    pl_span_sum *sums = v->sums + PL_VTU_KINDS;
    uint64_t n = (uint64_t)m->vertices, cell_count = (uint64_t)v->cells;
    int bodies = m->bodies ? m->bodies : 1;
    l->count = 0;
    add_arrays(l, "PointData", frame->points, m->vertices);
    if (m->body)
        l->blocks[l->count++] = (block){
            "PointData", "Int32", "body", bodies, m->body, n * 4 * (uint64_t)bodies, &sums[0]};
    add_arrays(l, "CellData", frame->cells, v->cells);
    l->blocks[l->count++] = (block){"Points",         "Float32", "Points", 3,
                                    frame->positions, n * 12,    NULL};
    l->blocks[l->count++] = (block){"Cells", "Int32", "connectivity", 1, NULL, 4 * count_corners(m),
                                    NULL};
    l->blocks[l->count++] = (block){"Cells", "Int32",        "offsets", 1,
                                    v->ends, cell_count * 4, &sums[1]};
    l->blocks[l->count++] = (block){"Cells", "UInt8", "types", 1, v->types, cell_count, &sums[2]};
}

static void write_head(const pl_vtu *v, const pl_vtu_frame *frame, const layout *l, pl_text *out)
{
    const block *blocks = l->blocks;
    pl_text_printf(out,
                   "<?xml version=\"1.0\"?>\n"
                   "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                   "byte_order=\"LittleEndian\" header_type=\"UInt32\">\n"
                   "  <UnstructuredGrid>\n"
                   "    <FieldData>\n"
                   "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                   "format=\"ascii\">%.17g</DataArray>\n",
                   frame->time);
    for (int i = 0; i < frame->numbers; i++)
        pl_text_printf(out,
                       "      <DataArray type=\"Float64\" Name=\"%s\" NumberOfTuples=\"1\" "
                       "format=\"ascii\">%.17g</DataArray>\n",
                       frame->number[i].name, frame->number[i].value);
    pl_text_printf(out,
                   "    </FieldData>\n"
                   "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                   v->mesh.vertices, v->cells);
    uint64_t offset = 0;
    for (int i = 0; i < l->count; i++) {
        const block *b = &blocks[i];
        if (i == 0 || strcmp(b->section, blocks[i - 1].section) != 0)
            pl_text_printf(out, "      <%s>\n", b->section);
        pl_text_printf(out,
                       "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                       "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                       b->type, b->name, b->components, offset);
        if (i + 1 == l->count || strcmp(b->section, blocks[i + 1].section) != 0)
            pl_text_printf(out, "      </%s>\n", b->section);
        offset += 4 + b->bytes;
    }
    pl_text_put(out, "    </Piece>\n  </UnstructuredGrid>\n"
                     "  <AppendedData encoding=\"raw\">\n_");
}

static void add_span(pl_vtu_file *f, const void *data, size_t size, pl_span_sum *sum)
{
    f->spans[f->count++] = (pl_span){data, size, sum};
}

static void add_corners(pl_vtu *v, pl_vtu_file *f)
{
    cells kinds[PL_VTU_KINDS];
    list_cells(&v->mesh, kinds);
    for (int k = 0; k < PL_VTU_KINDS; k++)
        if (kinds[k].count > 0)
            add_span(f, kinds[k].corner,
                     (size_t)kinds[k].count * (size_t)kinds[k].corners * sizeof(int32_t),
                     &v->sums[k]);
}

pl_status pl_vtu_build(pl_vtu *v, const pl_vtu_frame *frame, pl_vtu_file *out)
{
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    layout l;
    lay_out(v, frame, &l);
    out->head.length = 0;
    out->count = 0;
    write_head(v, frame, &l, &out->head);
    if (out->head.failed)
        return PL_NO_MEMORY;
    add_span(out, out->head.text, out->head.length, NULL);
    for (int i = 0; i < l.count; i++) {
        const block *b = &l.blocks[i];
        if (b->bytes >= UINT32_MAX)
            return PL_INVALID;
        out->sizes[i] = (uint32_t)b->bytes;
        add_span(out, &out->sizes[i], sizeof out->sizes[i], NULL);
        if (b->data)
            add_span(out, b->data, b->bytes, b->sum);
        else
            add_corners(v, out);
    }
    add_span(out, tail, sizeof tail - 1, NULL);
    return PL_OK;
}

void pl_vtu_file_clear(pl_vtu_file *file)
{
    free(file->head.text);
    *file = (pl_vtu_file){.count = 0};
}

/* ---- the series ---- */

char *pl_vtu_name(const char *prefix, int64_t frame)
{
    char *name = NULL;
    return asprintf(&name, "%s_%06" PRId64 ".vtu", prefix, frame) < 0 ? NULL : name;
}

static void put_escaped(pl_text *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : (const char[]){*text, 0};
        pl_text_put(out, entity);
    }
}

void pl_pvd_write(pl_text *out, const char *prefix, const int64_t *frames, const double *times,
                  int64_t count)
{
    pl_text_put(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                     "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (int64_t i = 0; i < count; i++) {
        pl_text_printf(out, "    <DataSet timestep=\"%.9g\" part=\"0\" file=\"", times[i]);
        put_escaped(out, prefix);
        pl_text_printf(out, "_%06" PRId64 ".vtu\"/>\n", frames[i]);
    }
    pl_text_put(out, "  </Collection>\n</VTKFile>\n");
}
