#include "engine/mesh/gmsh.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdlib.h>

/* The element types by number. Tetrahedra, triangles, lines and points are kept, the others rejected by name. */
typedef struct gmsh_kind {
    const char *name;
    int nodes; /* 0: no such type */
} gmsh_kind;

static const gmsh_kind kinds[PL_GMSH_KINDS] = {
    [1] = {"lines", 2},
    [2] = {"triangles", 3},
    [3] = {"quadrangles", 4},
    [4] = {"tetrahedra", 4},
    [5] = {"hexahedra", 8},
    [6] = {"prisms", 6},
    [7] = {"pyramids", 5},
    [8] = {"second-order lines", 3},
    [9] = {"second-order triangles", 6},
    [10] = {"second-order quadrangles", 9},
    [11] = {"second-order tetrahedra", 10},
    [12] = {"second-order hexahedra", 27},
    [13] = {"second-order prisms", 18},
    [14] = {"second-order pyramids", 14},
    [15] = {"points", 1},
    [16] = {"second-order quadrangles", 8},
    [17] = {"second-order hexahedra", 20},
    [18] = {"second-order prisms", 15},
    [19] = {"second-order pyramids", 13},
    [20] = {"incomplete third-order triangles", 9},
    [21] = {"third-order triangles", 10},
    [22] = {"incomplete fourth-order triangles", 12},
    [23] = {"fourth-order triangles", 15},
    [24] = {"incomplete fifth-order triangles", 15},
    [25] = {"fifth-order triangles", 21},
    [26] = {"third-order lines", 4},
    [27] = {"fourth-order lines", 5},
    [28] = {"fifth-order lines", 6},
    [29] = {"third-order tetrahedra", 20},
    [30] = {"fourth-order tetrahedra", 35},
    [31] = {"fifth-order tetrahedra", 56},
};

enum { GMSH_LINE = 1, GMSH_TRIANGLE = 2, GMSH_TET = 4, GMSH_POINT = 15 };

static int64_t where(const pl_gmsh *gmsh)
{
    return gmsh->in.record_at - gmsh->in.place.base;
}

/* Destination of elements of `type`; NULL if they are rejected. */
static pl_draft_cells *cells_of(pl_gmsh *gmsh, int32_t type)
{
    switch (type) {
    case GMSH_TET:
        return &gmsh->draft->tets;
    case GMSH_TRIANGLE:
        return &gmsh->draft->faces;
    case GMSH_LINE:
        return &gmsh->draft->lines;
    case GMSH_POINT:
        return &gmsh->draft->points;
    default:
        return NULL;
    }
}

static void refuse(pl_gmsh *gmsh, int32_t type, int64_t count, const char *at)
{
    if (count == 0)
        return;
    if (gmsh->refused[type] == 0)
        gmsh->refused_at[type] = at;
    gmsh->refused[type] += count;
}

void pl_gmsh_report_refused(pl_gmsh *gmsh)
{
    for (int type = 0; type < PL_GMSH_KINDS; type++)
        if (gmsh->refused[type] > 0)
            pl_draft_fault(gmsh->draft, &gmsh->in.place, gmsh->refused_at[type], "mesh_unsupported",
                           PL_EXPECTED_LINEAR, PL_HINT_ORDER_1,
                           "%" PRId64 " %s (%d nodes each), the first of them here",
                           gmsh->refused[type], kinds[type].name, kinds[type].nodes);
}

/* False, with a fault, for a type whose size is unknown here, even if Gmsh knows it. */
static bool is_known_type(pl_gmsh *gmsh, int32_t type)
{
    if (type >= 0 && type < PL_GMSH_KINDS && kinds[type].nodes > 0)
        return true;
    pl_draft_fault(gmsh->draft, &gmsh->in.place, gmsh->in.record_at, "mesh_unsupported",
                   PL_EXPECTED_LINEAR, PL_HINT_ORDER_1, "elements of type %" PRId32 " of Gmsh",
                   type);
    return false;
}

static bool within_limits(pl_gmsh *gmsh)
{
    const pl_draft *d = gmsh->draft;
    const char *at = gmsh->in.record_at;
    return !pl_draft_too_many(gmsh->draft, &gmsh->in.place, at, "tetrahedra", d->tets.count,
                              d->limits.max_tets) &&
           !pl_draft_too_many(gmsh->draft, &gmsh->in.place, at, "triangles", d->faces.count,
                              d->limits.max_tets) &&
           !pl_draft_too_many(gmsh->draft, &gmsh->in.place, at, "lines", d->lines.count,
                              d->limits.max_tets);
}

