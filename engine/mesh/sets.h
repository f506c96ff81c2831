/* sets.h - named sets of elements, for files that list them by number apart from the elements themselves. */
#ifndef PLIANT_ENGINE_MESH_SETS_H
#define PLIANT_ENGINE_MESH_SETS_H

#include "engine/mesh/draft.h"

/* Zero-initialise. */
typedef struct pl_sets {
    int32_t count; /* number of sets: their tags are 1 to count */
    int64_t member_count, member_capacity;
    struct pl_set_member {
        int64_t number, last, step; /* number, number + step, .. up to last */
        int32_t tag;
    } * members;
    struct pl_set_name {
        const char *at; /* in the file */
        size_t length;
    } * names;
    int64_t name_capacity;
} pl_sets;

/* Returns the tag of the set with that name, ignoring case, which is created if necessary. 0: out of memory. */
int32_t pl_sets_tag(pl_sets *s, pl_draft *draft, const char *name, size_t length);
void pl_sets_add(pl_sets *s, pl_draft *draft, int32_t tag, int64_t number, int64_t last,
                 int64_t step);

/* Tags the cells, which have no tag yet, with the first set that has their number; sets that tag some cell become
 * groups of the dimension. */
void pl_sets_apply(const pl_sets *s, pl_draft *draft, pl_draft_cells *cells, int32_t dimension);
/* Adds tagged points, from sets of nodes, and the sets as groups. `where`: the byte to report in a fault. */
void pl_sets_apply_nodes(const pl_sets *s, pl_draft *draft, int64_t where);
void pl_sets_clear(pl_sets *s);

#endif
