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
typedef enum made { LISTED, CONNECTIVITY, OFFSETS, TYPES } made;
typedef struct block {
    const char *section, *type, *name;
    int components;
    const void *data; /* of LISTED */
    uint64_t bytes;
    made made; /* while writing, out of the cells */
} block;

enum { BLOCKS_MAX = 9 };
typedef struct layout {
    block blocks[BLOCKS_MAX];
    int count;
} layout;

static void add(layout *l, block b)
{
    if (b.data || b.made)
        l->blocks[l->count++] = b;
}

static void describe(const block *b, uint64_t offset, pl_outfile *f)
{
    pl_outfile_printf(f,
                      "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                      "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                      b->type, b->name, b->components, offset);
}

static void write_head(const pl_vtu_frame *frame, const layout *l, pl_outfile *f)
{
    const block *blocks = l->blocks;
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
    for (int i = 0; i < l->count; i++) {
        const char *section = blocks[i].section;
        if (i == 0 || strcmp(section, blocks[i - 1].section) != 0)
            pl_outfile_printf(f, "      <%s>\n", section);
        describe(&blocks[i], offset, f);
        if (i + 1 == l->count || strcmp(section, blocks[i + 1].section) != 0)
            pl_outfile_printf(f, "      </%s>\n", section);
        offset += 4 + blocks[i].bytes;
    }
    pl_outfile_printf(f, "    </Piece>\n  </UnstructuredGrid>\n"
                         "  <AppendedData encoding=\"raw\">\n_");
}

enum { PART = 4096 };

static int32_t write_ends(const cells *c, int32_t end, pl_outfile *f)
{
    int32_t ends[PART];
    for (int64_t i = 0; i < c->count;) {
        int n = 0;
        for (; n < PART && i < c->count; n++, i++)
            ends[n] = end += c->corners;
        pl_outfile_write(f, ends, (size_t)n * sizeof *ends);
    }
    return end;
}

static void write_types(const cells *c, pl_outfile *f)
{
    unsigned char types[PART];
    memset(types, c->type, sizeof types);
    for (int64_t i = 0; i < c->count; i += PART)
        pl_outfile_write(f, types, (size_t)(c->count - i < PART ? c->count - i : PART));
}

/* Corners, ends or types of all cells. */
static void write_cells(const pl_vtu_frame *frame, made what, pl_outfile *f)
{
    cells kinds[KINDS];
    int32_t end = 0;
    list_cells(frame, kinds);
    for (int k = 0; k < KINDS; k++) {
        const cells *c = &kinds[k];
        if (what == CONNECTIVITY && c->count > 0)
            pl_outfile_write(f, c->corner,
                             (size_t)c->count * (size_t)c->corners * sizeof *c->corner);
        if (what == OFFSETS)
            end = write_ends(c, end, f);
        else if (what == TYPES)
            write_types(c, f);
    }
}

static void write_blocks(const pl_vtu_frame *frame, const layout *l, pl_outfile *f)
{
    for (int i = 0; i < l->count; i++) {
        const block *b = &l->blocks[i];
        uint32_t size = (uint32_t)b->bytes;
        pl_outfile_write(f, &size, sizeof size);
        if (b->made == LISTED)
            pl_outfile_write(f, b->data, b->bytes);
        else
            write_cells(frame, b->made, f);
    }
}

static void lay_out(const pl_vtu_frame *frame, layout *l)
{
    uint64_t n = (uint64_t)frame->vertices, m = 0, corners = 0;
    cells kinds[KINDS];
    list_cells(frame, kinds);
    for (int k = 0; k < KINDS; k++) {
        m += (uint64_t)kinds[k].count;
        corners += (uint64_t)kinds[k].count * (uint64_t)kinds[k].corners;
    }
    *l = (layout){.count = 0};
    add(l, (block){"PointData", "Float32", "displacement", 3, frame->displacement, n * 12, LISTED});
    add(l, (block){"PointData", "Float32", "velocity", 3, frame->velocity, n * 12, LISTED});
    add(l, (block){"PointData", "Int32", "body", 1, frame->body, n * 4, LISTED});
    add(l, (block){"CellData", "Float32", "volume_ratio", 1, frame->volume_ratio, m * 4, LISTED});
    add(l, (block){"CellData", "Float32", "stretch", 1, frame->stretch, m * 4, LISTED});
    add(l, (block){"Points", "Float32", "Points", 3, frame->positions, n * 12, LISTED});
    add(l, (block){"Cells", "Int32", "connectivity", 1, NULL, corners * 4, CONNECTIVITY});
    add(l, (block){"Cells", "Int32", "offsets", 1, NULL, m * 4, OFFSETS});
    add(l, (block){"Cells", "UInt8", "types", 1, NULL, m, TYPES});
}

pl_status pl_vtu_write(const char *path, const pl_vtu_frame *frame)
{
    layout l;
    lay_out(frame, &l);
    for (int i = 0; i < l.count; i++)
        if (l.blocks[i].bytes >= UINT32_MAX)
            return PL_INVALID;
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    write_head(frame, &l, &f);
    write_blocks(frame, &l, &f);
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
