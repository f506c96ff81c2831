#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/vtk_grid.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Owner of the values that follow. */
typedef enum vtk_owner { OF_NOTHING, OF_POINTS, OF_CELLS } vtk_owner;

typedef struct vtk {
    pl_input in;
    pl_draft *draft;
    bool binary, has_points, ended;
    pl_vtk_grid grid;
    vtk_owner owner;
    int64_t tuples; /* values of the owner */
} vtk;

typedef struct word {
    const char *at;
    size_t length;
} word;

static bool is(word w, const char *text)
{
    return strlen(text) == w.length && strncasecmp(w.at, text, w.length) == 0;
}

static void fault(vtk *v, const char *at, const char *code, const char *expected, word got,
                  const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    pl_draft_fault(v->draft, &v->in.place, at, code, expected, PL_HINT_COMPLETE_UNCHANGED, "%s%s",
                   got.at ? pl_text_quote(got.at, got.length, quote) : "", what);
    v->ended = true;
}

/* ---- words and counts ---- */

/* The next word of the line; empty at its end. */
static word line_word(pl_input *in)
{
    while (in->at < in->end && pl_text_is_blank(*in->at))
        in->at++;
    word w = {in->at, pl_input_token(in)};
    in->at += w.length;
    return w;
}

/* The next word on any line. */
static word any_word(pl_input *in)
{
    pl_input_skip_space(in);
    return line_word(in);
}

static bool read_count(vtk *v, const char *what, int64_t *out)
{
    if (pl_input_begin(&v->in) && pl_input_size(&v->in, out))
        return true;
    pl_input_fault(&v->in, v->draft, what, 0, -1, "the count");
    v->ended = true;
    return false;
}

