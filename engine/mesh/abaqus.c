#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/sets.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *at;
    size_t length;
} word;

/* Element types by their prefix; letters may follow (hybrid, reduced, thermal). `corners` 0: rejected. */
static const struct element_kind {
    const char *type;
    int corners;
    const char *name;
} kinds[] = {
    {"C3D4", 4, ""},
    {"DC3D4", 4, ""},
    {"S3", 3, ""},
    {"STRI3", 3, ""},
    {"M3D3", 3, ""},
    {"R3D3", 3, ""},
    {"SFM3D3", 3, ""},
    {"CPS3", 3, ""},
    {"CPE3", 3, ""},
    {"T3D2", 2, ""},
    {"B31", 2, ""},
    {"B33", 2, ""},
    {"C3D10", 0, "second-order tetrahedra"},
    {"C3D8", 0, "hexahedra"},
    {"C3D20", 0, "second-order hexahedra"},
    {"C3D27", 0, "second-order hexahedra"},
    {"C3D6", 0, "prisms"},
    {"C3D15", 0, "second-order prisms"},
    {"C3D5", 0, "pyramids"},
    {"S4", 0, "quadrilaterals"},
    {"M3D4", 0, "quadrilaterals"},
    {"R3D4", 0, "quadrilaterals"},
    {"CPS4", 0, "quadrilaterals"},
    {"CPE4", 0, "quadrilaterals"},
    {"STRI65", 0, "second-order triangles"},
    {"CPS6", 0, "second-order triangles"},
    {"CPE6", 0, "second-order triangles"},
    {"S8", 0, "second-order quadrilaterals"},
    {"B32", 0, "second-order lines"},
    {"T3D3", 0, "second-order lines"},
};

enum { REFUSED_MAX = 8, FIELDS_MAX = 40 };

/* Kind of the lines being read. */
typedef enum section { SKIPPED, NODES, ELEMENTS, REFUSED, ELEMENT_SET, NODE_SET, INSTANCE } section;

typedef struct abaqus {
    pl_input in;
    pl_draft *draft;
    section section;
    pl_sets elements, nodes; /* sets of either */
    int32_t tag;             /* the set to which the lines belong */
    bool generate;           /* first, last, step */
    pl_draft_cells *cells;
    int64_t record[5]; /* an element's number and corners, which may continue on the next line */
    int have;
    const char *record_at, *set_at;
    bool continued; /* the previous line ended in a comma */
    int parts;
    struct {
        word type;
        const char *name, *at;
        int64_t count;
    } refused[REFUSED_MAX];
    int refused_count, refusing;
} abaqus;

static bool is(word w, const char *text)
{
    return strlen(text) == w.length && strncasecmp(w.at, text, w.length) == 0;
}

static void fault(abaqus *a, const char *code, const char *expected, const char *hint, word got,
                  const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    const char *at = got.length ? got.at : a->in.at;
    pl_draft_fault(a->draft, &a->in.place, at, code, expected, hint, "%s%s",
                   pl_text_quote(got.at, got.length, quote), what);
}

/* ---- lines ---- */

static word trim(const char *from, const char *to)
{
    while (from < to && pl_text_is_blank(*from))
        from++;
    while (to > from && pl_text_is_blank(to[-1]))
        to--;
    return (word){from, (size_t)(to - from)};
}

/* The text before the next comma; *at moves past it. False at the end of the line. */
static bool next_field(const char **at, const char *end, word *out)
{
    if (*at >= end)
        return false;
    const char *comma = memchr(*at, ',', (size_t)(end - *at));
    *out = trim(*at, comma ? comma : end);
    *at = comma ? comma + 1 : end;
    return true;
}

/* The value of KEY=value in a keyword line; empty if missing. */
static word parameter(word line, const char *key)
{
    const char *at = line.at, *end = at + line.length;
    word field;
    while (next_field(&at, end, &field)) {
        const char *equals = memchr(field.at, '=', field.length);
        word name = equals ? trim(field.at, equals) : field;
        if (is(name, key))
            return equals ? trim(equals + 1, field.at + field.length) : field;
    }
    return (word){line.at, 0};
}

/* ---- sections ---- */

static const struct element_kind *kind_of(word type)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = strlen(kinds[k].type), i = n;
        if (type.length < n || strncasecmp(type.at, kinds[k].type, n) != 0)
            continue;
        while (i < type.length && pl_text_is_letter(type.at[i]))
            i++;
        if (i == type.length)
            return &kinds[k];
    }
    return NULL;
}

static void begin_refused(abaqus *a, word type, const char *name)
{
    a->section = REFUSED;
    a->refusing = REFUSED_MAX;
    for (int k = 0; k < a->refused_count; k++)
        if (a->refused[k].type.length == type.length &&
            strncasecmp(a->refused[k].type.at, type.at, type.length) == 0)
            a->refusing = k;
    if (a->refusing < REFUSED_MAX || a->refused_count == REFUSED_MAX)
        return;
    a->refusing = a->refused_count++;
    a->refused[a->refusing].type = type;
    a->refused[a->refusing].name = name;
    a->refused[a->refusing].at = a->in.at;
}

