/* memory.h - contact state that outlives a step: pairs that carry force, and their multipliers. */
#ifndef PLIANT_ENGINE_CONTACT_MEMORY_H
#define PLIANT_ENGINE_CONTACT_MEMORY_H

#include "engine/contact/rows.h"
#include "engine/contact/surface.h"

typedef struct pl_contact_memory {
    int64_t kind, first, second;
    double force, grip[3];
} pl_contact_memory;

/* Adds the forces of a pair's further rows to its first row. */
void pl_contact_row_add(pl_contact_row *first, const pl_contact_row *row);

/* Saves each pair that carries force, in the order of rows. Returns the count; `out` has room for it, or is NULL. */
int64_t pl_contact_memory_save(const pl_contact_rows *rows, pl_contact_memory *out);
/* True if all `count` pairs belong to the surface, are in order, and are finite. */
bool pl_contact_memory_is_good(const pl_contact_surface *surface, const pl_contact_memory *memory,
                               int64_t count);
/* Replaces the rows by saved ones, which have features and multipliers but no geometry yet. False: out of memory,
 * and no rows are left. compliance: see pl_contact_rows_set. */
bool pl_contact_memory_restore(const pl_contact_memory *memory, int64_t count,
                               const double *compliance, pl_contact_rows *rows);

#endif
