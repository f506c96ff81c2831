#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <string.h>

/* Kinds of a file's sections; any other keyword is skipped with its numbers. */
typedef enum medit_role {
    MEDIT_SKIP,
    MEDIT_VERSION,
    MEDIT_DIMENSION,
    MEDIT_NODES,
    MEDIT_TETS,
    MEDIT_FACES,
    MEDIT_REFUSED,
    MEDIT_END,
} medit_role;

static const struct medit_keyword {
    const char *word;
    medit_role role;
    const char *name; /* rejected: its name */
} keywords[] = {
    {"MeshVersionFormatted", MEDIT_VERSION, ""},
    {"Dimension", MEDIT_DIMENSION, ""},
    {"Vertices", MEDIT_NODES, "vertices"},
    {"Tetrahedra", MEDIT_TETS, "tetrahedra"},
    {"Triangles", MEDIT_FACES, "triangles"},
    {"Quadrilaterals", MEDIT_REFUSED, "quadrilaterals"},
    {"Hexahedra", MEDIT_REFUSED, "hexahedra"},
    {"Hexaedra", MEDIT_REFUSED, "hexahedra"},
    {"Prisms", MEDIT_REFUSED, "prisms"},
    {"Pentahedra", MEDIT_REFUSED, "prisms"},
    {"Pyramids", MEDIT_REFUSED, "pyramids"},
    {"TetrahedraP2", MEDIT_REFUSED, "second-order tetrahedra"},
    {"TrianglesP2", MEDIT_REFUSED, "second-order triangles"},
    {"EdgesP2", MEDIT_REFUSED, "second-order edges"},
    {"End", MEDIT_END, ""},
};

typedef struct medit {
    pl_input in;
    pl_draft *draft;
    int32_t dimension;
    bool seen[MEDIT_END + 1];
} medit;

static const struct medit_keyword *find_keyword(const char *word, size_t length)
{
    static const struct medit_keyword other = {"", MEDIT_SKIP, ""};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i].word) == length && memcmp(keywords[i].word, word, length) == 0)
            return &keywords[i];
    return &other;
}

/* Moves to the next keyword: past everything that does not start with a letter. */
static void skip_numbers(pl_input *in)
{
    while (pl_input_skip_space(in) && !pl_text_is_letter(*in->at))
        in->at += pl_input_token(in);
}

static bool read_vertex(medit *m, int64_t k)
{
    pl_input *in = &m->in;
    double x[3];
    int32_t reference;
    if (!pl_input_begin(in) || !pl_input_reals(in, 3, x) || !pl_input_int(in, &reference) ||
        !pl_input_finish(in))
        return false;
    int64_t tag = k + 1, where = in->record_at - in->place.base;
    pl_draft_add_node(m->draft, tag, x, where);
    if (reference)
        pl_draft_add_cell(m->draft, &m->draft->points, &tag, 0, reference, where);
    return true;
}

/* Tetrahedra are all kept, triangles only if a reference tags them. */
static bool read_cell(medit *m, pl_draft_cells *cells)
{
    pl_input *in = &m->in;
    int64_t nodes[4];
    int32_t reference;
    if (!pl_input_begin(in))
        return false;
    for (int i = 0; i < cells->corners; i++)
        if (!pl_input_size(in, &nodes[i]))
            return false;
    if (!pl_input_int(in, &reference) || !pl_input_finish(in))
        return false;
    if (reference || cells == &m->draft->tets)
        pl_draft_add_cell(m->draft, cells, nodes, 0, reference, in->record_at - in->place.base);
    return true;
}

static bool read_record(medit *m, medit_role role, int64_t k)
{
    switch (role) {
    case MEDIT_NODES:
        return read_vertex(m, k);
    case MEDIT_TETS:
        return read_cell(m, &m->draft->tets);
    default:
        return read_cell(m, &m->draft->faces);
    }
}

/* The keyword's count and its records. */
static void read_section(medit *m, const struct medit_keyword *keyword)
{
    static const char *const record[] = {
        [MEDIT_NODES] = "vertex", [MEDIT_TETS] = "tetrahedron", [MEDIT_FACES] = "triangle"};
    static const char *const layout[] = {[MEDIT_NODES] = "x y z reference",
                                         [MEDIT_TETS] = "4 vertices and a reference",
                                         [MEDIT_FACES] = "3 vertices and a reference"};
    pl_input *in = &m->in;
    int64_t count;
    if (!pl_input_begin(in) || !pl_input_size(in, &count)) {
        pl_input_fault(in, m->draft, "the count", 0, -1, "the count");
        return;
    }
    if (keyword->role == MEDIT_REFUSED) {
        if (count > 0)
            pl_draft_fault(m->draft, &in->place, in->record_at, "mesh_unsupported",
                           "linear tetrahedra and triangles", "Convert the mesh to tetrahedra.",
                           "%" PRId64 " %s", count, keyword->name);
        return;
    }
    bool is_nodes = keyword->role == MEDIT_NODES, is_tets = keyword->role == MEDIT_TETS;
    int64_t limit = is_nodes  ? m->draft->limits.max_vertices
                    : is_tets ? m->draft->limits.max_tets
                              : INT64_MAX;
    if (pl_draft_too_many(m->draft, &in->place, in->record_at, keyword->name, count, limit))
        return;
    in->ragged_at = NULL;
    for (int64_t k = 0; k < count && !m->draft->stopped; k++)
        if (!read_record(m, keyword->role, k)) {
            pl_input_fault(in, m->draft, record[keyword->role], k, count, layout[keyword->role]);
            return;
        }
    char quote[PL_TEXT_QUOTE_MAX];
    if (pl_input_skip_space(in) && !pl_text_is_letter(*in->at))
        pl_draft_fault(m->draft, &in->place, in->at, "mesh_count", "the next keyword",
                       "Is the count right?", "%s follows the %" PRId64 " %s declared",
                       pl_text_quote(in->at, pl_input_token(in), quote), count, keyword->name);
}

