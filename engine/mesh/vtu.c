#include "engine/mesh/input.h"
#include "engine/mesh/packed.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/vtk_grid.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *at;
    size_t length;
} word;

/* <name a="1" b='2'>, </name> or <name/>; comments and <? ?> are skipped. */
typedef struct tag {
    word name, attributes;
    const char *at, *end; /* the '<', and the byte after the '>' */
    bool closing;
} tag;

/* A <DataArray> already seen; its numbers are read when its piece ends. */
typedef struct listed {
    word name, format;
    pl_number_type type;
    int64_t components, offset;
    const char *at, *text; /* the tag, and the byte after it */
} listed;

typedef enum role { POINTS, CORNERS, ENDS, TYPES, ROLES } role;

typedef struct vtu {
    pl_draft *draft;
    pl_place place;
    const char *at, *end; /* end of the XML part: up to <AppendedData> */
    const char *appended; /* after its underscore, or NULL */
    const char *file_end;
    bool appended_base64;
    pl_packed packing;
    int64_t points, cells, first_cell; /* of the piece */
    word section;
    listed arrays[ROLES]; /* the ones with a text are present */
    listed values[PL_DRAFT_FIELDS_MAX + 1];
    int32_t value_count;
} vtu;

static bool is(word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

__attribute__((format(printf, 6, 7))) static void fault(vtu *v, const char *at, const char *code,
                                                        const char *expected, const char *hint,
                                                        const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pl_draft_fault(v->draft, &v->place, at, code, expected, hint, "%s", text);
}

/* ---- tags ---- */

static bool starts(const char *at, const char *end, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(end - at) >= n && memcmp(at, text, n) == 0;
}

/* The byte after the next `mark`, or the end. */
static const char *behind(const char *at, const char *end, const char *mark)
{
    const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));
    return found ? found + strlen(mark) : end;
}

/* The '>' of a tag, past quoted values; NULL if missing. */
static const char *tag_close(const char *at, const char *end)
{
    char quote = 0;
    for (; at < end; at++) {
        if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '>')
            return at;
    }
    return NULL;
}

/* The next tag from v->at on, which moves past it; false at the end. */
static bool next_tag(vtu *v, tag *t)
{
    while ((v->at = memchr(v->at, '<', (size_t)(v->end - v->at)))) {
        if (starts(v->at, v->end, "<!--")) {
            v->at = behind(v->at, v->end, "-->");
            continue;
        }
        const char *close = tag_close(v->at, v->end);
        if (!close)
            break;
        bool other = starts(v->at, v->end, "<?") || starts(v->at, v->end, "<!");
        t->at = v->at;
        v->at = t->end = close + 1;
        if (other)
            continue;
        t->closing = t->at[1] == '/';
        t->name.at = t->at + 1 + t->closing;
        t->name.length = 0;
        while (t->name.at + t->name.length < close &&
               !strchr(" \t\r\n/", t->name.at[t->name.length]))
            t->name.length++;
        t->attributes.at = t->name.at + t->name.length;
        t->attributes.length = (size_t)(close - t->attributes.at);
        return true;
    }
    v->at = v->end;
    return false;
}

/* The value of an attribute; at = NULL if missing. */
static word attribute(const tag *t, const char *name)
{
    const char *at = t->attributes.at, *end = at + t->attributes.length;
    while (at < end) {
        while (at < end && strchr(" \t\r\n/", *at))
            at++;
        const char *key = at;
        while (at < end && !strchr(" \t\r\n=", *at))
            at++;
        size_t length = (size_t)(at - key);
        while (at < end && strchr(" \t\r\n=", *at))
            at++;
        if (at == end || (*at != '"' && *at != '\''))
            continue;
        const char *value = at + 1, *close = memchr(value, *at, (size_t)(end - value));
        if (!close)
            break;
        if (strlen(name) == length && memcmp(key, name, length) == 0)
            return (word){value, (size_t)(close - value)};
        at = close + 1;
    }
    return (word){0};
}

/* A count of 0 or more; `otherwise` if missing; -1 if it is not a number. */
static int64_t count_attribute(const tag *t, const char *name, int64_t otherwise)
{
    word w = attribute(t, name);
    int64_t value;
    if (!w.at)
        return otherwise;
    return pl_text_integer(w.at, w.length, &value) == PL_TEXT_FINE && value >= 0 ? value : -1;
}

/* ---- numbers ---- */

static bool no_memory(vtu *v)
{
    v->draft->no_memory = v->draft->stopped = true;
    return false;
}

static const char *role_name(const vtu *v, const listed *l)
{
    return l == &v->arrays[POINTS]    ? "points"
           : l == &v->arrays[CORNERS] ? "connectivity"
           : l == &v->arrays[ENDS]    ? "offsets"
           : l == &v->arrays[TYPES]   ? "types"
                                      : "values";
}

