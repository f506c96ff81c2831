/* memory.h - contact that outlives a step: pairs that carry force, and their multipliers. */
#ifndef PLIANT_ENGINE_CONTACT_MEMORY_H
#define PLIANT_ENGINE_CONTACT_MEMORY_H

#include "engine/contact/rows.h"
#include "engine/contact/surface.h"

typedef struct pl_contact_memory {
    int64_t kind, first, second;
    double force, grip[3];
} pl_contact_memory;

/* Add the forces of a further row of a pair to its first row. */
void pl_contact_row_add(pl_contact_row *first, const pl_contact_row *row);

/* Save each pair that carries force, in the order of rows. Returns the count; `out` has room for it, or is NULL. */
int64_t pl_contact_memory_save(const pl_contact_rows *rows, pl_contact_memory *out);
/* Whether `count` of them are of pairs of the surface, in order and finite. */
bool pl_contact_memory_is_good(const pl_contact_surface *surface, const pl_contact_memory *memory,
                               int64_t count);
/* Replace the rows by saved ones, which have features and multipliers but no geometry yet. False: out of memory, and
 * the rows are empty. compliance: see pl_contact_rows_set. */
bool pl_contact_memory_restore(const pl_contact_memory *memory, int64_t count,
                               const double *compliance, pl_contact_rows *rows);

#endif
