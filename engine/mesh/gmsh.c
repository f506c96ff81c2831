#include "engine/mesh/gmsh.h"

#include "engine/mesh/readers.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64 };

static pl_gmsh_section section_of(const char *name)
{
    static const char *const names[] = {
        [PL_GMSH_OTHER] = "",
        [PL_GMSH_NAMES] = "PhysicalNames",
        [PL_GMSH_ENTITIES] = "Entities",
        [PL_GMSH_PARTITIONED] = "PartitionedEntities",
        [PL_GMSH_NODES] = "Nodes",
        [PL_GMSH_ELEMENTS] = "Elements",
        [PL_GMSH_FIELD] = "ElementData",
    };
    for (int i = PL_GMSH_NAMES; i <= PL_GMSH_FIELD; i++)
        if (strcmp(names[i], name) == 0)
            return (pl_gmsh_section)i;
    return PL_GMSH_OTHER;
}

/* ---- $MeshFormat ---- */

/* A binary file shows its byte order by the number 1 in four bytes after the first line. */
static bool read_byte_order(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int32_t one;
    in->place.binary = true;
    in->raw = true;
    bool fine = pl_input_begin(in) && pl_input_int(in, &one);
    if (!fine) {
        pl_input_fault(in, gmsh->draft, "the number that gives the byte order", 0, -1, "1");
    } else if (one != 1 && one != (int32_t)__builtin_bswap32(1)) {
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax", "1 in four bytes",
                       "Was the file changed as if it were text?",
                       "the number that gives the byte order is %" PRId32, one);
        fine = false;
    }
    in->raw = false;
    in->swap = fine && one != 1;
    return fine;
}

/* version file-type data-size. False if the rest of the file cannot be read. */
static bool read_format(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    double version;
    int32_t type, size;
    if (!pl_input_begin(in) || !pl_input_real(in, &version) || !pl_input_int(in, &type) ||
        !pl_input_int(in, &size) || !pl_input_finish(in)) {
        pl_input_fault(in, gmsh->draft, "the format", 0, -1, "version file-type data-size");
        return false;
    }
    gmsh->version = version >= 2 && version < 3 ? 2 : version == 4.1 ? 4 : 0;
    gmsh->binary = type == 1;
    in->size_width = gmsh->version == 4 ? size : 4;
    if (gmsh->version == 0)
        pl_draft_fault(
            gmsh->draft, &in->place, in->record_at, "mesh_unsupported", "MSH version 2.2 or 4.1",
            "Convert it: gmsh in.msh -save -format msh41 -o out.msh", "MSH version %.10g", version);
    else if (type != 0 && type != 1)
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_syntax",
                       "0 (text) or 1 (binary)", "", "file type %" PRId32, type);
    else if (gmsh->binary && size != 8 && !(gmsh->version == 4 && size == 4))
        pl_draft_fault(gmsh->draft, &in->place, in->record_at, "mesh_unsupported", "data size 8",
                       "", "data size %" PRId32, size);
    else
        return !gmsh->binary || read_byte_order(gmsh);
    return false;
}

/* ---- $PhysicalNames ---- */

bool pl_gmsh_read_quoted(pl_input *in, const char **name, size_t *length)
{
    pl_input_more(in);
    size_t rest = pl_input_rest(in);
    const char *open = memchr(in->at, '"', rest);
    const char *close = memrchr(in->at, '"', rest);
    if (!open || open == close) {
        in->trouble = open || rest == 0 ? PL_INPUT_LINE_END : PL_INPUT_WORD;
        in->trouble_at = open ? open : in->at;
        return false;
    }
    *name = open + 1;
    *length = (size_t)(close - open - 1);
    in->at = close + 1;
    return true;
}