static void count_fault(pl_gmsh *gmsh, const char *at, const char *what, int64_t declared,
                        int64_t found)
{
    pl_draft_fault(gmsh->draft, &gmsh->in.place, at, "mesh_count",
                   "blocks that add up to the total of the section", PL_HINT_COMPLETE_OR_REWRITE,
                   "%" PRId64 " %s in the blocks, the section declares %" PRId64, found, what,
                   declared);
}

bool pl_gmsh_read_count(pl_gmsh *gmsh, const char *what, int64_t *count)
{
    pl_input *in = &gmsh->in;
    in->raw = false;
    bool fine = pl_input_begin(in) && pl_input_size(in, count) && pl_input_finish(in);
    if (!fine)
        pl_input_fault(in, gmsh->draft, what, 0, -1, "one number on a line of its own");
    return fine;
}

/* ---- version 2 ---- */

static void read_nodes_2(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t count;
    if (!pl_gmsh_read_count(gmsh, "the number of nodes", &count) ||
        pl_draft_too_many(gmsh->draft, &in->place, in->record_at, "nodes", count,
                          gmsh->draft->limits.max_vertices))
        return;
    in->raw = gmsh->binary;
    for (int64_t k = 0; k < count && !gmsh->draft->stopped; k++) {
        int32_t tag;
        double x[3];
        if (pl_input_begin(in) && pl_input_int(in, &tag) && pl_input_reals(in, 3, x) &&
            pl_input_finish(in))
            pl_draft_add_node(gmsh->draft, tag, x, where(gmsh));
        else if (!pl_input_fault(in, gmsh->draft, "node", k, count, "tag x y z"))
            return;
    }
}

/* tags of an element: the first is its physical group. */
static bool read_tags(pl_input *in, int64_t count, int32_t *physical)
{
    int32_t ignored;
    *physical = 0;
    if (count > 0 && !pl_input_int(in, physical))
        return false;
    for (int64_t i = 1; i < count; i++)
        if (!pl_input_int(in, &ignored))
            return false;
    *physical = *physical == INT32_MIN ? 0 : abs(*physical);
    return true;
}

/* Nodes of an element of `type`, which is appended, or counted as rejected. */
static bool read_cell_2(pl_gmsh *gmsh, int32_t type, int32_t number, int32_t physical)
{
    pl_input *in = &gmsh->in;
    int64_t nodes[4] = {0};
    for (int i = 0; i < kinds[type].nodes; i++) {
        int32_t node;
        if (!pl_input_int(in, &node))
            return false;
        nodes[i & 3] = node;
    }
    if (!pl_input_finish(in))
        return false;
    pl_draft_cells *cells = cells_of(gmsh, type);
    if (!cells)
        refuse(gmsh, type, 1, in->record_at);
    else if (physical != 0 || type != GMSH_POINT)
        pl_draft_add_cell(gmsh->draft, cells, nodes, number, physical, where(gmsh));
    return true;
}

/* A line: number type ntags tags.. nodes.. */
static void read_text_elements_2(pl_gmsh *gmsh, int64_t count)
{
    pl_input *in = &gmsh->in;
    for (int64_t k = 0; k < count && !gmsh->draft->stopped; k++) {
        int32_t number, type, physical;
        int64_t tags;
        bool fine = pl_input_begin(in) && pl_input_int(in, &number) && pl_input_int(in, &type);
        if (fine && !is_known_type(gmsh, type)) {
            pl_input_skip_line(in);
            continue;
        }
        fine = fine && pl_input_size(in, &tags) && read_tags(in, tags, &physical) &&
               read_cell_2(gmsh, type, number, physical);
        if (!fine && !pl_input_fault(in, gmsh->draft, "element", k, count,
                                     "number type tag-count tags nodes"))
            return;
        if (fine && !within_limits(gmsh))
            return;
    }
}

