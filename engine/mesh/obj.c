#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"

#include <inttypes.h>
#include <string.h>

/* Further names are dropped; the elements after them have no tag. */
enum { GROUPS_MAX = 4096 };

typedef struct obj {
    pl_input in;
    pl_draft *draft;
    int32_t tag; /* of the current group of faces and lines */
} obj;

static bool is_word(const char *token, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(token, word, length) == 0;
}

/* Keywords for appearance, or for curved surfaces. */
static bool is_passed_over(const char *token, size_t length)
{
    static const char *const words[] = {"vn", "vt", "vp", "s",   "mg",    "usemtl",
                                        "p",  "d",  "c",  "lod", "mtllib"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(token, length, words[i]))
            return true;
    return false;
}

static void fault_at(obj *o, const char *at, const char *code, const char *expected,
                     const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    size_t length = 0;
    while (at + length < o->in.end && at[length] != '\n' && !pl_text_is_blank(at[length]))
        length++;
    pl_draft_fault(o->draft, &o->in.place, at, code, expected,
                   "Write the surface again as triangles: v x y z and f a b c.", "%s %s", what,
                   pl_text_quote(at, length, quote));
}

/* A corner is v, v/vt, v//vn or v/vt/vn: the vertex counts from 1, or backwards from the last one. */
static bool read_corner(obj *o, int64_t *node)
{
    pl_input *in = &o->in;
    const char *token = in->at;
    size_t length = pl_input_token(in), digits = 0;
    while (digits < length && token[digits] != '/')
        digits++;
    if (pl_text_integer(token, digits, node) != PL_TEXT_FINE || *node == 0 ||
        (*node < 0 && *node < -o->draft->node_count)) {
        fault_at(o, token, "mesh_index", "the number of a vertex, from 1, or from -1 backwards",
                 "a corner is");
        return false;
    }
    if (*node < 0)
        *node += o->draft->node_count + 1;
    return pl_input_skip_token(in);
}

static void read_vertex(obj *o)
{
    double x[3];
    pl_input *in = &o->in;
    if (pl_input_reals(in, 3, x)) {
        int64_t n = o->draft->node_count;
        if (!pl_draft_too_many(o->draft, &in->place, in->record_at, "vertices", n + 1,
                               o->draft->limits.max_vertices))
            pl_draft_add_node(o->draft, n + 1, x, in->record_at - in->place.base);
        pl_input_skip_line(in); /* a weight or a colour may follow */
        return;
    }
    pl_input_fault(in, o->draft, "vertex", o->draft->node_count, -1, "v x y z");
}

/* f a b c d .. becomes the triangles a b c, a c d, ..; each has the byte position of its last corner. */
static void read_face(obj *o)
{
    pl_input *in = &o->in;
    int64_t corner[3], count = 0;
    for (; pl_input_more(in); count++) {
        const char *at = in->at;
        int64_t node;
        if (!read_corner(o, &node)) {
            pl_input_skip_line(in);
            return;
        }
        if (count >= 3)
            corner[1] = corner[2];
        corner[count < 2 ? count : 2] = node;
        if (count >= 2)
            pl_draft_add_cell(o->draft, &o->draft->faces, corner, 0, o->tag, at - in->place.base);
        if (o->draft->stopped ||
            pl_draft_too_many(o->draft, &in->place, at, "triangles", o->draft->faces.count,
                              o->draft->limits.max_tets))
            return;
    }
    if (count < 3)
        fault_at(o, in->record_at, "mesh_syntax", "f and three corners or more", "too short:");
    pl_input_skip_line(in);
}

static void read_line(obj *o)
{
    pl_input *in = &o->in;
    int64_t corner[2], count = 0;
    for (; pl_input_more(in); count++) {
        const char *at = in->at;
        if (count > 0)
            corner[0] = corner[1];
        if (!read_corner(o, &corner[1])) {
            pl_input_skip_line(in);
            return;
        }
        if (count > 0)
            pl_draft_add_cell(o->draft, &o->draft->lines, corner, 0, o->tag, at - in->place.base);
        if (o->draft->stopped ||
            pl_draft_too_many(o->draft, &in->place, at, "lines", o->draft->lines.count,
                              o->draft->limits.max_tets))
            return;
    }
    if (count < 2)
        fault_at(o, in->record_at, "mesh_syntax", "l and two vertices or more", "too short:");
    pl_input_skip_line(in);
}

/* g and o name the following elements: a group of triangles, and one of edges with the same number. */
static void read_group(obj *o)
{
    pl_input *in = &o->in;
    o->tag = 0;
    if (pl_input_more(in) && o->draft->group_count < 2 * GROUPS_MAX) {
        size_t length = pl_input_rest(in);
        while (length > 0 && pl_text_is_blank(in->at[length - 1]))
            length--;
        o->tag = (int32_t)(o->draft->group_count / 2) + 1;
        pl_draft_add_group(o->draft, 2, o->tag, in->at, length);
        pl_draft_add_group(o->draft, 1, o->tag, in->at, length);
    }
    pl_input_skip_line(in);
}

static void read_record(obj *o)
{
    pl_input *in = &o->in;
    const char *word = in->at;
    size_t length = pl_input_token(in);
    pl_input_skip_token(in);
    if (is_word(word, length, "v"))
        read_vertex(o);
    else if (is_word(word, length, "f"))
        read_face(o);
    else if (is_word(word, length, "l"))
        read_line(o);
    else if (is_word(word, length, "g") || is_word(word, length, "o"))
        read_group(o);
    else {
        if (!is_passed_over(word, length))
            fault_at(o, word, "mesh_syntax", "a line of v, f, l, g, o, vn, vt, s, usemtl, ..",
                     "an unknown line begins with");
        pl_input_skip_line(in);
    }
}

pl_status pl_obj_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    obj o = {.draft = draft};
    draft->sheets = true;
    pl_input_open(&o.in, file, "");
    o.in.comment = '#';
    while (!draft->stopped && pl_input_skip_space(&o.in)) {
        if (!pl_input_begin(&o.in))
            break;
        read_record(&o);
    }
    return pl_draft_finish(draft, &o.in.place, &o.in.place, out);
}