/* dimension tag "name" */
static bool read_name(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int32_t dimension, tag;
    const char *name;
    size_t length;
    if (!pl_input_begin(in) || !pl_input_int(in, &dimension) || !pl_input_int(in, &tag) ||
        !pl_gmsh_read_quoted(in, &name, &length) || !pl_input_finish(in))
        return false;
    if (dimension >= 0 && dimension <= 3 && tag != INT32_MIN)
        pl_draft_add_group(gmsh->draft, dimension, abs(tag), name, length);
    return true;
}

static void read_names(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t count;
    if (!pl_input_begin(in) || !pl_input_size(in, &count) || !pl_input_finish(in)) {
        pl_input_fault(in, gmsh->draft, "the number of physical names", 0, -1,
                       "one number on its own line");
        return;
    }
    for (int64_t k = 0; k < count && !gmsh->draft->stopped; k++)
        if (!read_name(gmsh) &&
            !pl_input_fault(in, gmsh->draft, "physical name", k, count, "dimension tag \"name\""))
            return;
}

/* ---- sections ---- */

/* Moves the cursor past $End<name>, wherever that is; false, at the end of the file, if missing. */
static bool seek_end(pl_input *in, const char *name)
{
    char mark[NAME_MAX_BYTES + 8];
    int n = snprintf(mark, sizeof mark, "$End%s", name);
    const char *found = memmem(in->at, (size_t)(in->end - in->at), mark, (size_t)n);
    in->at = found ? found : in->end;
    if (found)
        pl_input_skip_line(in);
    return found != NULL;
}

/* After the inside of a section that was read without a fault, only its end mark may follow. */
static void expect_end(pl_gmsh *gmsh, const char *name)
{
    pl_input *in = &gmsh->in;
    char mark[NAME_MAX_BYTES + 8], quote[PL_TEXT_QUOTE_MAX];
    snprintf(mark, sizeof mark, "$End%s", name);
    bool some = pl_input_skip_space(in);
    size_t length = pl_input_token(in);
    if (!some)
        pl_draft_fault(gmsh->draft, &in->place, in->at, "mesh_truncated", mark, PL_HINT_COMPLETE,
                       "the file ends inside $%s", name);
    else if (length != strlen(mark) || memcmp(in->at, mark, length) != 0)
        pl_draft_fault(gmsh->draft, &in->place, in->at, "mesh_count", mark,
                       "Is the count of the section right, and the file complete?",
                       "%s where the section should end", pl_text_quote(in->at, length, quote));
}

static void skip_section(pl_gmsh *gmsh, const char *name, const char *at)
{
    if (!seek_end(&gmsh->in, name))
        pl_draft_fault(gmsh->draft, &gmsh->in.place, at, "mesh_truncated", "its $End mark",
                       PL_HINT_COMPLETE, "section $%s does not end", name);
}

/* Each of these comes once (so that a file of repeated sections cannot cause repeated sorting), the entities before
 * the elements that refer to them. */
static bool is_in_order(pl_gmsh *gmsh, pl_gmsh_section section, const char *name, const char *at)
{
    if (section == PL_GMSH_OTHER || section == PL_GMSH_NAMES || section == PL_GMSH_FIELD)
        return true;
    bool again = gmsh->seen[section];
    bool late = section < PL_GMSH_NODES && gmsh->seen[PL_GMSH_ELEMENTS];
    if (again || late)
        pl_draft_fault(gmsh->draft, &gmsh->in.place, at, "mesh_syntax",
                       "$Entities, then $Nodes and $Elements once each", "", "$%s %s", name,
                       again ? "is given again" : "comes after $Elements");
    gmsh->seen[section] = true;
    return !again && !late;
}