static bool read_text(vtu *v, const listed *l, int64_t count, bool real, pl_vtk_array *out)
{
    int64_t capacity = 0;
    const char *at = l->text;
    char quote[PL_TEXT_QUOTE_MAX];
    while (!v->draft->stopped) {
        while (at < v->end && (pl_text_is_blank(*at) || *at == '\n'))
            at++;
        const char *from = at;
        while (at < v->end && *at != '<' && *at != '\n' && !pl_text_is_blank(*at))
            at++;
        size_t length = (size_t)(at - from);
        if (length == 0 || out->count == count) {
            if (length == 0 && out->count == count)
                return true;
            fault(v, from, length ? "mesh_count" : "mesh_truncated",
                  "as many numbers as the piece declares", PL_HINT_COMPLETE,
                  "%s has %s numbers than the %" PRId64 " expected", role_name(v, l),
                  length ? "more" : "fewer", count);
            return false;
        }
        void **numbers = real ? (void **)&out->reals : (void **)&out->integers;
        if (!pl_draft_grow(v->draft, numbers, out->count, capacity, 8) ||
            !pl_draft_grow(v->draft, (void **)&out->where, out->count, capacity, 8))
            return false;
        if (out->count == capacity)
            capacity = capacity ? 2 * capacity : 64;
        pl_text_outcome outcome = real ? pl_text_real(from, length, &out->reals[out->count])
                                       : pl_text_integer(from, length, &out->integers[out->count]);
        if (outcome == PL_TEXT_NOT_FINITE && real)
            out->reals[out->count] = NAN;
        else if (outcome != PL_TEXT_FINE) {
            fault(v, from, "mesh_syntax", real ? "a number" : "a whole number", PL_HINT_LINE,
                  "%s in number %" PRId64 " of %s", pl_text_quote(from, length, quote), out->count,
                  role_name(v, l));
            return false;
        }
        out->where[out->count++] = from - v->place.base;
    }
    return false;
}

static bool convert(vtu *v, const listed *l, const char *bytes, int64_t count, bool real,
                    pl_vtk_array *out)
{
    int width = pl_number_bytes(l->type);
    void *numbers = malloc((size_t)count * 8 + 1);
    if (!numbers)
        return no_memory(v);
    out->reals = real ? numbers : NULL;
    out->integers = real ? NULL : numbers;
    out->count = count;
    for (int64_t i = 0; i < count; i++) {
        if (real)
            out->reals[i] = pl_number_real(bytes + i * width, l->type, v->packing.swap);
        else
            out->integers[i] = pl_number_integer(bytes + i * width, l->type, v->packing.swap);
    }
    return true;
}

static bool read_packed(vtu *v, const listed *l, int64_t count, bool real, pl_vtk_array *out)
{
    bool appended = is(l->format, "appended");
    pl_packed p = v->packing;
    size_t size;
    char *bytes;
    if (appended && (!v->appended || l->offset > v->file_end - v->appended)) {
        fault(v, l->at, "mesh_truncated", "the array's bytes in <AppendedData>", PL_HINT_COMPLETE,
              "%s begin at %" PRId64 " of the appended data, which ends before", role_name(v, l),
              l->offset);
        return false;
    }
    p.at = appended ? v->appended + l->offset : l->text;
    p.end = appended ? v->file_end : v->end;
    p.base64 = appended ? v->appended_base64 : true;
    if (__builtin_mul_overflow((size_t)count, (size_t)pl_number_bytes(l->type), &size))
        size = SIZE_MAX; /* no header gives it */
    out->at = p.at - v->place.base;
    pl_packed_outcome outcome = pl_packed_read(&p, size, &bytes);
    if (outcome == PL_PACKED_NO_MEMORY)
        return no_memory(v);
    if (outcome != PL_PACKED_OK) {
        fault(v, l->at,
              outcome == PL_PACKED_SHORT  ? "mesh_truncated"
              : outcome == PL_PACKED_SIZE ? "mesh_count"
                                          : "mesh_syntax",
              outcome == PL_PACKED_SIZE ? "as many bytes as the piece's counts give" : "whole data",
              PL_HINT_COMPLETE_OR_REWRITE, "%s %s (%" PRId64 " numbers are expected)",
              role_name(v, l),
              outcome == PL_PACKED_SHORT  ? "end with the file"
              : outcome == PL_PACKED_SIZE ? "have another size"
                                          : "cannot be unpacked",
              count);
        return false;
    }
    if (!p.base64 && !p.deflated) {
        out->at += p.header;
        out->stride = pl_number_bytes(l->type);
    }
    bool fine = convert(v, l, bytes, count, real, out);
    free(bytes);
    return fine;
}