static void read_dimension(medit *m)
{
    pl_input *in = &m->in;
    if (!pl_input_begin(in) || !pl_input_int(in, &m->dimension))
        pl_input_fault(in, m->draft, "the dimension", 0, -1, "3");
    else if (m->dimension != 3)
        pl_draft_fault(m->draft, &in->place, in->record_at, "mesh_unsupported", "Dimension 3",
                       "Only solid meshes can be simulated.", "Dimension %" PRId32, m->dimension);
}

static void read_version(medit *m)
{
    pl_input *in = &m->in;
    int32_t version;
    if (!pl_input_begin(in) || !pl_input_int(in, &version))
        pl_input_fault(in, m->draft, "the version", 0, -1, "1, 2, 3 or 4");
}

/* A section that must occur once, and after the dimension. */
static bool is_in_order(medit *m, const struct medit_keyword *keyword, const char *at)
{
    medit_role role = keyword->role;
    if (role == MEDIT_SKIP || role == MEDIT_REFUSED)
        return true;
    const char *problem = NULL;
    if (m->seen[role])
        problem = "is given again";
    else if (role >= MEDIT_NODES && role <= MEDIT_FACES && !m->seen[MEDIT_DIMENSION])
        problem = "comes before Dimension";
    m->seen[role] = true;
    if (problem)
        pl_draft_fault(m->draft, &m->in.place, at, "mesh_syntax",
                       "Dimension first, then every section once", "", "%s %s", keyword->word,
                       problem);
    return !problem;
}

static void read_keyword(medit *m)
{
    pl_input *in = &m->in;
    const char *at = in->at;
    size_t length = pl_input_token(in);
    const struct medit_keyword *keyword = find_keyword(at, length);
    in->at += length;
    if (!is_in_order(m, keyword, at)) {
        skip_numbers(in);
        return;
    }
    switch (keyword->role) {
    case MEDIT_VERSION:
        read_version(m);
        break;
    case MEDIT_DIMENSION:
        read_dimension(m);
        break;
    case MEDIT_NODES:
    case MEDIT_TETS:
    case MEDIT_FACES:
    case MEDIT_REFUSED:
        read_section(m, keyword);
        break;
    case MEDIT_SKIP:
    case MEDIT_END:
        break;
    }
}

/* A text file opens with MeshVersionFormatted; a binary one with the number 1. */
static bool is_medit(medit *m)
{
    pl_input *in = &m->in;
    if (pl_input_skip_space(in) && pl_input_starts(in, "MeshVersionFormatted"))
        return true;
    char quote[PL_TEXT_QUOTE_MAX];
    bool binary = in->end - in->at >= 4 &&
                  (memcmp(in->at, "\1\0\0\0", 4) == 0 || memcmp(in->at, "\0\0\0\1", 4) == 0);
    if (in->at == in->end)
        pl_draft_fault(m->draft, &in->place, in->at, "mesh_truncated", "MeshVersionFormatted",
                       PL_HINT_COMPLETE, "the file is empty");
    else if (binary)
        pl_draft_fault(m->draft, &in->place, in->at, "mesh_unsupported", "a text .mesh file",
                       "Write the mesh as text (.mesh, not .meshb).", "a binary Medit file");
    else
        pl_draft_fault(m->draft, &in->place, in->at, "mesh_format", "MeshVersionFormatted",
                       "Is it a Medit .mesh file?", "%s",
                       pl_text_quote(in->at, pl_input_rest(in), quote));
    return false;
}

pl_status pl_medit_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    medit m = {.draft = draft};
    pl_input *in = &m.in;
    pl_input_open(in, file, "");
    in->comment = '#';
    in->free_form = true;
    if (is_medit(&m)) {
        while (!draft->stopped && !m.seen[MEDIT_END]) {
            skip_numbers(in);
            if (in->at == in->end)
                break;
            read_keyword(&m);
        }
        if (!m.seen[MEDIT_END] && draft->fault_count == 0)
            pl_draft_fault(draft, &in->place, in->at, "mesh_truncated", "End",
                           "If the file is complete, add a line: End", "the file ends without End");
    }
    return pl_draft_finish(draft, &in->place, &in->place, out);
}