static pl_number_type type_of(word w)
{
    static const struct {
        const char *name;
        pl_number_type type;
    } types[] = {{"char", PL_NUMBER_I8},
                 {"unsigned_char", PL_NUMBER_U8},
                 {"signed_char", PL_NUMBER_I8},
                 {"short", PL_NUMBER_I16},
                 {"unsigned_short", PL_NUMBER_U16},
                 {"int", PL_NUMBER_I32},
                 {"unsigned_int", PL_NUMBER_U32},
                 {"long", PL_NUMBER_I64},
                 {"unsigned_long", PL_NUMBER_U64},
                 {"vtktypeint64", PL_NUMBER_I64},
                 {"vtktypeuint64", PL_NUMBER_U64},
                 {"vtkidtype", PL_NUMBER_I32},
                 {"float", PL_NUMBER_F32},
                 {"double", PL_NUMBER_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(w, types[i].name))
            return types[i].type;
    return PL_NUMBER_NONE;
}

static bool read_type(vtk *v, pl_number_type *out)
{
    word w = line_word(&v->in);
    *out = type_of(w);
    if (*out == PL_NUMBER_NONE)
        fault(v, w.at, "mesh_unsupported", "float, double, int, long or another type of numbers", w,
              " where the type of numbers is expected");
    return *out != PL_NUMBER_NONE;
}

/* ---- arrays ---- */

/* Room for one more number of an array, and its byte position. */
static bool grow(vtk *v, pl_vtk_array *a, bool real, int64_t *capacity)
{
    void **numbers = real ? (void **)&a->reals : (void **)&a->integers;
    if (a->count < *capacity)
        return true;
    if (!pl_draft_grow(v->draft, numbers, a->count, *capacity, 8) ||
        !pl_draft_grow(v->draft, (void **)&a->where, a->count, *capacity, 8))
        return false;
    *capacity = *capacity ? 2 * *capacity : 64;
    return true;
}

/* A number in text; a value (of a cell) may be nan. */
static bool read_text_number(vtk *v, pl_vtk_array *a, bool real, bool value)
{
    pl_input *in = &v->in;
    if (!real)
        return pl_input_size(in, &a->integers[a->count]);
    if (pl_input_real(in, &a->reals[a->count]))
        return true;
    if (!value || in->trouble != PL_INPUT_NOT_FINITE)
        return false;
    a->reals[a->count] = NAN;
    return pl_input_skip_token(in);
}

static bool read_text(vtk *v, int64_t count, bool real, const char *what, pl_vtk_array *a)
{
    pl_input *in = &v->in;
    int64_t capacity = 0;
    bool value = strcmp(what, "value") == 0;
    pl_input_skip_space(in);
    a->at = in->at - in->place.base;
    in->ragged_at = NULL;
    while (a->count < count && !v->draft->stopped && grow(v, a, real, &capacity)) {
        pl_input_begin(in);
        if (!read_text_number(v, a, real, value)) {
            pl_input_fault(in, v->draft, what, a->count, count,
                           real ? "a number" : "a whole number, 0 or more");
            v->ended = true;
            return false;
        }
        a->where[a->count++] = in->record_at - in->place.base;
    }
    return !v->draft->stopped;
}

/* True if the bytes of `count` numbers exist; the cursor stays. */
static bool has_bytes(vtk *v, int64_t count, pl_number_type type, const char *what)
{
    pl_input *in = &v->in;
    int64_t bytes = pl_number_bytes(type);
    if (count <= (in->end - in->at) / bytes)
        return true;
    pl_draft_fault(v->draft, &in->place, in->at, "mesh_truncated", "a complete file",
                   PL_HINT_COMPLETE, "the file ends in the %ss: %" PRId64 " of %" PRId64 " exist",
                   what, (int64_t)((in->end - in->at) / bytes), count);
    v->ended = true;
    return false;
}

static bool read_raw(vtk *v, int64_t count, pl_number_type type, bool real, const char *what,
                     pl_vtk_array *a)
{
    pl_input *in = &v->in;
    a->at = in->at - in->place.base;
    a->stride = pl_number_bytes(type);
    if (!has_bytes(v, count, type, what))
        return false;
    void *numbers = malloc((size_t)count * 8 + 1);
    if (!numbers) {
        v->draft->no_memory = v->draft->stopped = true;
        return false;
    }
    a->reals = real ? numbers : NULL;
    a->integers = real ? NULL : numbers;
    a->count = count;
    for (int64_t i = 0; i < count; i++, in->at += a->stride) {
        if (real)
            a->reals[i] = pl_number_real(in->at, type, true);
        else
            a->integers[i] = pl_number_integer(in->at, type, true);
    }
    return true;
}

/* `count` numbers after the current line; `what` names one of them. *a is overwritten. */
static bool read_array(vtk *v, int64_t count, pl_number_type type, bool real, const char *what,
                       pl_vtk_array *a)
{
    pl_vtk_array_clear(a);
    if (!v->binary)
        return read_text(v, count, real, what, a);
    pl_input_skip_line(&v->in);
    return read_raw(v, count, type, real, what, a);
}

/* Skips unused numbers. */
static void skip_array(vtk *v, int64_t count, pl_number_type type)
{
    pl_input *in = &v->in;
    if (v->binary) {
        pl_input_skip_line(in);
        if (has_bytes(v, count, type, "value"))
            in->at += count * pl_number_bytes(type);
        return;
    }
    for (int64_t i = 0; i < count && pl_input_skip_space(in); i++)
        in->at += pl_input_token(in);
}

/* ---- points and cells ---- */

static void read_points(vtk *v, const char *at)
{
    int64_t count;
    pl_number_type type;
    if (v->has_points) {
        fault(v, at, "mesh_syntax", "POINTS once", (word){0}, "POINTS is given again");
        return;
    }
    v->has_points = true;
    if (!read_count(v, "the number of points", &count) || !read_type(v, &type) ||
        pl_draft_too_many(v->draft, &v->in.place, at, "points", count,
                          v->draft->limits.max_vertices))
        return;
    read_array(v, 3 * count, type, true, "coordinate", &v->grid.points);
}

/* The capacity of an array that grew one by one: powers of two from 64 on. Called only when it is full. */
static int64_t room_of(int64_t count)
{
    bool full = count == 0 || (count >= 64 && (count & (count - 1)) == 0);
    return full ? count : INT64_MAX;
}

static bool append(vtk *v, pl_vtk_array *a, int64_t value, int64_t where)
{
    int64_t room = room_of(a->count);
    if (!grow(v, a, false, &room))
        return false;
    a->where[a->count] = where;
    a->integers[a->count++] = value;
    return true;
}

/* Appends a cell to the grid; type 0: its type follows later. */
static bool add_cell(vtk *v, const pl_vtk_array *from, int64_t first, int64_t end, int64_t type)
{
    pl_vtk_grid *g = &v->grid;
    int64_t where = pl_vtk_array_where(from, first < from->count ? first : 0);
    for (int64_t i = first; i < end; i++)
        if (!append(v, &g->corners, from->integers[i], pl_vtk_array_where(from, i)))
            return false;
    return append(v, &g->ends, g->corners.count, where) &&
           (type == 0 || append(v, &g->types, type, where));
}

/* Before version 5: each cell is its number of corners and the corners. */
static void read_counted_cells(vtk *v, int64_t count, int64_t size, int64_t type)
{
    pl_vtk_array list = {0};
    int64_t at = 0, k = 0;
    bool fine = read_array(v, size, PL_NUMBER_I32, false, "number", &list);
    for (; fine && k < count && at < size; k++) {
        int64_t corners = list.integers[at];
        if (corners < 0 || corners > size - at - 1)
            break;
        fine = add_cell(v, &list, at + 1, at + 1 + corners, type);
        at += 1 + corners;
    }
    if (fine && (k < count || at < size)) {
        const char *here = v->in.place.base + pl_vtk_array_where(&list, at < size ? at : 0);
        pl_draft_fault(v->draft, &v->in.place, here, "mesh_count",
                       "as many cells and numbers as the section's first line gives",
                       "Is the count right, and the file complete?",
                       "cell %" PRId64 " of %" PRId64 " begins at number %" PRId64 " of %" PRId64
                       " and does not fit",
                       k, count, at, size);
        v->ended = true;
    }
    pl_vtk_array_clear(&list);
}

/* Since version 5: OFFSETS type, then one more number than there are cells, and CONNECTIVITY type. */
static void read_offset_cells(vtk *v, int64_t offsets, int64_t size, int64_t type)
{
    pl_vtk_array ends = {0}, corners = {0};
    pl_number_type number;
    any_word(&v->in);
    bool fine = read_type(v, &number) && read_array(v, offsets, number, false, "offset", &ends);
    if (fine) {
        word w = any_word(&v->in);
        if (!is(w, "CONNECTIVITY")) {
            fault(v, w.at, "mesh_syntax", "CONNECTIVITY", w, " follows the offsets");
            fine = false;
        }
    }
    fine = fine && read_type(v, &number) && read_array(v, size, number, false, "corner", &corners);
    for (int64_t i = 1; fine && i < offsets; i++) {
        int64_t first = ends.integers[i - 1], end = ends.integers[i];
        if (first < 0 || end < first || end > size) {
            pl_draft_fault(v->draft, &v->in.place, v->in.place.base + pl_vtk_array_where(&ends, i),
                           "mesh_syntax", PL_EXPECTED_OFFSETS, "",
                           "cell %" PRId64 " (counting from 0) goes from corner %" PRId64
                           " to %" PRId64 " of %" PRId64,
                           i - 1, first, end, size);
            v->ended = true;
            break;
        }
        fine = add_cell(v, &corners, first, end, type);
    }
    pl_vtk_array_clear(&ends);
    pl_vtk_array_clear(&corners);
}

static void read_cells(vtk *v, const char *at, int64_t type)
{
    int64_t count, size;
    if (!read_count(v, "the number of cells", &count) ||
        !read_count(v, "the numbers in all", &size) ||
        pl_draft_too_many(v->draft, &v->in.place, at, "cells", count, (int64_t)INT32_MAX))
        return;
    pl_input look = v->in;
    if (is(any_word(&look), "OFFSETS"))
        read_offset_cells(v, count, size, type);
    else
        read_counted_cells(v, count, size, type);
}

/* ---- values ---- */

static void read_values(vtk *v, word name, pl_number_type type, int64_t components, int64_t tuples)
{
    pl_vtk_grid *g = &v->grid;
    int64_t count;
    if (components < 1 || __builtin_mul_overflow(components, tuples, &count)) {
        fault(v, v->in.at, "mesh_number", "a count of components and values", name,
              " is out of range");
        return;
    }
    bool kept = v->owner == OF_CELLS && (components == 1 || components == 3) &&
                g->value_count <= PL_DRAFT_FIELDS_MAX;
    if (!kept) {
        skip_array(v, count, type);
        return;
    }
    pl_vtk_values *values = &g->values[g->value_count++];
    *values =
        (pl_vtk_values){.name = name.at, .length = name.length, .components = (int32_t)components};
    read_array(v, count, type, true, "value", &values->values);
}

/* Skips lines up to an empty one. */
static void skip_metadata(pl_input *in)
{
    pl_input_skip_line(in);
    while (in->at < in->end) {
        word w = line_word(in);
        pl_input_skip_line(in);
        if (w.length == 0)
            return;
    }
}

/* FIELD name n, then n times: name components tuples type. */
static void read_field(vtk *v)
{
    int64_t arrays, components, tuples;
    line_word(&v->in);
    if (!read_count(v, "the number of arrays", &arrays))
        return;
    for (int64_t i = 0; i < arrays && !v->ended && !v->draft->stopped; i++) {
        pl_number_type type;
        word name = any_word(&v->in);
        while (is(name, "METADATA")) {
            skip_metadata(&v->in);
            name = any_word(&v->in);
        }
        if (read_count(v, "the number of components", &components) &&
            read_count(v, "the number of values", &tuples) && read_type(v, &type))
            read_values(v, name, type, components, tuples);
    }
}

/* SCALARS name type [components], then LOOKUP_TABLE name. */
static void read_scalars(vtk *v)
{
    pl_number_type type;
    int64_t components = 1;
    word name = line_word(&v->in);
    if (!read_type(v, &type))
        return;
    word count = line_word(&v->in);
    if (count.length > 0 && (pl_text_integer(count.at, count.length, &components) != PL_TEXT_FINE ||
                             components < 1 || components > 9)) {
        fault(v, count.at, "mesh_syntax", "1 to 9 components", count, "");
        return;
    }
    pl_input look = v->in;
    if (is(any_word(&look), "LOOKUP_TABLE")) {
        v->in = look;
        line_word(&v->in);
    }
    read_values(v, name, type, components, v->tuples);
}

/* Names of the sections of values, and their numbers of components. */
static const struct attribute {
    const char *name;
    int components; /* 0: given after the name */
} attributes[] = {
    {"VECTORS", 3},    {"NORMALS", 3},      {"TENSORS", 9},    {"TENSORS6", 6},
    {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}, {"EDGE_FLAGS", 1}, {"TEXTURE_COORDINATES", 0},
};

static const struct attribute *attribute_of(word w)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (is(w, attributes[i].name))
            return &attributes[i];
    return NULL;
}