static void read_section(pl_gmsh *gmsh, pl_gmsh_section section, const char *name)
{
    pl_input *in = &gmsh->in;
    int64_t faults = gmsh->draft->fault_count;
    switch (section) {
    case PL_GMSH_NAMES:
        read_names(gmsh);
        break;
    case PL_GMSH_ENTITIES:
    case PL_GMSH_PARTITIONED:
        in->raw = gmsh->binary;
        pl_gmsh_read_entities(gmsh, section == PL_GMSH_PARTITIONED);
        break;
    case PL_GMSH_NODES:
        pl_gmsh_read_nodes(gmsh);
        break;
    case PL_GMSH_ELEMENTS:
        pl_gmsh_read_elements(gmsh);
        break;
    case PL_GMSH_FIELD:
        pl_gmsh_read_field(gmsh);
        break;
    case PL_GMSH_OTHER:
        break;
    }
    in->raw = false;
    if (gmsh->draft->fault_count == faults && !gmsh->draft->stopped)
        expect_end(gmsh, name);
    seek_end(in, name);
}

/* The $Name at the cursor, without the dollar; false, with a fault, if none. */
static bool read_mark(pl_gmsh *gmsh, char name[NAME_MAX_BYTES])
{
    pl_input *in = &gmsh->in;
    size_t length = pl_input_token(in);
    char quote[PL_TEXT_QUOTE_MAX];
    if (*in->at != '$' || length < 2 || length > NAME_MAX_BYTES) {
        pl_draft_fault(gmsh->draft, &in->place, in->at, "mesh_syntax", "a $Section",
                       PL_HINT_COMPLETE_UNCHANGED, "%s stands outside every section",
                       pl_text_quote(in->at, length, quote));
        const char *next = memmem(in->at, (size_t)(in->end - in->at), "\n$", 2);
        in->at = next ? next : in->end;
        return false;
    }
    memcpy(name, in->at + 1, length - 1);
    name[length - 1] = 0;
    pl_input_skip_line(in);
    return true;
}

static void read_sections(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    while (!gmsh->draft->stopped && pl_input_skip_space(in)) {
        char name[NAME_MAX_BYTES];
        const char *at = in->at;
        if (!read_mark(gmsh, name))
            continue;
        pl_gmsh_section section = section_of(name);
        bool foreign = gmsh->version == 2 && section != PL_GMSH_NAMES && section < PL_GMSH_NODES;
        if (section == PL_GMSH_OTHER || foreign || !is_in_order(gmsh, section, name, at))
            skip_section(gmsh, name, at);
        else
            read_section(gmsh, section, name);
    }
}

/* The file must open with $MeshFormat (except for comments, which Gmsh allows before it). */
static bool open_file(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    char quote[PL_TEXT_QUOTE_MAX];
    while (pl_input_skip_space(in) && pl_input_starts(in, "$Comments"))
        if (!seek_end(in, "Comments"))
            break;
    if (in->at == in->end) {
        pl_draft_fault(gmsh->draft, &in->place, in->at, "mesh_truncated", "$MeshFormat",
                       PL_HINT_COMPLETE, "the file ends before $MeshFormat");
        return false;
    }
    size_t length = pl_input_token(in);
    if (length != strlen("$MeshFormat") || !pl_input_starts(in, "$MeshFormat")) {
        pl_draft_fault(gmsh->draft, &in->place, in->at, "mesh_format", "$MeshFormat",
                       "Is it a Gmsh .msh file of version 2.2 or 4.1?", "%s",
                       pl_text_quote(in->at, pl_input_rest(in), quote));
        return false;
    }
    pl_input_skip_line(in);
    if (!read_format(gmsh))
        return false;
    expect_end(gmsh, "MeshFormat");
    return seek_end(in, "MeshFormat");
}

pl_status pl_gmsh_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    pl_gmsh *gmsh = calloc(1, sizeof *gmsh);
    if (!gmsh)
        return PL_NO_MEMORY;
    gmsh->draft = draft;
    draft->sheets = true;
    pl_input_open(&gmsh->in, file, "");
    if (open_file(gmsh)) {
        read_sections(gmsh);
        pl_gmsh_report_refused(gmsh);
    }
    pl_place place = gmsh->in.place;
    free(gmsh->entities);
    free(gmsh);
    return pl_draft_finish(draft, &place, &place, out);
}
