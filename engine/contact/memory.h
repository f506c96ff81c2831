/* memory.h - what a later step depends on of contact: which rows carry force, and their multipliers. */
#ifndef PLIANT_ENGINE_CONTACT_MEMORY_H
#define PLIANT_ENGINE_CONTACT_MEMORY_H

#include "engine/contact/rows.h"
#include "engine/contact/surface.h"

typedef struct pl_contact_memory {
    int64_t kind, first, second;
    double force, grip[3];
} pl_contact_memory;

/* What a further row of its pair carries goes to the first. */
void pl_contact_row_add(pl_contact_row *first, const pl_contact_row *row);

/* One a pair whose rows carry force, in their order. How many there are; `out` [that many], or NULL. */
int64_t pl_contact_memory_save(const pl_contact_rows *rows, pl_contact_memory *out);
/* Whether `count` of them are of pairs of the surface, in order and finite. */
bool pl_contact_memory_is_good(const pl_contact_surface *surface, const pl_contact_memory *memory,
                               int64_t count);
/* They become the rows, which have features and multipliers and no places. False: no memory, and there are
 * none. compliance: pl_contact_rows_set's. */
bool pl_contact_memory_restore(const pl_contact_memory *memory, int64_t count,
                               const double *compliance, pl_contact_rows *rows);

#endif