static void begin_elements(abaqus *a, word line)
{
    word type = parameter(line, "TYPE"), set = parameter(line, "ELSET");
    const struct element_kind *kind = kind_of(type);
    pl_draft_cells *const of[] = {NULL, NULL, &a->draft->lines, &a->draft->faces, &a->draft->tets};
    a->tag = set.length ? pl_sets_tag(&a->elements, a->draft, set.at, set.length) : 0;
    if (!kind || kind->corners == 0) {
        begin_refused(a, type, kind ? kind->name : "elements");
        return;
    }
    a->section = ELEMENTS;
    a->cells = of[kind->corners];
}

static void begin_set(abaqus *a, word line, pl_sets *sets, const char *key, section which)
{
    word name = parameter(line, key);
    a->section = which;
    a->generate = parameter(line, "GENERATE").length > 0;
    a->tag = name.length ? pl_sets_tag(sets, a->draft, name.at, name.length) : 0;
    a->set_at = line.at;
}

/* Keywords that would change the nodes, or add others. */
static bool is_refused_keyword(word keyword)
{
    static const char *const words[] = {"*INCLUDE", "*SYSTEM", "*NGEN",  "*NFILL",
                                        "*NCOPY",   "*NMAP",   "*ELGEN", "*ELCOPY"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (is(keyword, words[k]))
            return true;
    return false;
}

static void begin_section(abaqus *a, word line)
{
    const char *at = line.at;
    word keyword;
    if (a->have > 0)
        fault(a, "mesh_syntax", "the rest of the element", PL_HINT_LINE, line,
              " begins inside an element");
    a->have = 0;
    a->continued = false;
    a->section = SKIPPED;
    if (!next_field(&at, line.at + line.length, &keyword))
        return;
    if (is(keyword, "*NODE")) {
        word set = parameter(line, "NSET");
        a->section = NODES;
        a->set_at = line.at;
        a->tag = set.length ? pl_sets_tag(&a->nodes, a->draft, set.at, set.length) : 0;
    } else if (is(keyword, "*ELEMENT")) {
        begin_elements(a, line);
    } else if (is(keyword, "*ELSET")) {
        begin_set(a, line, &a->elements, "ELSET", ELEMENT_SET);
    } else if (is(keyword, "*NSET")) {
        begin_set(a, line, &a->nodes, "NSET", NODE_SET);
    } else if (is(keyword, "*INSTANCE")) {
        a->section = INSTANCE;
    } else if (is(keyword, "*PART") && ++a->parts > 1) {
        fault(a, "mesh_unsupported", "one part", "Write each part to a file of its own.", line,
              " begins another part");
    } else if (is_refused_keyword(keyword)) {
        fault(a, "mesh_unsupported", "nodes and elements in full", "Write the mesh out flat.", line,
              " is not followed");
    }
}

/* ---- records ---- */

static bool whole(abaqus *a, word field, int64_t *out)
{
    if (pl_text_integer(field.at, field.length, out) == PL_TEXT_FINE && *out >= 0)
        return true;
    fault(a, "mesh_syntax", "a number of a node or element", PL_HINT_LINE, field, "");
    return false;
}

/* number, x, y, z: a missing third coordinate is 0. */
static void read_node(abaqus *a, word line)
{
    const char *at = line.at, *end = at + line.length;
    double x[3] = {0};
    int64_t number;
    word field;
    if (!next_field(&at, end, &field) || !whole(a, field, &number))
        return;
    int k = 0;
    for (; k < 3 && next_field(&at, end, &field); k++) {
        pl_text_outcome outcome = field.length ? pl_text_real(field.at, field.length, &x[k])
                                               : PL_TEXT_FINE;
        if (outcome == PL_TEXT_FINE)
            continue;
        fault(a, outcome == PL_TEXT_NOT_A_NUMBER ? "mesh_syntax" : "mesh_number", "a finite number",
              PL_HINT_LINE, field, " is a coordinate");
        return;
    }
    if (k < 2) {
        fault(a, "mesh_syntax", "number, x, y, z", "", line, " ends inside a node");
        return;
    }
    if (pl_draft_too_many(a->draft, &a->in.place, line.at, "nodes", a->draft->node_count + 1,
                          a->draft->limits.max_vertices))
        return;
    pl_draft_add_node(a->draft, number, x, line.at - a->in.place.base);
    pl_sets_add(&a->nodes, a->draft, a->tag, number, number, 1);
}

static void finish_element(abaqus *a)
{
    int64_t where = a->record_at - a->in.place.base;
    if (!pl_draft_too_many(a->draft, &a->in.place, a->record_at, "elements", a->cells->count + 1,
                           a->draft->limits.max_tets))
        pl_draft_add_cell(a->draft, a->cells, a->record + 1, a->record[0], a->tag, where);
    a->have = 0;
}

static void read_element(abaqus *a, word line)
{
    const char *at = line.at, *end = at + line.length;
    word field;
    if (a->have == 0)
        a->record_at = line.at;
    while (next_field(&at, end, &field)) {
        if (a->have > a->cells->corners) {
            fault(a, "mesh_syntax", "one element per line", PL_HINT_LINE, field,
                  " follows the end of an element");
            a->have = 0;
            return;
        }
        if (!whole(a, field, &a->record[a->have])) {
            a->have = 0;
            return;
        }
        a->have++;
    }
    bool more = line.at[line.length - 1] == ',';
    if (a->have == a->cells->corners + 1) {
        finish_element(a);
    } else if (!more) {
        fault(a, "mesh_syntax", "a number and the nodes of the element", PL_HINT_LINE, line,
              " ends inside an element");
        a->have = 0;
    }
}

/* Numbers, or first, last, step; names of other sets are ignored. */
static void read_members(abaqus *a, word line, pl_sets *sets)
{
    const char *at = line.at, *end = at + line.length;
    int64_t number[3] = {0, 0, 1};
    int n = 0;
    word field;
    while (next_field(&at, end, &field)) {
        int64_t value;
        if (field.length == 0 || pl_text_integer(field.at, field.length, &value) != PL_TEXT_FINE ||
            value < 0)
            continue;
        if (a->generate && n < 3)
            number[n++] = value;
        else if (!a->generate)
            pl_sets_add(sets, a->draft, a->tag, value, value, 1);
    }
    if (a->generate && n >= 2 && number[2] > 0 && number[1] >= number[0])
        pl_sets_add(sets, a->draft, a->tag, number[0], number[1], number[2]);
}

/* An instance of the part is the part itself, unless it is moved. */
static void check_instance(abaqus *a, word line)
{
    const char *at = line.at, *end = at + line.length;
    word field;
    double value;
    while (next_field(&at, end, &field))
        if (pl_text_real(field.at, field.length, &value) == PL_TEXT_FINE && value != 0) {
            fault(a, "mesh_unsupported", "an instance without motion",
                  "Omit the motion and use a transform in the scene.", line, " moves an instance");
            return;
        }
}

static void read_line(abaqus *a, word line)
{
    switch (a->section) {
    case NODES:
        read_node(a, line);
        break;
    case ELEMENTS:
        read_element(a, line);
        break;
    case REFUSED:
        if (!a->continued && a->refusing < REFUSED_MAX)
            a->refused[a->refusing].count++;
        break;
    case ELEMENT_SET:
        read_members(a, line, &a->elements);
        break;
    case NODE_SET:
        read_members(a, line, &a->nodes);
        break;
    case INSTANCE:
        check_instance(a, line);
        break;
    case SKIPPED:
        break;
    }
    a->continued = line.at[line.length - 1] == ',';
}

static void read_lines(abaqus *a)
{
    pl_input *in = &a->in;
    bool first = true;
    while (in->at < in->end && !a->draft->stopped) {
        word line = trim(in->at, in->at + pl_input_rest(in));
        bool comment = line.length >= 2 && line.at[0] == '*' && line.at[1] == '*';
        if (line.length > 0 && !comment) {
            if (first && line.at[0] != '*') {
                fault(a, "mesh_format", "a keyword: *HEADING or *NODE",
                      "Is it an Abaqus .inp file?", line, "");
                return;
            }
            first = false;
            if (line.at[0] == '*')
                begin_section(a, line);
            else
                read_line(a, line);
        }
        pl_input_skip_line(in);
    }
    if (a->have > 0 && !a->draft->stopped)
        pl_draft_fault(a->draft, &in->place, in->at, "mesh_truncated", "the rest of the element",
                       PL_HINT_COMPLETE, "the file ends inside an element");
}

static void report_refused(abaqus *a)
{
    char quote[PL_TEXT_QUOTE_MAX];
    for (int k = 0; k < a->refused_count; k++)
        if (a->refused[k].count > 0)
            pl_draft_fault(a->draft, &a->in.place, a->refused[k].at, "mesh_unsupported",
                           "linear tetrahedra (C3D4), triangles (S3) or lines (T3D2)",
                           PL_HINT_ORDER_1, "%" PRId64 " %s of type %s", a->refused[k].count,
                           a->refused[k].name,
                           pl_text_quote(a->refused[k].type.at, a->refused[k].type.length, quote));
}

pl_status pl_abaqus_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    abaqus *a = calloc(1, sizeof *a);
    if (!a)
        return PL_NO_MEMORY;
    a->draft = draft;
    draft->sheets = true;
    pl_input_open(&a->in, file, "");
    read_lines(a);
    report_refused(a);
    pl_sets_apply(&a->elements, draft, &draft->tets, 3);
    pl_sets_apply(&a->elements, draft, &draft->faces, 2);
    pl_sets_apply(&a->elements, draft, &draft->lines, 1);
    pl_sets_apply_nodes(&a->nodes, draft, a->set_at ? a->set_at - a->in.place.base : 0);
    pl_sets_clear(&a->elements);
    pl_sets_clear(&a->nodes);
    pl_place place = a->in.place;
    free(a);
    return pl_draft_finish(draft, &place, &place, out);
}
