/* tags.h - the numbers of a mesh's groups that a name stands for. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_TAGS_H
#define PLIANT_ENGINE_MODEL_BUILD_TAGS_H

#include "engine/scene/fault.h"
#include "engine/mesh/mesh.h"

#include <stdbool.h>

typedef struct pl_tag_set {
    int32_t *tag; /* [count] ascending */
    int64_t count;
} pl_tag_set;

/* The groups of `dimension` (3 tetrahedra, 2 triangles, 1 edges, 0 vertices) with the name `name`, and the group of
 * that number if `name` is a decimal. The set may be empty. */
pl_status pl_tag_set_create(const pl_mesh *mesh, int32_t dimension, const char *name,
                            pl_tag_set *out);
void pl_tag_set_destroy(pl_tag_set *set);
bool pl_tag_set_has(const pl_tag_set *set, int32_t tag);

/* The names of the mesh's groups, for a message. */
void pl_tag_names(const pl_mesh *mesh, char *out, size_t size);

#endif
