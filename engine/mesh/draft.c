#include "engine/mesh/draft.h"

#include "engine/mesh/text.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_draft_init(pl_draft *draft, const pl_mesh_limits *limits, const char *pointer,
                   pl_faults *faults)
{
    *draft = (pl_draft){
        .limits = {INT32_MAX, INT32_MAX},
        .pointer = pointer,
        .faults = faults,
        .tets.corners = 4,
        .faces.corners = 3,
        .lines.corners = 2,
        .points.corners = 1,
    };
    if (limits && limits->max_vertices < INT32_MAX)
        draft->limits.max_vertices = limits->max_vertices;
    if (limits && limits->max_tets < INT32_MAX)
        draft->limits.max_tets = limits->max_tets;
}

static void clear_cells(pl_draft_cells *cells)
{
    free(cells->nodes);
    free(cells->numbers);
    free(cells->tags);
    free(cells->where);
}

void pl_draft_clear(pl_draft *draft)
{
    free(draft->node_tags);
    free(draft->node_where);
    free(draft->vertices);
    clear_cells(&draft->tets);
    clear_cells(&draft->faces);
    clear_cells(&draft->lines);
    clear_cells(&draft->points);
    for (int64_t i = 0; i < draft->group_count; i++)
        free(draft->groups[i].name);
    free(draft->groups);
    for (int64_t i = 0; i < draft->field_count; i++) {
        free(draft->fields[i].name);
        free(draft->fields[i].numbers);
        free(draft->fields[i].values);
    }
    free(draft->fields);
    *draft = (pl_draft){0};
}

void pl_draft_fault(pl_draft *draft, const pl_place *place, const char *at, const char *code,
                    const char *expected, const char *hint, const char *format, ...)
{
    if (draft->stopped)
        return;
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int64_t where = place->binary ? at - place->base : pl_text_line(place->base, at);
    const char *unit = place->binary ? "byte" : "line";
    pl_faults_addf(draft->faults, draft->pointer, code, expected, hint, "%s %" PRId64 ": %s%s",
                   unit, where, place->part, what);
    if (++draft->fault_count < PL_DRAFT_FAULTS_MAX)
        return;
    draft->stopped = true;
    pl_faults_addf(draft->faults, draft->pointer, "mesh_faults", "a mesh file without faults",
                   "Correct these and send the file again.",
                   "%s %" PRId64 ": %d faults so far; the rest of the file was not read", unit,
                   where, PL_DRAFT_FAULTS_MAX);
}

bool pl_draft_too_many(pl_draft *draft, const pl_place *place, const char *at, const char *what,
                       int64_t count, int64_t limit)
{
    if (count <= limit)
        return false;
    char expected[64];
    snprintf(expected, sizeof expected, "at most %" PRId64 " %s", limit, what);
    pl_draft_fault(draft, place, at, "mesh_limit", expected, PL_HINT_COARSER, "%" PRId64 " %s",
                   count, what);
    draft->stopped = true;
    return true;
}

bool pl_draft_grow(pl_draft *draft, void **items, int64_t count, int64_t capacity, size_t size)
{
    if (count < capacity)
        return true;
    int64_t wanted = capacity ? 2 * capacity : 64;
    void *grown = realloc(*items, (size_t)wanted * size);
    if (grown)
        *items = grown;
    else
        draft->no_memory = draft->stopped = true;
    return grown != NULL;
}

void pl_draft_add_node(pl_draft *draft, int64_t tag, const double x[3], int64_t where)
{
    int64_t n = draft->node_count, capacity = draft->node_capacity;
    if (draft->stopped || !pl_draft_grow(draft, (void **)&draft->node_tags, n, capacity, 8) ||
        !pl_draft_grow(draft, (void **)&draft->node_where, n, capacity, 8) ||
        !pl_draft_grow(draft, (void **)&draft->vertices, n, capacity, 24))
        return;
    if (n == capacity)
        draft->node_capacity = capacity ? 2 * capacity : 64;
    draft->node_tags[n] = tag;
    draft->node_where[n] = where;
    memcpy(draft->vertices + 3 * n, x, 3 * sizeof *x);
    draft->node_count++;
}

