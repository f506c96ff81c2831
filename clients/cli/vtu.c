#include "clients/cli/vtu.h"

#include "clients/cli/outfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie");

/* The kinds of cells in the order of the file, with VTK's number of each. */
enum { KINDS = 3 };
typedef struct cells {
    int64_t count;
    int corners;
    unsigned char type;
    const int32_t *corner;
} cells;

static void list_cells(const pl_vtu_frame *f, cells out[KINDS])
{
    out[0] = (cells){f->tets, 4, 10, f->tet};
    out[1] = (cells){f->triangles, 3, 5, f->triangle};
    out[2] = (cells){f->edges, 2, 3, f->edge};
}

/* The blocks of the appended section in file order: 4 bytes of size, then the data. */
typedef struct block {
    const char *section, *type, *name;
    int components;
    const void *data; /* NULL: made while writing */
    uint64_t bytes;
} block;

enum { POINTS, DISPLACEMENT, BODY, CONNECTIVITY, OFFSETS, TYPES, BLOCKS };

static void describe(const block *b, uint64_t offset, pl_outfile *f)
{
    pl_outfile_printf(f,
                      "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                      "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                      b->type, b->name, b->components, offset);
}

static void write_head(const pl_vtu_frame *frame, const block *blocks, pl_outfile *f)
{
    pl_outfile_printf(f,
                      "<?xml version=\"1.0\"?>\n"
                      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt32\">\n"
                      "  <UnstructuredGrid>\n"
                      "    <FieldData>\n"
                      "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                      "format=\"ascii\">%.17g</DataArray>\n"
                      "    </FieldData>\n"
                      "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                      frame->time, frame->vertices, frame->tets + frame->triangles + frame->edges);
    uint64_t offset = 0;
    for (int i = 0; i < BLOCKS; i++) {
        const char *section = blocks[i].section;
        if (i == 0 || strcmp(section, blocks[i - 1].section) != 0)
            pl_outfile_printf(f, "      <%s>\n", section);
        describe(&blocks[i], offset, f);
        if (i + 1 == BLOCKS || strcmp(section, blocks[i + 1].section) != 0)
            pl_outfile_printf(f, "      </%s>\n", section);
        offset += 4 + blocks[i].bytes;
    }
    pl_outfile_printf(f, "    </Piece>\n  </UnstructuredGrid>\n"
                         "  <AppendedData encoding=\"raw\">\n_");
}

/* Corners, ends or types of all cells. */
static void write_cells(const pl_vtu_frame *frame, int what, pl_outfile *f)
{
    cells kinds[KINDS];
    int32_t end = 0;
    list_cells(frame, kinds);
    for (int k = 0; k < KINDS; k++) {
        const cells *c = &kinds[k];
        if (what == CONNECTIVITY && c->count > 0)
            pl_outfile_write(f, c->corner,
                             (size_t)c->count * (size_t)c->corners * sizeof *c->corner);
        for (int64_t i = 0; what == OFFSETS && i < c->count; i++) {
            end += c->corners;
            pl_outfile_write(f, &end, sizeof end);
        }
        for (int64_t i = 0; what == TYPES && i < c->count; i++)
            pl_outfile_write(f, &c->type, 1);
    }
}

static void write_blocks(const pl_vtu_frame *frame, const block *blocks, pl_outfile *f)
{
    for (int i = 0; i < BLOCKS; i++) {
        uint32_t size = (uint32_t)blocks[i].bytes;
        pl_outfile_write(f, &size, sizeof size);
        if (blocks[i].data)
            pl_outfile_write(f, blocks[i].data, blocks[i].bytes);
        else
            write_cells(frame, i, f);
    }
}

pl_status pl_vtu_write(const char *path, const pl_vtu_frame *frame)
{
    uint64_t n = (uint64_t)frame->vertices, m = 0, corners = 0;
    cells kinds[KINDS];
    list_cells(frame, kinds);
    for (int k = 0; k < KINDS; k++) {
        m += (uint64_t)kinds[k].count;
        corners += (uint64_t)kinds[k].count * (uint64_t)kinds[k].corners;
    }
    const block blocks[BLOCKS] = {
        {"Points", "Float32", "Points", 3, frame->positions, n * 12},
        {"PointData", "Float32", "displacement", 3, frame->displacement, n * 12},
        {"PointData", "Int32", "body", 1, frame->body, n * 4},
        {"Cells", "Int32", "connectivity", 1, NULL, corners * 4},
        {"Cells", "Int32", "offsets", 1, NULL, m * 4},
        {"Cells", "UInt8", "types", 1, NULL, m},
    };
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].bytes >= UINT32_MAX)
            return PL_INVALID;
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    write_head(frame, blocks, &f);
    write_blocks(frame, blocks, &f);
    pl_outfile_printf(&f, "\n  </AppendedData>\n</VTKFile>\n");
    return pl_outfile_commit(&f);
}

char *pl_vtu_name(const char *prefix, int64_t frame)
{
    char *name = NULL;
    return asprintf(&name, "%s_%06" PRId64 ".vtu", prefix, frame) < 0 ? NULL : name;
}

static void write_escaped(pl_outfile *f, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            pl_outfile_write(f, entity, strlen(entity));
        else
            pl_outfile_write(f, text, 1);
    }
}

pl_status pl_pvd_write(const char *path, const char *prefix, const pl_pvd_entry *entries,
                       int64_t count)
{
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    pl_outfile_printf(&f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                          "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (int64_t i = 0; i < count; i++) {
        char *name = pl_vtu_name(prefix, entries[i].frame);
        if (!name) {
            pl_outfile_abandon(&f);
            return PL_NO_MEMORY;
        }
        pl_outfile_printf(&f, "    <DataSet timestep=\"%.9g\" part=\"0\" file=\"", entries[i].time);
        write_escaped(&f, name);
        pl_outfile_printf(&f, "\"/>\n");
        free(name);
    }
    pl_outfile_printf(&f, "  </Collection>\n</VTKFile>\n");
    return pl_outfile_commit(&f);
}
