#include "engine/mesh/input.h"
#include "engine/mesh/numbers.h"
#include "engine/mesh/readers.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 84, FACET = 50, SOLIDS_MAX = 4096 };

/* A corner of a facet: its position, and its index among all corners. */
typedef struct corner {
    double x[3];
    int64_t index;
} corner;

typedef struct stl {
    pl_input in;
    pl_draft *draft;
    corner *corners; /* [3 facets] */
    int64_t count, capacity;
    struct facet {
        int64_t where;
        int32_t tag;
    } * facets;
    int64_t facet_capacity;
    int32_t tag, solids;
} stl;

/* ---- facets ---- */

static bool add_corner(stl *s, const double x[3])
{
    if (!pl_draft_grow(s->draft, (void **)&s->corners, s->count, s->capacity, sizeof *s->corners))
        return false;
    if (s->count == s->capacity)
        s->capacity = s->capacity ? 2 * s->capacity : 64;
    /* + 0: -0 and 0 are the same place. */
    s->corners[s->count] = (corner){{x[0] + 0.0, x[1] + 0.0, x[2] + 0.0}, s->count};
    s->count++;
    return true;
}

/* The facet of the last three corners. */
static bool add_facet(stl *s, const char *at)
{
    int64_t k = s->count / 3 - 1;
    if (!pl_draft_grow(s->draft, (void **)&s->facets, k, s->facet_capacity, sizeof *s->facets))
        return false;
    if (k == s->facet_capacity)
        s->facet_capacity = s->facet_capacity ? 2 * s->facet_capacity : 64;
    s->facets[k].where = at - s->in.place.base;
    s->facets[k].tag = s->tag;
    return !pl_draft_too_many(s->draft, &s->in.place, at, "triangles", k + 1,
                              s->draft->limits.max_tets);
}

static int compare_corners(const void *left, const void *right)
{
    const corner *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k])
            return a->x[k] < b->x[k] ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* vertex[i]: the vertex of corner i, numbered in file order. The corners are sorted. */
static void weld(stl *s, int64_t *vertex)
{
    qsort(s->corners, (size_t)s->count, sizeof *s->corners, compare_corners);
    int64_t first = 0, used = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (memcmp(s->corners[i].x, s->corners[first].x, sizeof s->corners[i].x) != 0)
            first = i;
        vertex[s->corners[i].index] = s->corners[first].index;
    }
    for (int64_t i = 0; i < s->count; i++)
        vertex[i] = vertex[i] == i ? used++ : vertex[vertex[i]];
}

/* A facet with two corners at one vertex has no area and is left out. */
static void finish(stl *s)
{
    pl_draft *d = s->draft;
    int64_t *vertex = malloc((size_t)s->count * sizeof *vertex + 1);
    double(*x)[3] = malloc((size_t)s->count * sizeof *x + 1);
    if (!vertex || !x) {
        d->no_memory = d->stopped = true;
    } else {
        for (int64_t i = 0; i < s->count; i++)
            memcpy(x[i], s->corners[i].x, sizeof x[i]);
        weld(s, vertex);
        for (int64_t i = 0; i < s->count; i++)
            if (vertex[i] == d->node_count)
                pl_draft_add_node(d, vertex[i], x[i], s->facets[i / 3].where);
        for (int64_t k = 0; k < s->count / 3; k++) {
            const int64_t *v = vertex + 3 * k;
            if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0])
                pl_draft_add_cell(d, &d->faces, v, k, s->facets[k].tag, s->facets[k].where);
        }
        pl_draft_too_many(d, &s->in.place, s->in.place.base, "vertices", d->node_count,
                          d->limits.max_vertices);
    }
    free(vertex);
    free(x);
}

/* ---- text ---- */

static bool is(const char *at, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp(at, text, length) == 0;
}

static void fault(stl *s, const char *at, const char *code, const char *expected, const char *what)
{
    char quote[PL_TEXT_QUOTE_MAX];
    pl_input look = s->in;
    look.at = at;
    pl_draft_fault(s->draft, &s->in.place, at, code, expected, PL_HINT_COMPLETE_UNCHANGED, "%s%s",
                   pl_text_quote(at, pl_input_token(&look), quote), what);
}

static void begin_solid(stl *s)
{
    pl_input *in = &s->in;
    s->tag = 0;
    if (!pl_input_more(in) || s->solids == SOLIDS_MAX)
        return;
    size_t length = pl_input_rest(in);
    while (length > 0 && pl_text_is_blank(in->at[length - 1]))
        length--;
    s->tag = ++s->solids;
    pl_draft_add_group(s->draft, 2, s->tag, in->at, length);
}

