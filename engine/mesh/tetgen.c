#include "engine/mesh/input.h"
#include "engine/mesh/readers.h"

#include <inttypes.h>
#include <math.h>

/* The first line of either file: a count and up to three more integers, 0 if missing. */
typedef struct tetgen_head {
    int64_t count, rest[3];
} tetgen_head;

static bool read_head(pl_input *in, pl_draft *draft, const char *expected, tetgen_head *head)
{
    *head = (tetgen_head){0};
    bool fine = pl_input_begin(in) && pl_input_size(in, &head->count);
    for (int i = 0; fine && i < 3 && pl_input_more(in); i++)
        fine = pl_input_size(in, &head->rest[i]);
    if (fine && pl_input_finish(in))
        return true;
    pl_input_fault(in, draft, "the first line", 0, -1, expected);
    return false;
}

/* Anything but comments after the last record means that the count or the file is wrong. */
static void check_rest(pl_input *in, pl_draft *draft, const char *what, int64_t count)
{
    char quote[PL_TEXT_QUOTE_MAX];
    if (!draft->stopped && pl_input_skip_space(in))
        pl_draft_fault(draft, &in->place, in->at, "mesh_count", "the end of the file",
                       "Does the first line give the right count?",
                       "%s follows the %" PRId64 " %s of the first line",
                       pl_text_quote(in->at, pl_input_token(in), quote), count, what);
}

static bool read_node(pl_input *in, pl_draft *draft, const tetgen_head *head)
{
    int64_t tag;
    double x[3];
    int32_t marker = 0;
    if (!pl_input_begin(in) || !pl_input_size(in, &tag) || !pl_input_reals(in, 3, x))
        return false;
    for (int64_t i = 0; i < head->rest[1]; i++)
        if (!pl_input_skip_token(in))
            return false;
    if (head->rest[2] && !pl_input_int(in, &marker))
        return false;
    if (!pl_input_finish(in))
        return false;
    int64_t where = in->record_at - in->place.base;
    pl_draft_add_node(draft, tag, x, where);
    if (marker)
        pl_draft_add_cell(draft, &draft->points, &tag, 0, marker, where);
    return true;
}

static void read_node_file(pl_input *in, pl_draft *draft)
{
    const char *layout =
        "number x y z, then as many attributes and markers as the first line gives";
    tetgen_head head;
    if (!read_head(in, draft, "count dimension attributes markers", &head) ||
        pl_draft_too_many(draft, &in->place, in->record_at, "nodes", head.count,
                          draft->limits.max_vertices))
        return;
    if (head.rest[0] != 3) {
        pl_draft_fault(draft, &in->place, in->record_at, "mesh_unsupported", "dimension 3",
                       "Is this the .node file, and not the .ele file?", "dimension %" PRId64,
                       head.rest[0]);
        return;
    }
    for (int64_t k = 0; k < head.count && !draft->stopped; k++)
        if (!read_node(in, draft, &head) &&
            !pl_input_fault(in, draft, "node", k, head.count, layout))
            return;
    check_rest(in, draft, "nodes", head.count);
}

/* A region attribute is a number in TetGen; one that is not a whole number is no tag. */
static int32_t region_tag(double attribute)
{
    bool whole = attribute == floor(attribute) && fabs(attribute) <= INT32_MAX;
    return whole ? (int32_t)attribute : 0;
}

static bool read_element(pl_input *in, pl_draft *draft, const tetgen_head *head)
{
    int64_t number, corner[4];
    double attribute = 0;
    if (!pl_input_begin(in) || !pl_input_size(in, &number))
        return false;
    for (int i = 0; i < 4; i++)
        if (!pl_input_size(in, &corner[i]))
            return false;
    if (head->rest[1] > 0 && !pl_input_real(in, &attribute))
        return false;
    for (int64_t i = 1; i < head->rest[1]; i++)
        if (!pl_input_skip_token(in))
            return false;
    if (!pl_input_finish(in))
        return false;
    pl_draft_add_cell(draft, &draft->tets, corner, 0, region_tag(attribute),
                      in->record_at - in->place.base);
    return true;
}

static void read_ele_file(pl_input *in, pl_draft *draft)
{
    tetgen_head head;
    if (!read_head(in, draft, "count nodes-per-tetrahedron attributes", &head) ||
        pl_draft_too_many(draft, &in->place, in->record_at, "tetrahedra", head.count,
                          draft->limits.max_tets))
        return;
    if (head.rest[0] != 4) {
        const char *name = head.rest[0] == 10 ? "second-order tetrahedra" : "elements";
        pl_draft_fault(draft, &in->place, in->record_at, "mesh_unsupported",
                       "linear tetrahedra (4 nodes)", "Run TetGen without -o2.",
                       "%" PRId64 " %s (%" PRId64 " nodes)", head.count, name, head.rest[0]);
        return;
    }
    for (int64_t k = 0; k < head.count && !draft->stopped; k++)
        if (!read_element(in, draft, &head) &&
            !pl_input_fault(in, draft, "tetrahedron", k, head.count,
                            "number and 4 nodes, then as many attributes as the first line gives"))
            return;
    check_rest(in, draft, "tetrahedra", head.count);
}

pl_status pl_tetgen_read(const pl_blob *node, const pl_blob *ele, pl_draft *draft, pl_mesh *out)
{
    pl_input nodes, elements;
    pl_input_open(&nodes, node, "in the .node file, ");
    pl_input_open(&elements, ele, "in the .ele file, ");
    nodes.comment = elements.comment = '#';
    read_node_file(&nodes, draft);
    read_ele_file(&elements, draft);
    return pl_draft_finish(draft, &nodes.place, &elements.place, out);
}