/* Blocks: (type, number of elements, number of tags), then that many (number, tags, nodes). */
static void read_raw_elements_2(pl_gmsh *gmsh, int64_t count)
{
    pl_input *in = &gmsh->in;
    const char *layout = "type count tag-count, then the elements";
    for (int64_t done = 0; done < count && !gmsh->draft->stopped;) {
        int32_t type, inside, tags;
        if (!pl_input_begin(in) || !pl_input_int(in, &type) || !pl_input_int(in, &inside) ||
            !pl_input_int(in, &tags)) {
            pl_input_fault(in, gmsh->draft, "element", done, count, layout);
            return;
        }
        if (!is_known_type(gmsh, type))
            return;
        if (inside <= 0 || inside > count - done || tags < 0) {
            count_fault(gmsh, in->record_at, "elements", count, done + inside);
            return;
        }
        for (int32_t k = 0; k < inside && !gmsh->draft->stopped; k++, done++) {
            int32_t number, physical;
            if (!pl_input_begin(in) || !pl_input_int(in, &number) ||
                !read_tags(in, tags, &physical) || !read_cell_2(gmsh, type, number, physical)) {
                pl_input_fault(in, gmsh->draft, "element", done, count, layout);
                return;
            }
            if (!within_limits(gmsh))
                return;
        }
    }
}

/* ---- version 4.1 ---- */

/* The start of a section: blocks, total, lowest and highest tag. */
static bool read_head_4(pl_gmsh *gmsh, const char *what, int64_t *blocks, int64_t *total)
{
    pl_input *in = &gmsh->in;
    int64_t low, high;
    bool fine = pl_input_begin(in) && pl_input_size(in, blocks) && pl_input_size(in, total) &&
                pl_input_size(in, &low) && pl_input_size(in, &high) && pl_input_finish(in);
    if (!fine)
        pl_input_fault(in, gmsh->draft, what, 0, -1, "blocks, total, lowest tag, highest tag");
    return fine;
}

/* The start of a block: three ints and the number of entries, which must fit in the rest of the file. */
typedef struct gmsh_block {
    int32_t dimension, entity, third;
    int64_t count;
} gmsh_block;

static bool read_block_4(pl_gmsh *gmsh, const char *what, int64_t k, int64_t blocks, int64_t done,
                         int64_t total, gmsh_block *block)
{
    pl_input *in = &gmsh->in;
    if (!pl_input_begin(in) || !pl_input_int(in, &block->dimension) ||
        !pl_input_int(in, &block->entity) || !pl_input_int(in, &block->third) ||
        !pl_input_size(in, &block->count) || !pl_input_finish(in)) {
        pl_input_fault(in, gmsh->draft, "the head of block", k, blocks,
                       "dimension, entity, kind and number of entries");
        return false;
    }
    if (block->dimension < 0 || block->dimension > 3) {
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax", "0, 1, 2 or 3",
                       PL_HINT_COMPLETE_OR_REWRITE, "a block of dimension %" PRId32,
                       block->dimension);
        return false;
    }
    if (block->count > total - done) {
        int64_t found = block->count > INT64_MAX - done ? INT64_MAX : done + block->count;
        count_fault(gmsh, in->record_at, what, total, found);
        return false;
    }
    return true;
}

/* The tags of a block come first, then its coordinates. A parametric block adds one number for each dimension of
 * its entity. */
static bool read_node_block_4(pl_gmsh *gmsh, const gmsh_block *block)
{
    static const double unset[3];
    pl_input *in = &gmsh->in;
    pl_draft *draft = gmsh->draft;
    int64_t first = draft->node_count;
    for (int64_t k = 0; k < block->count && !draft->stopped; k++) {
        int64_t tag;
        if (!pl_input_begin(in) || !pl_input_size(in, &tag) || !pl_input_finish(in)) {
            pl_input_fault(in, draft, "the tag of node", k, block->count, "one tag per line");
            return false;
        }
        pl_draft_add_node(draft, tag, unset, where(gmsh));
    }
    int extra = block->third ? block->dimension : 0;
    for (int64_t k = 0; k < block->count && !draft->stopped; k++) {
        double x[6];
        if (pl_input_begin(in) && pl_input_reals(in, 3 + extra, x) && pl_input_finish(in)) {
            for (int a = 0; a < 3; a++)
                draft->vertices[3 * (first + k) + a] = x[a];
        } else if (!pl_input_fault(in, draft, "the position of node", k, block->count, "x y z")) {
            return false;
        }
    }
    return !draft->stopped;
}

static void read_nodes_4(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t blocks, total, done = 0;
    in->raw = gmsh->binary;
    if (!read_head_4(gmsh, "the head of the nodes", &blocks, &total) ||
        pl_draft_too_many(gmsh->draft, &in->place, in->record_at, "nodes", total,
                          gmsh->draft->limits.max_vertices))
        return;
    const char *head = in->record_at;
    for (int64_t k = 0; k < blocks; k++) {
        gmsh_block block;
        if (!read_block_4(gmsh, "nodes", k, blocks, done, total, &block) ||
            !read_node_block_4(gmsh, &block))
            return;
        done += block.count;
    }
    if (done != total)
        count_fault(gmsh, head, "nodes", total, done);
}