/* A line of a facet that already has `have` corners. */
static void read_line(stl *s, const char *word, size_t length, int *have)
{
    pl_input *in = &s->in;
    double x[3];
    if (is(word, length, "vertex")) {
        if (!pl_input_reals(in, 3, x)) {
            pl_input_fault(in, s->draft, "facet", s->count / 3, -1, "vertex x y z");
            in->at = word;
            *have = -SOLIDS_MAX; /* the facet is invalid: no further faults for it */
        } else if (++*have > 3) {
            fault(s, word, "mesh_unsupported", "facets of three corners",
                  " is a fourth corner of its facet");
        } else {
            add_corner(s, x);
        }
    } else if (is(word, length, "outer")) {
        *have = 0;
    } else if (is(word, length, "endloop")) {
        if (*have == 3)
            add_facet(s, word);
        else if (*have >= 0 && *have < 3)
            fault(s, word, "mesh_syntax", "three corners", " ends a facet of fewer corners");
        s->count -= s->count % 3;
        *have = 0;
    } else if (!is(word, length, "facet") && !is(word, length, "endfacet")) {
        fault(s, word, "mesh_syntax", "facet, outer loop, vertex, endloop, endfacet or endsolid",
              " begins a line");
    }
}

static void read_text(stl *s)
{
    pl_input *in = &s->in;
    int have = 0;
    bool open = false;
    while (!s->draft->stopped && pl_input_begin(in)) {
        const char *word = in->at;
        size_t length = pl_input_token(in);
        in->at += length;
        if (is(word, length, "solid")) {
            open = true;
            begin_solid(s);
        } else if (is(word, length, "endsolid")) {
            open = false;
        } else {
            read_line(s, word, length, &have);
        }
        pl_input_skip_line(in);
    }
    if (!s->draft->stopped && s->draft->fault_count == 0 && open)
        pl_draft_fault(s->draft, &in->place, in->at, "mesh_truncated", "endsolid", PL_HINT_COMPLETE,
                       "the file ends inside a solid");
    s->count -= s->count % 3;
}

/* ---- bytes ---- */

static bool read_facet(stl *s, const char *at, int64_t k)
{
    bool finite = true;
    for (int c = 0; c < 3; c++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = pl_number_real(at + 12 + 12 * c + 4 * i, PL_NUMBER_F32, false);
            finite &= isfinite(x[i]) != 0;
        }
        if (!add_corner(s, x))
            return false;
    }
    if (!finite)
        pl_draft_fault(s->draft, &s->in.place, at, "mesh_number", "finite coordinates",
                       "Write the file again.", "a corner of facet %" PRId64 " is not finite", k);
    return add_facet(s, at);
}

static void read_bytes(stl *s)
{
    pl_input *in = &s->in;
    const char *base = in->place.base;
    int64_t size = in->end - base;
    in->place.binary = true;
    if (size < HEAD) {
        pl_draft_fault(s->draft, &in->place, base, size == 0 ? "mesh_truncated" : "mesh_format",
                       "solid, or 80 bytes and a count", "Is it an .stl file?", "%" PRId64 " bytes",
                       size);
        return;
    }
    int64_t facets = pl_number_integer(base + HEAD - 4, PL_NUMBER_U32, false);
    int64_t found = (size - HEAD) / FACET;
    if (facets != found || (size - HEAD) % FACET != 0) {
        pl_draft_fault(s->draft, &in->place, base + HEAD - 4, "mesh_count",
                       "50 bytes for each facet that the file counts", PL_HINT_COMPLETE,
                       "%" PRId64 " facets, but %" PRId64 " bytes after the header", facets,
                       size - HEAD);
        return;
    }
    for (int64_t k = 0; k < facets && !s->draft->stopped; k++)
        if (!read_facet(s, base + HEAD + k * FACET, k))
            return;
}

/* Some binary files begin with "solid", too: their size matches their count. */
static bool is_text(const pl_input *in)
{
    int64_t size = in->end - in->place.base;
    pl_input look = *in;
    if (!pl_input_skip_space(&look) || look.end - look.at < 5 ||
        strncasecmp(look.at, "solid", 5) != 0)
        return false;
    return size < HEAD || size != HEAD + FACET * pl_number_integer(in->place.base + HEAD - 4,
                                                                   PL_NUMBER_U32, false);
}

pl_status pl_stl_read(const pl_blob *file, pl_draft *draft, pl_mesh *out)
{
    stl s = {.draft = draft};
    draft->sheets = true;
    pl_input_open(&s.in, file, "");
    if (is_text(&s.in))
        read_text(&s);
    else
        read_bytes(&s);
    if (draft->fault_count == 0 && !draft->stopped && s.count > 0)
        finish(&s);
    free(s.corners);
    free(s.facets);
    return pl_draft_finish(draft, &s.in.place, &s.in.place, out);
}