void pl_draft_add_cell(pl_draft *draft, pl_draft_cells *cells, const int64_t *nodes, int64_t number,
                       int32_t tag, int64_t where)
{
    int64_t n = cells->count, capacity = cells->capacity;
    size_t width = (size_t)cells->corners * sizeof *nodes;
    if (draft->stopped || !pl_draft_grow(draft, (void **)&cells->nodes, n, capacity, width) ||
        !pl_draft_grow(draft, (void **)&cells->numbers, n, capacity, sizeof *cells->numbers) ||
        !pl_draft_grow(draft, (void **)&cells->tags, n, capacity, sizeof *cells->tags) ||
        !pl_draft_grow(draft, (void **)&cells->where, n, capacity, sizeof *cells->where))
        return;
    if (n == capacity)
        cells->capacity = capacity ? 2 * capacity : 64;
    memcpy(cells->nodes + n * cells->corners, nodes, width);
    cells->numbers[n] = number;
    cells->tags[n] = tag;
    cells->where[n] = where;
    cells->count++;
}

enum { NAME_MAX_BYTES = 127 };

/* A copy of a name, cut; NULL, with the draft stopped, if out of memory. */
static char *copy_name(pl_draft *draft, const char *name, size_t length)
{
    size_t room = length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES;
    char *copy = malloc(room + 1);
    if (copy)
        pl_text_copy_name(name, length, copy, room);
    else
        draft->no_memory = draft->stopped = true;
    return copy;
}

/* True if the name is already known, or there is room for one more. */
static bool note_name(pl_draft *draft, const char *name, int64_t field)
{
    for (int32_t k = 0; k < draft->field_names; k++)
        if (strcmp(draft->fields[draft->field_first[k]].name, name) == 0)
            return true;
    if (draft->field_names == PL_DRAFT_FIELDS_MAX)
        return false;
    draft->field_first[draft->field_names++] = field;
    return true;
}

pl_draft_field *pl_draft_add_field(pl_draft *draft, const pl_place *place, const char *at,
                                   const char *name, size_t length)
{
    int64_t n = draft->field_count, capacity = draft->field_capacity;
    if (draft->stopped ||
        !pl_draft_grow(draft, (void **)&draft->fields, n, capacity, sizeof *draft->fields))
        return NULL;
    if (n == capacity)
        draft->field_capacity = capacity ? 2 * capacity : 64;
    char *copy = copy_name(draft, name, length);
    if (!copy)
        return NULL;
    if (note_name(draft, copy, n)) {
        draft->fields[n] = (pl_draft_field){.name = copy};
        draft->field_count++;
        return &draft->fields[n];
    }
    char expected[32], got[PL_TEXT_QUOTE_MAX];
    snprintf(expected, sizeof expected, "at most %d fields", PL_DRAFT_FIELDS_MAX);
    pl_draft_fault(draft, place, at, "mesh_limit", expected, "Save only the fields in use.",
                   "another field, %s", pl_text_quote(copy, strlen(copy), got));
    free(copy);
    return NULL;
}

/* Tensors are not kept. */
void pl_draft_add_value(pl_draft *draft, pl_draft_field *field, int64_t number, const double *value)
{
    int64_t n = field->count, capacity = field->capacity;
    size_t width = (size_t)field->components * sizeof *value;
    if (field->components > 3 || draft->stopped ||
        !pl_draft_grow(draft, (void **)&field->numbers, n, capacity, 8) ||
        !pl_draft_grow(draft, (void **)&field->values, n, capacity, width))
        return;
    if (n == capacity)
        field->capacity = capacity ? 2 * capacity : 64;
    field->numbers[n] = number;
    memcpy(field->values + n * field->components, value, width);
    field->count++;
}

void pl_draft_add_group(pl_draft *draft, int32_t dimension, int32_t tag, const char *name,
                        size_t length)
{
    int64_t n = draft->group_count, capacity = draft->group_capacity;
    if (draft->stopped ||
        !pl_draft_grow(draft, (void **)&draft->groups, n, capacity, sizeof *draft->groups))
        return;
    if (n == capacity)
        draft->group_capacity = capacity ? 2 * capacity : 64;
    char *copy = copy_name(draft, name, length);
    if (!copy)
        return;
    draft->groups[draft->group_count++] = (pl_mesh_group){copy, tag, dimension};
}