static void read_attribute(vtk *v, const struct attribute *a)
{
    pl_number_type type;
    int64_t components = a->components;
    word name = line_word(&v->in);
    if ((components > 0 || read_count(v, "the number of components", &components)) &&
        read_type(v, &type))
        read_values(v, name, type, components, v->tuples);
}

/* COLOR_SCALARS name n, LOOKUP_TABLE name n: bytes, but numbers in text. */
static void skip_colours(vtk *v, bool table)
{
    int64_t n, count;
    line_word(&v->in);
    if (!read_count(v, "the number of colours", &n))
        return;
    if (__builtin_mul_overflow(n, table ? 4 : v->tuples, &count))
        fault(v, v->in.at, "mesh_number", "a count of colours", (word){0}, "too many colours");
    else
        skip_array(v, count, PL_NUMBER_U8);
}

/* ---- sections ---- */

static void read_types(vtk *v, const char *at)
{
    int64_t count;
    if (read_count(v, "the number of cell types", &count) &&
        !pl_draft_too_many(v->draft, &v->in.place, at, "cells", count, INT32_MAX))
        read_array(v, count, PL_NUMBER_I32, false, "type", &v->grid.types);
}

/* The cells of a PolyData section by its name; 0 for another word. */
static int64_t poly_type(word w)
{
    return is(w, "VERTICES")          ? PL_VTK_POLY_VERTEX
           : is(w, "LINES")           ? PL_VTK_POLY_LINE
           : is(w, "POLYGONS")        ? PL_VTK_POLYGON
           : is(w, "TRIANGLE_STRIPS") ? PL_VTK_STRIP
                                      : 0;
}

