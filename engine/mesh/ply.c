#include "engine/mesh/input.h"
#include "engine/mesh/numbers.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 16, PROPERTIES_MAX = 64 };

/* Use of a number or a list of numbers. */
typedef enum meaning { NOTHING, X, Y, Z, CORNERS, END_1, END_2 } meaning;

typedef struct property {
    pl_number_type count; /* type of a list's count; else PL_NUMBER_NONE */
    pl_number_type type;
    meaning meaning;
} property;

typedef enum owner { OTHER, VERTEX, FACE, EDGE, STRIPS } owner;

typedef struct element {
    owner owner;
    int64_t count;
    int property_count;
    property properties[PROPERTIES_MAX];
} element;

typedef struct ply {
    pl_input in;
    pl_draft *draft;
    int element_count;
    element elements[ELEMENTS_MAX];
} ply;

typedef struct word {
    const char *at;
    size_t length;
} word;

static bool is(word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

static bool fault(ply *p, const char *code, const char *expected, word got, const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    pl_draft_fault(p->draft, &p->in.place, got.at, code, expected, PL_HINT_COMPLETE_UNCHANGED,
                   "%s%s", pl_text_quote(got.at, got.length, quote), what);
    return false;
}

/* ---- the header ---- */

static word next_word(pl_input *in)
{
    pl_input_more(in);
    word w = {in->at, pl_input_token(in)};
    in->at += w.length;
    return w;
}

static pl_number_type type_of(word w)
{
    static const char *const names[][2] = {
        {"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"}, {"ushort", "uint16"},
        {"int", "int32"},     {"uint", "uint32"},   {"", "int64"},      {"", "uint64"},
        {"float", "float32"}, {"double", "float64"}};
    for (int k = 0; k < PL_NUMBER_NONE; k++)
        if (is(w, names[k][0]) || is(w, names[k][1]))
            return w.length ? (pl_number_type)k : PL_NUMBER_NONE;
    return PL_NUMBER_NONE;
}

static bool read_format(ply *p)
{
    pl_input *in = &p->in;
    word w = next_word(in);
    if (!is(w, "ply"))
        return fault(p, w.length ? "mesh_format" : "mesh_truncated", "ply", w,
                     w.length ? " begins the file" : " is the whole file");
    pl_input_skip_line(in);
    pl_input_skip_space(in);
    word format = next_word(in);
    word form = next_word(in);
    bool swapped = is(form, "binary_big_endian");
    if (!is(format, "format") ||
        !(swapped || is(form, "ascii") || is(form, "binary_little_endian")))
        return fault(p, "mesh_syntax",
                     "format ascii, binary_little_endian or binary_big_endian on the second line",
                     form.length ? form : format, "");
    in->swap = swapped;
    in->place.binary = !is(form, "ascii");
    pl_input_skip_line(in);
    return true;
}

static bool read_element_head(ply *p)
{
    pl_input *in = &p->in;
    word name = next_word(in), count = next_word(in);
    if (p->element_count == ELEMENTS_MAX)
        return fault(p, "mesh_limit", "at most 16 kinds of elements", name, "");
    element *e = &p->elements[p->element_count++];
    *e = (element){.owner = is(name, "vertex")      ? VERTEX
                            : is(name, "face")      ? FACE
                            : is(name, "edge")      ? EDGE
                            : is(name, "tristrips") ? STRIPS
                                                    : OTHER};
    if (pl_text_integer(count.at, count.length, &e->count) != PL_TEXT_FINE || e->count < 0)
        return fault(p, "mesh_syntax", "element name count", count, " is not a count");
    return true;
}

static meaning meaning_of(owner of, word name, bool list)
{
    if (of == VERTEX && !list)
        return is(name, "x") ? X : is(name, "y") ? Y : is(name, "z") ? Z : NOTHING;
    if (of == FACE && list)
        return is(name, "vertex_indices") || is(name, "vertex_index") ? CORNERS : NOTHING;
    if (of == EDGE && !list)
        return is(name, "vertex1") ? END_1 : is(name, "vertex2") ? END_2 : NOTHING;
    return NOTHING;
}

static bool read_property(ply *p)
{
    pl_input *in = &p->in;
    element *e = p->element_count ? &p->elements[p->element_count - 1] : NULL;
    word type = next_word(in);
    property made = {.count = PL_NUMBER_NONE};
    bool list = is(type, "list");
    if (!e || e->property_count == PROPERTIES_MAX)
        return fault(p, e ? "mesh_limit" : "mesh_syntax",
                     "an element first, and at most 64 properties", type, "");
    if (list) {
        word count = next_word(in);
        made.count = type_of(count);
        if (made.count == PL_NUMBER_NONE || pl_number_is_float(made.count))
            return fault(p, "mesh_syntax", "a type of whole numbers", count, " counts a list");
        type = next_word(in);
    }
    made.type = type_of(type);
    if (made.type == PL_NUMBER_NONE)
        return fault(p, "mesh_syntax", "char, uchar, short, ushort, int, uint, float or double",
                     type, "");
    made.meaning = meaning_of(e->owner, next_word(in), list);
    e->properties[e->property_count++] = made;
    return true;
}

static bool read_header(ply *p)
{
    pl_input *in = &p->in;
    if (!read_format(p))
        return false;
    while (pl_input_skip_space(in)) {
        word w = next_word(in);
        bool fine = is(w, "element")    ? read_element_head(p)
                    : is(w, "property") ? read_property(p)
                    : is(w, "comment") || is(w, "obj_info") || is(w, "end_header")
                        ? true
                        : fault(p, "mesh_syntax", "element, property, comment or end_header", w,
                                "");
        if (!fine)
            return false;
        pl_input_skip_line(in);
        if (is(w, "end_header"))
            return true;
    }
    return fault(p, "mesh_truncated", "end_header", (word){in->at, 0}, " is where the header ends");
}

/* Vertices and faces must have the standard names. */
static bool check_header(ply *p)
{
    for (int k = 0; k < p->element_count; k++) {
        const element *e = &p->elements[k];
        unsigned has = 0;
        for (int i = 0; i < e->property_count; i++)
            has |= 1u << e->properties[i].meaning;
        unsigned wanted = e->owner == VERTEX ? 1u << X | 1u << Y | 1u << Z
                          : e->owner == FACE ? 1u << CORNERS
                          : e->owner == EDGE ? 1u << END_1 | 1u << END_2
                                             : 0;
        word here = {p->in.place.base, 0};
        if (e->owner == STRIPS && e->count > 0)
            return fault(p, "mesh_unsupported", "faces", here, ": triangle strips");
        if (e->count > 0 && (has & wanted) != wanted)
            return fault(
                p, "mesh_syntax",
                "x, y, z of vertices, a list vertex_indices of faces, vertex1, vertex2 of edges",
                here, ": not all of them are declared");
    }
    return true;
}

/* ---- records ---- */

/* A number in text or bytes; as an index, -1 if it is not one. */
static bool read_number(ply *p, pl_number_type type, double *real, int64_t *integer)
{
    pl_input *in = &p->in;
    if (!in->raw) {
        if (!pl_input_real(in, real))
            return false;
        *integer = *real == floor(*real) && fabs(*real) < 9e15 ? (int64_t)*real : -1;
        return true;
    }
    int bytes = pl_number_bytes(type);
    in->trouble = PL_INPUT_FILE_END;
    in->trouble_at = in->at;
    if (in->end - in->at < bytes)
        return false;
    *real = pl_number_real(in->at, type, in->swap);
    *integer = pl_number_integer(in->at, type, in->swap);
    in->trouble = PL_INPUT_NOT_FINITE;
    if (!isfinite(*real))
        return false;
    in->at += bytes;
    return true;
}

/* Corners of a polygon as they come: a fan about the first. Each triangle has the byte position of its last corner. */
static void take_corner(ply *p, int64_t node, int64_t k, int64_t corner[3], int64_t where)
{
    if (k >= 3)
        corner[1] = corner[2];
    corner[k < 2 ? k : 2] = node;
    if (k >= 2)
        pl_draft_add_cell(p->draft, &p->draft->faces, corner, p->draft->faces.count, 0, where);
}

static bool read_list(ply *p, const property *list)
{
    pl_input *in = &p->in;
    double real;
    int64_t count, node, corner[3];
    if (!read_number(p, list->count, &real, &count))
        return false;
    if (count < 0 || (list->meaning == CORNERS && count < 3)) {
        in->trouble = PL_INPUT_RANGE;
        in->trouble_at = in->record_at;
        return false;
    }
    for (int64_t k = 0; k < count && !p->draft->stopped; k++) {
        int64_t where = in->at - in->place.base;
        if (!read_number(p, list->type, &real, &node))
            return false;
        if (list->meaning != CORNERS)
            continue;
        take_corner(p, node, k, corner, where);
        pl_draft_too_many(p->draft, &in->place, in->at, "triangles", p->draft->faces.count,
                          p->draft->limits.max_tets);
    }
    return true;
}

static bool read_record(ply *p, const element *e)
{
    pl_input *in = &p->in;
    double real, x[3] = {0};
    int64_t integer, ends[2] = {0};
    if (!pl_input_begin(in))
        return false;
    for (int i = 0; i < e->property_count; i++) {
        const property *of = &e->properties[i];
        if (of->count != PL_NUMBER_NONE) {
            if (!read_list(p, of))
                return false;
            continue;
        }
        if (!read_number(p, of->type, &real, &integer))
            return false;
        if (of->meaning >= X && of->meaning <= Z)
            x[of->meaning - X] = real;
        else if (of->meaning == END_1 || of->meaning == END_2)
            ends[of->meaning - END_1] = integer;
    }
    if (!pl_input_finish(in))
        return false;
    int64_t where = in->record_at - in->place.base;
    if (e->owner == VERTEX)
        pl_draft_add_node(p->draft, p->draft->node_count, x, where);
    else if (e->owner == EDGE)
        pl_draft_add_cell(p->draft, &p->draft->lines, ends, p->draft->lines.count, 0, where);
    return true;
}

static void read_records(ply *p, const element *e)
{
    static const char *const names[] = {"record", "vertex", "face", "edge", "strip"};
    static const char *const layouts[] = {
        "the numbers that the header declares", "the numbers that the header declares",
        "a count of 3 or more, and as many vertices", "two vertices", ""};
    pl_input *in = &p->in;
    const char *what = e->owner == VERTEX ? "vertices" : "elements";
    int64_t limit = e->owner == VERTEX  ? p->draft->limits.max_vertices
                    : e->owner == OTHER ? INT64_MAX
                                        : p->draft->limits.max_tets;
    if (e->property_count == 0 ||
        pl_draft_too_many(p->draft, &in->place, in->at, what, e->count, limit))
        return;
    for (int64_t k = 0; k < e->count && !p->draft->stopped; k++)
        if (!read_record(p, e) &&
            !pl_input_fault(in, p->draft, names[e->owner], k, e->count, layouts[e->owner])) {
            p->draft->stopped = true; /* the following data cannot be found */
            return;
        }
}

pl_status pl_ply_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    ply *p = calloc(1, sizeof *p);
    if (!p)
        return PL_NO_MEMORY;
    p->draft = draft;
    draft->sheets = true;
    pl_input_open(&p->in, file, "");
    if (read_header(p) && check_header(p)) {
        p->in.raw = p->in.place.binary;
        for (int k = 0; k < p->element_count && !draft->stopped; k++)
            read_records(p, &p->elements[k]);
        if (!draft->stopped && draft->fault_count == 0 && pl_input_skip_space(&p->in))
            pl_draft_fault(draft, &p->in.place, p->in.at, "mesh_count", "the end of the file",
                           "Are the counts of the header right?", "more follows the last element");
    }
    pl_place place = p->in.place;
    free(p);
    return pl_draft_finish(draft, &place, &place, out);
}
