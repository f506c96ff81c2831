#include "engine/model/build/tags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

pl_status pl_tag_set_create(const pl_mesh *mesh, int32_t dimension, const char *name,
                            pl_tag_set *out)
{
    *out = (pl_tag_set){.tag = malloc((size_t)(mesh->group_count + 1) * sizeof *out->tag)};
    if (!out->tag)
        return PL_NO_MEMORY;
    char *end;
    errno = 0;
    long number = strtol(name, &end, 10);
    if (*name && *end == 0 && errno == 0 && number >= INT32_MIN && number <= INT32_MAX)
        out->tag[out->count++] = (int32_t)number;
    for (int32_t g = 0; g < mesh->group_count; g++)
        if (mesh->groups[g].dimension == dimension && mesh->groups[g].name &&
            strcmp(mesh->groups[g].name, name) == 0)
            out->tag[out->count++] = mesh->groups[g].tag;
    qsort(out->tag, (size_t)out->count, sizeof *out->tag, compare);
    return PL_OK;
}

void pl_tag_set_destroy(pl_tag_set *set)
{
    free(set->tag);
    *set = (pl_tag_set){0};
}

bool pl_tag_set_has(const pl_tag_set *set, int32_t tag)
{
    return set->count > 0 &&
           bsearch(&tag, set->tag, (size_t)set->count, sizeof *set->tag, compare) != NULL;
}

void pl_tag_names(const pl_mesh *mesh, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (int32_t g = 0; g < mesh->group_count && used + 1 < size; g++) {
        const pl_mesh_group *group = &mesh->groups[g];
        int n = group->name && *group->name
                    ? snprintf(out + used, size - used, "%s\"%s\"", g ? ", " : "", group->name)
                    : snprintf(out + used, size - used, "%s%d", g ? ", " : "", group->tag);
        used += n > 0 ? (size_t)n : 0;
    }
    if (mesh->group_count == 0)
        snprintf(out, size, "the mesh has no tags");
}