static void read_data_head(vtk *v, vtk_owner owner)
{
    v->owner = owner;
    read_count(v, "the number of values", &v->tuples);
}

static void read_section(vtk *v, word w)
{
    const struct attribute *attribute = attribute_of(w);
    int64_t type = v->grid.cut ? poly_type(w) : 0;
    if (is(w, "POINTS"))
        read_points(v, w.at);
    else if (type)
        read_cells(v, w.at, type);
    else if (is(w, "CELLS") && !v->grid.cut && v->grid.ends.count == 0)
        read_cells(v, w.at, 0);
    else if (is(w, "CELL_TYPES") && !v->grid.cut && v->grid.types.count == 0)
        read_types(v, w.at);
    else if (is(w, "CELL_DATA"))
        read_data_head(v, OF_CELLS);
    else if (is(w, "POINT_DATA"))
        read_data_head(v, OF_POINTS);
    else if (is(w, "FIELD"))
        read_field(v);
    else if (is(w, "METADATA"))
        skip_metadata(&v->in);
    else if (is(w, "SCALARS"))
        read_scalars(v);
    else if (is(w, "COLOR_SCALARS") || is(w, "LOOKUP_TABLE"))
        skip_colours(v, is(w, "LOOKUP_TABLE"));
    else if (attribute)
        read_attribute(v, attribute);
    else
        fault(v, w.at, "mesh_syntax",
              "POINTS, CELLS, CELL_TYPES, CELL_DATA or POINT_DATA, each once", w,
              " begins a section");
}

