/* $ElementData: a Gmsh file's data of each element ("MSH file format", post-processing data). */
#include "engine/mesh/gmsh.h"

#include <inttypes.h>
#include <string.h>

/* Maximum number of text, real or integer tags of a section. */
enum { GMSH_FIELD_TAGS_MAX = 16 };

/* Hint for a section with a wrong head. */
static const char AGAIN[] = "Save it from Gmsh again; its manual has the format of $ElementData.";

/* "name", first of the text tags, each on its own line. NULL, with a fault, if missing. */
static pl_draft_field *read_texts(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t count;
    pl_draft_field *field = NULL;
    if (!pl_gmsh_read_count(gmsh, "the number of text tags", &count))
        return NULL;
    if (count < 1 || count > GMSH_FIELD_TAGS_MAX) {
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax", "1: the field's name",
                       AGAIN, "%" PRId64 " text tags", count);
        return NULL;
    }
    for (int64_t k = 0; k < count; k++) {
        const char *name;
        size_t length;
        if (!pl_input_begin(in) || !pl_gmsh_read_quoted(in, &name, &length) ||
            !pl_input_finish(in)) {
            pl_input_fault(in, gmsh->draft, "text tag", k, count, "\"name\"");
            return NULL;
        }
        if (k == 0)
            field = pl_draft_add_field(gmsh->draft, &in->place, in->record_at, name, length);
    }
    return field;
}

/* Skips the time and other tags, which are unused. */
static bool read_reals(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t count;
    if (!pl_gmsh_read_count(gmsh, "the number of real tags", &count))
        return false;
    for (int64_t k = 0; k < count; k++) {
        double ignored;
        if (!pl_input_begin(in) || !pl_input_real(in, &ignored) || !pl_input_finish(in)) {
            pl_input_fault(in, gmsh->draft, "real tag", k, count, "a number");
            return false;
        }
    }
    return true;
}

/* Time step, components of a value, number of values, and perhaps a partition. */
static bool read_integers(pl_gmsh *gmsh, pl_draft_field *field, int64_t *values)
{
    pl_input *in = &gmsh->in;
    int64_t count, tag[GMSH_FIELD_TAGS_MAX] = {0};
    if (!pl_gmsh_read_count(gmsh, "the number of integer tags", &count))
        return false;
    if (count < 3 || count > GMSH_FIELD_TAGS_MAX) {
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax",
                       "3: the time step, the components of a value, the number of values", AGAIN,
                       "%" PRId64 " integer tags", count);
        return false;
    }
    for (int64_t k = 0; k < count; k++)
        if (!pl_input_begin(in) || !pl_input_size(in, &tag[k]) || !pl_input_finish(in)) {
            pl_input_fault(in, gmsh->draft, "integer tag", k, count, "a number");
            return false;
        }
    if (tag[1] != 1 && tag[1] != 3 && tag[1] != 9) {
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax",
                       "1, 3 or 9: a number, a vector or a tensor", AGAIN,
                       "values of %" PRId64 " components", tag[1]);
        return false;
    }
    field->components = (int32_t)tag[1];
    *values = tag[2];
    return true;
}

void pl_gmsh_read_field(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    pl_draft *draft = gmsh->draft;
    pl_draft_field *field = read_texts(gmsh);
    int64_t count;
    if (!field || !read_reals(gmsh) || !read_integers(gmsh, field, &count))
        return;
    in->raw = gmsh->binary;
    for (int64_t k = 0; k < count && !draft->stopped; k++) {
        int32_t element;
        double value[9];
        if (pl_input_begin(in) && pl_input_int(in, &element) &&
            pl_input_reals(in, field->components, value) && pl_input_finish(in))
            pl_draft_add_value(draft, field, element, value);
        else if (!pl_input_fault(in, draft, "value", k, count,
                                 field->components == 1 ? "element value"
                                                        : "element and its values"))
            return;
    }
}
