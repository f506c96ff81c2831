#include "engine/mesh/gmsh.h"

#include <stdlib.h>

/* The line of one entity:
 *   tag [parentDim parentTag numPartitions partition..] box numPhysical physical.. [numBounding ..]
 * where box is x y z for a point and two corners for others; only others list their boundary. */
static bool read_entity(pl_gmsh *gmsh, int32_t dimension, bool partitioned, pl_gmsh_entity *entity)
{
    pl_input *in = &gmsh->in;
    double box[6];
    int32_t ignored;
    int64_t n;
    *entity = (pl_gmsh_entity){.dimension = dimension};
    if (!pl_input_begin(in) || !pl_input_int(in, &entity->tag))
        return false;
    if (partitioned) {
        if (!pl_input_int(in, &ignored) || !pl_input_int(in, &ignored) || !pl_input_size(in, &n))
            return false;
        for (int64_t i = 0; i < n; i++)
            if (!pl_input_int(in, &ignored))
                return false;
    }
    if (!pl_input_reals(in, dimension == 0 ? 3 : 6, box) || !pl_input_size(in, &n))
        return false;
    for (int64_t i = 0; i < n; i++) {
        int32_t physical;
        if (!pl_input_int(in, &physical))
            return false;
        /* A negative tag means that the group uses the entity with reversed orientation. */
        if (entity->count < PL_GMSH_TAGS_MAX && physical != 0 && physical != INT32_MIN)
            entity->physical[entity->count++] = abs(physical);
    }
    if (dimension > 0) {
        if (!pl_input_size(in, &n))
            return false;
        for (int64_t i = 0; i < n; i++)
            if (!pl_input_int(in, &ignored))
                return false;
    }
    return pl_input_finish(in);
}

static void add_entity(pl_gmsh *gmsh, const pl_gmsh_entity *entity)
{
    int64_t n = gmsh->entity_count, capacity = gmsh->entity_capacity;
    if (entity->count == 0 ||
        !pl_draft_grow(gmsh->draft, (void **)&gmsh->entities, n, capacity, sizeof *gmsh->entities))
        return;
    if (n == capacity)
        gmsh->entity_capacity = capacity ? 2 * capacity : 64;
    gmsh->entities[gmsh->entity_count++] = *entity;
}

static int compare_entities(const void *left, const void *right)
{
    const pl_gmsh_entity *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension < b->dimension ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

const pl_gmsh_entity *pl_gmsh_find_entity(const pl_gmsh *gmsh, int32_t dimension, int32_t tag)
{
    pl_gmsh_entity key = {.dimension = dimension, .tag = tag};
    if (gmsh->entity_count == 0)
        return NULL;
    return bsearch(&key, gmsh->entities, (size_t)gmsh->entity_count, sizeof key, compare_entities);
}

/* $PartitionedEntities opens with the number of partitions and the ghost entities. */
static bool skip_ghosts(pl_gmsh *gmsh)
{
    pl_input *in = &gmsh->in;
    int64_t partitions, ghosts;
    int32_t ignored;
    if (!pl_input_begin(in) || !pl_input_size(in, &partitions) || !pl_input_finish(in) ||
        !pl_input_begin(in) || !pl_input_size(in, &ghosts) || !pl_input_finish(in))
        return false;
    for (int64_t i = 0; i < ghosts; i++)
        if (!pl_input_begin(in) || !pl_input_int(in, &ignored) || !pl_input_int(in, &ignored) ||
            !pl_input_finish(in))
            return false;
    return true;
}

void pl_gmsh_read_entities(pl_gmsh *gmsh, bool partitioned)
{
    static const char *const record[] = {"point", "curve", "surface", "volume"};
    pl_input *in = &gmsh->in;
    int64_t counts[4];
    bool fine = !partitioned || skip_ghosts(gmsh);
    fine = fine && pl_input_begin(in);
    for (int d = 0; fine && d < 4; d++)
        fine = pl_input_size(in, &counts[d]);
    if (!fine || !pl_input_finish(in)) {
        pl_input_fault(in, gmsh->draft, "the head of the entities", 0, -1,
                       "the numbers of points, curves, surfaces and volumes");
        return;
    }
    for (int32_t d = 0; d < 4; d++)
        for (int64_t k = 0; k < counts[d] && !gmsh->draft->stopped; k++) {
            pl_gmsh_entity entity;
            if (read_entity(gmsh, d, partitioned, &entity))
                add_entity(gmsh, &entity);
            else if (!pl_input_fault(in, gmsh->draft, record[d], k, counts[d],
                                     "tag, bounding box, physical groups, boundary"))
                return;
        }
    if (gmsh->entity_count > 0)
        qsort(gmsh->entities, (size_t)gmsh->entity_count, sizeof *gmsh->entities, compare_entities);
}