/* Skips the bytes or lines of rejected elements. */
static bool skip_element_block_4(pl_gmsh *gmsh, int32_t type, int64_t count)
{
    pl_input *in = &gmsh->in;
    int64_t width = (int64_t)(1 + kinds[type].nodes) * in->size_width;
    if (in->raw && count <= (in->end - in->at) / width)
        return pl_input_skip_bytes(in, count * width);
    for (int64_t k = 0; k < count; k++) {
        int64_t tag;
        bool fine = in->raw ? pl_input_skip_bytes(in, width)
                            : pl_input_begin(in) && pl_input_size(in, &tag);
        if (!fine) {
            pl_input_fault(in, gmsh->draft, "element", k, count, "tag and nodes");
            return false;
        }
        if (!in->raw)
            pl_input_skip_line(in);
    }
    return true;
}

/* One element for each physical group of its entity, and one without a group if it has none, unless it is a
 * point; a tetrahedron is one element, in the first group. */
static void add_element_4(pl_gmsh *gmsh, pl_draft_cells *cells, const int64_t *nodes,
                          int64_t number, const pl_gmsh_entity *entity)
{
    int32_t groups = entity ? entity->count : 0;
    if (cells == &gmsh->draft->tets || (groups == 0 && cells != &gmsh->draft->points))
        pl_draft_add_cell(gmsh->draft, cells, nodes, number, groups > 0 ? entity->physical[0] : 0,
                          where(gmsh));
    else
        for (int32_t i = 0; i < groups; i++)
            pl_draft_add_cell(gmsh->draft, cells, nodes, number, entity->physical[i], where(gmsh));
}

static bool read_element_block_4(pl_gmsh *gmsh, const gmsh_block *block)
{
    pl_input *in = &gmsh->in;
    int32_t type = block->third;
    if (!is_known_type(gmsh, type))
        return false;
    pl_draft_cells *cells = cells_of(gmsh, type);
    if (!cells) {
        const char *at = in->record_at;
        if (!skip_element_block_4(gmsh, type, block->count))
            return false;
        refuse(gmsh, type, block->count, at);
        return true;
    }
    static const int32_t dimension[] = {
        [GMSH_LINE] = 1, [GMSH_TRIANGLE] = 2, [GMSH_TET] = 3, [GMSH_POINT] = 0};
    const pl_gmsh_entity *entity = pl_gmsh_find_entity(gmsh, dimension[type], block->entity);
    for (int64_t k = 0; k < block->count && !gmsh->draft->stopped; k++) {
        int64_t tag, nodes[4];
        bool fine = pl_input_begin(in) && pl_input_size(in, &tag);
        for (int i = 0; fine && i < kinds[type].nodes; i++)
            fine = pl_input_size(in, &nodes[i]);
        if (fine && pl_input_finish(in))
            add_element_4(gmsh, cells, nodes, tag, entity);
        else if (!pl_input_fault(in, gmsh->draft, "element", k, block->count, "tag and nodes"))
            return false;
        if (!within_limits(gmsh))
            return false;
    }
    return !gmsh->draft->stopped;
}

static void read_elements_4(pl_gmsh *gmsh)
{
    int64_t blocks, total, done = 0;
    gmsh->in.raw = gmsh->binary;
    if (!read_head_4(gmsh, "the head of the elements", &blocks, &total))
        return;
    const char *head = gmsh->in.record_at;
    for (int64_t k = 0; k < blocks; k++) {
        gmsh_block block;
        if (!read_block_4(gmsh, "elements", k, blocks, done, total, &block) ||
            !read_element_block_4(gmsh, &block))
            return;
        done += block.count;
    }
    if (done != total)
        count_fault(gmsh, head, "elements", total, done);
}

void pl_gmsh_read_nodes(pl_gmsh *gmsh)
{
    if (gmsh->version == 2)
        read_nodes_2(gmsh);
    else
        read_nodes_4(gmsh);
}

void pl_gmsh_read_elements(pl_gmsh *gmsh)
{
    int64_t count;
    if (gmsh->version == 4) {
        read_elements_4(gmsh);
        return;
    }
    if (!pl_gmsh_read_count(gmsh, "the number of elements", &count))
        return;
    gmsh->in.raw = gmsh->binary;
    if (gmsh->binary)
        read_raw_elements_2(gmsh, count);
    else
        read_text_elements_2(gmsh, count);
}