/* The numbers of a listed array; it must exist. */
static bool read_array(vtu *v, const listed *l, int64_t count, bool real, pl_vtk_array *out)
{
    if (!l->text) {
        fault(v, v->at, "mesh_syntax", "points, connectivity, offsets and types in each piece", "",
              "the piece that ends here has no %s", role_name(v, l));
        return false;
    }
    out->at = l->text - v->place.base;
    return is(l->format, "ascii") ? read_text(v, l, count, real, out)
                                  : read_packed(v, l, count, real, out);
}

/* ---- pieces ---- */

/* No accepted cell, nor one rejected by name, has more corners on average. */
enum { CORNERS_MAX = 64 };

static bool read_corners(vtu *v, pl_vtk_grid *g)
{
    int64_t corners = g->ends.count ? g->ends.integers[g->ends.count - 1] : 0;
    if (corners >= 0 && corners <= CORNERS_MAX * v->cells)
        return read_array(v, &v->arrays[CORNERS], corners, false, &g->corners);
    fault(v, v->arrays[ENDS].at, "mesh_syntax", PL_EXPECTED_OFFSETS, "",
          "the last offset is %" PRId64 " for %" PRId64 " cells", corners, v->cells);
    return false;
}

static void finish_piece(vtu *v)
{
    pl_vtk_grid g = {.first_cell = v->first_cell};
    pl_draft *d = v->draft;
    bool fine = d->fault_count == 0 &&
                !pl_draft_too_many(d, &v->place, v->at, "points", v->points,
                                   d->limits.max_vertices) &&
                !pl_draft_too_many(d, &v->place, v->at, "cells", v->first_cell + v->cells,
                                   2 * d->limits.max_tets);
    fine = fine && read_array(v, &v->arrays[POINTS], 3 * v->points, true, &g.points) &&
           read_array(v, &v->arrays[TYPES], v->cells, false, &g.types) &&
           read_array(v, &v->arrays[ENDS], v->cells, false, &g.ends) && read_corners(v, &g);
    for (int32_t i = 0; fine && i < v->value_count; i++) {
        const listed *l = &v->values[i];
        pl_vtk_values *values = &g.values[g.value_count++];
        *values = (pl_vtk_values){
            .name = l->name.at, .length = l->name.length, .components = (int32_t)l->components};
        fine = read_array(v, l, l->components * v->cells, true, &values->values);
    }
    if (fine)
        pl_vtk_grid_add(&g, d, &v->place);
    v->first_cell += v->cells;
    pl_vtk_grid_clear(&g);
}

static void begin_piece(vtu *v, const tag *t)
{
    v->points = count_attribute(t, "NumberOfPoints", -1);
    v->cells = count_attribute(t, "NumberOfCells", -1);
    v->value_count = 0;
    memset(v->arrays, 0, sizeof v->arrays);
    if (v->points < 0 || v->cells < 0) {
        fault(v, t->at, "mesh_syntax", "NumberOfPoints and NumberOfCells", "",
              "a piece without its counts");
        v->points = v->cells = 0;
    }
}

static pl_number_type type_of(word w)
{
    static const char *const names[] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    for (int k = 0; k < PL_NUMBER_NONE; k++)
        if (is(w, names[k]))
            return (pl_number_type)k;
    return PL_NUMBER_NONE;
}

/* The destination of the array in the piece, or NULL: unused. */
static listed *place_of(vtu *v, const listed *l)
{
    if (is(v->section, "Points"))
        return &v->arrays[POINTS];
    if (is(v->section, "Cells"))
        return is(l->name, "connectivity") ? &v->arrays[CORNERS]
               : is(l->name, "offsets")    ? &v->arrays[ENDS]
               : is(l->name, "types")      ? &v->arrays[TYPES]
                                           : NULL;
    bool value = is(v->section, "CellData") && (l->components == 1 || l->components == 3) &&
                 v->value_count <= PL_DRAFT_FIELDS_MAX;
    return value && l->type != PL_NUMBER_NONE ? &v->values[v->value_count++] : NULL;
}

static void list_array(vtu *v, const tag *t)
{
    listed l = {.name = attribute(t, "Name"),
                .format = attribute(t, "format"),
                .type = type_of(attribute(t, "type")),
                .components = count_attribute(t, "NumberOfComponents", 1),
                .offset = count_attribute(t, "offset", 0),
                .at = t->at,
                .text = t->end};
    char quote[PL_TEXT_QUOTE_MAX];
    if (!l.name.at)
        l.name = (word){"values", 6};
    listed *place = place_of(v, &l);
    if (!place)
        return;
    *place = l;
    word type = attribute(t, "type");
    if (l.type == PL_NUMBER_NONE)
        fault(v, t->at, "mesh_unsupported", "Int8 to UInt64, Float32 or Float64", "",
              "numbers of type %s", type.at ? pl_text_quote(type.at, type.length, quote) : "none");
    if (!is(l.format, "ascii") && !is(l.format, "binary") && !is(l.format, "appended"))
        fault(v, t->at, "mesh_unsupported", "format ascii, binary or appended", "",
              "an array of another format");
    if (l.offset < 0 || (place == &v->arrays[POINTS] && l.components != 3))
        fault(v, t->at, "mesh_syntax", "three components per point, and an offset of 0 or more", "",
              "an array of %" PRId64 " components at offset %" PRId64, l.components, l.offset);
}