/* # vtk DataFile Version 3.0, a title, ASCII or BINARY, DATASET UNSTRUCTURED_GRID */
static bool read_head(vtk *v)
{
    pl_input *in = &v->in;
    static const char first[] = "# vtk DataFile Version ";
    char quote[PL_TEXT_QUOTE_MAX];
    if (!pl_input_starts(in, first)) {
        bool empty = in->at == in->end;
        pl_draft_fault(
            v->draft, &in->place, in->at, empty ? "mesh_truncated" : "mesh_format",
            "# vtk DataFile Version 3.0", "Is it a VTK file of the old format (.vtk)?", "%s",
            empty ? "the file is empty" : pl_text_quote(in->at, pl_input_rest(in), quote));
        return false;
    }
    pl_input_skip_line(in);
    pl_input_skip_line(in);
    word form = any_word(in);
    v->binary = is(form, "BINARY");
    if (!v->binary && !is(form, "ASCII")) {
        fault(v, form.at, "mesh_syntax", "ASCII or BINARY on the third line", form, "");
        return false;
    }
    word dataset = any_word(in), kind = line_word(in);
    v->in.place.binary = v->binary;
    v->grid.cut = is(kind, "POLYDATA");
    if (!is(dataset, "DATASET"))
        fault(v, dataset.at, "mesh_syntax", "DATASET UNSTRUCTURED_GRID", dataset, "");
    else if (!v->grid.cut && !is(kind, "UNSTRUCTURED_GRID"))
        fault(v, dataset.at, "mesh_unsupported", "an UNSTRUCTURED_GRID or POLYDATA", kind, "");
    return !v->ended;
}

pl_status pl_vtk_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    vtk v = {.draft = draft};
    pl_input *in = &v.in;
    draft->sheets = true;
    pl_input_open(in, file, "");
    in->free_form = true;
    if (read_head(&v)) {
        while (!v.ended && !draft->stopped) {
            word w = any_word(in);
            if (w.length == 0)
                break;
            read_section(&v, w);
        }
        if (draft->fault_count == 0 && !draft->stopped)
            pl_vtk_grid_add(&v.grid, draft, &in->place);
    }
    pl_vtk_grid_clear(&v.grid);
    return pl_draft_finish(draft, &in->place, &in->place, out);
}
