#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/sets.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct vega {
    pl_input in;
    pl_draft *draft;
    pl_sets sets;
    bool has_nodes, has_elements;
} vega;

static bool is(const char *at, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp(at, text, length) == 0;
}

static void fault(vega *v, const char *at, const char *code, const char *expected, const char *hint,
                  const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    pl_input look = v->in;
    look.at = at;
    pl_draft_fault(v->draft, &v->in.place, at, code, expected, hint, "%s%s",
                   pl_text_quote(at, pl_input_token(&look), quote), what);
}

/* Moves to the next line that begins a section. */
static void skip_lines(pl_input *in)
{
    while (pl_input_skip_space(in) && *in->at != '*')
        pl_input_skip_line(in);
}

/* After a section's records, only another section may follow. */
static void expect_section(vega *v, const char *what, int64_t count)
{
    if (v->draft->stopped || !pl_input_skip_space(&v->in) || *v->in.at == '*')
        return;
    char expected[64];
    snprintf(expected, sizeof expected, "another section after %" PRId64 " %s", count, what);
    fault(v, v->in.at, "mesh_count", expected, "Is the count right?", " follows");
}

static bool read_node(vega *v)
{
    pl_input *in = &v->in;
    int64_t number;
    double x[3];
    if (!pl_input_begin(in) || !pl_input_size(in, &number) || !pl_input_reals(in, 3, x) ||
        !pl_input_finish(in))
        return false;
    pl_draft_add_node(v->draft, number, x, in->record_at - in->place.base);
    return true;
}

static void read_nodes(vega *v)
{
    pl_input *in = &v->in;
    int64_t count, dimension;
    if (!pl_input_begin(in) || !pl_input_size(in, &count) || !pl_input_size(in, &dimension)) {
        pl_input_fault(in, v->draft, "the counts of *VERTICES", 0, -1, "count 3 0 0");
        return;
    }
    pl_input_skip_line(in);
    if (pl_draft_too_many(v->draft, &in->place, in->record_at, "vertices", count,
                          v->draft->limits.max_vertices))
        return;
    for (int64_t k = 0; k < count && !v->draft->stopped; k++)
        if (!read_node(v) && !pl_input_fault(in, v->draft, "vertex", k, count, "number x y z"))
            return;
    expect_section(v, "vertices", count);
}

static bool read_element(vega *v)
{
    pl_input *in = &v->in;
    int64_t number, node[4];
    if (!pl_input_begin(in) || !pl_input_size(in, &number))
        return false;
    for (int i = 0; i < 4; i++)
        if (!pl_input_size(in, &node[i]))
            return false;
    if (!pl_input_finish(in))
        return false;
    pl_draft_add_cell(v->draft, &v->draft->tets, node, number, 0, in->record_at - in->place.base);
    return true;
}

/* TET or TETS, or a rejected type; then count 4 0. */
static void read_elements(vega *v)
{
    pl_input *in = &v->in;
    int64_t count, corners;
    pl_input_begin(in);
    const char *kind = in->at;
    size_t length = pl_input_token(in);
    bool tets = is(kind, length, "TET") || is(kind, length, "TETS");
    pl_input_skip_line(in);
    if (!pl_input_begin(in) || !pl_input_size(in, &count) || !pl_input_size(in, &corners)) {
        pl_input_fault(in, v->draft, "the counts of *ELEMENTS", 0, -1, "count 4 0");
        return;
    }
    pl_input_skip_line(in);
    if (!tets || corners != 4) {
        bool cubes = is(kind, length, "CUBIC");
        char quote[PL_TEXT_QUOTE_MAX];
        pl_draft_fault(v->draft, &in->place, kind, "mesh_unsupported", "linear tetrahedra: TET",
                       "Mesh the volume again with tetrahedra.",
                       "%" PRId64 " %s %s (%" PRId64 " vertices each)", count,
                       cubes ? "hexahedra," : "elements,", pl_text_quote(kind, length, quote),
                       corners);
        skip_lines(in);
        return;
    }
    if (pl_draft_too_many(v->draft, &in->place, in->record_at, "tetrahedra", count,
                          v->draft->limits.max_tets))
        return;
    for (int64_t k = 0; k < count && !v->draft->stopped; k++)
        if (!read_element(v) &&
            !pl_input_fault(in, v->draft, "tetrahedron", k, count, "number and 4 vertices"))
            return;
    expect_section(v, "elements", count);
}

/* *SET name, then numbers of elements, separated by commas. */
static void read_set(vega *v, const char *name, size_t length)
{
    pl_input *in = &v->in;
    int32_t tag = pl_sets_tag(&v->sets, v->draft, name, length);
    while (!v->draft->stopped && pl_input_skip_space(in) && *in->at != '*') {
        const char *at = in->at;
        size_t digits = 0;
        int64_t number;
        while (at + digits < in->end && at[digits] >= '0' && at[digits] <= '9')
            digits++;
        if (*at == ',') {
            in->at++;
        } else if (pl_text_integer(at, digits, &number) == PL_TEXT_FINE) {
            pl_sets_add(&v->sets, v->draft, tag, number, number, 1);
            in->at += digits;
        } else {
            fault(v, at, "mesh_syntax", "numbers of elements with commas between them", "",
                  " in a set of elements");
            pl_input_skip_line(in);
        }
    }
}

static void read_section(vega *v)
{
    pl_input *in = &v->in;
    const char *at = in->at;
    size_t length = pl_input_token(in);
    in->at += length;
    pl_input_more(in);
    const char *name = in->at;
    size_t name_length = pl_input_token(in);
    pl_input_skip_line(in);
    bool *seen = is(at, length, "*VERTICES")   ? &v->has_nodes
                 : is(at, length, "*ELEMENTS") ? &v->has_elements
                                               : NULL;
    if (seen && *seen) {
        fault(v, at, "mesh_syntax", "every section once", "", " is given again");
        skip_lines(in);
    } else if (seen) {
        *seen = true;
        (seen == &v->has_nodes ? read_nodes : read_elements)(v);
    } else if (is(at, length, "*SET")) {
        read_set(v, name, name_length);
    } else if (is(at, length, "*INCLUDE")) {
        fault(v, at, "mesh_unsupported", "one whole file",
              "Replace this line with the contents of the included file.", " names another file");
    } else {
        skip_lines(in); /* materials and regions are the scene's */
    }
}

pl_status pl_vega_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    vega v = {.draft = draft};
    pl_input *in = &v.in;
    pl_input_open(in, file, "");
    in->comment = '#';
    if (pl_input_skip_space(in) && *in->at != '*')
        fault(&v, in->at, "mesh_format", "*VERTICES", "Is it a Vega .veg file?", "");
    else
        while (!draft->stopped && pl_input_skip_space(in)) {
            if (*in->at == '*')
                read_section(&v);
            else
                skip_lines(in);
        }
    if (draft->fault_count == 0 && !(v.has_nodes && v.has_elements))
        pl_draft_fault(draft, &in->place, in->at, "mesh_truncated", "*VERTICES and *ELEMENTS",
                       PL_HINT_COMPLETE, "the file ends without %s",
                       v.has_nodes ? "*ELEMENTS" : "*VERTICES");
    pl_sets_apply(&v.sets, draft, &draft->tets, 3);
    pl_sets_clear(&v.sets);
    return pl_draft_finish(draft, &in->place, &in->place, out);
}