/* ---- the file ---- */

static bool read_root(vtu *v, const tag *t)
{
    char quote[PL_TEXT_QUOTE_MAX];
    word type = attribute(t, "type"), order = attribute(t, "byte_order"),
         header = attribute(t, "header_type"), packer = attribute(t, "compressor");
    if (!type.at || !is(type, "UnstructuredGrid")) {
        fault(v, t->at, "mesh_unsupported", "a VTKFile of type UnstructuredGrid",
              "Save the mesh as an unstructured grid (.vtu).", "a file of type %s",
              type.at ? pl_text_quote(type.at, type.length, quote) : "none");
        return false;
    }
    if (packer.at && packer.length > 0 && !is(packer, "vtkZLibDataCompressor")) {
        fault(v, t->at, "mesh_unsupported", "no compressor, or vtkZLibDataCompressor",
              "Save the file without compression.", "data packed by %s",
              pl_text_quote(packer.at, packer.length, quote));
        return false;
    }
    v->packing.deflated = packer.length > 0;
    v->packing.swap = order.at && is(order, "BigEndian");
    v->packing.header = header.at && is(header, "UInt64") ? 8 : 4;
    return true;
}

/* Start of the appended data; the XML ends before it. */
static void find_appended(vtu *v)
{
    const char *at = memmem(v->at, (size_t)(v->end - v->at), "<AppendedData", 13);
    if (!at)
        return;
    tag t;
    v->at = at;
    if (next_tag(v, &t)) {
        word encoding = attribute(&t, "encoding");
        const char *mark = memchr(t.end, '_', (size_t)(v->end - t.end));
        v->appended = mark ? mark + 1 : NULL;
        v->appended_base64 = encoding.at && is(encoding, "base64");
        v->place.binary = !v->appended_base64;
    }
    v->end = at;
}

static bool read_head(vtu *v)
{
    tag t;
    char quote[PL_TEXT_QUOTE_MAX];
    const char *start = v->at;
    size_t shown = (size_t)(v->end - start) < 40 ? (size_t)(v->end - start) : 40;
    if (start == v->end)
        fault(v, start, "mesh_truncated", "<VTKFile>", PL_HINT_COMPLETE, "the file is empty");
    else if (*start != '<' || !next_tag(v, &t) || !is(t.name, "VTKFile"))
        fault(v, start, "mesh_format", "<VTKFile>", "Is it a VTK XML file (.vtu)?", "%s",
              pl_text_quote(start, shown, quote));
    else
        return read_root(v, &t);
    return false;
}

static void read_pieces(vtu *v)
{
    tag t;
    bool inside = false, any = false, closed = false;
    while (!v->draft->stopped && next_tag(v, &t)) {
        if (is(t.name, "Piece")) {
            if (inside && t.closing)
                finish_piece(v);
            else if (!inside && !t.closing)
                begin_piece(v, &t);
            inside = !t.closing;
            any |= t.closing;
        } else if (is(t.name, "DataArray") && inside && !t.closing) {
            list_array(v, &t);
        } else if (is(t.name, "Points") || is(t.name, "Cells") || is(t.name, "CellData") ||
                   is(t.name, "PointData")) {
            v->section = t.closing ? (word){"", 0} : t.name;
        } else if (is(t.name, "UnstructuredGrid")) {
            closed = t.closing;
        }
    }
    if (!v->draft->stopped && v->draft->fault_count == 0 && (!any || !closed))
        fault(v, v->end, "mesh_truncated", "</Piece> and </UnstructuredGrid>", PL_HINT_COMPLETE,
              "the file ends before its grid does");
}

pl_status pl_vtu_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    pl_input in;
    draft->sheets = true;
    pl_input_open(&in, file, "");
    pl_input_skip_space(&in);
    vtu v = {.draft = draft,
             .place = in.place,
             .at = in.at,
             .end = in.end,
             .file_end = in.end,
             .section = {"", 0}};
    const char *start = in.at;
    find_appended(&v);
    v.at = start;
    if (read_head(&v))
        read_pieces(&v);
    return pl_draft_finish(draft, &v.place, &v.place, out);
}
