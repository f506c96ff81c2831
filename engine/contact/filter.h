/* filter.h - which bodies may touch which. */
#ifndef PLIANT_ENGINE_CONTACT_FILTER_H
#define PLIANT_ENGINE_CONTACT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_contact_filter {
    int32_t bodies;        /* at least the surface's */
    const uint8_t *ignore; /* [bodies][bodies], symmetric: 1 where two bodies ignore each other;
                              on the diagonal, 1 where a body ignores itself */
} pl_contact_filter;

/* True if the bodies may touch. A NULL filter allows every pair. */
static inline bool pl_contact_allows(const pl_contact_filter *filter, int32_t a, int32_t b)
{
    return !filter || !filter->ignore[(int64_t)a * filter->bodies + b];
}

#endif
